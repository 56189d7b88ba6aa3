//! One run: which configurations, what the rules say of them, which fixes.

mod absent;
mod outcome;
mod scope;

use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;

use crate::checks::Settings;
use crate::files::{Files, reason};
use crate::finding::Severity;
use crate::fix::Safety;
use crate::lint;
use crate::lint::rounds::{self, Checked, Linter, Reviewer};
use crate::model::Model;
use crate::model::include::PathMap;
use crate::model::load::Loader;
use crate::rule::set::RuleSet;
use crate::syntax::caddy::Env;
use crate::target::{Target, Versions};
use crate::version::Server;
use scope::Scope;

pub use outcome::{Assumed, Config, Counts, Found, Gap, Outcome, Unread};

/// What a run is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// The language of the named files, where names and content do not settle it.
    pub lang: Option<Server>,
    /// Whether to judge also files of folders that no main file includes.
    pub all: bool,
    /// Where folders of the server lie here.
    pub maps: PathMap,
    /// What is known of the environment that Caddy will run in.
    pub env: Env,
    /// The versions that will read the configurations.
    pub target: Target,
    /// The rules.
    pub rules: RuleSet,
    /// What else the user stated.
    pub settings: Settings,
    /// Findings below are left out.
    pub least: Severity,
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
    /// What to do.
    pub fn help(&self) -> String {
        match self {
            Self::Missing(_) => "name a file, such as nginx.conf, or a folder that holds one".to_owned(),
            Self::NotRegular(_) => "name a file or a folder".to_owned(),
            Self::Unreadable { .. } => "run proxylint as a user who may read it".to_owned(),
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
    unread.extend(configs.iter().flat_map(|it| absent::unseen(files, &request.maps, &it.model)));
    let (loaders, models): (Vec<Loader>, Vec<Model>) =
        configs.into_iter().map(|scope::Config { loader, model, .. }| (loader, model)).unzip();
    let mut session = Session { request, loaders };
    let checked: Vec<Checked> = models.into_par_iter().map(|model| session.first(model)).collect();
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
    let mut outcome = Outcome::new(done, |number| session.loaders[number].paths());
    outcome.directives = directives;
    for (config, before) in outcome.configs.iter_mut().zip(before) {
        config.before = before;
    }
    outcome.add_gaps(unread, not_included);
    Ok(outcome)
}

/// Reads and checks the configurations of a run.
struct Session<'a> {
    request: &'a Request,
    /// By the number of the configuration.
    loaders: Vec<Loader>,
}

impl Session<'_> {
    fn first(&self, model: Model) -> Checked {
        let versions = self.request.target.of(&model);
        self.findings(model, versions)
    }

    fn findings(&self, model: Model, versions: Versions) -> Checked {
        let Request { rules, settings, least, .. } = self.request;
        let mut findings = lint::run(&model, rules, &versions, settings);
        findings.retain(|finding| finding.severity >= *least);
        Checked { model: model.into(), target: versions.set, stated: versions.stated.is_some(), findings }
    }
}

impl Linter for Session<'_> {
    type Error = Error;

    fn load(&mut self, number: usize, before: &Checked, files: &dyn Files) -> Result<Model, Error> {
        let main = before.model.sources().get(before.model.main()).path();
        let unreadable = |error| Error::Unreadable { path: main.to_owned(), reason: reason(&error) };
        self.loaders[number].load(files).map_err(unreadable)
    }

    fn check(&mut self, before: &Checked, model: Model) -> Checked {
        let versions = self.request.target.get(before.model.server()).clone();
        self.findings(model, Versions { set: before.target.clone(), ..versions })
    }
}
