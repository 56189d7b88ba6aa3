//! Workflow commands of GitHub Actions: annotations at the lines of a pull request.

use std::io::{self, Write};

use super::item::{Item, items};
use super::place::Naming;
use super::{Look, plain};
use crate::finding::Severity;
use crate::session::Outcome;

pub(super) fn write(outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    items(outcome, look, Naming::Repository).try_for_each(|item| writeln!(out, "{}", command(&item)))
}

fn command(item: &Item<'_>) -> String {
    let level = match item.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let (start, end) = (item.start, item.end);
    // GitHub takes columns only where the place lies in one line.
    let columns = match start.line == end.line {
        true if start.column < end.column => format!(",col={},endColumn={}", start.column, end.column),
        true => format!(",col={}", start.column),
        false => String::new(),
    };
    let (path, title) = (property(&plain::line(&item.path)), property(&format!("proxylint {}", item.rule)));
    let message = data(&item.prose());
    format!("::{level} file={path},line={},endLine={}{columns},title={title}::{message}", start.line, end.line)
}

/// The text of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value of a command's property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
