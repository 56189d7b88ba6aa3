//! `proxylint init`: a first `proxylint.toml`, made of what lies in a repository.

mod images;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::effective::quoted;
use super::keys::{Key, TOP};
use crate::catalog::nginx::Context;
use crate::discover::{self, Name, Reach, What};
use crate::files::{Files, Kind};
use crate::model::include::{PathMap, Root};
use crate::model::load::Loader;
use crate::version::Server;
use images::{Mention, mentions};

/// A configuration that was found.
struct Main {
    path: PathBuf,
    server: Server,
    /// The folder of the server that its own folder stands for.
    absent: Option<PathBuf>,
}

/// Where servers look for their files.
const FOLDERS: [&str; 3] = ["/etc/nginx", "/usr/local/nginx/conf", "/etc/caddy"];

/// The text of a first configuration file for the folder `root`.
pub fn text(files: &dyn Files, root: &Path) -> String {
    let (mains, mentions) = (mains(files, root), mentions(files, root));
    let mut out = String::new();
    head(&mut out);
    found(&mut out, root, &mains);
    for server in [Server::Nginx, Server::Caddy] {
        version(&mut out, root, server, &mains, &mentions);
    }
    map(&mut out, root, &mains);
    commented(&mut out, &["peak-concurrency", "exclude", "fail-on", "baseline", "rules"]);
    targets(&mut out, root, &mains, &mentions);
    out
}

fn below<'a>(root: &Path, path: &'a Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}

fn head(out: &mut String) {
    let schema = example("$schema");
    let (major_minor, _) = env!("CARGO_PKG_VERSION").rsplit_once('.').unwrap_or((env!("CARGO_PKG_VERSION"), ""));
    let _ = write!(
        out,
        "\"$schema\" = {schema}\n\n# What proxylint is told once. `proxylint config FILE` prints what is in effect for a file.\n\
         required-version = \">={major_minor}\"\n"
    );
}

fn key(name: &str) -> &'static Key {
    TOP.iter().find(|key| key.name == name).expect("the names are those of keys")
}

fn example(name: &str) -> &'static str {
    key(name).example
}

/// The main files of a folder.
fn mains(files: &dyn Files, root: &Path) -> Vec<Main> {
    let mut mains = Vec::new();
    for (path, kind, name) in discover::candidates(files.walk(root)) {
        if kind != Kind::File || discover::is_spare(&path) || name == Name::Template {
            continue;
        }
        let Ok(What::Main(server)) = discover::recognise(files, &path, Reach::Found) else { continue };
        let absent = (server == Server::Nginx).then(|| absent(files, &path)).flatten();
        mains.push(Main { path, server, absent });
    }
    mains
}

/// A folder of the server that an nginx configuration includes from, and that is here the one it lies in.
fn absent(files: &dyn Files, main: &Path) -> Option<PathBuf> {
    let model = Loader::nginx(main, Root::Implied, PathMap::default()).load(files).ok()?;
    if model.root_context() != Context::Main {
        return None;
    }
    let here = main.parent().unwrap_or(Path::new(""));
    let mut includes = model.named("include").filter_map(|node| Some(crate::files::to_path(node.value(0)?)));
    includes.find_map(|path| {
        let folder = FOLDERS.map(PathBuf::from).into_iter().find(|folder| path.starts_with(folder))?;
        let rest = path.strip_prefix(&folder).ok()?;
        // `conf.d/*.conf`: the folder beside the main file is the server's.
        let place = rest.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(rest);
        (files.kind(&here.join(place)) != Kind::Missing).then_some(folder)
    })
}

fn found(out: &mut String, root: &Path, mains: &[Main]) {
    if mains.is_empty() {
        out.push_str("\n# No main file was found here: name one on the command line, or look at `exclude`.\n");
        return;
    }
    out.push_str("\n# Found here:\n");
    for main in mains {
        let _ = writeln!(out, "#   {} ({})", below(root, &main.path).display(), main.server.name());
    }
}

/// The different texts of mentions, in their order.
fn texts<'a>(mentions: &[&'a Mention]) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    mentions.iter().map(|it| it.text.as_str()).filter(|text| seen.insert(*text)).collect()
}

/// What is stated for everything: what all mentions say.
fn version(out: &mut String, root: &Path, server: Server, mains: &[Main], mentions: &[Mention]) {
    let own: Vec<&Mention> = mentions.iter().filter(|it| it.server == server).collect();
    let has_main = mains.iter().any(|main| main.server == server);
    if own.is_empty() && !has_main {
        return;
    }
    let name = server.name().to_lowercase();
    let _ = writeln!(out, "\n# The {} that will read the files.", server.name());
    for it in &own {
        let _ = writeln!(out, "# {} names {}", place(root, it), it.text);
    }
    let _ = match texts(&own).as_slice() {
        [one] => writeln!(out, "{name} = {}", quoted(one)),
        [] => writeln!(
            out,
            "# Nothing here names it: state it, or every released version is assumed.\n# {name} = {}",
            example(&name)
        ),
        [first, ..] => {
            writeln!(out, "# They differ: state one, or one for each folder below.\n# {name} = {}", quoted(first))
        }
    };
}

fn place(root: &Path, it: &Mention) -> String {
    format!("{}:{}", below(root, &it.path).display(), it.line)
}

fn map(out: &mut String, root: &Path, mains: &[Main]) {
    let absent: Vec<(&PathBuf, &Path)> = mains
        .iter()
        .filter_map(|main| Some((main.absent.as_ref()?, below(root, &main.path).parent().unwrap_or(Path::new("")))))
        .collect();
    let about = key("map").about;
    match absent.as_slice() {
        [] => {
            let _ = writeln!(out, "\n# {about}\n# map = {}", example("map"));
        }
        [(folder, here), ..] => {
            let here = if here.as_os_str().is_empty() { Path::new(".") } else { here };
            let pair = format!("{{ {} = {} }}", quoted(&folder.to_string_lossy()), quoted(&here.to_string_lossy()));
            let _ = writeln!(out, "\n# {about}\nmap = {pair}");
        }
    }
}

fn commented(out: &mut String, names: &[&str]) {
    for name in names {
        let Key { about, example, .. } = key(name);
        let _ = writeln!(out, "\n# {about}\n# {name} = {example}");
    }
}

/// Where mentions differ: one target for each folder with a main file that has its own.
fn targets(out: &mut String, root: &Path, mains: &[Main], mentions: &[Mention]) {
    let mut done = BTreeSet::new();
    for server in [Server::Nginx, Server::Caddy] {
        let own: Vec<&Mention> = mentions.iter().filter(|it| it.server == server).collect();
        if texts(&own).len() < 2 {
            continue;
        }
        for it in own {
            let folder = it.path.parent().unwrap_or(Path::new(""));
            let inner = below(root, folder);
            let covers = |main: &Main| main.server == server && main.path.starts_with(folder);
            let is_new = !inner.as_os_str().is_empty() && mains.iter().any(covers);
            if is_new && done.insert((folder, server.name())) {
                let (name, path) = (server.name().to_lowercase(), quoted(&format!("{}/**", inner.display())));
                let _ = writeln!(
                    out,
                    "\n# {}\n[[target]]\npaths = [{path}]\n{name} = {}",
                    place(root, it),
                    quoted(&it.text)
                );
            }
        }
    }
}
