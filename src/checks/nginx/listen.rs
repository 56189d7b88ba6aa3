//! `listen` lines that contradict each other or do not do what they look like.

use std::collections::BTreeMap;

use super::scope::Scope;
use super::servers::{Listen, Servers, Socket};
use crate::catalog::nginx::Context;
use crate::checks::{Check, Cx, Run};
use crate::fix::{Edit, Fix};
use crate::model::{Model, Node, Word};

/// Faults of `listen`; the parameter `fault` says which.
pub static CHECK: Check = Check { name: "nginx/listen", run: Run::Model(report) };

fn report(cx: &mut Cx<'_>) {
    match cx.params.text("fault") {
        Some("listen-conflict") => conflicts(cx),
        Some("port-bound-twice") => {
            both_families(cx);
            both_areas(cx);
        }
        Some("tls-port-without-ssl") => without_tls(cx),
        Some("specific-listen-shadows-wildcard") => shadows(cx),
        _ => {}
    }
}

fn line<'m>(model: &'m Model, listen: &Listen) -> Option<Node<'m>> {
    listen.line.map(|id| model.node(id))
}

fn conflicts(cx: &mut Cx<'_>) {
    let model = cx.model;
    let servers = Servers::of(cx);
    for (socket, indexes) in &servers.by_socket {
        let listens: Vec<&Listen> = indexes.iter().map(|&i| &servers.listens[i]).collect();
        same_server(cx, model, socket, &listens);
        let marked: Vec<&&Listen> = listens.iter().filter(|l| l.options.default_server).collect();
        if let [first, later @ ..] = marked.as_slice() {
            for listen in later.iter().filter(|later| later.server != first.server) {
                second(
                    cx,
                    model,
                    first,
                    listen,
                    &format!("`{}` already has a default server: nginx refuses the second", socket.text()),
                );
            }
        }
        let with_options: Vec<&&Listen> = listens.iter().filter(|l| line(model, l).is_some_and(sets_socket)).collect();
        if let [first, later @ ..] = with_options.as_slice() {
            for listen in later.iter().filter(|later| later.server != first.server) {
                let message = format!(
                    "options of the socket `{}` are written twice: nginx takes them once and refuses the file",
                    socket.text()
                );
                second(cx, model, first, listen, &message);
            }
        }
    }
}

/// The same address twice in one server.
fn same_server(cx: &mut Cx<'_>, model: &Model, socket: &Socket, listens: &[&Listen]) {
    let mut first: BTreeMap<usize, &Listen> = BTreeMap::new();
    for listen in listens {
        match first.get(&listen.server) {
            Some(first) => second(
                cx,
                model,
                first,
                listen,
                &format!("this server listens on `{}` already: nginx refuses the second", socket.text()),
            ),
            None => {
                first.insert(listen.server, listen);
            }
        }
    }
}

fn second(cx: &mut Cx<'_>, model: &Model, first: &Listen, later: &Listen, message: &str) {
    let (Some(first), Some(later)) = (line(model, first), line(model, later)) else { return };
    let options = message.starts_with("options");
    let fix = options.then(|| drop_options(first, later)).flatten();
    let report = cx.report(later, later.head(), message);
    report.label(first.head(), "the first");
    if let Some(fix) = fix {
        report.fix(fix);
    }
}

/// Whether a line sets an option of the socket itself, which one line does for all.
fn sets_socket(line: Node<'_>) -> bool {
    line.args().skip(1).any(is_socket_option)
}

fn is_socket_option(word: Word<'_>) -> bool {
    const WORDS: [&str; 4] = ["bind", "deferred", "reuseport", "multipath"];
    const KEYS: [&str; 8] =
        ["backlog=", "rcvbuf=", "sndbuf=", "setfib=", "fastopen=", "accept_filter=", "ipv6only=", "so_keepalive="];
    WORDS.iter().any(|known| word.is(known)) || KEYS.iter().any(|key| word.value().starts_with(key.as_bytes()))
}

/// Drops the options of the later line where the first one has the same.
fn drop_options(first: Node<'_>, later: Node<'_>) -> Option<Fix> {
    let options = |line: Node<'_>| {
        let mut options: Vec<Vec<u8>> =
            line.args().skip(1).filter(|word| is_socket_option(*word)).map(|word| word.value().to_vec()).collect();
        options.sort_unstable();
        options
    };
    if options(first) != options(later) {
        return None;
    }
    let words: Vec<Word<'_>> = later.words().collect();
    let edits = words.windows(2).filter(|pair| is_socket_option(pair[1])).map(|pair| {
        let span = crate::source::Span { start: pair[0].span().end, ..pair[1].span() };
        Edit::replace(span, "")
    });
    Some(Fix::safe("drop the options that the first line has", edits.collect()))
}

/// `[::]:80 ipv6only=off` beside `80`.
fn both_families(cx: &mut Cx<'_>) {
    let model = cx.model;
    let servers = Servers::of(cx);
    for (socket, indexes) in &servers.by_socket {
        if socket.host != b"[::]" {
            continue;
        }
        let off = indexes.iter().filter_map(|&i| line(model, &servers.listens[i])).find_map(|line| {
            let word = line.args().find(|word| word.is("ipv6only=off"))?;
            Some((line, word))
        });
        let wildcard = Socket { host: b"*".to_vec(), ..socket.clone() };
        let v4 = servers.on(&wildcard).next();
        let (Some((off, word)), Some(v4)) = (off, v4) else { continue };
        let message = format!(
            "`ipv6only=off` takes IPv4 on port {} too, and another line listens there: the test passes, the start fails with \"Address already in use\"",
            socket.port
        );
        let report = cx.report(off, word.span(), message);
        match line(model, v4) {
            Some(v4) => report.label(v4.head(), "IPv4 on the same port"),
            None => {
                report.label(model.node(servers.all[v4.server]).head(), "IPv4 on the same port, without a `listen`")
            }
        };
        let before = off.words().take_while(|other| other.span() != word.span()).last();
        if let (80, Some(before)) | (_, Some(before)) = (socket.port, before) {
            let span = crate::source::Span { start: before.span().end, ..word.span() };
            report.fix(Fix::safe("drop `ipv6only=off`", vec![Edit::replace(span, "")]));
        }
    }
}

/// One port in `http` and in `stream` or `mail`.
fn both_areas(cx: &mut Cx<'_>) {
    let model = cx.model;
    if !Scope::of(cx).is_level_closed(model.top()) {
        return;
    }
    let servers = Servers::of(cx);
    let others =
        model.named("listen").filter(|node| matches!(node.context(), Context::StreamServer | Context::MailServer));
    for other in others {
        let udp = other.args().any(|word| word.is("udp"));
        let Some(mut socket) = super::servers::socket(other).filter(|socket| socket.port != 0) else { continue };
        socket.udp = udp;
        let Some(http) = servers.on(&socket).next() else { continue };
        let area = if other.context() == Context::MailServer { "mail" } else { "stream" };
        let message = format!(
            "`{}` is taken by a server of `http` as well as by one of `{area}`: the test passes, the start fails with \"Address already in use\"",
            socket.text()
        );
        let report = cx.report(other, other.head(), message);
        if let Some(http) = line(model, http) {
            report.label(http.head(), "the server of `http`");
        }
    }
}

/// A TLS server on ports that do not speak TLS.
fn without_tls(cx: &mut Cx<'_>) {
    let model = cx.model;
    let scope = Scope::of(cx);
    let servers = Servers::of(cx);
    for (i, &id) in servers.all.iter().enumerate() {
        let server = model.node(id);
        let level = server.inside();
        let own: Vec<&Listen> = servers.of_server(i).filter(|listen| listen.line.is_some()).collect();
        let speaks = own.iter().any(|listen| servers.together(&listen.socket).options.tls());
        let old_switch =
            level.in_effect("ssl").any(|line| line.value(0).is_some_and(|v| v.eq_ignore_ascii_case(b"on")));
        if own.is_empty() || speaks || old_switch || !scope.is_level_closed(level) {
            continue;
        }
        let certificate = level.own("ssl_certificate").next();
        let port = own.iter().find(|listen| matches!(listen.socket.port, 443 | 8443));
        let proxied = own.iter().any(|listen| listen.options.proxy_protocol);
        let Some(listen) = port.or(certificate.and(own.first())) else { continue };
        let certain = certificate.is_some();
        if !certain && (proxied || is_private(&listen.socket)) {
            continue;
        }
        let Some(line) = line(model, listen) else { continue };
        let message = match certificate {
            Some(_) => format!(
                "this server has a certificate, but `{}` speaks plain HTTP: browsers get \"wrong version number\"",
                listen.socket.text()
            ),
            None => format!(
                "port {} speaks plain HTTP here: browsers get \"wrong version number\"; add `ssl`",
                listen.socket.port
            ),
        };
        let last = line.words().last().map_or(line.head(), Word::span);
        let report = cx.report(line, line.head(), message);
        if let Some(certificate) = certificate {
            report.label(certificate.head(), "its certificate");
            if port.is_some() {
                report.fix(Fix::risky(
                    "add `ssl`",
                    vec![Edit::insert_after(last, " ssl")],
                    "the port speaks TLS, and plain HTTP no longer",
                ));
            }
        }
    }
    plain_port_with_tls(cx, &servers);
}

/// `listen 80 ssl`.
fn plain_port_with_tls(cx: &mut Cx<'_>, servers: &Servers) {
    let model = cx.model;
    for listen in servers.listens.iter().filter(|listen| listen.socket.port == 80 && listen.options.ssl) {
        if let Some(line) = line(model, listen) {
            let message = "port 80 speaks TLS here: browsers that ask by plain HTTP get 400";
            cx.report(line, line.head(), message);
        }
    }
}

/// Whether an address is one that a TLS terminator in front would use.
fn is_private(socket: &Socket) -> bool {
    let Some(address) = std::str::from_utf8(&socket.host).ok().and_then(|host| host.parse::<std::net::Ipv4Addr>().ok())
    else {
        return socket.host == b"localhost" || socket.host == b"[::1]" || socket.port == 0;
    };
    address.is_private() || address.is_loopback() || address.is_link_local()
}

/// A specific address that takes requests from servers on the wildcard of its port.
fn shadows(cx: &mut Cx<'_>) {
    let model = cx.model;
    let scope = Scope::of(cx);
    if !scope.is_closed() {
        return;
    }
    let servers = Servers::of(cx);
    let names = |server: usize| -> Vec<Vec<u8>> {
        let lines = model.node(servers.all[server]).inside().own("server_name");
        lines.flat_map(Node::args).map(|word| word.value().to_ascii_lowercase()).collect()
    };
    for (socket, indexes) in servers.by_socket.iter().filter(|(socket, _)| !socket.is_wildcard() && socket.port != 0) {
        if socket.host == b"localhost" || is_loopback(socket) {
            continue;
        }
        let family: &[u8] = if socket.host.starts_with(b"[") { b"[::]" } else { b"*" };
        let wildcard = Socket { host: family.to_vec(), ..socket.clone() };
        let here: Vec<Vec<u8>> = indexes.iter().flat_map(|&i| names(servers.listens[i].server)).collect();
        if here.is_empty() {
            continue;
        }
        let hidden = servers.on(&wildcard).find_map(|listen| {
            let own = servers.of_server(listen.server).any(|other| other.socket == *socket);
            let name = names(listen.server).into_iter().find(|name| is_host(name) && !here.contains(name))?;
            (!own).then_some((listen, name))
        });
        let (Some((other, name)), Some(line)) = (hidden, line(model, &servers.listens[indexes[0]])) else { continue };
        let message = format!(
            "requests to `{}` never reach the server `{}` on `{}`: nginx looks only at servers of the most specific address",
            socket.text(),
            String::from_utf8_lossy(&name),
            wildcard.text()
        );
        let report = cx.report(line, line.head(), message);
        report.label(model.node(servers.all[other.server]).head(), "the server that is hidden");
    }
}

fn is_loopback(socket: &Socket) -> bool {
    let host = String::from_utf8_lossy(&socket.host);
    host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn is_host(name: &[u8]) -> bool {
    name.contains(&b'.') && !name.starts_with(b"~") && name.first().is_some_and(u8::is_ascii_alphanumeric)
}
