//! nginx's grammar, exactly as nginx reads it.

mod lexer;
mod lua;

use crate::source::{FileId, Span};
use crate::syntax::SyntaxError;
use crate::syntax::tree::{Body, ChainId, NodeData, Origin, Quote, Tree, WordData};
use lexer::{Kind, Token};

/// A file's directives and what is wrong with its text.
#[derive(Debug, Clone, Default)]
pub struct Parsed {
    /// All that could be read.
    pub tree: Tree,
    /// Places where nginx would refuse the text, in the order of the text.
    pub errors: Vec<SyntaxError>,
}

/// Reads one file of an nginx configuration. Takes any bytes; goes on after an error.
pub fn parse(file: FileId, bytes: &[u8]) -> Parsed {
    let mut parser =
        Parser { file, bytes, at: 0, tree: Tree::default(), errors: Vec::new(), open: Vec::new(), first: 0 };
    parser.run();
    Parsed { tree: parser.tree, errors: parser.errors }
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
}

impl Parser<'_> {
    fn run(&mut self) {
        self.byte_order_mark();
        loop {
            let token = lexer::next(self.bytes, self.at);
            self.at = token.end;
            match token.kind {
                Kind::Word { quote, closed } => self.word(token, quote, closed),
                Kind::Comment => self.tree.comments.push(self.span(token.start, token.end)),
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

    fn has_words(&self) -> bool {
        self.first < self.tree.words.len()
    }

    fn byte_order_mark(&mut self) {
        if self.bytes.starts_with(b"\xef\xbb\xbf") {
            let span = self.span(0, 3);
            self.at = 3;
            self.errors.push(
                SyntaxError::new(
                    span,
                    "the file begins with a byte order mark, which nginx reads as part of the first word",
                )
                .help("save the file as UTF-8 without a byte order mark")
                .repair(span, ""),
            );
        }
    }

    fn word(&mut self, token: Token, quote: Quote, closed: bool) {
        let span = self.span(token.start, token.end);
        let inside = match quote {
            Quote::Bare => token.start..token.end,
            _ => token.start + 1..token.end - usize::from(closed),
        };
        let value = lexer::value(&self.bytes[inside]);
        self.tree.words.push(WordData { span, quote, origin: Origin::Written, chain: ChainId(0), value });
        if !closed {
            self.errors.push(SyntaxError::new(span.before(), "this quote is never closed"));
        } else if quote != Quote::Bare
            && let Some(&next) = self.bytes.get(token.end)
            && !lexer::is_space(next)
            && !matches!(next, b';' | b'{' | b')')
        {
            let at = self.span(token.end, token.end + 1);
            self.errors.push(SyntaxError::new(at, "text directly behind a closing quote"));
        }
    }

    fn semicolon(&mut self, token: Token) {
        let end = self.span(token.start, token.end);
        if self.has_words() {
            self.directive(Body::None { end });
        } else {
            self.errors.push(SyntaxError::new(end, "unexpected `;`").repair(end, ""));
        }
    }

    fn open(&mut self, token: Token) {
        let open = self.span(token.start, token.end);
        if !self.has_words() {
            self.errors.push(SyntaxError::new(open, "unexpected `{`"));
        }
        if self.has_words() && self.name().ends_with(b"_by_lua_block") {
            let end = lua::end(self.bytes, token.end);
            let close = end.unwrap_or(self.bytes.len());
            if end.is_none() {
                self.errors.push(SyntaxError::new(open, "this block is never closed"));
            }
            self.at = (close + 1).min(self.bytes.len());
            self.directive(Body::Raw { open, text: self.span(token.end, close), close: self.span(close, self.at) });
        } else {
            let node = self.directive(Body::Block { open, close: open.after() });
            self.open.push(node);
        }
    }

    fn close(&mut self, token: Token) {
        let close = self.span(token.start, token.end);
        if self.has_words() {
            self.unfinished(close.before());
        }
        match self.open.pop() {
            Some(node) => self.close_block(node, close),
            None => self.errors.push(SyntaxError::new(close, "unexpected `}`: no block is open here")),
        }
    }

    fn end(&mut self, token: Token) {
        let end = self.span(token.start, token.end);
        if self.has_words() {
            self.unfinished(end);
        }
        while let Some(node) = self.open.pop() {
            if let Body::Block { open, .. } = self.tree.nodes[node as usize].body {
                self.errors.push(
                    SyntaxError::new(open, "this block is never closed")
                        .label(end, "nginx reads to the end of the file"),
                );
            }
            self.close_block(node, end);
        }
    }

    /// A directive without its `;` before `stop`.
    fn unfinished(&mut self, stop: Span) {
        let last = self.tree.words[self.tree.words.len() - 1].span.after();
        self.errors
            .push(SyntaxError::new(last, "`;` is missing here").label(stop, "nginx stops here").repair(last, ";"));
        self.directive(Body::None { end: last });
    }

    /// The name of the directive being read.
    fn name(&self) -> &[u8] {
        let word = &self.tree.words[self.first];
        let range = word.span.range();
        match &word.value {
            Some(value) => value,
            None if word.quote == Quote::Bare => &self.bytes[range],
            None => &self.bytes[range.start + 1..range.end - 1],
        }
    }

    /// Adds the directive made of the words read so far.
    fn directive(&mut self, body: Body) -> u32 {
        let index = self.tree.nodes.len() as u32;
        self.tree.nodes.push(NodeData {
            first_word: self.first as u32,
            word_count: (self.tree.words.len() - self.first) as u32,
            body,
            parent: self.open.last().copied().unwrap_or(u32::MAX),
            end: index + 1,
        });
        self.first = self.tree.words.len();
        index
    }

    fn close_block(&mut self, node: u32, at: Span) {
        let end = self.tree.nodes.len() as u32;
        let node = &mut self.tree.nodes[node as usize];
        node.end = end;
        if let Body::Block { close, .. } = &mut node.body {
            *close = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[u8]) -> Vec<Vec<u8>> {
        let parsed = parse(FileId(0), text);
        assert_eq!(parsed.errors, []);
        let value = |word: &WordData| match (&word.value, word.quote) {
            (Some(value), _) => value.to_vec(),
            (None, Quote::Bare) => text[word.span.range()].to_vec(),
            (None, _) => text[word.span.start as usize + 1..word.span.end as usize - 1].to_vec(),
        };
        parsed.tree.words.iter().map(value).collect()
    }

    #[test]
    fn words_end_where_nginx_ends_them() {
        assert_eq!(words(b"a ${b}c}d#e \\; f\\;g;"), [&b"a"[..], b"${b}c}d#e", b"\\;", b"f\\;g"]);
        assert_eq!(words(b"if ($x = \"a b\"){}"), [&b"if"[..], b"($x", b"=", b"a b", b")"]);
        assert_eq!(words(b"a '{;\\'' \"\\\"\\\\\\t\\d\";"), [&b"a"[..], b"{;'", b"\"\\\t\\d"]);
        assert_eq!(words(b"a \"\" \"\n\";"), [&b"a"[..], b"", b"\n"]);
    }

    #[test]
    fn blocks_hold_what_stands_in_them() {
        let tree = parse(FileId(0), b"a{b;c{d;}}e;").tree;
        let ends: Vec<_> = tree.nodes.iter().map(|node| (node.parent, node.end)).collect();
        assert_eq!(ends, [(u32::MAX, 4), (0, 2), (0, 4), (2, 4), (u32::MAX, 5)]);
    }
}
