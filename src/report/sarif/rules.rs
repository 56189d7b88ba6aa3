//! The rules of a report: those that it has results of.

use foldhash::HashMap;

use serde_json::{Value, json};

use super::plain_text;
use crate::finding::{Category, Severity};
use crate::report::{help_url, markdown, rule};
use crate::session::{Found, Outcome};

/// Rules by their index.
#[derive(Default)]
pub(super) struct Rules {
    rules: Vec<Value>,
    indexes: HashMap<String, usize>,
}

/// GitHub shows so many characters of a description.
const MOST_CHARACTERS: usize = 1024;

impl Rules {
    /// The index of the rule of a finding.
    pub(super) fn index(&mut self, outcome: &Outcome, found: &Found) -> usize {
        let id = found.finding.rule.as_ref();
        if let Some(&index) = self.indexes.get(id) {
            return index;
        }
        self.rules.push(descriptor(outcome, found));
        self.indexes.insert(id.to_owned(), self.rules.len() - 1);
        self.rules.len() - 1
    }

    /// All of them, by their index.
    pub(super) fn all(&self) -> &[Value] {
        &self.rules
    }
}

fn descriptor(outcome: &Outcome, found: &Found) -> Value {
    let finding = &found.finding;
    let rule = rule(outcome, &finding.rule);
    let summary = rule.map_or_else(|| finding.rule.to_string(), |rule| markdown::plain(&rule.summary));
    let summary = shortened(&plain_text(&summary));
    let page = rule.map_or_else(|| summary.clone(), |rule| markdown::page(&rule.page));
    let severity = rule.map_or(finding.severity, |rule| rule.severity);
    let mut descriptor = json!({
        "id": finding.rule,
        "name": name(&finding.rule),
        "shortDescription": { "text": summary },
        "fullDescription": { "text": summary },
        "help": { "text": page, "markdown": page },
        "defaultConfiguration": { "level": super::level(severity) },
        "properties": properties(severity, finding.category),
    });
    if let Some(address) = help_url(&finding.rule) {
        descriptor["helpUri"] = json!(address);
    }
    descriptor
}

fn properties(severity: Severity, category: Category) -> Value {
    let mut properties = json!({
        "tags": [category.as_str()],
        "precision": "very-high",
        "problem.severity": match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "recommendation",
        },
    });
    if category == Category::Security {
        // High, medium and low on GitHub.
        properties["security-severity"] = json!(match severity {
            Severity::Error => "8.0",
            Severity::Warning => "5.5",
            Severity::Info => "3.0",
        });
    }
    properties
}

/// `nginx/bare-proxy-pass` as `NginxBareProxyPass`: viewers show it as a title.
fn name(id: &str) -> String {
    let mut out = String::new();
    for word in id.split(|c: char| !c.is_alphanumeric()) {
        let mut characters = word.chars();
        out.extend(characters.next().into_iter().flat_map(char::to_uppercase));
        out.push_str(characters.as_str());
    }
    out
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= MOST_CHARACTERS {
        return text.to_owned();
    }
    text.chars().take(MOST_CHARACTERS - 1).chain(['…']).collect()
}
