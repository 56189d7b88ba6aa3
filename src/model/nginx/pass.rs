//! `proxy_pass` and its kin: which backend a location passes to.

use super::values::{Piece, Text, expand};
use super::{Context, View};
use crate::model::{Level, Model, Node, NodeId};

/// How nginx speaks to the backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// `proxy_pass`.
    Http,
    /// `grpc_pass`.
    Grpc,
    /// `fastcgi_pass`.
    Fastcgi,
    /// `memcached_pass`.
    Memcached,
    /// `uwsgi_pass`.
    Uwsgi,
    /// `scgi_pass`.
    Scgi,
}

impl Protocol {
    /// Every protocol.
    pub const ALL: [Self; 6] = [Self::Http, Self::Grpc, Self::Fastcgi, Self::Memcached, Self::Uwsgi, Self::Scgi];

    /// The directive.
    pub fn directive(self) -> &'static str {
        match self {
            Self::Http => "proxy_pass",
            Self::Grpc => "grpc_pass",
            Self::Fastcgi => "fastcgi_pass",
            Self::Memcached => "memcached_pass",
            Self::Uwsgi => "uwsgi_pass",
            Self::Scgi => "scgi_pass",
        }
    }

    /// The directives of its module begin so: `proxy_`.
    pub fn prefix(self) -> &'static str {
        let directive = self.directive();
        &directive[..directive.len() - "pass".len()]
    }
}

/// Plain or with TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// `http`, `grpc`, or none.
    Plain,
    /// `https`, `grpcs`.
    Tls,
}

/// A host and a port as written in a pass.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    /// Plain or with TLS.
    pub scheme: Scheme,
    /// The host as written; IPv6 in its brackets. Empty where a variable holds it.
    pub host: Vec<u8>,
    /// The port, if one is written.
    pub port: Option<u16>,
}

impl Address {
    /// The port that connections go to.
    pub fn effective_port(&self) -> u16 {
        self.port.unwrap_or(self.default_port())
    }

    /// The port of the scheme.
    pub fn default_port(&self) -> u16 {
        match self.scheme {
            Scheme::Plain => 80,
            Scheme::Tls => 443,
        }
    }

    /// `$proxy_host`: the host, and the port unless it is the scheme's (measured: left out then even
    /// if written).
    pub fn proxy_host(&self) -> Vec<u8> {
        let mut text = self.host.clone();
        if self.effective_port() != self.default_port() {
            text.extend_from_slice(format!(":{}", self.effective_port()).as_bytes());
        }
        text
    }

    /// Whether the host is an IP address.
    pub fn is_ip(&self) -> bool {
        let text = String::from_utf8_lossy(&self.host);
        let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(&text);
        inner.parse::<std::net::IpAddr>().is_ok()
    }
}

/// Where a pass leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backend {
    /// An explicit `upstream` block.
    Upstream(NodeId),
    /// A host and port: nginx makes an upstream of its own, without a pool.
    Address(Address),
    /// A `unix:` path.
    Unix(Vec<u8>),
    /// The configuration does not tell.
    Unknown,
}

/// A directive that passes requests to a backend.
#[derive(Debug, Clone)]
pub struct Pass {
    /// The directive.
    pub node: NodeId,
    /// How nginx speaks there.
    pub protocol: Protocol,
    /// Where it leads; several only where a variable has several values.
    pub backends: Vec<Backend>,
    /// Whether variables decide the backend (not only the URI).
    pub by_variable: bool,
    /// The literal URI part behind host and port, if there are no variables in the pass.
    pub uri: Option<Vec<u8>>,
}

/// Every pass of a model's `http` part, in reading order.
pub(super) fn all(model: &Model, view: &View) -> Vec<Pass> {
    let mut passes = Vec::new();
    for protocol in Protocol::ALL {
        for node in model.named(protocol.directive()) {
            let context = view.context(node.id());
            if matches!(context, Context::Location | Context::LocationIf | Context::LimitExcept)
                && let Some(word) = node.value(0)
            {
                passes.push(pass(model, view, node, protocol, word));
            }
        }
    }
    passes.sort_by_key(|pass| pass.node);
    passes
}

fn pass(model: &Model, view: &View, node: Node<'_>, protocol: Protocol, word: &[u8]) -> Pass {
    let has_variables = word.contains(&b'$');
    let mut pass = Pass { node: node.id(), protocol, backends: Vec::new(), by_variable: false, uri: None };
    let texts = if has_variables {
        // A host that is literal and ends before the first variable is not decided by variables.
        pass.by_variable = !host_is_literal(word, protocol);
        expand(word, level_of(node))
    } else {
        vec![vec![Piece::Literal(word.to_vec())]]
    };
    for text in &texts {
        let target = target(text, protocol);
        if !has_variables {
            pass.uri = target.as_ref().map(|target| target.uri.clone());
        }
        let backend = target.map_or(Backend::Unknown, |target| backend(model, view, target));
        if !pass.backends.contains(&backend) {
            pass.backends.push(backend);
        }
    }
    pass
}

fn level_of(node: Node<'_>) -> Level<'_> {
    node.level()
}

fn host_is_literal(word: &[u8], protocol: Protocol) -> bool {
    let pieces = expand_nothing(word);
    match pieces.first() {
        Some(Piece::Literal(first)) => {
            let rest = without_scheme(first, protocol).map_or(&first[..], |(_, rest)| rest);
            !rest.is_empty()
                && (rest.contains(&b'/')
                    || matches!(pieces.get(1), Some(Piece::Unknown(name)) if begins_with_slash(name)))
        }
        _ => false,
    }
}

/// The word cut at its variables, none of them looked up.
fn expand_nothing(word: &[u8]) -> Text {
    let at = memchr::memchr(b'$', word).unwrap_or(word.len());
    let mut pieces = vec![Piece::Literal(word[..at].to_vec())];
    if at < word.len() {
        let name = word[at + 1..].iter().copied().skip_while(|b| *b == b'{');
        pieces.push(Piece::Unknown(name.take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').collect()));
    }
    pieces
}

/// Variables whose value begins with `/` or `?`, or is empty: they end the host.
fn begins_with_slash(variable: &[u8]) -> bool {
    matches!(variable, b"request_uri" | b"uri" | b"document_uri" | b"is_args" | b"document_root" | b"realpath_root")
}

struct Target {
    scheme: Scheme,
    /// Host and port, or `unix:` path; `None` where a variable stands in the host.
    host: Option<Vec<u8>>,
    port: Option<u16>,
    uri: Vec<u8>,
}

fn without_scheme(text: &[u8], protocol: Protocol) -> Option<(Scheme, &[u8])> {
    let schemes: &[(&str, Scheme)] = match protocol {
        Protocol::Http => &[("http://", Scheme::Plain), ("https://", Scheme::Tls)],
        Protocol::Grpc => &[("grpc://", Scheme::Plain), ("grpcs://", Scheme::Tls)],
        _ => &[],
    };
    for (prefix, scheme) in schemes {
        if text.len() >= prefix.len() && text[..prefix.len()].eq_ignore_ascii_case(prefix.as_bytes()) {
            return Some((*scheme, &text[prefix.len()..]));
        }
    }
    (protocol != Protocol::Http).then_some((Scheme::Plain, text))
}

/// Takes a pass apart. `None` where a variable leaves it open, or it is no address at all.
fn target(text: &Text, protocol: Protocol) -> Option<Target> {
    let first: &[u8] = match text.first() {
        Some(Piece::Literal(first)) => first,
        _ if protocol == Protocol::Http => return None,
        _ => b"",
    };
    let (scheme, rest) = without_scheme(first, protocol)?;
    if let Some(path) = rest.strip_prefix(b"unix:") {
        let end = memchr::memchr(b':', path).unwrap_or(path.len());
        let host = [b"unix:", &path[..end]].concat();
        return Some(Target { scheme, host: Some(host), port: None, uri: path[(end + 1).min(path.len())..].to_vec() });
    }
    let mut host = rest.to_vec();
    let mut open = false;
    for piece in text.iter().skip(usize::from(!first.is_empty())) {
        if host.iter().any(|b| matches!(b, b'/' | b'?')) {
            break;
        }
        match piece {
            Piece::Unknown(name) if begins_with_slash(name) => break,
            // A port that only the request knows: whatever it is, the name in front is no upstream's.
            Piece::Unknown(_) if host.ends_with(b":") => {
                return Some(Target { scheme, host: None, port: None, uri: Vec::new() });
            }
            Piece::Unknown(_) => {
                open = true;
                host.clear();
            }
            Piece::Literal(more) => host.extend_from_slice(more),
        }
    }
    let end = host.iter().position(|b| matches!(b, b'/' | b'?')).unwrap_or(host.len());
    let (host, uri) = host.split_at(end);
    let (host, port) = split_port(host)?;
    // With a variable in it, a name is settled only by a port: a name with a port is never an upstream's.
    match (open, port) {
        (true, None) => None,
        (true, Some(_)) => Some(Target { scheme, host: None, port, uri: uri.to_vec() }),
        (false, _) => Some(Target { scheme, host: Some(host.to_vec()), port, uri: uri.to_vec() }),
    }
}

/// Cuts `host:port`; `None` where the port is no number.
fn split_port(text: &[u8]) -> Option<(&[u8], Option<u16>)> {
    let from = if text.starts_with(b"[") { memchr::memchr(b']', text)? } else { 0 };
    match memchr::memchr(b':', &text[from..]) {
        Some(at) => {
            let port = std::str::from_utf8(&text[from + at + 1..]).ok()?.parse().ok()?;
            Some((&text[..from + at], Some(port)))
        }
        None => Some((text, None)),
    }
}

fn backend(model: &Model, view: &View, target: Target) -> Backend {
    let Target { scheme, host, port, .. } = target;
    match host {
        None => Backend::Address(Address { scheme, host: Vec::new(), port }),
        Some(host) if host.starts_with(b"unix:") => Backend::Unix(host),
        Some(host) if host.is_empty() => Backend::Unknown,
        // The port is split off before the name is looked up: a name with a port never matches (measured).
        Some(host) => match view.upstream(model, &host).filter(|_| port.is_none()) {
            Some(upstream) => Backend::Upstream(upstream.id()),
            None => Backend::Address(Address { scheme, host, port }),
        },
    }
}
