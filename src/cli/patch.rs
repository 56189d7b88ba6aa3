//! What `check` does with fixes: the patch of `--diff`, the files of `--fix`.

use std::ffi::OsStr;
use std::path::Path;

use super::Trouble;
use super::terminal::Terminal;
use crate::files::write::{Rewrite, with_suffix, write_all, write_new};
use crate::files::{Disk, Files};
use crate::fix::diff::{self, Base, FileDiff};
use crate::lint::rounds::Changed;
use crate::model::include::would_be_read;
use crate::report::{self, plain};
use crate::session::Outcome;
use crate::version::Server;

/// Prints the changes as one patch.
pub(super) fn print(changed: &[Changed], terminal: &Terminal) -> Result<(), Trouble> {
    let (patch, base) = whole(changed, terminal);
    terminal.out(|out| {
        if terminal.is_for_eyes() { report::patch::write(&patch, terminal.look(), out) } else { out.write_all(&patch) }
    })?;
    if base == Base::Root && !patch.is_empty() {
        terminal.notice(&format!("names in the patch begin at `/`: apply it with `{}`", base.command("FILE")));
    }
    Ok(())
}

/// Writes the patch to a file; nothing where nothing changes.
pub(super) fn save(outcome: &Outcome, file: &Path, terminal: &Terminal) -> Result<(), Trouble> {
    let (patch, base) = whole(&outcome.changed, terminal);
    if patch.is_empty() {
        return Ok(());
    }
    write_new(file, &patch).map_err(|error| Trouble::new(error.to_string()))?;
    let command = plain::line(&base.command(&quoted(file))).into_owned();
    terminal.notice(&format!("the patch is in {}: apply it with `{command}`", plain::line(&quoted(file))));
    Ok(())
}

fn whole(changed: &[Changed], terminal: &Terminal) -> (Vec<u8>, Base) {
    let here = Disk.canonical(&terminal.base).unwrap_or_else(|_| terminal.base.clone());
    let files = changed.iter().map(|file| FileDiff { path: &file.path, old: &file.old, new: &file.new });
    diff::patch(&files.collect::<Vec<_>>(), &here)
}

/// Writes the changed files, all or none.
pub(super) fn write(outcome: &Outcome, backup: Option<&str>) -> Result<(), Trouble> {
    if let Some(suffix) = backup {
        backups_are_not_read(outcome, suffix)?;
    }
    write_files(&outcome.changed, backup)
}

/// Writes files, all or none.
pub(super) fn write_files(changed: &[Changed], backup: Option<&str>) -> Result<(), Trouble> {
    let rewrite = |it: &Changed| Rewrite { path: it.path.clone(), old: it.old.clone(), new: it.new.clone() };
    let files: Vec<Rewrite> = changed.iter().map(rewrite).collect();
    write_all(&files, backup.map(OsStr::new)).map_err(|error| Trouble::new(error.to_string()))
}

/// Sees to it that no include takes a backup for a part of the configuration.
fn backups_are_not_read(outcome: &Outcome, suffix: &str) -> Result<(), Trouble> {
    if suffix.is_empty() || suffix.contains('/') {
        return Err(Trouble::new(format!("`--backup={suffix}`: this makes no name for a backup; nothing was written"))
            .help("give what is to stand behind the names of the old files: `--backup=.orig`"));
    }
    for file in &outcome.changed {
        let backup = with_suffix(&file.path, OsStr::new(suffix));
        for config in &outcome.configs {
            if let Some(place) = would_be_read(&Disk, &config.after, &config.policy.maps, &backup) {
                let source = config.after.file(place);
                let place = format!("{}:{}", source.path().display(), source.position(place.start).line);
                let text = format!(
                    "the backup `{}` would be read as a part of the configuration ({place}); nothing was written",
                    backup.display()
                );
                return Err(
                    Trouble::new(text).help("give another suffix, or copy the files elsewhere and leave --backup out")
                );
            }
        }
    }
    Ok(())
}

/// How to test and reload the configurations of changed files; proxylint runs neither.
pub(super) fn commands(outcome: &Outcome) -> Vec<String> {
    let changed = outcome.configs.iter().filter(|config| config.is_changed());
    let mut lines: Vec<String> = changed.map(|config| command(config.before.server(), config.main())).collect();
    lines.iter_mut().for_each(|line| *line = plain::line(line).into_owned());
    lines.sort_unstable();
    lines.dedup();
    lines
}

fn command(server: Server, main: &Path) -> String {
    // Links of the folder are resolved, not of the file: relative includes start where the link lies.
    let folder = main.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = Disk.canonical(folder).unwrap_or_else(|_| folder.to_owned());
    let path = quoted(&folder.join(main.file_name().unwrap_or_default()));
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
pub(super) fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%".contains(c);
    if text.chars().all(plain) { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
