//! `ssl on`, and `http2` as a parameter of `listen`: what became of them.

use super::name_span;
use super::servers::{Listen, Servers};
use super::text::{line_after, whole_line};
use crate::catalog::nginx::Context;
use crate::checks::{Check, Cx, Run};
use crate::fix::{Edit, Fix};
use crate::model::{Node, NodeId, Word};
use crate::version::{Holds, Server, Version, VersionSet};

/// `ssl on;`.
pub static SSL_ON: Check = Check { name: "nginx/ssl-on", run: Run::Each(&["ssl"], ssl_on) };

/// `listen … http2`.
pub static LISTEN_HTTP2: Check = Check { name: "nginx/listen-http2", run: Run::Model(listen_http2) };

/// The first version that refuses `ssl on`, and knows `http2 on`.
const PIVOT: Version = Version::new(1, 25, 1);

fn ssl_on(cx: &mut Cx<'_>, line: Node<'_>) {
    let known = matches!(line.context(), Context::Http | Context::Server | Context::Mail | Context::MailServer);
    let refused = cx.target.holds(Server::Nginx, &VersionSet::since(PIVOT)) != Holds::Never;
    if !known || refused {
        return;
    }
    let message = "`ssl` is obsolete and nginx warns at each start; from 1.25.1 on it refuses the file";
    let fix = switch_fix(cx, line);
    let report = cx.report(line, name_span(line), message);
    if let Some(fix) = fix {
        report.fix(fix);
    }
}

/// `ssl` on every `listen` that the line is for, and the line dropped.
pub(super) fn switch_fix(cx: &Cx<'_>, line: Node<'_>) -> Option<Fix> {
    let mut edits = vec![Edit::replace(whole_line(line), "")];
    match line.value(0) {
        Some(off) if off.eq_ignore_ascii_case(b"off") => return Some(Fix::safe("drop `ssl off`", edits)),
        Some(on) if on.eq_ignore_ascii_case(b"on") => {}
        _ => return None,
    }
    let servers = Servers::of(cx);
    if line.context() != Context::Server {
        return None;
    }
    let server = line.parent()?;
    let index = servers.index_of(server.id())?;
    let own: Vec<&Listen> = servers.of_server(index).collect();
    let lines: Vec<Node<'_>> = server.inside().own("listen").collect();
    if lines.is_empty() || lines.len() != own.len() {
        return None;
    }
    for listen in lines.iter().filter(|listen| !listen.args().any(|word| word.is("ssl"))) {
        edits.push(Edit::insert_after(listen.words().last()?.span(), " ssl"));
    }
    let shared = own.iter().any(|listen| {
        let together = servers.together(&listen.socket);
        together.without_switch > 0 && !together.options.ssl
    });
    let title = "write `ssl` on the `listen` lines";
    Some(match shared {
        false => Fix::safe(title, edits),
        true => Fix::risky(title, edits, "other servers on the same port speak TLS too"),
    })
}

fn listen_http2(cx: &mut Cx<'_>) {
    let model = cx.model;
    let servers = Servers::of(cx);
    for (index, &id) in servers.all.iter().enumerate() {
        let server = model.node(id);
        let lines: Vec<Node<'_>> = server.inside().own("listen").filter(|line| parameter(*line).is_some()).collect();
        let Some(first) = lines.first() else { continue };
        let fix = http2_fix(&servers, index, server, &lines);
        let span = parameter(*first).map_or(first.head(), Word::span);
        let message = "`http2` on `listen` is obsolete, and nginx warns at each start; write `http2 on;` in the server";
        let report = cx.report(*first, span, message);
        for other in &lines[1..] {
            report.label(parameter(*other).map_or(other.head(), Word::span), "and here");
        }
        if let Some(fix) = fix {
            report.fix(fix);
        }
    }
}

fn parameter(line: Node<'_>) -> Option<Word<'_>> {
    line.args().skip(1).find(|word| word.is("http2"))
}

fn http2_fix(servers: &Servers, index: usize, server: Node<'_>, lines: &[Node<'_>]) -> Option<Fix> {
    let mut edits = Vec::new();
    for line in lines {
        let word = parameter(*line)?;
        let before = line.words().take_while(|other| other.span() != word.span()).last()?;
        let span = crate::source::Span { start: before.span().end, ..word.span() };
        edits.push(Edit::replace(span, ""));
    }
    let last = *lines.last()?;
    // A line of another file would bring the directive into other servers.
    if lines.iter().any(|line| line.span().file != server.span().file) {
        return None;
    }
    if server.inside().in_effect("http2").len() == 0 {
        edits.push(Edit::insert_after(last.span(), line_after(last, "http2 on;")));
    }
    let title = "write `http2 on;`";
    let everyone = lines.iter().all(|line| socket_is_all_http2(servers, index, line.id()));
    let fix = match everyone {
        true => Fix::safe(title, edits),
        false => Fix::risky(
            title,
            edits,
            "other servers on the same port no longer speak HTTP/2: the parameter was for all of them",
        ),
    };
    Some(fix.needs(VersionSet::since(PIVOT)))
}

/// Whether every server on the socket of a line asks for HTTP/2 itself.
fn socket_is_all_http2(servers: &Servers, index: usize, line: NodeId) -> bool {
    let Some(listen) = servers.of_server(index).find(|listen| listen.line == Some(line)) else { return false };
    let own = servers.of_server(index).filter(|own| own.socket == listen.socket && !own.options.http2).count();
    servers.together(&listen.socket).without_http2 == own
}
