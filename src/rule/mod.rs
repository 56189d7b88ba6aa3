//! Rules: one Markdown file each.

pub mod definition;
pub mod example;
pub mod file;
pub mod level;
pub mod pattern;
mod rewrite;
pub mod set;
pub mod template;
pub mod verify;

pub use definition::{Activation, Finds, Mends, Param, Params, Pattern, Rewrite, Rule};
pub use set::{Level, RuleError, RuleSet};

pub(crate) use rewrite::Mender;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));
