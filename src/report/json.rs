//! One JSON document, version 1: the fields that `docs/json.md` describes.

use foldhash::HashMap;
use std::borrow::Cow;
use std::io::{self, Write};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::{Look, help_url, place, plain};
use crate::finding::{Category, Label, Severity};
use crate::fix::{Edit, Fix, Safety};
use crate::session::{Assumed, Found, Outcome, Unread as Gap};
use crate::source::{Position, SourceFile, Span};
use crate::version::Server;

pub(super) fn write(outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    print(&document(outcome, look), out)
}

/// Writes a value, indented.
pub(super) fn print(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(Escaping(&mut *out), value)?;
    writeln!(out)
}

/// Writes what `content` serializes, indented.
pub(super) fn print_with(
    out: &mut dyn Write,
    content: impl FnOnce(&mut PrettyJson<'_>) -> serde_json::Result<()>,
) -> io::Result<()> {
    content(&mut serde_json::Serializer::pretty(Escaping(&mut *out)))?;
    writeln!(out)
}

/// What [`print_with`] hands out.
pub(super) type PrettyJson<'a> = serde_json::Serializer<Escaping<'a>, serde_json::ser::PrettyFormatter<'static>>;

/// Escapes hidden characters: serde_json does so only with the controls of ASCII.
pub(super) struct Escaping<'a>(&'a mut dyn Write);

impl Write for Escaping<'_> {
    /// serde_json writes whole characters.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let escaped = |c: char| c == '\x7f' || !c.is_ascii() && plain::hidden(c);
        let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| text.contains(escaped)) else {
            self.0.write_all(bytes)?;
            return Ok(bytes.len());
        };
        for part in text.split_inclusive(escaped) {
            let last = part.chars().next_back().filter(|&c| escaped(c));
            self.0.write_all(&part.as_bytes()[..part.len() - last.map_or(0, char::len_utf8)])?;
            for unit in last.iter().flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec()) {
                write!(self.0, "\\u{unit:04x}")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// One finding a line, then one line about the run.
pub(super) fn write_lines(outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut seen = HashMap::default();
    for found in &outcome.findings {
        print_line(&Line { kind: "finding", content: finding(found, look, &mut seen) }, out)?;
    }
    print_line(&Line { kind: "summary", content: about(outcome, look) }, out)
}

fn print_line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(Escaping(&mut *out), value)?;
    writeln!(out)
}

#[derive(Serialize)]
struct Line<T> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    content: T,
}

fn about<'a>(outcome: &'a Outcome, look: Look<'_>) -> About<'a> {
    let counts = outcome.counts();
    About {
        version: 1,
        tool: Tool { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") },
        target: Target(&outcome.targets),
        not_read: outcome.unread.iter().map(|it| unread(it, look)).collect(),
        not_included: outcome.not_included.iter().map(|path| place::path(path, look.base)).collect(),
        summary: Summary {
            files: outcome.files.len(),
            directives: outcome.directives,
            errors: counts.errors,
            warnings: counts.warnings,
            infos: counts.infos,
            fixable: counts.safe_fixes + counts.unsafe_fixes,
        },
    }
}

fn document<'a>(outcome: &'a Outcome, look: Look<'a>) -> Document<'a> {
    let About { version, tool, target, not_read, not_included, summary } = about(outcome, look);
    let findings = Findings(&outcome.findings, look);
    Document { version, tool, target, findings, not_read, not_included, summary }
}

/// What a run says besides its findings.
#[derive(Serialize)]
struct About<'a> {
    version: u32,
    tool: Tool,
    target: Target<'a>,
    not_read: Vec<Unread<'a>>,
    not_included: Vec<String>,
    summary: Summary,
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    tool: Tool,
    target: Target<'a>,
    findings: Findings<'a>,
    not_read: Vec<Unread<'a>>,
    not_included: Vec<String>,
    summary: Summary,
}

/// Made one after the other while they are written: there may be many.
struct Findings<'a>(&'a [Found], Look<'a>);

impl Serialize for Findings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seen = HashMap::default();
        serializer.collect_seq(self.0.iter().map(|found| finding(found, self.1, &mut seen)))
    }
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

/// `{ "nginx": "1.18.0 - 1.31.9", "stated": false }`: a key for each server that was met.
struct Target<'a>(&'a [Assumed]);

impl Serialize for Target<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Target", self.0.len() + 1)?;
        for target in self.0 {
            let key = match target.server {
                Server::Nginx => "nginx",
                Server::Caddy => "caddy",
            };
            fields.serialize_field(key, &target.versions.describe(target.server))?;
        }
        let stated = !self.0.is_empty() && self.0.iter().all(|target| target.stated);
        fields.serialize_field("stated", &stated)?;
        fields.end()
    }
}

#[derive(Serialize)]
struct Entry<'a> {
    rule: &'a str,
    severity: Severity,
    category: Category,
    message: &'a str,
    path: String,
    range: Range,
    versions: Cow<'static, str>,
    fingerprint: String,
    labels: Vec<Related<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    fixes: Vec<Patch<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

#[derive(Serialize)]
struct Range {
    start: Point,
    end: Point,
}

#[derive(Serialize)]
struct Point {
    line: u32,
    column: u32,
    offset: u32,
}

#[derive(Serialize)]
struct Related<'a> {
    message: &'a str,
    path: String,
    range: Range,
}

#[derive(Serialize)]
struct Patch<'a> {
    title: &'a str,
    safety: Safety,
    changes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    held_back: Option<String>,
    edits: Vec<Change>,
}

#[derive(Serialize)]
struct Change {
    path: String,
    range: Range,
    #[serde(flatten)]
    text: Text,
}

#[derive(Serialize)]
enum Text {
    #[serde(rename = "text")]
    Utf8(String),
    #[serde(rename = "text_base64")]
    Base64(String),
}

#[derive(Serialize)]
struct Unread<'a> {
    path: String,
    reason: &'a str,
}

#[derive(Serialize)]
struct Summary {
    files: usize,
    directives: usize,
    errors: usize,
    warnings: usize,
    infos: usize,
    fixable: usize,
}

fn finding<'a>(found: &'a Found, look: Look<'_>, seen: &mut HashMap<u64, u32>) -> Entry<'a> {
    let it = &found.finding;
    let path = path_of(found, it.span, look);
    let server = found.server;
    Entry {
        rule: &it.rule,
        severity: it.severity,
        category: it.category,
        message: &it.message,
        range: range(found.file(it.span), it.span),
        versions: it.versions.as_ref().map_or("all".into(), |versions| versions.describe(server).into()),
        fingerprint: place::fingerprint(&it.rule, &path, found.file(it.span), it.span, seen),
        path,
        labels: it.labels.iter().map(|label| related(found, label, look)).collect(),
        note: it.note.as_deref(),
        fixes: it.fixes.iter().enumerate().map(|(index, fix)| patch(found, index, fix, look)).collect(),
        help: help_url(&it.rule),
    }
}

fn related<'a>(found: &Found, label: &'a Label, look: Look<'_>) -> Related<'a> {
    let range = range(found.file(label.span), label.span);
    Related { message: &label.message, path: path_of(found, label.span, look), range }
}

fn patch<'a>(found: &'a Found, index: usize, fix: &'a Fix, look: Look<'_>) -> Patch<'a> {
    Patch {
        title: &fix.title,
        safety: fix.safety,
        changes: &fix.changes,
        held_back: found.held_back.get(&index).map(ToString::to_string),
        edits: fix.edits.iter().map(|edit| change(found, edit, look)).collect(),
    }
}

fn change(found: &Found, edit: &Edit, look: Look<'_>) -> Change {
    let text = match std::str::from_utf8(&edit.text) {
        Ok(text) => Text::Utf8(text.to_owned()),
        Err(_) => Text::Base64(BASE64_STANDARD.encode(&edit.text)),
    };
    Change { path: path_of(found, edit.span, look), range: range(found.file(edit.span), edit.span), text }
}

fn unread<'a>(it: &'a Gap, look: Look<'_>) -> Unread<'a> {
    Unread { path: place::path(&it.path, look.base), reason: &it.reason }
}

fn path_of(found: &Found, span: Span, look: Look<'_>) -> String {
    place::path(found.file(span).path(), look.base)
}

fn range(file: &SourceFile, span: Span) -> Range {
    let point = |Position { line, column, offset }| Point { line, column, offset };
    Range { start: point(file.position(span.start)), end: point(file.position(span.end)) }
}
