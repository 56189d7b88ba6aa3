//! Values as Rust source.

use crate::rule::definition::Texts;
use crate::version::{Range, Version, VersionSet};

/// Why a table cannot be made.
pub(crate) type Error = Box<dyn std::error::Error>;

pub(crate) fn versions(versions: &VersionSet) -> String {
    let version = |v: Version| format!("Version::new({}, {}, {})", v.major, v.minor, v.patch);
    let range = |range: &Range| format!("Range {{ start: {}, end: {} }}", version(range.start), version(range.end));
    format!("VersionSet::from_static(const {{ &[{}] }})", joined(versions.ranges().iter().map(range)))
}

pub(crate) fn text(text: &str) -> String {
    format!("Cow::Borrowed({text:?})")
}

pub(crate) fn texts(list: &Texts) -> String {
    format!("Cow::Borrowed(const {{ &[{}] }})", joined(list.iter().map(|item| text(item))))
}

pub(crate) fn option<T>(value: Option<&T>, source: impl Fn(&T) -> String) -> String {
    value.map_or_else(|| "None".to_owned(), |value| format!("Some({})", source(value)))
}

pub(crate) fn joined(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}
