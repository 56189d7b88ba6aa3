//! proxylint: a linter for nginx.conf and Caddyfile whose fixes know which server version will
//! read the file.
//!
//! Invariants, small enough that review can hold them:
//!
//! 1. Arrows point one way: source, `syntax::tree`, catalog, the rest of syntax, model, rule and
//!    checks, lint, session, config, report, cli. Nothing imports upward.
//! 2. Only `files.rs` touches the disk; everyone else has `trait Files`. The same core compiles to
//!    wasm32.
//! 3. Only `source.rs` knows lines and columns. Only `report/` knows formats. Only `cli/` prints.
//! 4. A check never decides severity, id or link, and never reads or prints. It looks and reports.
//! 5. What is wrong with a configuration is a `Finding`, also when it does not parse. An `Err`
//!    means that proxylint itself could not go on.
//! 6. `rules/` is the only list of rules. A rule without an example that fires and one that does
//!    not fails the tests.
//! 7. A fix leaves the text parseable, comments in place, line endings as they were, and its own
//!    rule silent.
//! 8. The same input gives the same output, byte for byte: findings sorted, no clock, no
//!    environment below `cli/`.

pub mod catalog;
pub mod checks;
#[cfg(not(target_family = "wasm"))]
pub mod cli;
pub mod config;
pub mod discover;
pub mod files;
pub mod finding;
pub mod fix;
pub mod lint;
pub mod model;
pub mod report;
pub mod rule;
pub mod session;
pub mod source;
pub mod suggest;
pub mod syntax;
pub mod table;
pub mod target;
#[cfg(not(target_family = "wasm"))]
pub mod verify;
pub mod version;
