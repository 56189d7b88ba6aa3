//! The end of a Lua block. nginx's Lua module finds it with a small lexer of its own: braces count
//! outside Lua's strings and comments.

/// Offset of the `}` that ends the block whose inside begins at `at`, or `None` when there is none.
pub(super) fn end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| matches!(byte, b'{' | b'}' | b'[' | b'-' | b'"' | b'\''))?;
        match bytes[at] {
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            b'[' => at = long_bracket(bytes, at).unwrap_or(at),
            b'-' if bytes.get(at + 1) == Some(&b'-') => {
                at = match bytes.get(at + 2) {
                    Some(b'[') => long_bracket(bytes, at + 2),
                    _ => None,
                }
                .or_else(|| Some(at + memchr::memchr(b'\n', &bytes[at..])?))?;
            }
            quote @ (b'"' | b'\'') => at = short_string(bytes, at, quote)?,
            _ => {}
        }
        at += 1;
    }
}

/// Offset of the last byte of the `[==[ … ]==]` that begins at `at`.
fn long_bracket(bytes: &[u8], at: usize) -> Option<usize> {
    let level = bytes[at + 1..].iter().take_while(|&&byte| byte == b'=').count();
    if bytes.get(at + 1 + level) != Some(&b'[') {
        return None;
    }
    let closing = [&b"]"[..], &vec![b'='; level], b"]"].concat();
    let from = at + level + 2;
    Some(from + memchr::memmem::find(&bytes[from..], &closing)? + closing.len() - 1)
}

/// Offset of the quote that ends the string that begins at `at`.
fn short_string(bytes: &[u8], mut at: usize, quote: u8) -> Option<usize> {
    loop {
        at += 1;
        at += memchr::memchr2(quote, b'\\', bytes.get(at..)?)?;
        if bytes[at] == quote {
            return Some(at);
        }
        at += 1;
    }
}
