//! How often each rule was met.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::{Look, json, markdown, plain, rule};
use crate::finding::Severity;
use crate::session::Outcome;

/// The findings of one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Row {
    pub(super) rule: String,
    /// The worst of its findings.
    pub(super) severity: Severity,
    pub(super) count: usize,
    /// Those with a safe fix or an unsafe one.
    pub(super) fixable: usize,
    /// What the rule is about; empty where its page is not known.
    pub(super) summary: String,
}

/// One row a rule, those first that were met most often.
pub(super) fn rows(outcome: &Outcome) -> Vec<Row> {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    for found in &outcome.findings {
        let (id, severity) = (found.finding.rule.as_ref(), found.finding.severity);
        let row = rows.entry(id).or_insert_with(|| {
            let summary = rule(outcome, id).map(|rule| markdown::plain(&rule.summary)).unwrap_or_default();
            Row { rule: id.to_owned(), severity, count: 0, fixable: 0, summary }
        });
        row.severity = row.severity.max(severity);
        row.count += 1;
        row.fixable += usize::from(found.fix().is_some());
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}

/// Writes one row a line: findings, fixable ones, severity, rule.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_text(outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let rows = rows(outcome);
    let width = |count: fn(&Row) -> usize| rows.iter().map(|row| count(row).to_string().len()).max().unwrap_or(0);
    let (count, fixable) = (width(|row| row.count), width(|row| row.fixable));
    let name = rows.iter().map(|row| row.rule.chars().count()).max().unwrap_or(0);
    for row in &rows {
        let (style, head) = (look.severity(row.severity), look.head());
        let summary = plain::line(&row.summary).into_owned();
        writeln!(
            out,
            "{:count$}  {:fixable$} fixable  {style}{:7}{style:#}  {head}{:name$}{head:#}  {summary}",
            row.count,
            row.fixable,
            row.severity.as_str(),
            plain::line(&row.rule),
        )?;
    }
    Ok(())
}

/// Writes one JSON document.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_json(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    json::print(&Document { version: 1, rules: rows(outcome) }, out)
}

#[derive(Serialize)]
struct Document {
    version: u32,
    rules: Vec<Row>,
}
