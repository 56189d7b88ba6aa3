//! A folder for a scratch copy, which vanishes with its value.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// What a scratch copy is made of, by absolute paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A folder, with those around it.
    Folder(PathBuf),
    /// A file and its content.
    File(PathBuf, Vec<u8>),
    /// A symbolic link: its name, and where it leads.
    Link(PathBuf, PathBuf),
}

/// A folder of our own.
#[derive(Debug)]
pub struct Scratch(TempDir);

impl Scratch {
    /// A new one, empty.
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn new() -> io::Result<Self> {
        tempfile::Builder::new().prefix("proxylint-").tempdir().map(Self)
    }

    /// Where it lies: an absolute path without links.
    ///
    /// # Errors
    /// When somebody took it away.
    pub fn path(&self) -> io::Result<PathBuf> {
        self.0.path().canonicalize()
    }

    /// Makes what is listed. A server that drops its rights may read it.
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn fill(&self, entries: &[Entry]) -> io::Result<()> {
        entries.iter().try_for_each(|entry| match entry {
            Entry::Folder(path) => std::fs::create_dir_all(path),
            Entry::File(path, bytes) => std::fs::write(path, bytes),
            Entry::Link(path, to) => link(to, path),
        })
    }
}

#[cfg(unix)]
fn link(to: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, path)
}

#[cfg(not(unix))]
fn link(to: &Path, path: &Path) -> io::Result<()> {
    if to.is_dir() { Ok(()) } else { std::fs::copy(to, path).map(drop) }
}
