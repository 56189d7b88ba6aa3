//! Which configuration file a path has.

use foldhash::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::effective::Effective;
use super::{Error, File, NAME, read};
use crate::catalog::nginx::Build;
use crate::files::globs::Globs;
use crate::files::{Files, Kind, normal, reason};
use crate::finding::Severity;
use crate::rule::{Level, RuleSet};
use crate::session::policy::{Policies, Policy, PolicyError};
use crate::syntax::caddy::Env;
use crate::target::Versions;
use crate::version::Server;

/// Which configuration file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The nearest one, upward from each path.
    Nearest,
    /// This one, for everything.
    Named(PathBuf),
    /// The nearest one, upward from this path, for everything.
    From(PathBuf),
    /// None.
    Nothing,
}

/// What the command line states: it wins over every file.
#[derive(Debug, Clone)]
pub struct Flags {
    /// `--nginx`, as written and what it means.
    pub nginx: Option<Versions>,
    /// `--caddy`.
    pub caddy: Option<Versions>,
    /// `--nginx-build`: the file and what it says.
    pub nginx_build: Option<(PathBuf, Build)>,
    /// `--caddy-build`: the file and what it says.
    pub caddy_build: Option<(PathBuf, crate::catalog::caddy::build::Build)>,
    /// `--peak-concurrency`.
    pub peak_concurrency: Option<u32>,
    /// `--map`: the server's folder and the one here.
    pub maps: Vec<(PathBuf, PathBuf)>,
    /// `--env`.
    pub env: Env,
    /// `--rules`: folders of rules.
    pub rule_folders: Vec<PathBuf>,
    /// `--select`.
    pub select: Vec<String>,
    /// `--ignore`.
    pub ignore: Vec<String>,
    /// Levels of rules.
    pub levels: Vec<(String, Level)>,
    /// `--exclude`.
    pub exclude: Vec<String>,
    /// `--all`.
    pub all: bool,
    /// `--min-severity`.
    pub min_severity: Option<Severity>,
    /// `--fail-on`.
    pub fail_on: Option<Severity>,
    /// `--baseline`.
    pub baseline: Option<PathBuf>,
    /// Asks the installed server for its version.
    pub installed: fn(Server) -> Result<Versions, PolicyError>,
}

/// Nothing is stated, and no server is installed.
impl Default for Flags {
    fn default() -> Self {
        let installed = |server: Server| {
            let message = format!("`auto` asks an installed {}, and there is none here", server.name());
            Err(PolicyError { message, help: None })
        };
        Self {
            nginx: None,
            caddy: None,
            nginx_build: None,
            caddy_build: None,
            peak_concurrency: None,
            maps: Vec::new(),
            env: Env::new(),
            rule_folders: Vec::new(),
            select: Vec::new(),
            ignore: Vec::new(),
            levels: Vec::new(),
            exclude: Vec::new(),
            all: false,
            min_severity: None,
            fail_on: None,
            baseline: None,
            installed,
        }
    }
}

/// The configuration files of a run, each read once.
pub struct Store {
    files: Box<dyn Files + Send>,
    /// The working directory.
    base: PathBuf,
    choice: Choice,
    flags: Flags,
    /// `--exclude`, compiled.
    exclude: Globs,
    /// By folder.
    found: Mutex<HashMap<PathBuf, Option<Arc<File>>>>,
    /// By the folder of the configuration file.
    rules: Mutex<HashMap<Option<PathBuf>, Arc<RuleSet>>>,
    /// By the folder of the configuration file, and which of its targets hold.
    policies: Mutex<HashMap<Applies, Arc<Policy>>>,
}

/// The folder of a configuration file, and which of its targets hold.
type Applies = (Option<PathBuf>, Vec<bool>);

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("choice", &self.choice).field("flags", &self.flags).finish_non_exhaustive()
    }
}

impl Store {
    /// For a run in the folder `base`. `files` is where configuration files are read.
    ///
    /// # Errors
    /// When a pattern of `--exclude` is none.
    pub fn new(files: Box<dyn Files + Send>, base: PathBuf, choice: Choice, flags: Flags) -> Result<Self, Error> {
        let mut exclude = Globs::new(&base, &base);
        for text in &flags.exclude {
            exclude.add(text).map_err(|message| Error { path: "--exclude".to_owned(), line: None, message })?;
        }
        let (found, rules, policies) = (Mutex::default(), Mutex::default(), Mutex::default());
        Ok(Self { files, base, choice, flags, exclude, found, rules, policies })
    }

    /// What the command line states.
    pub fn flags(&self) -> &Flags {
        &self.flags
    }

    /// What is in effect for a path.
    ///
    /// # Errors
    /// When a configuration file is wrong.
    pub fn effective(&self, path: &Path) -> Result<Effective, Error> {
        let file = self.file_of(path)?;
        let rules = self.rules_of(file.as_ref())?;
        Effective::new(&*self.files, file, path, &self.flags, rules)
    }

    /// The configuration file of a path.
    fn file_of(&self, path: &Path) -> Result<Option<Arc<File>>, Error> {
        match &self.choice {
            Choice::Nothing => Ok(None),
            Choice::Named(path) => self.once(path.clone(), || self.read(path).map(Some)),
            Choice::Nearest | Choice::From(_) => {
                let path = if let Choice::From(path) = &self.choice { path } else { path };
                let whole = normal(&self.base.join(path));
                let is_folder = self.files.kind(&whole) == Kind::Folder;
                let start = if is_folder { Some(whole.as_path()) } else { whole.parent() };
                start.map_or(Ok(None), |folder| self.once(folder.to_owned(), || self.nearest(folder)))
            }
        }
    }

    fn once(
        &self,
        key: PathBuf,
        find: impl FnOnce() -> Result<Option<Arc<File>>, Error>,
    ) -> Result<Option<Arc<File>>, Error> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = found.get(&key) {
            return Ok(known.clone());
        }
        let file = find()?;
        found.insert(key, file.clone());
        Ok(file)
    }

    fn nearest(&self, folder: &Path) -> Result<Option<Arc<File>>, Error> {
        // A link that leads nowhere is a file that somebody wanted to be read.
        let is_there = |path: &PathBuf| self.files.kind(path) != Kind::Missing || self.files.is_link(path);
        let found = folder.ancestors().map(|folder| folder.join(NAME)).find(is_there);
        found.map(|path| self.read(&path)).transpose()
    }

    fn read(&self, path: &Path) -> Result<Arc<File>, Error> {
        let whole = normal(&self.base.join(path));
        let shown = whole.strip_prefix(&self.base).unwrap_or(&whole).display().to_string();
        let folder = whole.parent().unwrap_or(Path::new("/"));
        let failed = |message: String| Error { path: shown.clone(), line: None, message };
        match self.files.kind(&whole) {
            Kind::Folder => return Err(failed("this is a folder, not a configuration file".to_owned())),
            Kind::Special => return Err(failed("this is not a regular file and is not read".to_owned())),
            Kind::File | Kind::Missing | Kind::Unknown => {}
        }
        let text = self.files.read(&whole).map_err(|error| failed(format!("cannot be read: {}", reason(&error))))?;
        read::read(&text, &shown, folder, &self.base).map(Arc::new)
    }

    /// The rules with what a configuration file and the command line say of them.
    fn rules_of(&self, file: Option<&Arc<File>>) -> Result<Arc<RuleSet>, Error> {
        let key = file.map(|file| file.folder.clone());
        let mut known = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rules) = known.get(&key) {
            return Ok(rules.clone());
        }
        let rules = Arc::new(super::build::rules(&*self.files, file.map(|file| &**file), &self.flags)?);
        known.insert(key, rules.clone());
        Ok(rules)
    }
}

impl Policies for Store {
    fn of(&self, main: &Path) -> Result<Arc<Policy>, PolicyError> {
        let file = self.file_of(main)?;
        let targets = file.iter().flat_map(|file| &file.targets).map(|target| target.paths.matches(main)).collect();
        let key = (file.map(|file| file.folder.clone()), targets);
        if let Some(known) = self.policies.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(known.clone());
        }
        let policy = Arc::new(self.effective(main)?.policy);
        self.policies.lock().unwrap_or_else(PoisonError::into_inner).insert(key, policy.clone());
        Ok(policy)
    }

    fn excludes(&self, path: &Path) -> Result<bool, PolicyError> {
        Ok(self.exclude.matches(path) || self.file_of(path)?.is_some_and(|file| file.exclude.matches(path)))
    }
}

impl From<Error> for PolicyError {
    fn from(error: Error) -> Self {
        let help = (!error.path.is_empty()).then(|| "`--no-config` leaves the configuration file out".to_owned());
        Self { message: error.to_string(), help }
    }
}
