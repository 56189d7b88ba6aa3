//! Where passes lead, as far as nginx refuses it.

use super::address::{self, Form};
use super::location::{Kind, Matcher};
use crate::catalog::nginx::{Area, Context};
use crate::checks::{Check, Cx, Run};
use crate::fix::{Edit, Fix};
use crate::model::nginx::{Piece, expand};
use crate::model::{Node, Word};

/// Faults of passes; the parameter `fault` says which.
pub static CHECK: Check = Check { name: "nginx/pass-target", run: Run::Each(&PASSES, report) };

/// The directives that pass a request on by an address.
pub(super) const PASSES: [&str; 6] =
    ["proxy_pass", "grpc_pass", "fastcgi_pass", "uwsgi_pass", "scgi_pass", "memcached_pass"];

fn report(cx: &mut Cx<'_>, line: Node<'_>) {
    let Some(word) = line.arg(0).filter(|_| line.context().area() == Area::Http) else { return };
    match cx.params.text("fault") {
        Some("proxy-pass-uri-not-allowed") => uri_not_allowed(cx, line, word),
        Some("upstream-with-port") => upstream_with_port(cx, line, word),
        _ => {}
    }
}

/// The address of a literal pass, without its scheme.
pub(super) fn literal<'m>(line: Node<'m>, word: Word<'m>) -> Option<(address::Url<'m>, usize)> {
    let value = word.value();
    if value.contains(&b'$') {
        return None;
    }
    let scheme = match line.name() {
        b"proxy_pass" => {
            ["http://", "https://"].iter().find(|scheme| begins(value, scheme)).map(|scheme| scheme.len())?
        }
        b"grpc_pass" => {
            ["grpc://", "grpcs://"].iter().find(|scheme| begins(value, scheme)).map_or(0, |scheme| scheme.len())
        }
        _ => 0,
    };
    let uri = line.is("proxy_pass");
    Some((address::parse(&value[scheme..], Form { listen: false, uri }).ok()?, scheme))
}

fn begins(value: &[u8], scheme: &str) -> bool {
    value.len() >= scheme.len() && value[..scheme.len()].eq_ignore_ascii_case(scheme.as_bytes())
}

fn uri_not_allowed(cx: &mut Cx<'_>, line: Node<'_>, word: Word<'_>) {
    if !line.is("proxy_pass") {
        return;
    }
    let place = match line.context() {
        Context::LocationIf => "an `if` block",
        Context::LimitExcept => "a `limit_except` block",
        Context::Location => match line.parent().and_then(Matcher::of).map(|matcher| matcher.kind) {
            Some(Kind::Regex { .. }) => "a location with a regular expression",
            Some(Kind::Named) => "a named location",
            _ => return,
        },
        _ => return,
    };
    let Some((url, _)) = literal(line, word) else { return };
    if url.uri.is_empty() {
        return;
    }
    let uri = String::from_utf8_lossy(url.uri);
    let message = format!("`proxy_pass` takes no path in {place}: nginx refuses the file because of `{uri}`");
    let plain = word.raw() == word.value();
    let end = word.span().end;
    let report = cx.report(line, word.span(), message);
    if url.uri == b"/" && plain {
        let span = crate::source::Span { start: end - 1, ..word.span() };
        let change = "the backend gets the path as the client sent it";
        report.fix(Fix::risky("drop the `/`", vec![Edit::replace(span, "")], change));
    } else {
        report.note("put `rewrite … break;` in front, which changes the path, and pass without it");
    }
}

fn upstream_with_port(cx: &mut Cx<'_>, line: Node<'_>, word: Word<'_>) {
    let view = cx.model.nginx();
    if word.value().contains(&b'$') {
        upstream_by_variable(cx, line, word);
        return;
    }
    let Some((url, scheme)) = literal(line, word) else { return };
    let (Some(port), Some(upstream)) = (url.port, view.upstream(cx.model, url.host)) else { return };
    let name = String::from_utf8_lossy(url.host);
    let message = format!(
        "`{name}` is an upstream, and a pass to one has no port: nginx refuses `:{port}`; its servers have ports"
    );
    let start = word.span().start + (scheme + url.host.len()) as u32;
    let span = crate::source::Span { start, end: start + 1 + port.to_string().len() as u32, ..word.span() };
    let plain = word.raw() == word.value() && cx.model.text(span) == format!(":{port}").as_bytes();
    let report = cx.report(line, word.span(), message);
    report.label(upstream.head(), "the upstream");
    if plain {
        let edits = vec![Edit::replace(span, "")];
        let change = "requests go to the servers of the upstream, at their ports, with its name as the default `Host`";
        report.fix(Fix::risky("drop the port", edits, change));
    }
}

/// `http://$name:8080` where the variable is the name of an upstream.
fn upstream_by_variable(cx: &mut Cx<'_>, line: Node<'_>, word: Word<'_>) {
    let model = cx.model;
    let view = model.nginx();
    let texts = expand(word.value(), line.level());
    let found = texts.iter().find_map(|text| {
        let [Piece::Literal(value), ..] = text.as_slice() else { return None };
        let rest = ["http://", "https://", "grpc://", "grpcs://"]
            .iter()
            .find(|s| begins(value, s))
            .map_or(&value[..], |s| &value[s.len()..]);
        let authority = rest.split(|b| *b == b'/').next().unwrap_or_default();
        let whole = text.len() == 1 || authority.len() < rest.len();
        let url = address::parse(authority, Form::default()).ok().filter(|_| whole)?;
        url.port
            .and(view.upstream(model, url.host))
            .map(|upstream| (upstream, String::from_utf8_lossy(url.host).into_owned()))
    });
    if let Some((upstream, name)) = found {
        let message = format!(
            "through a variable `{name}` with a port is no longer the upstream of that name but a host: nginx answers 502 \"no resolver defined\""
        );
        cx.report(line, word.span(), message).label(upstream.head(), "the upstream");
    }
}
