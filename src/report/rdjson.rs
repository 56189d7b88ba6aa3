//! reviewdog's diagnostic format: comments of a review, safe fixes as suggestions.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::item::{Item, items};
use super::place::Naming;
use super::{Look, json};
use crate::finding::Severity;
use crate::fix::{Edit, Fix, Safety};
use crate::session::{Found, Outcome};
use crate::source::{SourceFile, Span};

pub(super) fn write(outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let diagnostics: Vec<Value> = items(outcome, look, Naming::Resolved).map(|item| diagnostic(&item)).collect();
    let source = json!({ "name": env!("CARGO_PKG_NAME"), "url": env!("CARGO_PKG_REPOSITORY") });
    json::print(&json!({ "source": source, "diagnostics": diagnostics }), out)
}

fn diagnostic(item: &Item<'_>) -> Value {
    let mut code = json!({ "value": item.rule });
    if let Some(help) = &item.help {
        code["url"] = json!(help);
    }
    let span = item.found.finding.span;
    let mut diagnostic = json!({
        "message": item.prose(),
        "location": { "path": item.path, "range": range(item.found.file(span), span) },
        "severity": match item.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "WARNING",
            Severity::Info => "INFO",
        },
        "code": code,
    });
    if let Some(suggestion) = suggestion(item.found) {
        diagnostic["suggestions"] = json!([suggestion]);
    }
    diagnostic
}

/// Columns are counted in bytes.
fn range(file: &SourceFile, span: Span) -> Value {
    let position = |offset: u32| {
        let line = file.line_of(offset);
        json!({ "line": line, "column": offset as usize - file.line_range(line).start + 1 })
    };
    json!({ "start": position(span.start), "end": position(span.end) })
}

/// More lines are not taken over by a click in a review.
const MOST_LINES: u32 = 40;

/// The first fix as one new text: whoever takes it over takes all of it. `None` where it changes
/// something else too, or places that are too far apart.
fn suggestion(found: &Found) -> Option<Value> {
    let fix = found.fix().filter(|fix| fix.safety == Safety::Safe && !found.held_back.contains_key(&0))?;
    let file = found.file(found.finding.span);
    let whole = span(fix, found.finding.span)?;
    if file.line_of(whole.end) - file.line_of(whole.start) > MOST_LINES {
        return None;
    }
    let text = String::from_utf8(replaced(file, whole, &fix.edits)).ok()?;
    Some(json!({ "range": range(file, whole), "text": text }))
}

/// From the first to the last byte that goes; `None` where that is in another file than `place`.
fn span(fix: &Fix, place: Span) -> Option<Span> {
    let here = fix.edits.iter().all(|edit| edit.span.file == place.file);
    let start = fix.edits.iter().map(|edit| edit.span.start).min().filter(|_| here)?;
    let end = fix.edits.iter().map(|edit| edit.span.end).max()?;
    Some(Span::new(place.file, start, end))
}

/// What the bytes of `whole` become.
fn replaced(file: &SourceFile, whole: Span, edits: &[Edit]) -> Vec<u8> {
    super::diff::applied(file, whole.range(), &edits.iter().collect::<Vec<_>>())
}
