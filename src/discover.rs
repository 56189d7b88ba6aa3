//! Which files of a folder are configurations, and which of them a server would begin with.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::catalog::nginx::{Context, likeness};
use crate::files::{Files, Kind, Walk};
use crate::source::FileId;
use crate::syntax::nginx::{Parsed, parse};
use crate::syntax::note;
use crate::syntax::tree::{Body, NodeData, Tree};
use crate::version::Server;

/// A file is recognised by its first part: enough for certainty, and the rest of a large one is not
/// parsed twice.
const HEAD: usize = 128 * 1024;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A configuration that a server can begin with.
    Main(Server),
    /// A part of one: servers, locations, a snippet.
    Part(Server),
    /// A text that another program makes a configuration of.
    Template,
    /// A configuration in a form that is not read: which, and what to do.
    Unsupported(&'static str),
    /// Something else.
    Foreign,
}

/// What a name says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// `nginx.conf`.
    NginxMain,
    /// It may be nginx's: the content decides.
    NginxMaybe,
    /// `Caddyfile`, `Caddyfile.*`, `*.caddyfile`.
    Caddyfile,
    /// It may hold Caddy's configuration in a form that is not read: JSON, labels in a compose file.
    /// The content decides, and where it holds none nothing is said of it.
    CaddyElsewhere,
    /// A template of one of these.
    Template,
    /// Nothing.
    Other,
}

/// Endings of templates: made into configurations by envsubst, Jinja, ERB, Go and others.
const TEMPLATE_ENDINGS: [&[u8]; 11] =
    [b"template", b"tmpl", b"tpl", b"j2", b"jinja", b"jinja2", b"erb", b"gotmpl", b"mustache", b"hbs", b"epp"];

/// Endings that put a file out of use.
const SPARE_ENDINGS: [&[u8]; 15] = [
    b"dpkg-dist",
    b"dpkg-old",
    b"dpkg-new",
    b"dpkg-bak",
    b"ucf-dist",
    b"ucf-old",
    b"rpmnew",
    b"rpmsave",
    b"rpmorig",
    b"bak",
    b"old",
    b"orig",
    b"save",
    b"disabled",
    b"default",
];

/// Folders whose files are parts of an nginx configuration whatever they are called.
const NGINX_FOLDERS: [&str; 3] = ["sites-available", "sites-enabled", "streams-enabled"];

impl Name {
    /// What the name of `path` says.
    pub fn of(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let (used, template) = match ending(name) {
            Some((stem, last)) if TEMPLATE_ENDINGS.contains(&last) => (stem, true),
            _ => (name, false),
        };
        let (used, spare) = without_spare_ending(used);
        let kind = match used {
            b"nginx.conf" if !spare => Self::NginxMain,
            b"Caddyfile" => Self::Caddyfile,
            _ if used.starts_with(b"Caddyfile.") => Self::Caddyfile,
            _ => match ending(used) {
                Some((_, b"caddyfile")) => Self::Caddyfile,
                Some((stem, b"json")) if stem.starts_with(b"caddy") => Self::CaddyElsewhere,
                Some((stem, b"yml" | b"yaml")) if is_compose(stem) => Self::CaddyElsewhere,
                Some((_, b"conf" | b"nginx" | b"nginxconf" | b"vhost")) => Self::NginxMaybe,
                _ if in_nginx_folder(path) => Self::NginxMaybe,
                _ => Self::Other,
            },
        };
        if template && kind != Self::Other { Self::Template } else { kind }
    }
}

/// `compose`, `docker-compose.prod`, `docker-stack`: what Docker's tools and people call such files.
fn is_compose(stem: &[u8]) -> bool {
    [&b"compose"[..], b"docker-compose", b"docker-stack", b"stack"]
        .iter()
        .any(|name| stem.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || matches!(rest[0], b'.' | b'-')))
}

/// Whether the name puts the file out of use: a backup, a packaged version, something disabled.
pub fn is_spare(path: &Path) -> bool {
    without_spare_ending(path.file_name().unwrap_or_default().as_encoded_bytes()).1
}

fn without_spare_ending(name: &[u8]) -> (&[u8], bool) {
    match ending(name) {
        _ if name.ends_with(b"~") => (&name[..name.len() - 1], true),
        Some((stem, last)) if SPARE_ENDINGS.contains(&last) => (stem, true),
        _ => (name, false),
    }
}

/// The parts before and behind the last dot, where both are there.
fn ending(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let dot = memchr::memrchr(b'.', name).filter(|&dot| dot > 0 && dot + 1 < name.len())?;
    Some((&name[..dot], &name[dot + 1..]))
}

fn in_nginx_folder(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    folder.is_some_and(|folder| NGINX_FOLDERS.iter().any(|name| OsStr::new(name) == folder))
}

/// The files of a walk whose names make them worth a look; hidden ones are not.
pub fn candidates(walk: Walk) -> impl Iterator<Item = (PathBuf, Kind, Name)> {
    let hidden = |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let seen = walk.entries.into_iter().filter(move |(path, _)| !hidden(path));
    let named = seen.map(|(path, kind)| {
        let name = Name::of(&path);
        (path, kind, name)
    });
    named.filter(|(_, _, name)| *name != Name::Other)
}

/// How a file came to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It lies in a folder: a doubt leaves it alone.
    Found,
    /// Somebody named it: a doubt is in its favour.
    Named,
    /// Somebody named it and its language.
    Stated(Server),
}

/// What a file is, by its name and its content.
///
/// # Errors
/// When it cannot be read.
pub fn recognise(files: &dyn Files, path: &Path, reach: Reach) -> io::Result<What> {
    let name = Name::of(path);
    if name == Name::Template && !matches!(reach, Reach::Stated(_)) && !files.renders() {
        return Ok(What::Template);
    }
    // What a template becomes has its name without the ending.
    let name = if name == Name::Template { Name::of(&path.with_extension("")) } else { name };
    let bytes = files.read(path)?;
    Ok(match (reach, name) {
        (Reach::Stated(Server::Caddy), _) => What::Main(Server::Caddy),
        (Reach::Stated(Server::Nginx), _) | (_, Name::NginxMain) => nginx(&bytes, |_, _| true),
        (_, Name::Caddyfile) => caddyfile(&bytes),
        _ if is_caddy_json(&bytes) => What::Unsupported(CADDY_JSON),
        _ if has_caddy_labels(&bytes) => What::Unsupported(CADDY_LABELS),
        (Reach::Found, Name::CaddyElsewhere) => What::Foreign,
        (Reach::Named, _) => nginx(&bytes, |tree, text| is_main(tree, text) || looks_like_nginx(tree, text)),
        (Reach::Found, _) => nginx(&bytes, |tree, text| is_finished(tree) && looks_like_nginx(tree, text)),
    })
}

/// Whether a file is a template: by its name, or by marks where nginx's text would not have them.
pub fn is_template(path: &Path, bytes: &[u8]) -> bool {
    match Name::of(path) {
        Name::Template => true,
        Name::Caddyfile => caddyfile(bytes) == What::Template,
        _ => has_template_marks(head(bytes)) && nginx(bytes, |_, _| true) == What::Template,
    }
}

const CADDY_JSON: &str = "Caddy's JSON is not read, only the Caddyfile that it is made from";

const CADDY_LABELS: &str =
    "labels of caddy-docker-proxy are not read, only a Caddyfile; it logs the one that it makes of them";

fn caddyfile(bytes: &[u8]) -> What {
    if has_template_marks(bytes) && memmem::find(bytes, b"templates").is_none() {
        return What::Template;
    }
    What::Main(Server::Caddy)
}

fn nginx(bytes: &[u8], is_nginx: impl Fn(&Tree, &[u8]) -> bool) -> What {
    let head = head(bytes);
    let Parsed { tree, errors } = parse(FileId(0), head);
    if note::context(&tree, head).is_some() {
        return What::Part(Server::Nginx);
    }
    // `{{` and `<%` may stand in a string or in Lua, where they are no fault.
    if !errors.is_empty() && has_template_marks(head) {
        What::Template
    } else if !is_nginx(&tree, head) {
        What::Foreign
    } else if is_main(&tree, head) {
        What::Main(Server::Nginx)
    } else {
        What::Part(Server::Nginx)
    }
}

/// The first part of a file, to the end of a line.
fn head(bytes: &[u8]) -> &[u8] {
    if bytes.len() <= HEAD {
        return bytes;
    }
    let end = memchr::memrchr(b'\n', &bytes[..HEAD]).map_or(HEAD, |at| at + 1);
    &bytes[..end]
}

fn has_template_marks(bytes: &[u8]) -> bool {
    [&b"{{"[..], b"{%", b"<%"].iter().any(|mark| memmem::find(bytes, mark).is_some())
}

/// Caddy's native configuration begins with an object that names its apps.
fn is_caddy_json(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"{")
        && [&b"\"apps\""[..], b"\"admin\""].iter().any(|key| memmem::find(head(bytes), key).is_some())
        && memmem::find(head(bytes), b"\"http\"").is_some()
}

/// Whether a line is a label of caddy-docker-proxy: `caddy.reverse_proxy: …`, `- "caddy_1=…"`. `caddy:`
/// alone is more often the name of a service.
fn has_caddy_labels(bytes: &[u8]) -> bool {
    head(bytes).split(|&b| b == b'\n').any(|line| {
        let start = line.iter().position(|b| !b" \t-\"'".contains(b)).unwrap_or(line.len());
        let Some(rest) = line[start..].strip_prefix(b"caddy") else { return false };
        let digits = rest.strip_prefix(b"_").map_or(0, |n| 1 + n.iter().take_while(|b| b.is_ascii_digit()).count());
        let name = |after: &[u8]| after.first().is_some_and(|b| b.is_ascii_lowercase() || *b == b'@' || *b == b'"');
        match &rest[digits..] {
            [b'.', after @ ..] => name(after) && after.iter().any(|b| matches!(b, b':' | b'=')),
            [b'=', ..] => true,
            [b':', ..] => digits > 1,
            _ => false,
        }
    })
}

/// Whether a server can begin with it: only a main file has `events` or `http` at its top level.
fn is_main(tree: &Tree, text: &[u8]) -> bool {
    let top = tree.nodes.iter().filter(|node| node.parent == u32::MAX);
    top.filter(|node| matches!(node.body, Body::Block { .. }))
        .any(|node| matches!(name_of(tree, node, text), b"events" | b"http"))
}

/// Whether most of what stands there is nginx's: a `.conf` may belong to anything.
fn looks_like_nginx(tree: &Tree, text: &[u8]) -> bool {
    likeness(tree, text, Context::implied(tree, text)).is_nginx()
}

/// Whether a directive ends. In a language without `;` all of a file is one endless directive.
fn is_finished(tree: &Tree) -> bool {
    tree.nodes.iter().any(|node| match node.body {
        Body::None { end } => !end.is_empty(),
        Body::Block { .. } | Body::Raw { .. } => true,
    })
}

fn name_of<'a>(tree: &'a Tree, node: &NodeData, text: &'a [u8]) -> &'a [u8] {
    tree.words_of(node).first().map_or(b"", |word| &text[word.span.range()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;

    fn what(path: &str, text: &str) -> What {
        let mut files = Memory::new();
        files.insert(path, text.as_bytes());
        recognise(&files, Path::new(path), Reach::Found).unwrap()
    }

    #[test]
    fn labels_of_caddy_are_recognised() {
        let service = "services:\n  caddy:\n    image: caddy:2\n    ports: [\"80:80\"]\n";
        assert_eq!(what("compose.yml", service), What::Foreign);
        for label in [
            "caddy.reverse_proxy: '{{upstreams 80}}'",
            "- \"caddy=a.example\"",
            "caddy_1: b.example",
            "- caddy_0.tls=internal",
        ] {
            let text = format!("{service}    labels:\n      {label}\n");
            assert_eq!(what("compose.yml", &text), What::Unsupported(CADDY_LABELS), "{label}");
        }
        assert_eq!(what("caddy.json", r#"{"apps": {"http": {"servers": {}}}}"#), What::Unsupported(CADDY_JSON));
        assert_eq!(what("caddy.json", "{}"), What::Foreign);
    }

    #[test]
    fn names_say_what_to_look_at() {
        for (path, name) in [
            ("a/nginx.conf", Name::NginxMain),
            ("a/nginx.conf.default", Name::NginxMaybe),
            ("conf.d/default.conf", Name::NginxMaybe),
            ("sites-available/example.org", Name::NginxMaybe),
            ("sites-available/shop.bak", Name::NginxMaybe),
            ("Caddyfile", Name::Caddyfile),
            ("Caddyfile.prod", Name::Caddyfile),
            ("x.caddyfile", Name::Caddyfile),
            ("default.conf.template", Name::Template),
            ("nginx.conf.j2", Name::Template),
            ("Caddyfile.tmpl", Name::Template),
            ("caddy.json", Name::CaddyElsewhere),
            ("docker-compose.prod.yml", Name::CaddyElsewhere),
            ("compose.yaml", Name::CaddyElsewhere),
            ("composer.json", Name::Other),
            ("mime.types", Name::Other),
            ("page.html.j2", Name::Other),
        ] {
            assert_eq!(Name::of(Path::new(path)), name, "{path}");
        }
        assert!(is_spare(Path::new("nginx.conf.dpkg-dist")) && is_spare(Path::new("a.conf~")));
        assert!(!is_spare(Path::new("default")) && !is_spare(Path::new("default.conf")));
    }

    #[test]
    fn content_decides_what_a_conf_is() {
        let nginx_part = What::Part(Server::Nginx);
        assert_eq!(what("x.conf", "events {}\nhttp { server { listen 80; } }\n"), What::Main(Server::Nginx));
        assert_eq!(what("x.conf", "server { listen 80; server_name a; }\n"), nginx_part);
        assert_eq!(what("nginx.conf", "include a.conf;\n"), nginx_part);
        assert_eq!(what("redis.conf", "port 6379\nbind 127.0.0.1\nsave 900 1\n"), What::Foreign);
        assert_eq!(what("httpd.conf", "<VirtualHost *:80>\n  ServerName a\n</VirtualHost>\n"), What::Foreign);
        assert_eq!(what("application.conf", "http {\n  port = 8080\n  host = \"a\"\n}\n"), What::Foreign);
        assert_eq!(what("named.conf", "include \"/etc/bind/a\";\noptions { directory \"/var\"; };\n"), What::Foreign);
    }

    #[test]
    fn a_doubt_is_in_favour_of_what_is_named() {
        let mut files = Memory::new();
        files.insert("x.conf", &b"gzip on"[..]);
        files.insert("default.conf.template", &b"listen $PORT;"[..]);
        let look = |path: &str, reach| recognise(&files, Path::new(path), reach).unwrap();
        assert_eq!(look("x.conf", Reach::Found), What::Foreign);
        assert_eq!(look("x.conf", Reach::Named), What::Part(Server::Nginx));
        assert_eq!(look("x.conf", Reach::Stated(Server::Caddy)), What::Main(Server::Caddy));
        assert_eq!(look("default.conf.template", Reach::Named), What::Template);
        assert_eq!(look("default.conf.template", Reach::Stated(Server::Nginx)), What::Part(Server::Nginx));
    }

    #[test]
    fn templates_are_told_from_strings_and_lua() {
        assert_eq!(what("x.conf", "server { server_name {{ host }}; }\n"), What::Template);
        assert_eq!(what("nginx.conf", "{% if a %}\nuser a;\n{% endif %}\n"), What::Template);
        assert_eq!(what("x.conf", "server { listen 80; return 200 '{{ a }}'; }\n"), What::Part(Server::Nginx));
        let lua = "server { listen 80; location / { content_by_lua_block { local t = {{1}, {2}} } } }\n";
        assert_eq!(what("x.conf", lua), What::Part(Server::Nginx));
    }
}
