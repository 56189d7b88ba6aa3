//! `import`: snippets and files, spliced token by token, with arguments and blocks put in.

use foldhash::{HashMap, HashSet};

use crate::source::{FileId, Span};
use crate::syntax::SyntaxError;
use crate::syntax::tree::{ChainId, ChainLink, Origin};

use super::dialect::{Dialect, Feature};
use super::lexer::{Shape, Token, line_breaks};
use super::parser::{FaultKind, Parser};

/// Imports may bring so many tokens; snippets that import each other twice double with each level.
const MAX_SPLICED: usize = 2_000_000;

/// A snippet that was defined.
#[derive(Debug)]
pub(super) struct Snippet {
    pub(super) tokens: Vec<Token>,
    /// Its name, where it is defined.
    pub(super) place: Span,
}

/// A file, or a snippet as a place that imports.
pub(super) type Unit = (FileId, u32);

/// Which unit imports which; a cycle is an error even if it would end.
#[derive(Debug, Default)]
pub(super) struct Graph {
    edges: HashMap<Unit, Vec<Unit>>,
}

impl Graph {
    /// Adds an edge; `false` if it would close a cycle.
    fn add(&mut self, from: Unit, to: Unit) -> bool {
        if self.edges.get(&from).is_some_and(|targets| targets.contains(&to)) {
            return true;
        }
        if from == to || self.reaches(to, from) {
            return false;
        }
        self.edges.entry(from).or_default().push(to);
        true
    }

    fn reaches(&self, from: Unit, to: Unit) -> bool {
        let (mut seen, mut open) = (HashSet::default(), vec![from]);
        while let Some(unit) = open.pop() {
            for &next in self.edges.get(&unit).map_or(&[][..], Vec::as_slice) {
                if next == to {
                    return true;
                }
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        false
    }
}

/// One `import` line.
struct Line {
    pattern: Token,
    args: Vec<Token>,
    /// The tokens between the braces of its block.
    block: Vec<Token>,
    braces: Option<(Span, Span)>,
}

impl Parser<'_> {
    /// Reads an import line and puts what it brings in front of the stream. `nesting` is 0 at top level.
    pub(super) fn import(&mut self, head: &Token, nesting: i32) {
        let before = self.stream.mark_before();
        let Some(line) = self.import_line(head) else { return };
        let words: Vec<Token> = [head, &line.pattern].into_iter().chain(&line.args).cloned().collect();
        let last = words[words.len() - 1].word.span;
        let place = if last.file == head.word.span.file { head.word.span.to(last) } else { head.word.span };
        match line.braces {
            Some((open, close)) => self.builder.raw(&words, open, close),
            None => self.builder.import(&words),
        }
        self.stream.rewind(before);
        if line.pattern.word.origin == Origin::Unknown {
            return;
        }
        if let Some(tokens) = self.imported(head, &line, place) {
            let parent = head.word.chain;
            self.builder.tree.chains.push(ChainLink { parent, place });
            let chain = ChainId(self.builder.tree.chains.len() as u32);
            if let Some(expanded) = self.expand(tokens, &line, chain, nesting, place) {
                self.stream.push(expanded);
            }
        }
    }

    fn import_fault(&mut self, span: Span, message: String) {
        self.fault(FaultKind::Import, SyntaxError::new(span, message));
    }

    fn next_argument(&mut self) -> Option<Token> {
        if !self.stream.line_goes_on() {
            return None;
        }
        let (token, _) = self.stream.next()?;
        if self.is(&token, Shape::Open) {
            self.stream.unread(token);
            return None;
        }
        Some(token)
    }

    fn import_line(&mut self, head: &Token) -> Option<Line> {
        let Some(pattern) = self.next_argument() else {
            self.fault(FaultKind::Syntax, SyntaxError::new(head.word.span, "`import` names no file and no snippet"));
            return None;
        };
        let mut args = Vec::new();
        while let Some(argument) = self.next_argument() {
            args.push(argument);
        }
        let mut line = Line { pattern, args, block: Vec::new(), braces: None };
        let opens = self.stream.line_goes_on() && self.stream.peek().is_some_and(|next| next.shape == Shape::Open);
        if opens && self.dialect.has(Feature::ImportBlocks) {
            self.import_block(&mut line);
        }
        Some(line)
    }

    /// Reads the block behind an import, as the parsers of directives read theirs.
    fn import_block(&mut self, line: &mut Line) {
        let Some((open, _)) = self.stream.next() else { return };
        let mut depth = 1usize;
        let mut close = open.word.span.after();
        while let Some((token, _)) = self.stream.next() {
            let goes_on = self.stream.line_goes_on();
            close = token.word.span;
            // Caddy overlooks a brace that something follows on its line.
            if self.is(&token, Shape::Close) {
                if goes_on && !line.block.is_empty() {
                    continue;
                }
                depth -= 1;
                if depth == 0 {
                    break;
                }
            } else if self.is(&token, Shape::Open) {
                if goes_on {
                    continue;
                }
                depth += 1;
            }
            line.block.push(token);
        }
        line.braces = Some((open.word.span, close));
    }

    /// The tokens that an import names, as they stand there.
    fn imported(&mut self, head: &Token, line: &Line, place: Span) -> Option<Vec<Token>> {
        let name = self.value(&line.pattern).to_vec();
        if name.is_empty() {
            self.fault(
                FaultKind::Syntax,
                SyntaxError::new(line.pattern.word.span, "`import` names no file and no snippet"),
            );
            return None;
        }
        let from = self.unit_of(line.args.last().unwrap_or(&line.pattern), head);
        if let Some(snippet) = self.snippets.get(&name) {
            let tokens = snippet.tokens.clone();
            if let Some(first) = tokens.first() {
                let unit = (first.word.span.file, first.snippet);
                self.add_edge(from, unit, place, &line.pattern)?;
            }
            return Some(tokens);
        }
        let files = match self.load.import(&name, line.pattern.word.span.file, self.dialect) {
            Ok(files) => files,
            Err(message) => {
                self.import_fault(line.pattern.word.span, message);
                return None;
            }
        };
        let mut tokens = Vec::new();
        for file in files {
            self.add_edge(from, (file, 0), place, &line.pattern)?;
            tokens.extend_from_slice(&self.tokens_of(file));
        }
        Some(tokens)
    }

    fn unit_of(&self, last: &Token, head: &Token) -> Unit {
        (last.word.span.file, last.snippet.max(head.snippet))
    }

    fn add_edge(&mut self, from: Unit, to: Unit, place: Span, pattern: &Token) -> Option<()> {
        if self.graph.add(from, to) {
            return Some(());
        }
        let message = format!("`{}` imports itself, directly or through others", self.shown(pattern));
        self.import_fault(place, message);
        None
    }

    /// Puts arguments and blocks into imported tokens.
    fn expand(
        &mut self,
        tokens: Vec<Token>,
        line: &Line,
        chain: ChainId,
        nesting: i32,
        place: Span,
    ) -> Option<Vec<Token>> {
        let blocks = self.block_map(line);
        let mut definitions = Definitions { nesting, ..Definitions::default() };
        let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
        for mut token in tokens {
            token.word.chain = chain;
            let in_definition = definitions.next(&token, out.last(), self.load.sources());
            if let Some(insert) = self.placed_block(&token, line, &blocks) {
                let later = in_definition && self.dialect.has(Feature::EmptyBlock);
                match insert {
                    Some(tokens) if !later => out.extend(tokens),
                    _ => out.push(token),
                }
            } else if in_definition {
                out.push(token);
            } else {
                self.put_arguments(token, &line.args, &mut out);
            }
            if self.spliced + out.len() > MAX_SPLICED {
                self.import_fault(
                    place,
                    format!("imports bring more than {MAX_SPLICED} words here: the rest is not read"),
                );
                self.spliced = MAX_SPLICED;
                return None;
            }
        }
        self.spliced += out.len();
        Some(out)
    }

    /// The named parts of an import's block, for `{blocks.name}`.
    fn block_map(&mut self, line: &Line) -> HashMap<Vec<u8>, Vec<Token>> {
        let mut blocks = HashMap::default();
        let mut rest = line.block.iter().peekable();
        while let Some(key) = rest.next() {
            if self.is(key, Shape::Open) {
                let span = key.word.span;
                self.fault(
                    FaultKind::Syntax,
                    SyntaxError::new(span, "a block given to `import` needs a name in front of its `{`"),
                );
                break;
            }
            let mut part = Vec::new();
            let mut last = key;
            while let Some(next) =
                rest.next_if(|next| !super::stream::Mark::of(last).is_above(next) && next.shape != Shape::Open)
            {
                part.push(next.clone());
                last = next;
            }
            let opens = rest
                .peek()
                .is_some_and(|next| next.shape == Shape::Open && !super::stream::Mark::of(last).is_above(next));
            if part.is_empty() && opens {
                rest.next();
                let mut depth = 1usize;
                for token in rest.by_ref() {
                    match token.shape {
                        Shape::Open => depth += 1,
                        Shape::Close => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                    part.push(token.clone());
                }
            }
            blocks.insert(self.value(key).to_vec(), part);
        }
        blocks
    }

    /// For `{block}` and `{blocks.name}`: what to put there, `None` inside for "leave it".
    fn placed_block(
        &self,
        token: &Token,
        line: &Line,
        blocks: &HashMap<Vec<u8>, Vec<Token>>,
    ) -> Option<Option<Vec<Token>>> {
        let value = self.value(token);
        let name = if value == b"{block}" { None } else { Some(value.strip_prefix(b"{blocks.")?.strip_suffix(b"}")?) };
        if !self.dialect.has(Feature::ImportBlocks) {
            return None;
        }
        let tokens = match name {
            None => line.block.clone(),
            Some(name) => blocks.get(name).cloned().unwrap_or_default(),
        };
        Some((!tokens.is_empty() || self.dialect.has(Feature::EmptyBlock)).then_some(tokens))
    }

    /// Replaces `{args…}` in a token: one token becomes one, or any number if it is a range.
    fn put_arguments(&mut self, token: Token, args: &[Token], out: &mut Vec<Token>) {
        let text = self.value(&token);
        if !text.contains(&b'{') {
            out.push(token);
            return;
        }
        if let Some(range) = argument_range(text, args.len(), self.dialect) {
            for argument in &args[range] {
                let value = self.value(argument).to_vec();
                out.push(replaced(&token, value, argument.word.origin));
            }
            return;
        }
        match self.replace_known(text, args) {
            Ok(None) => out.push(token),
            Ok(Some((value, origin))) => out.push(replaced(&token, value, origin)),
            Err(index) => {
                let message = format!("`{{args[{index}]}}` has a negative index: Caddy crashes on it");
                self.fault(FaultKind::Syntax, SyntaxError::new(token.word.span, message));
                out.push(token);
            }
        }
    }

    /// The text with its argument placeholders replaced; `None` where nothing changes.
    ///
    /// # Errors
    /// The index, if it is negative: Caddy panics.
    fn replace_known(&self, text: &[u8], args: &[Token]) -> Result<Option<(Vec<u8>, Origin)>, i64> {
        let mut out = Vec::new();
        let mut origin = Origin::Written;
        let (mut written, mut at) = (0, 0);
        let mut changed = false;
        while at < text.len() {
            let escaped = at > 0 && text[at - 1] == b'\\' && matches!(text[at], b'{' | b'}');
            if escaped {
                // Caddy's replacer drops the backslash in front of a brace.
                out.extend_from_slice(&text[written..at - 1]);
                written = at;
                changed = true;
            } else if text[at] == b'{'
                && let Some(end) = placeholder_end(text, at)
                && let Some(index) = argument_index(&text[at + 1..end], self.dialect)
            {
                let Ok(index) = usize::try_from(index) else { return Err(index) };
                if let Some(argument) = args.get(index) {
                    out.extend_from_slice(&text[written..at]);
                    out.extend_from_slice(self.value(argument));
                    origin = origin.or(argument.word.origin).or(Origin::Argument);
                    (at, written) = (end, end + 1);
                    changed = true;
                }
            }
            at += 1;
        }
        if !changed {
            return Ok(None);
        }
        out.extend_from_slice(&text[written..]);
        Ok(Some((out, origin)))
    }
}

/// Where the placeholder that opens at `start` closes: the first `}` without a backslash before it.
fn placeholder_end(text: &[u8], start: usize) -> Option<usize> {
    let mut end = start + memchr::memchr(b'}', &text[start..])?;
    while end < text.len() - 1 && text[end - 1] == b'\\' {
        end += 1 + memchr::memchr(b'}', &text[end + 1..])?;
    }
    Some(end)
}

/// The index that a placeholder's key names: `args.1`, `args[1]`.
fn argument_index(key: &[u8], dialect: &Dialect) -> Option<i64> {
    let key = std::str::from_utf8(key).ok()?;
    if let Some((_, rest)) = key.split_once("args.")
        && !rest.is_empty()
    {
        return integer(rest);
    }
    let (_, rest) = key.split_once("args[")?;
    let (inner, _) = rest.rsplit_once(']')?;
    if inner.is_empty() || inner.contains(':') || !dialect.has(Feature::IndexedArgs) {
        return None;
    }
    integer(inner)
}

fn integer(text: &str) -> Option<i64> {
    text.strip_prefix('+').unwrap_or(text).parse().ok()
}

/// The arguments that a whole token `{args[1:]}` stands for.
fn argument_range(text: &[u8], count: usize, dialect: &Dialect) -> Option<std::ops::Range<usize>> {
    let inner = text.strip_prefix(b"{args[")?.strip_suffix(b"]}")?;
    let (start, end) = std::str::from_utf8(inner).ok()?.split_once(':')?;
    if !dialect.has(Feature::IndexedArgs) {
        return None;
    }
    let bound = |text: &str, default: usize| {
        if text.is_empty() { Some(default) } else { usize::try_from(integer(text)?).ok() }
    };
    let (start, end) = (bound(start, 0)?, bound(end, count)?);
    (start <= end && end <= count).then_some(start..end)
}

/// The token with another text.
fn replaced(token: &Token, value: Vec<u8>, origin: Origin) -> Token {
    let mut token = token.clone();
    token.shape = Shape::of(&value);
    token.end_line = token.line + line_breaks(&value, token.word.quote);
    token.word.origin = token.word.origin.or(origin).or(Origin::Argument);
    token.word.value = Some(value.into());
    token
}

/// Notices snippet definitions inside of imported tokens: in them nothing is replaced yet.
#[derive(Debug, Default)]
struct Definitions {
    nesting: i32,
    /// Place of the token on its line, from 0.
    index: usize,
    name: bool,
    inside: bool,
}

impl Definitions {
    /// Whether the token stands in a definition.
    fn next(&mut self, token: &Token, last: Option<&Token>, sources: &crate::source::Sources) -> bool {
        if !self.inside && self.nesting == 0 {
            let fresh = last.is_none_or(|last| super::stream::Mark::of(last).is_above(token));
            self.index = if fresh { 0 } else { self.index + 1 };
            let text = token.word.value(sources);
            if self.index == 0 && text.len() >= 3 && text.starts_with(b"(") && text.ends_with(b")") {
                self.name = true;
            }
        }
        match token.shape {
            Shape::Open => {
                self.nesting += 1;
                if self.index == 1 && self.name && self.nesting == 1 {
                    self.inside = true;
                    self.name = false;
                }
            }
            Shape::Close => {
                self.nesting -= 1;
                if self.nesting == 0 {
                    self.inside = false;
                }
            }
            _ => {}
        }
        self.inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Version;

    #[test]
    fn a_graph_takes_no_cycle() {
        let unit = |n: u32| (FileId(n), 0);
        let mut graph = Graph::default();
        assert!(graph.add(unit(0), unit(1)) && graph.add(unit(1), unit(2)) && graph.add(unit(0), unit(2)));
        assert!(!graph.add(unit(2), unit(0)));
        assert!(!graph.add(unit(1), unit(1)));
        assert!(graph.add(unit(0), unit(1)));
    }

    #[test]
    fn ranges_stay_in_bounds() {
        let dialect = Dialect::new(Version::new(2, 11, 7));
        let range = |text: &str| argument_range(text.as_bytes(), 3, &dialect);
        assert_eq!(range("{args[:]}"), Some(0..3));
        assert_eq!(range("{args[1:]}"), Some(1..3));
        assert_eq!(range("{args[3:]}"), Some(3..3));
        for bad in ["{args[4:]}", "{args[2:1]}", "{args[-1:]}", "{args[1]}", "x{args[:]}", "{args[a:]}", "{args[]}"] {
            assert_eq!(range(bad), None, "{bad}");
        }
    }
}
