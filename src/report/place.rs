//! Places as reports name them.

use foldhash::HashMap;
use std::hash::Hasher;
use std::path::{Path, PathBuf};

use fnv::FnvHasher;

use super::Look;
use crate::files;
use crate::session::Found;
use crate::source::{FileId, SourceFile, Span};

/// A path relative to `base`, with `/`; absolute when it lies outside.
pub(super) fn path(path: &Path, base: &Path) -> String {
    let text = relative(path, base).to_string_lossy().into_owned();
    if std::path::MAIN_SEPARATOR == '/' { text } else { text.replace(std::path::MAIN_SEPARATOR, "/") }
}

fn relative(path: &Path, base: &Path) -> PathBuf {
    let whole = files::normal(&base.join(path));
    match whole.strip_prefix(base) {
        Ok(inner) if inner.as_os_str().is_empty() => PathBuf::from("."),
        Ok(inner) => inner.to_owned(),
        Err(_) => whole,
    }
}

/// What a file is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// As it was opened, from the working directory.
    Opened,
    /// Itself, links followed, from the working directory.
    Resolved,
    /// Itself, links followed, from the root of the repository: what forges know it by.
    Repository,
}

/// The name of a file of a finding; absolute when it lies outside.
pub(super) fn named(found: &Found, file: FileId, look: Look<'_>, naming: Naming) -> PathBuf {
    match naming {
        Naming::Opened => relative(found.sources.get(file).path(), look.base),
        Naming::Resolved => relative(&look.base.join(found.canonical(file)), look.base),
        Naming::Repository => from_root(found.canonical(file), look),
    }
}

/// A path from the root of the repository.
pub(super) fn from_root(path: &Path, look: Look<'_>) -> PathBuf {
    relative(&look.base.join(path), look.root)
}

/// A longer line enters a fingerprint only by the place itself.
const LONG_LINE: usize = 1024;

/// Names a finding across changes of the file: the same while its rule, its path and the text of
/// its line stay, wherever the line moves. `seen` counts equals, so that no two of a run are alike.
pub(super) fn fingerprint(
    rule: &str,
    path: &str,
    file: &SourceFile,
    span: Span,
    seen: &mut HashMap<u64, u32>,
) -> String {
    let line = file.line_bytes(file.line_of(span.start));
    let text = if line.len() <= LONG_LINE { line } else { &file.slice(span)[..span.len().min(LONG_LINE)] };
    let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut hasher = FnvHasher::default();
    for part in [rule.as_bytes(), path.as_bytes()].into_iter().chain(words) {
        hasher.write(part);
        hasher.write(&[0]);
    }
    let before = seen.entry(hasher.finish()).or_default();
    hasher.write(&before.to_le_bytes());
    *before += 1;
    format!("{:016x}", hasher.finish())
}
