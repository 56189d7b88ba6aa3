//! Includes that find nothing because the server's folder is not here. The server itself passes
//! over a pattern without a match; here it means that files were not seen.

use std::path::{Component, Path, PathBuf};

use super::{Gap, Unread};
use crate::files::{Files, Kind};
use crate::model::Model;
use crate::model::include::{PathMap, to_path};
use crate::version::Server;

/// The absolute patterns of an nginx configuration whose folder does not exist here.
pub(super) fn absent(files: &dyn Files, maps: &PathMap, model: &Model) -> Vec<Unread> {
    if model.server() != Server::Nginx {
        return Vec::new();
    }
    let patterns = model.named("include").filter_map(|node| node.value(0)).map(to_path);
    let absent = patterns.filter(|path| {
        let Some(folder) = folder(path) else { return false };
        files.kind(&maps.apply(folder)) == Kind::Missing
    });
    absent.map(|path| Unread { path, reason: REASON.to_owned(), gap: Gap::Other }).collect()
}

const REASON: &str = "there is no such folder here; say where it lies with --map";

/// The folder in front of the first wildcard of an absolute path; `None` where there is no wildcard.
fn folder(pattern: &Path) -> Option<PathBuf> {
    let wild = |part: Component<'_>| part.as_os_str().as_encoded_bytes().iter().any(|b| b"*?[".contains(b));
    let first = pattern.components().position(wild)?;
    pattern.is_absolute().then(|| pattern.components().take(first).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_pattern_ends_before_its_first_wildcard() {
        let of = |pattern: &str| folder(Path::new(pattern));
        assert_eq!(of("/etc/nginx/sites/*/x.conf"), Some("/etc/nginx/sites".into()));
        assert_eq!(of("/*.conf"), Some("/".into()));
        assert_eq!(of("conf.d/*.conf"), None);
        assert_eq!(of("/etc/nginx/mime.types"), None);
    }
}
