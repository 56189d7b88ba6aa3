//! Who passes where and who inherits from whom, asked for every location: built once for a model, so
//! that no rule is more than linear.

use foldhash::{HashMap, HashSet};
use std::borrow::Cow;
use std::cell::OnceCell;

use crate::model::nginx::{Backend, Pass, Protocol, variables_in};
use crate::model::{Model, Node, NodeId, Word};
use crate::source::{FileId, Span};

/// Settings that a patch may write or change on an outer level.
pub(super) const INHERITED: [&str; 2] = ["proxy_set_header", "proxy_http_version"];

/// The variables that change when a pass moves to an upstream of another name.
pub(super) const PROXY_VARIABLES: [&str; 4] = ["$proxy_host", "${proxy_host}", "$proxy_port", "${proxy_port}"];

/// Whether a value holds one of [`PROXY_VARIABLES`].
pub(super) fn mentions_proxy_host(value: &[u8]) -> bool {
    PROXY_VARIABLES.iter().any(|name| memchr::memmem::find(value, name.as_bytes()).is_some())
}

/// Passes by what they have to do with.
#[derive(Debug)]
pub(super) struct Index {
    /// Upstream block to the passes that lead there on any way.
    to_upstream: HashMap<NodeId, Vec<usize>>,
    /// Lower-case host to the passes that name it without an upstream.
    to_host: HashMap<Vec<u8>, Vec<usize>>,
    /// Passes that may lead anywhere.
    to_anywhere: Vec<usize>,
    /// `location` block to the passes in it, nested ones too.
    in_location: HashMap<NodeId, Vec<usize>>,
    /// For each of [`INHERITED`]: the block whose lines decide, to the HTTP passes that take them.
    heirs: [HashMap<NodeId, Vec<usize>>; INHERITED.len()],
    /// Place of a pass in the text to the passes that it is, one for each place of inclusion.
    by_place: HashMap<Span, Vec<usize>>,
    /// Files that are included more than once.
    repeated: HashSet<FileId>,
    /// Place in the text of a line of [`INHERITED`] in such a file to the lines that it is.
    copies: HashMap<Span, Vec<NodeId>>,
    /// Lower-case variable without its `$` to the directives whose arguments use it. Built when asked for.
    variables: OnceCell<HashMap<Vec<u8>, Vec<NodeId>>>,
}

impl Index {
    pub(super) fn new(model: &Model, passes: &[Pass]) -> Self {
        let mut index = Self {
            to_upstream: HashMap::default(),
            to_host: HashMap::default(),
            to_anywhere: Vec::new(),
            in_location: HashMap::default(),
            heirs: Default::default(),
            by_place: HashMap::default(),
            repeated: model.repeated_files(),
            copies: HashMap::default(),
            variables: OnceCell::new(),
        };
        for (i, pass) in passes.iter().enumerate() {
            index.add(i, pass, model.node(pass.node));
        }
        for node in INHERITED.iter().flat_map(|name| model.named(name)) {
            if index.repeated.contains(&node.head().file) {
                index.copies.entry(node.head()).or_default().push(node.id());
            }
        }
        index
    }

    fn add(&mut self, i: usize, pass: &Pass, node: Node<'_>) {
        self.by_place.entry(node.head()).or_default().push(i);
        for backend in &pass.backends {
            match backend {
                Backend::Upstream(id) => self.to_upstream.entry(*id).or_default().push(i),
                Backend::Address(address) if !address.host.is_empty() => {
                    self.to_host.entry(address.host.to_ascii_lowercase()).or_default().push(i);
                }
                Backend::Address(_) | Backend::Unknown => self.to_anywhere.push(i),
                Backend::Unix(_) => {}
            }
        }
        for location in node.ancestors().filter(|node| node.is("location")) {
            self.in_location.entry(location.id()).or_default().push(i);
        }
        if pass.protocol == Protocol::Http {
            for (heirs, setting) in self.heirs.iter_mut().zip(INHERITED) {
                if let Some(block) = node.level().deciding(setting).and_then(crate::model::Level::node) {
                    heirs.entry(block.id()).or_default().push(i);
                }
            }
        }
    }

    /// Passes that lead to an upstream on any way.
    pub(super) fn to_upstream(&self, upstream: NodeId) -> &[usize] {
        self.to_upstream.get(&upstream).map_or(&[], Vec::as_slice)
    }

    /// Passes that lead, or may lead, to that host without an upstream.
    pub(super) fn to_host(&self, host: &[u8]) -> impl Iterator<Item = usize> + '_ {
        let named = self.to_host.get(host.to_ascii_lowercase().as_slice()).map_or(&[][..], Vec::as_slice);
        named.iter().chain(&self.to_anywhere).copied()
    }

    /// The directives that use a variable, written with its `$`, by its whole name.
    pub(super) fn uses(&self, model: &Model, variable: &[u8]) -> impl Iterator<Item = NodeId> {
        let uses = self.variables.get_or_init(|| variable_uses(model));
        let name = variable.strip_prefix(b"$").unwrap_or(variable).to_ascii_lowercase();
        uses.get(name.as_slice()).into_iter().flatten().copied()
    }

    /// Whether a pass names that host without an upstream.
    pub(super) fn is_host(&self, host: &[u8]) -> bool {
        self.to_host.contains_key(host.to_ascii_lowercase().as_slice())
    }

    /// Passes in a `location` block, and in those nested in it.
    pub(super) fn in_location(&self, location: NodeId) -> &[usize] {
        self.in_location.get(&location).map_or(&[], Vec::as_slice)
    }

    /// The passes that stand at the same place of the text.
    pub(super) fn same_place(&self, place: Span) -> &[usize] {
        self.by_place.get(&place).map_or(&[], Vec::as_slice)
    }

    /// Whether the file of a span is included more than once.
    pub(super) fn is_repeated(&self, span: Span) -> bool {
        self.repeated.contains(&span.file)
    }

    /// The HTTP passes for which that line of one of [`INHERITED`] is in effect, wherever its file is
    /// included.
    pub(super) fn heirs_of_line(&self, model: &Model, line: Node<'_>) -> Vec<usize> {
        let Some(heirs) = INHERITED.iter().position(|name| line.is(name)).map(|i| &self.heirs[i]) else {
            return Vec::new();
        };
        let alone = [line.id()];
        let copies = self.copies.get(&line.head()).map_or(&alone[..], Vec::as_slice);
        let block = |id: &NodeId| model.node(*id).parent();
        copies
            .iter()
            .filter_map(block)
            .flat_map(|block| heirs.get(&block.id()).into_iter().flatten().copied())
            .collect()
    }
}

fn variable_uses(model: &Model) -> HashMap<Vec<u8>, Vec<NodeId>> {
    let mut uses: HashMap<Vec<u8>, Vec<NodeId>> = HashMap::default();
    for node in model.nodes() {
        // The variable that a block defines is no use of it.
        let arguments = if node.is("map") { 1 } else { node.args().len() };
        for word in node.args().take(arguments).map(Word::value) {
            for name in variables_in(word) {
                let lower = if name.iter().any(u8::is_ascii_uppercase) {
                    Cow::Owned(name.to_ascii_lowercase())
                } else {
                    Cow::Borrowed(name)
                };
                let known = match uses.get_mut(&*lower) {
                    Some(known) => known,
                    None => uses.entry(lower.into_owned()).or_default(),
                };
                if known.last() != Some(&node.id()) {
                    known.push(node.id());
                }
            }
        }
    }
    uses
}
