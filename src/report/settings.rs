//! The settings in effect, as a `proxylint.toml` that says where each value comes from.

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

use super::{Look, place, plain};
use crate::config::{Effective, Place, Setting};

/// Wider values do not push the comments of the others away.
const WIDTH: usize = 40;

/// Writes what is in effect for a path.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write(path: &Path, effective: &Effective, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let dim = if look.color { AnsiColor::BrightBlack.on_default() } else { Style::new() };
    let file = effective.file.as_ref().map_or("no configuration file", |file| file.shown.as_str());
    let path = place::path(path, look.base);
    writeln!(out, "{dim}# {}: {}{dim:#}", plain::line(&path), plain::line(file))?;
    let lines: Vec<(String, &Setting)> = effective.settings.iter().map(|it| (statement(it), it)).collect();
    let width = lines.iter().map(|(text, _)| text.len()).filter(|&width| width <= WIDTH).max().unwrap_or(0);
    for (text, setting) in &lines {
        writeln!(
            out,
            "{}{:pad$}  {dim}# {}{dim:#}",
            plain::line(text),
            "",
            source(setting),
            pad = width.saturating_sub(text.len())
        )?;
    }
    Ok(())
}

/// `key = value`, or a comment where nothing is set.
fn statement(setting: &Setting) -> String {
    match &setting.value {
        Some(value) => format!("{} = {value}", setting.key),
        None => format!("# {}", setting.key),
    }
}

fn source(setting: &Setting) -> String {
    let place = match (&setting.place, &setting.value) {
        (Place::Default, None) => "not set".to_owned(),
        (place, _) => place.to_string(),
    };
    let note = setting.note.as_ref().map_or_else(String::new, |note| format!("; {note}"));
    plain::line(&format!("{place}{note}")).into_owned()
}
