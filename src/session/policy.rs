//! What holds for the configurations of a run: it may differ from one to the next.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::checks::Settings;
use crate::finding::Severity;
use crate::model::include::PathMap;
use crate::rule::set::RuleSet;
use crate::syntax::caddy::Env;
use crate::target::Target;

/// What holds for one configuration.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Where folders of the server lie here.
    pub maps: PathMap,
    /// What is known of the environment that Caddy will run in.
    pub env: Env,
    /// The versions that will read it.
    pub target: Target,
    /// The rules.
    pub rules: Arc<RuleSet>,
    /// What else the user stated.
    pub settings: Settings,
    /// Findings below are left out.
    pub least: Severity,
    /// Findings from here on are a failure.
    pub fail_on: Severity,
    /// Whether to judge also files of folders that no main file includes.
    pub all: bool,
    /// The file with the known findings.
    pub baseline: Option<PathBuf>,
}

/// Why it cannot be told what holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PolicyError {
    /// What is wrong, naming file and line.
    pub message: String,
    /// What to do, where that can be said.
    pub help: Option<String>,
}

/// Says what holds where.
pub trait Policies: Debug + Send + Sync {
    /// What holds for the configuration that begins with a file.
    ///
    /// # Errors
    /// When the user's settings are wrong.
    fn of(&self, main: &Path) -> Result<Arc<Policy>, PolicyError>;

    /// Whether files at a path are left out where a folder is looked through.
    ///
    /// # Errors
    /// When the user's settings are wrong.
    fn excludes(&self, path: &Path) -> Result<bool, PolicyError>;
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            maps: PathMap::default(),
            env: Env::new(),
            target: Target::assumed(),
            rules: Arc::new(RuleSet::builtin()),
            settings: Settings::default(),
            least: Severity::Info,
            fail_on: Severity::Warning,
            all: false,
            baseline: None,
        }
    }
}

/// One policy for everything.
impl Policies for Policy {
    fn of(&self, _: &Path) -> Result<Arc<Self>, PolicyError> {
        Ok(Arc::new(self.clone()))
    }

    fn excludes(&self, _: &Path) -> Result<bool, PolicyError> {
        Ok(false)
    }
}
