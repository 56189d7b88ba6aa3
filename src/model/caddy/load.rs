//! Loading a Caddyfile: the main file and what it imports, as the versions of a target read it.
//!
//! Versions read the same text differently (heredocs, quoted braces, blocks of imports). The file
//! is parsed once for each way in which the target's versions read it; most files have only one.

use foldhash::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::{Files, Kind, normal};
use crate::model::include::{PathMap, expand, to_path};
use crate::model::nginx::Context;
use crate::model::{Entry, Model, NotRead, Problem, ProblemKind};
use crate::source::{FileId, SourceFile, Sources};
use crate::syntax::caddy::{Dialect, Env, Fault, FaultKind, Feature, Load, Parsed, parse};
use crate::syntax::tree::Tree;
use crate::version::{Server, Version, VersionSet};

/// Loads one Caddyfile, again and again as it is being fixed: file ids stay the same.
#[derive(Debug)]
pub struct Loader {
    main: PathBuf,
    env: Env,
    target: VersionSet,
    maps: PathMap,
    /// By canonical path.
    ids: HashMap<PathBuf, FileId>,
    /// By id: the path a file was first opened by.
    paths: Vec<PathBuf>,
}

impl Loader {
    /// For the configuration that begins with `main`, and that versions of `target` will read.
    pub fn new(main: impl Into<PathBuf>, env: Env, maps: PathMap, target: VersionSet) -> Self {
        Self { main: main.into(), env, target, maps, ids: HashMap::default(), paths: Vec::new() }
    }

    /// Reads the configuration as the versions of the target do. The tree is that of the newest
    /// version that accepts the text, or of the newest if none does.
    ///
    /// # Errors
    /// When the main file itself cannot be read. Trouble with imported files is in the model.
    pub fn load(&mut self, files: &dyn Files) -> io::Result<Model> {
        if files.kind(&self.main) == Kind::Special {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let bytes = files.read(&self.main)?;
        let main = self.intern(files, &self.main.clone());
        let mut reader =
            Reader { loader: self, files, sources: Sources::new(), unread: HashMap::default(), not_read: Vec::new() };
        reader.reopen(main, bytes);
        let mut readings = readings(main, &mut reader);
        let Reader { sources, not_read, .. } = reader;
        let best = readings.iter().position(|reading| reading.parsed.faults.is_empty()).unwrap_or(0);
        let tree = std::mem::take(&mut readings[best].parsed.tree);
        Ok(model(main, sources, tree, readings, not_read))
    }

    /// The canonical paths of the files read, the main file first.
    pub fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<(&PathBuf, &FileId)> = self.ids.iter().collect();
        paths.sort_unstable_by_key(|(_, id)| **id);
        paths.into_iter().map(|(path, _)| path.clone()).collect()
    }

    fn intern(&mut self, files: &dyn Files, path: &Path) -> FileId {
        let canonical = files.canonical(path).unwrap_or_else(|_| normal(path));
        let next = FileId(self.paths.len() as u32);
        let id = *self.ids.entry(canonical).or_insert(next);
        if id == next {
            self.paths.push(path.to_owned());
        }
        id
    }
}

/// How some versions read the file.
struct Reading {
    versions: VersionSet,
    parsed: Parsed,
}

/// Parses once for each way in which the target's versions read the file, the newest first.
fn readings(main: FileId, reader: &mut Reader<'_>) -> Vec<Reading> {
    let env = reader.loader.env.clone();
    let mut rest: Vec<Version> = reader.loader.target.members(Server::Caddy).collect();
    if rest.is_empty() {
        rest.extend(Server::Caddy.releases().last());
    }
    let mut readings = Vec::new();
    while let Some(&version) = rest.last() {
        let parsed = parse(main, reader, &env, &Dialect::new(version));
        let (same, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|&v| v == version || parsed.same_reading.contains(v));
        let versions = VersionSet::of(Server::Caddy, same);
        readings.push(Reading { versions, parsed });
        rest = others;
    }
    readings
}

fn model(main: FileId, sources: Sources, tree: Tree, readings: Vec<Reading>, not_read: Vec<NotRead>) -> Model {
    let entries = entries(&tree);
    let chains = tree.chains.clone();
    let all: VersionSet = readings.iter().fold(VersionSet::none(), |set, reading| set.union(&reading.versions));
    let mut problems: Vec<Problem> = Vec::new();
    for Reading { versions, parsed } in readings {
        for Fault { kind, error } in parsed.faults {
            let kind = match kind {
                FaultKind::Syntax => ProblemKind::Syntax,
                FaultKind::Import => ProblemKind::Include,
            };
            match problems.iter_mut().find(|problem| problem.kind == kind && problem.error == error) {
                Some(known) => known.versions = known.versions.as_ref().map(|set| set.union(&versions)),
                None => {
                    let versions = Some(versions.clone());
                    problems.push(Problem { kind, error, versions });
                }
            }
        }
    }
    for problem in &mut problems {
        problem.versions.take_if(|versions| *versions == all);
    }
    Model::new(Server::Caddy, main, sources, vec![Arc::new(tree)], entries, chains, problems, not_read, Context::Main)
}

fn entries(tree: &Tree) -> Vec<Entry> {
    let entry = |(index, node): (usize, &crate::syntax::tree::NodeData)| Entry {
        tree: 0,
        node: index as u32,
        parent: node.parent,
        end: node.end,
        chain: tree.words_of(node).first().map_or_else(Default::default, |word| word.chain),
    };
    tree.nodes.iter().enumerate().map(entry).collect()
}

/// Reads files for the parser; each once, whatever the number of readings.
struct Reader<'a> {
    loader: &'a mut Loader,
    files: &'a dyn Files,
    sources: Sources,
    /// Files that could not be read, with the system's words.
    unread: HashMap<FileId, String>,
    not_read: Vec<NotRead>,
}

impl Reader<'_> {
    /// Reads the files that earlier loads met, so that their ids stay.
    fn reopen(&mut self, main: FileId, bytes: Arc<[u8]>) {
        for (index, path) in self.loader.paths.clone().into_iter().enumerate() {
            let id = FileId(index as u32);
            let read = if id == main { Ok(bytes.clone()) } else { self.files.read(&path) };
            self.add(id, path, read);
        }
    }

    fn add(&mut self, id: FileId, path: PathBuf, read: io::Result<Arc<[u8]>>) {
        let bytes = read.unwrap_or_else(|error| {
            self.unread.insert(id, error.to_string());
            Arc::from(&b""[..])
        });
        self.sources.add(Arc::new(SourceFile::new(path, bytes)));
    }

    fn open(&mut self, path: &Path) -> FileId {
        let id = self.loader.intern(self.files, path);
        if id.0 as usize == self.sources.iter().len() {
            self.add(id, path.to_owned(), self.files.read(path));
        }
        id
    }

    fn read(&mut self, path: &Path, dialect: &Dialect) -> Result<Option<FileId>, String> {
        let shown = path.display();
        if self.files.kind(path) == Kind::Folder {
            return Err(format!("`{shown}` is a folder: Caddy imports files, as in `{shown}/*.caddy`"));
        }
        let id = self.open(path);
        if let Some(reason) = self.unread.get(&id) {
            let entry = NotRead { path: path.to_owned(), reason: reason.clone() };
            if !self.not_read.contains(&entry) {
                self.not_read.push(entry);
            }
            return Ok(None);
        }
        if self.sources.get(id).bytes().is_empty() && !dialect.has(Feature::EmptyImport) {
            return Err(format!("`{shown}` is empty: Caddy before 2.6.3 refuses to import it"));
        }
        Ok(Some(id))
    }
}

impl Load for Reader<'_> {
    fn sources(&self) -> &Sources {
        &self.sources
    }

    fn import(&mut self, pattern: &[u8], from: FileId, dialect: &Dialect) -> Result<Vec<FileId>, String> {
        let folder = self.sources.get(from).path().parent().unwrap_or(Path::new("")).to_owned();
        let written = to_path(pattern);
        let path = if written.is_absolute() { self.loader.maps.apply(written) } else { normal(&folder.join(written)) };
        let shown = String::from_utf8_lossy(pattern);
        let count = |byte: u8| pattern.iter().filter(|&&b| b == byte).count();
        let has = |byte: u8| count(byte) > 0;
        if count(b'*') > 1 || count(b'?') > 1 || (has(b'[') && has(b']')) {
            return Err(format!(
                "`{shown}` has more than one wildcard: Caddy allows one `*` and one `?`, and no `[…]`"
            ));
        }
        if !(has(b'*') || has(b'?')) {
            return match self.files.kind(&path) {
                Kind::Missing => Err(missing(&shown, &path)),
                _ => self.read(&path, dialect).map(|id| id.into_iter().collect()),
            };
        }
        let mut found = expand(self.files, &path, true);
        let last = pattern.rsplit(|&b| b == b'/').next().unwrap_or(pattern);
        let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if last.starts_with(b"*") && found.iter().any(is_hidden) && dialect.has(Feature::SkipDotfiles) {
            found.retain(|path| !is_hidden(path));
        }
        let mut ids = Vec::new();
        for path in found {
            ids.extend(self.read(&path, dialect)?);
        }
        Ok(ids)
    }
}

fn missing(shown: &str, path: &Path) -> String {
    let placeholder = shown.contains("{env.") || shown.contains("{vars.");
    if placeholder {
        return format!("`{shown}` is looked for as it stands: in the path of an import only `{{$NAME}}` is replaced");
    }
    if shown.contains(['/', '.']) {
        format!("`{}` does not exist: Caddy refuses to load the file", path.display())
    } else {
        format!("there is neither a snippet `({shown})` above nor a file `{}`", path.display())
    }
}
