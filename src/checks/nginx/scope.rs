//! Whether everything that could contradict a finding was seen.
//!
//! A rule that argues from absence ("nobody defines this zone") needs a closed scope: every include in it
//! was read, no unknown directive and no script stands in it, no generator fills it later.

use foldhash::HashSet;

use super::grammar::template;
use crate::catalog::nginx::{Context, Form};
use crate::checks::Cx;
use crate::model::{Level, Model, Node, NodeId, ProblemKind};

/// What is open in a model. Get it by [`Scope::of`].
#[derive(Debug)]
pub(crate) struct Scope {
    /// Whether the model as a whole is closed.
    whole: bool,
    /// Whether every include outside of servers led to directives.
    includes: bool,
    /// Blocks in which something could still stand; the model's top is not among them.
    open: HashSet<NodeId>,
    /// Whether something could still stand at the top.
    open_top: bool,
}

impl Scope {
    /// The scope of the model, computed once.
    pub(crate) fn of(cx: &Cx<'_>) -> std::rc::Rc<Self> {
        cx.shared.get(|| Self::new(cx.model, |name| cx.settings.knows_directive(name)))
    }

    fn new(model: &Model, known: impl Fn(&[u8]) -> bool) -> Self {
        let templates = model.sources().iter().any(|(_, file)| template::has_marks(file.path(), file.bytes()));
        let whole = model.is_closed() && !templates;
        let broken = model.problems().iter().any(|problem| problem.kind == ProblemKind::Syntax);
        let includes = model.stands_alone() && !templates && !broken;
        let mut scope = Self { whole, includes, open: HashSet::default(), open_top: templates };
        let names = model.names().filter(|lines| lines.clone().next().is_some_and(may_open));
        for node in names.flatten().filter(|node| opens(*node, &known)) {
            scope.whole = false;
            scope.includes &=
                !node.is("include") || !matches!(node.context(), Context::Main | Context::Http | Context::Stream);
            match node.parent() {
                Some(parent) => {
                    scope.open.insert(parent.id());
                }
                None => scope.open_top = true,
            }
        }
        scope
    }

    /// Whether the whole configuration was seen: main file, every include, no script.
    pub(crate) fn is_closed(&self) -> bool {
        self.whole
    }

    /// Whether every directive outside of servers was seen, scripts and blocks of unknown modules aside: enough
    /// for names that only directives there can give.
    pub(crate) fn includes_are_complete(&self) -> bool {
        self.includes
    }

    /// Whether everything directly on a level was seen.
    pub(crate) fn is_level_closed(&self, level: Level<'_>) -> bool {
        level.node().map_or(!self.open_top, |node| !self.open.contains(&node.id()))
    }

    /// Whether everything on a level and all outer ones was seen, up to a whole configuration.
    pub(crate) fn is_closed_outward(&self, level: Level<'_>) -> bool {
        level.model().stands_alone() && level.outward().all(|level| self.is_level_closed(level))
    }
}

/// Whether directives of a name could bring in what was not seen, as far as the name tells.
fn may_open(node: Node<'_>) -> bool {
    let known = node.directives();
    known.is_empty() || node.is("include") || runs_script(node)
}

fn runs_script(node: Node<'_>) -> bool {
    let name = node.name();
    node.directives().iter().any(|directive| matches!(directive.form, Form::Raw))
        || name.starts_with(b"js_")
        || name.starts_with(b"perl")
        || memchr::memmem::find(name, b"_by_lua").is_some()
}

/// Whether a directive could bring in what was not seen.
fn opens(node: Node<'_>, known: &impl Fn(&[u8]) -> bool) -> bool {
    let name = node.name();
    let context = node.context();
    if name == b"include" {
        return brings_nothing(node);
    }
    if !context.holds_directives() {
        return context == Context::Unknown;
    }
    if node.directives().is_empty() { !known(name) } else { runs_script(node) }
}

/// Whether an include led to no directive: a wildcard without a match, a file that is missing or empty.
fn brings_nothing(node: Node<'_>) -> bool {
    let model = node.model();
    let next = node.id().0 as usize + 1;
    if next >= model.len() {
        return true;
    }
    let included = model.node(NodeId(next as u32));
    included.chain().next() != Some(node.head()) || included.chain_id() == node.chain_id()
}
