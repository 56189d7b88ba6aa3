//! Bytes to tokens, as nginx's `ngx_conf_read_token` splits them.

use nom::branch::alt;
use nom::bytes::complete::{is_not, tag, take, take_while, take_while1};
use nom::combinator::{opt, recognize};
use nom::multi::many0_count;
use nom::{IResult, Parser};

use crate::syntax::tree::Quote;

/// What stands at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word; `closed` is false for a quoted one without its second quote.
    Word {
        quote: Quote,
        closed: bool,
    },
    Comment,
    /// `;`
    Semicolon,
    /// `{`
    Open,
    /// `}`
    Close,
    End,
}

/// One token and its byte range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Whether nginx separates words by it.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// A byte that is nothing but itself inside a word without quotes.
fn is_plain(byte: u8) -> bool {
    !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b';' | b'{' | b'\\' | b'$')
}

/// `\` and whatever follows it.
fn escape(input: &[u8]) -> IResult<&[u8], &[u8]> {
    recognize((tag("\\"), opt(take(1usize)))).parse(input)
}

/// A word without quotes. A `{` ends it, except right behind `$` (`${name}`).
fn bare(input: &[u8]) -> IResult<&[u8], &[u8]> {
    let variable = recognize((tag("$"), take_while(|byte| byte == b'{')));
    recognize(many0_count(alt((take_while1(is_plain), variable, escape)))).parse(input)
}

/// What stands between quotes, as far as the closing one or the end.
fn quoted(quote: u8, input: &[u8]) -> IResult<&[u8], &[u8]> {
    let stop = [quote, b'\\'];
    recognize(many0_count(alt((is_not(&stop[..]), escape)))).parse(input)
}

/// How many bytes a parser that cannot fail takes.
fn taken<'a>(input: &'a [u8], parsed: IResult<&'a [u8], &'a [u8]>) -> usize {
    parsed.map_or(0, |(rest, _)| input.len() - rest.len())
}

/// The token at or behind `at`; white space before it is passed over.
pub(super) fn next(bytes: &[u8], at: usize) -> Token {
    let start = at + taken(&bytes[at..], take_while(is_space).parse(&bytes[at..]));
    let token = |kind, end| Token { kind, start, end };
    let Some(&first) = bytes.get(start) else {
        return token(Kind::End, start);
    };
    match first {
        b';' => token(Kind::Semicolon, start + 1),
        b'{' => token(Kind::Open, start + 1),
        b'}' => token(Kind::Close, start + 1),
        b'#' => {
            let line = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
            token(Kind::Comment, if bytes[line - 1] == b'\r' { line - 1 } else { line })
        }
        b'"' | b'\'' => {
            let inside = start + 1;
            let end = inside + taken(&bytes[inside..], quoted(first, &bytes[inside..]));
            let quote = if first == b'"' { Quote::Double } else { Quote::Single };
            let closed = end < bytes.len();
            token(Kind::Word { quote, closed }, if closed { end + 1 } else { end })
        }
        _ => {
            let end = start + taken(&bytes[start..], bare(&bytes[start..]));
            token(Kind::Word { quote: Quote::Bare, closed: true }, end)
        }
    }
}

/// What the server makes of a word's text (quotes taken off), where that differs from it.
pub(super) fn value(text: &[u8]) -> Option<Box<[u8]>> {
    let mut next = memchr::memchr(b'\\', text)?;
    let mut out = Vec::new();
    let mut done = 0;
    loop {
        let replacement = match text.get(next + 1) {
            Some(&byte @ (b'"' | b'\'' | b'\\')) => Some(byte),
            Some(b't') => Some(b'\t'),
            Some(b'r') => Some(b'\r'),
            Some(b'n') => Some(b'\n'),
            _ => None,
        };
        if let Some(byte) = replacement {
            out.extend_from_slice(&text[done..next]);
            out.push(byte);
            done = next + 2;
        }
        let from = (next + 2).min(text.len());
        match memchr::memchr(b'\\', &text[from..]) {
            Some(distance) => next = from + distance,
            None => break,
        }
    }
    if done == 0 {
        return None;
    }
    out.extend_from_slice(&text[done..]);
    Some(out.into())
}
