//! What a rule says of a configuration.

use std::borrow::Cow;

use crate::fix::Fix;
use crate::source::Span;
use crate::version::VersionSet;

pub use crate::rule::level::{Category, Severity};

/// A related place of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What it has to do with the finding; small first letter, no full stop.
    pub message: String,
}

/// One fault at one place.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Id of the rule: its path under `rules/`.
    pub rule: Cow<'static, str>,
    /// How bad it is in production.
    pub severity: Severity,
    /// What kind of harm.
    pub category: Category,
    /// What happens, on which versions, what to do.
    pub message: String,
    /// The place that is wrong.
    pub span: Span,
    /// Related places, maybe in other files.
    pub labels: Vec<Label>,
    /// The versions of the target for which it is true; `None` means all of them.
    pub versions: Option<VersionSet>,
    /// In order of preference; `--fix` takes the first.
    pub fixes: Vec<Fix>,
    /// Why there is no fix, or what to do by hand, in words.
    pub note: Option<String>,
}
