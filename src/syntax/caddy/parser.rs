//! Tokens to a tree: sites, snippets, named routes, lines and blocks.
//!
//! Follows Caddy's own parser step by step. Where Caddy stops with an error, the error is noted and
//! reading goes on in the most likely way.

use foldhash::HashMap;
use std::rc::Rc;

use crate::source::{FileId, Sources, Span};
use crate::syntax::SyntaxError;
use crate::syntax::tree::{Body, NodeData, Origin, Quote, Tree};
use crate::version::VersionSet;

use super::dialect::{Dialect, Feature};
use super::env::{self, Env};
use super::import::{Graph, Snippet};
use super::lexer::{self, Shape, Token};
use super::stream::Stream;

/// Where imported files come from.
pub trait Load {
    /// The files read so far.
    fn sources(&self) -> &Sources;

    /// The files that an import of `pattern`, standing in the file `from`, names; in the order in
    /// which Caddy reads them.
    ///
    /// # Errors
    /// What Caddy says instead of reading them.
    fn import(&mut self, pattern: &[u8], from: FileId, dialect: &Dialect) -> Result<Vec<FileId>, String>;
}

/// What kind of trouble the parser met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The text does not parse.
    Syntax,
    /// An import names nothing, or itself.
    Import,
}

/// A place where Caddy refuses the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What kind.
    pub kind: FaultKind,
    /// Where and what.
    pub error: SyntaxError,
}

/// A Caddyfile with everything it imports, as one dialect reads it.
#[derive(Debug)]
pub struct Parsed {
    /// The blocks.
    pub tree: Tree,
    /// Where this dialect refuses it, in reading order.
    pub faults: Vec<Fault>,
    /// The versions that read it in the same way.
    pub same_reading: VersionSet,
}

/// Reads the file `main` and what it imports.
pub fn parse(main: FileId, load: &mut dyn Load, env: &Env, dialect: &Dialect) -> Parsed {
    let mut parser = Parser {
        load,
        env,
        dialect,
        files: HashMap::default(),
        stream: Stream::default(),
        builder: Builder::default(),
        snippets: HashMap::default(),
        snippet_names: Vec::new(),
        graph: Graph::default(),
        faults: Vec::new(),
        spliced: 0,
    };
    if parser.load.sources().get(main).bytes().is_empty() {
        parser.fault(FaultKind::Syntax, SyntaxError::new(Span::new(main, 0, 0), "the file is empty: Caddy refuses it"));
    }
    let tokens = parser.tokens_of(main);
    parser.stream.push(tokens.to_vec());
    while let Some((token, _)) = parser.stream.next() {
        parser.block(token);
    }
    let mut tree = parser.builder.finish();
    tree.comments.sort_unstable();
    Parsed { tree, faults: parser.faults, same_reading: dialect.same_reading() }
}

pub(super) struct Parser<'a> {
    pub(super) load: &'a mut dyn Load,
    env: &'a Env,
    pub(super) dialect: &'a Dialect,
    files: HashMap<FileId, Rc<[Token]>>,
    pub(super) stream: Stream,
    pub(super) builder: Builder,
    pub(super) snippets: HashMap<Vec<u8>, Snippet>,
    /// Names of the snippets by [`Token::snippet`] less one.
    pub(super) snippet_names: Vec<Vec<u8>>,
    pub(super) graph: Graph,
    faults: Vec<Fault>,
    /// Number of tokens that imports brought.
    pub(super) spliced: usize,
}

/// How the addresses of a block ended.
enum Head {
    /// At its `{`.
    Brace(Token),
    /// At the end of the line; a block without braces.
    Line,
    /// At the end of the file.
    End,
}

impl Parser<'_> {
    pub(super) fn fault(&mut self, kind: FaultKind, error: SyntaxError) {
        self.faults.push(Fault { kind, error });
    }

    fn syntax(&mut self, span: Span, message: impl Into<String>) -> &mut SyntaxError {
        self.fault(FaultKind::Syntax, SyntaxError::new(span, message));
        &mut self.faults.last_mut().expect("just pushed").error
    }

    pub(super) fn value<'t>(&'t self, token: &'t Token) -> &'t [u8] {
        token.word.value(self.load.sources())
    }

    pub(super) fn shown(&self, token: &Token) -> String {
        String::from_utf8_lossy(self.value(token)).into_owned()
    }

    /// Whether the token structures the text with that shape. Newer versions take a quoted brace as text.
    pub(super) fn is(&self, token: &Token, shape: Shape) -> bool {
        token.shape == shape && (token.word.quote == Quote::Bare || !self.dialect.has(Feature::QuotedBraces))
    }

    /// The tokens of a file, read once.
    pub(super) fn tokens_of(&mut self, file: FileId) -> Rc<[Token]> {
        if let Some(tokens) = self.files.get(&file) {
            return tokens.clone();
        }
        let source = self.load.sources().get(file).clone();
        let lexed = lexer::lex(file, &env::expand(source.bytes(), self.env), self.dialect);
        for error in lexed.errors {
            self.fault(FaultKind::Syntax, error);
        }
        self.builder.tree.comments.extend(lexed.comments);
        let tokens: Rc<[Token]> = lexed.tokens.into();
        self.files.insert(file, tokens.clone());
        tokens
    }

    /// One block at top level: a site, the global options, a snippet, a named route.
    fn block(&mut self, first: Token) {
        if self.value(&first).starts_with(b"@") {
            let shown = self.shown(&first);
            self.syntax(first.word.span, format!("the matcher `{shown}` stands outside of a site block"));
            return self.segment(first);
        }
        let (keys, head) = self.addresses(first);
        let [key] = &keys[..] else { return self.site(&keys, head) };
        let name = self.value(key);
        if name.starts_with(b"(") && name.ends_with(b")") && !matches!(head, Head::End) {
            let name = name[1..name.len() - 1].to_vec();
            match head {
                Head::Brace(open) => return self.snippet(key, name, open),
                _ => self.missing_brace(key, "a snippet"),
            }
        } else if name.starts_with(b"&(")
            && name.ends_with(b")")
            && !matches!(head, Head::End)
            && self.dialect.has(Feature::NamedRoutes)
        {
            match head {
                Head::Brace(open) => return self.named_route(key, open),
                _ => self.missing_brace(key, "a named route"),
            }
        }
        self.site(&keys, head);
    }

    fn missing_brace(&mut self, key: &Token, what: &str) {
        let message = format!("{what} needs braces: `{}` is not followed by `{{`", self.shown(key));
        self.syntax(key.word.span, message);
    }

    /// Reads the addresses in front of a block.
    fn addresses(&mut self, first: Token) -> (Vec<Token>, Head) {
        let mut keys: Vec<Token> = Vec::new();
        let mut expecting: Option<Span> = None;
        let (mut token, mut fresh) = (first, true);
        loop {
            if token.shape == Shape::Import && fresh {
                self.import(&token, 0);
                match self.stream.next() {
                    Some(next) => (token, fresh) = next,
                    None => return (keys, Head::End),
                }
                continue;
            }
            if self.is(&token, Shape::Open) {
                if let Some(comma) = expecting {
                    self.syntax(comma, "an address is missing behind this comma: `{` follows it");
                }
                return (keys, Head::Brace(token));
            }
            let span = token.word.span;
            match self.address(token) {
                Address::Glued(key, open) => {
                    keys.extend(key);
                    return (keys, Head::Brace(open));
                }
                Address::Key(key, comma) => {
                    expecting = comma;
                    keys.extend(key);
                }
                Address::Empty => {}
            }
            match self.stream.next() {
                None => {
                    if expecting.is_some() {
                        self.syntax(span, "the file ends where an address is missing behind a comma");
                    }
                    return (keys, Head::End);
                }
                Some((next, true)) if expecting.is_none() && self.is(&next, Shape::Open) => {
                    return (keys, Head::Brace(next));
                }
                Some((next, true)) if expecting.is_none() => {
                    self.stream.unread(next);
                    return (keys, Head::Line);
                }
                Some(next) => (token, fresh) = next,
            }
        }
    }

    /// Judges one token among the addresses.
    fn address(&mut self, mut token: Token) -> Address {
        let span = token.word.span;
        let value = self.value(&token).to_vec();
        if value.starts_with(b"@") && self.dialect.has(Feature::MatcherAddress) {
            let shown = String::from_utf8_lossy(&value).into_owned();
            self.syntax(span, format!("the matcher `{shown}` stands outside of a site block"));
        }
        if value.len() > 1 && value.ends_with(b"{") && self.ends_in_brace(&token) {
            return self.glued(token, &value);
        }
        let Some(&last) = value.last() else { return Address::Empty };
        let comma = (last == b',').then(|| Span { start: span.end.saturating_sub(1).max(span.start), ..span });
        let key = value.strip_suffix(b",").unwrap_or(&value);
        if key.contains(&b',') {
            let shown = String::from_utf8_lossy(key).into_owned();
            self.syntax(
                span,
                format!("`{shown}` is one address with a comma in it: addresses want a space behind the comma"),
            );
        }
        if key.is_empty() {
            return Address::Key(None, comma);
        }
        if comma.is_some() {
            trim_end(&mut token, key);
        }
        Address::Key(Some(token), comma)
    }

    fn ends_in_brace(&self, token: &Token) -> bool {
        token.word.quote == Quote::Bare || !self.dialect.has(Feature::QuotedBraces)
    }

    /// `address{`: an error; read on as if the space were there.
    fn glued(&mut self, mut token: Token, value: &[u8]) -> Address {
        let span = token.word.span;
        let shown = String::from_utf8_lossy(value).into_owned();
        let brace = Span { start: span.end.saturating_sub(1).max(span.start), ..span };
        let written = token.word.origin == Origin::Written && token.word.quote == Quote::Bare;
        let error = self.syntax(span, format!("`{shown}` is read as one word: `{{` needs a space in front of it"));
        if written {
            error.repair = vec![(brace.before(), " ")];
        }
        let mut open = token.clone();
        open.word.span = brace;
        open.word.value = Some(b"{"[..].into());
        open.shape = Shape::Open;
        trim_end(&mut token, &value[..value.len() - 1]);
        Address::Glued(Some(token), open)
    }

    fn site(&mut self, keys: &[Token], head: Head) {
        if keys.is_empty() && matches!(head, Head::End) {
            return;
        }
        let site = self.builder.begin(keys);
        match head {
            Head::Brace(open) => {
                self.builder.open(site, open.word.span);
                let last = self.directives();
                match last {
                    Some(close) if self.is(&close, Shape::Close) => {}
                    // Caddy only looks whether the last token of the file is some `}`.
                    _ if self.builder.last_close => {}
                    _ => {
                        let place = self.builder.last_span.unwrap_or(open.word.span);
                        let error = self.syntax(place, "the file ends here, but a `}` is missing");
                        error.labels.push((open.word.span, "this `{` is never closed".to_owned()));
                    }
                }
            }
            Head::Line | Head::End => {
                let place = keys.last().map_or_else(|| Span::new(FileId(0), 0, 0), |key| key.word.span.after());
                self.builder.open(site, place);
                self.directives();
            }
        }
        self.builder.close_to(site);
    }

    /// Reads lines up to the `}` that ends the site, which is returned, or to the end of the file.
    fn directives(&mut self) -> Option<Token> {
        while let Some((token, _)) = self.stream.next() {
            if self.is(&token, Shape::Close) {
                self.builder.close(token.word.span);
                return Some(token);
            }
            if token.shape == Shape::Import {
                self.import(&token, 1);
            } else {
                self.segment(token);
            }
        }
        None
    }

    /// Reads one directive: to the end of its line, or of the block that opens there.
    fn segment(&mut self, first: Token) {
        let base = self.builder.depth();
        let mut depth = 0usize;
        let mut opened: Vec<Span> = Vec::new();
        self.builder.line(first, true);
        while let Some((token, fresh)) = self.stream.next() {
            let goes_on = self.stream.line_goes_on();
            if self.is(&token, Shape::Open) {
                depth += 1;
                opened.push(token.word.span);
                self.check_open(&token, fresh, goes_on);
                self.builder.open_line(token.word.span);
            } else if token.shape == Shape::Braces {
                if !goes_on && token.word.quote == Quote::Bare {
                    self.syntax(
                        token.word.span,
                        "`{}` at the end of a line is no empty block: put the braces on two lines, or leave them out",
                    );
                }
                self.builder.line(token, fresh);
            } else if fresh && depth == 0 {
                self.stream.unread(token);
                break;
            } else if self.is(&token, Shape::Close) {
                if depth == 0 {
                    self.stray_close(&token);
                    self.stream.unread(token);
                    break;
                }
                depth -= 1;
                opened.pop();
                self.builder.close_line(token.word.span, goes_on);
            } else if token.shape == Shape::Import && fresh {
                self.import(&token, 1);
            } else {
                self.builder.line(token, fresh);
            }
        }
        if depth > 0 {
            let place = self.builder.last_span.or_else(|| opened.last().copied());
            let open = opened.last().copied();
            if let (Some(place), Some(open)) = (place, open) {
                let error = self.syntax(place, "the file ends here, but a `}` is missing");
                error.labels.push((open, "this `{` is never closed".to_owned()));
            }
            self.builder.last_close = true; // One error is enough.
        }
        self.builder.close_depth(base);
    }

    fn check_open(&mut self, token: &Token, fresh: bool, goes_on: bool) {
        let span = token.word.span;
        if goes_on && token.word.quote == Quote::Bare {
            self.syntax(span, "a line break must follow this `{`");
        } else if fresh && self.dialect.has(Feature::OwnLineBrace) {
            let repair = self.brace_to_line_above(token);
            let error = self.syntax(span, "`{` stands on a line of its own: it belongs at the end of the line above");
            error.repair = repair;
        }
    }

    /// Moves a `{` that stands alone on its line behind the token before it.
    fn brace_to_line_above(&self, token: &Token) -> Vec<(Span, &'static str)> {
        let brace = token.word.span;
        let above = self.builder.last_span.filter(|above| above.file == brace.file && above.end <= brace.start);
        let (Some(above), Origin::Written, Quote::Bare) = (above, token.word.origin, token.word.quote) else {
            return Vec::new();
        };
        let file = self.load.sources().get(brace.file);
        let line = file.line_of(brace.start);
        let range = file.line_range(line);
        if file.bytes()[range.clone()].trim_ascii() != b"{" || file.line_of(above.end) == line {
            return Vec::new();
        }
        // The line goes with its line end: that of the line itself.
        let end = if line < file.line_count() { file.line_range(line + 1).start } else { range.end };
        vec![(above.after(), " {"), (Span::new(brace.file, range.start as u32, end as u32), "")]
    }

    fn stray_close(&mut self, token: &Token) {
        let written = token.word.origin == Origin::Written && token.word.quote == Quote::Bare;
        let error =
            self.syntax(token.word.span, "`}` on the line of a directive closes nothing: it needs a line of its own");
        if written {
            error.repair = vec![(token.word.span.before(), "\n")];
        }
    }

    /// Stores the tokens of a snippet for its imports.
    fn snippet(&mut self, key: &Token, name: Vec<u8>, open: Token) {
        let mut tokens = Vec::new();
        let close = self.raw_block(&open, |token| tokens.push(token));
        self.snippet_names.push(name.clone());
        let id = self.snippet_names.len() as u32;
        for token in &mut tokens {
            token.snippet = id;
        }
        self.builder.raw(std::slice::from_ref(key), open.word.span, close);
        if let Some(other) = self.snippets.get(&name) {
            let (shown, there) = (self.shown(key), other.place);
            let error = self.syntax(key.word.span, format!("the snippet `{shown}` is defined twice"));
            error.labels.push((there, "here before".to_owned()));
            return;
        }
        self.snippets.insert(name, Snippet { tokens, place: key.word.span });
    }

    /// Reads a named route. Before 2.11.7 its tokens are taken as they are, imports and all.
    fn named_route(&mut self, key: &Token, open: Token) {
        let node = self.builder.begin(std::slice::from_ref(key));
        self.builder.open(node, open.word.span);
        if self.stream.peek().is_some() {
            let mut raw = Vec::new();
            let close = self.raw_block(&open, |token| raw.push(token));
            let imports = raw.iter().any(|token| token.shape == Shape::Import);
            raw.push(Token {
                word: crate::syntax::tree::WordData { span: close, ..open.word.clone() },
                shape: Shape::Close,
                ..open
            });
            if imports && self.dialect.has(Feature::NamedRouteImports) {
                self.stream.push(raw);
                self.stream.rewind(None);
                self.directives();
            } else {
                self.raw_lines(raw);
            }
        }
        self.builder.close_to(node);
    }

    /// Puts the tokens of a block into lines without looking for imports.
    fn raw_lines(&mut self, tokens: Vec<Token>) {
        let mut tokens = tokens.into_iter().peekable();
        let mut last: Option<super::stream::Mark> = None;
        while let Some(token) = tokens.next() {
            let fresh = last.is_none_or(|mark| mark.is_above(&token));
            let mark = super::stream::Mark::of(&token);
            last = Some(mark);
            if tokens.peek().is_none() {
                self.builder.close(token.word.span);
            } else if self.is(&token, Shape::Open) {
                self.builder.open_line(token.word.span);
            } else if self.is(&token, Shape::Close) {
                let goes_on = tokens.peek().is_some_and(|next| !mark.is_above(next));
                self.builder.close_line(token.word.span, goes_on);
            } else {
                self.builder.line(token, fresh);
            }
        }
    }

    /// Reads tokens up to the `}` that matches `open`; its span, or an empty one at the end.
    fn raw_block(&mut self, open: &Token, mut take: impl FnMut(Token)) -> Span {
        let mut depth = 1usize;
        let mut last = open.word.span;
        while let Some((token, _)) = self.stream.next() {
            if self.is(&token, Shape::Close) {
                depth -= 1;
                if depth == 0 {
                    self.builder.seen(&token);
                    return token.word.span;
                }
            } else if self.is(&token, Shape::Open) {
                depth += 1;
            }
            last = token.word.span;
            take(token);
        }
        let error = self.syntax(last, "the file ends here, but a `}` is missing");
        error.labels.push((open.word.span, "this `{` is never closed".to_owned()));
        last.after()
    }
}

/// What a token among the addresses turned out to be.
enum Address {
    /// An address (none for a lone comma), and the comma behind it.
    Key(Option<Token>, Option<Span>),
    /// An address with a `{` stuck to it, and that brace.
    Glued(Option<Token>, Token),
    /// `""`
    Empty,
}

/// Cuts the last byte off a token.
fn trim_end(token: &mut Token, value: &[u8]) {
    let written = token.word.quote == Quote::Bare && token.word.origin == Origin::Written;
    if written {
        token.word.span.end -= 1;
    }
    if !written || token.word.value.is_some() {
        token.word.value = Some(value.into());
    }
}

/// Puts words and blocks into a [`Tree`].
#[derive(Debug, Default)]
pub(super) struct Builder {
    pub(super) tree: Tree,
    /// Open blocks, the innermost last.
    stack: Vec<u32>,
    /// Whether the last token was a `}`.
    last_close: bool,
    last_span: Option<Span>,
    /// Whether the next word begins a line whatever its place says.
    start: bool,
    /// The directive that the words of the line go to.
    current: Option<u32>,
}

impl Builder {
    fn depth(&self) -> usize {
        self.stack.len()
    }

    fn seen(&mut self, token: &Token) {
        self.last_close = token.shape == Shape::Close;
        self.last_span = Some(token.word.span);
    }

    /// Adds a directive with these words.
    pub(super) fn begin(&mut self, words: &[Token]) -> u32 {
        let index = self.tree.nodes.len() as u32;
        self.tree.nodes.push(NodeData {
            first_word: self.tree.words.len() as u32,
            word_count: words.len() as u32,
            body: Body::None { end: Span::new(FileId(0), 0, 0) },
            parent: self.stack.last().copied().unwrap_or(u32::MAX),
            end: index + 1,
        });
        self.tree.words.extend(words.iter().map(|token| token.word.clone()));
        if let Some(last) = words.last() {
            self.seen(last);
            self.tree.nodes[index as usize].body = Body::None { end: last.word.span.after() };
        }
        self.current = Some(index);
        self.start = false;
        index
    }

    /// Adds a word to the line, or begins a directive with it.
    fn line(&mut self, token: Token, fresh: bool) {
        match self.current {
            Some(node) if !fresh && !self.start => {
                self.seen(&token);
                let data = &mut self.tree.nodes[node as usize];
                data.word_count += 1;
                data.body = Body::None { end: token.word.span.after() };
                self.tree.words.push(token.word);
            }
            _ => {
                self.begin(std::slice::from_ref(&token));
            }
        }
    }

    /// Opens the block of the line's directive.
    fn open_line(&mut self, brace: Span) {
        let node = match self.current {
            Some(node) => node,
            None => self.begin(&[]),
        };
        self.open(node, brace);
    }

    fn open(&mut self, node: u32, brace: Span) {
        self.tree.nodes[node as usize].body = Body::Block { open: brace, close: brace.after() };
        self.stack.push(node);
        self.start = true;
        self.current = None;
        self.last_close = false;
        self.last_span = Some(brace);
    }

    /// Closes a block inside a directive. Caddy overlooks a `}` that something follows on its line:
    /// what follows still belongs to the block.
    fn close_line(&mut self, brace: Span, goes_on: bool) {
        if goes_on {
            if let Some(&node) = self.stack.last() {
                self.set_close(node, brace);
            }
            self.start = true;
            self.current = None;
            self.last_close = true;
            self.last_span = Some(brace);
        } else {
            self.close(brace);
        }
    }

    fn close(&mut self, brace: Span) {
        if let Some(node) = self.stack.pop() {
            self.set_close(node, brace);
            self.tree.nodes[node as usize].end = self.tree.nodes.len() as u32;
        }
        self.current = None;
        self.last_close = true;
        self.last_span = Some(brace);
    }

    fn set_close(&mut self, node: u32, brace: Span) {
        if let Body::Block { close, .. } = &mut self.tree.nodes[node as usize].body {
            *close = brace;
        }
    }

    /// Ends the blocks that are open above `depth`; their closing braces are missing.
    fn close_depth(&mut self, depth: usize) {
        while self.stack.len() > depth {
            let Some(node) = self.stack.pop() else { break };
            let (place, end) = (self.last_span.map(Span::after), self.tree.nodes.len() as u32);
            let data = &mut self.tree.nodes[node as usize];
            if let (Body::Block { open, close }, Some(place)) = (&mut data.body, place)
                && *close == open.after()
            {
                *close = place;
            }
            data.end = end;
        }
        self.current = None;
    }

    /// Ends a top-level block, if it is still open.
    fn close_to(&mut self, node: u32) {
        if let Some(depth) = self.stack.iter().position(|&open| open == node) {
            self.close_depth(depth);
        }
    }

    /// Adds an import line; what it brings begins a line.
    pub(super) fn import(&mut self, words: &[Token]) {
        self.begin(words);
        self.current = None;
        self.start = true;
    }

    /// Adds a directive whose block is not read.
    pub(super) fn raw(&mut self, words: &[Token], open: Span, close: Span) {
        let node = self.begin(words);
        let text = if open.file == close.file && open.end <= close.start {
            Span::new(open.file, open.end, close.start)
        } else {
            open.after()
        };
        self.tree.nodes[node as usize].body = Body::Raw { open, text, close };
        self.current = None;
        self.last_close = true;
        self.last_span = Some(close);
    }

    fn finish(mut self) -> Tree {
        self.close_depth(0);
        self.tree
    }
}
