//! Checks of nginx configurations.

mod address;
pub mod grammar;
mod location;
mod modules;
pub mod upstream_reuse;

use crate::model::{Node, Word};
use crate::source::Span;

/// Where a directive's name stands.
fn name_span(node: Node<'_>) -> Span {
    node.words().next().map_or(node.head(), Word::span)
}
