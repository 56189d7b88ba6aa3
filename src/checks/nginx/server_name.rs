//! Names of servers: taken twice, or never met.

use foldhash::HashMap;

use super::scope::Scope;
use super::servers::Servers;
use crate::checks::{Check, Cx, Run};
use crate::fix::{Edit, Fix};
use crate::model::nginx::expressions;
use crate::model::{Model, Node, Word};

/// Faults of `server_name`; the parameter `fault` says which.
pub static CHECK: Check = Check { name: "nginx/server-name", run: Run::Model(report) };

fn report(cx: &mut Cx<'_>) {
    match cx.params.text("fault") {
        Some("conflicting-server-name") => conflicting(cx),
        Some("server-name-never-matches") => never_matches(cx),
        Some("no-default-server") => no_default(cx),
        _ => {}
    }
}

/// The names of a server with their places.
fn names<'m>(model: &'m Model, servers: &Servers, server: usize) -> impl Iterator<Item = (Node<'m>, Word<'m>)> {
    let lines = model.node(servers.all[server]).inside().own("server_name");
    lines.flat_map(|line| line.args().map(move |word| (line, word)))
}

fn conflicting(cx: &mut Cx<'_>) {
    let model = cx.model;
    let servers = Servers::of(cx);
    let mut reported: HashMap<(crate::model::NodeId, u32), ()> = HashMap::default();
    for (socket, indexes) in &servers.by_socket {
        // nginx compares names only where several servers share a socket.
        let first = servers.listens[indexes[0]].server;
        if indexes.iter().all(|&index| servers.listens[index].server == first) {
            continue;
        }
        let mut first: HashMap<Vec<u8>, (usize, Word<'_>)> = HashMap::default();
        for &index in indexes {
            let server = servers.listens[index].server;
            for (line, word) in names(model, &servers, server).filter(|(_, word)| !word.value().starts_with(b"~")) {
                let name = word.value().to_ascii_lowercase();
                match first.get(&name) {
                    None => {
                        first.insert(name, (server, word));
                    }
                    Some((known, other)) => {
                        if reported.insert((line.id(), word.span().start), ()).is_some() {
                            continue;
                        }
                        let same = *known == server;
                        let message = if same {
                            format!("`{}` stands twice in this server; nginx warns and takes it once", word.text())
                        } else {
                            format!(
                                "another server on `{}` has the name `{}` already: this one never gets it, and nginx only warns",
                                socket.text(),
                                word.text()
                            )
                        };
                        let other = other.span();
                        let fix = same.then(|| drop_name(line, word)).flatten();
                        let report = cx.report(line, word.span(), message);
                        report.label(other, "the first");
                        if let Some(fix) = fix {
                            report.fix(fix);
                        }
                    }
                }
            }
        }
    }
}

/// Drops a name behind others on one line. The first stays: each of a line's names may be dropped by a fix of
/// its own, and a line without names is refused.
fn drop_name(line: Node<'_>, word: Word<'_>) -> Option<Fix> {
    let before = line.args().take_while(|other| other.span() != word.span()).last()?;
    let span = crate::source::Span { start: before.span().end, ..word.span() };
    Some(Fix::safe("drop the second", vec![Edit::replace(span, "")]))
}

fn never_matches(cx: &mut Cx<'_>) {
    let model = cx.model;
    let servers = Servers::of(cx);
    for server in 0..servers.all.len() {
        for (line, word) in names(model, &servers, server) {
            let Some(fault) = fault(word.value()) else { continue };
            let name = word.text();
            let report = cx.report(line, word.span(), format!("no request is for the host `{name}`: {}", fault.why));
            if let Some(meant) = fault.meant {
                let change = format!("the server answers for `{meant}`");
                report.fix(Fix::risky(format!("write `{meant}`"), vec![Edit::replace(word.span(), meant)], change));
            }
        }
    }
}

struct Fault {
    why: &'static str,
    meant: Option<String>,
}

/// Why a name can equal no Host header.
fn fault(name: &[u8]) -> Option<Fault> {
    let text = std::str::from_utf8(name).ok()?;
    let has_variable = expressions::names(name).next().is_some();
    if text.starts_with('~') || has_variable || matches!(text, "" | "_" | "-" | "--" | "*" | "!@#") {
        return None;
    }
    let found = |why, meant: Option<&str>| Some(Fault { why, meant: meant.map(str::to_owned) });
    if let Some((_, rest)) = text.split_once("://") {
        let host = rest.split(['/', ':']).next().unwrap_or_default();
        return found("a host has no scheme", Some(host).filter(|host| !host.is_empty()));
    }
    if text.starts_with('^') && text.ends_with('$') {
        return Some(Fault { why: "a regular expression begins with `~`", meant: Some(format!("~{text}")) });
    }
    if let Some(host) = text.strip_suffix(',') {
        return found("names are separated by spaces", Some(host).filter(|host| !host.contains(',')));
    }
    if text.contains(',') {
        return found("names are separated by spaces", None);
    }
    if let Some((host, _)) = text.split_once('/') {
        return found("a host has no path", Some(host).filter(|host| !host.is_empty()));
    }
    if let Some((host, port)) = text.rsplit_once(':').filter(|(host, _)| !host.contains([':', '['])) {
        let is_port = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
        return is_port.then(|| Fault { why: "the port is not part of the name", meant: Some(host.to_owned()) });
    }
    // `*.a.b`, `a.b.*` and `.a.b` are wildcards; a `*` anywhere else is refused once a second server shares the socket.
    let star = text.strip_prefix("*.").or(text.strip_suffix(".*")).unwrap_or(text);
    if star.contains('*') {
        return found(
            "`*` stands for whole labels at the beginning or the end, and nginx refuses the name elsewhere as soon as a second server shares the socket",
            None,
        );
    }
    None
}

fn no_default(cx: &mut Cx<'_>) {
    let model = cx.model;
    if !Scope::of(cx).is_closed() {
        return;
    }
    let servers = Servers::of(cx);
    for (socket, indexes) in &servers.by_socket {
        let listens: Vec<_> = indexes.iter().map(|&i| &servers.listens[i]).collect();
        let several = listens.iter().any(|listen| listen.server != listens[0].server);
        if !several || listens.iter().any(|listen| listen.options.default_server) {
            continue;
        }
        let first = listens[0].server;
        let catches_all = names(model, &servers, first).all(|(_, word)| matches!(word.value(), b"" | b"_" | b"*"));
        let Some(line) = listens[0].line.filter(|_| !catches_all).map(|id| model.node(id)) else { continue };
        let message = format!(
            "no server on `{}` is the `default_server`: requests for unknown names go to this one because it is read first",
            socket.text()
        );
        cx.report(line, line.head(), message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_host_has() {
        let meant = |name: &str| fault(name.as_bytes()).map(|fault| fault.meant.unwrap_or_default());
        assert_eq!(meant("a.example,").as_deref(), Some("a.example"));
        assert_eq!(meant("https://a.example/x").as_deref(), Some("a.example"));
        assert_eq!(meant("a.example:8080").as_deref(), Some("a.example"));
        assert_eq!(meant("a.example/x").as_deref(), Some("a.example"));
        assert_eq!(meant("^a$").as_deref(), Some("~^a$"));
        assert_eq!(meant("www.*.example").as_deref(), Some(""));
        for good in [
            "a.example",
            "*.a.example",
            "a.example.*",
            ".a.example",
            "_",
            "",
            "~^a,b$",
            "$hostname",
            "localhost",
            "10.0.0.1",
            "[::1]",
            "::1",
        ] {
            assert!(fault(good.as_bytes()).is_none(), "{good}");
        }
    }
}
