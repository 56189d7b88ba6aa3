//! `{$NAME}` and `{$NAME:default}`: replaced as plain text, before anything else is read.
//!
//! The replaced text remembers where each of its bytes comes from, so that a token made of it still
//! has a span in the file as it was written.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::syntax::tree::Origin;

/// What is known of the environment in which Caddy will read the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Env {
    vars: BTreeMap<Vec<u8>, Vec<u8>>,
    complete: bool,
}

/// A line of an environment file, or a `NAME=VALUE` argument, that sets nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: `{text}` is not NAME=VALUE")]
pub struct EnvError {
    /// 1-based; 1 for an argument.
    pub line: usize,
    /// What stands there.
    pub text: String,
}

impl Env {
    /// Nothing is known: a variable without a default has an unknown value.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is set here is all there is: any other variable is unset, and expands to nothing.
    pub fn complete(mut self) -> Self {
        self.complete = true;
        self
    }

    /// Sets a variable.
    pub fn set(&mut self, name: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        self.vars.insert(name.into(), value.into());
    }

    /// Sets a variable from `NAME=VALUE`.
    ///
    /// # Errors
    /// When there is no `=` or no name.
    pub fn set_pair(&mut self, pair: &str) -> Result<(), EnvError> {
        match pair.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                self.set(name.trim(), value);
                Ok(())
            }
            _ => Err(EnvError { line: 1, text: pair.to_owned() }),
        }
    }

    /// Sets the variables of an environment file as Docker Compose reads it: `NAME=VALUE` lines,
    /// `#` comments, an optional `export`, quotes around the value.
    ///
    /// # Errors
    /// At the first line that is none of these.
    pub fn set_file(&mut self, text: &str) -> Result<(), EnvError> {
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let pair = line.strip_prefix("export ").unwrap_or(line);
            let (name, value) = match pair.split_once('=') {
                Some((name, value)) if !name.trim().is_empty() => (name.trim(), value.trim()),
                _ => return Err(EnvError { line: index + 1, text: line.to_owned() }),
            };
            self.set(name, unquoted(value));
        }
        Ok(())
    }

    /// Sets what another one has; its values win.
    pub fn extend(&mut self, other: &Self) {
        self.vars.extend(other.vars.iter().map(|(name, value)| (name.clone(), value.clone())));
        self.complete |= other.complete;
    }

    /// The variables that are set, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.vars.iter().map(|(name, value)| (name.as_slice(), value.as_slice()))
    }

    fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.vars.get(name).map(Vec::as_slice)
    }
}

/// The value without its quotes, or without the comment behind it.
fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote)
            && let Some(end) = rest.find(quote)
        {
            return &rest[..end];
        }
    }
    value.split(" #").next().unwrap_or(value).trim_end()
}

/// A stretch of replaced text that did not stand there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    /// Where it begins in the replaced text.
    start: u32,
    /// Where it ends there.
    end: u32,
    /// Where `{$` begins in the file.
    from: u32,
    /// Where `}` ends in the file.
    to: u32,
    origin: Origin,
}

/// The text that Caddy's lexer sees, and where it comes from.
#[derive(Debug)]
pub struct Expanded<'a> {
    /// The text.
    pub text: Cow<'a, [u8]>,
    pieces: Vec<Piece>,
}

/// Replaces every `{$NAME}`. A variable of unknown value stays as it is written, marked
/// [`Origin::Unknown`].
pub fn expand<'a>(input: &'a [u8], env: &Env) -> Expanded<'a> {
    let mut text: Cow<'a, [u8]> = Cow::Borrowed(input);
    let mut pieces = Vec::new();
    let mut done = 0;
    let mut out = Vec::new();
    for (from, to) in references(input) {
        let inner = &input[from + 2..to - 1];
        let (name, default) = match memchr::memchr(b':', inner) {
            Some(colon) => (&inner[..colon], Some(&inner[colon + 1..])),
            None => (inner, None),
        };
        let (value, origin) = match (env.get(name), default) {
            (Some(value), _) | (None, Some(value)) => (value, Origin::Environment),
            (None, None) if env.complete => (&b""[..], Origin::Environment),
            (None, None) => (&input[from..to], Origin::Unknown),
        };
        out.extend_from_slice(&input[done..from]);
        let start = out.len() as u32;
        out.extend_from_slice(value);
        pieces.push(Piece { start, end: out.len() as u32, from: from as u32, to: to as u32, origin });
        done = to;
    }
    if done > 0 {
        out.extend_from_slice(&input[done..]);
        text = Cow::Owned(out);
    }
    Expanded { text, pieces }
}

/// The byte ranges of the `{$NAME…}` in a text, as Caddy finds them: the nearest `}` ends one, `{$}`
/// is none, and the first one that is not closed ends the search.
fn references(input: &[u8]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut offset = 0;
    std::iter::from_fn(move || {
        loop {
            let from = offset + memchr::memmem::find(&input[offset..], b"{$")?;
            let to = from + 2 + memchr::memchr(b'}', &input[from + 2..])? + 1;
            offset = to;
            if to > from + 3 {
                return Some((from, to));
            }
        }
    })
}

impl Expanded<'_> {
    /// The range in the file that a range of the text comes from, and whether any of it was
    /// replaced.
    pub fn origin(&self, start: usize, end: usize) -> (u32, u32, Origin) {
        let (start, end) = (start as u32, end as u32);
        let first = self.pieces.partition_point(|piece| piece.end <= start && piece.start < start);
        // What expanded to nothing counts too, where it touches the text.
        let touches = |piece: &&Piece| piece.start < end || (piece.start == end && piece.end == end);
        let touched = self.pieces[first..].iter().take_while(touches);
        let origin = touched.map(|piece| piece.origin).fold(Origin::Written, Origin::or);
        (self.place(start, false), self.place(end, true), origin)
    }

    /// Where a position of the text lies in the file; inside a replaced stretch, its start or end.
    fn place(&self, at: u32, is_end: bool) -> u32 {
        let behind = self.pieces.partition_point(|piece| piece.start < at || (piece.start == at && !is_end));
        let Some(piece) = behind.checked_sub(1).map(|i| self.pieces[i]) else { return at };
        if at < piece.end || (is_end && at == piece.end) {
            if is_end { piece.to } else { piece.from }
        } else {
            at - piece.end + piece.to
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env() -> Env {
        let mut env = Env::new();
        env.set("A", "x y");
        env.set("E", "");
        env
    }

    fn text(input: &str, env: &Env) -> String {
        String::from_utf8(expand(input.as_bytes(), env).text.into_owned()).unwrap()
    }

    #[test]
    fn variables_are_replaced_once() {
        assert_eq!(text("a {$A} b{$E}c {$N:d:e f} {$}", &env()), "a x y bc d:e f {$}");
        assert_eq!(text("{$N} {$A", &env()), "{$N} {$A");
        assert_eq!(text("[{$N}]", &env().complete()), "[]");
        assert_eq!(text("{$X:{host}}", &env()), "{host}");
    }

    #[test]
    fn replaced_text_knows_its_place() {
        let input = b"up {$A} {$N} z{$E}";
        let env = env();
        let expanded = expand(input, &env);
        assert_eq!(&*expanded.text, b"up x y {$N} z");
        assert_eq!(expanded.origin(0, 2), (0, 2, Origin::Written));
        assert_eq!(expanded.origin(3, 4), (3, 7, Origin::Environment));
        assert_eq!(expanded.origin(5, 6), (3, 7, Origin::Environment));
        assert_eq!(expanded.origin(7, 11), (8, 12, Origin::Unknown));
        assert_eq!(expanded.origin(12, 13), (13, 14, Origin::Environment));
    }

    #[test]
    fn environment_files_are_read() {
        let mut env = Env::new();
        env.set_file("# c\nexport A=1 # one\nB=\"two words\"\n\nC='x'\n").unwrap();
        assert_eq!(text("{$A}|{$B}|{$C}", &env), "1|two words|x");
        assert_eq!(env.set_file("A=1\nnonsense\n").unwrap_err().to_string(), "line 2: `nonsense` is not NAME=VALUE");
        assert!(env.set_pair("=x").is_err());
    }
}
