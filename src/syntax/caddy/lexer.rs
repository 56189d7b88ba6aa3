//! Bytes to tokens, character by character as Caddy does it.

use crate::source::{FileId, Span};
use crate::syntax::SyntaxError;
use crate::syntax::tree::{ChainId, Origin, Quote, WordData};

use super::dialect::{Dialect, Feature};
use super::env::Expanded;

/// One token of a Caddyfile.
#[derive(Debug, Clone)]
pub struct Token {
    /// Its text, place and origin.
    pub word: WordData,
    /// The line Caddy counts it on; a line joined to the one before by `\` does not count.
    pub line: u32,
    /// The line it ends on.
    pub end_line: u32,
    /// What it is to the parser, quotes left aside.
    pub shape: Shape,
    /// The snippet whose body it stands in; 0 outside of snippets.
    pub snippet: u32,
}

/// The tokens that structure a Caddyfile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `{`
    Open,
    /// `}`
    Close,
    /// `{}`
    Braces,
    /// `import`
    Import,
    /// Anything else.
    Other,
}

impl Shape {
    /// The shape of a token with that text.
    pub fn of(text: &[u8]) -> Self {
        match text {
            b"{" => Self::Open,
            b"}" => Self::Close,
            b"{}" => Self::Braces,
            b"import" => Self::Import,
            _ => Self::Other,
        }
    }
}

/// The tokens of one file.
#[derive(Debug, Default)]
pub struct Lexed {
    /// In the order of the text.
    pub tokens: Vec<Token>,
    /// With their `#`, without the line end.
    pub comments: Vec<Span>,
    /// Heredocs that Caddy refuses. It stops there; here reading goes on.
    pub errors: Vec<SyntaxError>,
}

/// Reads all tokens of a file.
pub fn lex(file: FileId, source: &Expanded<'_>, dialect: &Dialect) -> Lexed {
    let mut lexer =
        Lexer { file, source, text: &source.text, at: 0, line: 1, skipped: 0, dialect, out: Lexed::default() };
    if lexer.text.starts_with(b"\xEF\xBB\xBF") {
        lexer.at = 3;
    }
    while lexer.token() {}
    lexer.out
}

struct Lexer<'a> {
    file: FileId,
    source: &'a Expanded<'a>,
    text: &'a [u8],
    at: usize,
    line: u32,
    /// Lines that were joined by `\` or swallowed by a heredoc and are not counted yet.
    skipped: u32,
    dialect: &'a Dialect,
    out: Lexed,
}

/// A character with its length in bytes. An undecodable byte is `U+FFFD`, as for Go.
fn decode(text: &[u8]) -> (char, usize) {
    let first = text[0];
    if first < 0x80 {
        return (first as char, 1);
    }
    let length = match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return ('\u{FFFD}', 1),
    };
    match text.get(..length).map(std::str::from_utf8) {
        Some(Ok(s)) => (s.chars().next().unwrap_or('\u{FFFD}'), length),
        _ => ('\u{FFFD}', 1),
    }
}

/// What a token is made of while it is read.
#[derive(Default)]
struct Partial {
    value: Vec<u8>,
    /// Where its first byte (or quote) lies.
    start: usize,
    line: u32,
}

impl Lexer<'_> {
    /// Reads one token; `false` at the end.
    fn token(&mut self) -> bool {
        let mut escaped = false;
        loop {
            let Some(&byte) = self.text.get(self.at) else { return false };
            match byte {
                b'\\' if !escaped => {
                    escaped = true;
                    self.at += 1;
                }
                b'\n' => {
                    self.at += 1;
                    self.line_end(&mut escaped);
                }
                b'#' => self.comment(&mut escaped),
                _ => {
                    let (ch, length) = decode(&self.text[self.at..]);
                    if !ch.is_whitespace() {
                        return self.word(byte, escaped);
                    }
                    self.at += length;
                }
            }
        }
    }

    fn line_end(&mut self, escaped: &mut bool) {
        if std::mem::take(escaped) {
            self.skipped += 1;
        } else {
            self.line += 1 + std::mem::take(&mut self.skipped);
        }
    }

    /// Reads a comment and its line end. A `\` in front of the line end counts in a comment too.
    fn comment(&mut self, escaped: &mut bool) {
        let start = self.at;
        let end = memchr::memchr(b'\n', &self.text[start..]).map_or(self.text.len(), |n| start + n);
        for &byte in &self.text[start..end] {
            // A backslash escapes what follows; white space and ordinary characters leave it pending.
            if byte == b'\\' {
                *escaped = true;
            }
        }
        let written = &self.text[start..end];
        let shown = end - usize::from(written.ends_with(b"\r"));
        let (from, to, _) = self.source.origin(start, shown);
        self.out.comments.push(Span::new(self.file, from, to.max(from)));
        self.at = end;
        if end < self.text.len() {
            self.at += 1;
            self.line_end(escaped);
        }
    }

    fn word(&mut self, first: u8, escaped: bool) -> bool {
        // A pending backslash belongs to the token if it touches it.
        let start = self.at - usize::from(escaped && self.text[self.at - 1] == b'\\');
        let line = self.line;
        match first {
            b'"' | b'`' => {
                self.at += 1;
                self.quoted(Partial { value: Vec::new(), start, line }, first, escaped);
            }
            _ if !escaped && self.plain(start, line) => {}
            _ => self.bare(Partial { value: Vec::new(), start, line }, escaped),
        }
        true
    }

    /// The common case: bytes up to ASCII white space, none of which means anything.
    fn plain(&mut self, start: usize, line: u32) -> bool {
        let rest = &self.text[start..];
        if rest.starts_with(b"<<") {
            return false;
        }
        let special = |&b: &u8| b >= 0x80 || b == b'\\' || b == b'\r';
        let length = rest.iter().position(|b| matches!(b, b' ' | b'\t' | b'\n' | 0x0B | 0x0C) || special(b));
        let length = length.unwrap_or(rest.len());
        if rest.get(length).is_some_and(special) {
            return false;
        }
        self.at = start + length;
        self.push(start, self.at, line, Quote::Bare, None);
        true
    }

    /// A token without quotes, in every detail.
    fn bare(&mut self, mut word: Partial, mut escaped: bool) {
        let mut literal = false;
        let mut end = self.at;
        while self.at < self.text.len() {
            let (ch, length) = decode(&self.text[self.at..]);
            let heredoc = !literal && word.value.starts_with(b"<<") && self.dialect.has(Feature::Heredoc);
            match ch {
                '\r' => {
                    self.at += 1;
                    continue;
                }
                '\n' if heredoc => {
                    self.at += 1;
                    return self.heredoc(word);
                }
                ' ' if heredoc => break,
                _ if heredoc => {}
                '\\' if !escaped => {
                    escaped = true;
                    self.at += 1;
                    continue;
                }
                '\n' if escaped => {
                    self.at += 1;
                    self.line_end(&mut escaped);
                    break;
                }
                _ if ch.is_whitespace() => break,
                _ if std::mem::take(&mut escaped) => match ch {
                    '<' => literal = true,
                    _ => word.value.push(b'\\'),
                },
                _ => {}
            }
            push_char(&mut word.value, ch);
            self.at += length;
            end = self.at;
        }
        self.finish(word, end, Quote::Bare);
    }

    /// The inside of a quoted token. A missing closing quote is no error: the token takes the rest.
    fn quoted(&mut self, mut word: Partial, quote: u8, mut escaped: bool) {
        let kind = if quote == b'"' { Quote::Double } else { Quote::Backtick };
        // A backslash that stands before the opening quote is still pending inside.
        let mut closed = false;
        while let Some(&byte) = self.text.get(self.at) {
            let (ch, length) = decode(&self.text[self.at..]);
            self.at += length;
            if byte == b'\\' && !escaped && quote == b'"' {
                escaped = true;
                continue;
            }
            if quote == b'"' && escaped {
                if byte != b'"' {
                    word.value.push(b'\\');
                }
                escaped = false;
            } else if byte == quote {
                closed = true;
                break;
            }
            if byte == b'\n' {
                self.line += 1 + std::mem::take(&mut self.skipped);
            }
            push_char(&mut word.value, ch);
        }
        if !closed && word.value.is_empty() {
            return;
        }
        let end = self.at;
        if closed && !word.value.contains(&b'\\') && word.value.len() == end - word.start - 2 {
            word.value.clear();
            self.push(word.start, end, word.line, kind, None);
        } else {
            // Without its closing quote Caddy takes the token as not quoted.
            self.finish(word, end, if closed { kind } else { Quote::Bare });
        }
    }

    /// The body of a heredoc, from behind the line of its marker.
    fn heredoc(&mut self, word: Partial) {
        let marker = word.value[2..].to_vec();
        let body = self.at;
        if body == self.text.len() {
            return; // Caddy says nothing and drops it.
        }
        let head = self.span(word.start, body - 1);
        let fault = if marker.is_empty() {
            Some("`<<` at the end of a line starts a heredoc without a marker".to_owned())
        } else if marker.starts_with(b"<") {
            Some("a heredoc starts with two `<`, here are more".to_owned())
        } else if !marker.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')) {
            let shown = String::from_utf8_lossy(&marker).into_owned();
            Some(format!("the heredoc marker `{shown}` may hold only letters, digits, `-` and `_`"))
        } else {
            None
        };
        if let Some(message) = fault {
            self.out.errors.push(SyntaxError::new(head, message));
            self.at = body - 1;
            return self.finish(word, body - 1, Quote::Bare);
        }
        let Some(found) = memchr::memmem::find(&self.text[body..], &marker) else {
            let shown = String::from_utf8_lossy(&marker).into_owned();
            let message = format!("the heredoc `<<{shown}` has no closing `{shown}`");
            self.out.errors.push(SyntaxError::new(head, message));
            self.at = body - 1;
            return self.finish(word, body - 1, Quote::Bare);
        };
        let (inside, end) = (&self.text[body..body + found], body + found + marker.len());
        let value = self.unindented(inside, body, &marker);
        self.line += 1 + memchr::memchr_iter(b'\n', inside).count() as u32 + std::mem::take(&mut self.skipped);
        self.at = end;
        self.finish(Partial { value, ..word }, end, Quote::Heredoc);
    }

    /// The lines of a heredoc without the indentation of its closing marker.
    fn unindented(&mut self, inside: &[u8], body: usize, marker: &[u8]) -> Vec<u8> {
        let last = memchr::memrchr(b'\n', inside).map_or(0, |n| n + 1);
        let indent = &inside[last..];
        let mut value = Vec::new();
        let mut offset = body;
        for line in inside[..last].split_inclusive(|&b| b == b'\n') {
            let content = &line[..line.len() - 1];
            if content.is_empty() || content == b"\r" {
                value.push(b'\n');
            } else if let Some(rest) = content.strip_prefix(indent) {
                value.extend(rest.iter().filter(|&&b| b != b'\r'));
                value.push(b'\n');
            } else {
                let shown = String::from_utf8_lossy(marker).into_owned();
                let message = format!("this line of the heredoc is not indented like its closing `{shown}`");
                let span = self.span(offset, offset + content.len());
                self.out.errors.push(SyntaxError::new(span, message));
            }
            offset += line.len();
        }
        value.pop();
        value
    }

    fn span(&self, start: usize, end: usize) -> Span {
        let (from, to, _) = self.source.origin(start, end);
        Span::new(self.file, from, to.max(from))
    }

    fn finish(&mut self, word: Partial, end: usize, quote: Quote) {
        self.push(word.start, end, word.line, quote, Some(word.value));
    }

    fn push(&mut self, start: usize, end: usize, line: u32, quote: Quote, value: Option<Vec<u8>>) {
        let (from, to, origin) = self.source.origin(start, end);
        let inner = match &value {
            Some(value) => value,
            None if quote == Quote::Bare => &self.text[start..end],
            None => &self.text[start + 1..end - 1],
        };
        let (shape, breaks) = (Shape::of(inner), line_breaks(inner, quote));
        let same = value.as_ref().is_none_or(|value| quote == Quote::Bare && **value == self.text[start..end]);
        let as_written = same && matches!(origin, Origin::Written | Origin::Unknown);
        let value = if as_written { None } else { Some(inner.to_vec().into_boxed_slice()) };
        let span = Span::new(self.file, from, to.max(from));
        let word = WordData { span, quote, origin, chain: ChainId(0), value };
        self.out.tokens.push(Token { word, line, end_line: line + breaks, shape, snippet: 0 });
    }
}

/// By how many lines a token with that text ends below its start, in Caddy's count.
pub(super) fn line_breaks(text: &[u8], quote: Quote) -> u32 {
    let inner = memchr::memchr_iter(b'\n', text).count() as u32;
    if quote == Quote::Heredoc { inner + 2 } else { inner }
}

fn push_char(value: &mut Vec<u8>, ch: char) {
    value.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes());
}
