//! The library in a few names: say what to check, get what is wrong.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::{Disk, Files};
use crate::fix::Safety;
use crate::lint::rounds::Changed;
use crate::report::{self, Format, Look};
use crate::rule::RuleError;
use crate::session::policy::Policy;
use crate::session::{self, Error, Found, Outcome, Request};
use crate::target::{TargetError, Versions};
use crate::version::Server;

/// What holds for a check. The default assumes every server version that can read the files, and
/// runs the rules that are on by default.
#[derive(Debug, Clone, Default)]
pub struct Options {
    policy: Policy,
    lang: Option<Server>,
    fixes: Option<Safety>,
}

/// Why a check could not begin: a path is missing, cannot be read, or holds nothing to check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Errors(pub Vec<Error>);

/// What a check found.
#[derive(Debug, Clone)]
pub struct Report {
    outcome: Outcome,
}

/// Checks files and folders on the disk, with all that they include.
///
/// # Errors
/// When a path cannot be checked. What is wrong with a configuration is in the report.
pub fn check<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>, options: &Options) -> Result<Report, Errors> {
    check_in(&Disk, paths, options)
}

/// Checks files that need not be on the disk, such as [`Memory`](crate::files::Memory).
///
/// ```
/// use proxylint::files::Memory;
///
/// let mut files = Memory::new();
/// files.insert("nginx.conf", &b"events {}\nhttp {\n    gzip on\n}\n"[..]);
/// let report = proxylint::check_in(&files, ["nginx.conf"], &proxylint::Options::new())?;
/// assert_eq!(report.findings()[0].finding.rule, "nginx/syntax");
/// # Ok::<(), proxylint::Errors>(())
/// ```
///
/// # Errors
/// When a path cannot be checked. What is wrong with a configuration is in the report.
pub fn check_in<P: Into<PathBuf>>(
    files: &dyn Files,
    paths: impl IntoIterator<Item = P>,
    options: &Options,
) -> Result<Report, Errors> {
    let request = Request {
        paths: paths.into_iter().map(Into::into).collect(),
        lang: options.lang,
        policies: Arc::new(options.policy.clone()),
        fixes: options.fixes,
        ..Request::default()
    };
    session::run(files, &request, None).map(|outcome| Report { outcome }).map_err(Errors)
}

impl Options {
    /// The default.
    pub fn new() -> Self {
        Self::default()
    }

    /// The versions that will read the files: `1.24`, `">=1.22, <1.30"`, `debian-12`, `nginx:1.28-alpine`.
    ///
    /// # Errors
    /// When the text states no version, or one that never was.
    pub fn target(mut self, server: Server, versions: &str) -> Result<Self, TargetError> {
        self.policy.target.set(server, Versions::parse(server, versions)?);
        Ok(self)
    }

    /// The language of the named files, where it cannot be told from them.
    #[must_use]
    pub fn lang(mut self, server: Server) -> Self {
        self.lang = Some(server);
        self
    }

    /// Only the rules that `select` names, less those that `ignore` names: ids, `nginx`, `caddy`,
    /// categories, `all`. An empty `select` is the default set.
    ///
    /// # Errors
    /// When a name is not known.
    pub fn rules(mut self, select: &[&str], ignore: &[&str]) -> Result<Self, RuleError> {
        Arc::make_mut(&mut self.policy.rules).select(select, ignore)?;
        Ok(self)
    }

    /// Where a folder of the server lies here, such as `/etc/nginx`.
    #[must_use]
    pub fn map(mut self, server: impl Into<PathBuf>, here: impl Into<PathBuf>) -> Self {
        self.policy.maps.add(server, here);
        self
    }

    /// Most requests at once to one backend: pools are judged by it.
    #[must_use]
    pub fn peak_concurrency(mut self, requests: u32) -> Self {
        self.policy.settings.peak_concurrency = Some(requests);
        self
    }

    /// Applies fixes, in memory: [`Report::changed`] says what the files would become.
    #[must_use]
    pub fn fix(mut self, riskiest: Safety) -> Self {
        self.fixes = Some(riskiest);
        self
    }
}

impl Report {
    /// What is wrong, sorted by path and place; with fixes, what remains.
    pub fn findings(&self) -> &[Found] {
        &self.outcome.findings
    }

    /// What the files become by the fixes. Nothing was written.
    pub fn changed(&self) -> &[Changed] {
        &self.outcome.changed
    }

    /// Whether all was read that should have been. No findings mean nothing where it was not.
    pub fn is_complete(&self) -> bool {
        self.outcome.is_complete()
    }

    /// Everything else: targets, files, what was not read.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Writes it in a format. Paths are given relative to `base`, the root of the repository.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, format: Format, base: &Path, out: &mut dyn Write) -> io::Result<()> {
        let look = Look { base, root: base, width: WIDTH, color: false, links: false, ascii: false };
        report::write(format, &self.outcome, look, out)
    }
}

/// Columns that prose is wrapped at.
const WIDTH: usize = 100;

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let between = if index == 0 { "" } else { "\n" };
            write!(f, "{between}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}
