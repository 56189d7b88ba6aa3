//! nginx's grammar, exactly as nginx reads it.
//!
//! A text that nginx's own parser accepts gives no error, and the first error is where that parser
//! stops. What it says is better placed: nginx notices a missing `;` or `}` only where nothing fits
//! any more. From nginx's table of directives (`catalog`) comes what has a block and what has not, as
//! in nginx itself.

mod braces;
mod ends;
mod errors;
mod lexer;
mod lua;
mod mend;
mod table;
#[cfg(test)]
mod tests;

use crate::source::{FileId, Span};
use crate::syntax::SyntaxError;
use crate::syntax::tree::{Body, ChainId, NodeData, Origin, Quote, Tree, WordData};
use braces::Plan;
use lexer::{Kind, Token};
use table::{End, Known};

/// A file's directives and what is wrong with its text.
#[derive(Debug, Clone, Default)]
pub struct Parsed {
    /// All that could be read.
    pub tree: Tree,
    /// Places where nginx would refuse the text, in the order of the text.
    pub errors: Vec<SyntaxError>,
}

/// Reads one file of an nginx configuration. Takes any bytes and goes on after an error; takes time
/// in proportion to the length.
pub fn parse(file: FileId, bytes: &[u8]) -> Parsed {
    if u32::try_from(bytes.len()).is_err() {
        return Parsed { errors: vec![errors::too_large(Span::new(file, 0, 0))], ..Parsed::default() };
    }
    let read = |plan| Parser::read(file, bytes, plan);
    let mut first = read(Plan::default());
    let unclosed = braces::unclosed(&first.tree);
    if unclosed > 0
        && let Some(lua) = braces::odd_lua(&first.tree, bytes)
    {
        let second = read(Plan { lua: Some(lua), ..Plan::default() });
        if braces::unclosed(&second.tree) < unclosed {
            first = second;
        }
    }
    match braces::plan(&first.tree, bytes, &first.stray) {
        Some(plan) if !first.is_lost => read(Plan { lua: first.plan.lua, ..plan }).finish(),
        _ => first.finish(),
    }
}

struct Parser<'a> {
    file: FileId,
    bytes: &'a [u8],
    /// Where reading goes on.
    at: usize,
    tree: Tree,
    errors: Vec<SyntaxError>,
    /// Indices of the directives whose blocks are open, the innermost last.
    open: Vec<u32>,
    /// Index of the first word of the directive being read.
    first: usize,
    /// Indices of its further words that begin a line.
    line_starts: Vec<usize>,
    /// Which braces to take as missing or not there.
    plan: Plan,
    /// The `}` without a block.
    stray: Vec<Span>,
    /// A word whose quotes are wrong.
    misread: Option<usize>,
    /// Number of Lua blocks without an end.
    lua_faults: usize,
    /// Whether a Lua block without an end took the rest of the file.
    is_lost: bool,
}

/// So many Lua blocks without an end are mended; nginx's search for one goes through the whole file.
const LUA_FAULTS: usize = 8;

/// The directive being read.
impl<'a> Parser<'a> {
    fn read(file: FileId, bytes: &'a [u8], mut plan: Plan) -> Self {
        // What comes first in the text is taken from the end.
        plan.missing.reverse();
        plan.surplus.reverse();
        let mut parser = Self {
            file,
            bytes,
            at: 0,
            tree: Tree::default(),
            errors: Vec::new(),
            open: Vec::new(),
            first: 0,
            line_starts: Vec::new(),
            plan,
            stray: Vec::new(),
            misread: None,
            lua_faults: 0,
            is_lost: false,
        };
        if parser.has_signature() {
            parser.run();
        }
        parser
    }

    fn finish(mut self) -> Parsed {
        self.errors.sort_by_key(|error| error.span.start);
        Parsed { tree: self.tree, errors: self.errors }
    }

    fn run(&mut self) {
        loop {
            let token = lexer::next(self.bytes, self.at);
            match token.kind {
                Kind::Word { quote, closed } => self.word(token, quote, closed),
                Kind::Comment => self.comment(token),
                Kind::Semicolon => self.semicolon(token),
                Kind::Open => self.open(token),
                Kind::Close => self.close(token),
                Kind::End => return self.end(token),
            }
        }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }

    /// The empty place behind the last byte.
    fn end_of_file(&self) -> Span {
        self.span(self.bytes.len(), self.bytes.len())
    }

    fn has_words(&self) -> bool {
        self.first < self.tree.words.len()
    }

    /// What the server sees of a word.
    fn value(&self, word: usize) -> &[u8] {
        self.tree.words[word].value_in(self.bytes)
    }

    /// The name of the directive being read.
    fn name(&self) -> &[u8] {
        self.value(self.first)
    }

    /// The words of the directive being read, up to the one with index `end`.
    fn head(&self, end: usize) -> Span {
        self.tree.words[self.first].span.to(self.tree.words[end - 1].span)
    }

    /// The name of the enclosing directive, if there is one.
    fn parent(&self) -> Option<&[u8]> {
        let node = &self.tree.nodes[*self.open.last()? as usize];
        Some(if node.word_count == 0 { b"" } else { self.value(node.first_word as usize) })
    }

    /// Whether the plan says of a directive that its `}` is missing.
    fn is_unclosed(&self, node: u32) -> bool {
        self.plan.unclosed.contains(&self.block(node).0.start)
    }

    /// What nginx knows of the name at the word with that index.
    fn known(&self, word: usize) -> Known<'_> {
        table::known(self.value(word), self.parent())
    }
}

/// Tokens.
impl Parser<'_> {
    /// What a file begins with that says how it is encoded. Whether there is anything to read.
    fn has_signature(&mut self) -> bool {
        match self.bytes {
            [0xef, 0xbb, 0xbf, ..] => {
                self.at = 3;
                self.errors.push(errors::byte_order_mark(self.span(0, 3)));
                true
            }
            [0xff, 0xfe, _, 0, ..] | [0xfe, 0xff, 0, _, ..] => {
                self.errors.push(errors::utf16(self.span(0, 2)));
                false
            }
            _ => true,
        }
    }

    fn word(&mut self, token: Token, quote: Quote, closed: bool) {
        if !self.has_words() {
            self.close_early(token);
        }
        self.at = token.end;
        if quote != Quote::Bare && !(closed && self.is_delimited(token.end)) {
            return self.misquoted(token, quote, closed);
        }
        let inside = if quote == Quote::Bare { token.start..token.end } else { token.start + 1..token.end - 1 };
        let value = lexer::value(&self.bytes[inside]);
        let span = self.span(token.start, token.end);
        if lexer::is_too_long(self.bytes, token) {
            self.errors.push(errors::long_word(span, quote != Quote::Bare));
        }
        self.push_word(span, quote, value);
    }

    fn push_word(&mut self, span: Span, quote: Quote, value: Option<Box<[u8]>>) {
        if let Some(before) = self.tree.words[self.first..].last()
            && memchr::memchr(b'\n', &self.bytes[before.span.end as usize..span.start as usize]).is_some()
        {
            self.line_starts.push(self.tree.words.len());
        }
        self.tree.words.push(WordData { span, quote, origin: Origin::Written, chain: ChainId(0), value });
    }

    /// Whether nginx lets a quoted word end at `end`.
    fn is_delimited(&self, end: usize) -> bool {
        self.bytes.get(end).is_none_or(|&byte| lexer::may_follow_quote(byte))
    }

    fn comment(&mut self, token: Token) {
        self.at = token.end;
        let span = self.span(token.start, token.end);
        if lexer::is_too_long(self.bytes, token) {
            self.errors.push(errors::long_comment(span));
        }
        self.tree.comments.push(span);
    }

    fn semicolon(&mut self, token: Token) {
        self.at = token.end;
        let end = self.span(token.start, token.end);
        if !self.has_words() {
            return self.errors.push(errors::stray_semicolon(end));
        }
        self.split(Some(End::Semicolon), end);
        self.check_line(end);
        self.directive(self.tree.words.len(), Body::None { end });
    }

    fn open(&mut self, token: Token) {
        if self.repetition(token) || self.placeholder(token) {
            return;
        }
        self.at = token.end;
        let open = self.span(token.start, token.end);
        if self.has_words() {
            self.split(Some(End::Block), open);
            self.check_block(open);
            if table::holds_lua(self.name()) {
                return self.lua(open);
            }
        } else {
            self.errors.push(errors::stray_open(open));
        }
        self.open_block(self.tree.words.len(), open);
    }

    fn lua(&mut self, open: Span) {
        let inside = open.end as usize;
        let end = match lua::end(self.bytes, inside) {
            Ok(_) if self.plan.lua == Some(open.start) => self.lua_fault(lua::Fault::Unclosed, open),
            Ok(end) => Some(end),
            Err(fault) => self.lua_fault(fault, open),
        };
        let close = end.unwrap_or(self.bytes.len());
        self.at = (close + 1).min(self.bytes.len());
        let (text, close) = (self.span(inside, close), self.span(close, self.at));
        self.directive(self.tree.words.len(), Body::Raw { open, text, close });
    }

    /// Reports a Lua block without an end. Where it was probably meant to end.
    fn lua_fault(&mut self, fault: lua::Fault, open: Span) -> Option<usize> {
        let head = self.head(self.tree.words.len());
        self.errors.push(match fault {
            lua::Fault::Unclosed => errors::unclosed_lua(head.to(open), self.name(), self.end_of_file()),
            lua::Fault::Bracket(at) => errors::lua_bracket(self.span(at, at + 2)),
            lua::Fault::Long(at) => errors::lua_too_long(self.span(at, at)),
        });
        self.lua_faults += 1;
        let indent = braces::indent(self.bytes, head.start).filter(|_| self.lua_faults <= LUA_FAULTS);
        let end = indent.and_then(|indent| lua::likely_end(self.bytes, open.end as usize, indent));
        self.is_lost |= end.is_none();
        end
    }

    fn close(&mut self, token: Token) {
        self.at = token.end;
        let close = self.span(token.start, token.end);
        if self.has_words() {
            self.unfinished(close);
        }
        self.close_early(token);
        if self.plan.surplus.last() == Some(&close.start) {
            self.plan.surplus.pop();
            return self.errors.push(errors::surplus_close(close, self.plan.stop));
        }
        match self.open.pop() {
            Some(node) => self.close_block(node, close),
            None => {
                self.stray.push(close);
                self.errors.push(errors::stray_close(close));
            }
        }
    }

    /// Closes the blocks whose `}` the plan says is missing in front of a token.
    fn close_early(&mut self, token: Token) {
        while let Some((at, count, why)) = self.plan.missing.pop_if(|(at, ..)| *at as usize <= token.start) {
            if at as usize != token.start {
                continue;
            }
            let next = self.span(token.start, token.end);
            for node in self.open.split_off(self.open.len().saturating_sub(count)).into_iter().rev() {
                if self.is_written(node) {
                    let (head, name) = self.block(node);
                    let stop = if table::holds_entries(name) { self.next_open(token.start) } else { None };
                    let error = errors::unclosed_before(head, name, (next, why), stop, self.end_of_file());
                    self.errors.push(error);
                }
                self.close_block(node, next.before());
            }
        }
    }

    /// The next `{`, at which nginx stops while it reads entries.
    fn next_open(&self, mut at: usize) -> Option<Span> {
        loop {
            let token = lexer::next(self.bytes, at);
            at = token.end;
            match token.kind {
                Kind::Open => return Some(self.span(token.start, token.end)),
                Kind::Close | Kind::End => return None,
                _ => {}
            }
        }
    }

    /// Whether the `{` of a block is there, and is not itself reported as missing.
    fn is_written(&self, node: u32) -> bool {
        matches!(self.tree.nodes[node as usize].body, Body::Block { open, .. } if !open.is_empty())
    }

    fn end(&mut self, token: Token) {
        let end = self.span(token.start, token.end);
        if self.has_words() {
            self.unfinished(end);
        }
        let written = self.open.iter().filter(|&&node| self.is_written(node));
        let blocks: Vec<_> = written.map(|&node| self.block(node)).collect();
        if !self.is_lost {
            self.errors.extend(errors::unclosed(&blocks, end));
        }
        while let Some(node) = self.open.pop() {
            self.close_block(node, end);
        }
    }
}

/// The tree.
impl Parser<'_> {
    /// Adds the directive that ends in front of the word with index `end`.
    fn directive(&mut self, end: usize, body: Body) -> u32 {
        let index = self.tree.nodes.len() as u32;
        self.tree.nodes.push(NodeData {
            first_word: self.first as u32,
            word_count: (end - self.first) as u32,
            body,
            parent: self.open.last().copied().unwrap_or(u32::MAX),
            end: index + 1,
        });
        self.first = end;
        index
    }

    fn open_block(&mut self, end: usize, open: Span) {
        let node = self.directive(end, Body::Block { open, close: open.after() });
        self.open.push(node);
    }

    fn close_block(&mut self, node: u32, at: Span) {
        let end = self.tree.nodes.len() as u32;
        let node = &mut self.tree.nodes[node as usize];
        node.end = end;
        if let Body::Block { close, .. } = &mut node.body {
            *close = at;
        }
    }

    /// The words in front of a block (its `{` where there are none), and its name.
    fn block(&self, node: u32) -> (Span, &[u8]) {
        let node = &self.tree.nodes[node as usize];
        match (self.tree.words_of(node), node.body) {
            ([first, .., last], _) => (first.span.to(last.span), first.value_in(self.bytes)),
            ([word], _) => (word.span, word.value_in(self.bytes)),
            ([], Body::Block { open, .. } | Body::Raw { open, .. } | Body::None { end: open }) => (open, b""),
        }
    }
}
