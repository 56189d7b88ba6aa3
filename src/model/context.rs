//! Where a directive stands (nginx).

use crate::syntax::tree::Tree;

/// The kind of block that a directive stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Context {
    /// Outside every block.
    Main,
    /// `events`.
    Events,
    /// `http`.
    Http,
    /// `server` in `http`.
    Server,
    /// `location`.
    Location,
    /// `if` in a `server`.
    ServerIf,
    /// `if` in a `location`.
    LocationIf,
    /// `limit_except`.
    LimitExcept,
    /// `upstream` in `http`.
    Upstream,
    /// Any other block.
    Other,
}
impl Context {
    /// The context inside, or implied by, a block.
    pub fn inside(self, name: &[u8]) -> Self {
        match (self, name) {
            (Self::Main, b"events") => Self::Events,
            (Self::Main, b"http") => Self::Http,
            (Self::Http, b"server") => Self::Server,
            (Self::Http, b"upstream") => Self::Upstream,
            (Self::Server | Self::Location, b"location") => Self::Location,
            (Self::Server, b"if") => Self::ServerIf,
            (Self::Location, b"if") => Self::LocationIf,
            (Self::Location, b"limit_except") => Self::LimitExcept,
            _ => Self::Other,
        }
    }
    /// The context inside, or implied by, a block.
    pub fn implied(_tree: &Tree, _bytes: &[u8]) -> Self {
        Self::Main
    }
}
