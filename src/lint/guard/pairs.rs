//! Two models of one configuration, before and after edits, laid side by side: which levels belong
//! together, and which lines differ between them.

use foldhash::HashMap;

use crate::model::nginx::effect::{self, Key};
use crate::model::{Level, Model, Node, Word};
use crate::source::Span;
use crate::syntax::tree::Body;
use crate::version::Server;

/// A level in both models.
pub(super) struct Pair<'m> {
    pub(super) before: Level<'m>,
    pub(super) after: Level<'m>,
    /// Index of the enclosing pair.
    pub(super) parent: Option<usize>,
    /// The lines that differ.
    pub(super) touches: Vec<Touch>,
}

/// A line that only one of the models has.
#[derive(Debug, Clone)]
pub(super) struct Touch {
    pub(super) key: Key,
    pub(super) side: Side,
    pub(super) span: Span,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A directive: what is in effect is to be compared.
    Setting,
    /// A block, or an entry of a block: differs as it stands.
    Structure {
        /// As it was.
        before: Option<Vec<u8>>,
        /// As it is.
        after: Option<Vec<u8>>,
    },
    /// Lines that are carried out one after the other stand in another order.
    Order,
    /// A line inside a block that came or went: the block tells.
    Inside,
}

/// Directives of the rewrite module are carried out in their order, whatever their names.
const SEQUENCE: [&str; 5] = ["break", "if", "return", "rewrite", "set"];

/// All levels of both models, parents before their children.
pub(super) fn pairs<'m>(before: &'m Model, after: &'m Model) -> Vec<Pair<'m>> {
    let mut pairs = Vec::new();
    let mut open = vec![(before.top(), after.top(), None)];
    while let Some((before, after, parent)) = open.pop() {
        let Compared { touches, blocks } = compare(before, after);
        let index = pairs.len();
        pairs.push(Pair { before, after, parent, touches });
        open.extend(blocks.into_iter().rev().map(|(b, a)| (b.inside(), a.inside(), Some(index))));
    }
    pairs
}

struct Compared<'m> {
    touches: Vec<Touch>,
    /// The blocks that belong together.
    blocks: Vec<(Node<'m>, Node<'m>)>,
}

fn compare<'m>(before: Level<'m>, after: Level<'m>) -> Compared<'m> {
    let children = |level: Level<'m>| level.children().filter(|node| !node.is("include"));
    if children(before).count() == children(after).count()
        && children(before).zip(children(after)).all(|(b, a)| same(b, a))
    {
        let blocks = children(before).zip(children(after)).filter(|(node, _)| is_block(*node));
        return Compared { touches: Vec::new(), blocks: blocks.collect() };
    }
    // In a Caddyfile a line may get a block and be the same line.
    let is_pairable = |node: &Node<'m>| is_block(*node) || !is_nginx(before);
    let split = |level: Level<'m>| children(level).partition::<Vec<_>, _>(is_pairable);
    let ((blocks_before, lines_before), (blocks_after, lines_after)) = (split(before), split(after));
    let mut touches = lines(before, &lines_before, &lines_after);
    let blocks = pair_blocks(&blocks_before, &blocks_after, &mut touches);
    order(before, after, &mut touches);
    Compared { touches, blocks }
}

fn is_block(node: Node<'_>) -> bool {
    matches!(node.body(), Body::Block { .. })
}

/// Whether two lines, or the heads of two blocks, say the same.
fn same(before: Node<'_>, after: Node<'_>) -> bool {
    before.is_same_text(after) || (same_words(before, after) && raw(before) == raw(after))
}

fn same_words(before: Node<'_>, after: Node<'_>) -> bool {
    before.words().len() == after.words().len()
        && before.words().zip(after.words()).all(|(b, a)| b.value() == a.value())
}

/// The other language inside a raw block; for others, what kind they are. What is inside a snippet of
/// a Caddyfile stands where it is imported.
fn raw(node: Node<'_>) -> (u8, &[u8]) {
    match node.body() {
        Body::Raw { .. } if !is_nginx(node.level()) => (2, b""),
        Body::None { .. } => (0, b""),
        Body::Block { .. } => (1, b""),
        Body::Raw { text, .. } => (2, node.model().text(text)),
    }
}

/// The lines that only one side has, and those whose order among their kind changed.
fn lines(level: Level<'_>, before: &[Node<'_>], after: &[Node<'_>]) -> Vec<Touch> {
    let entries = is_nginx(level) && effect::context(level).holds_entries();
    let touch = |node: Node<'_>, side| Touch {
        key: line_key(node, entries),
        side,
        span: node.span(),
        kind: if entries { entry(node, side) } else { Kind::Setting },
    };
    let mut touches = Vec::new();
    let mut unmatched: HashMap<Vec<&[u8]>, Vec<Node<'_>>> = HashMap::default();
    for &node in after.iter().rev() {
        unmatched.entry(words(node)).or_default().push(node);
    }
    for &node in before {
        if unmatched.get_mut(&words(node)).and_then(Vec::pop).is_none() {
            touches.push(touch(node, Side::Before));
        }
    }
    let mut added: Vec<Node<'_>> = unmatched.into_values().flatten().collect();
    added.sort_by_key(|node| node.id());
    touches.extend(added.into_iter().map(|node| touch(node, Side::After)));
    if touches.is_empty() {
        // The same lines in another order.
        let moved = before.iter().zip(after).filter(|(b, a)| !same_words(**b, **a));
        touches.extend(moved.map(|(_, &after)| touch(after, Side::After)));
    }
    touches
}

/// What a line says; of a block, its head.
fn words(node: Node<'_>) -> Vec<&[u8]> {
    node.words().map(Word::value).chain([raw(node).1]).collect()
}

/// What a line sets; in a block of entries, which entry of the block it is.
fn line_key(node: Node<'_>, entries: bool) -> Key {
    match node.parent().filter(|_| entries) {
        Some(block) => block_key(block),
        None if is_nginx(node.level()) => effect::key(node),
        None => Key::new(node.name(), b""),
    }
}

fn is_nginx(level: Level<'_>) -> bool {
    level.model().server() == Server::Nginx
}

fn entry(node: Node<'_>, side: Side) -> Kind {
    let text = Some(effect::text(node.words()));
    match side {
        Side::Before => Kind::Structure { before: text, after: None },
        Side::After => Kind::Structure { before: None, after: text },
    }
}

fn block_key(block: Node<'_>) -> Key {
    Key::new(block.name(), &effect::text(block.args()))
}

/// Pairs blocks with the same head, then those that are left of one name if there are as many on
/// both sides. The others came or went.
fn pair_blocks<'m>(before: &[Node<'m>], after: &[Node<'m>], touches: &mut Vec<Touch>) -> Vec<(Node<'m>, Node<'m>)> {
    let mut waiting: HashMap<Vec<&[u8]>, Vec<Node<'m>>> = HashMap::default();
    for &node in after.iter().rev() {
        waiting.entry(words(node)).or_default().push(node);
    }
    let mut blocks = Vec::new();
    let mut gone: Vec<Node<'m>> = Vec::new();
    for &node in before {
        match waiting.get_mut(&words(node)).and_then(Vec::pop) {
            Some(partner) => blocks.push((node, partner)),
            None => gone.push(node),
        }
    }
    let mut come: Vec<Node<'m>> = waiting.into_values().flatten().collect();
    come.sort_by_key(|node| node.id());
    for name in names(&gone, &come) {
        let of = |nodes: &[Node<'m>]| nodes.iter().copied().filter(|node| node.name() == name).collect::<Vec<_>>();
        let (gone, come) = (of(&gone), of(&come));
        if gone.len() == come.len() {
            for (b, a) in gone.into_iter().zip(come) {
                changed_head(b, a, touches);
                blocks.push((b, a));
            }
        } else {
            gone.into_iter().for_each(|node| lone(node, Side::Before, touches));
            come.into_iter().for_each(|node| lone(node, Side::After, touches));
        }
    }
    blocks.sort_by_key(|(before, _)| before.id());
    let ordered = |name| blocks.iter().filter(move |(before, _)| before.is(name)).map(|(_, after)| after.id());
    if !ordered("location").is_sorted() {
        let first = blocks.iter().find(|(before, _)| before.is("location")).map(|(before, _)| before.head());
        touches.extend(first.map(|span| moved(b"location", span)));
    }
    blocks
}

fn names<'m>(gone: &[Node<'m>], come: &[Node<'m>]) -> Vec<&'m [u8]> {
    let mut names: Vec<_> = gone.iter().chain(come).map(|node| node.name()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn changed_head(before: Node<'_>, after: Node<'_>, touches: &mut Vec<Touch>) {
    let text = |node: Node<'_>| Some(effect::text(node.args()));
    let kind = Kind::Structure { before: text(before), after: text(after) };
    let key = Key::new(before.name(), b"");
    touches.push(Touch { key: key.clone(), side: Side::Before, span: before.head(), kind });
    touches.push(Touch { key, side: Side::After, span: after.head(), kind: Kind::Inside });
}

/// A block without partner, and what is inside.
fn lone(block: Node<'_>, side: Side, touches: &mut Vec<Touch>) {
    let kind = match side {
        Side::Before => Kind::Structure { before: Some(effect::text(block.words())), after: None },
        Side::After => Kind::Structure { before: None, after: Some(effect::text(block.words())) },
    };
    let key = if is_nginx(block.level()) { block_key(block) } else { Key::new(block.name(), b"") };
    touches.push(Touch { key, side, span: block.span(), kind });
    let inside = block.descendants().filter(|node| !is_block(*node));
    touches.extend(inside.map(|node| Touch {
        key: line_key(node, false),
        side,
        span: node.span(),
        kind: Kind::Inside,
    }));
}

fn moved(name: &[u8], span: Span) -> Touch {
    Touch { key: Key::new(name, b""), side: Side::Before, span, kind: Kind::Order }
}

/// Whether lines that are there on both sides stand in another order among those of other names.
fn order(before: Level<'_>, after: Level<'_>, touches: &mut Vec<Touch>) {
    fn sequence(level: Level<'_>) -> Vec<Node<'_>> {
        level.children().filter(|node| SEQUENCE.iter().any(|name| node.is(name))).collect()
    }
    if !is_nginx(before) {
        return;
    }
    let (before, after) = (sequence(before), sequence(after));
    if before.len() != after.len() || before.iter().zip(&after).all(|(b, a)| same_words(*b, *a)) {
        return;
    }
    let sorted = |nodes: &[Node<'_>]| {
        let mut texts: Vec<Vec<u8>> = nodes.iter().map(|node| effect::text(node.words())).collect();
        texts.sort_unstable();
        texts
    };
    if sorted(&before) == sorted(&after) {
        touches.push(moved(b"rewrite", before[0].span()));
    }
}
