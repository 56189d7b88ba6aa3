//! The steps of writing, one by one, on the disk.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::Path;

use tempfile::{Builder, NamedTempFile, TempPath};

/// What writing needs of a file system. A trait, so that a test can make any step fail.
pub(super) trait Store {
    /// The content of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Why the file cannot be replaced without loss, in words.
    fn check(&self, path: &Path) -> Result<(), String>;

    /// Writes a file like the one at `path`, owner and all, beside it.
    fn stage(&self, path: &Path, bytes: &[u8]) -> io::Result<TempPath>;

    /// Gives the file a second name, `name` if it is free or one of no meaning.
    fn keep(&self, path: &Path, name: Option<&Path>) -> io::Result<TempPath>;

    /// Renames `new` to `path`. On failure `new` comes back.
    fn replace(&self, new: TempPath, path: &Path) -> Result<(), (io::Error, TempPath)>;

    /// Sees to it that the names in a folder survive a power cut.
    fn sync(&self, folder: &Path);
}

pub(super) struct Disk;

impl Store for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn check(&self, path: &Path) -> Result<(), String> {
        let meta = fs::symlink_metadata(path).map_err(|error| super::reason(&error))?;
        if !meta.is_file() {
            return Err("it is not a regular file".to_owned());
        }
        if links(&meta) > 1 {
            return Err("it has other hard links, which would keep the old text".to_owned());
        }
        // Replacing a file asks for rights on its folder only; who made it read-only meant it.
        File::options().write(true).open(path).map(drop).map_err(|error| super::reason(&error))
    }

    fn stage(&self, path: &Path, bytes: &[u8]) -> io::Result<TempPath> {
        let meta = fs::symlink_metadata(path)?;
        let mut file = Builder::new().prefix(&prefix(path)).suffix(".new").tempfile_in(folder(path))?;
        file.write_all(bytes)?;
        dress(file.as_file(), path, &meta)?;
        file.as_file().sync_all()?;
        Ok(file.into_temp_path())
    }

    fn keep(&self, path: &Path, name: Option<&Path>) -> io::Result<TempPath> {
        let linked = match name {
            Some(name) => fs::hard_link(path, name).and_then(|()| TempPath::try_from_path(name)),
            None => Builder::new()
                .prefix(&prefix(path))
                .suffix(".old")
                .make_in(folder(path), |name| fs::hard_link(path, name))
                .map(NamedTempFile::into_temp_path),
        };
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => self.keep_copy(path, name),
            linked => linked,
        }
    }

    fn replace(&self, new: TempPath, path: &Path) -> Result<(), (io::Error, TempPath)> {
        new.persist(path).map_err(|failed| (failed.error, failed.path))
    }

    fn sync(&self, folder: &Path) {
        // Not every file system can; the names are right in any case but a power cut.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

impl Disk {
    /// For file systems without hard links.
    fn keep_copy(&self, path: &Path, name: Option<&Path>) -> io::Result<TempPath> {
        let copy = self.stage(path, &fs::read(path)?)?;
        File::options().write(true).open(&copy)?.set_modified(fs::metadata(path)?.modified()?)?;
        match name {
            None => Ok(copy),
            Some(name) => {
                copy.persist_noclobber(name).map_err(|failed| failed.error)?;
                TempPath::try_from_path(name)
            }
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

/// The beginning of a temporary name. It begins with a dot, which no `*` of an include matches.
fn prefix(path: &Path) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    prefix
}

#[cfg(unix)]
fn links(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(meta)
}

#[cfg(not(unix))]
fn links(_: &Metadata) -> u64 {
    1
}

/// Gives the new file what belongs to the old one besides its text.
#[cfg(unix)]
fn dress(new: &File, old: &Path, meta: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let now = new.metadata()?;
    if (now.uid(), now.gid()) != (meta.uid(), meta.gid()) {
        fchown(new, Some(meta.uid()), Some(meta.gid())).map_err(|error| {
            let (user, group) = (meta.uid(), meta.gid());
            io::Error::new(
                error.kind(),
                format!("its owner (user {user}, group {group}) cannot be kept, run as that user"),
            )
        })?;
    }
    new.set_permissions(meta.permissions())?;
    attributes(new, old)
}

#[cfg(not(unix))]
fn dress(new: &File, _: &Path, meta: &Metadata) -> io::Result<()> {
    new.set_permissions(meta.permissions())
}

/// Extended attributes: access control lists, labels, the user's own.
#[cfg(unix)]
fn attributes(new: &File, old: &Path) -> io::Result<()> {
    use xattr::FileExt;
    let Ok(names) = xattr::list(old) else { return Ok(()) };
    let names: Vec<_> = names.filter(|name| !is_signature(name)).collect();
    for name in &names {
        let value = xattr::get(old, name)?.unwrap_or_default();
        if new.get_xattr(name).ok().flatten().as_ref() != Some(&value) {
            new.set_xattr(name, &value).map_err(|error| {
                io::Error::new(error.kind(), format!("its attribute `{}` cannot be kept", name.display()))
            })?;
        }
    }
    // A folder's default access list must not open what the old file did not.
    let extra = new.list_xattr()?.filter(|name| name.to_string_lossy().starts_with("system.posix_acl"));
    extra.filter(|name| !names.contains(name)).try_for_each(|name| new.remove_xattr(name))
}

/// Sums of the old text, which would be wrong for the new one.
#[cfg(unix)]
fn is_signature(name: &std::ffi::OsStr) -> bool {
    name == "security.ima" || name == "security.evm"
}
