//! Writing several files so that nothing is lost: all of them or none, each either old or new at
//! any moment, and what belongs to a file (owner, mode, attributes) kept.
//!
//! The new texts are laid down beside the files first; then the old ones are kept under a second
//! name, and the new ones renamed over them. When a rename fails, the old ones are renamed back.

mod store;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempPath;

use super::interrupt::Interrupt;
use store::{Disk, Store};

/// A file to be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The file itself: an absolute path without links.
    pub path: PathBuf,
    /// What was read. A file that holds something else by now is not overwritten.
    pub old: Arc<[u8]>,
    /// What it is to hold.
    pub new: Arc<[u8]>,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
#[error("{cause}; {aftermath}")]
pub struct WriteError {
    cause: Cause,
    aftermath: Aftermath,
}

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error("`{}` cannot be written: {why}", path.display())]
    File { path: PathBuf, why: String },
    #[error("interrupted")]
    Interrupted,
}

impl Cause {
    fn file(path: &Path, why: impl Into<String>) -> Self {
        Self::File { path: path.to_owned(), why: why.into() }
    }

    fn system(path: &Path, error: &io::Error) -> Self {
        Self::file(path, reason(error))
    }
}

/// How a failure left the files.
#[derive(Debug, Default)]
struct Aftermath {
    /// Files that hold the new text although others could not be written, with the name that their
    /// old text has now.
    stranded: Vec<(PathBuf, PathBuf)>,
}

impl std::fmt::Display for Aftermath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.stranded.is_empty() {
            return f.write_str("no file was changed");
        }
        for (i, (path, kept)) in self.stranded.iter().enumerate() {
            let joint = if i == 0 { "" } else { ", " };
            write!(f, "{joint}`{}` could not be put back, its old text is in `{}`", path.display(), kept.display())?;
        }
        Ok(())
    }
}

/// Writes all files or none. With `backup`, the old texts stay beside them under their name and that
/// suffix. SIGINT, SIGTERM and SIGHUP wait until the files are all old or all new.
///
/// # Errors
/// When any of the files cannot be written; then none is, and no temporary file is left.
pub fn write_all(files: &[Rewrite], backup: Option<&OsStr>) -> Result<(), WriteError> {
    let interrupt = Interrupt::hold();
    let written = write_with(&Disk, files, backup, &|| interrupt.pending());
    drop(interrupt);
    written
}

fn write_with(
    store: &impl Store,
    files: &[Rewrite],
    backup: Option<&OsStr>,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), WriteError> {
    let prepared = prepare(store, files, backup, interrupted);
    let (staged, kept) = prepared.map_err(|cause| WriteError { cause, aftermath: Aftermath::default() })?;
    commit(store, files, staged, kept, backup.is_some())?;
    let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.path.parent()).collect();
    folders.into_iter().for_each(|folder| store.sync(folder));
    Ok(())
}

/// Does everything that can fail before the first file changes: the new texts and the old files,
/// under names of their own that vanish when dropped.
fn prepare(
    store: &impl Store,
    files: &[Rewrite],
    backup: Option<&OsStr>,
    interrupted: &dyn Fn() -> bool,
) -> Result<(Vec<TempPath>, Vec<TempPath>), Cause> {
    let go_on = || if interrupted() { Err(Cause::Interrupted) } else { Ok(()) };
    for file in files {
        store.check(&file.path).map_err(|why| Cause::file(&file.path, why))?;
        unchanged(store, file)?;
    }
    let mut staged = Vec::with_capacity(files.len());
    for file in files {
        go_on()?;
        staged.push(store.stage(&file.path, &file.new).map_err(|e| Cause::system(&file.path, &e))?);
    }
    let mut kept = Vec::with_capacity(files.len());
    for file in files {
        go_on()?;
        let name = backup.map(|suffix| with_suffix(&file.path, suffix));
        kept.push(store.keep(&file.path, name.as_deref()).map_err(|e| match name {
            Some(name) if e.kind() == io::ErrorKind::AlreadyExists => {
                Cause::file(&file.path, format!("its backup `{}` exists already", name.display()))
            }
            _ => Cause::system(&file.path, &e),
        })?);
    }
    go_on()?;
    Ok((staged, kept))
}

/// Renames the new texts over the files. On a failure, renames the old ones back.
fn commit(
    store: &impl Store,
    files: &[Rewrite],
    staged: Vec<TempPath>,
    mut kept: Vec<TempPath>,
    backup: bool,
) -> Result<(), WriteError> {
    for (done, (file, new)) in files.iter().zip(staged).enumerate() {
        let replaced = unchanged(store, file)
            .and_then(|()| store.replace(new, &file.path).map_err(|(e, _)| Cause::system(&file.path, &e)));
        if let Err(cause) = replaced {
            let old = kept.drain(..done).collect();
            return Err(WriteError { cause, aftermath: put_back(store, &files[..done], old) });
        }
    }
    if backup {
        // The names are the backups now.
        kept.into_iter().for_each(|path| drop(path.keep()));
    }
    Ok(())
}

fn put_back(store: &impl Store, files: &[Rewrite], kept: Vec<TempPath>) -> Aftermath {
    let mut aftermath = Aftermath::default();
    for (file, old) in files.iter().zip(kept).rev() {
        if let Err((_, old)) = store.replace(old, &file.path) {
            let name = old.to_path_buf();
            drop(old.keep());
            aftermath.stranded.push((file.path.clone(), name));
        }
    }
    aftermath
}

fn unchanged(store: &impl Store, file: &Rewrite) -> Result<(), Cause> {
    match store.read(&file.path) {
        Ok(bytes) if bytes[..] == file.old[..] => Ok(()),
        Ok(_) => Err(Cause::file(&file.path, "it changed after it was read, run again")),
        Err(error) => Err(Cause::system(&file.path, &error)),
    }
}

/// Writes a file that nobody reads yet, or whose content does not matter: at once or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let _interrupt = Interrupt::hold();
    let failed = |error| WriteError { cause: Cause::system(path, &error), aftermath: Aftermath::default() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(failed)?;
    io::Write::write_all(&mut file, bytes).map_err(failed)?;
    file.persist(path).map(drop).map_err(|error| failed(error.error))
}

/// Writes into a pipe or device that is there, or behind what a file holds.
///
/// # Errors
/// As the system says them.
pub fn write_into(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = std::fs::OpenOptions::new().append(true).open(path)?;
    io::Write::write_all(&mut file, bytes)
}

/// The path with something behind its last name.
pub fn with_suffix(path: &Path, suffix: &OsStr) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// What the system says, without its number.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ResourceBusy => {
            "it is a mount point of its own, change the file that is mounted there".to_owned()
        }
        _ => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            let mut chars = text.chars();
            chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
        }
    }
}
