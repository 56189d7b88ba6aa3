//! Which directives a declarative rule is about, and what it says of them.

use crate::catalog::nginx::Context;
use crate::model::{Node, Word};
use crate::rule::definition::{Pattern, Text};
use crate::rule::template::{Piece, pieces};
use crate::version::Server;

impl Pattern {
    /// Whether the directive, which has one of the names, is meant.
    pub fn matches(&self, node: Node<'_>) -> bool {
        let is_arg = |text: &Text| node.args().any(|arg| arg.is(text));
        self.inside.as_ref().is_none_or(|places| places.iter().any(|place| stands_in(node, place)))
            && self.args.as_ref().is_none_or(|args| {
                args.len() == node.args().len() && node.args().zip(args.iter()).all(|(arg, text)| arg.is(text))
            })
            && self.has.iter().all(is_arg)
            && !self.lacks.iter().any(is_arg)
    }
}

/// Whether the directive stands directly in that place.
///
/// nginx: a context by the name that the catalogue gives it (`main`, `http`, `server`, `stream.server`,
/// …), `if` for both kinds of it; inside blocks of unknown modules the block's own name. Caddy: the
/// directive it belongs to, `site` on the level of a site's directives, `global` among the global
/// options, `main` outside of all blocks.
fn stands_in(node: Node<'_>, place: &str) -> bool {
    match node.model().server() {
        Server::Nginx => match node.context() {
            Context::ServerIf | Context::LocationIf if place == "if" => true,
            Context::Unknown => node.parent().is_some_and(|block| block.is(place)),
            context => context.id() == place,
        },
        Server::Caddy => match node.parent() {
            None => place == "main",
            Some(block) if block.parent().is_some() => block.is(place),
            Some(block) => place == if block.name().is_empty() { "global" } else { "site" },
        },
    }
}

/// A message, filled in for a directive. `{versions}` stays: it depends on the target.
pub(crate) fn message(template: &str, node: Node<'_>) -> String {
    String::from_utf8_lossy(&fill(template, node, Word::value)).into_owned()
}

/// New text for the file, filled in for a directive: its words as they are written.
pub(crate) fn text(template: &str, node: Node<'_>) -> Vec<u8> {
    fill(template, node, Word::raw)
}

/// A template, which was checked when its page was read, with the words of a directive.
fn fill<'m>(template: &str, node: Node<'m>, show: fn(Word<'m>) -> &'m [u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(template.len() + 32);
    for piece in pieces(template).unwrap_or_default() {
        match piece {
            Piece::Literal(literal) => text.extend_from_slice(literal.as_bytes()),
            Piece::Directive => text.extend_from_slice(node.name()),
            Piece::Args => text.extend_from_slice(&node.args().map(show).collect::<Vec<_>>().join(&b' ')),
            Piece::Arg(number) => text.extend_from_slice(node.arg(number).map(show).unwrap_or_default()),
            Piece::Versions => text.extend_from_slice(b"{versions}"),
        }
    }
    text
}
