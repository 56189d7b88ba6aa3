//! Checks of nginx configurations.

mod address;
pub mod buffers;
pub mod changed_default;
pub mod grammar;
pub mod incomplete;
pub mod listen;
mod location;
pub mod location_choice;
pub mod map;
mod modules;
pub mod pass_target;
pub mod references;
pub mod regex;
mod scope;
pub mod server_name;
mod servers;
mod text;
pub mod tls_switch;
pub mod upstream_reuse;
pub mod variables;

use crate::model::{Node, Word};
use crate::source::Span;

/// Where a directive's name stands.
fn name_span(node: Node<'_>) -> Span {
    node.words().next().map_or(node.head(), Word::span)
}
