//! Is a backend connection reused at a location? The decision table measured on nginx 1.14.2 to
//! 1.31.3: an explicit `upstream` with a live pool, HTTP/1.1, and no `Connection: close`.

use crate::catalog::nginx::Keepalive;
use crate::model::nginx::{Backend, Pass, Piece, Protocol, expand};
use crate::model::{Level, Model, Node, NodeId};

/// Whether connections to a backend are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// They are.
    Reused,
    /// They are not, and that is why.
    NotReused(Cause),
    /// Something outside the configuration decides.
    Depends(Decider),
    /// The configuration does not tell where the location passes to, or what it sends.
    Unknown,
}

/// Who decides whether a connection is reused, where the configuration does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decider {
    /// Each client, by its own `Connection` header (`$http_connection`).
    Client,
    /// The backend: whether it keeps a connection of HTTP/1.0 with `keep-alive`.
    Backend,
}

/// Why connections are not reused: the narrowest cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The pass names a host and port, not an `upstream` block.
    Bare,
    /// The pass names a `unix:` socket, not an `upstream` block.
    BareUnix,
    /// The upstream has no `keepalive`.
    PoolMissing,
    /// This balancing method behind `keepalive` replaces it.
    PoolDiscarded(NodeId),
    /// `keepalive 0`.
    PoolZero,
    /// HTTP/1.0: written in this line, or by default.
    Version(Option<NodeId>),
    /// `Connection: close` is sent.
    Close(Close),
    /// The pool has fewer places than the upstream has servers: they evict each other (measured).
    PoolTooSmall,
    /// `fastcgi_keep_conn` is off.
    KeepConn,
    /// `uwsgi_pass` and `scgi_pass` have no way to.
    Protocol,
}

/// Where a `Connection: close` comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Close {
    /// nginx's own default.
    Default,
    /// This `proxy_set_header` line.
    Written(NodeId),
    /// This `proxy_set_header` line, through a map; the entry that a request without `Upgrade` meets.
    Map {
        /// The `proxy_set_header` line.
        line: NodeId,
        /// The `map` block.
        map: NodeId,
        /// The entry: its `''` or its `default`.
        entry: NodeId,
    },
}

/// The `Connection` header in effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// None is sent.
    None,
    /// `close`.
    Close(Close),
    /// `keep-alive`.
    KeepAlive,
    /// Another literal, such as `upgrade`: the backend keeps the connection (measured).
    Other,
    /// What the client sent.
    Client,
    /// A variable that the configuration does not settle.
    Unknown,
}

/// The verdict for a location and one of its backends on versions that behave as `facts` says.
pub fn verdict(model: &Model, pass: &Pass, backend: &Backend, facts: &Keepalive) -> Verdict {
    if matches!(pass.protocol, Protocol::Uwsgi | Protocol::Scgi) {
        return Verdict::NotReused(Cause::Protocol);
    }
    let upstream = match backend {
        Backend::Upstream(id) => model.node(*id),
        Backend::Address(_) => return Verdict::NotReused(Cause::Bare),
        Backend::Unix(_) => return Verdict::NotReused(Cause::BareUnix),
        Backend::Unknown => return Verdict::Unknown,
    };
    if let Err(cause) = pool(upstream, facts) {
        return Verdict::NotReused(cause);
    }
    let level = model.node(pass.node).level();
    let verdict = match pass.protocol {
        Protocol::Http => http(level, facts),
        Protocol::Fastcgi if level.value("fastcgi_keep_conn") != Some(b"on") => Verdict::NotReused(Cause::KeepConn),
        _ => Verdict::Reused,
    };
    match (verdict, places(upstream)) {
        (Verdict::Reused, Some(places)) if places < servers(upstream) => Verdict::NotReused(Cause::PoolTooSmall),
        _ => verdict,
    }
}

/// The number that `keepalive` states.
pub fn places(upstream: Node<'_>) -> Option<u32> {
    std::str::from_utf8(upstream.own("keepalive").next()?.value(0)?).ok()?.parse().ok()
}

/// The number of servers that take requests as long as all is well.
pub fn servers(upstream: Node<'_>) -> u32 {
    let stands_by = |server: &Node<'_>| server.args().any(|word| word.is("backup") || word.is("down"));
    upstream.own("server").filter(|server| !stands_by(server)).count() as u32
}

/// Directives that choose a server; one behind `keepalive` discards the pool below 1.29.7 (measured
/// for `ip_hash`, `least_conn`, `hash`, `random`).
pub const BALANCING_METHODS: [&str; 5] = ["least_conn", "ip_hash", "hash", "random", "least_time"];

/// Whether an upstream keeps connections at all.
fn pool(upstream: Node<'_>, facts: &Keepalive) -> Result<(), Cause> {
    let Some(keepalive) = upstream.own("keepalive").next() else {
        return facts.implicit.map(|_| ()).ok_or(Cause::PoolMissing);
    };
    if keepalive.value(0) == Some(b"0") {
        return Err(Cause::PoolZero);
    }
    match method_behind(upstream, keepalive) {
        Some(method) if facts.implicit.is_none() => Err(Cause::PoolDiscarded(method.id())),
        _ => Ok(()),
    }
}

/// The first balancing method that stands behind `keepalive`.
pub fn method_behind<'m>(upstream: Node<'m>, keepalive: Node<'m>) -> Option<Node<'m>> {
    let methods = BALANCING_METHODS.iter().flat_map(|method| upstream.own(method));
    methods.filter(|method| method.id() > keepalive.id()).min_by_key(|method| method.id())
}

fn http(level: Level<'_>, facts: &Keepalive) -> Verdict {
    let line = level.setting("proxy_http_version");
    let version = line.map_or(Some(facts.http_version.as_bytes()), |line| line.value(0));
    let connection = connection(level, facts);
    match (version, connection) {
        (Some(b"2"), _) => Verdict::Reused,
        (Some(b"1.0"), Connection::KeepAlive) => Verdict::Depends(Decider::Backend),
        (Some(b"1.0" | b"1.1"), Connection::Client) => Verdict::Depends(Decider::Client),
        (Some(b"1.0" | b"1.1"), Connection::Close(close @ (Close::Written(_) | Close::Map { .. }))) => {
            Verdict::NotReused(Cause::Close(close))
        }
        (Some(b"1.0"), _) => Verdict::NotReused(Cause::Version(line.map(Node::id))),
        (Some(b"1.1"), Connection::Close(Close::Default)) => Verdict::NotReused(Cause::Close(Close::Default)),
        (Some(b"1.1"), Connection::None | Connection::KeepAlive | Connection::Other) => Verdict::Reused,
        _ => Verdict::Unknown,
    }
}

/// The `Connection` header that a request without `Upgrade` carries to the backend.
pub fn connection(level: Level<'_>, facts: &Keepalive) -> Connection {
    let default = match facts.connection {
        Some(_) => Connection::Close(Close::Default),
        None => Connection::None,
    };
    // Of several lines the non-empty ones are sent (measured).
    let values = connection_lines(level).map(connection_of);
    let strength = |connection: &Connection| match connection {
        Connection::None => 0,
        Connection::KeepAlive | Connection::Other => 1,
        Connection::Client => 2,
        Connection::Unknown => 3,
        Connection::Close(_) => 4,
    };
    values.max_by_key(strength).unwrap_or(default)
}

/// The `proxy_set_header Connection` lines in effect at a level.
pub fn connection_lines(level: Level<'_>) -> impl Iterator<Item = Node<'_>> {
    level.in_effect("proxy_set_header").filter(|line| sets(*line, b"connection"))
}

/// Whether a `proxy_set_header` line sets that header. Names are compared without regard to case.
pub fn sets(line: Node<'_>, header: &[u8]) -> bool {
    line.value(0).is_some_and(|name| name.eq_ignore_ascii_case(header))
}

fn connection_of(line: Node<'_>) -> Connection {
    let Some(value) = line.value(1) else { return Connection::Unknown };
    if value.eq_ignore_ascii_case(b"$http_connection") || value == b"${http_connection}" {
        return Connection::Client;
    }
    if let Some(found) = map_result(line, value) {
        return found;
    }
    let texts = expand(value, line.level());
    let literal = |text: &Vec<Piece>| match text.as_slice() {
        [] => Some(Connection::None),
        [Piece::Literal(bytes)] => Some(literal(bytes, Close::Written(line.id()))),
        _ => None,
    };
    match texts.as_slice() {
        [text] => literal(text).unwrap_or(Connection::Unknown),
        // Several `set` lines: settled only if none of the values differs in what it does.
        several => {
            let mut all = several.iter().map(literal);
            let first = all.next().flatten();
            first.filter(|_| all.all(|other| other == first)).unwrap_or(Connection::Unknown)
        }
    }
}

fn literal(value: &[u8], close: Close) -> Connection {
    let mut tokens = value.split(|b| *b == b',').map(<[u8]>::trim_ascii).filter(|token| !token.is_empty());
    let Some(first) = tokens.next() else { return Connection::None };
    if std::iter::once(first).chain(tokens).any(|token| token.eq_ignore_ascii_case(b"close")) {
        Connection::Close(close)
    } else if first.eq_ignore_ascii_case(b"keep-alive") {
        Connection::KeepAlive
    } else {
        Connection::Other
    }
}

/// What a map on `$http_upgrade` gives for a request without that header.
fn map_result(line: Node<'_>, value: &[u8]) -> Option<Connection> {
    if value.first() != Some(&b'$') {
        return None;
    }
    let name = value.strip_prefix(b"${").and_then(|name| name.strip_suffix(b"}")).unwrap_or(&value[1..]);
    let model = line.model();
    let map = model.nginx().defining_blocks(model, name).find(|block| block.is("map"))?;
    if !map.value(0).is_some_and(|source| source.eq_ignore_ascii_case(b"$http_upgrade")) {
        return None;
    }
    let entry = map.children().find(|entry| entry.name().is_empty());
    let Some(entry) = entry.or_else(|| map.own("default").next()) else { return Some(Connection::None) };
    let result = entry.value(0)?;
    if result.contains(&b'$') {
        return Some(Connection::Unknown);
    }
    Some(literal(result, Close::Map { line: line.id(), map: map.id(), entry: entry.id() }))
}
