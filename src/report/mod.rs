//! What a run says, in the formats that people and programs read. One file a format.

mod checkstyle;
mod concise;
mod diff;
mod excerpt;
mod github;
mod gitlab;
mod html;
mod item;
mod json;
mod junit;
mod markdown;
pub mod page;
pub mod patch;
mod place;
pub mod plain;
mod rdjson;
pub mod rules;
mod sarif;
pub mod settings;
mod snippet;
pub mod statistics;
pub mod summary;
#[cfg(test)]
mod tests;
mod text;
pub mod which;
mod xml;

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

use crate::finding::Severity;
use crate::rule::{RULES, Rule};
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
    /// For programs: one finding a line.
    Jsonl,
    /// For code scanning: SARIF 2.1.0.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
    /// GitLab's code quality report.
    Gitlab,
    /// Checkstyle's XML.
    Checkstyle,
    /// JUnit's XML.
    Junit,
    /// reviewdog's diagnostics, with suggestions.
    Rdjson,
    /// For a comment on a pull request.
    Markdown,
    /// One page with everything in it.
    Html,
}

impl Format {
    /// All of them, with their names and what they are for, in a few words.
    pub const ALL: [(Self, &'static str, &'static str); 12] = [
        (Self::Text, "text", "for people: the place, what happens there, what to do"),
        (Self::Concise, "concise", "path:line:column, one finding a line"),
        (Self::Json, "json", "one document (docs/json.md)"),
        (Self::Jsonl, "jsonl", "one finding a line, then one about the run"),
        (Self::Sarif, "sarif", "SARIF 2.1.0, for GitHub code scanning and others"),
        (Self::Github, "github", "annotations of a pull request, from GitHub Actions"),
        (Self::Gitlab, "gitlab", "GitLab's code quality report"),
        (Self::Checkstyle, "checkstyle", "XML that most readers of lint reports take"),
        (Self::Junit, "junit", "XML of test reports: a failed test for each finding"),
        (Self::Rdjson, "rdjson", "for reviewdog: comments of a review with suggestions"),
        (Self::Markdown, "markdown", "a comment on a pull request, the summary of a job"),
        (Self::Html, "html", "one page with everything in it, for an audit"),
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        let known = Self::ALL.iter().find(|(format, ..)| *format == self);
        known.map_or("", |(_, name, _)| name)
    }
}

/// What the report depends on besides the findings.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    /// The working directory: paths are reported relative to it.
    pub base: &'a Path,
    /// The root of the repository, an absolute path without links; the working directory where
    /// there is none. Forges know files by their paths from there.
    pub root: &'a Path,
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
        Format::Jsonl => json::write_lines(outcome, look, out),
        Format::Sarif => sarif::write(outcome, look, out),
        Format::Github => github::write(outcome, look, out),
        Format::Gitlab => gitlab::write(outcome, look, out),
        Format::Checkstyle => checkstyle::write(outcome, look, out),
        Format::Junit => junit::write(outcome, look, out),
        Format::Rdjson => rdjson::write(outcome, look, out),
        Format::Markdown => markdown::write(outcome, look, out),
        Format::Html => html::write(outcome, look, out),
    }
}

/// Where a rule of this program is explained; `None` for a rule of the user's.
pub fn help_url(rule: &str) -> Option<String> {
    builtin(rule).map(|_| format!("{}/blob/main/rules/{rule}.md", env!("CARGO_PKG_REPOSITORY")))
}

fn builtin(rule: &str) -> Option<&'static Rule> {
    RULES.binary_search_by(|known| known.id.as_ref().cmp(rule)).ok().map(|at| &RULES[at])
}

/// The rule of a finding of a run; `None` where it is not known.
fn rule<'a>(outcome: &'a Outcome, id: &str) -> Option<&'a Rule> {
    let of_users = || outcome.configs.iter().find_map(|config| config.policy.rules.find(id).ok());
    builtin(id).or_else(|| of_users().map(|active| active.rule.as_ref()))
}
