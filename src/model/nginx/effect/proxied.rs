//! What the directives around a pass come to, for the backend and for the client.

use super::{Effect, Key, context, pass_of, text};
use crate::catalog::nginx::{default_value, keepalive};
use crate::model::nginx::{Backend, Pass, Protocol, Scheme};
use crate::model::{Level, Node, NodeId};
use crate::version::Version;

/// Where requests go.
pub const BACKEND: &[u8] = b"backend";
/// The path that the backend is asked for, where the pass changes it.
pub const TARGET: &[u8] = b"request target";

/// Directives that decide what [`proxied`] tells.
pub(super) const INPUTS: [&str; 22] = [
    "proxy_pass",
    "proxy_set_header",
    "proxy_redirect",
    "proxy_cache",
    "proxy_cache_key",
    "proxy_ssl_name",
    "proxy_ssl_server_name",
    "proxy_ssl_verify",
    "grpc_pass",
    "grpc_set_header",
    "grpc_ssl_name",
    "grpc_ssl_server_name",
    "grpc_ssl_verify",
    "fastcgi_pass",
    "memcached_pass",
    "scgi_pass",
    "uwsgi_pass",
    "uwsgi_ssl_name",
    "uwsgi_ssl_server_name",
    "uwsgi_ssl_verify",
    "set",
    "upstream",
];

/// Whether [`proxied`] tells better what a directive comes to.
pub(super) fn tells(protocol: Protocol, name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(protocol.prefix().as_bytes()) else { return false };
    match rest {
        b"pass" | b"ssl_name" => true,
        b"set_header" => matches!(protocol, Protocol::Http | Protocol::Grpc),
        b"redirect" | b"cache_key" => protocol == Protocol::Http,
        _ => false,
    }
}

pub(super) fn proxied(level: Level<'_>, version: Version) -> Effect {
    let Some(pass) = pass_of(level) else { return Effect::new() };
    let around = Around { level, pass, node: level.model().node(pass.node), version };
    let mut effect = Effect::new();
    effect.insert(Key::new(BACKEND, b""), around.backend());
    around.target(&mut effect);
    around.pool(&mut effect);
    around.headers(&mut effect);
    around.name_for_tls(&mut effect);
    around.redirects(&mut effect);
    around.cache_key(&mut effect);
    if level.model().nginx().uses_proxy_host(level) {
        effect.insert(Key::new(b"$proxy_host", b""), around.proxy_host());
        effect.insert(Key::new(b"$proxy_port", b""), around.proxy_port());
    }
    effect
}

/// A pass and the level that it is in effect on.
struct Around<'m> {
    level: Level<'m>,
    pass: &'m Pass,
    node: Node<'m>,
    version: Version,
}

impl<'m> Around<'m> {
    fn word(&self) -> &'m [u8] {
        self.node.value(0).unwrap_or_default()
    }

    fn name(&self, rest: &str) -> String {
        format!("{}{rest}", self.pass.protocol.prefix())
    }

    /// The value of a directive of the pass's module in effect, with its default.
    fn value(&self, rest: &str) -> Option<Vec<u8>> {
        let name = self.name(rest);
        match self.level.setting(&name) {
            Some(line) => line.value(0).map(<[u8]>::to_vec),
            None => {
                default_value(name.as_bytes(), context(self.level), self.version).map(|text| text.as_bytes().to_vec())
            }
        }
    }

    fn is_on(&self, rest: &str) -> bool {
        self.value(rest).is_some_and(|value| value == b"on")
    }

    fn scheme(&self) -> Scheme {
        let tls = |scheme: &[u8]| {
            self.word().len() >= scheme.len() && self.word()[..scheme.len()].eq_ignore_ascii_case(scheme)
        };
        if tls(b"https://") || tls(b"grpcs://") || tls(b"suwsgi://") { Scheme::Tls } else { Scheme::Plain }
    }

    fn default_port(&self) -> u16 {
        if self.scheme() == Scheme::Tls { 443 } else { 80 }
    }

    /// Host and what follows, behind the scheme.
    fn behind_scheme(&self) -> &'m [u8] {
        let word = self.word();
        memchr::memmem::find(word, b"://").map_or(word, |at| &word[at + 3..])
    }

    /// The one host that the pass names as written, if no variable is in it.
    fn written_host(&self) -> Option<&'m [u8]> {
        let rest = self.behind_scheme();
        let end = rest.iter().position(|b| matches!(b, b'/' | b'?')).unwrap_or(rest.len());
        let host = if rest.starts_with(b"unix:") { b"localhost" } else { &rest[..end] };
        (!host.contains(&b'$')).then_some(host)
    }

    /// `$proxy_host`.
    fn proxy_host(&self) -> Vec<u8> {
        match &self.pass.backends[..] {
            [Backend::Address(address)] if !address.host.is_empty() => address.proxy_host(),
            [Backend::Upstream(_) | Backend::Unix(_)] if self.written_host().is_some() => {
                self.written_host().unwrap_or_default().to_vec()
            }
            [Backend::Upstream(id)] => self.level.model().node(*id).value(0).unwrap_or_default().to_vec(),
            _ => self.behind_scheme().to_vec(),
        }
    }

    fn proxy_port(&self) -> Vec<u8> {
        let port = match &self.pass.backends[..] {
            [Backend::Address(address)] => address.effective_port(),
            _ => self.default_port(),
        };
        port.to_string().into_bytes()
    }

    /// A text with `$proxy_host` and `$proxy_port` in it resolved.
    fn resolved(&self, text: &[u8]) -> Vec<u8> {
        let mut out = text.to_vec();
        if memchr::memmem::find(text, b"proxy_").is_none() {
            return out;
        }
        for (name, value) in [("proxy_host", self.proxy_host()), ("proxy_port", self.proxy_port())] {
            for form in [format!("${{{name}}}"), format!("${name}")] {
                out = replaced(&out, form.as_bytes(), &value);
            }
        }
        out
    }

    fn backend(&self) -> Vec<u8> {
        let scheme: &[u8] = match (self.pass.protocol, self.scheme()) {
            (Protocol::Http, Scheme::Plain) => b"http://",
            (Protocol::Http, Scheme::Tls) => b"https://",
            (Protocol::Grpc, Scheme::Plain) => b"grpc://",
            (Protocol::Grpc, Scheme::Tls) => b"grpcs://",
            _ => b"",
        };
        let texts = self.pass.backends.iter().map(|backend| match backend {
            Backend::Address(address) if !address.host.is_empty() => {
                [&address.host.to_ascii_lowercase()[..], b":", address.effective_port().to_string().as_bytes()].concat()
            }
            Backend::Unix(path) => path.clone(),
            Backend::Upstream(id) => self.servers(*id),
            Backend::Address(_) | Backend::Unknown => self.behind_scheme().to_vec(),
        });
        let mut texts: Vec<Vec<u8>> = texts.collect();
        texts.sort_unstable();
        [scheme, &texts.join(&b" or "[..])].concat()
    }

    /// The servers of an upstream; how they are chosen matters only where there are several.
    fn servers(&self, upstream: NodeId) -> Vec<u8> {
        /// Parameters that do nothing to the only server.
        const IDLE: [&[u8]; 3] = [b"weight=", b"max_fails=", b"fail_timeout="];
        let upstream = self.level.model().node(upstream);
        let servers: Vec<Node<'_>> = upstream.own("server").collect();
        let alone = servers.len() == 1;
        let address = |server: &Node<'_>| {
            let mut text = with_port(server.value(0).unwrap_or_default());
            for parameter in server.args().skip(1).map(crate::model::Word::value) {
                if !(alone && IDLE.iter().any(|idle| parameter.starts_with(idle))) {
                    text.push(b' ');
                    text.extend_from_slice(parameter);
                }
            }
            text
        };
        let mut lines: Vec<Vec<u8>> = servers.iter().map(address).collect();
        if !alone {
            let method = |node: &Node<'_>| METHODS.iter().any(|name| node.is(name));
            lines.extend(upstream.children().filter(method).map(|node| text(node.words())));
        }
        lines.join(&b", "[..])
    }

    /// What the pass makes of the request's path.
    fn target(&self, effect: &mut Effect) {
        let uri = match (&self.pass.uri, self.word().contains(&b'$')) {
            (Some(uri), false) if !uri.is_empty() => uri.clone(),
            (_, true) => {
                let rest = self.behind_scheme();
                let end = rest.iter().position(|b| matches!(b, b'/' | b'?')).unwrap_or(rest.len());
                rest[end..].to_vec()
            }
            _ => return,
        };
        if !uri.is_empty() {
            let value = [&uri[..], b" for ", &self.location()].concat();
            effect.insert(Key::new(TARGET, b""), value);
        }
    }

    /// The prefix or pattern of the location around the pass.
    fn location(&self) -> Vec<u8> {
        let location = std::iter::once(self.node).chain(self.node.ancestors()).find(|node| node.is("location"));
        location.and_then(|node| node.args().next_back()).map(|word| word.value().to_vec()).unwrap_or_default()
    }

    /// How many idle connections are kept.
    fn pool(&self, effect: &mut Effect) {
        let [Backend::Upstream(id)] = self.pass.backends[..] else { return };
        let upstream = self.level.model().node(id);
        let written = upstream.own("keepalive").next_back().map(|line| text(line.args()));
        let implicit = || keepalive(self.version)?.implicit.map(|text| text.as_bytes().to_vec());
        if let Some(value) = written.or_else(implicit) {
            effect.insert(Key::new(b"keepalive", b""), value);
        }
    }

    /// The header lines that the backend sees because of the configuration. An empty value means that
    /// the client's is not passed on.
    fn headers(&self, effect: &mut Effect) {
        let name = self.name("set_header");
        if !matches!(self.pass.protocol, Protocol::Http | Protocol::Grpc) {
            return;
        }
        effect.insert(Key::new(name.as_bytes(), b"host"), self.proxy_host());
        let connection = keepalive(self.version).and_then(|row| row.connection).unwrap_or_default();
        if self.pass.protocol == Protocol::Http {
            effect.insert(Key::new(name.as_bytes(), b"connection"), connection.as_bytes().to_vec());
        }
        for line in self.level.in_effect(&name) {
            let value = self.resolved(line.value(1).unwrap_or_default());
            effect.insert(super::key(line), value);
        }
    }

    /// The name that the backend's certificate is asked for by, or checked against.
    fn name_for_tls(&self, effect: &mut Effect) {
        if self.scheme() == Scheme::Plain || !(self.is_on("ssl_server_name") || self.is_on("ssl_verify")) {
            return;
        }
        let host = self.proxy_host();
        let without_port = match memchr::memrchr(b':', &host) {
            Some(at) if !host[at..].contains(&b']') => host[..at].to_vec(),
            _ => host,
        };
        let name = self.name("ssl_name");
        let written = self.level.setting(&name).and_then(|line| line.value(0));
        let value = match written {
            Some(text) if text != b"$proxy_host" => self.resolved(text),
            _ => without_port,
        };
        effect.insert(Key::new(name.as_bytes(), b""), value);
    }

    /// Which redirects of the backend are rewritten, and to what.
    fn redirects(&self, effect: &mut Effect) {
        if self.pass.protocol != Protocol::Http {
            return;
        }
        let lines: Vec<Node<'_>> = self.level.in_effect("proxy_redirect").collect();
        let mut rules: Vec<Vec<u8>> = Vec::new();
        for line in &lines {
            match line.value(0) {
                Some(b"off") => {}
                Some(b"default") => rules.extend(self.default_redirect()),
                _ => rules.push(self.resolved(&text(line.args()))),
            }
        }
        if lines.is_empty() {
            rules.extend(self.inherited_redirect().or_else(|| self.default_redirect()));
        }
        if !rules.is_empty() {
            effect.insert(Key::new(b"proxy_redirect", b""), rules.join(&b"; "[..]));
        }
    }

    /// `proxy_redirect default`: from the pass's text to the location's prefix (from nginx's
    /// `ngx_http_proxy_merge_loc_conf`; with variables in the pass there is none).
    fn default_redirect(&self) -> Option<Vec<u8>> {
        let word = self.word();
        let uri = self.pass.uri.as_ref().filter(|_| !word.contains(&b'$'))?;
        if uri.is_empty() {
            return Some([word, b"/ /"].concat());
        }
        Some([word, b" ", &self.location()].concat())
    }

    /// The default redirect of the outermost location around this one that passes on: it is inherited as
    /// if it were written there (measured).
    fn inherited_redirect(&self) -> Option<Vec<u8>> {
        let model = self.level.model();
        let outer = self.level.node()?.ancestors().filter(|node| node.is("location"));
        let passes = outer.flat_map(|location| location.own("proxy_pass"));
        let node = passes.filter(|pass| pass.value(0).is_some_and(|url| !url.contains(&b'$'))).last()?;
        let pass = model.nginx().pass(model, node.id())?;
        Around { level: node.level(), pass, node, version: self.version }.default_redirect()
    }

    fn cache_key(&self, effect: &mut Effect) {
        if self.pass.protocol != Protocol::Http || self.value("cache").is_none_or(|zone| zone == b"off") {
            return;
        }
        if let Some(key) = self.value("cache_key") {
            effect.insert(Key::new(b"proxy_cache_key", b""), self.resolved(&key));
        }
    }
}

/// How a server of several is chosen.
const METHODS: [&str; 7] = ["hash", "ip_hash", "least_conn", "least_time", "random", "sticky", "queue"];

/// The address of a `server` line: port 80 where none is written, under `https` too (measured).
fn with_port(address: &[u8]) -> Vec<u8> {
    let from = memchr::memchr(b']', address).unwrap_or(0);
    if address.starts_with(b"unix:") || address[from..].contains(&b':') {
        address.to_vec()
    } else {
        [address, b":80"].concat()
    }
}

fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, from) {
        let behind = &rest[at + from.len()..];
        out.extend_from_slice(&rest[..at]);
        // `$proxy_host` must not match the beginning of a longer name.
        let longer = !from.ends_with(b"}") && behind.first().is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        out.extend_from_slice(if longer { from } else { to });
        rest = behind;
    }
    out.extend_from_slice(rest);
    out
}
