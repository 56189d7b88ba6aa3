//! Defaults and behaviour that differ within the range of versions that the user states: what an upgrade
//! changes although the file stays as it is.

use super::scope::Scope;
use crate::catalog::nginx::{Area, Context, lookup_in};
use crate::checks::{Check, Cx, Report, Run};
use crate::fix::{Edit, Fix};
use crate::model::nginx::Backend;
use crate::model::{Model, Node, Word, layout};
use crate::source::Span;
use crate::version::{Holds, Server, Version, VersionSet};

/// Settings that are left to a default which differs within the target.
pub static CHECK: Check = Check { name: "nginx/changed-default", run: Run::Model(report) };

/// Places told besides the first.
const MOST_LABELS: usize = 10;

/// A directive whose default changed, and where that matters.
struct Default {
    directive: &'static str,
    /// The blocks that it matters in, and the line in each that says so.
    places: for<'m> fn(&'m Model) -> Vec<(Node<'m>, Node<'m>)>,
    /// What the difference does.
    effect: &'static str,
}

const DEFAULTS: [Default; 4] = [
    Default {
        directive: "ssl_protocols",
        places: tls_servers,
        effect: "clients that speak only what one of them lacks are turned away",
    },
    Default {
        directive: "keepalive_requests",
        places: http_servers,
        effect: "a client's connection is closed after that many requests",
    },
    Default {
        directive: "keepalive_requests",
        places: pooled_upstreams,
        effect: "a connection to the backend is closed after that many requests",
    },
    Default {
        directive: "sendfile_max_chunk",
        places: sending_servers,
        effect: "with 0 one fast download can hold up a worker process",
    },
];

/// A behaviour that changed, and where it is leaned on.
struct Behaviour {
    /// The first version with the new one.
    pivot: Version,
    places: for<'m> fn(&Cx<'m>) -> Vec<(Node<'m>, Span)>,
    message: &'static str,
    /// What writes the new behaviour out, for the directive of a place.
    fix: Option<fn(Node<'_>, Span) -> Fix>,
}

const BEHAVIOURS: [Behaviour; 6] = [
    Behaviour {
        pivot: Version::new(1, 9, 13),
        places: retried_passes,
        message: "before 1.9.13 a POST that failed on one server is sent to the next one again, later versions do not repeat it",
        fix: None,
    },
    Behaviour {
        pivot: Version::new(1, 11, 6),
        places: subjects,
        message: "the form of this variable changed in 1.11.6: `/C=…/CN=…` before, `CN=…,C=…` (RFC 2253) from there on",
        fix: None,
    },
    Behaviour {
        pivot: Version::new(1, 29, 1),
        places: compressed_certificates,
        message: "before 1.29.1 certificates go out compressed in TLS 1.3 where the library can do it, from there on only with `ssl_certificate_compression on`",
        fix: None,
    },
    Behaviour {
        pivot: Version::new(1, 29, 7),
        places: unbuffered_passes,
        message: "from 1.29.7 on HTTP/1.1 is the default to the backend, and with `proxy_request_buffering off` a body of unknown length goes there in chunks; before, nginx buffered it and sent its length",
        fix: Some(write_http_version),
    },
    Behaviour {
        pivot: Version::new(1, 31, 0),
        places: grpc_passes,
        message: "from 1.31.0 on HTTP/2 and HTTP/3 requests with hop-by-hop headers (`Connection`, `Keep-Alive`, `Transfer-Encoding` …) are refused with 400; gRPC clients that send them fail",
        fix: None,
    },
    Behaviour {
        pivot: Version::new(1, 31, 4),
        places: empty_hosts,
        message: "before 1.31.4 no `Host` is sent to the backend, from there on `$proxy_host`",
        fix: Some(write_proxy_host),
    },
];

fn report(cx: &mut Cx<'_>) {
    if !cx.stated {
        return;
    }
    for default in &DEFAULTS {
        unwritten(cx, default);
    }
    for behaviour in &BEHAVIOURS {
        let crosses = cx.target.holds(Server::Nginx, &VersionSet::since(behaviour.pivot)) == Holds::Sometimes;
        let places = if crosses { (behaviour.places)(cx) } else { Vec::new() };
        if let Some(report) = first_of(cx, &places, behaviour.message.to_owned())
            && let Some(fix) = behaviour.fix
        {
            // Each place is mended by itself.
            let fixes = places.iter().map(|(node, span)| fix(*node, *span)).reduce(|mut all, more| {
                all.edits.extend(more.edits);
                all
            });
            report.fixes.extend(fixes);
        }
    }
}

/// A report at the first place with the others as labels.
fn first_of<'c>(cx: &'c mut Cx<'_>, places: &[(Node<'_>, Span)], message: String) -> Option<&'c mut Report> {
    let ((node, span), others) = places.split_first()?;
    let report = cx.report(*node, *span, message);
    for (_, other) in others.iter().filter(|(_, other)| other != span).take(MOST_LABELS) {
        report.label(*other, "and here");
    }
    Some(report)
}

/// Where a directive is not in effect and its default differs within the target.
fn unwritten(cx: &mut Cx<'_>, default: &Default) {
    let scope = Scope::of(cx);
    let name = default.directive;
    let absent = |(block, _): &(Node<'_>, Node<'_>)| {
        let level = block.inside();
        let written = if is_upstream(*block) { level.own(name).len() } else { level.in_effect(name).len() };
        written == 0 && scope.is_closed_outward(level)
    };
    let found: Vec<_> = (default.places)(cx.model).into_iter().filter(absent).collect();
    let blocks: Vec<Node<'_>> = found.iter().map(|(block, _)| *block).collect();
    let Some(first) = blocks.first() else { return };
    let values = values(name, first.context().inside(first.name()), cx.target);
    let [(old, before), .., (new, after)] = values.as_slice() else { return };
    let shown: Vec<String> =
        values.iter().map(|(value, on)| format!("`{value}` on {}", on.words(Server::Nginx))).collect();
    let message = format!("`{name}` is not written, and its default differs: {}; {}", shown.join(", "), default.effect);
    let write = |value: &str, others: &VersionSet| {
        let edits = edits(&blocks, &format!("{name} {value};"))?;
        let change = format!("{} takes `{value}` too", others.words(Server::Nginx));
        Some(Fix::risky(format!("write `{name} {value};`"), edits, change))
    };
    let fixes = [write(new, before), write(old, after)];
    let places: Vec<_> = found.iter().map(|(_, line)| (*line, line.head())).collect();
    if let Some(report) = first_of(cx, &places, message) {
        report.fixes.extend(fixes.into_iter().flatten());
    }
}

/// The default of a directive on the versions of a target, those of one value together.
fn values(name: &str, context: Context, target: &VersionSet) -> Vec<(&'static str, VersionSet)> {
    let Some(directive) = lookup_in(name.as_bytes(), context).next() else { return Vec::new() };
    let known = target.members(Server::Nginx).filter(|version| directive.available(*version));
    let mut runs: Vec<(&'static str, Vec<Version>)> = Vec::new();
    for (value, version) in known.filter_map(|version| Some((directive.default_at(version)?, version))) {
        match runs.last_mut() {
            Some((last, versions)) if *last == value => versions.push(version),
            _ => runs.push((value, vec![version])),
        }
    }
    runs.into_iter().map(|(value, versions)| (value, VersionSet::of(Server::Nginx, versions))).collect()
}

/// The line written once where all the blocks take it from: in the `http` around them, or in each of them.
fn edits(blocks: &[Node<'_>], line: &str) -> Option<Vec<Edit>> {
    let holder = |block: &Node<'_>| {
        let outer = block.ancestors().last().filter(|outer| !is_upstream(*block) && !outer.is("include"));
        outer.unwrap_or(*block).id()
    };
    let mut holders: Vec<_> = blocks.iter().map(holder).collect();
    holders.sort_unstable();
    holders.dedup();
    let model = blocks.first()?.model();
    let insert = |id| {
        let holder = model.node(id);
        let first = holder.children().find(|child| child.span().file == holder.span().file);
        match first {
            Some(first) => Some(layout::in_front(first, &[line])),
            None => layout::last_in(holder, &[line]),
        }
    };
    holders.into_iter().map(insert).collect()
}

fn is_upstream(block: Node<'_>) -> bool {
    block.is("upstream")
}

fn is(line: Node<'_>, value: &str) -> bool {
    line.value(0).is_some_and(|written| written.eq_ignore_ascii_case(value.as_bytes()))
}

/// The servers of one of these contexts, in reading order.
fn servers<'m>(model: &'m Model, around: &[Context]) -> Vec<Node<'m>> {
    let mut servers: Vec<_> = model.named("server").filter(|node| around.contains(&node.context())).collect();
    servers.sort_by_key(|node| node.id());
    servers
}

fn tls_servers(model: &Model) -> Vec<(Node<'_>, Node<'_>)> {
    let tls = |line: &Node<'_>| line.args().skip(1).any(|word| word.is("ssl") || word.is("quic"));
    let servers = servers(model, &[Context::Http, Context::Stream, Context::Mail]).into_iter();
    servers.filter_map(|server| Some((server, server.own("listen").find(tls)?))).collect()
}

fn http_servers(model: &Model) -> Vec<(Node<'_>, Node<'_>)> {
    let keeps = |server: &Node<'_>| !server.inside().setting("keepalive_timeout").is_some_and(|line| is(line, "0"));
    servers(model, &[Context::Http]).into_iter().filter(keeps).map(|server| (server, server)).collect()
}

fn pooled_upstreams(model: &Model) -> Vec<(Node<'_>, Node<'_>)> {
    let upstreams = model.named("upstream").filter(|block| block.context() == Context::Http);
    upstreams.filter_map(|block| Some((block, block.own("keepalive").next()?))).collect()
}

/// Servers whose files go out by `sendfile`.
fn sending_servers(model: &Model) -> Vec<(Node<'_>, Node<'_>)> {
    let servers = servers(model, &[Context::Http]).into_iter();
    let sending = servers.filter_map(|server| Some((server, server.inside().setting("sendfile")?)));
    sending.filter(|(_, line)| is(*line, "on")).collect()
}

/// Passes to upstreams of several servers that leave `*_next_upstream` to its default.
fn retried_passes<'m>(cx: &Cx<'m>) -> Vec<(Node<'m>, Span)> {
    let model = cx.model;
    let scope = Scope::of(cx);
    let several =
        |backend: &Backend| matches!(backend, Backend::Upstream(id) if model.node(*id).own("server").len() > 1);
    let passes = model.nginx().passes(model).iter().filter(|pass| pass.backends.iter().any(several));
    passes
        .map(|pass| (model.node(pass.node), format!("{}next_upstream", pass.protocol.prefix())))
        .filter(|(line, name)| line.level().in_effect(name).len() == 0 && scope.is_closed_outward(line.level()))
        .map(|(line, _)| (line, line.head()))
        .collect()
}

/// Uses of the names of a client's certificate.
fn subjects<'m>(cx: &Cx<'m>) -> Vec<(Node<'m>, Span)> {
    let used = |word: &Word<'_>| {
        crate::model::nginx::expressions::names(word.value())
            .any(|name| [&b"ssl_client_s_dn"[..], b"ssl_client_i_dn"].iter().any(|dn| name.eq_ignore_ascii_case(dn)))
    };
    let words = cx.model.nodes().filter(|node| node.context().area() == Area::Http);
    words.filter_map(|node| node.args().find(used).map(|word| (node, word.span()))).collect()
}

fn compressed_certificates<'m>(cx: &Cx<'m>) -> Vec<(Node<'m>, Span)> {
    let scope = Scope::of(cx);
    let certificate = |(server, _): (Node<'m>, Node<'m>)| {
        let level = server.inside();
        let written = level.in_effect("ssl_certificate_compression").len() > 0;
        let line = level.in_effect("ssl_certificate").next()?;
        (!written && scope.is_closed_outward(level)).then_some((line, line.head()))
    };
    tls_servers(cx.model).into_iter().filter_map(certificate).collect()
}

fn unbuffered_passes<'m>(cx: &Cx<'m>) -> Vec<(Node<'m>, Span)> {
    let scope = Scope::of(cx);
    let leans = |line: &Node<'_>| {
        let level = line.level();
        line.context().area() == Area::Http
            && level.setting("proxy_request_buffering").is_some_and(|setting| is(setting, "off"))
            && level.in_effect("proxy_http_version").len() == 0
            && scope.is_closed_outward(level)
    };
    cx.model.named("proxy_pass").filter(leans).map(|line| (line, line.head())).collect()
}

fn write_http_version(line: Node<'_>, _: Span) -> Fix {
    let edit = layout::beside(line, &["proxy_http_version 1.1;"]);
    let change = "before 1.29.7 too, bodies of unknown length go to the backend in chunks";
    Fix::risky("write `proxy_http_version 1.1;`", vec![edit], change)
}

fn grpc_passes<'m>(cx: &Cx<'m>) -> Vec<(Node<'m>, Span)> {
    cx.model.named("grpc_pass").map(|line| (line, line.head())).collect()
}

/// `proxy_set_header Host ""`.
fn empty_hosts<'m>(cx: &Cx<'m>) -> Vec<(Node<'m>, Span)> {
    let lines = cx.model.named("proxy_set_header");
    let empty = |line: &Node<'_>| is(*line, "Host") && line.value(1).is_some_and(<[u8]>::is_empty);
    lines.filter(empty).map(|line| (line, line.head())).collect()
}

fn write_proxy_host(line: Node<'_>, _: Span) -> Fix {
    let edits = line.arg(1).map(|word| Edit::replace(word.span(), "$proxy_host"));
    let change = "before 1.31.4 too, the backend is sent a `Host`";
    Fix::risky("write `$proxy_host`", edits.into_iter().collect(), change)
}
