//! Includes whose folder is not here, or cannot be listed. The server itself passes over a pattern
//! without a match; here it means that files were not seen.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{Gap, Unread};
use crate::files::{Files, reason};
use crate::model::Model;
use crate::model::include::{PathMap, to_path};
use crate::version::Server;

/// What the patterns of an nginx configuration leave unseen. A missing folder is worth a word only
/// where it is the server's: relative ones are often empty on purpose.
pub(super) fn unseen(files: &dyn Files, maps: &PathMap, model: &Model) -> Vec<Unread> {
    if model.server() != Server::Nginx {
        return Vec::new();
    }
    let base = model.sources().get(model.main()).path().parent().unwrap_or(Path::new(""));
    let patterns: BTreeSet<PathBuf> = model.named("include").filter_map(|node| node.value(0)).map(to_path).collect();
    let unread = patterns.into_iter().filter_map(|pattern| {
        let folder = maps.apply(base.join(folder(&pattern)?));
        let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
        let error = files.list(&folder).err()?;
        match error.kind() {
            io::ErrorKind::NotFound if pattern.is_absolute() => {
                Some(Unread { path: pattern, reason: ABSENT.to_owned(), gap: Gap::Other })
            }
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => None,
            _ => Some(Unread { path: folder, reason: reason(&error), gap: Gap::Failed }),
        }
    });
    unread.collect()
}

const ABSENT: &str = "there is no such folder here; say where it lies with --map";

/// The folder in front of the first wildcard of a path; `None` where there is no wildcard.
fn folder(pattern: &Path) -> Option<PathBuf> {
    let wild = |part: Component<'_>| part.as_os_str().as_encoded_bytes().iter().any(|b| b"*?[".contains(b));
    let first = pattern.components().position(wild)?;
    Some(pattern.components().take(first).collect())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::sync::Arc;

    use super::*;
    use crate::files::{Kind, Memory, Walk};
    use crate::model::include::{Loader, Root};

    #[test]
    fn the_folder_of_a_pattern_ends_before_its_first_wildcard() {
        let of = |pattern: &str| folder(Path::new(pattern));
        assert_eq!(of("/etc/nginx/sites/*/x.conf"), Some("/etc/nginx/sites".into()));
        assert_eq!(of("/*.conf"), Some("/".into()));
        assert_eq!(of("conf.d/*.conf"), Some("conf.d".into()));
        assert_eq!(of("*.conf"), Some("".into()));
        assert_eq!(of("/etc/nginx/mime.types"), None);
    }

    /// Files in memory, with a folder that only others may list.
    struct Guarded(Memory);

    impl Files for Guarded {
        fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
            self.0.read(path)
        }

        fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
            if folder.ends_with("private") { Err(io::ErrorKind::PermissionDenied.into()) } else { self.0.list(folder) }
        }

        fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
            self.0.canonical(path)
        }

        fn kind(&self, path: &Path) -> Kind {
            self.0.kind(path)
        }

        fn walk(&self, folder: &Path) -> Walk {
            self.0.walk(folder)
        }

        fn is_link(&self, path: &Path) -> bool {
            self.0.is_link(path)
        }
    }

    #[test]
    fn folders_that_are_not_here_or_closed_are_named() {
        let mut files = Memory::new();
        let text =
            "http { include private/*.conf; include none/*.conf; include here/*.conf; include /srv/none/*.conf; }";
        files.insert("nginx/nginx.conf", text.as_bytes());
        files.insert("nginx/here/a.conf", &b""[..]);
        let files = Guarded(files);
        let mut loader = Loader::new("nginx/nginx.conf", Root::Implied, PathMap::default());
        let model = loader.load(&files).unwrap();
        let said: Vec<(PathBuf, Gap)> =
            unseen(&files, &PathMap::default(), &model).into_iter().map(|it| (it.path, it.gap)).collect();
        let expected: [(PathBuf, Gap); 2] =
            [("/srv/none/*.conf".into(), Gap::Other), ("nginx/private".into(), Gap::Failed)];
        assert_eq!(said, expected);
    }
}
