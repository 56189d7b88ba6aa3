//! The files of a git repository as they were at a revision.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Disk, Files, Kind, Walk, enters, normal, to_path};

/// Links that lead through more links than this lead nowhere.
const MAX_LINKS: usize = 40;

/// A git repository at a revision; what lies outside of it is read from the disk.
pub struct Revision {
    /// The folder of the working tree, canonical.
    root: PathBuf,
    /// The working directory, canonical.
    base: PathBuf,
    entries: BTreeMap<PathBuf, Entry>,
    folders: BTreeSet<PathBuf>,
    objects: Mutex<Objects>,
}

#[derive(Debug, Clone)]
struct Entry {
    object: String,
    is_link: bool,
}

/// A running `git cat-file --batch`.
struct Objects {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl std::fmt::Debug for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Revision").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Revision {
    /// The repository around the working directory `base` at a revision.
    ///
    /// # Errors
    /// When git cannot be run, there is no repository, or it has no such revision; in git's words.
    pub fn open(base: &Path, revision: &str) -> Result<Self, String> {
        let base = std::fs::canonicalize(base).map_err(|error| error.to_string())?;
        let root = git(&base, &["rev-parse", "--show-toplevel"])?;
        let root = to_path(root.trim_ascii_end());
        let root = std::fs::canonicalize(&root).map_err(|error| error.to_string())?;
        let commit =
            git(&base, &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{revision}^{{commit}}")])
                .map_err(|_| format!("there is no revision `{revision}` here"))?;
        let commit = String::from_utf8_lossy(commit.trim_ascii_end()).into_owned();
        let list = git(&root, &["ls-tree", "-r", "-z", "--full-tree", &commit])?;
        let mut entries: BTreeMap<PathBuf, Entry> = list.split(|&byte| byte == 0).filter_map(entry).collect();
        // What was renamed since then is found under its new name, too.
        let renames = git(&root, &["diff", "--name-status", "--find-renames", "--diff-filter=R", "-z", &commit])?;
        let mut parts = renames.split(|&byte| byte == 0);
        while let (Some(_), Some(old), Some(new)) = (parts.next(), parts.next(), parts.next()) {
            if let Some(entry) = entries.get(&to_path(old)).cloned() {
                entries.insert(to_path(new), entry);
            }
        }
        let folders = entries.keys().flat_map(|path| path.ancestors().skip(1).map(Path::to_owned)).collect();
        let objects = Mutex::new(Objects::open(&root).map_err(|error| cannot_run(&error))?);
        Ok(Self { root, base, entries, folders, objects })
    }

    /// Where a path lies in the repository, links resolved; `Err` with the path where it lies outside.
    fn resolve(&self, path: &Path) -> Result<PathBuf, PathBuf> {
        let mut whole = normal(&self.base.join(path));
        'again: for _ in 0..MAX_LINKS {
            let Ok(below) = whole.strip_prefix(&self.root) else { return Err(whole) };
            let mut seen = PathBuf::new();
            let parts: Vec<Component<'_>> = below.components().collect();
            for (index, part) in parts.iter().enumerate() {
                let next = seen.join(part);
                if let Some(entry) = self.entries.get(&next).filter(|entry| entry.is_link)
                    && let Ok(target) = self.object(&entry.object)
                {
                    let target = self.root.join(&seen).join(to_path(&target));
                    let rest: PathBuf = parts[index + 1..].iter().collect();
                    whole = normal(&target.join(rest));
                    continue 'again;
                }
                seen = next;
            }
            return Ok(seen);
        }
        Ok(PathBuf::from("\0"))
    }

    fn object(&self, name: &str) -> io::Result<Vec<u8>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner).get(name)
    }
}

impl Objects {
    fn open(root: &Path) -> io::Result<Self> {
        let mut child = Command::new("git")
            .arg("-C")
            .arg(root)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    fn get(&mut self, name: &str) -> io::Result<Vec<u8>> {
        writeln!(self.input, "{name}")?;
        self.input.flush()?;
        let mut head = String::new();
        self.output.read_line(&mut head)?;
        let size = head.trim_end().rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
        let size = size.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "git does not have it"))?;
        let mut bytes = vec![0; size + 1];
        self.output.read_exact(&mut bytes)?;
        bytes.pop();
        Ok(bytes)
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // It has nothing left to do; whether it ends by itself does not matter.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `<mode> <type> <object>\t<path>`; submodules have no content.
fn entry(line: &[u8]) -> Option<(PathBuf, Entry)> {
    let tab = memchr::memchr(b'\t', line)?;
    let (head, path) = (std::str::from_utf8(&line[..tab]).ok()?, &line[tab + 1..]);
    let mut parts = head.split(' ');
    let (mode, kind, object) = (parts.next()?, parts.next()?, parts.next()?);
    let entry = Entry { object: object.to_owned(), is_link: mode == "120000" };
    (kind == "blob").then(|| (to_path(path), entry))
}

fn git(folder: &Path, args: &[&str]) -> Result<Vec<u8>, String> {
    let output = Command::new("git").arg("-C").arg(folder).args(args).stdin(Stdio::null()).output();
    let output = output.map_err(|error| cannot_run(&error))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.trim().trim_start_matches("fatal: ").lines().next().unwrap_or("git failed").to_owned())
}

fn cannot_run(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "git is not on PATH".to_owned(),
        _ => format!("git cannot be run: {error}"),
    }
}

fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl Files for Revision {
    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        match self.resolve(path) {
            Ok(inside) => {
                let entry = self.entries.get(&inside).ok_or_else(missing)?;
                self.object(&entry.object).map(Into::into)
            }
            Err(outside) => Disk.read(&outside),
        }
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let inside = match self.resolve(folder) {
            Ok(inside) => inside,
            Err(outside) => return Disk.list(&outside),
        };
        if !self.folders.contains(&inside) {
            return Err(missing());
        }
        let below =
            |path: &PathBuf| path.strip_prefix(&inside).ok()?.components().next().map(|it| it.as_os_str().to_owned());
        let names: BTreeSet<OsString> = self.entries.keys().filter_map(below).collect();
        Ok(names.into_iter().collect())
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        match self.resolve(path) {
            Ok(inside) if self.entries.contains_key(&inside) || self.folders.contains(&inside) => {
                Ok(self.root.join(inside))
            }
            Ok(_) => Err(missing()),
            Err(outside) => Disk.canonical(&outside),
        }
    }

    fn kind(&self, path: &Path) -> Kind {
        match self.resolve(path) {
            Ok(inside) if self.entries.contains_key(&inside) => Kind::File,
            Ok(inside) if self.folders.contains(&inside) => Kind::Folder,
            Ok(_) => Kind::Missing,
            Err(outside) => Disk.kind(&outside),
        }
    }

    fn is_link(&self, path: &Path) -> bool {
        let whole = normal(&self.base.join(path));
        let folder = whole.parent().and_then(|folder| self.resolve(folder).ok());
        match (folder, whole.file_name()) {
            (Some(folder), Some(name)) => self.entries.get(&folder.join(name)).is_some_and(|entry| entry.is_link),
            _ => Disk.is_link(&whole),
        }
    }

    fn walk(&self, folder: &Path) -> Walk {
        let inside = match self.resolve(folder) {
            Ok(inside) => inside,
            Err(outside) => return Disk.walk(&outside),
        };
        let below = |path: &PathBuf| {
            let below = path.strip_prefix(&inside).ok()?;
            let entered = below.parent().is_none_or(|between| between.iter().all(enters));
            entered.then(|| folder.join(below))
        };
        let paths = self.entries.keys().filter_map(below);
        let kind = |path: PathBuf| {
            let kind = self.kind(&path);
            (path, kind)
        };
        let entries = paths.map(kind).filter(|(_, kind)| *kind != Kind::Folder).collect();
        Walk { entries, closed: Vec::new() }
    }
}
