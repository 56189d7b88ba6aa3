//! Text from configurations made harmless: nothing in it can steer a terminal or hide from a reader.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character is shown as an escape: controls (a tab too), and characters that are
/// invisible or reorder text.
pub fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Appends `c`, escaped where it is [`hidden`]: `\n`, `\x1b`, `\u{202e}`.
pub(super) fn push(out: &mut String, c: char) {
    match c {
        c if !hidden(c) => out.push(c),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_ascii() => write!(out, "\\x{:02x}", c as u32).expect("a String takes everything"),
        c => write!(out, "{}", c.escape_unicode()).expect("a String takes everything"),
    }
}

/// One line of text, every hidden character escaped.
pub fn line(text: &str) -> Cow<'_, str> {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain || !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| push(&mut out, c));
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_passes() {
        assert_eq!(line("plain ä"), "plain ä");
        assert_eq!(line("\x1b[31m\r\n\u{9b}\u{202e}\0"), "\\x1b[31m\\r\\n\\u{9b}\\u{202e}\\x00");
    }
}
