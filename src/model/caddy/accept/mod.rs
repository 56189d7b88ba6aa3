//! Does a version of Caddy accept the configuration? The adapter's part of the answer; what the
//! text itself is refused for is in [`Model::problems`].
//!
//! It follows `caddyconfig/httpcaddyfile` of Caddy's source: options, addresses, matchers, and what
//! the parser of each directive takes, by the tables of [`crate::catalog::caddy`].

mod grammar;
mod matchers;
mod proxies;
mod sites;
mod special;
mod values;

use foldhash::HashSet;
use std::cell::RefCell;
use std::collections::BTreeSet;

use self::matchers::Scopes;
use crate::catalog::caddy as catalog;
use crate::model::caddy::options::lines;
use crate::model::{Model, Node, NodeId, Problem, Word};
use crate::source::Span;
use crate::syntax::caddy::Feature;
use crate::syntax::tree::{Body, Origin};
use crate::version::{Server, Version, VersionSet};

/// Why a version refuses a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Blocks and addresses are not put together as they must be.
    Structure,
    /// A name is not known, not yet, or not any more.
    Name,
    /// Arguments are too few, too many, or not what they must be.
    Arguments,
    /// A matcher or named route is not defined.
    Reference,
    /// An address stands in two sites.
    Ambiguous,
}

/// A place where the adapter of a version stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub cause: Cause,
    /// The directive.
    pub node: NodeId,
    /// The place in it.
    pub span: Span,
    /// What is wrong; small first letter, no full stop.
    pub message: String,
    /// Related places.
    pub labels: Vec<(Span, String)>,
}

/// What some versions make of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The versions, all of which say the same.
    pub versions: VersionSet,
    /// Why they refuse it, besides the text; empty if they accept it.
    pub refusals: Vec<Refusal>,
}

/// What the versions of a target make of a configuration: one verdict for all that judge alike.
///
/// The model must have been read as these versions read it.
pub fn verdicts(model: &Model, target: &VersionSet) -> Vec<Verdict> {
    let mut rest: Vec<Version> = target.members(Server::Caddy).collect();
    let mut verdicts = Vec::new();
    while let Some(&version) = rest.last() {
        let mut judge = Judge::new(model, version);
        let refusals = judge.judge();
        let alike = judge.judge_alike();
        let (same, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|v| *v == version || alike.contains(*v));
        verdicts.push(Verdict { versions: VersionSet::of(Server::Caddy, same), refusals });
        rest = others;
    }
    verdicts
}

/// The versions of an assumed target that could be meant: those that know the directives and
/// arguments that are written. What all refuse (a plugin's directive, a fault) says nothing of the
/// version, and that newer versions refuse how blocks are put together is a fault to report.
pub fn plausible(model: &Model, assumed: &VersionSet) -> VersionSet {
    let Some(newest) = assumed.members(Server::Caddy).last() else { return assumed.clone() };
    let outgrown = model.problems().iter().filter_map(|problem| problem.versions.as_ref());
    let outgrown = outgrown.filter(|versions| !versions.contains(newest));
    let readable = outgrown.fold(assumed.clone(), |set, versions| set.difference(versions));
    let unknown = |verdict: &Verdict| {
        let names = |refusal: &&Refusal| matches!(refusal.cause, Cause::Name | Cause::Arguments | Cause::Reference);
        verdict.refusals.iter().filter(names).count()
    };
    let verdicts = verdicts(model, &readable);
    let least = verdicts.iter().map(unknown).min().unwrap_or(0);
    let best = verdicts.into_iter().filter(|verdict| unknown(verdict) == least);
    best.fold(VersionSet::none(), |set, verdict| set.union(&verdict.versions))
}

/// Everything for which a version refuses a configuration: text and meaning.
///
/// # Errors
/// The reasons.
pub fn accepts(model: &Model, version: Version) -> Result<(), Vec<String>> {
    let holds = |problem: &&Problem| problem.versions.as_ref().is_none_or(|versions| versions.contains(version));
    let text = model.problems().iter().filter(holds).map(|problem| problem.error.message.clone());
    let meaning = Judge::new(model, version).judge().into_iter().map(|refusal| refusal.message);
    let all: Vec<String> = text.chain(meaning).collect();
    if all.is_empty() { Ok(()) } else { Err(all) }
}

/// A block that is still to be judged.
enum Task<'m> {
    /// Directives of a site, or of a block in it.
    Handlers { block: Node<'m>, scope: usize, in_site: bool },
    /// Options that the catalogue knows below `entry`.
    Settings { line: Node<'m>, entry: &'static catalog::Entry, scope: usize },
}

struct Judge<'m> {
    model: &'m Model,
    version: Version,
    refusals: Vec<Refusal>,
    todo: Vec<Task<'m>>,
    scopes: Scopes<'m>,
    /// Names of the named routes.
    routes: HashSet<&'m [u8]>,
    /// Versions at which an answer changes that was asked for.
    pivots: RefCell<BTreeSet<Version>>,
}

impl<'m> Judge<'m> {
    fn new(model: &'m Model, version: Version) -> Self {
        let (refusals, todo, pivots) = (Vec::new(), Vec::new(), RefCell::default());
        Self { model, version, refusals, todo, scopes: Scopes::default(), routes: HashSet::default(), pivots }
    }

    fn judge(&mut self) -> Vec<Refusal> {
        self.roots();
        while let Some(task) = self.todo.pop() {
            self.run(task);
        }
        let mut refusals = std::mem::take(&mut self.refusals);
        refusals.sort_by_key(|refusal| refusal.node);
        refusals
    }

    /// The versions for which every question had the same answer.
    fn judge_alike(&self) -> VersionSet {
        let side = |pivot: &Version| {
            if self.version >= *pivot { VersionSet::since(*pivot) } else { VersionSet::before(*pivot) }
        };
        self.pivots.borrow().iter().map(side).fold(VersionSet::all(), |set, side| set.intersection(&side))
    }

    fn refuse(&mut self, cause: Cause, node: Node<'m>, span: Span, message: impl Into<String>) -> &mut Refusal {
        let (node, message, labels) = (node.id(), message.into(), Vec::new());
        self.refusals.push(Refusal { cause, node, span, message, labels });
        self.refusals.last_mut().expect("just pushed")
    }

    /// Whether the version is at least that one. To be asked only where the answer matters.
    fn since(&self, major: u16, minor: u16, patch: u16) -> bool {
        self.is_from(Version::new(major, minor, patch))
    }

    fn is_from(&self, pivot: Version) -> bool {
        self.pivots.borrow_mut().insert(pivot);
        self.version >= pivot
    }

    /// Whether the version knows a name.
    fn knows(&self, entry: &catalog::Entry) -> bool {
        entry.since.is_none_or(|since| self.is_from(since)) && entry.until.is_none_or(|until| !self.is_from(until))
    }

    fn run(&mut self, task: Task<'m>) {
        match task {
            Task::Handlers { block, scope, in_site } => self.handlers(block, scope, in_site),
            Task::Settings { line, entry, scope } => self.settings(line, entry, scope),
        }
    }

    /// Judges what stands at top level.
    fn roots(&mut self) {
        let model = self.model;
        let blocks: Vec<Node<'m>> =
            model.roots().filter(|node| !is_import(*node) && matches!(node.body(), Body::Block { .. })).collect();
        let (mut sites, mut routes) = (Vec::new(), Vec::new());
        for (place, &block) in blocks.iter().enumerate() {
            if block.words().len() == 0 {
                self.global(block, place);
            } else if let Some(name) = self.named_route(block) {
                routes.push((block, name));
            } else {
                sites.push(block);
            }
        }
        for (block, name) in routes {
            if !self.routes.insert(name) && self.since(2, 11, 7) {
                self.refuse(Cause::Structure, block, block.head(), "this named route is defined twice");
            }
            self.enter(block, None, false);
        }
        self.addresses(&sites);
        for site in sites {
            self.enter(site, None, true);
        }
    }

    fn named_route(&self, block: Node<'m>) -> Option<&'m [u8]> {
        let mut words = block.words();
        let name = words.next()?.value().strip_prefix(b"&(")?.strip_suffix(b")")?;
        (words.next().is_none() && self.is_from(Feature::NamedRoutes.since())).then_some(name)
    }

    fn global(&mut self, block: Node<'m>, place: usize) {
        if place > 0 {
            let message = "a block without an address in front holds global options, and must be the first of the file";
            self.refuse(Cause::Structure, block, block.head(), message);
            return;
        }
        let scope = self.scopes.open(None);
        self.todo.push(Task::Settings { line: block, entry: catalog::global_options(), scope });
    }

    /// Queues the directives of a block, in a scope of matchers of its own.
    fn enter(&mut self, block: Node<'m>, outer: Option<usize>, in_site: bool) {
        let scope = self.scopes.open(outer);
        self.todo.push(Task::Handlers { block, scope, in_site });
    }

    /// Judges directives, one by one.
    fn handlers(&mut self, block: Node<'m>, scope: usize, in_site: bool) {
        for line in lines(block) {
            if line.name().starts_with(b"@") && !is_unknown(line) {
                self.matcher_definition(line, scope);
            }
        }
        // A block without a name is left of a `{` on a line of its own, which old versions overlook.
        for line in lines(block).filter(|line| line.words().len() > 0) {
            if !line.name().starts_with(b"@") && !is_unknown(line) {
                self.directive(line, scope, in_site);
            }
        }
    }

    fn directive(&mut self, node: Node<'m>, scope: usize, in_site: bool) {
        let shown = String::from_utf8_lossy(node.name()).into_owned();
        let known = catalog::directive(node.name()).filter(|entry| self.knows(entry));
        let Some(entry) = known else {
            self.refuse(Cause::Name, node, node.head(), format!("`{shown}` is no directive of Caddy {}", self.version));
            return;
        };
        if !entry.handler && !in_site {
            let message = format!("`{shown}` belongs into a site block itself, not into a block in it");
            self.refuse(Cause::Structure, node, node.head(), message);
            return;
        }
        self.take(node, entry, scope);
    }
}

fn is_import(node: Node<'_>) -> bool {
    node.is("import") && !matches!(node.body(), Body::Block { .. })
}

/// Whether a line begins with a text that is not known.
fn is_unknown(node: Node<'_>) -> bool {
    node.words().next().is_some_and(|word| word.origin() == Origin::Unknown)
}

fn any_unknown(words: &[Word<'_>]) -> bool {
    words.iter().any(|word| word.origin() == Origin::Unknown)
}

fn has_block(node: Node<'_>) -> bool {
    matches!(node.body(), Body::Block { .. })
}
