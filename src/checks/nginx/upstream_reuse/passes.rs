//! Reports about locations: a pass without an upstream, HTTP/1.0, `Connection: close`.

use foldhash::{HashMap, HashSet};
use std::collections::BTreeMap;

use super::patch::{self, Group};
use super::verdict::{Cause, Close, Verdict, connection_lines, sets};
use super::{Affected, View, label_all, lossy, offer, places, shown};
use crate::checks::{Cx, Report};
use crate::fix::{Edit, Fix, Safety};
use crate::model::nginx::{Address, Backend, Pass, Protocol};
use crate::model::{Node, NodeId, Word, layout};
use crate::source::Span;
use crate::version::{Server, VersionSet};

/// What a connection per request costs, in production.
const COST: &str = "each holds a local port for 60 s, so from about 470 requests a second on nginx answers 502";

/// The versions of a finding: `None` where it is true for the whole target.
pub(super) fn limited(cx: &Cx<'_>, versions: &VersionSet) -> Option<VersionSet> {
    let outside = cx.target.difference(versions);
    let some_are_out = outside.members(Server::Nginx).next().is_some();
    some_are_out.then(|| versions.clone())
}

/// `proxy_pass http://host:port`: one finding for a backend, its locations as labels.
pub(super) fn bare(cx: &mut Cx<'_>, view: View<'_>) {
    let affected = view.affected(|cause| *cause == Cause::Bare);
    let mut groups: Vec<Vec<Bare<'_>>> = Vec::new();
    let mut known: HashMap<(Protocol, bool, Vec<u8>), usize> = HashMap::default();
    for &Affected { index: pass_index, pass, .. } in &affected {
        let Some(address) = bare_address(pass) else { continue };
        // An upstream's name with a port: nginx refuses it, or cannot resolve it.
        if view.model.nginx().upstream(view.model, &address.host).is_some() {
            continue;
        }
        let key = (pass.protocol, pass.by_variable, group_key(view, pass, address));
        let index = *known.entry(key).or_insert(groups.len());
        if index == groups.len() {
            groups.push(Vec::new());
        }
        groups[index].push(Bare { index: pass_index, pass, address });
    }
    let mut taken = HashSet::default();
    for group in groups {
        if group[0].pass.by_variable {
            bare_by_variable(cx, view, &group);
        } else {
            bare_literal(cx, view, &group, &mut taken);
        }
    }
}

/// A pass to an address.
struct Bare<'a> {
    index: usize,
    pass: &'a Pass,
    address: &'a Address,
}

/// The address of a pass whose bare form is worth a finding: FastCGI and its kin are used bare.
fn bare_address(pass: &Pass) -> Option<&Address> {
    if !matches!(pass.protocol, Protocol::Http | Protocol::Grpc) {
        return None;
    }
    pass.backends.iter().find_map(|backend| match backend {
        Backend::Address(address) => Some(address),
        _ => None,
    })
}

/// What makes two passes one backend: scheme, host and port; for variables the text.
fn group_key(view: View<'_>, pass: &Pass, address: &Address) -> Vec<u8> {
    if pass.by_variable {
        return view.node(pass.node).value(0).unwrap_or_default().to_vec();
    }
    let mut key = address.host.to_ascii_lowercase();
    key.extend_from_slice(format!(":{} {:?}", address.effective_port(), address.scheme).as_bytes());
    key
}

fn bare_literal(cx: &mut Cx<'_>, view: View<'_>, group: &[Bare<'_>], taken: &mut HashSet<Vec<u8>>) {
    let node = view.node(group[0].pass.node);
    let passes = Group::new(view, group.iter().map(|bare| bare.index));
    let fix = patch::move_to_upstream(view, &passes, group[0].address, taken);
    let text = shown(node);
    let message = format!(
        "`{text}` opens a TCP connection for every request and reuses none: {COST}. Pass to an `upstream` block with \
         `keepalive` instead"
    );
    let worse = group.iter().find_map(|bare| partial_form(view.node(bare.pass.node)));
    let spans = places(group.iter().map(|bare| view.node(bare.pass.node)));
    let report = cx.report(node, node.head(), message);
    label_all(report, &spans[1..], "passes to the same backend");
    if let Some(line) = worse {
        report.label(line.head(), "without a pool this makes it worse: nginx now closes every connection itself");
    }
    label_subrequest(report, node);
    offer(report, fix);
}

fn bare_by_variable(cx: &mut Cx<'_>, view: View<'_>, group: &[Bare<'_>]) {
    let node = view.node(group[0].pass.node);
    let text = shown(node);
    let message = format!(
        "`{text}` passes to an address that a variable holds, not to an `upstream` block: a TCP connection for every \
         request; {COST}"
    );
    let spans = places(group.iter().map(|bare| view.node(bare.pass.node)));
    let report = cx.report(node, node.head(), message);
    label_all(report, &spans[1..], "passes to the same backend");
    report.note(
        "name an `upstream` block in the variable, without a port; where the variable is there to follow DNS, nginx 1.27.3 \
         and later can do that in the upstream: `server name:port resolve;` with `zone` and `resolver`",
    );
}

/// The empty `Connection` line in effect, if `proxy_http_version 1.1` is too: without a pool nginx
/// then closes first, every time (measured).
fn partial_form(node: Node<'_>) -> Option<Node<'_>> {
    let level = node.level();
    (level.value("proxy_http_version") == Some(b"1.1"))
        .then(|| connection_lines(level).find(|line| line.value(1) == Some(b"")))?
}

/// `proxy_pass http://unix:/path`: no ports are lost, only connects.
pub(super) fn bare_unix(cx: &mut Cx<'_>, view: View<'_>) {
    for Affected { pass, .. } in view.affected(|cause| *cause == Cause::BareUnix) {
        if !matches!(pass.protocol, Protocol::Http | Protocol::Grpc) {
            continue;
        }
        let node = view.node(pass.node);
        let text = shown(node);
        let message = format!(
            "`{text}` connects to the socket for every request; no ports are used up, an `upstream` block with `keepalive` \
             saves the connects"
        );
        cx.report(node, node.head(), message);
    }
}

/// HTTP/1.0 at a location whose upstream keeps connections; one finding for a line that says so.
pub(super) fn http_version(cx: &mut Cx<'_>, view: View<'_>) {
    let line = |cause: Cause| match cause {
        Cause::Version(line) => line,
        _ => None,
    };
    for Decided { line, group } in by_line(view, |cause| matches!(cause, Cause::Version(_)), line) {
        let (first, node) = (&group[0], view.node(group[0].pass.node));
        let fix = patch::complete(view, &completed(view, &group), "speak HTTP/1.1 to the backend");
        let upstream = upstream_name(view, first.pass);
        let message = match line {
            Some(_) => format!(
                "`proxy_http_version 1.0` ends every connection to the upstream `{upstream}` after one request, so its \
                 `keepalive` pool is never used. Write 1.1"
            ),
            None => format!(
                "without `proxy_http_version 1.1` every connection to the upstream `{upstream}` ends after one request, so \
                 its `keepalive` pool is never used"
            ),
        };
        let report = report_decided(cx, view, line, &group, message);
        label_subrequest(report, node);
        offer(report, fix);
    }
}

/// `Connection: close` at a location whose upstream keeps connections; one finding for a line that says so.
pub(super) fn connection_close(cx: &mut Cx<'_>, view: View<'_>) {
    let is_close = |cause: &Cause| matches!(cause, Cause::Close(Close::Default | Close::Written(_)));
    let line = |cause: Cause| match cause {
        Cause::Close(Close::Written(line)) => Some(line),
        _ => None,
    };
    for Decided { line, group } in by_line(view, is_close, line) {
        let (first, node) = (&group[0], view.node(group[0].pass.node));
        let fix = patch::complete(view, &completed(view, &group), "send no `Connection: close` to the backend");
        let upstream = upstream_name(view, first.pass);
        let message = match (line, lost_line(node)) {
            (Some(_), _) => format!(
                "`Connection: close` ends every connection to the upstream `{upstream}` after one request, so its `keepalive` \
                 pool is never used. Send an empty `Connection`"
            ),
            (None, Some(_)) => format!(
                "the empty `Connection` of the outer level is lost here, since this level has `proxy_set_header` lines of its \
                 own: nginx sends `close`, and the `keepalive` pool of `{upstream}` is never used"
            ),
            (None, None) => format!(
                "nginx sends `Connection: close` by default, so the `keepalive` pool of the upstream `{upstream}` is never \
                 used. Send an empty `Connection`"
            ),
        };
        let report = report_decided(cx, view, line, &group, message);
        if line.is_none() {
            label_lost(report, node);
        }
        label_subrequest(report, node);
        offer(report, fix);
    }
}

/// Passes with one fault that one line decides, or the default in one location.
struct Decided<'a> {
    line: Option<NodeId>,
    group: Vec<Affected<'a>>,
}

/// Groups passes by the text of the line that decides; without one, by their location.
fn by_line<'a>(
    view: View<'a>,
    is: impl Fn(&Cause) -> bool,
    line: impl Fn(Cause) -> Option<NodeId>,
) -> impl Iterator<Item = Decided<'a>> {
    let mut groups: BTreeMap<Span, Decided<'a>> = BTreeMap::new();
    for one in view.affected(is) {
        let decides = line(one.cause);
        let node = view.node(one.pass.node);
        let place = match decides {
            Some(line) => view.node(line),
            None => node.ancestors().find(|node| node.is("location")).unwrap_or(node),
        };
        let decided = groups.entry(place.head()).or_insert(Decided { line: decides, group: Vec::new() });
        decided.group.push(one);
    }
    groups.into_values()
}

/// The passes of a group, with those in the same locations that pass to a pool too: what the patch gives
/// to a location is right for them.
fn completed(view: View<'_>, group: &[Affected<'_>]) -> Group {
    let mut all: Vec<usize> = group.iter().map(|one| one.index).collect();
    for one in group {
        let home = view.node(one.pass.node).ancestors().find(|node| node.is("location"));
        let siblings = home.map_or(&[][..], |home| view.index().in_location(home.id()));
        all.extend(siblings.iter().filter(|&&sibling| passes_to_pool(view, sibling)));
    }
    Group::new(view, all)
}

/// Whether a pass leads to an upstream that keeps connections on every version of the target.
fn passes_to_pool(view: View<'_>, pass: usize) -> bool {
    view.reuse.verdicts[pass]
        .iter()
        .all(|verdict| matches!(verdict, Verdict::Reused | Verdict::NotReused(Cause::Version(_) | Cause::Close(_))))
}

/// The report on a line that decides, or on the first pass, with the places that it holds for.
fn report_decided<'c>(
    cx: &'c mut Cx<'_>,
    view: View<'_>,
    line: Option<NodeId>,
    group: &[Affected<'_>],
    message: String,
) -> &'c mut Report {
    let place = view.node(line.unwrap_or(group[0].pass.node));
    let limited = limited(cx, &group.iter().fold(VersionSet::none(), |all, one| all.union(&one.versions)));
    let report = cx.report(place, place.head(), message);
    report.versions = limited;
    label_pool(report, view, group[0].pass);
    let from = usize::from(line.is_none());
    label_all(report, &places(group.iter().map(|one| view.node(one.pass.node)))[from..], "in effect here");
    report
}

/// Shows the `auth_request` or `mirror` that makes a location answer subrequests: a connection is kept
/// only after an answer without a body there (measured).
pub(super) fn label_subrequest(report: &mut Report, pass: Node<'_>) {
    let Some(home) = pass.ancestors().find(|node| node.is("location")) else { return };
    let Some(path) = home.args().last().map(Word::value) else { return };
    let lines = ["auth_request", "mirror"].iter().flat_map(|name| pass.model().named(name));
    if let Some(line) = lines.into_iter().find(|line| line.value(0) == Some(path)) {
        let text = "subrequests keep the connection only where the backend answers them without a body: 204, or 200 with nothing";
        report.label(line.head(), text);
    }
}

/// An outer empty `Connection` line that an inner level cut off, and the first line that did.
pub(super) fn lost_line(pass: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    let deciding = pass.level().deciding("proxy_set_header")?;
    let cutter = deciding.own("proxy_set_header").next()?;
    let lost = connection_lines(deciding.outer()?).find(|line| line.value(1) == Some(b""))?;
    Some((lost, cutter))
}

/// Shows the inner line that cuts off the outer empty `Connection`, where one does.
pub(super) fn label_lost(report: &mut Report, pass: Node<'_>) {
    if let Some((lost, cutter)) = lost_line(pass) {
        report.label(cutter.head(), "this line cuts off all outer `proxy_set_header` lines");
        report.label(lost.head(), "this one is lost");
    }
}

fn upstream_name(view: View<'_>, pass: &Pass) -> String {
    let upstream = upstream_of(view, pass);
    upstream.and_then(|node| node.value(0)).map(|name| lossy(name).into_owned()).unwrap_or_default()
}

fn upstream_of<'a>(view: View<'a>, pass: &Pass) -> Option<Node<'a>> {
    pass.backends.iter().find_map(|backend| match backend {
        Backend::Upstream(id) => Some(view.node(*id)),
        _ => None,
    })
}

/// Shows the pool that is not used.
fn label_pool(report: &mut Report, view: View<'_>, pass: &Pass) {
    if let Some(upstream) = upstream_of(view, pass) {
        match upstream.own("keepalive").next() {
            Some(keepalive) => report.label(keepalive.head(), "the pool that is never used"),
            None => report.label(upstream.head(), "the upstream whose pool is never used"),
        };
    }
}

/// The map behind `Connection` gives `close` for a request without `Upgrade`.
pub(super) fn map_close(cx: &mut Cx<'_>, view: View<'_>) {
    let entry_of = |cause: Cause| match cause {
        Cause::Close(Close::Map { entry, .. }) => Some(entry),
        _ => None,
    };
    for Decided { line, group } in by_line(view, |cause| matches!(cause, Cause::Close(Close::Map { .. })), entry_of) {
        let Some(entry) = line.map(|line| view.node(line)) else { continue };
        let Some(map) = entry.parent() else { continue };
        let fix = map_fix(view, map, entry, &completed(view, &group));
        let variable = map.value(1).map(|name| lossy(name).into_owned()).unwrap_or_default();
        let upstream = upstream_name(view, group[0].pass);
        let message = format!(
            "`{variable}` is `close` for every request that is no upgrade, so the `keepalive` pool of the upstream \
             `{upstream}` is used by none of them. Give an empty value there: `'' '';`"
        );
        let limited = limited(cx, &group.iter().fold(VersionSet::none(), |all, one| all.union(&one.versions)));
        let report = cx.report(entry, entry.head(), message);
        report.versions = limited;
        label_all(report, &places(group.iter().map(|one| view.node(one.pass.node))), "sent from here");
        offer(report, fix);
    }
}

/// Empties the map's value for requests without `Upgrade`. Right only where every user of the map has a
/// live pool: without one an empty `Connection` makes nginx close first, every time.
fn map_fix(view: View<'_>, map: Node<'_>, entry: Node<'_>, group: &Group) -> Result<Fix, String> {
    let variable = map.value(1).ok_or("the map has no variable")?;
    let uses: Vec<Node<'_>> = view.index().uses(view.model, variable).map(|id| view.node(id)).collect();
    let is_connection = |line: &&Node<'_>| line.is("proxy_set_header") && sets(**line, b"connection");
    if uses.iter().filter(is_connection).any(|line| !group.covers(view, *line)) {
        return Err("another location that uses the map has no pool, and would lose more ports than now".to_owned());
    }
    let value = entry.arg(0).ok_or("the entry has no value")?;
    let mut fix = patch::complete(view, group, "send no `Connection: close` for requests that are no upgrade")?;
    for line in uses.iter().filter(|line| !is_connection(line)) {
        let text = format!("`{}` in `{}` is empty instead of `close`", lossy(variable), lossy(line.name()));
        if !fix.changes.contains(&text) {
            fix.changes.push(text);
        }
        fix.safety = Safety::Unsafe;
    }
    fix.edits.push(match entry.name() {
        b"" => Edit::replace(value.span(), "''"),
        _ => layout::beside(entry, &["'' '';"]),
    });
    Ok(fix)
}

/// FastCGI with a pool that `fastcgi_keep_conn` leaves unused.
pub(super) fn keep_conn(cx: &mut Cx<'_>, view: View<'_>) {
    for Affected { pass, versions, .. } in view.affected(|cause| *cause == Cause::KeepConn) {
        let Some(keepalive) = upstream_of(view, pass).and_then(|upstream| upstream.own("keepalive").next()) else {
            continue;
        };
        let node = view.node(pass.node);
        let upstream = upstream_name(view, pass);
        let message = format!(
            "`{}` of the upstream `{upstream}` has no effect here: FastCGI connections are kept only with \
             `fastcgi_keep_conn on`",
            shown(keepalive)
        );
        let change = "each idle connection holds one PHP-FPM child, which accepts nobody else: `keepalive` x \
                      `worker_processes` must be below `pm.max_children`, else requests hang and answer 504";
        let line = node.level().setting("fastcgi_keep_conn").filter(|line| line.level() == node.level());
        let edit = match line.and_then(|line| line.arg(0)) {
            Some(word) => Edit::replace(word.span(), "on"),
            None => layout::beside(node, &["fastcgi_keep_conn on;"]),
        };
        let limited = limited(cx, &versions);
        let report = cx.report(node, node.head(), message);
        report.versions = limited;
        report.label(keepalive.head(), "the pool that is never used");
        if node.context() == crate::model::nginx::Context::Location {
            report.fix(Fix::risky("keep FastCGI connections", vec![edit], change));
        }
    }
}

/// HTTP/1.1 and an empty `Connection` where no upstream of the whole configuration has a pool.
pub(super) fn no_pool_anywhere(cx: &mut Cx<'_>, view: View<'_>) {
    let has_pool = |upstream: Node<'_>| upstream.own("keepalive").len() > 0;
    if view.model.nginx().upstreams(view.model).any(has_pool) || !view.model.is_closed() {
        return;
    }
    let versions = view.versions(|facts| facts.implicit.is_none());
    for pass in view.passes.iter().filter(|pass| pass.protocol == Protocol::Http) {
        let node = view.node(pass.node);
        let unknown = pass.backends.iter().all(|backend| *backend == Backend::Unknown);
        let Some(line) = partial_form(node).filter(|_| unknown) else { continue };
        let text = shown(node);
        let message = format!(
            "HTTP/1.1 and an empty `Connection` without a `keepalive` pool are worse than neither: nginx closes every \
             connection of `{text}` itself, and {COST}"
        );
        let limited = limited(cx, &versions);
        let report = cx.report(node, node.head(), message);
        report.versions = limited;
        report.label(line.head(), "no upstream of this configuration has a `keepalive` line");
    }
}
