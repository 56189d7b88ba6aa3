//! One run: which configurations, what the rules say of them, which fixes.

mod absent;
mod ignoring;
mod outcome;
pub mod policy;
mod scope;
mod sieve;

use foldhash::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use crate::baseline::{Baseline, BaselineError, Entry};
use crate::catalog::nginx::Context;
use crate::files::{Files, reason};
use crate::fix::Safety;
use crate::lint;
use crate::lint::rounds::{self, Checked, Linter, Reviewer};
use crate::model::Model;
use crate::model::load::Loader;
use crate::target::Versions;
use crate::version::Server;
use policy::{Policies, Policy, PolicyError};
use scope::Scope;
use sieve::Sieve;

pub use ignoring::{Ignoring, ignoring};
pub use outcome::{Assumed, Config, Counts, Found, Gap, Outcome, Passed, Unread};
pub use sieve::Since;

/// What a run is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// The language of the named files, where names and content do not settle it.
    pub lang: Option<Server>,
    /// The context of the named parts of nginx configurations, where it is known; they are judged in it and
    /// not as what a main file includes.
    pub context: Option<Context>,
    /// What holds for them.
    pub policies: Arc<dyn Policies>,
    /// Whether a program named the files, not a person: what is excluded or is no configuration is passed
    /// over, and only findings that concern these files are shown.
    pub hook: bool,
    /// Whether what is excluded is passed over also where it is named.
    pub force_exclude: bool,
    /// A revision whose findings are not shown, but where their lines have changed.
    pub since: Option<Since>,
    /// Whether the findings of baselines are shown, too.
    pub all_known: bool,
    /// The riskiest fixes to apply; `None` applies none.
    pub fixes: Option<Safety>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            lang: None,
            context: None,
            policies: Arc::new(Policy::default()),
            hook: false,
            force_exclude: false,
            since: None,
            all_known: false,
            fixes: None,
        }
    }
}

/// Why a run cannot begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A named path does not exist.
    #[error("`{}` does not exist", .0.display())]
    Missing(PathBuf),
    /// A named path is a device, FIFO or socket.
    #[error("`{}` is not a regular file and is not read", .0.display())]
    NotRegular(PathBuf),
    /// A named file cannot be read.
    #[error("`{}` cannot be read: {reason}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The user's settings are wrong.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A baseline cannot be used.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// A context was stated for a main file, a folder or a Caddyfile.
    #[error("`{}` is no part of an nginx configuration: it stands in no block", .0.display())]
    NoPart(PathBuf),
    /// A named file is a template.
    #[error("`{}` is a template: what it becomes is not known", .0.display())]
    Template(PathBuf),
    /// A named file is in a form that is not read.
    #[error("`{}`: {what}", path.display())]
    Unsupported {
        /// Which.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A named file is neither server's.
    #[error("`{}` looks neither like nginx's configuration nor like a Caddyfile", .0.display())]
    Foreign(PathBuf),
    /// A folder holds nothing to check.
    #[error("there is nothing to check in `{}`", folder.display())]
    Nothing {
        /// Which.
        folder: PathBuf,
        /// What was there, and why it is not checked.
        seen: Vec<(PathBuf, String)>,
    },
}

/// More files than this are counted, not listed.
const MOST_SEEN: usize = 5;

impl Error {
    /// What to do; empty where that cannot be said.
    pub fn help(&self) -> String {
        match self {
            Self::Missing(_) => "name a file, such as nginx.conf, or a folder that holds one".to_owned(),
            Self::NotRegular(_) => "name a file or a folder".to_owned(),
            Self::Unreadable { .. } => "run proxylint as a user who may read it".to_owned(),
            Self::Policy(error) => error.help.clone().unwrap_or_default(),
            Self::Baseline(_) => "`--write-baseline` writes one".to_owned(),
            Self::NoPart(_) => "leave --context out".to_owned(),
            Self::Template(_) => "check the file that is made from it, or say with --render how it is made".to_owned(),
            Self::Unsupported { .. } => "leave it out, or name another file".to_owned(),
            Self::Foreign(_) => "if it is one, say so with --lang nginx or --lang caddy".to_owned(),
            Self::Nothing { seen, .. } if seen.is_empty() => {
                "files called nginx.conf or Caddyfile, and *.conf files with nginx's directives, are looked for"
                    .to_owned()
            }
            Self::Nothing { seen, .. } => {
                let shown =
                    seen.iter().take(MOST_SEEN).map(|(path, why)| format!("passed over {}: {why}", path.display()));
                let mut lines: Vec<String> = shown.collect();
                if seen.len() > MOST_SEEN {
                    lines.push(format!("and {} more", seen.len() - MOST_SEEN));
                }
                lines.join("\n")
            }
        }
    }
}

/// Reads the configurations that a request names, checks them, and applies fixes in memory; those
/// only that the reviewer agrees to, where there is one.
///
/// # Errors
/// When a path cannot be checked. What is wrong with a configuration is in the outcome.
pub fn run(files: &dyn Files, request: &Request, reviewer: Option<&mut dyn Reviewer>) -> Result<Outcome, Vec<Error>> {
    let Scope { configs, mut unread, not_included, contexts, .. } = Scope::new(files, request)?;
    unread.extend(configs.iter().flat_map(|it| absent::unseen(files, &it.policy.maps, &it.model)));
    let sieve = Sieve::new(files, request, &configs)?;
    let (mut session, models) = Session::new(configs, sieve);
    let first = models.into_par_iter().enumerate().map(|(number, model)| session.first(number, model));
    let (checked, passed): (Vec<Checked>, Vec<Passed>) = first.unzip();
    let directives = checked.iter().map(|it| it.model.len()).sum();
    let complete = unread.iter().all(|it| it.gap != Gap::Failed);
    let complete = complete && checked.iter().all(|it| it.model.not_read().is_empty());
    let before: Vec<Arc<Model>> = checked.iter().map(|it| it.model.clone()).collect();
    let done = match (request.fixes.filter(|_| complete), reviewer) {
        (Some(allow), Some(reviewer)) => rounds::review(&mut session, files, checked, allow, reviewer),
        (Some(allow), None) => rounds::run(&mut session, files, checked, allow),
        (None, _) => rounds::judge(&mut session, files, checked),
    };
    let done = done.map_err(|error| vec![error])?;
    let mut outcome = Outcome::new(done, |number| session.loaders[number].paths(), |number| &session.policies[number]);
    outcome.directives = directives;
    passed.into_iter().for_each(|it| outcome.passed.merge(it));
    outcome.gone = gone(files, &session.sieve, &outcome);
    outcome.contexts = contexts;
    for (config, before) in outcome.configs.iter_mut().zip(before) {
        config.before = before;
    }
    outcome.add_gaps(unread, not_included);
    Ok(outcome)
}

/// Reads and checks the configurations of a run. Lists are by the number of the configuration.
struct Session<'a> {
    sieve: Sieve<'a>,
    loaders: Vec<Loader>,
    policies: Vec<Arc<Policy>>,
    /// The files that somebody named, where only they matter.
    named: Vec<Option<HashSet<PathBuf>>>,
    /// The numbers by the path of the main file, as it was opened.
    numbers: HashMap<PathBuf, usize>,
}

impl<'a> Session<'a> {
    fn new(configs: Vec<scope::Config>, sieve: Sieve<'a>) -> (Self, Vec<Model>) {
        let (loaders, policies, named) = (Vec::new(), Vec::new(), Vec::new());
        let mut session = Self { sieve, loaders, policies, named, numbers: HashMap::default() };
        let mut models = Vec::new();
        for scope::Config { loader, model, policy, named, .. } in configs {
            session.numbers.insert(main(&model).to_owned(), models.len());
            session.loaders.push(loader);
            session.policies.push(policy);
            session.named.push(named);
            models.push(model);
        }
        (session, models)
    }

    fn first(&self, number: usize, model: Model) -> (Checked, Passed) {
        let versions = self.policies[number].target.of(&model);
        self.findings(number, model, versions)
    }

    fn findings(&self, number: usize, model: Model, versions: Versions) -> (Checked, Passed) {
        let policy = &*self.policies[number];
        let Policy { rules, settings, least, .. } = policy;
        let lint::Said { mut findings, ignored } = lint::say(&model, rules, &versions, settings);
        findings.retain(|finding| finding.severity >= *least);
        let mut passed = self.sieve.sift(policy, self.named[number].as_ref(), &model, &mut findings);
        passed.ignored = ignored.len();
        let stated = versions.stated.is_some();
        (Checked { model: model.into(), target: versions.set, stated, findings }, passed)
    }
}

/// The known findings that are gone, with their baselines.
fn gone(files: &dyn Files, sieve: &Sieve<'_>, outcome: &Outcome) -> Vec<(PathBuf, Vec<Entry>)> {
    let read: HashSet<&Path> = outcome.files.iter().map(PathBuf::as_path).collect();
    let ran = |rule: &str, path: &Path| {
        let runs =
            |config: &Config| config.policy.rules.find(rule).map_or(true, |active| active.severity_at(path).is_some());
        read.contains(path) && outcome.configs.iter().any(runs)
    };
    let of = |(path, baseline): (&PathBuf, &Baseline)| {
        let met = outcome.passed.known.get(path).cloned().unwrap_or_default();
        let entries = baseline.gone(files, &met, ran);
        (!entries.is_empty()).then(|| (path.clone(), entries))
    };
    sieve.baselines.iter().filter_map(of).collect()
}

/// Everything that is found today, as a baseline at `path`.
///
/// # Errors
/// When a path cannot be checked.
pub fn baseline(files: &dyn Files, request: &Request, path: &Path) -> Result<(Baseline, Outcome), Vec<Error>> {
    let request = Request { fixes: None, all_known: true, ..request.clone() };
    let outcome = run(files, &request, None)?;
    let mut baseline = Baseline::new(files, path.parent().unwrap_or(Path::new("")));
    outcome.add_to(&mut baseline, files);
    Ok((baseline, outcome))
}

fn main(model: &Model) -> &Path {
    model.sources().get(model.main()).path()
}

impl Linter for Session<'_> {
    type Error = Error;

    fn load(&mut self, number: usize, before: &Checked, files: &dyn Files) -> Result<Model, Error> {
        let main = main(&before.model);
        let unreadable = |error| Error::Unreadable { path: main.to_owned(), reason: reason(&error) };
        self.loaders[number].load(files).map_err(unreadable)
    }

    fn check(&mut self, before: &Checked, model: Model) -> Checked {
        let number = self.numbers[main(&before.model)];
        let versions = self.policies[number].target.get(before.model.server()).clone();
        self.findings(number, model, Versions { set: before.target.clone(), ..versions }).0
    }
}
