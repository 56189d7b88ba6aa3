//! `proxylint check --add-ignores`.

use super::terminal::Terminal;
use super::{Exit, Trouble, check, patch};
use crate::files::Files;
use crate::report::{plain, summary};
use crate::session::{self, Ignoring, Request};

/// Writes comments that ignore what is found, or prints them as a patch.
pub(super) fn run(
    files: &dyn Files,
    request: &Request,
    reason: &str,
    diff: bool,
    terminal: &Terminal,
) -> Result<Exit, Vec<Trouble>> {
    if reason.trim().is_empty() || reason.contains(['\n', '\r']) {
        let help = "say in one line why it stays as it is: `--add-ignores \"as it was before proxylint\"`";
        return Err(Trouble::new("`--add-ignores` needs a reason").help(help).into());
    }
    let request = Request { fixes: None, ..request.clone() };
    let Ignoring { changed, ignored, left } =
        session::ignoring(files, &request, reason.trim()).map_err(check::troubles)?;
    if !left.is_complete() {
        let help = "see to it that everything can be read";
        return Err(Trouble::new("nothing was written, as not everything could be read").help(help).into());
    }
    if diff {
        patch::print(&changed, terminal)?;
    } else {
        patch::write_files(&changed, None)?;
    }
    for found in &left.findings {
        let (file, span) = (found.file(found.finding.span), found.finding.span);
        let at = file.position(span.start);
        let path = plain::line(&file.path().to_string_lossy()).into_owned();
        terminal.notice(&format!("not ignored: {path}:{}:{} [{}]", at.line, at.column, found.finding.rule));
    }
    let done = if diff { "the patch ignores" } else { "ignored" };
    let (findings, files) = (summary::many(ignored, "finding"), summary::many(changed.len(), "file"));
    terminal.notice(&format!("{done} {findings} by comments in {files}"));
    Ok(if left.fails { Exit::Findings } else { Exit::Clean })
}
