//! What a `location` matches.

use crate::model::Node;

/// How a location compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A beginning of the path: `/a`.
    Prefix,
    /// A beginning of the path before which no regex is looked at: `^~ /a`.
    Preferred,
    /// The whole path: `= /a`.
    Exact,
    /// A regular expression: `~`, `~*`.
    Regex {
        /// Whether capitals count.
        case: bool,
    },
    /// `@name`.
    Named,
}

/// The arguments of a `location`, understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Matcher<'m> {
    /// How it compares.
    pub(crate) kind: Kind,
    /// The path or the regular expression.
    pub(crate) path: &'m [u8],
}

impl<'m> Matcher<'m> {
    /// The matcher of a `location`; `None` where nginx refuses its arguments.
    pub(crate) fn of(node: Node<'m>) -> Option<Self> {
        let mut args = node.args();
        let (first, second) = (args.next()?.value(), args.next());
        if !node.is("location") || args.next().is_some() {
            return None;
        }
        let (kind, path) = match second {
            Some(path) => (modifier(first)?, path.value()),
            None => glued(first),
        };
        Some(Self { kind, path })
    }
}

fn modifier(text: &[u8]) -> Option<Kind> {
    Some(match text {
        b"=" => Kind::Exact,
        b"^~" => Kind::Preferred,
        b"~" => Kind::Regex { case: true },
        b"~*" => Kind::Regex { case: false },
        _ => return None,
    })
}

/// A modifier may touch its path: `=/a`, `~*\.php$`.
fn glued(text: &[u8]) -> (Kind, &[u8]) {
    if let Some(path) = text.strip_prefix(b"=") {
        (Kind::Exact, path)
    } else if let Some(path) = text.strip_prefix(b"^~") {
        (Kind::Preferred, path)
    } else if let Some(path) = text.strip_prefix(b"~*") {
        (Kind::Regex { case: false }, path)
    } else if let Some(path) = text.strip_prefix(b"~") {
        (Kind::Regex { case: true }, path)
    } else if text.starts_with(b"@") {
        (Kind::Named, text)
    } else {
        (Kind::Prefix, text)
    }
}
