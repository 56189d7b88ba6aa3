//! What a word with variables can become, as far as the configuration itself tells.

use crate::model::{Level, Model, Node, Word};

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

/// Cuts a word at its variables: `$name`, `${name}`, `$1`.
fn split(word: &[u8]) -> Text {
    let mut text = Text::new();
    let mut rest = word;
    while let Some(at) = memchr::memchr(b'$', rest) {
        let (literal, variable) = rest.split_at(at);
        push(&mut text, &Piece::Literal(literal.to_vec()));
        let (name, len) = variable_name(&variable[1..]);
        if name.is_empty() {
            push(&mut text, &Piece::Literal(b"$".to_vec()));
        } else {
            text.push(Piece::Unknown(name.to_vec()));
        }
        rest = &variable[1 + len..];
    }
    push(&mut text, &Piece::Literal(rest.to_vec()));
    text
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

/// The lines that give a variable its value: `set` in the same server, `map` and its kin anywhere.
fn definitions<'m>(model: &'m Model, name: &[u8], level: Level<'m>) -> Vec<Definition<'m>> {
    let is_it = |word: Option<&[u8]>| word.and_then(|word| word.strip_prefix(b"$")) == Some(name);
    let server = outermost(level);
    let mut found: Vec<Definition<'m>> = model
        .named("set")
        .filter(|set| is_it(set.value(0)) && outermost(set.level()) == server)
        .filter_map(|set| Some(Definition::Value(set.value(1)?, set.level())))
        .collect();
    for block in ["map", "geo", "split_clients"] {
        let defines = |node: &Node<'m>| is_it(node.args().last().map(Word::value));
        found.extend(model.named(block).filter(defines).map(Definition::Block));
    }
    found
}

/// The `server` block around a level, or the top.
fn outermost(level: Level<'_>) -> Level<'_> {
    level
        .outward()
        .find(|level| level.node().is_some_and(|node| node.is("server")))
        .unwrap_or_else(|| level.model().top())
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
