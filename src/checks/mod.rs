//! What data cannot say: checks that rules call by name. A check looks and reports; it never
//! decides severity, id or link, and never reads or prints.

pub mod nginx;

use crate::fix::Fix;
use crate::model::{Model, Node};
use crate::rule::Params;
use crate::source::Span;
use crate::syntax::tree::ChainId;
use crate::version::VersionSet;

/// What the user states besides the target.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Peak number of concurrent requests to one backend.
    pub peak_concurrency: Option<u32>,
}

/// What a check may see, and where it reports.
pub struct Cx<'a> {
    /// The configuration.
    pub model: &'a Model,
    /// The versions that will read it, of the model's server; never empty.
    pub target: &'a VersionSet,
    /// Whether the user stated the target.
    pub stated: bool,
    /// What else the user stated.
    pub settings: &'a Settings,
    /// The rule's parameters.
    pub params: &'a Params,
    /// What the run's checks computed once and share.
    pub shared: &'a Shared,
    pub(crate) reports: Vec<Report>,
}

/// Results that several rules need, computed on first use.
#[derive(Default)]
pub struct Shared {
    // pub(crate) reuse: std::sync::OnceLock<nginx::reuse::Reuse>,
}

/// What a check says of one place.
#[derive(Debug, Clone)]
pub struct Report {
    pub(crate) span: Span,
    pub(crate) chain: ChainId,
    pub(crate) message: String,
    pub(crate) labels: Vec<(Span, String)>,
    pub(crate) versions: Option<VersionSet>,
    pub(crate) fixes: Vec<Fix>,
    pub(crate) note: Option<String>,
}

impl Cx<'_> {
    /// Reports `span`; add labels and fixes to what comes back. For a fault of one directive,
    /// [`Cx::report`] keeps the includes that led to it.
    pub fn report_span(&mut self, span: Span, message: impl Into<String>) -> &mut Report {
        self.push(span, ChainId(0), message.into())
    }

    /// Reports a part of a directive.
    pub fn report(&mut self, node: Node<'_>, span: Span, message: impl Into<String>) -> &mut Report {
        self.push(span, node.chain_id(), message.into())
    }

    fn push(&mut self, span: Span, chain: ChainId, message: String) -> &mut Report {
        let report = Report { span, chain, message, labels: Vec::new(), versions: None, fixes: Vec::new(), note: None };
        self.reports.push(report);
        self.reports.last_mut().expect("just pushed")
    }
}

impl Report {
    /// Adds a related place.
    pub fn label(&mut self, span: Span, message: impl Into<String>) -> &mut Self {
        self.labels.push((span, message.into()));
        self
    }

    /// Says for which versions of the target it is true, where not for all.
    pub fn versions(&mut self, versions: VersionSet) -> &mut Self {
        self.versions = Some(versions);
        self
    }

    /// Offers a fix.
    pub fn fix(&mut self, fix: Fix) -> &mut Self {
        self.fixes.push(fix);
        self
    }

    /// Says why there is no fix, or what to do by hand.
    pub fn note(&mut self, note: impl Into<String>) -> &mut Self {
        self.note = Some(note.into());
        self
    }
}

/// When a check runs.
#[derive(Clone, Copy)]
pub enum Run {
    /// Once for a model.
    Model(fn(&mut Cx<'_>)),
    /// For every directive with one of these names.
    Each(&'static [&'static str], fn(&mut Cx<'_>, Node<'_>)),
}

/// A check that rules can call.
pub struct Check {
    /// The name rules use: `nginx/upstream-reuse`.
    pub name: &'static str,
    /// When and what.
    pub run: Run,
}

/// Every check.
pub static CHECKS: &[&Check] = &[&nginx::problems::SYNTAX, &nginx::problems::INCLUDE];

/// The check of that name.
pub fn find(name: &str) -> Option<&'static Check> {
    CHECKS.iter().copied().find(|check| check.name == name)
}
