//! One run: which configurations, what the rules say of them, which fixes.

mod absent;
mod ignoring;
mod outcome;
pub mod policy;
mod scope;

use foldhash::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

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

pub use ignoring::{Ignoring, ignoring};
pub use outcome::{Assumed, Config, Counts, Found, Gap, Outcome, Passed, Unread};

/// What a run is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// The language of the named files, where names and content do not settle it.
    pub lang: Option<Server>,
    /// What holds for them.
    pub policies: Arc<dyn Policies>,
    /// The riskiest fixes to apply; `None` applies none.
    pub fixes: Option<Safety>,
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
            Self::Template(_) => "check the file that is made from it".to_owned(),
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
    let Scope { configs, mut unread, not_included, .. } = Scope::new(files, request)?;
    unread.extend(configs.iter().flat_map(|it| absent::unseen(files, &it.policy.maps, &it.model)));
    let (mut session, models) = Session::new(configs);
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
    for (config, before) in outcome.configs.iter_mut().zip(before) {
        config.before = before;
    }
    outcome.add_gaps(unread, not_included);
    Ok(outcome)
}

/// Reads and checks the configurations of a run. Lists are by the number of the configuration.
struct Session {
    loaders: Vec<Loader>,
    policies: Vec<Arc<Policy>>,
    /// The numbers by the path of the main file, as it was opened.
    numbers: HashMap<PathBuf, usize>,
}

impl Session {
    fn new(configs: Vec<scope::Config>) -> (Self, Vec<Model>) {
        let mut session = Self { loaders: Vec::new(), policies: Vec::new(), numbers: HashMap::default() };
        let mut models = Vec::new();
        for scope::Config { loader, model, policy, .. } in configs {
            session.numbers.insert(main(&model).to_owned(), models.len());
            session.loaders.push(loader);
            session.policies.push(policy);
            models.push(model);
        }
        (session, models)
    }

    fn first(&self, number: usize, model: Model) -> (Checked, Passed) {
        let versions = self.policies[number].target.of(&model);
        self.findings(number, model, versions)
    }

    fn findings(&self, number: usize, model: Model, versions: Versions) -> (Checked, Passed) {
        let Policy { rules, settings, least, .. } = &*self.policies[number];
        let lint::Said { mut findings, ignored } = lint::say(&model, rules, &versions, settings);
        findings.retain(|finding| finding.severity >= *least);
        let passed = Passed { ignored: ignored.len() };
        let stated = versions.stated.is_some();
        (Checked { model: model.into(), target: versions.set, stated, findings }, passed)
    }
}

fn main(model: &Model) -> &Path {
    model.sources().get(model.main()).path()
}

impl Linter for Session {
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
