//! The edits that make a location reuse its backend's connections, and nothing else change.
//!
//! The complete form (`keepalive` last in an explicit upstream, `proxy_http_version 1.1`, an empty
//! `Connection`) is the only one that is right on both sides of 1.29.7 (measured).

use foldhash::{HashMap, HashSet};
use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::location::Location;
use super::{View, lossy, shown};
use crate::fix::{Edit, Fix};
use crate::model::nginx::{Address, Context, Pass, Protocol};
use crate::model::{Node, Word, layout};
use crate::source::Span;

/// What every move into a pool changes, measured on all versions.
pub(super) const POOLING: &str = "a pooled connection that the backend drops just as a request arrives: GET is sent \
     again, POST answers 502; keep `keepalive_timeout` of the upstream below the backend's idle time-out";

/// The pool that is written where nobody states a peak: nginx's own default from 1.29.7.
const POOL: &str = "keepalive 32;";

/// Why no edit is offered, in words.
pub(super) type Refusal = String;

/// The upstream that a backend moves to.
pub(super) struct Moved {
    pub(super) name: Vec<u8>,
}

/// Edits collected over locations, and what else they change.
#[derive(Default)]
pub(super) struct Patch {
    edits: Vec<Edit>,
    known: HashSet<Edit>,
    /// In the order in which they were met, once each.
    changes: Vec<String>,
    pool_changes: Vec<String>,
    /// Whether something changes that the guard puts in words.
    changes_more: bool,
}

impl Patch {
    fn add(&mut self, edits: Vec<Edit>) {
        for edit in edits {
            if self.known.insert(edit.clone()) {
                self.edits.push(edit);
            }
        }
    }

    /// Says that something changes that the guard will name.
    pub(super) fn changes_more(&mut self) {
        self.changes_more = true;
    }

    pub(super) fn change(&mut self, change: String) {
        if !self.changes.contains(&change) {
            self.changes.push(change);
        }
    }

    fn into_fix(self, title: String) -> Fix {
        let mut fix = Fix::safe(title, self.edits);
        if self.changes_more || !self.changes.is_empty() {
            fix.safety = crate::fix::Safety::Unsafe;
        }
        fix.changes = self.changes.into_iter().chain(self.pool_changes).collect();
        fix
    }
}

/// What tells the connections of locations apart: the source address, and all that TLS checks or says.
/// The first is for plain connections too.
const TELL_APART: [&str; 11] = [
    "bind",
    "ssl_name",
    "ssl_server_name",
    "ssl_verify",
    "ssl_verify_depth",
    "ssl_trusted_certificate",
    "ssl_crl",
    "ssl_certificate",
    "ssl_certificate_key",
    "ssl_protocols",
    "ssl_ciphers",
];

/// The passes that one patch is for.
pub(super) struct Group {
    passes: Vec<usize>,
    members: HashSet<usize>,
    /// Place of a line in the text: whether everything that takes it is in the group.
    covered: RefCell<HashMap<Span, bool>>,
}

impl Group {
    /// The passes with these indices, and whatever else stands at their places in the text.
    pub(super) fn new(view: View<'_>, passes: impl IntoIterator<Item = usize>) -> Self {
        let mut group = Self { passes: Vec::new(), members: HashSet::default(), covered: RefCell::default() };
        for pass in passes {
            for &copy in view.index().same_place(view.node(view.passes[pass].node).head()) {
                if group.members.insert(copy) {
                    group.passes.push(copy);
                }
            }
        }
        group.passes.sort_unstable();
        group
    }

    /// Whether a pass is among them.
    pub(super) fn has(&self, pass: usize) -> bool {
        self.members.contains(&pass)
    }

    /// Whether everything that takes a line, wherever its file is included, is among them.
    pub(super) fn covers(&self, view: View<'_>, line: Node<'_>) -> bool {
        let mut covered = self.covered.borrow_mut();
        *covered
            .entry(line.head())
            .or_insert_with(|| view.index().heirs_of_line(view.model, line).iter().all(|&heir| self.has(heir)))
    }

    fn iter<'a>(&self, view: View<'a>) -> impl Iterator<Item = &'a Pass> {
        self.passes.iter().map(move |&pass| &view.passes[pass])
    }
}

/// Moves an address that `group` passes to into an upstream of its own. `taken` are the names that
/// other patches of the run give.
pub(super) fn move_to_upstream(
    view: View<'_>,
    group: &Group,
    address: &Address,
    taken: &mut HashSet<Vec<u8>>,
) -> Result<Fix, Refusal> {
    one_pool_is_right(view, group)?;
    let server = server_of(view, group)?;
    let moved = Moved { name: name_for(view, group, address, taken) };
    let name = lossy(&moved.name).into_owned();
    let mut patch = Patch { pool_changes: vec![POOLING.to_owned()], ..Patch::default() };
    let server_line = format!("server {}:{};", lossy(&address.host), address.effective_port());
    let head = format!("upstream {name}");
    patch.add(vec![layout::block_above(server, head.as_bytes(), &[server_line.as_str(), POOL])]);
    locations(view, &mut patch, group, Some(&moved))?;
    Ok(patch.into_fix(format!("pass to an upstream `{name}` that keeps connections")))
}

/// Gives an upstream a pool, and the locations that pass to it what else they lack.
pub(super) fn add_pool(view: View<'_>, upstream: Node<'_>, group: &Group) -> Result<Fix, Refusal> {
    one_pool_is_right(view, group)?;
    let mut patch = Patch { pool_changes: vec![POOLING.to_owned()], ..Patch::default() };
    if view.index().is_repeated(upstream.head()) {
        return Err("the file that holds this upstream is included in several places".to_owned());
    }
    let edit = layout::last_in(upstream, &[POOL]).ok_or("the upstream block has no end")?;
    patch.add(vec![edit]);
    locations(view, &mut patch, group, None)?;
    Ok(patch.into_fix("keep connections of this upstream".to_owned()))
}

/// Gives locations with a live pool what they lack.
pub(super) fn complete(view: View<'_>, group: &Group, title: &str) -> Result<Fix, Refusal> {
    let mut patch = Patch::default();
    locations(view, &mut patch, group, None)?;
    Ok(patch.into_fix(title.to_owned()))
}

fn locations(view: View<'_>, patch: &mut Patch, group: &Group, moved: Option<&Moved>) -> Result<(), Refusal> {
    let mut places: BTreeMap<Span, Vec<Edit>> = BTreeMap::new();
    for pass in group.iter(view) {
        let edits = Location::new(view, pass, group, moved).and_then(|location| location.edits(patch));
        let edits = edits.map_err(|why| format!("{}: {why}", whereabouts(view.node(pass.node))))?;
        match places.entry(view.node(pass.node).head()) {
            Entry::Occupied(known) if *known.get() != edits => {
                return Err(
                    "the file that holds this location is included in places that need different edits".to_owned()
                );
            }
            Entry::Occupied(_) => {}
            Entry::Vacant(place) => {
                place.insert(edits);
            }
        }
    }
    places.into_values().for_each(|edits| patch.add(edits));
    Ok(())
}

/// The location and its line, for people.
fn whereabouts(pass: Node<'_>) -> String {
    let place = pass.ancestors().find(|node| node.is("location")).unwrap_or(pass);
    let line = place.model().file(place.head()).line_of(place.head().start);
    format!("`{}` at line {line}", shown(place))
}

/// A pooled connection is found by the server's address alone (measured): what else tells connections
/// apart must be the same at every location that shares the pool.
fn one_pool_is_right(view: View<'_>, group: &Group) -> Result<(), Refusal> {
    let level = |pass: &Pass| view.node(pass.node).level();
    let speaks_tls = |pass: &Pass| {
        let url = view.node(pass.node).value(0).unwrap_or_default();
        ["https://", "grpcs://"].iter().any(|scheme| url.starts_with(scheme.as_bytes())) || url.starts_with(b"$")
    };
    let kinds: HashSet<bool> = group.iter(view).map(speaks_tls).collect();
    if kinds.len() > 1 {
        return Err("connections with and without TLS would share the pool".to_owned());
    }
    let settings = if kinds.contains(&true) { &TELL_APART[..] } else { &TELL_APART[..1] };
    for setting in settings {
        let mut values = BTreeSet::new();
        for pass in group.iter(view) {
            let name = format!("{}{setting}", pass.protocol.prefix());
            let line: Vec<&[u8]> =
                level(pass).setting(&name).into_iter().flat_map(crate::model::Node::args).map(Word::value).collect();
            if line.iter().any(|value| value.contains(&b'$') && *value != b"$proxy_host") {
                return Err(format!(
                    "{}: `{name}` holds a variable, and a pooled connection is used again whatever its value is",
                    whereabouts(view.node(pass.node))
                ));
            }
            values.insert(line);
            if values.len() > 1 {
                return Err(format!(
                    "{}: `{name}` differs from that of other locations that would share the pool, and a pooled connection is \
                     used again whatever its value is",
                    whereabouts(view.node(pass.node))
                ));
            }
        }
    }
    let speaks_http2 = |pass: &Pass| {
        let level = view.node(pass.node).level();
        pass.protocol == Protocol::Grpc || level.value("proxy_http_version") == Some(b"2")
    };
    let kinds: HashSet<bool> = group.iter(view).map(speaks_http2).collect();
    if kinds.len() > 1 {
        return Err(
            "HTTP/1.1 and HTTP/2 locations would share the pool, and nginx mixes their connections up".to_owned()
        );
    }
    Ok(())
}

/// The `server` block that the upstream goes in front of.
fn server_of<'a>(view: View<'a>, group: &Group) -> Result<Node<'a>, Refusal> {
    let first = view.node(view.passes[group.passes[0]].node);
    let server = first.ancestors().find(|node| node.is("server") && node.context() == Context::Http);
    let server = server.ok_or("the `server` block around this location is not in the files that were read")?;
    if view.index().is_repeated(server.head()) {
        return Err("the file that holds this server is included in several places".to_owned());
    }
    Ok(server)
}

/// The host's own name where that is allowed: nothing else in the whole configuration passes to that
/// host, and the port is the scheme's and not written. Else a name that says host and port.
fn name_for(view: View<'_>, group: &Group, address: &Address, taken: &mut HashSet<Vec<u8>>) -> Vec<u8> {
    let is_name = !address.host.starts_with(b"[");
    let wanted_elsewhere = || view.index().to_host(&address.host).any(|pass| !group.has(pass));
    if is_name && address.port.is_none() && !wanted_elsewhere() {
        return address.host.clone();
    }
    let tidy = |b: &u8| if b.is_ascii_alphanumeric() || *b == b'-' { *b } else { b'_' };
    let mut base: Vec<u8> = address.host.iter().map(tidy).collect();
    if address.is_ip() {
        let digits = base.trim_ascii_end().strip_suffix(b"_").unwrap_or(&base);
        base = [b"backend_", digits.strip_prefix(b"_").unwrap_or(digits)].concat();
    }
    base.extend_from_slice(format!("_{}", address.effective_port()).as_bytes());
    let is_free = |name: &[u8], taken: &HashSet<Vec<u8>>| {
        let lower = name.to_ascii_lowercase();
        view.model.nginx().upstream(view.model, name).is_none()
            && !view.index().is_host(name)
            && !taken.contains(&lower)
    };
    let numbered = (2..).map(|count| [&base[..], format!("_{count}").as_bytes()].concat());
    let mut names = std::iter::once(base.clone()).chain(numbered);
    let name = names.find(|name| is_free(name, taken)).expect("the names do not end");
    taken.insert(name.to_ascii_lowercase());
    name
}
