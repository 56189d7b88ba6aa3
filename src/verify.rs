//! A scratch copy of a configuration, for the server's own test to run on.
//!
//! The files that the server reads are written anew, with whatever a fix made of them; all else in
//! their folders is linked. In the copy, and only there, absolute includes lead into the copy, and
//! files that even a test run opens for writing (pid, logs, caches) are moved into it. No line is
//! added, so that the server's messages name the right ones.

mod moved;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::catalog::nginx::Context;
use crate::files::scratch::Entry;
use crate::files::{Files, Kind};
use crate::model::Model;
use crate::model::include::PathMap;
use crate::version::Server;

/// The folder of the scratch copy that stands for `/`.
const ROOT: &str = "root";

/// A plan of a scratch copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What it is made of.
    pub entries: Vec<Entry>,
    /// The file that the server is to begin with.
    pub main: PathBuf,
}

/// Plans a copy below `scratch`, an absolute path. `files` is where the configuration was read from.
///
/// # Errors
/// When a folder of the configuration cannot be listed.
pub fn plan(files: &dyn Files, model: &Model, maps: &PathMap, scratch: &Path) -> io::Result<Plan> {
    let mirror = Mirror::new(files, model, scratch)?;
    let texts = moved::texts(model, &mirror, maps);
    let mut entries = Vec::new();
    for folder in &mirror.folders {
        mirror.folder(folder, &texts, &mut entries)?;
    }
    let moved = scratch.join(moved::FOLDER);
    entries.push(Entry::Folder(moved));
    let mut main = mirror.place(&mirror.main);
    if model.server() == Server::Nginx
        && let Some(text) = moved::around(model.root_context(), &main, scratch)
    {
        main = main.with_file_name(".proxylint-main.conf");
        entries.push(Entry::File(main.clone(), text));
    }
    Ok(Plan { entries, main })
}

/// Plans a copy of the main file's folder for a container that mounts it: nothing is rewritten, and
/// nothing leads out of it.
///
/// # Errors
/// When something in the folder cannot be read.
pub fn plan_folder(files: &dyn Files, model: &Model, scratch: &Path) -> io::Result<Plan> {
    let mirror = Mirror::new(files, model, scratch)?;
    let (Some(top), Some(name)) = (mirror.main.parent(), mirror.main.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let mut entries = Vec::new();
    let mut open = vec![(top.to_owned(), scratch.to_owned(), 0)];
    while let Some((from, to, depth)) = open.pop() {
        if depth > MAX_DEPTH || entries.len() > MAX_ENTRIES {
            let text = format!("`{}` holds too much to copy", top.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        entries.push(Entry::Folder(to.clone()));
        for name in files.list(&from)? {
            let (from, to) = (from.join(&name), to.join(&name));
            match files.kind(&from) {
                Kind::Folder => open.push((from, to, depth + 1)),
                Kind::File => entries.push(Entry::File(to, files.read(&from)?.to_vec())),
                Kind::Special | Kind::Missing | Kind::Unknown => {}
            }
        }
    }
    Ok(Plan { entries, main: scratch.join(name) })
}

/// Deeper folders, or more files, are not a configuration's.
const MAX_DEPTH: usize = 16;
const MAX_ENTRIES: usize = 20_000;

/// Where the files of a configuration lie, and where in the copy.
struct Mirror<'a> {
    files: &'a dyn Files,
    root: PathBuf,
    /// The main file, its folder's links resolved.
    main: PathBuf,
    /// Canonical folders whose entries are laid out.
    folders: BTreeSet<PathBuf>,
    /// Canonical path of every file that was read, to its id.
    read: BTreeMap<PathBuf, u32>,
}

impl<'a> Mirror<'a> {
    fn new(files: &'a dyn Files, model: &Model, scratch: &Path) -> io::Result<Self> {
        let mut folders = BTreeSet::new();
        let mut read = BTreeMap::new();
        for (id, file) in model.sources().iter() {
            if let Ok(folder) = folder_of(files, file.path()) {
                folders.insert(folder);
            }
            read.insert(files.canonical(file.path())?, id.0);
        }
        let main = model.sources().get(model.main()).path();
        let main = folder_of(files, main)?.join(main.file_name().unwrap_or_default());
        let top = main.parent().unwrap_or(Path::new("/")).to_owned();
        // What lies between the main file's folder and one further in is laid out too.
        let between = |folder: &PathBuf| {
            let inner = folder.ancestors().take_while(|it| it.starts_with(&top));
            inner.map(Path::to_owned).collect::<Vec<_>>()
        };
        let folders = folders.iter().flat_map(between).chain(folders.iter().cloned()).collect();
        Ok(Self { files, root: scratch.join(ROOT), main, folders, read })
    }

    /// Where a canonical path lies in the copy.
    fn place(&self, path: &Path) -> PathBuf {
        let parts = path.components().filter(|part| matches!(part, Component::Normal(_)));
        self.root.join(parts.collect::<PathBuf>())
    }

    fn folder(&self, folder: &Path, texts: &BTreeMap<u32, Vec<u8>>, entries: &mut Vec<Entry>) -> io::Result<()> {
        entries.push(Entry::Folder(self.place(folder)));
        for name in self.files.list(folder)? {
            let path = folder.join(&name);
            let to = self.place(&path);
            let Ok(canonical) = self.files.canonical(&path) else { continue };
            let within = self.folders.iter().any(|it| it.starts_with(&canonical));
            match self.read.get(&canonical) {
                Some(id) => entries.push(Entry::File(to, texts.get(id).cloned().unwrap_or_default())),
                None if within && canonical == path => {}
                None if within => entries.push(Entry::Link(to, self.place(&canonical))),
                None => entries.push(Entry::Link(to, canonical)),
            }
        }
        Ok(())
    }
}

/// The folder of a file, its links resolved.
fn folder_of(files: &dyn Files, path: &Path) -> io::Result<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    files.canonical(folder.unwrap_or(Path::new(".")))
}

/// What a server's test says of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is right.
    Accepted,
    /// The server stops.
    Stopped {
        /// Its words, those of the copy's paths replaced by the real ones.
        words: String,
        /// Whether it had read everything by then: what stops it lies outside of the text.
        read: bool,
    },
}

/// What the verdicts before and after come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The server takes the patched configuration.
    Verified,
    /// It reads all of the patched configuration, then something outside of it stops the server, as it did before.
    VerifiedBut(String),
    /// It took the configuration and refuses the patched one: in these words.
    Damaged(String),
    /// It cannot be told: the server stops before it has read everything, as it did before.
    Unverified(String),
}

impl Verdict {
    /// What a test run of nginx or Caddy printed, by its paths in a copy below `scratch`.
    pub fn of(accepted: bool, output: &str, scratch: &Path) -> Self {
        if accepted {
            return Self::Accepted;
        }
        let root = scratch.join(ROOT);
        let output = output.replace(&*root.to_string_lossy(), "").replace(&*scratch.to_string_lossy(), "");
        let read = output.contains("syntax is ok");
        let telling = |line: &&str| line.contains("[emerg] ") || line.starts_with("Error");
        let line = output.lines().find(telling).or_else(|| output.lines().rfind(|line| !line.trim().is_empty()));
        let words = plain_words(line.unwrap_or("it says nothing"));
        Self::Stopped { words: words.to_owned(), read }
    }

    /// What a verdict and the one on the patched configuration come to.
    pub fn then(self, after: Self) -> Answer {
        match (self, after) {
            (_, Self::Accepted) => Answer::Verified,
            (Self::Accepted, Self::Stopped { words, .. }) => Answer::Damaged(words),
            (Self::Stopped { read: true, .. }, Self::Stopped { words, read: false }) => Answer::Damaged(words),
            (Self::Stopped { read: true, words: before }, Self::Stopped { words, .. }) if !alike(&before, &words) => {
                Answer::Damaged(words)
            }
            (_, Self::Stopped { words, read: true }) => Answer::VerifiedBut(words),
            (_, Self::Stopped { words, read: false }) => Answer::Unverified(words),
        }
    }
}

/// A message without what nginx's log puts in front of it: time, level, process.
fn plain_words(line: &str) -> &str {
    let Some((_, words)) = line.split_once("[emerg] ") else { return line.trim() };
    let is_process = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '#');
    words.split_once(": ").filter(|(process, _)| is_process(process)).map_or(words, |(_, words)| words).trim()
}

/// Whether two messages are the same but for line numbers.
fn alike(a: &str, b: &str) -> bool {
    let plain = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    plain(a) == plain(b)
}

/// Whether a fragment in that context can be tested within a main file made for it.
pub fn is_testable(context: Context) -> bool {
    matches!(context, Context::Main | Context::Http | Context::Server | Context::Location)
}
