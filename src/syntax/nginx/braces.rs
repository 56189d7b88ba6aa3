//! Which brace is missing or one too many. nginx notices only at the end of the file, or at the first
//! `}` that has no block; indentation and the nesting that nginx allows tell more.

use super::{lua, table};
use crate::source::Span;
use crate::syntax::tree::{Body, NodeData, Tree};

/// What to read otherwise than it is written: places in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// How many `}` are missing in front of an offset, and what gives that away.
    pub(super) missing: Vec<(u32, usize, &'static str)>,
    /// Where the directives begin whose `}` is missing: what stands in their blocks may be meant to stand behind them.
    pub(super) unclosed: Vec<u32>,
    /// The `}` at these offsets are too many.
    pub(super) surplus: Vec<u32>,
    /// Where nginx stops for them: a `}` without a block.
    pub(super) stop: Option<Span>,
    /// The Lua block with its `{` at this offset ends where its indentation says.
    pub(super) lua: Option<u32>,
}

/// What tells where a block ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Theory {
    /// A block ends before one that is indented like itself, and before a `}` indented like an outer one.
    Siblings,
    /// A block ends before a `}` that is indented like an outer one.
    Indentation,
    /// A block ends before one that nginx does not allow in it.
    Nesting,
}

/// With more braces missing than that, nothing can be told.
const MOST: usize = 16;

/// Why a block must have ended before a `}`.
const INDENTATION: &str = "this `}` closes it, though it is indented like that of an outer block";
/// Why a block must have ended before another.
const SIBLINGS: &str = "this is indented like it, not like something inside it";
/// Why a block must have ended before a directive.
const NESTING: &str = "this cannot stand inside it";

/// A brace, or the directive in front of one.
#[derive(Debug, Clone, Copy)]
struct Brace<'a> {
    at: u32,
    /// The white space in front of it, where nothing else stands before it on its line.
    indent: Option<&'a [u8]>,
    /// The name of the directive that opens a block; `None` for a `}`.
    opens: Option<&'a [u8]>,
}

/// A better reading of a file whose braces do not match, or `None` if the text does not tell.
/// `stray` are the `}` without a block.
pub(super) fn plan(tree: &Tree, bytes: &[u8], stray: &[Span]) -> Option<Plan> {
    let budget = Budget { missing: unclosed(tree), surplus: stray.len() };
    if budget == Budget::default() || budget.missing.max(budget.surplus) > MOST {
        return None;
    }
    let braces = braces(tree, bytes, stray);
    let stop = stray.first().copied();
    let plain = Reading::of(&braces, Theory::Indentation, Budget::default());
    let plain_odd = plain.odd;
    let indented = [Theory::Siblings, Theory::Indentation].map(|theory| Reading::of(&braces, theory, budget));
    let nested = Reading::of(&braces, Theory::Nesting, budget);
    let fits = indented.into_iter().filter(|reading| reading.holds && reading.odd < plain_odd);
    let nests = Some(nested).filter(|reading| reading.holds && !reading.plan.missing.is_empty());
    let reading = fits.chain(nests).next().unwrap_or(plain);
    (reading.plan != Plan::default()).then_some(Plan { stop, ..reading.plan })
}

/// Number of blocks without their `}`.
pub(super) fn unclosed(tree: &Tree) -> usize {
    tree.nodes.iter().filter(|node| matches!(node.body, Body::Block { close, .. } if close.is_empty())).count()
}

/// The `{` of the first Lua block that does not end at the `}` that is indented like its beginning:
/// braces inside do not match, and it took a `}` of nginx's.
pub(super) fn odd_lua(tree: &Tree, bytes: &[u8]) -> Option<u32> {
    let odd = |node: &&NodeData| {
        let Body::Raw { open, close, .. } = node.body else { return false };
        let begin = tree.words_of(node).first().and_then(|word| indent(bytes, word.span.start));
        begin.is_some_and(|begin| {
            indent(bytes, close.start) != Some(begin)
                && lua::likely_end(&bytes[..close.start as usize], open.end as usize, begin).is_some()
        })
    };
    let node = tree.nodes.iter().find(odd)?;
    if let Body::Raw { open, .. } = node.body { Some(open.start) } else { None }
}

/// All braces of blocks in the order of the text.
fn braces<'a>(tree: &'a Tree, bytes: &'a [u8], stray: &[Span]) -> Vec<Brace<'a>> {
    let close = |at: u32| Brace { at, indent: indent(bytes, at), opens: None };
    let mut braces: Vec<Brace<'a>> = stray.iter().map(|span| close(span.start)).collect();
    for node in &tree.nodes {
        let Body::Block { open, close: end } = node.body else { continue };
        let first = tree.words_of(node).first();
        let at = first.map_or(open.start, |word| word.span.start);
        let name = first.map_or(&b""[..], |word| word.value_in(bytes));
        braces.push(Brace { at, indent: indent(bytes, at), opens: Some(name) });
        if !end.is_empty() {
            braces.push(close(end.start));
        }
    }
    braces.sort_unstable_by_key(|brace| brace.at);
    braces
}

/// The white space between the beginning of the line and `at`, if nothing else stands there.
pub(super) fn indent(bytes: &[u8], at: u32) -> Option<&[u8]> {
    let before = &bytes[..at as usize];
    let blank = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let start = before.len() - blank;
    (start == 0 || before[start - 1] == b'\n').then(|| &before[start..])
}

/// How many braces may be added and passed over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Budget {
    missing: usize,
    surplus: usize,
}

/// The braces as one theory pairs them.
#[derive(Debug)]
struct Reading<'a> {
    open: Vec<Brace<'a>>,
    left: Budget,
    plan: Plan,
    /// Number of `}` that are not indented like the line that opens their block.
    odd: usize,
    /// Whether every `}` found a block.
    holds: bool,
}

impl<'a> Reading<'a> {
    fn of(braces: &[Brace<'a>], theory: Theory, budget: Budget) -> Self {
        let mut reading = Self { open: Vec::new(), left: budget, plan: Plan::default(), odd: 0, holds: true };
        for &brace in braces {
            match (brace.opens, theory) {
                (Some(name), Theory::Nesting) => reading.end_nesting(brace, name),
                (Some(_), Theory::Siblings) => reading.end_sibling(brace),
                (Some(_), Theory::Indentation) => {}
                (None, _) => reading.close(brace, theory),
            }
            if brace.opens.is_some() {
                reading.open.push(brace);
            }
        }
        reading.plan.unclosed.extend(reading.open.iter().map(|open| open.at));
        reading
    }

    /// Closes blocks that cannot hold a directive before it.
    fn end_nesting(&mut self, brace: Brace<'a>, name: &[u8]) {
        let wrong = |outer: &&Brace<'_>| !may_hold(outer.opens.unwrap_or_default(), name);
        let inner = self.open.iter().rev().take(MOST + 1).take_while(wrong).count();
        self.close_early(inner, brace.at, NESTING);
    }

    /// Closes a block that is indented like one that follows.
    fn end_sibling(&mut self, brace: Brace<'a>) {
        let is_sibling = brace.indent.is_some() && self.open.last().is_some_and(|outer| outer.indent == brace.indent);
        self.close_early(usize::from(is_sibling), brace.at, SIBLINGS);
    }

    fn close(&mut self, brace: Brace<'a>, theory: Theory) {
        if let Some(indent) = brace.indent.filter(|_| theory != Theory::Nesting) {
            let mut innermost = self.open.iter().rev().take(MOST + 1);
            if let Some(inner) = innermost.position(|open| open.indent == Some(indent)) {
                self.close_early(inner, brace.at, INDENTATION);
            } else if self.is_deeper(indent) && self.left.surplus > 0 {
                return self.pass_over(brace);
            }
        }
        match self.open.pop() {
            Some(open) => self.odd += usize::from(matches!((open.indent, brace.indent), (Some(a), Some(b)) if a != b)),
            None if self.left.surplus > 0 => self.pass_over(brace),
            None => self.holds = false,
        }
    }

    /// Whether a `}` is further in than the innermost open block.
    fn is_deeper(&self, indent: &[u8]) -> bool {
        let innermost = self.open.last().and_then(|open| open.indent);
        innermost.is_some_and(|outer| indent.len() > outer.len() && indent.starts_with(outer))
    }

    /// Takes `count` blocks as closed in front of `at`, if so many `}` are missing.
    fn close_early(&mut self, count: usize, at: u32, why: &'static str) {
        if count > 0 && count <= self.left.missing {
            self.left.missing -= count;
            let closed = self.open.drain(self.open.len() - count..).map(|open| open.at);
            self.plan.unclosed.extend(closed);
            self.plan.missing.push((at, count, why));
        }
    }

    fn pass_over(&mut self, brace: Brace<'a>) {
        self.left.surplus -= 1;
        self.plan.surplus.push(brace.at);
    }
}

/// Whether nginx may allow a block of that name directly inside `outer`.
fn may_hold(outer: &[u8], name: &[u8]) -> bool {
    if table::holds_entries(outer) {
        return false;
    }
    match name {
        b"http" | b"events" | b"stream" | b"mail" => false,
        b"server" | b"upstream" => {
            !matches!(outer, b"server" | b"location" | b"upstream" | b"if" | b"events" | b"limit_except")
        }
        b"location" => {
            !matches!(outer, b"http" | b"upstream" | b"if" | b"events" | b"limit_except" | b"stream" | b"mail")
        }
        _ => true,
    }
}
