//! Are connections to the backend reused? One verdict per location and class of versions; each
//! cause is a rule, named by the parameter `cause`.

mod index;
mod location;
mod passes;
mod patch;
mod pools;
pub mod verdict;

use foldhash::HashSet;

use crate::catalog::nginx::Keepalive;
use crate::checks::{Check, Cx, Report, Run};
use crate::fix::Fix;
use crate::model::nginx::Pass;
use crate::model::{Level, Model, Node, NodeId};
use crate::rule::Params;
use crate::source::Span;
use crate::version::{Server, Version, VersionSet};
use index::Index;
use patch::Refusal;
use verdict::{Cause, Verdict, verdict};

/// Reports the locations whose connections are not reused for the cause that the rule names.
pub static CHECK: Check = Check { name: "nginx/upstream-reuse", run: Run::Model(run) };

/// Related places shown for one finding.
const MAX_LABELS: usize = 5;

/// Versions of the target that treat connections alike.
#[derive(Debug, Clone)]
pub struct Class {
    /// The versions.
    pub versions: VersionSet,
    /// What they do by default.
    pub facts: &'static Keepalive,
}

/// The target, cut where nginx changed how it treats connections.
pub fn classes(target: &VersionSet) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    for facts in Keepalive::all() {
        let versions = target.intersection(&facts.versions);
        if versions.members(Server::Nginx).next().is_none() {
            continue;
        }
        let same = |class: &&mut Class| {
            let known = class.facts;
            (known.http_version, known.connection, known.implicit)
                == (facts.http_version, facts.connection, facts.implicit)
        };
        match classes.last_mut().filter(same) {
            Some(class) => class.versions = class.versions.union(&versions),
            None => classes.push(Class { versions, facts }),
        }
    }
    classes
}

/// The verdict for every pass of a configuration on one version, the worst of its backends.
pub fn verdicts(model: &Model, version: Version) -> Vec<(NodeId, Verdict)> {
    let Some(class) = classes(&VersionSet::exactly(version)).pop() else { return Vec::new() };
    let passes = model.nginx().passes(model).iter();
    passes.map(|pass| (pass.node, worst(model, pass, class.facts))).collect()
}

/// Several backends happen only where a variable chooses: one that is not reused is reported.
fn worst(model: &Model, pass: &Pass, facts: &Keepalive) -> Verdict {
    let verdicts = pass.backends.iter().map(|backend| verdict(model, pass, backend, facts));
    let rank = |verdict: &Verdict| match verdict {
        Verdict::NotReused(_) => 3,
        Verdict::Depends(_) => 2,
        Verdict::Unknown => 1,
        Verdict::Reused => 0,
    };
    verdicts.max_by_key(rank).unwrap_or(Verdict::Unknown)
}

/// What all rules of this check share: the verdicts for a model and a target.
#[derive(Debug)]
pub struct Reuse {
    classes: Vec<Class>,
    /// By pass, then by class.
    verdicts: Vec<Vec<Verdict>>,
    index: Index,
}

impl Reuse {
    fn new(model: &Model, target: &VersionSet) -> Self {
        let classes = classes(target);
        let of = |pass: &Pass| classes.iter().map(|class| worst(model, pass, class.facts)).collect();
        let passes = model.nginx().passes(model);
        let verdicts = passes.iter().map(of).collect();
        Self { classes, verdicts, index: Index::new(model, passes) }
    }
}

/// What the reports of one run look at.
#[derive(Clone, Copy)]
struct View<'a> {
    model: &'a Model,
    reuse: &'a Reuse,
    passes: &'a [Pass],
}

/// A pass with a fault, and the versions that have it there.
struct Affected<'a> {
    /// Index among the passes.
    index: usize,
    pass: &'a Pass,
    cause: Cause,
    versions: VersionSet,
}

impl<'a> View<'a> {
    fn new(model: &'a Model, reuse: &'a Reuse) -> Self {
        Self { model, reuse, passes: model.nginx().passes(model) }
    }

    fn node(self, id: NodeId) -> Node<'a> {
        self.model.node(id)
    }

    /// Passes that a request reaches and that have such a cause on some version of the target.
    fn affected(self, is: impl Fn(&Cause) -> bool) -> Vec<Affected<'a>> {
        let mut affected = Vec::new();
        for (index, (pass, verdicts)) in self.passes.iter().zip(&self.reuse.verdicts).enumerate() {
            let mut found: Option<(Cause, VersionSet)> = None;
            for (class, verdict) in self.reuse.classes.iter().zip(verdicts) {
                match verdict {
                    Verdict::NotReused(cause) if is(cause) => {
                        let versions = found.map_or(VersionSet::none(), |(_, versions)| versions);
                        found = Some((*cause, versions.union(&class.versions)));
                    }
                    _ => {}
                }
            }
            if let Some((cause, versions)) = found
                && is_reached(self.node(pass.node))
            {
                affected.push(Affected { index, pass, cause, versions });
            }
        }
        affected
    }

    fn index(self) -> &'a Index {
        &self.reuse.index
    }

    /// The versions of the target for which that is true.
    fn versions(self, is: impl Fn(&Keepalive) -> bool) -> VersionSet {
        let classes = self.reuse.classes.iter().filter(|class| is(class.facts));
        classes.fold(VersionSet::none(), |all, class| all.union(&class.versions))
    }

    /// Indices of the passes that lead to an upstream on any way.
    fn passes_to(self, upstream: Node<'a>) -> &'a [usize] {
        self.index().to_upstream(upstream.id())
    }

    fn pass(self, index: usize) -> &'a Pass {
        &self.passes[index]
    }
}

/// Whether a request gets as far as the pass: no `return` before it in its own location (nested
/// locations do not inherit it), nor in the server, which a named location does not pass through again.
fn is_reached(pass: Node<'_>) -> bool {
    let home = pass.ancestors().find(|node| node.is("location"));
    let named = home.and_then(|home| home.value(0)).is_some_and(|name| name.starts_with(b"@"));
    let within = pass.level().outward().take_while(|level| home.is_none_or(|home| *level != home.level()));
    let server = pass.ancestors().find(|node| node.is("server")).filter(|_| !named);
    !within.chain(server.map(Node::inside)).any(returns)
}

/// Whether a level ends every request with a `return` that no `break` stands before.
fn returns(level: Level<'_>) -> bool {
    let Some(end) = level.own("return").next() else { return false };
    !["break", "rewrite"].iter().flat_map(|name| level.own(name)).any(|line| line.id() < end.id())
}

/// A report of one cause.
type Reporter = fn(&mut Cx<'_>, View<'_>);

/// The values of the parameter `cause`.
const CAUSES: [(&str, Reporter); 14] = [
    ("bare", passes::bare),
    ("bare-unix", passes::bare_unix),
    ("http-version", passes::http_version),
    ("connection-close", passes::connection_close),
    ("map-close", passes::map_close),
    ("keep-conn", passes::keep_conn),
    ("no-pool-anywhere", passes::no_pool_anywhere),
    ("pool-missing", pools::missing),
    ("pool-discarded", pools::discarded),
    ("pool-refused", pools::refused),
    ("pool-zero", pools::zero),
    ("pool-too-small", pools::too_small),
    ("pool-shared", pools::shared_by_many),
    ("tuning-without-pool", pools::tuning_without_pool),
];

fn reporter(params: &Params) -> Option<Reporter> {
    let cause = params.text("cause")?;
    CAUSES.iter().find(|(name, _)| *name == cause).map(|(_, reporter)| *reporter)
}

/// What is wrong with the parameters that a rule gives, if anything.
pub(crate) fn wrong_params(params: &Params) -> Option<String> {
    let names: Vec<_> = CAUSES.iter().map(|(name, _)| *name).collect();
    reporter(params).is_none().then(|| format!("`cause` must be one of {}", names.join(", ")))
}

fn run(cx: &mut Cx<'_>) {
    let reuse = cx.shared.get(|| Reuse::new(cx.model, cx.target));
    if let Some(reporter) = reporter(cx.params) {
        reporter(cx, View::new(cx.model, &reuse));
    }
}

/// Adds related places, the first few and the number of the rest.
fn label_all(report: &mut Report, spans: &[Span], message: &str) {
    for (index, span) in spans.iter().take(MAX_LABELS).enumerate() {
        let rest = spans.len().saturating_sub(MAX_LABELS);
        let text = match (index + 1 == MAX_LABELS, rest) {
            (true, 1..) => format!("{message}, and in {rest} more places"),
            _ => message.to_owned(),
        };
        report.label(*span, text);
    }
}

/// Offers the fix, or says why there is none.
fn offer(report: &mut Report, fix: Result<Fix, Refusal>) {
    match fix {
        Ok(fix) => {
            report.fix(fix);
        }
        Err(why) => {
            report.note(format!("no edit is offered here: {why}"));
        }
    }
}

/// The heads of the directives, each place once.
fn places<'a>(nodes: impl Iterator<Item = Node<'a>>) -> Vec<Span> {
    let mut seen = HashSet::default();
    nodes.map(Node::head).filter(|span| seen.insert(*span)).collect()
}

/// A directive's words as they are written, on one line.
fn shown(node: Node<'_>) -> String {
    let words: Vec<_> = node.words().map(|word| lossy(word.raw()).into_owned()).collect();
    words.join(" ")
}

fn lossy(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
