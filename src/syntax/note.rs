//! Comments to proxylint in either language: `# proxylint: …`.

use memchr::memmem;

use super::tree::Tree;

/// What a comment to proxylint begins with, behind its `#`.
const HEAD: &[u8] = b"proxylint:";

/// Whether a text may hold such a comment.
pub fn may_be_in(bytes: &[u8]) -> bool {
    memmem::find(bytes, HEAD).is_some()
}

/// What a comment (with its `#`) says to proxylint, and where that begins in it. `None` for any other
/// comment.
pub fn body(comment: &[u8]) -> Option<(usize, &[u8])> {
    let text = comment.strip_prefix(b"#")?.trim_ascii_start();
    let body = text.strip_prefix(HEAD)?.trim_ascii_start();
    Some((comment.len() - body.len(), body.trim_ascii_end()))
}

/// The name in the first `# proxylint: context[NAME]` of a file.
pub fn context<'a>(tree: &Tree, bytes: &'a [u8]) -> Option<&'a str> {
    if !may_be_in(bytes) {
        return None;
    }
    tree.comments.iter().find_map(|span| {
        let (_, body) = body(&bytes[span.range()])?;
        let inner = body.strip_prefix(b"context[")?;
        let end = memchr::memchr(b']', inner)?;
        std::str::from_utf8(inner[..end].trim_ascii()).ok()
    })
}
