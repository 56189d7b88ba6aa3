//! What `check` does with fixes: the patch of `--diff`, the files of `--fix`.

use std::path::Path;

use super::Trouble;
use super::terminal::Terminal;
use crate::files::write::{Rewrite, write_all};
use crate::files::{Disk, Files};
use crate::fix::diff::{self, Base, FileDiff};
use crate::report::{self, plain};
use crate::session::Outcome;
use crate::version::Server;

/// Prints the changes as one patch.
pub(super) fn print(outcome: &Outcome, terminal: &Terminal) -> Result<(), Trouble> {
    let here = Disk.canonical(&terminal.base).unwrap_or_else(|_| terminal.base.clone());
    let files = outcome.changed.iter().map(|file| FileDiff { path: &file.path, old: &file.old, new: &file.new });
    let (patch, base) = diff::patch(&files.collect::<Vec<_>>(), &here);
    terminal.out(|out| {
        if terminal.is_for_eyes() { report::patch::write(&patch, terminal.look(), out) } else { out.write_all(&patch) }
    })?;
    if base == Base::Root && !patch.is_empty() {
        terminal.notice(&format!("names in the patch begin at `/`: apply it with `{}`", base.command("FILE")));
    }
    Ok(())
}

/// Writes the changed files, all or none.
pub(super) fn write(outcome: &Outcome) -> Result<(), Trouble> {
    let rewrite =
        |it: &crate::lint::rounds::Changed| Rewrite { path: it.path.clone(), old: it.old.clone(), new: it.new.clone() };
    let files: Vec<Rewrite> = outcome.changed.iter().map(rewrite).collect();
    write_all(&files, None).map_err(|error| Trouble::new(error.to_string()))
}

/// How to test and reload the configurations of changed files; proxylint runs neither.
pub(super) fn commands(outcome: &Outcome) -> Vec<String> {
    if outcome.changed.is_empty() {
        return Vec::new();
    }
    let mut lines: Vec<String> = outcome.mains.iter().map(|(server, main)| command(*server, main)).collect();
    lines.iter_mut().for_each(|line| *line = plain::line(line).into_owned());
    lines.sort_unstable();
    lines.dedup();
    lines
}

fn command(server: Server, main: &Path) -> String {
    let path = Disk.canonical(main).unwrap_or_else(|_| main.to_owned());
    let path = quoted(&path);
    match server {
        Server::Nginx if path == "/etc/nginx/nginx.conf" => "test and reload: nginx -t && nginx -s reload".to_owned(),
        Server::Nginx => format!("test and reload: nginx -t -c {path} && nginx -s reload"),
        Server::Caddy => {
            let file = format!("--config {path} --adapter caddyfile");
            format!("test and reload: caddy validate {file} && caddy reload {file}")
        }
    }
}

/// The path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%".contains(c);
    if text.chars().all(plain) { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
