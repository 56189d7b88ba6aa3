//! A finding as the formats of other programs want it: one harmless message, one name for its file.

use foldhash::HashMap;
use std::borrow::Cow;

use super::place::Naming;
use super::{Look, help_url, place, plain, text};
use crate::finding::Severity;
use crate::session::{Found, Outcome};
use crate::source::{Position, Span};

/// One finding.
pub(super) struct Item<'a> {
    pub(super) found: &'a Found,
    pub(super) rule: Cow<'a, str>,
    pub(super) severity: Severity,
    /// One line.
    pub(super) message: String,
    pub(super) path: String,
    pub(super) start: Position,
    pub(super) end: Position,
    pub(super) help: Option<String>,
    /// The same while the line stays; no two of a run are alike.
    pub(super) fingerprint: String,
}

/// The findings of a run, made one after the other: there may be many.
pub(super) fn items<'a>(outcome: &'a Outcome, look: Look<'a>, naming: Naming) -> impl Iterator<Item = Item<'a>> {
    let mut seen = HashMap::default();
    outcome.findings.iter().map(move |found| {
        let it = &found.finding;
        let file = found.file(it.span);
        let path = place::named(found, it.span.file, look, naming).to_string_lossy().into_owned();
        Item {
            found,
            rule: plain::line(&it.rule),
            severity: it.severity,
            message: plain::line(&it.message).into_owned(),
            start: file.position(it.span.start),
            end: file.position(it.span.end),
            help: help_url(&it.rule),
            fingerprint: place::fingerprint(&it.rule, &path, file, it.span, &mut seen),
            path,
        }
    })
}

/// Those of one file together. They are sorted by path.
pub(super) fn by_file<'a>(items: impl Iterator<Item = Item<'a>>) -> impl Iterator<Item = Vec<Item<'a>>> {
    let mut items = items.peekable();
    std::iter::from_fn(move || {
        let mut file = vec![items.next()?];
        while let Some(item) = items.next_if(|item| item.path == file[0].path) {
            file.push(item);
        }
        Some(file)
    })
}

impl Item<'_> {
    /// `path:line:column`, harmless.
    pub(super) fn place(&self) -> String {
        format!("{}:{}:{}", plain::line(&self.path), self.start.line, self.start.column)
    }

    /// What stands below the message: notes, the fix, what else it changes; one harmless line each.
    pub(super) fn advice(&self) -> Vec<String> {
        let useful = |(head, _): &(&str, String)| *head != "more" && *head != "and";
        let advice = text::advice(self.found).into_iter().filter(useful);
        advice.map(|(head, text)| format!("{head}: {}", plain::line(&text))).collect()
    }

    /// The message with the advice below, one a line.
    pub(super) fn prose(&self) -> String {
        std::iter::once(self.message.clone()).chain(self.advice()).collect::<Vec<_>>().join("\n")
    }

    /// Where a place of this finding begins, in its own file's name: `path:line`.
    pub(super) fn place_of(&self, span: Span, look: Look<'_>) -> String {
        let file = self.found.file(span);
        format!("{}:{}", plain::line(&place::path(file.path(), look.base)), file.position(span.start).line)
    }
}
