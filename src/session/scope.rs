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
use crate::files::{Files, Kind, normal, reason};
use crate::model::Model;
use crate::model::include::Root;
use crate::model::load::Loader;
use crate::version::Server;

/// One configuration: the file it begins with, and what was read from there.
pub(super) struct Config {
    pub(super) loader: Loader,
    pub(super) model: Model,
    pub(super) policy: Arc<Policy>,
    /// The files that somebody named, where only they matter.
    pub(super) named: Option<HashSet<PathBuf>>,
    /// Canonical paths of its files, the main file first.
    paths: Vec<PathBuf>,
}

/// The configurations of a run.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) configs: Vec<Config>,
    pub(super) unread: Vec<Unread>,
    pub(super) not_included: Vec<PathBuf>,
    /// Named parts, and the main files that include them.
    pub(super) contexts: Vec<(PathBuf, PathBuf)>,
    /// By canonical path: in how many configurations a file was read.
    readers: HashMap<PathBuf, usize>,
}

/// A file that a configuration begins with.
struct Main {
    path: PathBuf,
    server: Server,
    root: Root,
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
        let Named { mains, parts, folders } = scope.sort_paths(files, request)?;
        let all = mains.iter().chain(&parts).map(|main| canonical(files, &main.path)).collect::<HashSet<_>>();
        scope.load(files, request, mains).map_err(|error| vec![error])?;
        let alone = scope.within_mains(files, request, parts).map_err(|error| vec![error])?;
        scope.load(files, request, alone).map_err(|error| vec![error])?;
        if request.hook && folders.is_empty() {
            scope.configs.iter_mut().for_each(|config| config.named = Some(all.clone()));
        }
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
            match self.configs.iter_mut().find(|known| known.paths[0] == config.paths[0]) {
                // All of it matters now.
                Some(known) => known.named = None,
                None => self.push(config),
            }
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

    fn push(&mut self, config: Config) {
        for path in &config.paths {
            *self.readers.entry(path.clone()).or_default() += 1;
        }
        self.configs.push(config);
    }

    /// Reads the main files around named parts: a part is judged where it is included. Returns the parts that
    /// no main file includes.
    fn within_mains(&mut self, files: &dyn Files, request: &Request, parts: Vec<Main>) -> Result<Vec<Main>, Error> {
        let mut tried: Vec<Config> = Vec::new();
        let mut alone = Vec::new();
        for part in parts {
            let own = canonical(files, &part.path);
            if self.is_read(&own) || part.root != Root::Implied {
                alone.push(part);
                continue;
            }
            for path in mains_above(files, &part) {
                let main = canonical(files, &path);
                if main != own && tried.iter().chain(&self.configs).all(|config| config.paths[0] != main) {
                    let policy = request.policies.of(&path)?;
                    tried.extend(load(files, policy, Main { path, root: Root::Implied, ..part }).ok());
                }
            }
            match tried.iter_mut().find(|config| config.paths.contains(&own)) {
                Some(config) => {
                    config.named.get_or_insert_default().insert(own);
                    let main = config.model.sources().get(config.model.main()).path().to_owned();
                    self.contexts.push((part.path, main));
                }
                None => alone.push(part),
            }
        }
        tried.into_iter().filter(|config| config.named.is_some()).for_each(|config| self.push(config));
        Ok(alone)
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
        let part = |it: Candidate| Main { path: it.path, server: Server::Nginx, root: Root::Implied };
        self.load(files, request, judged.into_iter().map(part).collect())?;
        self.not_included.extend(left.into_iter().map(|it| it.path));
        // All that lies in a named folder matters.
        let here = self.configs.iter_mut().filter(|config| config.named.is_some() && config.lies_in(files, folder));
        here.for_each(|config| config.named = None);
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
                    mains.push(Main { path: it.path, server, root: Root::Implied });
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
        Server::Nginx => Loader::nginx(main.path, main.root, maps),
        Server::Caddy => Loader::caddy(main.path, policy.env.clone(), maps, policy.target.caddy.set.clone()),
    };
    let model = loader.load(files)?;
    let paths = loader.paths();
    Ok(Config { loader, model, policy, named: None, paths })
}

/// What the paths of a request name.
#[derive(Default)]
struct Named {
    /// Files that a server begins with.
    mains: Vec<Main>,
    /// Files that one includes.
    parts: Vec<Main>,
    folders: Vec<PathBuf>,
}

impl Scope {
    fn sort_paths(&mut self, files: &dyn Files, request: &Request) -> Result<Named, Vec<Error>> {
        let (mut named, mut errors) = (Named::default(), Vec::new());
        for path in &request.paths {
            match files.kind(path) {
                Kind::Folder if request.context.is_some() => errors.push(Error::NoPart(path.clone())),
                Kind::Folder => named.folders.push(path.clone()),
                Kind::Missing => errors.push(Error::Missing(path.clone())),
                Kind::Special => errors.push(Error::NotRegular(path.clone())),
                Kind::File | Kind::Unknown => {
                    errors.extend(self.sort_file(files, request, path.clone(), &mut named).err());
                }
            }
        }
        if errors.is_empty() { Ok(named) } else { Err(errors) }
    }

    /// Sees whose configuration a file that is named is.
    fn sort_file(
        &mut self,
        files: &dyn Files,
        request: &Request,
        path: PathBuf,
        named: &mut Named,
    ) -> Result<(), Error> {
        if (request.hook || request.force_exclude) && request.policies.excludes(&path)? {
            self.skip(path, Gap::Excluded, EXCLUDED.to_owned());
            return Ok(());
        }
        let is_caddyfile = Name::of(&path) == Name::Caddyfile && request.lang != Some(Server::Nginx);
        if request.context.is_some() && (is_caddyfile || request.lang == Some(Server::Caddy)) {
            return Err(Error::NoPart(path));
        }
        let stated = request.lang.or(request.context.map(|_| Server::Nginx));
        let reach = match stated {
            Some(server) => Reach::Stated(server),
            None if request.hook => Reach::Found,
            None => Reach::Named,
        };
        let root = request.context.map_or(Root::Implied, Root::Within);
        match discover::recognise(files, &path, reach) {
            Ok(What::Main(Server::Nginx)) if request.context.is_some() => return Err(Error::NoPart(path)),
            Ok(What::Main(Server::Caddy)) if !path.ends_with(CADDY_MAIN) => {
                named.parts.push(Main { path, server: Server::Caddy, root: Root::Implied });
            }
            Ok(What::Part(server)) if !path.ends_with(NGINX_MAIN) => named.parts.push(Main { path, server, root }),
            Ok(What::Main(server) | What::Part(server)) => named.mains.push(Main { path, server, root }),
            Ok(What::Template) if request.hook => self.skip(path, Gap::Template, TEMPLATE.to_owned()),
            Ok(What::Template) => return Err(Error::Template(path)),
            Ok(What::Unsupported(what)) if request.hook => self.skip(path, Gap::Other, what.to_owned()),
            Ok(What::Unsupported(what)) => return Err(Error::Unsupported { path, what }),
            Ok(What::Foreign) if request.hook => self.skip(path, Gap::Foreign, FOREIGN.to_owned()),
            Ok(What::Foreign) => return Err(Error::Foreign(path)),
            Err(error) => return Err(Error::Unreadable { path, reason: reason(&error) }),
        }
        Ok(())
    }
}

const NGINX_MAIN: &str = "nginx.conf";
const CADDY_MAIN: &str = "Caddyfile";

/// In how many folders, from that of a part upward, its main file is looked for.
const MAX_FOLDERS: usize = 5;

/// The main files that may include a part: those in its folder and in the folders above, up to the root of the
/// repository.
fn mains_above(files: &dyn Files, part: &Main) -> Vec<PathBuf> {
    let name = match part.server {
        Server::Nginx => NGINX_MAIN,
        Server::Caddy => CADDY_MAIN,
    };
    let mut mains = Vec::new();
    let mut folder = part.path.parent().unwrap_or(Path::new("")).to_owned();
    for _ in 0..MAX_FOLDERS {
        let path = normal(&folder.join(name));
        if files.kind(&path) == Kind::File {
            mains.push(path);
        }
        if files.kind(&folder.join(".git")) != Kind::Missing {
            break;
        }
        folder.push("..");
    }
    mains
}

fn canonical(files: &dyn Files, path: &Path) -> PathBuf {
    files.canonical(path).unwrap_or_else(|_| normal(path))
}
