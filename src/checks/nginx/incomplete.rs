//! What nginx refuses for lack of a partner: a block without its content, a setting without another.

use super::name_span;
use super::scope::Scope;
use super::servers::Servers;
use crate::catalog::nginx::{Context, Kind, lookup_in};
use crate::checks::{Check, Cx, Run};
use crate::model::{Level, Node};
use crate::source::Span;
use crate::syntax::tree::Body;
use crate::version::{Version, VersionSet};

/// Incomplete blocks and settings; the parameter `fault` says which: `configuration` or `setting`.
pub static CHECK: Check = Check { name: "nginx/incomplete", run: Run::Model(report) };

fn report(cx: &mut Cx<'_>) {
    match cx.params.text("fault") {
        Some("configuration") => {
            events(cx);
            upstreams(cx);
            keys(cx);
            listens(cx);
        }
        Some("setting") => {
            certificates(cx);
            switched_on(cx);
            verification(cx);
            resolved(cx);
            backups(cx);
            small_zones(cx);
        }
        _ => {}
    }
}

/// A main file without `events`.
fn events(cx: &mut Cx<'_>) {
    let model = cx.model;
    let scope = Scope::of(cx);
    if model.root_context() != Context::Main || !scope.is_level_closed(model.top()) || !model.is_closed() {
        return;
    }
    // A file of another name may be a part that something includes.
    let named = model.sources().get(model.main()).path().file_name().is_some_and(|name| name == "nginx.conf");
    let block = model.roots().filter(|_| named).find(|node| node.is("http") || node.is("stream") || node.is("mail"));
    if model.roots().any(|node| node.is("events")) {
        return;
    }
    let message = "the configuration has no `events` block: nginx refuses it; an empty one will do: `events {}`";
    match block {
        Some(block) => {
            cx.report(block, name_span(block), message);
        }
        None if named && model.is_empty() => {
            cx.report_span(Span::new(model.main(), 0, 0), message);
        }
        None => {}
    }
}

/// Upstreams without a server.
fn upstreams(cx: &mut Cx<'_>) {
    let scope = Scope::of(cx);
    for block in cx.model.named("upstream") {
        let inside = match block.context() {
            Context::Http => Context::Upstream,
            Context::Stream => Context::StreamUpstream,
            _ => continue,
        };
        let Body::Block { close, .. } = block.body() else { continue };
        let closed = scope.is_level_closed(block.inside()) && block.children().all(|node| knows(node, inside));
        if !closed || block.inside().own("server").len() > 0 || block.inside().own("state").len() > 0 {
            continue;
        }
        let name = block.arg(0).map(|word| word.text().into_owned()).unwrap_or_default();
        let plus = block.inside().own("zone").len() > 0;
        let message = if plus {
            format!(
                "the upstream `{name}` has no `server`: only NGINX Plus, which can be given servers later, takes that"
            )
        } else {
            format!("the upstream `{name}` has no `server`: nginx refuses the file")
        };
        cx.report(block, block.head(), message).label(close, "the block ends here");
    }
}

/// Whether nginx itself has a directive: one of a module may bring servers in.
fn knows(node: Node<'_>, inside: Context) -> bool {
    node.is("include") || lookup_in(node.name(), inside).any(|directive| directive.module.kind != Kind::ThirdParty)
}

/// Certificates without their keys.
fn keys(cx: &mut Cx<'_>) {
    let scope = Scope::of(cx);
    let servers: Vec<Node<'_>> = Servers::of(cx).all.iter().map(|&id| cx.model.node(id)).collect();
    for server in servers {
        let level = server.inside();
        let certificates = level.in_effect("ssl_certificate");
        let keys = level.in_effect("ssl_certificate_key").len();
        if certificates.len() <= keys || !closed(&scope, level) {
            continue;
        }
        if let Some(line) = certificates.last() {
            let message = match keys {
                0 => "this certificate has no `ssl_certificate_key`: nginx refuses the file".to_owned(),
                keys => format!("there are more certificates than keys ({keys}): nginx refuses the file"),
            };
            cx.report(line, line.head(), message);
        }
    }
}

/// Servers of `stream` and `mail` without a port: unlike those of `http` they have no default.
fn listens(cx: &mut Cx<'_>) {
    let scope = Scope::of(cx);
    for block in cx.model.named("server").filter(|node| matches!(node.context(), Context::Stream | Context::Mail)) {
        if block.inside().own("listen").len() == 0 && scope.is_level_closed(block.inside()) {
            let Body::Block { close, .. } = block.body() else { continue };
            let message = "this server has no `listen`: nginx refuses the file";
            cx.report(block, block.head(), message).label(close, "the block ends here");
        }
    }
    mail_servers(cx);
}

/// Mail servers whose protocol nothing tells, or without `auth_http`.
fn mail_servers(cx: &mut Cx<'_>) {
    const PORTS: [u16; 7] = [25, 110, 143, 465, 587, 993, 995];
    let scope = Scope::of(cx);
    for block in cx.model.named("server").filter(|node| node.context() == Context::Mail) {
        let level = block.inside();
        if !scope.is_closed_outward(level) {
            continue;
        }
        let port = |line: Node<'_>| super::servers::socket(line).map(|socket| socket.port);
        let told = level.own("protocol").len() > 0
            || level.own("listen").any(|line| port(line).is_none_or(|port| PORTS.contains(&port)));
        if !told {
            let message =
                "neither `protocol` nor a well-known port tells what this server speaks: nginx refuses the file";
            cx.report(block, block.head(), message);
        } else if level.in_effect("auth_http").len() == 0 {
            cx.report(block, block.head(), "this server has no `auth_http`: nginx refuses the file");
        }
    }
}

/// Whether everything in effect on a level of a server was seen, as far as this file goes.
fn closed(scope: &Scope, level: Level<'_>) -> bool {
    level.outward().all(|level| scope.is_level_closed(level))
}

/// `listen … ssl` without a certificate.
fn certificates(cx: &mut Cx<'_>) {
    let model = cx.model;
    let scope = Scope::of(cx);
    let servers = Servers::of(cx);
    let bare = |server: usize| -> Option<Node<'_>> {
        let node = model.node(servers.all[server]);
        let level = node.inside();
        let has = level.in_effect("ssl_certificate").len() > 0;
        let rejects = level.value("ssl_reject_handshake").is_some_and(|value| value.eq_ignore_ascii_case(b"on"));
        (!has && !rejects && scope.is_closed_outward(level)).then_some(node)
    };
    let rejects = |server: usize| {
        let level = model.node(servers.all[server]).inside();
        level.value("ssl_reject_handshake").is_some_and(|value| value.eq_ignore_ascii_case(b"on"))
            && level.in_effect("ssl_certificate").len() == 0
    };
    let mut found: Vec<(Node<'_>, Span)> = Vec::new();
    for socket in servers.by_socket.keys() {
        let Some(line) = servers.on(socket).find(|listen| listen.options.tls()) else {
            continue;
        };
        let Some(default) = servers.default_of(socket) else { continue };
        let mut judged: Vec<usize> = vec![default];
        if rejects(default) {
            judged.extend(servers.on(socket).map(|listen| listen.server));
        }
        for server in judged.into_iter().filter_map(bare) {
            if found.iter().all(|(known, _)| known.id() != server.id()) {
                let place = line.line.map_or(server.head(), |id| model.node(id).head());
                found.push((server, place));
            }
        }
    }
    for (server, place) in found {
        let message = "this server answers TLS handshakes and has no `ssl_certificate`: nginx refuses the file";
        cx.report(server, server.head(), message).label(place, "the port speaks TLS by this line");
    }
}

/// `ssl on` without a certificate.
fn switched_on(cx: &mut Cx<'_>) {
    let scope = Scope::of(cx);
    for line in cx.model.named("ssl").filter(|line| line.context() == Context::Server) {
        let on = line.value(0).is_some_and(|value| value.eq_ignore_ascii_case(b"on"));
        let level = line.level();
        if on && level.in_effect("ssl_certificate").len() == 0 && scope.is_closed_outward(level) {
            let message = "`ssl on` needs an `ssl_certificate`: nginx refuses the file";
            cx.report(line, line.head(), message).versions(VersionSet::before(Version::new(1, 25, 1)));
        }
    }
}

/// Verification without the certificates to verify against.
fn verification(cx: &mut Cx<'_>) {
    for name in ["proxy_ssl_verify", "grpc_ssl_verify", "uwsgi_ssl_verify"] {
        backend_verification(cx, name);
    }
    client_verification(cx);
}

fn backend_verification(cx: &mut Cx<'_>, name: &'static str) {
    let scope = Scope::of(cx);
    let trusted = name.replace("_verify", "_trusted_certificate");
    for line in cx.model.named(name) {
        let on = line.value(0).is_some_and(|value| value.eq_ignore_ascii_case(b"on"));
        let level = line.level();
        if on && level.in_effect(&trusted).len() == 0 && is_http(line) && scope.is_closed_outward(level) {
            let passes = name.replace("_ssl_verify", "_pass");
            // Settings that an outer level makes may be completed where they are used.
            if level.own(&passes).len() == 0 {
                continue;
            }
            let message = format!("`{name} on` needs `{trusted}`: nginx refuses the file");
            cx.report(line, line.head(), message);
        }
    }
}

fn is_http(line: Node<'_>) -> bool {
    line.context().area() == crate::catalog::nginx::Area::Http
}

fn client_verification(cx: &mut Cx<'_>) {
    /// From here on `ssl_trusted_certificate` will do.
    const TRUSTED_SUFFICES: Version = Version::new(1, 27, 2);
    let scope = Scope::of(cx);
    for line in cx.model.named("ssl_verify_client") {
        let wants = line.value(0).is_some_and(|value| matches!(value, b"on" | b"optional"));
        let level = line.level();
        let asked = wants && line.context() == Context::Server && level.in_effect("ssl_certificate").len() > 0;
        if !asked || level.in_effect("ssl_client_certificate").len() > 0 || !scope.is_closed_outward(level) {
            continue;
        }
        let trusted = level.in_effect("ssl_trusted_certificate").len() > 0;
        let value = line.arg(0).map(|word| word.text().into_owned()).unwrap_or_default();
        let message = format!("`ssl_verify_client {value}` needs `ssl_client_certificate`: nginx refuses the file");
        let report = cx.report(line, line.head(), message);
        if trusted {
            report.versions(VersionSet::before(TRUSTED_SUFFICES));
        }
    }
}

/// `server … resolve` without shared memory or without a resolver.
fn resolved(cx: &mut Cx<'_>) {
    let scope = Scope::of(cx);
    for line in cx.model.named("server") {
        if !matches!(line.context(), Context::Upstream | Context::StreamUpstream) {
            continue;
        }
        let level = line.level();
        let resolve = line.args().skip(1).any(|word| word.is("resolve"));
        // An address needs no look-up, and nginx then ignores the word.
        let address = line.value(0).is_some_and(is_address);
        if !resolve || address || !scope.is_level_closed(level) {
            continue;
        }
        let known = VersionSet::since(Version::new(1, 27, 3));
        if level.own("zone").len() == 0 {
            let message = "`resolve` needs a `zone` in the upstream: nginx refuses the file";
            cx.report(line, line.head(), message).versions(known.clone());
        }
        if level.in_effect("resolver").len() == 0 && scope.is_closed_outward(level) {
            let message = "`resolve` needs a `resolver` in the upstream or around it: nginx refuses the file";
            cx.report(line, line.head(), message).versions(known);
        }
    }
}

/// Whether an `upstream` server is given by its IP address.
fn is_address(text: &[u8]) -> bool {
    let url = super::address::parse(text, super::address::Form::default());
    url.is_ok_and(|url| {
        let host = String::from_utf8_lossy(url.host);
        url.unix || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok()
    })
}

/// Upstreams with nothing but backups, and backups that the balancing method does not take.
fn backups(cx: &mut Cx<'_>) {
    const WITHOUT: [&str; 3] = ["hash", "ip_hash", "random"];
    let scope = Scope::of(cx);
    let blocks = cx.model.named("upstream").filter(|block| matches!(block.context(), Context::Http | Context::Stream));
    for block in blocks {
        let backup = |line: &Node<'_>| line.args().skip(1).any(|word| word.is("backup"));
        let servers: Vec<Node<'_>> = block.own("server").collect();
        let Some(first) = servers.iter().copied().find(backup) else { continue };
        if servers.iter().all(backup) && block.own("state").len() == 0 && scope.is_level_closed(block.inside()) {
            let Body::Block { close, .. } = block.body() else { continue };
            let message = "every server of this upstream is a `backup`: nginx refuses it without one that is none";
            cx.report(block, block.head(), message).label(close, "the block ends here");
        }
        // A method below a line is accepted, and the line then without effect.
        let method = WITHOUT.iter().flat_map(|name| block.own(name)).find(|method| method.id() < first.id());
        if let Some(method) = method {
            let name = String::from_utf8_lossy(method.name()).into_owned();
            let message = format!("`{name}` takes no `backup` server: nginx refuses the file");
            let refused = servers.iter().copied().find(|line| backup(line) && line.id() > method.id());
            let line = refused.unwrap_or(first);
            cx.report(line, line.head(), message).label(method.head(), "the method");
        }
    }
}

/// Zones of shared memory that are smaller than nginx takes: eight pages for `limit_*_zone`, two for a cache.
fn small_zones(cx: &mut Cx<'_>) {
    const PAGE: i64 = 4096;
    const ZONES: [(&str, &str, i64); 7] = [
        ("ssl_session_cache", "shared:", 8),
        ("limit_req_zone", "zone=", 8),
        ("limit_conn_zone", "zone=", 8),
        ("proxy_cache_path", "keys_zone=", 2),
        ("fastcgi_cache_path", "keys_zone=", 2),
        ("uwsgi_cache_path", "keys_zone=", 2),
        ("scgi_cache_path", "keys_zone=", 2),
    ];
    let upstream = |line: &Node<'_>| matches!(line.context(), Context::Upstream | Context::StreamUpstream);
    for line in cx.model.named("zone").filter(upstream) {
        let size = line.arg(1).and_then(|word| crate::catalog::nginx::values::size(word.value(), false));
        if size.is_some_and(|size| size < 8 * PAGE) {
            cx.report(line, line.head(), "the zone is too small: nginx refuses less than 32k");
        }
    }
    for (name, key, pages) in ZONES {
        for line in cx.model.named(name) {
            for word in line.args() {
                let Some(zone) = word.value().strip_prefix(key.as_bytes()) else { continue };
                let size = memchr::memchr(b':', zone)
                    .and_then(|colon| crate::catalog::nginx::values::size(&zone[colon + 1..], false));
                if size.is_some_and(|size| size < pages * PAGE) {
                    let message = format!("the zone is too small: nginx refuses less than {}k", pages * PAGE / 1024);
                    cx.report(line, word.span(), message);
                }
            }
        }
    }
}
