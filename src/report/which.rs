//! The settings in effect at a place.

use std::io::{self, Write};

use super::place::path;
use super::{Look, plain};
use crate::lint::guard;
use crate::model::settings::in_effect;
use crate::model::{Level, Model};
use crate::version::VersionSet;

/// Writes where a level stands, then one setting a line; a value that not all versions of the target
/// have is followed by those that do.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(level: Level<'_>, target: &VersionSet, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let head = look.head();
    writeln!(out, "{head}{}{head:#}", plain::line(&place(level, look)))?;
    for (key, values) in in_effect(level, target) {
        let alone = values.len() == 1;
        for (value, versions) in values {
            let value = match &value {
                None => "nothing".to_owned(),
                Some(value) if value.is_empty() => "\"\"".to_owned(),
                Some(value) => String::from_utf8_lossy(value).into_owned(),
            };
            let versions = match alone {
                true => String::new(),
                false => format!("  ({})", versions.words(level.model().server())),
            };
            writeln!(out, "  {}", plain::line(&format!("{key}: {value}{versions}")))?;
        }
    }
    Ok(())
}

/// `conf.d/shop.conf:7: location /`
fn place(level: Level<'_>, look: Look<'_>) -> String {
    let model: &Model = level.model();
    let (file, line) = match level.node() {
        Some(node) => (model.file(node.head()), model.file(node.head()).line_of(node.head().start)),
        None => (model.sources().get(model.main()), 1),
    };
    format!("{}:{line}: {}", path(file.path(), look.base), guard::level(level))
}
