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

use std::cell::RefCell;
use std::collections::BTreeSet;

use foldhash::HashSet;

use self::matchers::Scopes;
use crate::catalog::caddy::{self as catalog, Entry};
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
    /// A name that no version knows.
    Unknown,
    /// Something that came with a later version.
    TooNew,
    /// Something that an earlier version had.
    Gone,
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
    /// The name, if the cause is that nobody knows it.
    pub unknown: Option<Unknown>,
}

/// A name that no version of Caddy knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The name.
    pub name: String,
    /// The section of the catalogue where it would have to stand; empty for the options of one block.
    pub section: &'static str,
    /// The names that are known there.
    pub known: Vec<&'static str>,
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
    let (covered, known) = model.caddy().verdicts(|| (target.clone(), judged(model, target)));
    if !target.difference(covered).is_empty() {
        return judged(model, target);
    }
    let within = |verdict: &Verdict| Verdict { versions: verdict.versions.intersection(target), ..verdict.clone() };
    known.iter().map(within).filter(|verdict| !verdict.versions.is_empty()).collect()
}

fn judged(model: &Model, target: &VersionSet) -> Vec<Verdict> {
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
/// version, and that newer versions refuse how blocks are put together, or lack what older ones
/// had, is a fault to report.
pub fn plausible(model: &Model, assumed: &VersionSet) -> VersionSet {
    let Some(newest) = assumed.members(Server::Caddy).last() else { return assumed.clone() };
    let outgrown = model.problems().iter().filter_map(|problem| problem.versions.as_ref());
    let outgrown = outgrown.filter(|versions| !versions.contains(newest));
    let readable = outgrown.fold(assumed.clone(), |set, versions| set.difference(versions));
    let unknown = |verdict: &Verdict| {
        let causes = [Cause::Unknown, Cause::TooNew, Cause::Arguments, Cause::Reference];
        verdict.refusals.iter().filter(|refusal| causes.contains(&refusal.cause)).count()
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

/// Where a name is looked up.
struct Place<'p> {
    /// What the name would be, for messages.
    what: &'p str,
    /// The block that it stands in, if that decides.
    block: &'p str,
    /// The section of the catalogue, if it is one.
    section: &'static str,
    /// What is known there.
    known: &'static [Entry],
    /// What is known there besides.
    also: &'static [Entry],
}

impl Place<'_> {
    /// A section of the catalogue.
    fn section(section: &'static str, what: &'static str) -> Self {
        Self { what, block: section, section, known: catalog::section(section), also: &[] }
    }
}

/// A block that is still to be judged.
enum Task<'m> {
    /// Directives of a site, or of a block in it.
    Handlers { block: Node<'m>, scope: usize, in_site: bool },
    /// Options that the catalogue knows below `entry`.
    Settings { line: Node<'m>, entry: &'static Entry, scope: usize },
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
        self.refusals.push(Refusal { cause, node, span, message, labels, unknown: None });
        self.refusals.last_mut().expect("just pushed")
    }

    /// Refuses a name that the version does not know; `entry` is what other versions know of it.
    fn refuse_name(&mut self, node: Node<'m>, word: Word<'m>, entry: Option<&Entry>, place: &Place) {
        let name = word.text().into_owned();
        let what = &place.what;
        match entry.and_then(|entry| Some((entry, entry.until.filter(|until| self.version >= *until)?))) {
            Some((entry, until)) => {
                let instead = catalog::renames::replacement(place.block, entry.name);
                let instead = instead.map_or_else(String::new, |new| format!("; instead of it: {new}"));
                let message = format!("Caddy has no {what} `{name}` any more since {until}{instead}");
                self.refuse(Cause::Gone, node, word.span(), message);
            }
            None => match entry.and_then(|entry| entry.since) {
                Some(since) => {
                    let message = format!("the {what} `{name}` came with Caddy {since}: older ones refuse the file");
                    self.refuse(Cause::TooNew, node, word.span(), message);
                }
                None => {
                    let message = format!("Caddy has no {what} `{name}` and refuses the file");
                    let known = place.known.iter().chain(place.also).filter(|entry| entry.known_to(self.version));
                    let known = known.map(|entry| entry.name).collect();
                    self.refuse(Cause::Unknown, node, word.span(), message).unknown =
                        Some(Unknown { name, section: place.section, known });
                }
            },
        }
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
    fn knows(&self, entry: &Entry) -> bool {
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
        let blocks = model.roots().filter(|node| !is_import(*node) && has_block(*node));
        // Caddy forgets a block without words and lines.
        let blocks: Vec<Node<'m>> =
            blocks.filter(|node| node.words().len() > 0 || node.children().next().is_some()).collect();
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
        let Some(name) = node.words().next() else { return };
        let known = catalog::directive(name.value());
        let Some(entry) = known.filter(|entry| self.knows(entry)) else {
            return self.refuse_name(node, name, known, &Place::section("directive", "directive"));
        };
        if !entry.handler && !in_site {
            let shown = name.text();
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
