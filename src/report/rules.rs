//! Lists of rules.

use std::io::{self, Write};

use serde::Serialize;

use super::{Look, help_url, json, plain};
use crate::rule::set::{Active, RuleSet};
use crate::rule::{Activation, Rule};

/// Writes one rule a line: name, severity, category, kind of its fixes, versions, what is wrong.
/// Lines are cut to the width of the look where `cut`.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_text(rules: &RuleSet, look: Look<'_>, cut: bool, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<Row> = rules.iter().map(Row::new).collect();
    let width = |cell: fn(&Row) -> &str| rows.iter().map(|row| cell(row).chars().count()).max().unwrap_or(0);
    let (name, fix) = (width(|row| &row.name), width(|row| row.fix));
    let (category, versions) = (width(|row| row.category), width(|row| &row.versions));
    let mut folder = rows.first().map(|row| row.folder.clone());
    for row in &rows {
        if folder.as_ref() != Some(&row.folder) {
            folder = Some(row.folder.clone());
            writeln!(out)?;
        }
        let (head, style) = (look.head(), look.severity(row.severity));
        write!(out, "{head}{:name$}{head:#}  {style}{:7}{style:#}", row.name, row.severity.as_str())?;
        let rest =
            format!("  {:category$}  fix: {:fix$}  {:versions$}  {}", row.category, row.fix, row.versions, row.summary);
        let room = look.width.saturating_sub(name + "  warning".len()).max(20);
        writeln!(out, "{}", if cut { shortened(&rest, room) } else { rest })?;
    }
    Ok(())
}

struct Row {
    folder: String,
    name: String,
    severity: crate::finding::Severity,
    category: &'static str,
    fix: &'static str,
    versions: String,
    summary: String,
}

impl Row {
    fn new(active: &Active) -> Self {
        let rule = &active.rule;
        let off = if rule.activation == Activation::Off { "(off by default) " } else { "" };
        Self {
            folder: rule.id.split('/').next().unwrap_or_default().to_owned(),
            name: plain::line(&rule.id).into_owned(),
            severity: active.severity,
            category: rule.category.as_str(),
            fix: rule.mends.as_str(),
            versions: versions(rule),
            summary: format!("{off}{}", plain::line(&rule.summary)),
        }
    }
}

fn versions(rule: &Rule) -> String {
    match (&rule.versions, rule.server) {
        (Some(versions), Some(server)) => versions.words(server).replacen(&format!("{} ", server.name()), "", 1),
        _ => "all".to_owned(),
    }
}

fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width - 1).chain(['…']).collect()
}

/// Writes one JSON document.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_json(rules: &RuleSet, out: &mut dyn Write) -> io::Result<()> {
    let rules = rules.iter().map(Entry::new).collect();
    json::print(&Document { version: 1, rules }, out)
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    rules: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    rule: &'a str,
    aliases: &'a [std::borrow::Cow<'static, str>],
    summary: &'a str,
    severity: &'static str,
    category: &'static str,
    fix: &'static str,
    versions: String,
    default: &'static str,
    since: &'a str,
    help: Option<String>,
}

impl<'a> Entry<'a> {
    fn new(active: &'a Active) -> Self {
        let rule: &Rule = &active.rule;
        Self {
            rule: &rule.id,
            aliases: &rule.aliases,
            summary: &rule.summary,
            severity: active.severity.as_str(),
            category: rule.category.as_str(),
            fix: rule.mends.as_str(),
            versions: versions(rule),
            default: default(rule.activation),
            since: &rule.since,
            help: help_url(&rule.id),
        }
    }
}

/// The word of rule files.
pub(super) fn default(activation: Activation) -> &'static str {
    match activation {
        Activation::On => "on",
        Activation::Off => "off",
        Activation::Always => "always",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::files::Memory;

    fn rules() -> RuleSet {
        let mut files = Memory::new();
        for (id, extra) in [
            ("caddy/one", "default = \"off\"\nversions = \">=2.7\""),
            ("nginx/long-name", "fix = { safety = \"safe\", remove = true }\naliases = [\"nginx/old\"]"),
        ] {
            let page = format!(
                "# {id}\n\nWhat \x1b is\nwrong here.\n\n```toml rule\nseverity = \"info\"\ncategory = \"style\"\nsince = \"0.1.0\"\n\
                 message = \"m\"\nmatch = {{ directive = [\"x\"] }}\n{extra}\n```\n"
            );
            files.insert(format!("own/{id}.md"), page.as_bytes());
        }
        let mut rules = RuleSet::empty();
        rules.add_folder(&files, Path::new("own")).unwrap();
        rules
    }

    fn look() -> Look<'static> {
        Look { base: Path::new("."), root: Path::new("."), width: 60, color: false, links: false, ascii: false }
    }

    #[test]
    fn one_line_a_rule_and_a_blank_one_between_folders() {
        let text = |cut| {
            let mut out = Vec::new();
            write_text(&rules(), look(), cut, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            text(false),
            "caddy/one        info     style  fix: none  2.7.0 and later  (off by default) What \\x1b is wrong here.\n\n\
             nginx/long-name  info     style  fix: safe  all              What \\x1b is wrong here.\n"
        );
        assert!(text(true).lines().all(|line| line.chars().count() <= 60), "{}", text(true));
    }

    #[test]
    fn the_document_has_what_a_program_asks_for() {
        let mut out = Vec::new();
        write_json(&rules(), &mut out).unwrap();
        let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let rule = &document["rules"][1];
        assert_eq!(document["version"], 1);
        assert_eq!((&rule["rule"], &rule["aliases"][0]), (&"nginx/long-name".into(), &"nginx/old".into()));
        assert_eq!((&rule["fix"], &rule["default"], &rule["versions"]), (&"safe".into(), &"on".into(), &"all".into()));
        assert!(rule["help"].is_null(), "a user's rule has no address");
    }
}
