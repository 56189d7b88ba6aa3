//! One file whose content was given, in the place where it lies or would lie.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Files, Kind, Walk, normal};

/// The disk, but for one file: what standard input holds, under the name that it has.
pub struct Given<'a> {
    base: &'a dyn Files,
    /// The working directory.
    here: PathBuf,
    /// As it was named, from the root on.
    named: PathBuf,
    /// Canonical where the file or its folder exists.
    path: PathBuf,
    bytes: Arc<[u8]>,
}

impl<'a> Given<'a> {
    /// `bytes` as the content of `path`; `here` is the working directory.
    pub fn new(base: &'a dyn Files, here: &Path, path: &Path, bytes: impl Into<Arc<[u8]>>) -> Self {
        let named = normal(&here.join(path));
        let in_folder = |path: &Path| Some(base.canonical(path.parent()?).ok()?.join(path.file_name()?));
        let path = base.canonical(&named).ok().or_else(|| in_folder(&named)).unwrap_or_else(|| named.clone());
        Self { base, here: here.to_owned(), named, path, bytes: bytes.into() }
    }

    /// Where the file lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn is(&self, path: &Path) -> bool {
        self.canonical(path).is_ok_and(|path| path == self.path)
    }
}

impl Files for Given<'_> {
    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        if self.is(path) { Ok(self.bytes.clone()) } else { self.base.read(path) }
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let mut names = self.base.list(folder)?;
        let here = self.base.canonical(folder).ok();
        if let (Some(name), true) = (self.path.file_name(), here.as_deref() == self.path.parent())
            && let Err(at) = names.binary_search_by(|known| known.as_os_str().cmp(name))
        {
            names.insert(at, name.to_owned());
        }
        Ok(names)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.base.canonical(path).or_else(|error| {
            let whole = normal(&self.here.join(path));
            let folder = whole.parent().and_then(|folder| self.base.canonical(folder).ok());
            let real = folder.zip(whole.file_name()).map(|(folder, name)| folder.join(name));
            let given = whole == self.named || real.is_some_and(|real| real == self.path);
            let around = self.named.parent().is_some_and(|folder| folder.starts_with(&whole));
            match (given, around) {
                (true, _) => Ok(self.path.clone()),
                // Its folder, which need not be there.
                (false, true) => Ok(whole),
                (false, false) => Err(error),
            }
        })
    }

    fn kind(&self, path: &Path) -> Kind {
        if self.is(path) { Kind::File } else { self.base.kind(path) }
    }

    fn walk(&self, folder: &Path) -> Walk {
        self.base.walk(folder)
    }

    fn is_link(&self, path: &Path) -> bool {
        self.base.is_link(path)
    }
}
