//! What data cannot say: checks that rules call by name. A check looks and reports; it never
//! decides severity, id or link, and never reads or prints.

pub mod caddy;
pub mod nginx;
pub mod problems;

use foldhash::HashMap;
use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::rc::Rc;

use crate::catalog::distros::Distribution;
use crate::fix::Fix;
use crate::model::{Model, Node, NodeId};
use crate::rule::Params;
use crate::source::Span;
use crate::version::VersionSet;

/// What the user states besides the target.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Peak number of concurrent requests to one backend.
    pub peak_concurrency: Option<u32>,
    /// Modules that the server has besides nginx's own: `headers-more`, `openresty`, `angie`.
    pub modules: Vec<String>,
    /// Directives that the server knows besides those of known modules.
    pub extra_directives: Vec<String>,
    /// What `nginx -V` says of the server.
    pub nginx_build: Option<crate::catalog::nginx::Build>,
    /// What `caddy list-modules` says of the server.
    pub caddy_build: Option<crate::catalog::caddy::build::Build>,
}

impl Settings {
    /// Whether the user said that the server knows a directive.
    pub(crate) fn knows_directive(&self, name: &[u8]) -> bool {
        self.extra_directives.iter().any(|known| known.as_bytes() == name)
    }
}

/// What a check may see, and where it reports.
pub struct Cx<'a> {
    /// The configuration.
    pub model: &'a Model,
    /// The versions that will read it, of the model's server; never empty.
    pub target: &'a VersionSet,
    /// Whether the user stated the target.
    pub stated: bool,
    /// The distribution or image that was stated as the target.
    pub distribution: Option<&'static Distribution>,
    /// What else the user stated.
    pub settings: &'a Settings,
    /// The rule's parameters.
    pub params: &'a Params,
    /// What the run's checks computed once and share.
    pub shared: &'a Shared,
    pub(crate) template: Option<&'a str>,
    pub(crate) reports: Vec<Report>,
}

/// Results that several rules need: computed on first use, once for a model and its target.
#[derive(Default)]
pub struct Shared(RefCell<HashMap<TypeId, Rc<dyn Any>>>);

impl Shared {
    /// The result of that type, which is computed if nobody asked for it yet. Results may ask for
    /// others, but not for themselves.
    pub fn get<T: 'static>(&self, compute: impl FnOnce() -> T) -> Rc<T> {
        let known = self.0.borrow().get(&TypeId::of::<T>()).cloned();
        // Not borrowed while computing: `compute` may ask for something else.
        let value = known.unwrap_or_else(|| Rc::new(compute()));
        self.0.borrow_mut().entry(TypeId::of::<T>()).or_insert_with(|| value.clone());
        value.downcast().expect("stored under its own type")
    }
}

/// What a check says of one place.
#[derive(Debug, Clone)]
pub struct Report {
    pub(crate) span: Span,
    /// The directive, where the place lies in one: its includes are told.
    pub(crate) node: Option<NodeId>,
    pub(crate) message: String,
    pub(crate) labels: Vec<(Span, String)>,
    pub(crate) versions: Option<VersionSet>,
    pub(crate) fixes: Vec<Fix>,
    pub(crate) note: Option<String>,
}

impl Cx<'_> {
    /// Reports a place that lies in no directive. For a fault of a directive, [`Cx::report`] keeps
    /// the includes that led to it.
    ///
    /// `{versions}` in a message becomes the versions for which it is true; without it they are
    /// added where it is not true for the whole target.
    pub fn report_span(&mut self, span: Span, message: impl Into<String>) -> &mut Report {
        self.push(span, None, message.into())
    }

    /// Reports a part of a directive; add labels and fixes to what comes back.
    pub fn report(&mut self, node: Node<'_>, span: Span, message: impl Into<String>) -> &mut Report {
        self.push(span, Some(node.id()), message.into())
    }

    /// The message of the rule's page about a directive, if the page has one.
    pub fn message(&self, node: Node<'_>) -> Option<String> {
        self.template.map(|template| crate::rule::pattern::message(template, node))
    }

    fn push(&mut self, span: Span, node: Option<NodeId>, message: String) -> &mut Report {
        let report = Report { span, node, message, labels: Vec::new(), versions: None, fixes: Vec::new(), note: None };
        self.reports.push(report);
        self.reports.last_mut().expect("just pushed")
    }
}

impl Report {
    /// A report of a part of a directive, for results that several rules share.
    pub(crate) fn new(node: Node<'_>, span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            node: Some(node.id()),
            message: message.into(),
            labels: Vec::new(),
            versions: None,
            fixes: Vec::new(),
            note: None,
        }
    }

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
    /// Behind all rules, on the comments that ignore what they find; the pass over them reports.
    Comments,
}

/// A check that rules can call.
pub struct Check {
    /// The name rules use: `nginx/upstream-reuse`.
    pub name: &'static str,
    /// When and what.
    pub run: Run,
}

/// Every check.
pub static CHECKS: &[&Check] = &[
    &problems::COMMENTS,
    &problems::NGINX_SYNTAX,
    &problems::NGINX_INCLUDE,
    &nginx::buffers::CHECK,
    &nginx::changed_default::CHECK,
    &nginx::grammar::CHECK,
    &nginx::incomplete::CHECK,
    &nginx::listen::CHECK,
    &nginx::location_choice::CHECK,
    &nginx::map::CHECK,
    &nginx::pass_target::CHECK,
    &nginx::references::CHECK,
    &nginx::regex::CHECK,
    &nginx::server_name::CHECK,
    &nginx::tls_switch::SSL_ON,
    &nginx::tls_switch::LISTEN_HTTP2,
    &nginx::variables::CHECK,
    &nginx::upstream_reuse::CHECK,
    &problems::CADDY_IMPORT,
    &caddy::refused::SYNTAX,
    &caddy::refused::AMBIGUOUS_SITE,
    &caddy::grammar::CHECK,
    &caddy::grammar::RENAMED,
    &caddy::references::CHECK,
    &caddy::idle_pool::UNDERSIZED,
    &caddy::idle_pool::DEFAULT_HOLDS,
    &caddy::idle_pool::DEFAULT_LOST,
    &caddy::idle_pool::CAPPED,
    &caddy::idle_pool::NEGATIVE,
    &caddy::idle_pool::OFF,
];

/// The check of that name.
pub fn find(name: &str) -> Option<&'static Check> {
    CHECKS.iter().copied().find(|check| check.name == name)
}

/// What is wrong with the parameters that a rule gives to a check, if anything.
pub fn wrong_params(check: &str, params: &Params) -> Option<String> {
    (check == nginx::upstream_reuse::CHECK.name).then(|| nginx::upstream_reuse::wrong_params(params))?
}
