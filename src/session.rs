//! One run: what was given, what was found, what was not read.

use std::path::PathBuf;
use std::sync::Arc;

use crate::finding::{Finding, Severity};
use crate::fix::{Fix, Safety};
use crate::model::NotRead;
use crate::source::{SourceFile, Sources, Span};
use crate::version::{Server, VersionSet};

/// What a run says, in no format.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The findings, sorted by path and place.
    pub findings: Vec<Found>,
    /// The versions that the findings are about, one entry for each server that was met.
    pub targets: Vec<Assumed>,
    /// Files that exist, should have been read, and were not.
    pub not_read: Vec<NotRead>,
    /// Recognised files that no main file reads, sorted.
    pub not_included: Vec<PathBuf>,
    /// Number of files read, each counted once.
    pub files: usize,
    /// Number of directives, each place of inclusion counted.
    pub directives: usize,
}

/// A finding and the files that its spans lie in.
#[derive(Debug, Clone)]
pub struct Found {
    /// What a rule says.
    pub finding: Finding,
    /// The files of its configuration.
    pub sources: Arc<Sources>,
    /// Why its first fix was not applied, when fixes were asked for.
    pub held_back: Option<String>,
}

/// The versions of one server that a run was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumed {
    /// Whose.
    pub server: Server,
    /// Which.
    pub versions: VersionSet,
    /// Whether the user stated them.
    pub stated: bool,
}

/// How many findings there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Findings of severity error.
    pub errors: usize,
    /// Findings of severity warning.
    pub warnings: usize,
    /// Findings of severity info.
    pub infos: usize,
    /// Findings whose first fix is safe.
    pub safe_fixes: usize,
    /// Findings whose first fix is unsafe.
    pub unsafe_fixes: usize,
}

impl Outcome {
    /// Counts the findings.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for Found { finding, .. } in &self.findings {
            match finding.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Info => counts.infos += 1,
            }
            match finding.fixes.first().map(|fix| fix.safety) {
                Some(Safety::Safe) => counts.safe_fixes += 1,
                Some(Safety::Unsafe) => counts.unsafe_fixes += 1,
                None => {}
            }
        }
        counts
    }

    /// Whether a finding is at least that bad.
    pub fn reaches(&self, level: Severity) -> bool {
        self.findings.iter().any(|found| found.finding.severity >= level)
    }
}

impl Found {
    /// The file of a span of this finding.
    pub fn file(&self, span: Span) -> &SourceFile {
        self.sources.get(span.file)
    }

    /// The fix that `--fix` takes.
    pub fn fix(&self) -> Option<&Fix> {
        self.finding.fixes.first()
    }

    /// Whose configuration it is about: the part of the rule's id before the slash.
    pub fn server(&self) -> Server {
        if self.finding.rule.starts_with("caddy/") { Server::Caddy } else { Server::Nginx }
    }
}
