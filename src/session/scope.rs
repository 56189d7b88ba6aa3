//! Which configurations a run is about: what the paths name, and what the folders hold.

use foldhash::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::policy::Policy;
use super::{Error, Gap, Request, Unread};
use crate::catalog::nginx::Context;
use crate::discover::{self, Name, Reach, What};
use crate::files::{Files, Kind, reason};
use crate::model::Model;
use crate::model::include::Root;
use crate::model::load::Loader;
use crate::version::Server;

/// One configuration: the file it begins with, and what was read from there.
pub(super) struct Config {
    pub(super) loader: Loader,
    pub(super) model: Model,
    pub(super) policy: Arc<Policy>,
    /// Canonical paths of its files, the main file first.
    paths: Vec<PathBuf>,
}

/// The configurations of a run.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) configs: Vec<Config>,
    pub(super) unread: Vec<Unread>,
    pub(super) not_included: Vec<PathBuf>,
    /// By canonical path: in how many configurations a file was read.
    readers: HashMap<PathBuf, usize>,
    /// Canonical paths of the files that configurations begin with.
    mains: HashSet<PathBuf>,
}

/// A file that a configuration begins with.
struct Main {
    path: PathBuf,
    server: Server,
}

/// A file of a folder that may be a configuration.
struct Candidate {
    path: PathBuf,
    canonical: PathBuf,
    name: Name,
}

impl Scope {
    /// Finds and reads the configurations that a request names.
    pub(super) fn new(files: &dyn Files, request: &Request) -> Result<Self, Vec<Error>> {
        let mut scope = Self::default();
        let (named, folders) = sort_paths(files, request)?;
        scope.load(files, request, named).map_err(|error| vec![error])?;
        let mut errors = Vec::new();
        for folder in folders {
            errors.extend(scope.enter(files, request, &folder).err());
        }
        if errors.is_empty() { Ok(scope) } else { Err(errors) }
    }

    /// Reads configurations, each once, and drops those that another one includes.
    fn load(&mut self, files: &dyn Files, request: &Request, mains: Vec<Main>) -> Result<(), Error> {
        let load = |main: Main| {
            let path = main.path.clone();
            let policy = request.policies.of(&path)?;
            load(files, policy, main).map_err(|error| Error::Unreadable { path, reason: reason(&error) })
        };
        for config in mains.into_par_iter().map(load).collect::<Result<Vec<_>, _>>()? {
            if !self.mains.insert(config.paths[0].clone()) {
                continue;
            }
            for path in &config.paths {
                *self.readers.entry(path.clone()).or_default() += 1;
            }
            self.configs.push(config);
        }
        // Of two that include each other, the first remains.
        for at in (0..self.configs.len()).rev() {
            if self.readers[&self.configs[at].paths[0]] > 1 {
                let config = self.configs.remove(at);
                for path in &config.paths {
                    self.readers.entry(path.clone()).and_modify(|count| *count -= 1);
                }
            }
        }
        Ok(())
    }

    /// Reads the main files of a folder, then parts that belong to none.
    fn enter(&mut self, files: &dyn Files, request: &Request, folder: &Path) -> Result<(), Error> {
        let (before, listed) = (self.configs.len(), self.not_included.len());
        let all = request.policies.of(folder)?.all;
        let candidates = self.candidates(files, request, folder)?;
        let (sure, maybe): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|it| it.name == Name::NginxMain);
        let (mains, mut parts) = self.sort(files, all, sure);
        self.load(files, request, mains)?;
        let (mains, more) = self.sort(files, all, maybe);
        self.load(files, request, mains)?;
        parts.extend(more);
        let claimed: HashSet<&Path> = self.configs.iter().filter_map(Config::claims).collect();
        let claimed = |it: &Candidate| it.canonical.ancestors().skip(1).any(|folder| claimed.contains(folder));
        parts.retain(|it| !self.is_read(&it.canonical));
        let (judged, left): (Vec<_>, Vec<_>) = parts
            .into_iter()
            .partition(|it| all || it.name == Name::NginxMain || !(discover::is_spare(&it.path) || claimed(it)));
        let part = |it: Candidate| Main { path: it.path, server: Server::Nginx };
        self.load(files, request, judged.into_iter().map(part).collect())?;
        self.not_included.extend(left.into_iter().map(|it| it.path));
        let found_here = self.configs.len() > before || self.configs.iter().any(|config| config.lies_in(files, folder));
        if found_here { Ok(()) } else { Err(self.nothing(folder, listed)) }
    }
}

impl Scope {
    fn is_read(&self, canonical: &Path) -> bool {
        self.readers.get(canonical).is_some_and(|count| *count > 0)
    }

    /// The files below a folder whose names make them worth a look.
    fn candidates(&mut self, files: &dyn Files, request: &Request, folder: &Path) -> Result<Vec<Candidate>, Error> {
        let walk = files.walk(folder);
        for (path, error) in &walk.closed {
            if request.policies.excludes(path)? {
                continue;
            }
            self.skip(path.clone(), Gap::Failed, reason(error));
        }
        let root = files.canonical(folder).unwrap_or_else(|_| folder.to_owned());
        let mut found = Vec::new();
        for (path, kind, name) in discover::candidates(walk) {
            if request.policies.excludes(&path)? {
                self.skip(path, Gap::Excluded, EXCLUDED.to_owned());
                continue;
            }
            let canonical = match path.strip_prefix(folder) {
                Ok(below) if !files.is_link(&path) => root.join(below),
                _ => files.canonical(&path).unwrap_or_else(|_| path.clone()),
            };
            match kind {
                Kind::Missing => self.skip(path, Gap::Other, "a link that leads nowhere".to_owned()),
                Kind::Special => self.skip(path, Gap::Other, NOT_REGULAR.to_owned()),
                Kind::File | Kind::Folder | Kind::Unknown => found.push(Candidate { path, canonical, name }),
            }
        }
        Ok(found)
    }

    /// Looks into candidates that were not read yet: main files, and parts.
    fn sort(&mut self, files: &dyn Files, all: bool, candidates: Vec<Candidate>) -> (Vec<Main>, Vec<Candidate>) {
        let look = |it: Candidate| (discover::recognise(files, &it.path, Reach::Found), it);
        let open = candidates.into_par_iter().filter(|it| !self.is_read(&it.canonical));
        let looked: Vec<(io::Result<What>, Candidate)> = open.map(look).collect();
        let (mut mains, mut parts) = (Vec::new(), Vec::new());
        for (what, it) in looked {
            match what {
                Ok(What::Main(server)) if all || !discover::is_spare(&it.path) => {
                    mains.push(Main { path: it.path, server });
                }
                Ok(What::Main(Server::Caddy) | What::Part(Server::Caddy)) => self.not_included.push(it.path),
                Ok(What::Main(Server::Nginx) | What::Part(Server::Nginx)) => parts.push(it),
                Ok(What::Template) => self.skip(it.path, Gap::Template, TEMPLATE.to_owned()),
                Ok(What::Unsupported(why)) => self.skip(it.path, Gap::Other, why.to_owned()),
                Ok(What::Foreign) if it.name == Name::CaddyElsewhere => {}
                Ok(What::Foreign) => self.skip(it.path, Gap::Foreign, FOREIGN.to_owned()),
                Err(error) => self.skip(it.path, Gap::Failed, reason(&error)),
            }
        }
        (mains, parts)
    }

    fn skip(&mut self, path: PathBuf, gap: Gap, reason: String) {
        self.unread.push(Unread { path, reason, gap });
    }

    fn nothing(&self, folder: &Path, listed: usize) -> Error {
        let left = self.not_included[listed..].iter().map(|path| (path.clone(), "not in use by its name".to_owned()));
        let unread = self.unread.iter().filter(|it| it.path.starts_with(folder));
        let seen = left.chain(unread.map(|it| (it.path.clone(), it.reason.clone()))).collect();
        Error::Nothing { folder: folder.to_owned(), seen }
    }
}

const EXCLUDED: &str = "excluded by the settings";
const NOT_REGULAR: &str = "not a regular file";
const TEMPLATE: &str = "a template: what it becomes is not known";
const FOREIGN: &str = "neither nginx's configuration nor a Caddyfile";

impl Config {
    /// The folder whose parts of configurations belong to this main file, whether it includes them
    /// or not.
    fn claims(&self) -> Option<&Path> {
        let is_main = self.model.server() == Server::Nginx && self.model.root_context() == Context::Main;
        self.paths[0].parent().filter(|_| is_main)
    }

    fn lies_in(&self, files: &dyn Files, folder: &Path) -> bool {
        files.canonical(folder).is_ok_and(|folder| self.paths[0].starts_with(folder))
    }
}

fn load(files: &dyn Files, policy: Arc<Policy>, main: Main) -> io::Result<Config> {
    let maps = policy.maps.clone();
    let mut loader = match main.server {
        Server::Nginx => Loader::nginx(main.path, Root::Implied, maps),
        Server::Caddy => Loader::caddy(main.path, policy.env.clone(), maps, policy.target.caddy.set.clone()),
    };
    let model = loader.load(files)?;
    let paths = loader.paths();
    Ok(Config { loader, model, policy, paths })
}

/// The files that are named, and the folders.
fn sort_paths(files: &dyn Files, request: &Request) -> Result<(Vec<Main>, Vec<PathBuf>), Vec<Error>> {
    let (mut named, mut folders, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for path in &request.paths {
        match files.kind(path) {
            Kind::Folder => folders.push(path.clone()),
            Kind::Missing => errors.push(Error::Missing(path.clone())),
            Kind::Special => errors.push(Error::NotRegular(path.clone())),
            Kind::File | Kind::Unknown => match named_file(files, path, request.lang) {
                Ok(server) => named.push(Main { path: path.clone(), server }),
                Err(error) => errors.push(error),
            },
        }
    }
    if errors.is_empty() { Ok((named, folders)) } else { Err(errors) }
}

/// Whose configuration a file that is named is.
fn named_file(files: &dyn Files, path: &Path, lang: Option<Server>) -> Result<Server, Error> {
    let path = path.to_owned();
    match discover::recognise(files, &path, lang.map_or(Reach::Named, Reach::Stated)) {
        Ok(What::Main(server) | What::Part(server)) => Ok(server),
        Ok(What::Template) => Err(Error::Template(path)),
        Ok(What::Unsupported(what)) => Err(Error::Unsupported { path, what }),
        Ok(What::Foreign) => Err(Error::Foreign(path)),
        Err(error) => Err(Error::Unreadable { path, reason: reason(&error) }),
    }
}
