//! Bytes to tokens, as nginx's `ngx_conf_read_token` splits them.

use nom::branch::alt;
use nom::bytes::complete::{is_not, tag, take, take_while, take_while1};
use nom::combinator::{opt, recognize};
use nom::multi::many0_count;
use nom::{IResult, Parser};

use crate::syntax::tree::Quote;

/// The size of nginx's buffer (`NGX_CONF_BUFFER`): a word or comment that does not fit is refused.
const BUFFER: usize = 4096;

/// What stands at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `closed` is false for a word in quotes whose second quote is missing.
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

/// Whether it may follow a closing quote.
pub(super) fn may_follow_quote(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b';' | b'{' | b')')
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

/// `{3}`, `{1,}`, `{2,4}`: in a regex, the number of repetitions.
fn repetition(input: &[u8]) -> IResult<&[u8], &[u8]> {
    let digits = || take_while1(|byte: u8| byte.is_ascii_digit());
    let most = (tag(","), opt(digits()));
    recognize((tag("{"), digits(), opt(most), tag("}"))).parse(input)
}

/// How far a parser comes from `at`; `at` itself where it does not apply.
fn reach<'a>(bytes: &'a [u8], at: usize, parser: impl Fn(&'a [u8]) -> IResult<&'a [u8], &'a [u8]>) -> usize {
    parser(&bytes[at..]).map_or(at, |(rest, _)| bytes.len() - rest.len())
}

/// The token at or behind `at`; white space before it is passed over.
pub(super) fn next(bytes: &[u8], at: usize) -> Token {
    let start = reach(bytes, at, |input| take_while(is_space).parse(input));
    let token = |kind, end| Token { kind, start, end };
    match bytes.get(start) {
        None => token(Kind::End, start),
        Some(b';') => token(Kind::Semicolon, start + 1),
        Some(b'{') => token(Kind::Open, start + 1),
        Some(b'}') => token(Kind::Close, start + 1),
        Some(b'#') => {
            let end = line_end(bytes, start);
            token(Kind::Comment, if bytes[end - 1] == b'\r' { end - 1 } else { end })
        }
        Some(&mark @ (b'"' | b'\'')) => {
            let end = reach(bytes, start + 1, |input| quoted(mark, input));
            let quote = if mark == b'"' { Quote::Double } else { Quote::Single };
            let closed = end < bytes.len();
            token(Kind::Word { quote, closed }, end + usize::from(closed))
        }
        Some(_) => token(Kind::Word { quote: Quote::Bare, closed: true }, bare_end(bytes, start)),
    }
}

/// Where a word without quotes ends that goes on at `at`.
pub(super) fn bare_end(bytes: &[u8], at: usize) -> usize {
    reach(bytes, at, bare)
}

/// Where the `{3}` of a regex at `at` ends, if there is one.
pub(super) fn repetition_end(bytes: &[u8], at: usize) -> Option<usize> {
    Some(reach(bytes, at, repetition)).filter(|&end| end > at)
}

/// Where the line that holds `at` ends, its line feed not counted.
pub(super) fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length)
}

/// Where the `{…}` at `at` ends, if it ends soon, on its line, and holds no `;`: what template
/// languages put in place of a value.
pub(super) fn placeholder_end(bytes: &[u8], at: usize) -> Option<usize> {
    const LONGEST: usize = 200;
    let near = &bytes[at..bytes.len().min(at + LONGEST)];
    let line = &near[..line_end(near, 0)];
    let mut depth = 0usize;
    for (length, byte) in line.iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 && !line[1..length].trim_ascii().is_empty() => return Some(at + length + 1),
            b'}' if depth == 1 => return None,
            b'}' => depth -= 1,
            b';' => return None,
            _ => {}
        }
    }
    None
}

/// Whether a word or comment is too long for nginx's buffer. The buffer takes its text (without the
/// opening quote) and the bytes behind it by which nginx sees that it is over: the `;`, `{` or line
/// feed, or a space and one more.
pub(super) fn is_too_long(bytes: &[u8], token: Token) -> bool {
    if token.end - token.start < BUFFER - 2 {
        return false;
    }
    let (start, after) = match token.kind {
        Kind::Comment => return line_end(bytes, token.start).min(bytes.len() - 1) - token.start >= BUFFER,
        Kind::Word { quote: Quote::Bare, .. } => (token.start, token.end),
        _ => (token.start + 1, token.end),
    };
    let over = after + usize::from(bytes.get(after).is_some_and(|&byte| is_space(byte)));
    over.min(bytes.len() - 1) - start >= BUFFER
}

/// What the server makes of a word's text (quotes taken off), where that differs from it.
pub(super) fn value(text: &[u8]) -> Option<Box<[u8]>> {
    let mut next = memchr::memchr(b'\\', text)?;
    let mut value = Vec::new();
    let mut done = 0;
    loop {
        let meant = match text.get(next + 1) {
            Some(&byte @ (b'"' | b'\'' | b'\\')) => Some(byte),
            Some(b't') => Some(b'\t'),
            Some(b'r') => Some(b'\r'),
            Some(b'n') => Some(b'\n'),
            _ => None,
        };
        if let Some(byte) = meant {
            value.extend_from_slice(&text[done..next]);
            value.push(byte);
            done = next + 2;
        }
        let from = (next + 2).min(text.len());
        match memchr::memchr(b'\\', &text[from..]) {
            Some(length) => next = from + length,
            None => break,
        }
    }
    if done == 0 {
        return None;
    }
    value.extend_from_slice(&text[done..]);
    Some(value.into())
}
