//! GitLab's code quality report: an array of issues, as CodeClimate has them.

use std::io::{self, Write};

use serde::ser::Serializer as _;
use serde_json::json;

use super::item::{Item, items};
use super::place::Naming;
use super::{Look, json};
use crate::finding::Severity;
use crate::session::Outcome;

pub(super) fn write(outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    json::print_with(out, |serializer| {
        serializer.collect_seq(items(outcome, look, Naming::Repository).map(|item| issue(&item)))
    })
}

fn issue(item: &Item<'_>) -> serde_json::Value {
    json!({
        // The page of GitLab does not show the name of the check.
        "description": format!("{}: {}", item.rule, item.message),
        "check_name": item.rule,
        "fingerprint": item.fingerprint,
        "severity": match item.severity {
            Severity::Error => "critical",
            Severity::Warning => "major",
            Severity::Info => "info",
        },
        "location": { "path": item.path, "lines": { "begin": item.start.line, "end": item.end.line } },
    })
}
