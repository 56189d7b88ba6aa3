//! The Caddyfile's grammar, exactly as Caddy reads it.
//!
//! Caddy works on tokens: environment variables are replaced in the text ([`mod@env`]), the text is cut
//! into tokens ([`lexer`]), and imports are spliced token by token (`import`) while the tokens are
//! put together to blocks and lines ([`parser`]). An imported file may close one site and open the
//! next, so a whole configuration is one [`Tree`](super::tree::Tree). What differs between versions
//! stands in [`dialect`].
//!
//! How the tree shows a Caddyfile:
//! - A site block's words are its addresses, without their commas. Without braces it still has a
//!   block, with an empty span for each brace that is not there.
//! - The global options are a block without words.
//! - A snippet `(name)` has a raw body: its directives stand where it is imported.
//! - An `import` line stands, as a directive without a body (a raw one if it gives a block), in
//!   front of what it brought.
//! - A word whose [`Origin`](super::tree::Origin) is `Unknown` stands for any number of words.

pub mod dialect;
pub mod env;
mod import;
pub mod lexer;
pub mod parser;
mod stream;

pub use dialect::{Dialect, Feature};
pub use env::{Env, EnvError};
pub use parser::{Fault, FaultKind, Load, Parsed, parse};
