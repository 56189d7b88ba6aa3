//! The edits that make a location reuse its backend's connections, and nothing else change.
//!
//! The complete form (`keepalive` last in an explicit upstream, `proxy_http_version 1.1`, an empty
//! `Connection`) is the only one that is right on both sides of 1.29.7 (measured).

use std::collections::{BTreeMap, BTreeSet};

use super::location::Location;
use crate::catalog::nginx::Keepalive;
use crate::fix::{Edit, Fix};
use crate::model::nginx::{Address, Backend, Context, Pass, Protocol};
use crate::model::{Model, Node, layout};
use crate::source::Span;

/// What every move into a pool changes, measured on all versions.
pub(super) const POOLING: &str = "a pooled connection that the backend drops just as a request arrives: GET is sent \
     again, POST answers 502; keep `keepalive_timeout` of the upstream below the backend's idle time-out";

/// The pool that is written where nobody states a peak: nginx's own default from 1.29.7.
const POOL: &str = "keepalive 32;";

/// Why no edit is offered, in words.
pub(super) type Refusal = String;

/// A backend on its way into an upstream.
pub(super) struct Moved<'a> {
    pub(super) address: &'a Address,
    pub(super) name: Vec<u8>,
}

impl Moved<'_> {
    /// Whether the upstream bears the host's own name, so that `$proxy_host` stays what it was.
    pub(super) fn keeps_name(&self) -> bool {
        self.name == self.address.host
    }
}

/// Edits collected over locations, and what else they change.
#[derive(Default)]
pub(super) struct Patch {
    edits: Vec<Edit>,
    /// In the order in which they were met, once each.
    changes: Vec<String>,
    pool_changes: Vec<String>,
}

impl Patch {
    fn add(&mut self, edits: Vec<Edit>) {
        for edit in edits {
            if !self.edits.contains(&edit) {
                self.edits.push(edit);
            }
        }
    }

    pub(super) fn change(&mut self, change: String) {
        if !self.changes.contains(&change) {
            self.changes.push(change);
        }
    }

    fn into_fix(self, title: String) -> Fix {
        let mut fix = Fix::safe(title, self.edits);
        if !self.changes.is_empty() {
            fix.safety = crate::fix::Safety::Unsafe;
        }
        fix.changes = self.changes.into_iter().chain(self.pool_changes).collect();
        fix
    }
}

/// What a patch needs to know of the run.
pub(super) struct Patcher<'a> {
    pub(super) model: &'a Model,
    pub(super) passes: &'a [Pass],
    /// The classes of versions in the target.
    pub(super) facts: Vec<&'static Keepalive>,
}

impl Patcher<'_> {
    /// Moves an address that `group` passes to into an upstream of its own.
    pub(super) fn move_to_upstream(&self, group: &[&Pass], address: &Address) -> Result<Fix, Refusal> {
        self.one_pool_is_right(group)?;
        let server = self.server_of(group[0])?;
        let moved = Moved { address, name: self.name_for(group, address) };
        let name = String::from_utf8_lossy(&moved.name).into_owned();
        let mut patch = Patch { pool_changes: vec![POOLING.to_owned()], ..Patch::default() };
        let host = String::from_utf8_lossy(&address.host);
        let server_line = format!("server {host}:{};", address.effective_port());
        let head = format!("upstream {name}");
        patch.add(vec![layout::block_above(server, head.as_bytes(), &[server_line.as_str(), POOL])]);
        self.locations(&mut patch, group, Some(&moved))?;
        self.unseen_uses(&mut patch, &moved);
        Ok(patch.into_fix(format!("pass to an upstream `{name}` that keeps connections")))
    }

    /// Gives an upstream a pool, and the locations that pass to it what else they lack.
    pub(super) fn add_pool(&self, upstream: Node<'_>, group: &[&Pass]) -> Result<Fix, Refusal> {
        self.one_pool_is_right(group)?;
        let mut patch = Patch { pool_changes: vec![POOLING.to_owned()], ..Patch::default() };
        let edit = layout::last_in(upstream, &[POOL]).ok_or("the upstream block has no end")?;
        patch.add(vec![edit]);
        self.locations(&mut patch, group, None)?;
        Ok(patch.into_fix("keep connections of this upstream".to_owned()))
    }

    /// Gives locations with a live pool what they lack.
    pub(super) fn complete(&self, group: &[&Pass], title: &str) -> Result<Fix, Refusal> {
        let mut patch = Patch::default();
        self.locations(&mut patch, group, None)?;
        Ok(patch.into_fix(title.to_owned()))
    }

    fn locations(&self, patch: &mut Patch, group: &[&Pass], moved: Option<&Moved<'_>>) -> Result<(), Refusal> {
        let mut places: BTreeMap<Span, Vec<Edit>> = BTreeMap::new();
        for pass in group {
            let node = self.model.node(pass.node);
            let edits = Location::new(self, pass, group, moved)?.edits(patch)?;
            match places.get(&node.head()) {
                Some(known) if *known != edits => {
                    return Err(
                        "the file that holds this location is included in places that need different edits".to_owned()
                    );
                }
                Some(_) => {}
                None => {
                    places.insert(node.head(), edits);
                }
            }
        }
        places.into_values().for_each(|edits| patch.add(edits));
        Ok(())
    }

    /// A pooled connection is found by the server's address alone (measured): what else tells
    /// connections apart must be the same at every location that shares the pool.
    fn one_pool_is_right(&self, group: &[&Pass]) -> Result<(), Refusal> {
        for setting in ["bind", "ssl_name", "ssl_certificate", "ssl_certificate_key"] {
            let mut values = BTreeSet::new();
            for pass in group {
                let name = format!("{}{setting}", pass.protocol.prefix());
                let value = self.model.node(pass.node).level().value(&name);
                if value.is_some_and(|value| value.contains(&b'$') && value != b"$proxy_host") {
                    return Err(format!(
                        "`{name}` holds a variable, and a pooled connection is used again whatever its value is"
                    ));
                }
                values.insert(value);
            }
            if values.len() > 1 {
                return Err(format!(
                    "`{}{setting}` differs between locations that would share the pool, and a pooled connection is used \
                     again whatever its value is",
                    group[0].protocol.prefix()
                ));
            }
        }
        let version = |pass: &&Pass| {
            let level = self.model.node(pass.node).level();
            pass.protocol == Protocol::Grpc || level.value("proxy_http_version") == Some(b"2")
        };
        if group.iter().any(version) && !group.iter().all(version) {
            return Err(
                "HTTP/1.1 and HTTP/2 locations would share the pool, and nginx mixes their connections up".to_owned()
            );
        }
        Ok(())
    }

    /// The `server` block that the upstream goes in front of.
    fn server_of(&self, pass: &Pass) -> Result<Node<'_>, Refusal> {
        let mut around = self.model.node(pass.node).ancestors();
        let server = around.find(|node| node.is("server") && node.context() == Context::Http);
        let server = server.ok_or("the `server` block around this location is not in the files that were read")?;
        let copies = self.model.named("server").filter(|other| other.span() == server.span()).count();
        if copies > 1 {
            return Err("the file that holds this server is included in several places".to_owned());
        }
        Ok(server)
    }

    /// The host's own name where that is allowed: nothing else in the whole configuration passes to
    /// that host, and the port is the scheme's. Else a name that says host and port.
    fn name_for(&self, group: &[&Pass], address: &Address) -> Vec<u8> {
        let is_name = !address.host.starts_with(b"[");
        let unwritten = address.port.is_none() && address.effective_port() == address.default_port();
        if unwritten && is_name && !self.passed_to_otherwise(group, &address.host) {
            return address.host.clone();
        }
        let tidy = |b: &u8| if b.is_ascii_alphanumeric() || *b == b'-' { *b } else { b'_' };
        let mut base: Vec<u8> = address.host.iter().map(tidy).collect();
        base = base.trim_ascii().to_vec();
        if address.is_ip() {
            let digits: Vec<u8> = base.iter().copied().skip_while(|b| *b == b'_').collect();
            base = [b"backend_", digits.strip_suffix(b"_").unwrap_or(&digits)].concat();
        }
        base.extend_from_slice(format!("_{}", address.effective_port()).as_bytes());
        let mut name = base.clone();
        let mut count = 1;
        while self.model.nginx().upstream(self.model, &name).is_some() || self.passed_to_otherwise(&[], &name) {
            count += 1;
            name = [&base[..], format!("_{count}").as_bytes()].concat();
        }
        name
    }

    /// Whether a pass outside of `group` may lead to that host: an upstream of its name would catch it.
    fn passed_to_otherwise(&self, group: &[&Pass], host: &[u8]) -> bool {
        let inside = |pass: &Pass| group.iter().any(|other| other.node == pass.node);
        let may_lead = |backend: &Backend| match backend {
            Backend::Address(address) => address.host.is_empty() || address.host.eq_ignore_ascii_case(host),
            Backend::Unknown => true,
            _ => false,
        };
        self.passes.iter().any(|pass| !inside(pass) && pass.backends.iter().any(may_lead))
    }

    /// Uses of `$proxy_host` and `$proxy_port` that the locations' own edits do not reach.
    fn unseen_uses(&self, patch: &mut Patch, moved: &Moved<'_>) {
        if moved.keeps_name() {
            return;
        }
        const SEEN: [&str; 4] = ["proxy_set_header", "proxy_cache_key", "proxy_ssl_name", "proxy_redirect"];
        for node in self.model.nodes().filter(|node| !SEEN.iter().any(|name| node.is(name))) {
            if node.args().any(|word| mentions_proxy_host(word.value())) {
                let name = String::from_utf8_lossy(node.name());
                patch.change(format!(
                    "`$proxy_host` and `$proxy_port` in `{name}` give `{}` and the port of the scheme",
                    String::from_utf8_lossy(&moved.name)
                ));
            }
        }
    }
}

pub(super) fn mentions_proxy_host(value: &[u8]) -> bool {
    PROXY_VARIABLES.iter().any(|name| contains(value, name.as_bytes()))
}

pub(super) const PROXY_VARIABLES: [&str; 4] = ["$proxy_host", "${proxy_host}", "$proxy_port", "${proxy_port}"];

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}
