//! Known findings: `--write-baseline`, `--since`.

use std::path::PathBuf;
use std::sync::Arc;

use super::check::troubles;
use super::input::Input;
use super::terminal::Terminal;
use super::{Exit, Trouble};
use crate::files::Files;
use crate::files::git::Revision;
use crate::files::write::write_new;
use crate::report::{plain, summary};
use crate::session::{self, Request, Since};

/// Writes all that is found into the baseline of the settings.
pub(super) fn write(files: &dyn Files, request: &Request, terminal: &Terminal) -> Result<Exit, Vec<Trouble>> {
    let path = baseline_of(request)?;
    let (baseline, outcome) = session::baseline(files, request, &path).map_err(troubles)?;
    if !outcome.is_complete() {
        let lines = summary::lines(&outcome, terminal.look(), summary::Fixes::Offered, false);
        lines.iter().for_each(|line| terminal.notice(line));
        let help = "see to it that the files named above can be read";
        let text = "no baseline was written, as not everything could be read";
        return Err(Trouble::new(text).help(help).into());
    }
    write_new(&path, baseline.to_json().as_bytes()).map_err(|error| Trouble::new(error.to_string()))?;
    let findings = summary::many(baseline.len(), "finding");
    terminal.notice(&format!("{findings} written to {}", plain::line(&path.to_string_lossy())));
    Ok(Exit::Clean)
}

/// The one baseline of all paths.
fn baseline_of(request: &Request) -> Result<PathBuf, Trouble> {
    let mut found: Option<PathBuf> = None;
    for path in &request.paths {
        let baseline = request.policies.of(path)?.baseline.clone().ok_or_else(|| {
            let help = "give `--baseline FILE`, or write `baseline = \"proxylint-baseline.json\"` into proxylint.toml";
            Trouble::new("`--write-baseline` needs a file to write").help(help)
        })?;
        if found.as_ref().is_some_and(|known| *known != baseline) {
            let text = "the paths have different baselines by their configuration files";
            return Err(Trouble::new(text).help("write one at a time, or name one with `--baseline FILE`"));
        }
        found = Some(baseline);
    }
    found.ok_or_else(|| Trouble::new("there is nothing to write a baseline of"))
}

/// The files at a git revision.
pub(super) fn since(revision: &str, input: &Input, terminal: &Terminal) -> Result<Since, Trouble> {
    if !matches!(input, Input::Disk) {
        let help = "check files of the repository";
        return Err(Trouble::new("`--since` compares files on the disk, not standard input").help(help));
    }
    let trouble = |why: String| {
        let help = "name a commit, branch or tag of the repository around the working directory";
        Trouble::new(format!("`--since {revision}`: {why}")).help(help)
    };
    let files = Revision::open(&terminal.base, revision).map_err(trouble)?;
    Ok(Since { revision: revision.to_owned(), files: Arc::new(files) })
}
