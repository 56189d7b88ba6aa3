//! What a word with variables can become, as far as the configuration itself tells.

use foldhash::HashMap;

use crate::model::{Level, Model, Node, NodeId};

/// A part of a word's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// These bytes.
    Literal(Vec<u8>),
    /// What this variable holds, which the configuration does not tell.
    Unknown(Vec<u8>),
}

/// A value: literal pieces and variables in order.
pub type Text = Vec<Piece>;

/// The longest chain of variables that are set from variables.
const MAX_DEPTH: usize = 5;
/// The largest number of values that is looked at.
const MAX_VALUES: usize = 32;

/// The values that a word can have at a level. A variable whose every `set`, `map`, `geo` or
/// `split_clients` result is literal stands for these; any other stays [`Piece::Unknown`].
pub fn expand(word: &[u8], level: Level<'_>) -> Vec<Text> {
    expand_to(word, level, MAX_DEPTH)
}

fn expand_to(word: &[u8], level: Level<'_>, depth: usize) -> Vec<Text> {
    let mut texts: Vec<Text> = vec![Vec::new()];
    for piece in split(word) {
        let choices = match &piece {
            Piece::Unknown(name) if depth > 0 => results(name, level, depth - 1),
            _ => None,
        };
        let choices = choices.unwrap_or_else(|| vec![vec![piece.clone()]]);
        if choices.len() * texts.len() > MAX_VALUES {
            texts.iter_mut().for_each(|text| push(text, &piece));
            continue;
        }
        texts = texts.iter().flat_map(|text| choices.iter().map(|choice| joined(text, choice))).collect();
    }
    texts
}

fn joined(text: &Text, choice: &Text) -> Text {
    let mut text = text.clone();
    choice.iter().for_each(|piece| push(&mut text, piece));
    text
}

fn push(text: &mut Text, piece: &Piece) {
    match (text.last_mut(), piece) {
        (Some(Piece::Literal(last)), Piece::Literal(more)) => last.extend_from_slice(more),
        (_, Piece::Literal(bytes)) if bytes.is_empty() => {}
        _ => text.push(piece.clone()),
    }
}

/// A part of a word as it is written.
enum Part<'w> {
    Literal(&'w [u8]),
    Variable(&'w [u8]),
}

/// The names of the variables in a word, without `$`.
pub fn variables_in(word: &[u8]) -> impl Iterator<Item = &[u8]> {
    parts(word).filter_map(|part| match part {
        Part::Variable(name) => Some(name),
        Part::Literal(_) => None,
    })
}

/// Cuts a word at its variables: `$name`, `${name}`, `$1`.
fn split(word: &[u8]) -> Text {
    let mut text = Text::new();
    for part in parts(word) {
        match part {
            Part::Literal(bytes) => push(&mut text, &Piece::Literal(bytes.to_vec())),
            Part::Variable(name) => text.push(Piece::Unknown(name.to_vec())),
        }
    }
    text
}

fn parts(word: &[u8]) -> impl Iterator<Item = Part<'_>> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (name, len) = match rest.strip_prefix(b"$") {
            Some(behind) => variable_name(behind),
            None => (&b""[..], 0),
        };
        if !name.is_empty() {
            rest = &rest[1 + len..];
            return Some(Part::Variable(name));
        }
        let end = memchr::memchr(b'$', &rest[1..]).map_or(rest.len(), |at| at + 1);
        let (literal, behind) = rest.split_at(end);
        rest = behind;
        Some(Part::Literal(literal))
    })
}

/// The name behind a `$`, and how many bytes it takes.
fn variable_name(text: &[u8]) -> (&[u8], usize) {
    if let Some(inner) = text.strip_prefix(b"{") {
        return match memchr::memchr(b'}', inner) {
            Some(end) => (&inner[..end], end + 2),
            None => (b"", 0),
        };
    }
    let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let len = text.iter().position(|b| !word(b)).unwrap_or(text.len());
    (&text[..len], len)
}

/// The values that the configuration gives to a variable; `None` where nothing or not everything is
/// known.
fn results(name: &[u8], level: Level<'_>, depth: usize) -> Option<Vec<Text>> {
    let model = level.model();
    let mut all = Vec::new();
    for line in definitions(model, name, level) {
        if all.len() > MAX_VALUES {
            return None;
        }
        match line {
            Definition::Value(word, level) => all.extend(expand_to(word, level, depth)),
            Definition::Block(node) => all.extend(block_results(node)?),
        }
    }
    all.dedup();
    let known = |text: &Text| text.iter().all(|piece| matches!(piece, Piece::Literal(_)));
    (!all.is_empty() && all.iter().all(known)).then_some(all)
}

enum Definition<'m> {
    Value(&'m [u8], Level<'m>),
    Block(Node<'m>),
}

/// By the `server` around them, lines of the configuration.
type ByServer = HashMap<Option<NodeId>, Vec<NodeId>>;

/// The lines that give variables their values.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// `set`, by the `server` around it and the variable.
    sets: HashMap<Box<[u8]>, ByServer>,
    /// `map`, `geo` and `split_clients`, by the variable.
    blocks: HashMap<Box<[u8]>, Vec<NodeId>>,
}

impl Definitions {
    pub(super) fn new(model: &Model) -> Self {
        let mut definitions = Self::default();
        for set in model.named("set") {
            if let Some(name) = set.value(0).and_then(variable) {
                let server = server_of(set.level());
                definitions.sets.entry(name).or_default().entry(server).or_default().push(set.id());
            }
        }
        for block in ["map", "geo", "split_clients"].iter().flat_map(|name| model.named(name)) {
            if let Some(name) = block.args().last().and_then(|word| variable(word.value())) {
                definitions.blocks.entry(name).or_default().push(block.id());
            }
        }
        definitions
    }

    /// The blocks that define a variable, named without its `$`.
    pub(super) fn blocks(&self, name: &[u8]) -> &[NodeId] {
        self.blocks.get(name.to_ascii_lowercase().as_slice()).map_or(&[], Vec::as_slice)
    }
}

/// The name of a variable as nginx keeps it: without `$`, in small letters.
fn variable(word: &[u8]) -> Option<Box<[u8]>> {
    Some(word.strip_prefix(b"$")?.to_ascii_lowercase().into())
}

/// The lines that give a variable its value: `set` in the same server, `map` and its kin anywhere.
fn definitions<'m>(model: &'m Model, name: &[u8], level: Level<'m>) -> Vec<Definition<'m>> {
    let all = model.nginx().definitions(model);
    let sets = all.sets.get(name.to_ascii_lowercase().as_slice()).and_then(|sets| sets.get(&server_of(level)));
    let value = |id: &NodeId| {
        let set = model.node(*id);
        Some(Definition::Value(set.value(1)?, set.level()))
    };
    let sets = sets.into_iter().flatten().filter_map(value);
    sets.chain(all.blocks(name).iter().map(|id| Definition::Block(model.node(*id)))).collect()
}

/// The `server` block around a level.
fn server_of(level: Level<'_>) -> Option<NodeId> {
    level.outward().filter_map(Level::node).find(|node| node.is("server")).map(Node::id)
}

/// The results of a `map`, `geo` or `split_clients` block; `None` if one is not literal.
fn block_results(block: Node<'_>) -> Option<Vec<Text>> {
    const PARAMETERS: [&str; 8] =
        ["hostnames", "volatile", "include", "ranges", "proxy", "proxy_recursive", "delete", "default"];
    let mut results = Vec::new();
    let mut has_default = block.is("split_clients");
    for entry in block.children() {
        has_default |= entry.is("default");
        if PARAMETERS.iter().any(|name| entry.is(name)) && !entry.is("default") {
            continue;
        }
        let value = entry.value(0)?;
        if value.contains(&b'$') {
            return None;
        }
        results.push(vec![Piece::Literal(value.to_vec())]);
    }
    if !has_default {
        results.push(vec![Piece::Literal(Vec::new())]);
    }
    Some(results)
}
