//! Where new text goes, in the style of the text around it. Line ends are written as LF; the fix
//! turns them into those of the file.

use super::{Model, Node};
use crate::fix::Edit;
use crate::source::Span;
use crate::syntax::tree::Body;

/// Indentation where a file shows none.
const DEFAULT_UNIT: &[u8] = b"    ";

/// The surroundings of a span in its file.
struct Surroundings<'m> {
    bytes: &'m [u8],
    /// Offset of the line's first byte.
    line_start: usize,
    /// From there to the span, if that is white space alone.
    indent: Option<&'m [u8]>,
    /// Offset of the end of the line that the span ends in, line end not counted.
    line_end: usize,
    /// From the span to `line_end`.
    rest: &'m [u8],
}

impl<'m> Surroundings<'m> {
    fn new(model: &'m Model, span: Span) -> Self {
        let bytes = &model.file(span).bytes()[..];
        let (start, end) = (span.start as usize, span.end as usize);
        let line_start = memchr::memrchr(b'\n', &bytes[..start]).map_or(0, |at| at + 1);
        let lead = &bytes[line_start..start];
        let next_line = memchr::memchr(b'\n', &bytes[end..]).map_or(bytes.len(), |at| end + at);
        let line_end = if next_line > end && bytes[next_line - 1] == b'\r' { next_line - 1 } else { next_line };
        let indent = lead.iter().all(u8::is_ascii_whitespace).then_some(lead);
        Self { bytes, line_start, indent, line_end, rest: bytes[end..line_end].trim_ascii() }
    }

    /// Whether nothing but a comment follows on the line.
    fn ends_line(&self) -> bool {
        matches!(self.rest.first(), None | Some(b'#'))
    }
}

/// New directives behind `node`, on its level: on lines of their own where it has one, else on its line.
pub fn beside<T: AsRef<[u8]>>(node: Node<'_>, directives: &[T]) -> Edit {
    let around = Surroundings::new(node.model(), node.span());
    match around.indent {
        Some(indent) if around.ends_line() => {
            let place = Span { start: around.line_end as u32, end: around.line_end as u32, ..node.span() };
            Edit::insert_before(place, lines_after(indent, directives))
        }
        _ => Edit::insert_after(node.span(), joined(b" ", directives)),
    }
}

/// New directives in front of `node`, on its level.
pub fn in_front<T: AsRef<[u8]>>(node: Node<'_>, directives: &[T]) -> Edit {
    let around = Surroundings::new(node.model(), node.span());
    let mut text = Vec::new();
    for directive in directives {
        text.extend_from_slice(directive.as_ref());
        match around.indent {
            Some(indent) => {
                text.push(b'\n');
                text.extend_from_slice(indent);
            }
            None => text.push(b' '),
        }
    }
    Edit::insert_before(node.span(), text)
}

/// New directives at the end of a block. `None` if it has no closing brace.
pub fn last_in<T: AsRef<[u8]>>(block: Node<'_>, directives: &[T]) -> Option<Edit> {
    let Body::Block { open, close } = block.body() else { return None };
    if close.is_empty() {
        return None;
    }
    if let Some(last) = block.children().filter(|child| close.file == child.span().file).last() {
        return Some(beside(last, directives));
    }
    let around = Surroundings::new(block.model(), close);
    Some(match around.indent {
        Some(indent) => {
            let inner = [indent, &unit(block)].concat();
            let mut text = lines_after(&inner, directives);
            text.rotate_left(1);
            Edit::insert_before(Span { start: around.line_start as u32, end: around.line_start as u32, ..close }, text)
        }
        None => {
            let mut text = joined(b" ", directives);
            if open.end == close.start {
                text.push(b' ');
            }
            Edit::insert_after(open, text)
        }
    })
}

/// A new block in front of `node` and the comment lines that belong to it, on its level. `inner` are
/// the directives in it.
pub fn block_above<T: AsRef<[u8]>>(node: Node<'_>, head: &[u8], inner: &[T]) -> Edit {
    let around = Surroundings::new(node.model(), node.span());
    let Some(indent) = around.indent else {
        let text = [head, b" {", &joined(b" ", inner), b" } "].concat();
        return Edit::insert_before(node.span(), text);
    };
    let deeper = [indent, &unit(node)].concat();
    let text = [indent, head, b" {", &lines_after(&deeper, inner), b"\n", indent, b"}\n\n"].concat();
    let place = with_comments_above(around.bytes, around.line_start) as u32;
    Edit::insert_before(Span { start: place, end: place, ..node.span() }, text)
}

/// Takes a directive out: with its line where it has one for itself. Comments stay.
pub fn removal(node: Node<'_>) -> Edit {
    Edit::replace(line_of_its_own(node).unwrap_or_else(|| with_space_before(node)), "")
}

/// Moves a directive to the end of a block, and with it the comment behind it and the comment lines
/// directly above.
pub fn move_to_end(node: Node<'_>, block: Node<'_>) -> Option<[Edit; 2]> {
    let around = Surroundings::new(node.model(), node.span());
    if around.indent.is_none() || !around.ends_line() || !ends_in_a_line(block) {
        let text = node.model().text(node.span());
        return Some([removal(node), last_in(block, &[text])?]);
    }
    let start = with_comments_above(around.bytes, around.line_start);
    let mut end = around.line_end + line_break(&around.bytes[around.line_end..]);
    if around.bytes[..start].trim_ascii_end().ends_with(b"{") {
        // The block is not to begin with an empty line.
        end += line_break(&around.bytes[end..]);
    }
    let place = Span { start: start as u32, end: end as u32, ..node.span() };
    let lines: Vec<&[u8]> =
        around.bytes[start..around.line_end].split(|&b| b == b'\n').map(<[u8]>::trim_ascii).collect();
    Some([Edit::replace(place, ""), last_in(block, &lines)?])
}

/// Whether [`last_in`] puts lines of their own at the end of a block, where comments may stand.
fn ends_in_a_line(block: Node<'_>) -> bool {
    let Body::Block { close, .. } = block.body() else { return false };
    let last = block.children().filter(|child| close.file == child.span().file).last();
    last.is_some_and(|last| {
        let around = Surroundings::new(last.model(), last.span());
        around.indent.is_some() && around.ends_line()
    })
}

/// The whole line of a directive, with its line end, if nothing else stands on it.
fn line_of_its_own(node: Node<'_>) -> Option<Span> {
    let around = Surroundings::new(node.model(), node.span());
    if around.indent.is_none() || !around.rest.is_empty() {
        return None;
    }
    let end = around.line_end + line_break(&around.bytes[around.line_end..]);
    Some(Span { start: around.line_start as u32, end: end as u32, ..node.span() })
}

/// Length of the line end that `bytes` begins with.
fn line_break(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] => 2,
        [b'\n', ..] => 1,
        _ => 0,
    }
}

/// A directive among others on a line, with the white space in front of it; where a comment follows,
/// or it is the first of its line, with the white space behind it.
fn with_space_before(node: Node<'_>) -> Span {
    let around = Surroundings::new(node.model(), node.span());
    let mut span = node.span();
    if around.indent.is_some() {
        while around.bytes.get(span.end as usize).is_some_and(|b| matches!(b, b' ' | b'\t')) {
            span.end += 1;
        }
    } else {
        while span.start > 0 && matches!(around.bytes[span.start as usize - 1], b' ' | b'\t') {
            span.start -= 1;
        }
    }
    span
}

/// Start of the first of the comment lines that stand directly above a line.
fn with_comments_above(bytes: &[u8], line_start: usize) -> usize {
    let mut start = line_start;
    while start > 0 {
        let above = memchr::memrchr(b'\n', &bytes[..start - 1]).map_or(0, |at| at + 1);
        if !bytes[above..start].trim_ascii_start().starts_with(b"#") {
            break;
        }
        start = above;
    }
    start
}

/// One step of indentation, as the directives in a block show it, or those in the blocks around it.
fn unit(block: Node<'_>) -> Vec<u8> {
    for block in std::iter::once(block).chain(block.ancestors()) {
        let outer = Surroundings::new(block.model(), block.span()).indent;
        let child = block.children().find(|child| child.span().file == block.span().file);
        let inner = child.and_then(|child| Surroundings::new(block.model(), child.span()).indent);
        if let (Some(outer), Some(inner)) = (outer, inner)
            && let Some(step) = inner.strip_prefix(outer)
            && !step.is_empty()
        {
            return step.to_vec();
        }
    }
    DEFAULT_UNIT.to_vec()
}

/// Each directive on a line of its own, behind a line end.
fn lines_after<T: AsRef<[u8]>>(indent: &[u8], directives: &[T]) -> Vec<u8> {
    directives.iter().flat_map(|directive| [b"\n", indent, directive.as_ref()].concat()).collect()
}

fn joined<T: AsRef<[u8]>>(space: &[u8], directives: &[T]) -> Vec<u8> {
    directives.iter().flat_map(|directive| [space, directive.as_ref()].concat()).collect()
}
