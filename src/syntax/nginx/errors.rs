//! What is said of each fault.

use crate::source::Span;
use crate::syntax::SyntaxError;

/// The label of the place that nginx names.
const STOPS: &str = "nginx stops here";
/// The label of the end of a file in which a block is open.
const ENDS: &str = "the file ends with the block still open";

/// A name in backquotes, cut where it is no name.
fn shown(name: &[u8]) -> String {
    const LONGEST: usize = 40;
    if name.is_empty() {
        return "this block".to_owned();
    }
    let text = String::from_utf8_lossy(name);
    let cut: String = text.chars().take(LONGEST).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("`{cut}{dots}`")
}

pub(super) fn byte_order_mark(mark: Span) -> SyntaxError {
    SyntaxError::new(mark, "the file begins with a byte order mark, which nginx takes for a part of the first word")
        .help("save the file as UTF-8 without a byte order mark")
        .repair(mark, "")
}

pub(super) fn utf16(mark: Span) -> SyntaxError {
    SyntaxError::new(mark, "the file is encoded in UTF-16, of which nginx understands nothing").help("save it as UTF-8")
}

pub(super) fn too_large(start: Span) -> SyntaxError {
    SyntaxError::new(start, "the file is larger than 4 GB and was not read")
}

/// `line` is the last line of the directive; `begin` its name where that stands on another line.
pub(super) fn missing_semicolon(line: Span, begin: Option<Span>, name: &[u8], sure: bool, stop: Span) -> SyntaxError {
    let directive = if name.is_empty() { "this directive".to_owned() } else { shown(name) };
    let mut error = SyntaxError::new(line, format!("`;` is missing at the end of {directive}"));
    if let Some(begin) = begin {
        error = error.label(begin, "the directive begins here");
    }
    error = error.label(stop, STOPS);
    if sure { error.repair(line.after(), ";") } else { error }
}

pub(super) fn missing_brace(directive: Span, name: &[u8], stop: Span) -> SyntaxError {
    SyntaxError::new(directive, format!("`{{` is missing behind {}, which needs a block", shown(name)))
        .label(stop, STOPS)
}

pub(super) fn needs_block(directive: Span, name: &[u8], stop: Span) -> SyntaxError {
    let message = format!("{} ends in `;`, but it needs a block `{{ … }}`", shown(name));
    SyntaxError::new(directive, message).label(stop, STOPS)
}

pub(super) fn takes_no_block(open: Span, directive: Span, name: &[u8]) -> SyntaxError {
    let message = format!("{} takes no block: nginx expects `;` instead of this `{{`", shown(name));
    let error = SyntaxError::new(open, message).help("a value that contains `{` or `;` must be in quotes");
    if directive.len() < 200 { error.label(directive, "the directive") } else { error }
}

pub(super) fn brace_among_entries(open: Span, block: Span, name: &[u8]) -> SyntaxError {
    let message = format!("unexpected `{{`: a {} block holds entries that end in `;`", shown(name));
    SyntaxError::new(open, message)
        .label(block, "the block")
        .help("a key that contains `{`, such as a regex with `{3}`, must be in quotes")
}

pub(super) fn placeholder(open: Span) -> SyntaxError {
    SyntaxError::new(open, "unexpected `{`").help(
        "this looks like a placeholder of a template: check the file that is made of it, or put the value in quotes",
    )
}

pub(super) fn stray_open(open: Span) -> SyntaxError {
    SyntaxError::new(open, "unexpected `{`: no directive stands in front of it")
}

pub(super) fn stray_semicolon(semicolon: Span) -> SyntaxError {
    SyntaxError::new(semicolon, "unexpected `;`: no directive stands in front of it").repair(semicolon, "")
}

pub(super) fn stray_close(close: Span) -> SyntaxError {
    SyntaxError::new(close, "unexpected `}`: no block is open here")
}

/// A `}` that its indentation gives away. `stop` is a later one that has no block.
pub(super) fn surplus_close(close: Span, stop: Option<Span>) -> SyntaxError {
    let error = SyntaxError::new(close, "this `}` is one too many");
    match stop {
        Some(stop) => error.label(stop, "nginx stops here: no block is open for this `}`"),
        None => error,
    }
}

/// Blocks open at the end of the file, the outermost first.
pub(super) fn unclosed(blocks: &[(Span, &[u8])], end: Span) -> Option<SyntaxError> {
    let (&(head, name), outer) = blocks.split_last()?;
    let message = format!("{} has no closing `}}`", shown(name));
    let mut error = SyntaxError::new(head, message).label(end, ENDS);
    for &(head, name) in outer.iter().rev().take(3) {
        error = error.label(head, format!("{} is not closed either", shown(name)));
    }
    Some(error)
}

/// A block that is given away as not closed by what stands behind it. nginx stops at `stop`, or else at the end of
/// the file.
pub(super) fn unclosed_before(
    head: Span,
    name: &[u8],
    (next, why): (Span, &'static str),
    stop: Option<Span>,
    end: Span,
) -> SyntaxError {
    let error = SyntaxError::new(head, format!("{} has no closing `}}`", shown(name))).label(next, why);
    match stop {
        Some(stop) => error.label(stop, STOPS),
        None => error.label(end, ENDS),
    }
}

pub(super) fn unclosed_lua(head: Span, name: &[u8], end: Span) -> SyntaxError {
    SyntaxError::new(head, format!("the Lua block of {} has no closing `}}`", shown(name)))
        .label(end, ENDS)
        .help("braces in Lua strings and comments do not count, and a string in quotes ends on its line")
}

pub(super) fn lua_bracket(bracket: Span) -> SyntaxError {
    SyntaxError::new(bracket, "nginx finds no end of this long bracket within the next 4,096 bytes")
        .help("close it, or move the Lua code to a file and use the `…_by_lua_file` directive")
}

pub(super) fn lua_too_long(place: Span) -> SyntaxError {
    SyntaxError::new(
        place,
        "from here on, more than 4,096 bytes of Lua code without a brace, string or comment: nginx refuses that",
    )
    .help("move the Lua code to a file and use the `…_by_lua_file` directive")
}

pub(super) fn unclosed_quote(quote: Span, end: Span) -> SyntaxError {
    SyntaxError::new(quote, "this quote is never closed")
        .label(end, "nginx reads to here in search of the closing quote")
}

/// A quote whose partner, as nginx sees it, stands on a later line in front of more text.
pub(super) fn misread_quote(quote: Span, partner: Span, stop: Span) -> SyntaxError {
    SyntaxError::new(quote, "this quote is not closed on its line")
        .label(partner, "nginx takes this quote for its partner")
        .label(stop, "and stops here, as more text follows")
}

pub(super) fn text_behind_quote(stop: Span, word: Span) -> SyntaxError {
    SyntaxError::new(stop, "unexpected text directly behind a closing quote")
        .label(word, "the quoted word")
        .help("put the whole word in quotes, with `\\` in front of quotes inside, or a space between two words")
}

pub(super) fn long_word(word: Span, quoted: bool) -> SyntaxError {
    let message = format!("a word of {} bytes is too long for nginx, which reads about 4,090 at most", word.len());
    let help = if quoted {
        "shorten or split it; if it was not meant to be that long, a quote is missing"
    } else {
        "shorten or split it"
    };
    SyntaxError::new(word, message).help(help)
}

pub(super) fn long_comment(comment: Span) -> SyntaxError {
    let message = format!("a comment of {} bytes is too long for nginx, which reads 4,095 at most", comment.len());
    SyntaxError::new(comment, message).help("break it into several lines")
}

/// A word with a repetition such as `{3}` at `braces`; `quote` is the one that can be put around `inside`.
pub(super) fn braces_in_regex(braces: Span, inside: Span, quote: Option<&'static str>) -> SyntaxError {
    let error =
        SyntaxError::new(braces, "nginx takes this `{` for the beginning of a block, as the regex is not in quotes")
            .help("put the regex in quotes");
    match quote {
        Some(quote) => error.repair(inside.before(), quote).repair(inside.after(), quote),
        None => error,
    }
}
