//! proxylint: a linter for nginx.conf and Caddyfile whose fixes know which server version will
//! read the file.
//!
//! [`check`] is the whole of it in one call:
//!
//! ```no_run
//! use proxylint::{Options, version::Server};
//!
//! let options = Options::new().target(Server::Nginx, "1.24")?;
//! let report = proxylint::check(["/etc/nginx"], &options)?;
//! for found in report.findings() {
//!     let file = found.file(found.finding.span);
//!     let line = file.position(found.finding.span.start).line;
//!     eprintln!("{}:{line}: {}", file.path().display(), found.finding.message);
//! }
//! assert!(report.is_complete(), "something could not be read");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The names at the root of the crate, [`report::Format`], [`finding`], [`fix::Safety`], [`files`], [`version::Server`] and
//! [`session::Outcome`] are meant for other programs. The other modules are public for the program's own tests,
//! and may change with any release.
//!
//! Invariants, small enough that review can hold them:
//!
//! 1. Arrows point one way: source, `syntax::tree`, catalog, the rest of syntax, model, rule and
//!    checks, lint, baseline, session, config, report, cli. Nothing imports upward.
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

mod api;
pub mod baseline;
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

pub use api::{Errors, Options, Report, check, check_in};
