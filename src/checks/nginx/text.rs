//! Lines as they stand in the file.

use crate::model::Node;
use crate::source::Span;

/// A directive with its line, where it stands alone on it; else the directive with the space in front.
pub(super) fn whole_line(node: Node<'_>) -> Span {
    let span = node.span();
    let bytes = node.model().file(span).bytes();
    let start = span.start - spaces_before(bytes, span.start);
    let after = bytes[span.end as usize..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
    let alone = start == 0 || bytes[start as usize - 1] == b'\n';
    match bytes.get(span.end as usize + after) {
        Some(b'\n') if alone => Span::new(span.file, start, span.end + after as u32 + 1),
        _ if alone => span,
        _ => Span::new(span.file, start, span.end),
    }
}

/// The space in front of a directive, if nothing else stands there on its line; else a single space.
pub(super) fn indent(node: Node<'_>) -> String {
    let span = node.span();
    let bytes = node.model().file(span).bytes();
    let start = span.start - spaces_before(bytes, span.start);
    let alone = start == 0 || bytes[start as usize - 1] == b'\n';
    if alone {
        String::from_utf8_lossy(&bytes[start as usize..span.start as usize]).into_owned()
    } else {
        " ".to_owned()
    }
}

/// What inserts a line behind a directive, in its indentation: put it at [`Span::after`] of the directive.
pub(super) fn line_after(node: Node<'_>, text: &str) -> String {
    let indent = indent(node);
    if indent == " " { format!(" {text}") } else { format!("\n{indent}{text}") }
}

fn spaces_before(bytes: &[u8], at: u32) -> u32 {
    bytes[..at as usize].iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count() as u32
}
