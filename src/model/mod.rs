//! One configuration as the server reads it: trees spliced at their includes.
//!
//! A file that is included in three places is seen three times, each time under another parent.

pub mod caddy;
pub mod include;
pub mod layout;
pub mod load;
pub mod nginx;
pub mod settings;

use foldhash::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::catalog::nginx::{Directive, lookup};
use crate::source::{FileId, SourceFile, Sources, Span};
use crate::syntax::SyntaxError;
use crate::syntax::tree::{Body, ChainId, ChainLink, NodeData, Origin, Quote, Tree, WordData};
use crate::version::{Server, VersionSet};

/// What kind of trouble reading met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text does not parse.
    Syntax,
    /// An include names nothing, or itself.
    Include,
}

/// Something wrong with the text or its includes, found while reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What kind.
    pub kind: ProblemKind,
    /// The place and what is wrong there.
    pub error: SyntaxError,
    /// The versions of the target for which it is one; `None` means all of them.
    pub versions: Option<VersionSet>,
}

/// A file that the server would read and this program could not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRead {
    /// Its path.
    pub path: PathBuf,
    /// Why, in the system's words.
    pub reason: String,
}

/// Index of a directive in its [`Model`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// One directive at one place of inclusion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// Index of its tree in [`Model::trees`].
    pub(crate) tree: u32,
    /// Index in that tree.
    pub(crate) node: u32,
    /// Index of the enclosing entry, `u32::MAX` at top level.
    pub(crate) parent: u32,
    /// Index behind its last descendant.
    pub(crate) end: u32,
    /// The includes that led here.
    pub(crate) chain: ChainId,
}

/// One configuration as the server reads it.
#[derive(Debug)]
pub struct Model {
    pub(crate) server: Server,
    pub(crate) main: FileId,
    pub(crate) sources: Sources,
    pub(crate) trees: Vec<Arc<Tree>>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) chains: Vec<ChainLink>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) not_read: Vec<NotRead>,
    pub(crate) root: nginx::Context,
    /// Whether the user said what the top level is.
    pub(crate) root_stated: bool,
    pub(crate) index: OnceLock<Index>,
    pub(crate) nginx: OnceLock<nginx::View>,
    pub(crate) caddy: OnceLock<caddy::View>,
}

/// The directives by name, and of one name by the block that they stand in.
#[derive(Debug, Default)]
pub(crate) struct Index {
    ids: HashMap<Box<[u8]>, u32>,
    /// The id of the name of every entry.
    of_entry: Vec<u32>,
    names: Vec<Box<[u8]>>,
    /// By id of the name: (enclosing entry, entry), sorted.
    lines: Vec<Vec<(u32, NodeId)>>,
    /// By id of the name: what nginx's catalogue has of it.
    directives: Vec<&'static [Directive]>,
}

impl Index {
    fn new(model: &Model) -> Self {
        let mut index = Self::default();
        for node in model.nodes() {
            let name = node.words().next().map_or(&b""[..], Word::value);
            let id = match index.ids.get(name) {
                Some(&id) => id,
                None => {
                    index.ids.insert(name.into(), index.lines.len() as u32);
                    index.names.push(name.into());
                    index.lines.push(Vec::new());
                    index.directives.push(if model.server == Server::Nginx { lookup(name) } else { &[] });
                    index.lines.len() as u32 - 1
                }
            };
            index.of_entry.push(id);
            index.lines[id as usize].push((node.entry().parent, node.id));
        }
        index.lines.iter_mut().for_each(|lines| lines.sort_unstable());
        index
    }

    fn name(&self, entry: NodeId) -> &[u8] {
        &self.names[self.of_entry[entry.0 as usize] as usize]
    }

    fn named(&self, name: &[u8]) -> &[(u32, NodeId)] {
        self.ids.get(name).map_or(&[], |&id| &self.lines[id as usize])
    }

    fn own(&self, parent: u32, name: &[u8]) -> &[(u32, NodeId)] {
        let lines = self.named(name);
        let from = lines.partition_point(|&(block, _)| block < parent);
        let count = lines[from..].partition_point(|&(block, _)| block == parent);
        &lines[from..from + count]
    }
}

impl Model {
    #[expect(clippy::too_many_arguments, reason = "the parts of a model; called once for each language")]
    pub(crate) fn new(
        server: Server,
        main: FileId,
        sources: Sources,
        trees: Vec<Arc<Tree>>,
        entries: Vec<Entry>,
        chains: Vec<ChainLink>,
        problems: Vec<Problem>,
        not_read: Vec<NotRead>,
        root: nginx::Context,
    ) -> Self {
        let (index, nginx, caddy) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self {
            server,
            main,
            sources,
            trees,
            entries,
            chains,
            problems,
            not_read,
            root,
            root_stated: false,
            index,
            nginx,
            caddy,
        }
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::new(self))
    }

    /// Whose configuration it is.
    pub fn server(&self) -> Server {
        self.server
    }

    /// The file that reading began with.
    pub fn main(&self) -> FileId {
        self.main
    }

    /// All files that were read.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The file of a span.
    pub fn file(&self, span: Span) -> &Arc<SourceFile> {
        self.sources.get(span.file)
    }

    /// The bytes of a span.
    pub fn text(&self, span: Span) -> &[u8] {
        self.sources.slice(span)
    }

    /// What was wrong with text and includes.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The versions of the target for which nothing is wrong with text and includes.
    pub fn readable_by(&self, target: &VersionSet) -> VersionSet {
        let refused = |problem: &Problem| problem.versions.clone().unwrap_or_else(VersionSet::all);
        self.problems.iter().map(refused).fold(target.clone(), |set, refused| set.difference(&refused))
    }

    /// Files that exist, would be read by the server, and could not be read here.
    pub fn not_read(&self) -> &[NotRead] {
        &self.not_read
    }

    /// Whether everything that the server would read was read: no file is missing or unreadable, and
    /// reading began with a main file.
    pub fn is_closed(&self) -> bool {
        self.not_read.is_empty() && self.problems.is_empty() && self.stands_alone()
    }

    /// Whether nothing stands around what was read: it is a main file, or it was said to be all that a
    /// context holds.
    pub fn stands_alone(&self) -> bool {
        self.root == nginx::Context::Main || self.root_stated
    }

    /// The files that are included more than once: an edit there is an edit in several places.
    pub fn repeated_files(&self) -> HashSet<FileId> {
        let mut seen = HashSet::default();
        let first_of_file = |entry: &&Entry| entry.node == 0;
        self.entries
            .iter()
            .filter(first_of_file)
            .map(|entry| FileId(entry.tree))
            .filter(|file| !seen.insert(*file))
            .collect()
    }

    /// The trees, in no particular relation to files.
    pub fn trees(&self) -> &[Arc<Tree>] {
        &self.trees
    }

    /// The context that top-level directives stand in: `main`, or what a fragment implies.
    pub fn root_context(&self) -> nginx::Context {
        self.root
    }

    /// Number of directives, each place of inclusion counted.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no directive at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The directive with that index.
    pub fn node(&self, id: NodeId) -> Node<'_> {
        Node { model: self, id }
    }

    /// Every directive in the order in which the server reads them.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = Node<'_>> + ExactSizeIterator {
        (0..self.entries.len() as u32).map(|i| self.node(NodeId(i)))
    }

    /// Every directive of that name, grouped by the block that it stands in.
    pub fn named(&self, name: &str) -> impl ExactSizeIterator<Item = Node<'_>> + Clone {
        self.index().named(name.as_bytes()).iter().map(|&(_, id)| self.node(id))
    }

    /// The directives of each name, in no order of names; a name that many lines have is met once.
    pub fn names(&self) -> impl Iterator<Item = impl ExactSizeIterator<Item = Node<'_>> + Clone> {
        self.index().lines.iter().map(|lines| lines.iter().map(|&(_, id)| self.node(id)))
    }

    /// The top of the main file.
    pub fn top(&self) -> Level<'_> {
        Level { model: self, block: u32::MAX }
    }

    /// The top-level directives.
    pub fn roots(&self) -> Children<'_> {
        Children { model: self, next: 0, end: self.entries.len() as u32 }
    }

    /// The include or import directives that lead to a place, the innermost first.
    pub fn chain(&self, chain: ChainId) -> impl Iterator<Item = Span> + '_ {
        let link = move |id: ChainId| (id.0 as usize).checked_sub(1).map(|i| self.chains[i]);
        std::iter::successors(link(chain), move |l| link(l.parent)).map(|l| l.place)
    }

    /// nginx's view of it: contexts, upstreams, locations, settings in effect. Built on first use.
    pub fn nginx(&self) -> &nginx::View {
        self.nginx.get_or_init(|| nginx::View::new(self))
    }

    /// Caddy's view of it: sites, what passes requests to backends. Built on first use.
    pub fn caddy(&self) -> &caddy::View {
        self.caddy.get_or_init(|| caddy::View::new(self))
    }
}

/// A directive in its place. A view: it borrows the model for the length of a walk.
#[derive(Clone, Copy)]
pub struct Node<'m> {
    model: &'m Model,
    id: NodeId,
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#{}", String::from_utf8_lossy(self.name()), self.id.0)
    }
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && std::ptr::eq(self.model, other.model)
    }
}

impl Eq for Node<'_> {}

impl<'m> Node<'m> {
    fn entry(self) -> &'m Entry {
        &self.model.entries[self.id.0 as usize]
    }

    fn tree(self) -> &'m Tree {
        &self.model.trees[self.entry().tree as usize]
    }

    fn data(self) -> &'m NodeData {
        &self.tree().nodes[self.entry().node as usize]
    }

    /// Its model.
    pub fn model(self) -> &'m Model {
        self.model
    }

    /// Its index in the model.
    pub fn id(self) -> NodeId {
        self.id
    }

    /// Its name and arguments.
    pub fn words(self) -> impl DoubleEndedIterator<Item = Word<'m>> + ExactSizeIterator {
        self.tree().words_of(self.data()).iter().map(move |data| Word { model: self.model, data })
    }

    /// Its name, as the server sees it; empty for a block without one.
    pub fn name(self) -> &'m [u8] {
        self.model.index().name(self.id)
    }

    /// Whether it has that name.
    pub fn is(self, name: &str) -> bool {
        self.name() == name.as_bytes()
    }

    /// Its arguments.
    pub fn args(self) -> impl DoubleEndedIterator<Item = Word<'m>> + ExactSizeIterator {
        self.words().skip(1)
    }

    /// Its argument number `index`, from 0.
    pub fn arg(self, index: usize) -> Option<Word<'m>> {
        self.args().nth(index)
    }

    /// The value of its argument number `index`, from 0.
    pub fn value(self, index: usize) -> Option<&'m [u8]> {
        self.arg(index).map(Word::value)
    }

    /// Where it ends: `;`, a block, or a raw body.
    pub fn body(self) -> Body {
        self.data().body
    }

    /// From its first to its last word.
    pub fn head(self) -> Span {
        let words = self.tree().words_of(self.data());
        match (words.first(), words.last()) {
            (Some(first), Some(last)) if first.span.file == last.span.file => first.span.to(last.span),
            (Some(first), _) => first.span,
            _ => match self.body() {
                Body::None { end } => end,
                Body::Block { open, .. } | Body::Raw { open, .. } => open,
            },
        }
    }

    /// From its first word to its `;` or `}`.
    pub fn span(self) -> Span {
        let end = match self.body() {
            Body::None { end } => end,
            Body::Block { close, .. } | Body::Raw { close, .. } => close,
        };
        let head = self.head();
        if head.file == end.file { head.to(end) } else { head }
    }

    /// The enclosing directive, across includes.
    pub fn parent(self) -> Option<Node<'m>> {
        let parent = self.entry().parent;
        (parent != u32::MAX).then(|| self.model.node(NodeId(parent)))
    }

    /// The enclosing directives, the innermost first.
    pub fn ancestors(self) -> impl Iterator<Item = Node<'m>> {
        std::iter::successors(self.parent(), |node| node.parent())
    }

    /// The directives directly in its block, those of included files too.
    pub fn children(self) -> Children<'m> {
        Children { model: self.model, next: self.id.0 + 1, end: self.entry().end }
    }

    /// The level that it stands on.
    pub fn level(self) -> Level<'m> {
        Level { model: self.model, block: self.entry().parent }
    }

    /// The level inside its block.
    pub fn inside(self) -> Level<'m> {
        Level { model: self.model, block: self.id.0 }
    }

    /// The directives of that name directly in its block, in reading order.
    pub fn own(self, name: &str) -> Own<'m> {
        self.inside().own(name)
    }

    /// Everything in its block at any depth, in reading order.
    pub fn descendants(self) -> impl DoubleEndedIterator<Item = Node<'m>> {
        let model = self.model;
        (self.id.0 + 1..self.entry().end).map(move |i| model.node(NodeId(i)))
    }

    /// The includes that lead to it; `ChainId(0)` in the main file.
    pub fn chain_id(self) -> ChainId {
        self.entry().chain
    }

    /// The include or import directives that lead to it, the innermost first.
    pub fn chain(self) -> impl Iterator<Item = Span> + 'm {
        self.model.chain(self.chain_id())
    }

    /// Index behind its last descendant.
    pub(crate) fn end(self) -> NodeId {
        NodeId(self.entry().end)
    }

    /// Whether two directives, maybe of different models, are one and the same in one text.
    pub(crate) fn is_same_text(self, other: Node<'_>) -> bool {
        self.entry().node == other.entry().node && std::ptr::eq(self.tree(), other.tree())
    }

    /// What nginx's catalogue has under its name: one directive for each module that has one, official
    /// ones first. Nothing in a Caddyfile.
    pub fn directives(self) -> &'static [Directive] {
        let index = self.model.index();
        index.directives[index.of_entry[self.id.0 as usize] as usize]
    }

    /// The context it stands in (nginx).
    pub fn context(self) -> nginx::Context {
        self.model.nginx().context(self.id)
    }
}

/// Directives of one name on one level. See [`Level::own`].
#[derive(Clone)]
pub struct Own<'m> {
    model: &'m Model,
    lines: std::slice::Iter<'m, (u32, NodeId)>,
}

impl<'m> Iterator for Own<'m> {
    type Item = Node<'m>;

    fn next(&mut self) -> Option<Node<'m>> {
        self.lines.next().map(|&(_, id)| self.model.node(id))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.lines.size_hint()
    }
}

impl DoubleEndedIterator for Own<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.lines.next_back().map(|&(_, id)| self.model.node(id))
    }
}

impl ExactSizeIterator for Own<'_> {}

/// One level of a configuration: the inside of a block, or the top of the main file.
#[derive(Clone, Copy)]
pub struct Level<'m> {
    model: &'m Model,
    block: u32,
}

impl PartialEq for Level<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.block == other.block && std::ptr::eq(self.model, other.model)
    }
}

impl Eq for Level<'_> {}

impl std::fmt::Debug for Level<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "inside {:?}", self.node())
    }
}

impl<'m> Level<'m> {
    /// Its model.
    pub fn model(self) -> &'m Model {
        self.model
    }

    /// The block; `None` at the top.
    pub fn node(self) -> Option<Node<'m>> {
        (self.block != u32::MAX).then(|| self.model.node(NodeId(self.block)))
    }

    /// The next level outward.
    pub fn outer(self) -> Option<Level<'m>> {
        self.node().map(Node::level)
    }

    /// This level and all outer ones, the innermost first.
    pub fn outward(self) -> impl Iterator<Item = Level<'m>> {
        std::iter::successors(Some(self), |level| level.outer())
    }

    /// The directives on it, those of included files too.
    pub fn children(self) -> Children<'m> {
        self.node().map_or_else(|| self.model.roots(), Node::children)
    }

    /// The directives of that name on it, in reading order.
    pub fn own(self, name: &str) -> Own<'m> {
        self.own_bytes(name.as_bytes())
    }

    /// The directives of that name on it, in reading order.
    pub fn own_bytes(self, name: &[u8]) -> Own<'m> {
        Own { model: self.model, lines: self.model.index().own(self.block, name).iter() }
    }

    /// The nearest level outward, itself included, that has lines of that name: their lines are in
    /// effect here, where the setting is inherited as a whole.
    pub fn deciding(self, name: &str) -> Option<Level<'m>> {
        self.outward().find(|level| level.own(name).len() > 0)
    }

    /// The lines of that name in effect here; none if no level has any.
    pub fn in_effect(self, name: &str) -> Own<'m> {
        self.deciding(name).unwrap_or(self).own(name)
    }

    /// The line of that name in effect here, for a setting with one value.
    pub fn setting(self, name: &str) -> Option<Node<'m>> {
        self.in_effect(name).next()
    }

    /// The value in effect here of a setting with one value.
    pub fn value(self, name: &str) -> Option<&'m [u8]> {
        self.setting(name).and_then(|line| line.value(0))
    }
}

/// Directives on one level. See [`Node::children`].
#[derive(Clone)]
pub struct Children<'m> {
    model: &'m Model,
    next: u32,
    end: u32,
}

impl<'m> Iterator for Children<'m> {
    type Item = Node<'m>;

    fn next(&mut self) -> Option<Node<'m>> {
        if self.next >= self.end {
            return None;
        }
        let node = self.model.node(NodeId(self.next));
        self.next = node.entry().end;
        Some(node)
    }
}

/// A word in its place.
#[derive(Clone, Copy)]
pub struct Word<'m> {
    model: &'m Model,
    data: &'m WordData,
}

impl std::fmt::Debug for Word<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.value()))
    }
}

impl<'m> Word<'m> {
    /// With its quotes.
    pub fn span(self) -> Span {
        self.data.span
    }

    /// Its file.
    pub fn file(self) -> &'m SourceFile {
        self.model.file(self.data.span)
    }

    /// How it was written.
    pub fn quote(self) -> Quote {
        self.data.quote
    }

    /// Where its text came from.
    pub fn origin(self) -> Origin {
        self.data.origin
    }

    /// The imports that brought it here (Caddyfile).
    pub fn chain_id(self) -> ChainId {
        self.data.chain
    }

    /// What the server sees: quotes and escapes resolved.
    pub fn value(self) -> &'m [u8] {
        self.data.value(&self.model.sources)
    }

    /// The value for people.
    pub fn text(self) -> std::borrow::Cow<'m, str> {
        String::from_utf8_lossy(self.value())
    }

    /// The bytes as written, quotes and all.
    pub fn raw(self) -> &'m [u8] {
        self.model.text(self.data.span)
    }

    /// Whether the value is exactly that text.
    pub fn is(self, text: &str) -> bool {
        self.value() == text.as_bytes()
    }
}
