//! The texts of a scratch copy: includes lead into it, and what a test run writes goes there.

use foldhash::HashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::Mirror;
use crate::catalog::nginx::Context;
use crate::fix::apply::{Change, Patch};
use crate::model::include::{PathMap, has_glob, to_path};
use crate::model::{Model, Node};
use crate::syntax::tree::Body;
use crate::version::Server;

/// The folder of the copy for files that a test run writes.
pub(super) const FOLDER: &str = "written";

/// Directives whose first argument is a file or folder that even a test run of nginx makes.
const WRITTEN: [&str; 13] = [
    "access_log",
    "client_body_temp_path",
    "error_log",
    "fastcgi_cache_path",
    "fastcgi_temp_path",
    "lock_file",
    "pid",
    "proxy_cache_path",
    "proxy_temp_path",
    "scgi_cache_path",
    "scgi_temp_path",
    "uwsgi_cache_path",
    "uwsgi_temp_path",
];

/// The text of every file in the copy, by its id.
pub(super) fn texts(model: &Model, mirror: &Mirror<'_>, maps: &PathMap) -> BTreeMap<u32, Vec<u8>> {
    let mut moved = Moved { mirror, maps, patch: Patch::new(), seen: BTreeSet::new(), places: HashMap::default() };
    for node in model.nodes() {
        match model.server() {
            Server::Nginx => moved.nginx(node),
            Server::Caddy => moved.caddy(node),
        }
    }
    if model.server() == Server::Nginx {
        moved.defaults(model);
    }
    let text = |(id, file): (crate::source::FileId, &std::sync::Arc<crate::source::SourceFile>)| {
        (id.0, moved.patch.apply(id.0 as usize, file.bytes()))
    };
    model.sources().iter().map(text).collect()
}

struct Moved<'a, 'f> {
    mirror: &'a Mirror<'f>,
    maps: &'a PathMap,
    /// By file id.
    patch: Patch,
    /// Files and offsets of arguments that were seen: a file may be included several times.
    seen: BTreeSet<(u32, u32)>,
    /// Real paths, and where they are in the copy.
    places: HashMap<Vec<u8>, PathBuf>,
}

impl Moved<'_, '_> {
    fn nginx(&mut self, node: Node<'_>) {
        let Some(path) = node.value(0) else { return };
        if node.is("include") {
            if let Some(new) = self.included(path) {
                self.replace(node, &new);
            }
        } else if let Some(name) = WRITTEN.iter().find(|name| node.is(name))
            && is_written(name, path)
        {
            let new = self.place(path);
            self.replace(node, &new);
        }
    }

    fn caddy(&mut self, node: Node<'_>) {
        if node.is("import")
            && let Some(new) = node.value(0).and_then(|path| self.included(path))
        {
            self.replace(node, &new);
        }
    }

    /// Where an absolute include leads in the copy, if its folder is there.
    fn included(&self, path: &[u8]) -> Option<PathBuf> {
        let path = to_path(path);
        let mapped = self.maps.apply(path.clone());
        if !path.is_absolute() || mapped.to_str().is_some_and(|text| text.contains(['{', '$'])) {
            return None;
        }
        // Links are resolved up to the first name with a pattern in it.
        let names: Vec<_> = mapped.components().collect();
        let literal = names.iter().take_while(|name| !has_glob(name.as_os_str().as_encoded_bytes())).count();
        let literal = literal.min(names.len() - 1);
        let folder: PathBuf = names[..literal].iter().collect();
        let rest: PathBuf = names[literal..].iter().collect();
        let folder = self.mirror.files.canonical(&folder).ok()?;
        Some(self.mirror.place(&folder).join(rest))
    }

    /// A place in the copy for a path that is written to.
    fn place(&mut self, path: &[u8]) -> PathBuf {
        let folder = self.mirror.root.with_file_name(FOLDER);
        let next = folder.join(self.places.len().to_string());
        self.places.entry(path.to_vec()).or_insert(next).clone()
    }

    fn replace(&mut self, node: Node<'_>, path: &Path) {
        let Some(word) = node.arg(0) else { return };
        let span = word.span();
        if self.seen.insert((span.file.0, span.start)) {
            self.change(span.file.0 as usize, span.range(), quoted(path));
        }
    }

    fn change(&mut self, file: usize, range: std::ops::Range<usize>, text: Vec<u8>) {
        // Arguments lie apart.
        let _ = self.patch.add(&[Change { file, range, text }]);
    }

    /// Says where to write what no line says, on the line of what stands there.
    fn defaults(&mut self, model: &Model) {
        if model.root_context() != Context::Main {
            return;
        }
        for (name, rest) in [("pid", ""), ("error_log", "")] {
            if model.top().own(name).len() == 0 {
                let text = self.line(name, rest);
                self.change(model.main().0 as usize, 0..0, text);
            }
        }
        for http in model.top().own("http") {
            if let (Body::Block { open, .. }, 0) = (http.body(), http.own("access_log").len()) {
                let text = self.line("access_log", "");
                self.change(open.file.0 as usize, open.range().end..open.range().end, text);
            }
        }
    }

    fn line(&mut self, name: &str, rest: &str) -> Vec<u8> {
        let place = self.place(format!("default {name}").as_bytes());
        [name.as_bytes(), b" ", &quoted(&place), rest.as_bytes(), b"; "].concat()
    }
}

/// Whether the argument names a file, not a service or nothing.
fn is_written(name: &str, path: &[u8]) -> bool {
    let service = path.starts_with(b"syslog:") || path.starts_with(b"memory:") || path == b"stderr";
    let off = path == b"off" && name != "error_log";
    !service && !off && !path.contains(&b'$')
}

fn quoted(path: &Path) -> Vec<u8> {
    let mut out = vec![b'"'];
    for &byte in path.as_os_str().as_encoded_bytes() {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
    out
}

/// A main file around a fragment that stands in that context; `None` where it is one itself.
pub(super) fn around(context: Context, fragment: &Path, scratch: &Path) -> Option<Vec<u8>> {
    let written = |name: &str| String::from_utf8_lossy(&quoted(&scratch.join(FOLDER).join(name))).into_owned();
    let include = format!("include {};", String::from_utf8_lossy(&quoted(fragment)));
    let inside = match context {
        Context::Http => include,
        Context::Server => format!("server {{ {include} }}"),
        Context::Location => format!("server {{ location / {{ {include} }} }}"),
        _ => return None,
    };
    let (pid, error_log, access_log) = (written("pid"), written("error.log"), written("access.log"));
    let text = format!("pid {pid}; error_log {error_log}; events {{ }} http {{ access_log {access_log}; {inside} }}\n");
    Some(text.into_bytes())
}
