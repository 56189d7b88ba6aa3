//! Loading an nginx configuration: the main file, and what it includes, in the order and under the
//! parents that the server sees.
//!
//! Files are read and parsed in parallel, a generation of includes at a time; the model is put
//! together in order afterwards, so its content does not depend on timing.

use foldhash::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::nginx::Context;
use super::{Entry, Model, NotRead, Problem, ProblemKind};
use crate::files::{Files, Folders, Kind, normal, reason};
use crate::source::{FileId, SourceFile, Sources, Span};
use crate::syntax::SyntaxError;
use crate::syntax::nginx::{Parsed, parse};
use crate::syntax::note;
use crate::syntax::tree::{Body, ChainId, ChainLink, NodeData, Tree};
use crate::version::Server;

/// Directives of one configuration, every place of inclusion counted; behind it includes are not
/// followed any more (a file that includes itself by many names would never end).
const MAX_DIRECTIVES: usize = 5_000_000;

/// The largest file that spans can address, in bytes.
const MAX_FILE: usize = u32::MAX as usize - 1;

/// Where folders of the server lie here: `--map /etc/nginx=deploy/nginx`.
#[derive(Debug, Clone, Default)]
pub struct PathMap(Vec<(PathBuf, PathBuf)>);

impl PathMap {
    /// Says that the server's folder `from` lies at `to` here. Later ones win.
    pub fn add(&mut self, from: impl Into<PathBuf>, to: impl Into<PathBuf>) {
        self.0.push((from.into(), to.into()));
    }

    /// Where a path of the server lies here.
    pub fn apply(&self, path: PathBuf) -> PathBuf {
        let mapped = self.0.iter().rev().find_map(|(from, to)| Some(to.join(path.strip_prefix(from).ok()?)));
        mapped.unwrap_or(path)
    }
}

/// How the top level of the file is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Root {
    /// As a main file if it has a block that only a main file has, else in the context that its
    /// directives imply.
    #[default]
    Implied,
    /// In that context, of which it is all there is.
    Context(Context),
    /// In that context, of which there is more.
    Within(Context),
}

/// Loads one configuration, again and again as it is being fixed: file ids stay the same, and what
/// did not change is not parsed again.
#[derive(Debug, Default)]
pub struct Loader {
    main: PathBuf,
    root: Root,
    maps: PathMap,
    ids: HashMap<PathBuf, FileId>,
    /// The same by the names that files were opened by.
    opened: HashMap<PathBuf, FileId>,
    loaded: Vec<Option<Loaded>>,
    folders: Folders,
}

/// A file that was read.
#[derive(Debug, Clone)]
struct Loaded {
    source: Arc<SourceFile>,
    tree: Arc<Tree>,
    errors: Arc<[SyntaxError]>,
}

/// A file to be read.
struct Wanted {
    id: FileId,
    path: PathBuf,
    known: Option<Loaded>,
}

/// What one `include` names.
struct Include {
    /// Index of the directive in its file's tree.
    node: u32,
    files: Vec<PathBuf>,
    problem: Option<SyntaxError>,
}

/// The `include` directives of one file, resolved: directive index to files.
type Resolved = Vec<(u32, Vec<FileId>)>;

impl Loader {
    /// For the configuration that begins with `main`.
    pub fn new(main: impl Into<PathBuf>, root: Root, maps: PathMap) -> Self {
        Self { main: main.into(), root, maps, ..Self::default() }
    }

    /// Reads the configuration.
    ///
    /// # Errors
    /// When the main file itself cannot be read. Trouble with included files is in the model.
    pub fn load(&mut self, files: &dyn Files) -> io::Result<Model> {
        if files.kind(&self.main) == Kind::Special {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let mut reading = Reading::default();
        let main = self.intern(files, &self.main.clone());
        let mut wave = vec![self.wanted(main, self.main.clone())];
        while !wave.is_empty() {
            let read = self.read_all(files, wave);
            wave = Vec::new();
            for (id, outcome) in read {
                match outcome {
                    Err(error) if id == main => return Err(error.1),
                    Err((path, error)) => {
                        self.loaded[id.0 as usize] = Some(empty(&path));
                        reading.not_read.push(NotRead { path, reason: reason(&error) });
                    }
                    Ok((loaded, includes)) => {
                        self.loaded[id.0 as usize] = Some(loaded);
                        reading.resolve(self, files, id, includes, &mut wave);
                    }
                }
            }
        }
        Ok(self.splice(main, reading))
    }

    /// The canonical paths of the files, by their ids: the main file first.
    pub fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<(&PathBuf, &FileId)> = self.ids.iter().collect();
        paths.sort_unstable_by_key(|(_, id)| **id);
        paths.into_iter().map(|(path, _)| path.clone()).collect()
    }

    fn wanted(&self, id: FileId, path: PathBuf) -> Wanted {
        Wanted { id, path, known: self.loaded[id.0 as usize].clone() }
    }

    /// The id of a file, the same for every name of it.
    fn intern(&mut self, files: &dyn Files, path: &Path) -> FileId {
        if let Some(&id) = self.opened.get(path) {
            return id;
        }
        let canonical = self.folders.canonical(files, path);
        let next = FileId(self.loaded.len() as u32);
        let id = *self.ids.entry(canonical).or_insert(next);
        if id == next {
            self.loaded.push(None);
        }
        self.opened.insert(path.to_owned(), id);
        id
    }

    #[expect(clippy::type_complexity, reason = "used once, right below its only caller")]
    fn read_all(
        &self,
        files: &dyn Files,
        wave: Vec<Wanted>,
    ) -> Vec<(FileId, Result<(Loaded, Vec<Include>), (PathBuf, io::Error)>)> {
        let folder = self.main.parent().unwrap_or(Path::new(""));
        let is_part = self.loaded.first().and_then(Option::as_ref).map(|main| self.context_of(main) != Context::Main);
        let base = Base { folder, maps: &self.maps, is_part };
        let read = |wanted: Wanted| {
            let is_part = |loaded: &Loaded| base.is_part.unwrap_or_else(|| self.context_of(loaded) != Context::Main);
            (wanted.id, read_one(files, &base, is_part, wanted))
        };
        if wave.len() == 1 {
            return wave.into_iter().map(read).collect();
        }
        wave.into_par_iter().map(read).collect()
    }

    /// The context that the top level of the main file is.
    fn context_of(&self, main: &Loaded) -> Context {
        match (self.root, stated(&main.tree, main.source.bytes())) {
            (Root::Context(context) | Root::Within(context), _) | (Root::Implied, Some(context)) => context,
            // Nothing, or includes alone, implies nothing.
            (Root::Implied, None) if self.main.ends_with("nginx.conf") && only_includes(main) => Context::Main,
            (Root::Implied, None) => Context::implied(&main.tree, main.source.bytes()),
        }
    }

    fn splice(&self, main: FileId, reading: Reading) -> Model {
        let mut sources = Sources::new();
        let mut trees = Vec::with_capacity(self.loaded.len());
        let mut problems = Vec::new();
        for loaded in &self.loaded {
            let loaded = loaded.clone().unwrap_or_else(|| empty(Path::new("")));
            sources.add(loaded.source);
            trees.push(loaded.tree);
            let syntax =
                |error: &SyntaxError| Problem { kind: ProblemKind::Syntax, error: error.clone(), versions: None };
            problems.extend(loaded.errors.iter().map(syntax));
        }
        let include = |error| Problem { kind: ProblemKind::Include, error, versions: None };
        problems.extend(reading.problems.into_iter().map(include));
        let mut splicer = Splicer { trees: &trees, includes: &reading.includes, ..Splicer::new() };
        splicer.run(main);
        let Splicer { entries, chains, problems: met, .. } = splicer;
        problems.extend(met.into_iter().map(include));
        let (tree, bytes) = (&trees[main.0 as usize], sources.get(main).bytes());
        let root = match (self.root, stated(tree, bytes)) {
            (Root::Context(context) | Root::Within(context), _) | (Root::Implied, Some(context)) => context,
            // An empty file implies nothing by its content.
            (Root::Implied, None) if tree.nodes.is_empty() && self.main.ends_with("nginx.conf") => Context::Main,
            (Root::Implied, None) => Context::implied(tree, bytes),
        };
        let not_read = reading.not_read;
        let mut model = Model::new(Server::Nginx, main, sources, trees, entries, chains, problems, not_read, root);
        model.root_stated = matches!(self.root, Root::Context(_));
        model
    }
}

fn empty(path: &Path) -> Loaded {
    Loaded { source: Arc::new(SourceFile::new(path, &b""[..])), tree: Arc::default(), errors: [].into() }
}

/// What reading collects besides the files themselves.
#[derive(Default)]
struct Reading {
    /// By file id: where its includes lead.
    includes: HashMap<FileId, Resolved>,
    problems: Vec<SyntaxError>,
    not_read: Vec<NotRead>,
}

impl Reading {
    /// Gives ids to the files that `includes` name; new ones go into the next wave.
    fn resolve(
        &mut self,
        loader: &mut Loader,
        files: &dyn Files,
        id: FileId,
        includes: Vec<Include>,
        wave: &mut Vec<Wanted>,
    ) {
        let mut resolved = Resolved::with_capacity(includes.len());
        self.includes.insert(id, Resolved::new());
        for include in includes {
            self.problems.extend(include.problem);
            let mut ids = Vec::with_capacity(include.files.len());
            for path in include.files {
                let id = loader.intern(files, &path);
                ids.push(id);
                if let std::collections::hash_map::Entry::Vacant(entry) = self.includes.entry(id) {
                    entry.insert(Resolved::new());
                    wave.push(loader.wanted(id, path));
                }
            }
            resolved.push((include.node, ids));
        }
        self.includes.insert(id, resolved);
    }
}

/// The context that a comment of the file states.
fn stated(tree: &Tree, bytes: &[u8]) -> Option<Context> {
    note::context(tree, bytes).and_then(Context::parse)
}

fn only_includes(file: &Loaded) -> bool {
    file.tree.nodes.iter().all(|node| is_include(&file.tree, &file.source, node))
}

/// Where includes are looked up.
struct Base<'a> {
    /// The folder of the file that reading began with.
    folder: &'a Path,
    maps: &'a PathMap,
    /// Whether that file is a part of a configuration whose main file is not known; unknown until it is read.
    is_part: Option<bool>,
}

/// How many folders above a part of a configuration its main file is looked for.
const MAX_ABOVE: usize = 4;

impl Base<'_> {
    /// Where the file that an include names lies. Of a part of a configuration the folder of the main file
    /// is not known: one of those above, if the file is there. `None` where it may lie anywhere.
    fn find(&self, files: &dyn Files, named: &Path, is_part: bool) -> Option<PathBuf> {
        let path = self.maps.apply(self.folder.join(named));
        if !is_part || named.is_absolute() || files.kind(&path) != Kind::Missing {
            return Some(path);
        }
        let above = std::iter::successors(Some(self.folder.join("..")), |folder| Some(folder.join("..")));
        above.take(MAX_ABOVE).map(|folder| normal(&folder.join(named))).find(|path| files.kind(path) == Kind::File)
    }
}

fn read_one(
    files: &dyn Files,
    base: &Base<'_>,
    is_part: impl Fn(&Loaded) -> bool,
    wanted: Wanted,
) -> Result<(Loaded, Vec<Include>), (PathBuf, io::Error)> {
    let Wanted { id, path, known } = wanted;
    let bytes = match files.read(&path) {
        Ok(bytes) if bytes.len() > MAX_FILE => {
            return Err((path, io::Error::new(io::ErrorKind::FileTooLarge, "larger than 4 GiB")));
        }
        Ok(bytes) => bytes,
        Err(error) => return Err((path, error)),
    };
    let loaded = match known {
        Some(known) if known.source.bytes()[..] == bytes[..] => known,
        _ => {
            let Parsed { tree, errors } = parse(id, &bytes);
            Loaded { source: Arc::new(SourceFile::new(path, bytes)), tree: Arc::new(tree), errors: errors.into() }
        }
    };
    let includes = includes_of(&loaded, files, base, is_part(&loaded));
    Ok((loaded, includes))
}

/// Finds and resolves the `include` directives of a file.
fn includes_of(loaded: &Loaded, files: &dyn Files, base: &Base<'_>, is_part: bool) -> Vec<Include> {
    let (tree, source) = (&loaded.tree, &loaded.source);
    let mut includes = Vec::new();
    for (index, node) in tree.nodes.iter().enumerate() {
        if !is_include(tree, source, node) {
            continue;
        }
        let word = &tree.words_of(node)[1];
        let value = word.value.as_deref().unwrap_or_else(|| unquoted(source.slice(word.span)));
        let named = to_path(value);
        let mut include = Include { node: index as u32, files: Vec::new(), problem: None };
        if has_glob(value) {
            for path in expand(files, &base.maps.apply(base.folder.join(named)), false) {
                add_file(files, path, word.span, &mut include);
            }
        } else if let Some(path) = base.find(files, &named, is_part) {
            add_file(files, path, word.span, &mut include);
        }
        includes.push(include);
    }
    includes
}

fn is_include(tree: &Tree, source: &SourceFile, node: &NodeData) -> bool {
    node.word_count == 2
        && matches!(node.body, Body::None { .. })
        && source.slice(tree.words_of(node)[0].span) == b"include"
}

/// Takes the quotes off a word that has no other value of its own.
fn unquoted(raw: &[u8]) -> &[u8] {
    match raw {
        [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => inner,
        _ => raw,
    }
}

fn add_file(files: &dyn Files, path: PathBuf, place: Span, include: &mut Include) {
    let path = normal(&path);
    let error = |text: String| SyntaxError::new(place, text);
    let shown = path.display();
    match files.kind(&path) {
        Kind::File | Kind::Unknown => include.files.push(path),
        Kind::Missing => {
            let error = error(format!("nginx refuses to start or reload: `{shown}` does not exist"));
            include.problem = Some(error.help(MISSING_HELP));
        }
        Kind::Folder => {
            let error = error(format!("nginx refuses to start or reload: `{shown}` is a folder"));
            include.problem = Some(error.help(format!("name the files in it: `{shown}/*.conf`")));
        }
        Kind::Special => {
            include.problem = Some(error(format!("`{shown}` is not a regular file and is not read")));
        }
    }
}

const MISSING_HELP: &str = "relative paths start at the folder of the main file, not of the including file; \
     if the file lies elsewhere here than on the server, say where with `--map /server/folder=folder`";

/// The `include` or `import` that would read a file if it were there.
pub fn would_be_read(files: &dyn Files, model: &Model, maps: &PathMap, path: &Path) -> Option<Span> {
    let folder_of = |path: &Path| path.parent().unwrap_or(Path::new("")).to_owned();
    let main = folder_of(model.sources().get(model.main()).path());
    let (name, hidden) = match model.server() {
        Server::Nginx => ("include", false),
        Server::Caddy => ("import", true),
    };
    let canonical =
        |folder: &Path| files.canonical(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }).ok();
    let home = canonical(&folder_of(path));
    let reads = |node: &super::Node<'_>| {
        let folder = if hidden { folder_of(model.file(node.head()).path()) } else { main.clone() };
        let Some(whole) = node.value(0).map(|value| maps.apply(folder.join(to_path(value)))) else { return false };
        let (Some(name), Some(pattern)) = (path.file_name(), whole.file_name().and_then(pattern_of)) else {
            return false;
        };
        pattern.matches_with(&name.to_string_lossy(), options(hidden))
            && expand(files, &folder_of(&whole), hidden).iter().any(|folder| canonical(folder) == home)
    };
    model.named(name).find(reads).map(super::Node::head)
}

/// How glob(3) matches; Caddy's also matches names that begin with a dot.
fn options(hidden: bool) -> glob::MatchOptions {
    glob::MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: !hidden }
}

/// glob(3) as nginx calls it: only these start a pattern (`ngx_conf_include`: `strpbrk(name, "*?[")`).
pub(crate) fn has_glob(value: &[u8]) -> bool {
    value.iter().any(|b| matches!(b, b'*' | b'?' | b'['))
}

/// The files that a pattern matches, sorted by their names' bytes as glob(3) does in the C locale.
/// With `hidden`, wildcards match a leading dot too.
pub(super) fn expand(files: &dyn Files, pattern: &Path, hidden: bool) -> Vec<PathBuf> {
    let options = options(hidden);
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let name = part.as_os_str();
        let Some(part_pattern) = pattern_of(name) else {
            found.iter_mut().for_each(|path| path.push(name));
            continue;
        };
        let matches = |path: &PathBuf| {
            let folder = if path.as_os_str().is_empty() { Path::new(".") } else { path };
            let names = files.list(folder).unwrap_or_default();
            let keep = |name: &std::ffi::OsString| part_pattern.matches_with(&name.to_string_lossy(), options);
            names.into_iter().filter(keep).map(|name| path.join(name)).collect::<Vec<_>>()
        };
        found = found.iter().flat_map(matches).collect();
    }
    // A name behind the last pattern, as in `sites/*/nginx.conf`, need not exist in every folder.
    if !has_glob(pattern.file_name().unwrap_or_default().as_encoded_bytes()) {
        found.retain(|path| files.kind(path) != Kind::Missing);
    }
    found
}

fn pattern_of(name: &OsStr) -> Option<glob::Pattern> {
    if has_glob(name.as_encoded_bytes()) { glob::Pattern::new(&name.to_string_lossy()).ok() } else { None }
}

pub(crate) use crate::files::to_path;

/// Puts the trees together in reading order.
struct Splicer<'a> {
    trees: &'a [Arc<Tree>],
    includes: &'a HashMap<FileId, Resolved>,
    entries: Vec<Entry>,
    chains: Vec<ChainLink>,
    problems: Vec<SyntaxError>,
    /// Files being read; the innermost last. Those of one glob stand in reverse order.
    frames: Vec<Frame>,
    /// Blocks being read: where each ends in its tree, and its entry.
    open: Vec<(u32, u32)>,
    /// Whether the limit on directives was met.
    full: bool,
}

struct Frame {
    file: FileId,
    next: u32,
    chain: ChainId,
    /// Number of open blocks when the file began: they belong to including files.
    base: usize,
}

impl<'a> Splicer<'a> {
    fn new() -> Self {
        static NONE: std::sync::LazyLock<HashMap<FileId, Resolved>> = std::sync::LazyLock::new(HashMap::default);
        Splicer {
            trees: &[],
            includes: &NONE,
            entries: Vec::new(),
            chains: Vec::new(),
            problems: Vec::new(),
            frames: Vec::new(),
            open: Vec::new(),
            full: false,
        }
    }

    fn run(&mut self, main: FileId) {
        self.frames.push(Frame { file: main, next: 0, chain: ChainId(0), base: 0 });
        while let Some(&Frame { file, next, chain, base }) = self.frames.last() {
            let tree = self.trees[file.0 as usize].as_ref();
            // A file of a glob that waits its turn begins where its predecessor left the open blocks.
            self.close(next, base);
            let Some(node) = tree.nodes.get(next as usize) else {
                self.close(u32::MAX, base);
                self.frames.pop();
                continue;
            };
            if let Some(frame) = self.frames.last_mut() {
                frame.next += 1;
            }
            self.add(file, next, node, chain);
            if let Some(files) = self.included(file, next) {
                self.include(file, tree.words_of(node)[0].span.to(tree.words_of(node)[1].span), chain, files);
            }
        }
    }

    /// Ends the open blocks of the current file that end at its directive `next` or before.
    fn close(&mut self, next: u32, base: usize) {
        while self.open.len() > base {
            let (end, entry) = self.open[self.open.len() - 1];
            if end > next {
                return;
            }
            self.entries[entry as usize].end = self.entries.len() as u32;
            self.open.pop();
        }
    }

    fn add(&mut self, file: FileId, index: u32, node: &NodeData, chain: ChainId) {
        let entry = self.entries.len() as u32;
        let parent = self.open.last().map_or(u32::MAX, |&(_, entry)| entry);
        self.entries.push(Entry { tree: file.0, node: index, parent, end: entry + 1, chain });
        if matches!(node.body, Body::Block { .. }) {
            self.open.push((node.end, entry));
        }
    }

    fn included(&self, file: FileId, node: u32) -> Option<&'a [FileId]> {
        let resolved = self.includes.get(&file)?;
        let at = resolved.binary_search_by_key(&node, |(node, _)| *node).ok()?;
        Some(&resolved[at].1)
    }

    fn include(&mut self, file: FileId, place: Span, parent: ChainId, files: &[FileId]) {
        self.chains.push(ChainLink { parent, place });
        let chain = ChainId(self.chains.len() as u32);
        for &included in files.iter().rev() {
            if included == file || self.ancestors(parent).any(|link| link.place.file == included) {
                self.cycle(place, parent);
            } else if self.entries.len() > MAX_DIRECTIVES {
                self.too_many(place);
                return;
            } else {
                self.frames.push(Frame { file: included, next: 0, chain, base: self.open.len() });
            }
        }
    }

    fn too_many(&mut self, place: Span) {
        if !std::mem::replace(&mut self.full, true) {
            let text = format!("includes are not followed any further: they lead to over {MAX_DIRECTIVES} directives");
            self.problems.push(SyntaxError::new(place, text));
        }
    }

    fn cycle(&mut self, place: Span, chain: ChainId) {
        if self.problems.iter().any(|problem| problem.span == place) {
            return;
        }
        let mut error = SyntaxError::new(place, "this file includes itself: nginx never ends reading it and crashes")
            .help("include it from one place only");
        for link in self.ancestors(chain).collect::<Vec<_>>() {
            error = error.label(link.place, "included from here");
        }
        self.problems.push(error);
    }

    fn ancestors(&self, chain: ChainId) -> impl Iterator<Item = ChainLink> + '_ {
        let link = move |id: ChainId| (id.0 as usize).checked_sub(1).map(|i| self.chains[i]);
        std::iter::successors(link(chain), move |l| link(l.parent))
    }
}
