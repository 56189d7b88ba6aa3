//! What a run says, in the formats that people and programs read. One file a format.

mod concise;
mod excerpt;
mod json;
pub mod page;
pub mod patch;
mod place;
pub mod plain;
pub mod rules;
pub mod settings;
pub mod summary;
#[cfg(test)]
mod tests;
mod text;
pub mod which;

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

use crate::finding::Severity;
use crate::rule::RULES;
use crate::session::Outcome;

/// The formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// For people: the place, its related places, what happens, what to do.
    #[default]
    Text,
    /// For people and editors: one finding a line.
    Concise,
    /// For programs: one document.
    Json,
}

/// What the report depends on besides the findings.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    /// The working directory: paths are reported relative to it.
    pub base: &'a Path,
    /// Number of columns to wrap prose at.
    pub width: usize,
    /// Whether to write colours.
    pub color: bool,
    /// Whether rule ids are hyperlinks, for terminals that know them.
    pub links: bool,
    /// Whether to draw with ASCII alone.
    pub ascii: bool,
}

impl Look<'_> {
    fn style(&self, style: Style) -> Style {
        if self.color { style } else { Style::new() }
    }

    fn severity(&self, severity: Severity) -> Style {
        let color = match severity {
            Severity::Error => AnsiColor::Red,
            Severity::Warning => AnsiColor::Yellow,
            Severity::Info => AnsiColor::Cyan,
        };
        self.style(color.on_default().bold())
    }

    fn head(&self) -> Style {
        self.style(AnsiColor::Cyan.on_default())
    }
}

/// Writes the findings of a run.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(format: Format, outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Text => text::write(outcome, look, out),
        Format::Concise => concise::write(outcome, look, out),
        Format::Json => json::write(outcome, look, out),
    }
}

/// Where a rule of this program is explained; `None` for a rule of the user's.
pub fn help_url(rule: &str) -> Option<String> {
    let ours = RULES.binary_search_by(|known| known.id.as_ref().cmp(rule)).is_ok();
    ours.then(|| format!("{}/blob/main/rules/{rule}.md", env!("CARGO_PKG_REPOSITORY")))
}
