//! nginx's view of a model: contexts, upstreams, which location passes to which backend.

mod accepted;
pub mod effect;
pub(crate) mod expressions;
mod pass;
mod values;

use foldhash::{HashMap, HashSet};
use std::sync::OnceLock;

use super::{Level, Model, Node, NodeId};
use crate::version::VersionSet;
pub use pass::{Address, Backend, Pass, Protocol, Scheme};
pub use values::{Piece, Text, expand, variables_in};

pub use crate::catalog::nginx::Context;

/// What the server makes of a model.
#[derive(Debug)]
pub struct View {
    contexts: Vec<Context>,
    upstreams: Vec<NodeId>,
    /// Lower-case name of an `upstream` block of `http` to its index in `upstreams`.
    by_name: HashMap<Box<[u8]>, usize>,
    passes: OnceLock<Vec<Pass>>,
    /// The blocks that passes stand in, sorted, with the index of the pass.
    pass_blocks: OnceLock<Vec<(NodeId, usize)>>,
    definitions: OnceLock<values::Definitions>,
    proxy_host_users: OnceLock<HashSet<Option<NodeId>>>,
}

impl View {
    pub(crate) fn new(model: &Model) -> Self {
        let mut view = Self {
            contexts: contexts(model),
            upstreams: Vec::new(),
            by_name: HashMap::default(),
            passes: OnceLock::new(),
            pass_blocks: OnceLock::new(),
            definitions: OnceLock::new(),
            proxy_host_users: OnceLock::new(),
        };
        for node in model.named("upstream").filter(|node| view.contexts[node.id().0 as usize] == Context::Http) {
            let name = node.value(0).unwrap_or_default().to_ascii_lowercase().into_boxed_slice();
            view.by_name.entry(name).or_insert(view.upstreams.len());
            view.upstreams.push(node.id());
        }
        view
    }

    /// The context a directive stands in.
    pub fn context(&self, id: NodeId) -> Context {
        self.contexts[id.0 as usize]
    }

    /// The `upstream` blocks of `http`.
    pub fn upstreams<'m>(&'m self, model: &'m Model) -> impl ExactSizeIterator<Item = Node<'m>> {
        self.upstreams.iter().map(|&id| model.node(id))
    }

    /// The `upstream` block of `http` with that name; case does not matter (measured).
    pub fn upstream<'m>(&'m self, model: &'m Model, name: &[u8]) -> Option<Node<'m>> {
        let index = match self.by_name.get(name) {
            Some(index) => index,
            None => self.by_name.get(name.to_ascii_lowercase().as_slice())?,
        };
        Some(model.node(self.upstreams[*index]))
    }

    /// The versions among `candidates` that refuse no directive, place or parameter that the configuration
    /// uses. Empty only where it uses things that never were in one version together; names that are
    /// unknown or of third-party modules rule nothing out.
    pub fn accepted_by(&self, model: &Model, candidates: &VersionSet) -> VersionSet {
        accepted::accepted(model, candidates)
    }

    fn definitions(&self, model: &Model) -> &values::Definitions {
        self.definitions.get_or_init(|| values::Definitions::new(model))
    }

    /// The `map`, `geo` and `split_clients` blocks that define a variable, named without its `$`.
    pub fn defining_blocks<'m>(&'m self, model: &'m Model, variable: &[u8]) -> impl Iterator<Item = Node<'m>> {
        self.definitions(model).blocks(variable).iter().map(|&id| model.node(id))
    }

    /// Every `proxy_pass` and its kin in `http`, with where it leads.
    pub fn passes(&self, model: &Model) -> &[Pass] {
        self.passes.get_or_init(|| pass::all(model, self))
    }

    /// The pass that a directive is, if it is one.
    pub fn pass(&self, model: &Model, node: NodeId) -> Option<&Pass> {
        let passes = self.passes(model);
        passes.binary_search_by_key(&node, |pass| pass.node).ok().map(|at| &passes[at])
    }

    /// The pass that stands directly in a block, the first if there are several.
    pub fn pass_in(&self, model: &Model, block: NodeId) -> Option<&Pass> {
        let passes = self.passes(model);
        let by_block = self.pass_blocks.get_or_init(|| {
            let block = |(index, pass): (usize, &Pass)| Some((model.node(pass.node).parent()?.id(), index));
            let mut blocks: Vec<(NodeId, usize)> = passes.iter().enumerate().filter_map(block).collect();
            blocks.sort_unstable();
            blocks
        });
        let at = by_block.partition_point(|&(other, _)| other < block);
        by_block.get(at).filter(|(other, _)| *other == block).map(|&(_, index)| &passes[index])
    }

    /// Whether `$proxy_host` or `$proxy_port` is used on a level or one around it, outside the directives
    /// that speak to the backend: in a log format, a map, a header for the client.
    pub(crate) fn uses_proxy_host(&self, level: Level<'_>) -> bool {
        let users = self.proxy_host_users.get_or_init(|| proxy_host_users(level.model()));
        !users.is_empty() && level.outward().any(|level| users.contains(&level.node().map(Node::id)))
    }
}

/// The blocks with such a directive directly in them. A block of entries, a map say, counts for its level.
fn proxy_host_users(model: &Model) -> HashSet<Option<NodeId>> {
    let mentioned =
        |text: &[u8]| memchr::memmem::find(text, b"proxy_host").or(memchr::memmem::find(text, b"proxy_port"));
    if !model.sources().iter().any(|(_, file)| mentioned(file.bytes()).is_some()) {
        return HashSet::default();
    }
    let uses = |node: &Node<'_>| {
        !node.name().starts_with(b"proxy_") && node.words().any(|word| mentioned(word.value()).is_some())
    };
    let mut users = HashSet::default();
    for node in model.nodes().filter(uses) {
        let parent = node.parent();
        let block = if node.context() == Context::Map { parent.and_then(Node::parent) } else { parent };
        users.insert(block.map(Node::id));
    }
    users
}

/// The context of every directive: parents stand before their children.
fn contexts(model: &Model) -> Vec<Context> {
    let mut contexts: Vec<Context> = Vec::with_capacity(model.len());
    let mut inside: Vec<(u32, Context)> = Vec::new();
    for node in model.nodes() {
        while inside.last().is_some_and(|(end, _)| *end <= node.id().0) {
            inside.pop();
        }
        let context = inside.last().map_or(model.root_context(), |(_, context)| *context);
        contexts.push(context);
        let end = node.entry().end;
        if end > node.id().0 + 1 {
            inside.push((end, context.inside(node.name())));
        }
    }
    contexts
}
