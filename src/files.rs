//! The file system behind a trait, and all that touches the disk.

pub mod dump;
#[cfg(not(target_family = "wasm"))]
pub mod git;
pub mod given;
pub mod globs;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod interrupt;
pub mod scratch;
#[cfg(not(target_family = "wasm"))]
pub mod write;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use foldhash::HashMap;

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A device, FIFO or socket: never read.
    Special,
    /// There is nothing.
    Missing,
    /// It cannot be told: no permission, a dump, an editor without the disk.
    Unknown,
}

/// What lies in a folder and the folders in it.
#[derive(Debug, Default)]
pub struct Walk {
    /// Everything but folders, sorted, with what it is.
    pub entries: Vec<(PathBuf, Kind)>,
    /// Folders that could not be listed, and why.
    pub closed: Vec<(PathBuf, io::Error)>,
}

/// Whether a walk enters a folder of that name: hidden ones and those of other people's packages
/// hold no configuration that somebody serves from there.
fn enters(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    !name.starts_with(b".") && name != b"node_modules"
}

/// Where configurations are read from: the disk, memory, a dump, an editor's overlay.
pub trait Files: Sync {
    /// The content of a file; symbolic links are followed.
    ///
    /// # Errors
    /// As the system says them.
    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>>;

    /// The names in a folder, sorted by their bytes.
    ///
    /// # Errors
    /// As the system says them.
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>>;

    /// The path with every symbolic link resolved.
    ///
    /// # Errors
    /// As the system says them.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// What the path is, links followed.
    fn kind(&self, path: &Path) -> Kind;

    /// Whether the last name of the path is a symbolic link.
    fn is_link(&self, path: &Path) -> bool;

    /// Whether templates are read as what they become.
    fn renders(&self) -> bool {
        false
    }

    /// Everything below a folder. Hidden folders and `node_modules` are not entered, and no
    /// symbolic link to a folder is followed.
    fn walk(&self, folder: &Path) -> Walk;
}

/// The disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        std::fs::read(path).map(Into::into)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let mut names =
            std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort_unstable();
        Ok(names)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(path)
    }

    fn kind(&self, path: &Path) -> Kind {
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_file() => Kind::File,
            Ok(meta) if meta.is_dir() => Kind::Folder,
            Ok(_) => Kind::Special,
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Kind::Missing,
            Err(_) => Kind::Unknown,
        }
    }

    fn walk(&self, folder: &Path) -> Walk {
        let mut walk = Walk::default();
        let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter();
        for entry in entries.filter_entry(|entry| entry.depth() == 0 || enters_entry(entry)) {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) if entry.file_type().is_file() => walk.entries.push((entry.into_path(), Kind::File)),
                Ok(entry) => match self.kind(entry.path()) {
                    Kind::Folder => {}
                    kind => walk.entries.push((entry.into_path(), kind)),
                },
                Err(error) => {
                    let path = error.path().unwrap_or(folder).to_owned();
                    let reason = error.into_io_error().unwrap_or_else(|| io::ErrorKind::InvalidInput.into());
                    walk.closed.push((path, reason));
                }
            }
        }
        walk
    }

    fn is_link(&self, path: &Path) -> bool {
        std::fs::read_link(path).is_ok()
    }
}

fn enters_entry(entry: &walkdir::DirEntry) -> bool {
    !entry.file_type().is_dir() || enters(entry.file_name())
}

/// Files in memory: examples of rules, tests, embedded configurations.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    files: BTreeMap<PathBuf, Arc<[u8]>>,
}

impl Memory {
    /// No files yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a file.
    pub fn insert(&mut self, path: impl AsRef<Path>, bytes: impl Into<Arc<[u8]>>) {
        self.files.insert(normal(path.as_ref()), bytes.into());
    }

    /// The files by path.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &Arc<[u8]>)> {
        self.files.iter().map(|(path, bytes)| (path.as_path(), bytes))
    }
}

impl Files for Memory {
    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        self.files.get(&normal(path)).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let folder = normal(folder);
        let mut names: Vec<OsString> = self
            .files
            .keys()
            .filter_map(|path| path.strip_prefix(&folder).ok()?.components().next())
            .map(|first| first.as_os_str().to_owned())
            .collect();
        names.dedup();
        if names.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(names) }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(normal(path))
    }

    fn kind(&self, path: &Path) -> Kind {
        let path = normal(path);
        if self.files.contains_key(&path) {
            Kind::File
        } else if self.files.keys().any(|file| file.starts_with(&path)) {
            Kind::Folder
        } else {
            Kind::Missing
        }
    }

    fn walk(&self, folder: &Path) -> Walk {
        let folder = normal(folder);
        let below = |path: &&PathBuf| {
            let Ok(inner) = path.strip_prefix(&folder) else { return false };
            inner.parent().is_none_or(|between| between.iter().all(enters))
        };
        let entries = self.files.keys().filter(below).map(|path| (path.clone(), Kind::File)).collect();
        Walk { entries, closed: Vec::new() }
    }

    fn is_link(&self, _: &Path) -> bool {
        false
    }
}

/// Some files replaced in memory, the rest as in `base`: what a configuration would be after edits.
pub struct Overlay<'a> {
    base: &'a dyn Files,
    /// Keyed by canonical path.
    changed: BTreeMap<PathBuf, Arc<[u8]>>,
    /// Keyed by the path that they are opened by.
    opened: HashMap<PathBuf, Arc<[u8]>>,
}

impl<'a> Overlay<'a> {
    /// `base` without changes.
    pub fn new(base: &'a dyn Files) -> Self {
        Self::with(base, BTreeMap::new())
    }

    /// `base` with these files, by canonical path, replaced.
    pub fn with(base: &'a dyn Files, changed: BTreeMap<PathBuf, Arc<[u8]>>) -> Self {
        Self { base, changed, opened: HashMap::default() }
    }

    /// Takes the content of files, by the paths that they are opened by, for known: they are not read again.
    #[must_use]
    pub fn knowing(self, opened: HashMap<PathBuf, Arc<[u8]>>) -> Self {
        Self { opened, ..self }
    }

    /// Replaces the content of a file.
    ///
    /// # Errors
    /// When the path cannot be resolved.
    pub fn set(&mut self, path: &Path, bytes: impl Into<Arc<[u8]>>) -> io::Result<()> {
        self.changed.insert(self.base.canonical(path)?, bytes.into());
        Ok(())
    }

    /// The replaced files, by canonical path.
    pub fn changed(&self) -> &BTreeMap<PathBuf, Arc<[u8]>> {
        &self.changed
    }
}

impl Files for Overlay<'_> {
    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        if let Some(bytes) = self.opened.get(path) {
            return Ok(bytes.clone());
        }
        if !self.changed.is_empty()
            && let Ok(canonical) = self.base.canonical(path)
            && let Some(bytes) = self.changed.get(&canonical)
        {
            return Ok(bytes.clone());
        }
        self.base.read(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.base.list(folder)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.base.canonical(path)
    }

    fn kind(&self, path: &Path) -> Kind {
        if self.opened.contains_key(path) { Kind::File } else { self.base.kind(path) }
    }

    fn walk(&self, folder: &Path) -> Walk {
        self.base.walk(folder)
    }

    fn is_link(&self, path: &Path) -> bool {
        self.base.is_link(path)
    }

    fn renders(&self) -> bool {
        self.base.renders()
    }
}

/// Canonical paths of many files: each folder is asked for only once.
#[derive(Debug, Clone, Default)]
pub struct Folders(HashMap<PathBuf, PathBuf>);

impl Folders {
    /// The path with every link resolved; by text alone where that cannot be done.
    pub fn canonical(&mut self, files: &dyn Files, path: &Path) -> PathBuf {
        let resolved = |path: &Path| files.canonical(path).unwrap_or_else(|_| normal(path));
        match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) if !files.is_link(path) => {
                let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
                if !self.0.contains_key(folder) {
                    self.0.insert(folder.to_owned(), resolved(folder));
                }
                self.0[folder].join(name)
            }
            _ => resolved(path),
        }
    }
}

/// Why a file could not be read, in words for people.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => match error.to_string() {
            text if text.ends_with(')') => text.split(" (os error").next().unwrap_or_default().to_owned(),
            text => text,
        },
    }
}

/// The path of these bytes.
#[cfg(unix)]
pub fn to_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// The path of these bytes.
#[cfg(not(unix))]
pub fn to_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// The path without `.` and with `..` folded into the name before it, by text alone.
pub fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
