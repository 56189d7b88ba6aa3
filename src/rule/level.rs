//! Severity and category: a leaf that `build.rs` takes in too.

use serde::{Deserialize, Serialize};

/// What happens in production. Ordered from harmless to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// True and worth knowing; whether it hurts depends on facts outside the files.
    Info,
    /// Likely harm on a path that a real request takes.
    Warning,
    /// A version of the target refuses the file, or the thing named is certainly broken or exploitable.
    Error,
}

impl Severity {
    /// The word used in rule files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The kind of harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Someone can read, send or reach what they must not.
    Security,
    /// The server does something other than what the text says or wants.
    Correctness,
    /// It costs connections, time or memory.
    Performance,
    /// It breaks or changes with a server version.
    Upgrade,
    /// It only reads badly.
    Style,
}

impl Category {
    /// The word used in rule files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Security => "security",
            Self::Correctness => "correctness",
            Self::Performance => "performance",
            Self::Upgrade => "upgrade",
            Self::Style => "style",
        }
    }
}
