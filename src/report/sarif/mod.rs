//! SARIF 2.1.0, with everything that GitHub's code scanning wants.

mod line_hash;
mod rules;

use foldhash::HashMap;
use std::cell::RefCell;
use std::io::{self, Write};
use std::path::{Component, Path};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Value, json};

use super::item::{Item, items};
use super::place::{self, Naming};
use super::{Look, json, plain};
use crate::finding::Severity;
use crate::fix::{Edit, Fix, Safety};
use crate::session::{Found, Gap, Outcome, Unread};
use crate::source::{FileId, SourceFile, Span};
use line_hash::line_hashes;
use rules::Rules;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn write(outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    json::print(&Log { schema: SCHEMA, version: "2.1.0", runs: [Run { outcome, look }] }, out)
}

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

struct Run<'a> {
    outcome: &'a Outcome,
    look: Look<'a>,
}

impl Serialize for Run<'_> {
    /// Results are made one after the other, as there may be many; which rules they need is known
    /// behind them.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { outcome, look } = *self;
        let report = RefCell::new(Report { look, outcome, rules: Rules::default(), hashes: HashMap::default() });
        let mut run = serializer.serialize_map(None)?;
        run.serialize_entry("columnKind", "unicodeCodePoints")?;
        let root = json!({ ROOT: { "description": { "text": "the root of the repository" } } });
        run.serialize_entry("originalUriBaseIds", &root)?;
        let notifications: Vec<Value> = outcome.unread.iter().map(|it| notification(it, look)).collect();
        run.serialize_entry(
            "invocations",
            &[json!({
                "executionSuccessful": outcome.is_complete() && !outcome.bug,
                "toolExecutionNotifications": notifications,
            })],
        )?;
        run.serialize_entry("results", &Results(&report))?;
        run.serialize_entry(
            "tool",
            &json!({ "driver": {
            "name": env!("CARGO_PKG_NAME"),
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "informationUri": env!("CARGO_PKG_REPOSITORY"),
            "rules": report.borrow().rules.all(),
        } }),
        )?;
        run.end()
    }
}

struct Results<'r, 'a>(&'r RefCell<Report<'a>>);

impl Serialize for Results<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (outcome, look) = (self.0.borrow().outcome, self.0.borrow().look);
        let items = items(outcome, look, Naming::Repository);
        serializer.collect_seq(items.map(|item| self.0.borrow_mut().result(&item)))
    }
}

/// What relative addresses are relative to.
const ROOT: &str = "%SRCROOT%";
/// More related places make a message unreadable.
const MOST_RELATED: usize = 10;

struct Report<'a> {
    outcome: &'a Outcome,
    look: Look<'a>,
    rules: Rules,
    /// By file: the hashes of its lines.
    hashes: HashMap<*const SourceFile, Vec<String>>,
}

impl Report<'_> {
    fn result(&mut self, item: &Item<'_>) -> Value {
        let (found, span) = (item.found, item.found.finding.span);
        let rule = self.rules.index(self.outcome, found);
        let mut result = json!({
            "ruleId": item.rule,
            "ruleIndex": rule,
            "level": level(item.severity),
            "message": { "text": message(item) },
            "locations": [{ "physicalLocation": self.place(found, span) }],
            "partialFingerprints": {
                "primaryLocationLineHash": self.line_hash(found, item.start.line),
                "proxylint/v1": item.fingerprint,
            },
        });
        let related: Vec<Value> = found
            .finding
            .labels
            .iter()
            .enumerate()
            .map(|(index, label)| {
                json!({
                    "id": index + 1,
                    "message": { "text": plain_text(&label.message) },
                    "physicalLocation": self.place(found, label.span),
                })
            })
            .collect();
        if !related.is_empty() {
            result["relatedLocations"] = related.into();
        }
        let fixes: Vec<Value> = found.finding.fixes.iter().filter_map(|fix| self.fix(found, fix)).collect();
        if !fixes.is_empty() {
            result["fixes"] = fixes.into();
        }
        result
    }

    fn line_hash(&mut self, found: &Found, line: u32) -> &str {
        let file = found.sources.get(found.finding.span.file);
        let hashes = self.hashes.entry(std::sync::Arc::as_ptr(file)).or_insert_with(|| line_hashes(file));
        // A lone CR ends a line for GitHub, and none for the servers.
        hashes.get(line as usize - 1).map_or("", String::as_str)
    }

    fn place(&self, found: &Found, span: Span) -> Value {
        json!({ "artifactLocation": self.artifact(found, span.file), "region": region(found.file(span), span) })
    }

    fn artifact(&self, found: &Found, file: FileId) -> Value {
        address(&place::named(found, file, self.look, Naming::Repository))
    }

    /// `None` where a text is not UTF-8: a viewer would write another one.
    fn fix(&self, found: &Found, fix: &Fix) -> Option<Value> {
        let mut files: Vec<(FileId, Vec<Value>)> = Vec::new();
        for edit in &fix.edits {
            let replacement = replacement(found.file(edit.span), edit)?;
            match files.iter_mut().find(|(file, _)| *file == edit.span.file) {
                Some((_, edits)) => edits.push(replacement),
                None => files.push((edit.span.file, vec![replacement])),
            }
        }
        let change = |(file, edits): (FileId, Vec<Value>)| json!({ "artifactLocation": self.artifact(found, file), "replacements": edits });
        let safety = match fix.safety {
            Safety::Safe => "safe".to_owned(),
            Safety::Unsafe => format!("unsafe: {}", fix.changes.join("; ")),
        };
        let text = plain_text(&format!("{} ({safety})", fix.title));
        let changes: Vec<Value> = files.into_iter().map(change).collect();
        (!changes.is_empty()).then(|| json!({ "description": { "text": text }, "artifactChanges": changes }))
    }
}

fn notification(it: &Unread, look: Look<'_>) -> Value {
    let level = if it.gap == Gap::Failed { "error" } else { "note" };
    json!({
        "level": level,
        "message": { "text": plain_text(&format!("not read: {}", it.reason)) },
        "locations": [{ "physicalLocation": { "artifactLocation": address(&place::from_root(&it.path, look)) } }],
    })
}

/// A path from the root of the repository, or an absolute one outside.
fn address(path: &Path) -> Value {
    match path.is_absolute() {
        true => json!({ "uri": format!("file://{}", uri(path)) }),
        false => json!({ "uri": uri(path), "uriBaseId": ROOT }),
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// The message with what is to be done. Related places are shown where the message links them.
fn message(item: &Item<'_>) -> String {
    let mut text = plain_text(&item.prose());
    for (index, label) in item.found.finding.labels.iter().take(MOST_RELATED).enumerate() {
        let label = plain::line(&label.message).replace('\\', r"\\").replace('[', r"\[").replace(']', r"\]");
        let head = if index == 0 { "\nrelated:" } else { "," };
        text.push_str(&format!("{head} [{label}]({})", index + 1));
    }
    text
}

/// Text in which nothing is taken for a link.
fn plain_text(text: &str) -> String {
    text.lines().map(plain::line).collect::<Vec<_>>().join("\n").replace("](", "] (")
}

fn region(file: &SourceFile, span: Span) -> Value {
    let (start, end) = (file.position(span.start), file.position(span.end));
    json!({ "startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column })
}

fn replacement(file: &SourceFile, edit: &Edit) -> Option<Value> {
    let text = std::str::from_utf8(&edit.text).ok()?;
    let mut replacement = json!({ "deletedRegion": region(file, edit.span) });
    if !text.is_empty() {
        replacement["insertedContent"] = json!({ "text": text });
    }
    Some(replacement)
}

/// Bytes that stand in a path of an address as they are.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A path as an address, byte for byte.
fn uri(path: &Path) -> String {
    let mut out = String::new();
    for part in path.components() {
        match part {
            Component::RootDir => {}
            Component::CurDir => out.push('.'),
            Component::ParentDir | Component::Prefix(_) | Component::Normal(_) => {
                if !out.is_empty() || path.is_absolute() {
                    out.push('/');
                }
                out.extend(percent_encode(part.as_os_str().as_encoded_bytes(), IN_PATH));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_addresses() {
        assert_eq!(uri(Path::new("conf.d/a b%c#ä.conf")), "conf.d/a%20b%25c%23%C3%A4.conf");
        assert_eq!(uri(Path::new("/etc/nginx/x:y")), "/etc/nginx/x%3Ay");
        assert_eq!(uri(Path::new(".")), ".");
    }

    #[test]
    fn no_text_becomes_a_link() {
        assert_eq!(plain_text("`~ [a](b)`\x1b"), "`~ [a] (b)`\\x1b");
    }
}
