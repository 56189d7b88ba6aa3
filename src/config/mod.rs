//! `proxylint.toml`: what a project states once instead of on every command line.
//!
//! [`keys`] says which keys there are, [`Store`] finds the file of a path and says
//! what is in effect there, and [`schema`] describes the keys to editors.

mod build;
mod effective;
pub mod init;
pub mod keys;
mod read;
pub mod schema;
mod store;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::globs::Globs;
use crate::finding::Severity;
use crate::rule::{Level, Param};

pub use effective::{Effective, Place, Setting};
pub use store::{Choice, Flags, Store};

/// The name that is looked for.
pub const NAME: &str = "proxylint.toml";

/// A configuration file that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", place(path, *line))]
pub struct Error {
    /// The file, as it is named to people; empty where the command line is wrong.
    pub path: String,
    /// 1-based; `None` where the whole file is meant.
    pub line: Option<usize>,
    /// What is wrong; small first letter, no full stop.
    pub message: String,
}

fn place(path: &str, line: Option<usize>) -> String {
    match line {
        _ if path.is_empty() => String::new(),
        Some(line) => format!("{path}:{line}: "),
        None => format!("{path}: "),
    }
}

/// A value and the line that states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// 1-based.
    pub line: usize,
}

/// A configuration file.
#[derive(Debug, Clone)]
pub struct File {
    /// Its path, as people are told.
    pub shown: String,
    /// The folder that its paths are relative to, absolute.
    pub folder: PathBuf,
    /// What holds for everything.
    pub base: Layer,
    /// What holds for some configurations; later ones win.
    pub targets: Vec<Target>,
    /// Levels and parameters of rules.
    pub rules: Vec<RuleSetting>,
    /// Levels of rules for some files; later ones win.
    pub overrides: Vec<Override>,
    /// Folders of rules.
    pub rule_folders: Option<Placed<Vec<PathBuf>>>,
    /// What is left out where folders are looked through.
    pub exclude: Globs,
    /// The patterns of `exclude`, as written.
    pub excluded: Option<Placed<Vec<String>>>,
    /// Whether to check also what no main file includes.
    pub all: Option<Placed<bool>>,
    /// The least severity that is shown.
    pub min_severity: Option<Placed<Severity>>,
    /// The least severity that fails.
    pub fail_on: Option<Placed<Severity>>,
    /// Known findings.
    pub baseline: Option<Placed<PathBuf>>,
}

/// What a file states of servers: at its top, or in a `[[target]]`.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    /// The nginx that will read it, as written.
    pub nginx: Option<Placed<String>>,
    /// The Caddy that will read it, as written.
    pub caddy: Option<Placed<String>>,
    /// A file with what `nginx -V` says.
    pub nginx_build: Option<Placed<PathBuf>>,
    /// A file with what `caddy list-modules` says.
    pub caddy_build: Option<Placed<PathBuf>>,
    /// Most requests at once to one backend.
    pub peak_concurrency: Option<Placed<u32>>,
    /// Modules that nginx has besides its own.
    pub modules: Option<Placed<Vec<String>>>,
    /// Directives that nginx knows besides those of known modules.
    pub directives: Option<Placed<Vec<String>>>,
    /// Where folders of the server lie here.
    pub map: Option<Placed<Vec<(PathBuf, PathBuf)>>>,
    /// Variables of Caddy's environment.
    pub env: Option<Placed<Vec<(String, String)>>>,
    /// Files with such variables.
    pub env_files: Option<Placed<Vec<PathBuf>>>,
}

/// A `[[target]]`: what holds for the configurations whose main file matches.
#[derive(Debug, Clone)]
pub struct Target {
    /// Which.
    pub paths: Globs,
    /// What.
    pub layer: Layer,
}

/// An `[[override]]`: what holds for findings in the files that match.
#[derive(Debug, Clone)]
pub struct Override {
    /// Which.
    pub paths: Arc<Globs>,
    /// What.
    pub rules: Vec<RuleSetting>,
}

/// What a file says of a rule, or of several.
#[derive(Debug, Clone)]
pub struct RuleSetting {
    /// A rule, a server, a category or `all`.
    pub name: String,
    /// Its level, where it says one.
    pub level: Option<Level>,
    /// Parameters.
    pub params: Vec<(String, Param)>,
    /// 1-based.
    pub line: usize,
}

impl File {
    /// The target tables that a main file matches, the last one first.
    fn targets_of(&self, main: &Path) -> impl Iterator<Item = &Target> {
        self.targets.iter().rev().filter(move |target| target.paths.matches(main))
    }

    fn error(&self, line: usize, message: impl Into<String>) -> Error {
        Error { path: self.shown.clone(), line: Some(line), message: message.into() }
    }
}

impl RuleSetting {
    /// The broader name comes first, so that the narrower one wins.
    fn breadth(&self) -> u8 {
        match self.name.as_str() {
            "all" => 0,
            name if !name.contains('/') => 1,
            _ => 2,
        }
    }
}
