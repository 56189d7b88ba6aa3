//! The end of a Lua block. nginx's Lua module finds it with a small lexer of its own
//! (`ngx_http_lua_lex`): braces count outside Lua's strings and comments. Three things of it are not
//! Lua's: a short string ends on its line or is none, `\` does not continue it, and what does not
//! close is not an error, only text.

/// The most that the module reads without meeting a token, and the longest long bracket.
const BUFFER: usize = 4096;

/// Why the end of a block was not found, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The file ends before.
    Unclosed,
    /// A `[[` or `--[[` at this offset that the module finds no end for.
    Bracket(usize),
    /// Code behind this offset without brace, string or comment that is too long for the module.
    Long(usize),
}

/// Offset of the `}` that ends the block whose inside begins at `from`.
pub(super) fn end(bytes: &[u8], from: usize) -> Result<usize, Fault> {
    let mut depth = 0usize;
    let mut at = from;
    // Behind the last token, for the module's limit.
    let mut token_end = from;
    // Up to where it is known that no `"` or `'` closes, so that no line is searched twice.
    let mut no_close = [from; 2];
    let last_line = memchr::memrchr(b'\n', bytes).map_or(0, |feed| feed + 1);
    while let Some(length) = bytes[at..].iter().position(|byte| b"{}[-\"'".contains(byte)) {
        at += length;
        if at - token_end > BUFFER {
            return Err(Fault::Long(token_end));
        }
        let end = match bytes[at] {
            b'{' => {
                depth += 1;
                Some(at + 1)
            }
            b'}' if depth == 0 => return Ok(at),
            b'}' => {
                depth -= 1;
                Some(at + 1)
            }
            b'[' => long_bracket(bytes, at, at)?,
            b'-' => comment(bytes, at, last_line)?,
            quote => {
                let no_close = &mut no_close[usize::from(quote == b'"')];
                if at < *no_close { None } else { short_string(bytes, at).map_err(|line| *no_close = line).ok() }
            }
        };
        at = end.unwrap_or(at + 1);
        token_end = end.unwrap_or(token_end);
    }
    Err(if bytes.len() - token_end > BUFFER { Fault::Long(token_end) } else { Fault::Unclosed })
}

/// Where a block without an end, in a directive indented by `indent`, was probably meant to end: at a `}`
/// that begins a line and is indented alike.
pub(super) fn likely_end(bytes: &[u8], from: usize, indent: &[u8]) -> Option<usize> {
    let line = [b"\n", indent, b"}"].concat();
    memchr::memmem::find(&bytes[from..], &line).map(|length| from + length + line.len() - 1)
}

/// End of the `[==[ … ]==]` at `at`, if one begins there. `start` is where its token begins.
fn long_bracket(bytes: &[u8], start: usize, at: usize) -> Result<Option<usize>, Fault> {
    let level = bytes[at + 1..].iter().take_while(|&&byte| byte == b'=').count();
    let inside = at + level + 2;
    if bytes.get(inside - 1) != Some(&b'[') {
        return Ok(None);
    }
    let closing = [&b"]"[..], &bytes[at + 1..inside - 1], b"]"].concat();
    let reach = &bytes[inside..bytes.len().min(start + BUFFER)];
    let length = memchr::memmem::find(reach, &closing).ok_or(Fault::Bracket(start))?;
    Ok(Some(inside + length + closing.len()))
}

/// End of the comment at `at`, if one begins there. One without a line feed behind it, in the last
/// line of the file, is none.
fn comment(bytes: &[u8], at: usize, last_line: usize) -> Result<Option<usize>, Fault> {
    if bytes.get(at + 1) != Some(&b'-') {
        return Ok(None);
    }
    if bytes.get(at + 2) == Some(&b'[')
        && let Some(end) = long_bracket(bytes, at, at + 2)?
    {
        return Ok(Some(end));
    }
    if at >= last_line {
        return Ok(None);
    }
    Ok(memchr::memchr(b'\n', &bytes[at..]).map(|length| at + length + 1))
}

/// End of the string whose first quote is at `at`, or else the end of the line in which it does not close.
fn short_string(bytes: &[u8], at: usize) -> Result<usize, usize> {
    let mut next = at + 1;
    loop {
        match bytes.get(next) {
            None | Some(b'\n') => return Err(next),
            Some(b'\\') if bytes.get(next + 1).is_some_and(|&byte| byte != b'\n') => next += 2,
            Some(b'\\') => return Err(next + 1),
            Some(&byte) if byte == bytes[at] => return Ok(next + 1),
            Some(_) => next += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text behind the end.
    fn rest(text: &str) -> Result<&str, Fault> {
        end(text.as_bytes(), 0).map(|end| &text[end + 1..])
    }

    #[test]
    fn braces_in_strings_and_comments_do_not_count() {
        let insides = [
            "x={{}}",
            "x='}'",
            "x=\"\\\"}\"",
            "x='\"}'",
            "x=\"it's }\"",
            "x=[[ } ]]",
            "x=[==[ } ]] ]==]",
            "-- }\n",
            "-- don't\n",
            "--[[ } \n ]]",
            "--[=[ } ]] ]=]",
            "--[ }\n",
            "--[= }\n",
            "---[[ }\n ]]",
            "x=a[b[1]]",
            "x=[=[=[ } ]=]",
            "x=[[[ } ]]",
            "",
            "x=\"abc",
            "x=\"\\\\\" y=\"}\"",
            "a-b",
            "x ]] y",
        ];
        for inside in insides {
            assert_eq!(rest(&format!("{inside}\n}} more")), Ok(" more"), "{inside}");
        }
    }

    #[test]
    fn a_string_ends_on_its_line_or_is_none() {
        assert_eq!(rest("x=\"a\n}\" }"), Ok("\" }"));
        assert_eq!(rest("x=\"a\\\n}\" }"), Ok("\" }"));
    }

    #[test]
    fn what_has_no_end_is_a_fault() {
        assert_eq!(rest("{}"), Err(Fault::Unclosed));
        assert_eq!(rest("x=[[ }"), Err(Fault::Bracket(2)));
        assert_eq!(rest("--[=[ ]] }"), Err(Fault::Bracket(0)));
        assert_eq!(rest(&("{}".to_owned() + &"x".repeat(4097) + "}")), Err(Fault::Long(2)));
        assert_eq!(rest("--"), Err(Fault::Unclosed));
    }
}
