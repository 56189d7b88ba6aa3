//! Reports about upstreams: no pool, one that is discarded, refused, off or too small.

use foldhash::HashMap;

use super::passes::{label_lost, label_subrequest, limited, lost_line};
use super::patch::{self, Group};
use super::verdict::{Cause, connection_lines, method_behind, places as places_of, servers};
use super::{Affected, View, label_all, lossy, offer, places, shown};
use crate::checks::Cx;
use crate::fix::{Edit, Fix};
use crate::model::nginx::{Context, Pass, Protocol};
use crate::model::{Node, layout};
use crate::version::VersionSet;

/// An implicit pool has 32 places in all, which more locations than that take from each other (measured).
const LOCATIONS_THAT_EVICT: usize = 33;

fn name_of(upstream: Node<'_>) -> String {
    upstream.value(0).map(|name| lossy(name).into_owned()).unwrap_or_default()
}

/// Whether every server of an upstream is a socket file: no ports are lost there.
fn only_sockets(upstream: Node<'_>) -> bool {
    let mut servers = upstream.own("server");
    servers.len() > 0 && servers.all(|server| server.value(0).is_some_and(|address| address.starts_with(b"unix:")))
}

/// An upstream without `keepalive` that locations pass to.
pub(super) fn missing(cx: &mut Cx<'_>, view: View<'_>) {
    let affected = view.affected(|cause| *cause == Cause::PoolMissing);
    let affected: HashMap<usize, Affected<'_>> = affected.into_iter().map(|one| (one.index, one)).collect();
    for upstream in view.model.nginx().upstreams(view.model) {
        if only_sockets(upstream) || upstream.own("keepalive").len() > 0 {
            continue;
        }
        let keeps = |pass: &Pass| matches!(pass.protocol, Protocol::Http | Protocol::Grpc | Protocol::Memcached);
        let all: Vec<usize> = view.passes_to(upstream).iter().copied().filter(|&pass| keeps(view.pass(pass))).collect();
        let here: Vec<&Affected<'_>> = all.iter().filter_map(|pass| affected.get(pass)).collect();
        let Some(first) = here.first() else { continue };
        let fix = patch::add_pool(view, upstream, &Group::new(view, all));
        let name = name_of(upstream);
        let message = format!(
            "the upstream `{name}` has no `keepalive`, so every request opens a TCP connection: each holds a local port for \
             60 s, and from about 470 requests a second to one server on nginx answers 502. Add `keepalive` with \
             `proxy_http_version 1.1` and an empty `Connection`"
        );
        let limited = limited(cx, &first.versions);
        let report = cx.report(upstream, upstream.head(), message);
        report.versions = limited;
        label_all(report, &places(here.iter().map(|one| view.node(one.pass.node))), "passes to it");
        if let Some(one) = here.iter().find(|one| lost_line(view.node(one.pass.node)).is_some()) {
            label_lost(report, view.node(one.pass.node));
        }
        label_subrequest(report, view.node(first.pass.node));
        offer(report, fix);
    }
}

/// `keepalive` in front of the balancing method.
pub(super) fn discarded(cx: &mut Cx<'_>, view: View<'_>) {
    let versions = view.versions(|facts| facts.implicit.is_none());
    if versions.is_empty() {
        return;
    }
    for upstream in view.model.nginx().upstreams(view.model) {
        let Some(keepalive) = upstream.own("keepalive").next() else { continue };
        let Some(method) = method_behind(upstream, keepalive) else { continue };
        let method_name = lossy(method.name());
        let message = format!(
            "`{method_name}` behind `{}` discards the pool of the upstream `{}`: nginx warns \"load balancing method \
             redefined\" and keeps no connection. Write `keepalive` last",
            shown(keepalive),
            name_of(upstream)
        );
        let limited = limited(cx, &versions);
        let report = cx.report(method, method.head(), message);
        report.versions = limited;
        report.label(keepalive.head(), "the pool that is discarded");
        if let Some(edits) = layout::move_to_end(keepalive, upstream) {
            report.fix(Fix::safe("move `keepalive` to the end of the upstream", edits.to_vec()));
        }
    }
}

/// `keepalive 0` and `keepalive N local`, which versions before 1.29.7 refuse.
pub(super) fn refused(cx: &mut Cx<'_>, view: View<'_>) {
    let versions = view.versions(|facts| facts.implicit.is_none());
    if versions.is_empty() {
        return;
    }
    for keepalive in view.model.named("keepalive").filter(|line| line.context() == Context::Upstream) {
        let error = match (keepalive.value(0), keepalive.value(1)) {
            (Some(b"0"), _) => "invalid value \"0\"",
            (_, Some(b"local")) => "invalid number of arguments",
            _ => continue,
        };
        let text = shown(keepalive);
        let message =
            format!("nginx before 1.29.7 refuses `{text}` and does not start: {error} in \"keepalive\" directive");
        let limited = limited(cx, &versions);
        cx.report(keepalive, keepalive.head(), message).versions = limited;
    }
}

/// `keepalive 0`: reuse is switched off.
pub(super) fn zero(cx: &mut Cx<'_>, view: View<'_>) {
    let versions = view.versions(|facts| facts.implicit.is_some());
    if versions.is_empty() {
        return;
    }
    for upstream in view.model.nginx().upstreams(view.model) {
        let Some(keepalive) = upstream.own("keepalive").next().filter(|line| line.value(0) == Some(b"0")) else {
            continue;
        };
        let passes = view.passes_to(upstream);
        if passes.is_empty() || passes.iter().any(|&pass| is_meant(view.node(view.pass(pass).node))) {
            continue;
        }
        let message = format!(
            "`keepalive 0` switches reuse off for the upstream `{}`: every request opens a TCP connection, and each holds a \
             local port for 60 s",
            name_of(upstream)
        );
        let limited = limited(cx, &versions);
        let report = cx.report(keepalive, keepalive.head(), message);
        report.versions = limited;
        label_all(report, &places(passes.iter().map(|&pass| view.node(view.pass(pass).node))), "passes to it");
    }
}

/// Whether the location itself asks for a connection per request.
fn is_meant(pass: Node<'_>) -> bool {
    let level = pass.level();
    let closes = |line: Node<'_>| line.value(1).is_some_and(|value| value.eq_ignore_ascii_case(b"close"));
    level.value("proxy_http_version") == Some(b"1.0") || connection_lines(level).any(closes)
}

/// `keepalive` below what can be used.
pub(super) fn too_small(cx: &mut Cx<'_>, view: View<'_>) {
    for upstream in view.model.nginx().upstreams(view.model) {
        let Some(keepalive) = upstream.own("keepalive").next() else { continue };
        let Some(word) = keepalive.arg(0) else { continue };
        let Some(pool) = places_of(upstream).filter(|pool| *pool > 0) else { continue };
        if view.passes_to(upstream).is_empty() {
            continue;
        }
        let servers = servers(upstream);
        let share = cx.settings.peak_concurrency.and_then(|peak| Some(peak.div_ceil(workers(view)?)));
        let (needed, why) = match share {
            Some(share) if pool < share => (
                share.max(servers),
                format!(
                    "at the stated peak each worker has {share} requests open at once, and what does not fit is closed"
                ),
            ),
            _ if pool < servers => (servers, format!("its {servers} servers take the places from each other")),
            _ => continue,
        };
        let message = format!(
            "`keepalive {pool}` is too small for the upstream `{}`: {why}, so connections are opened anew. Write at least \
             `keepalive {needed}`",
            name_of(upstream)
        );
        let change =
            format!("up to {needed} idle connections for each worker stay open at the backends instead of {pool}");
        let edit = Edit::replace(word.span(), needed.to_string());
        let report = cx.report(keepalive, keepalive.head(), message);
        report.fix(Fix::risky(format!("raise the pool to {needed}"), vec![edit], change));
    }
}

/// The number of worker processes; unknown for `auto`.
fn workers(view: View<'_>) -> Option<u32> {
    match view.model.top().value("worker_processes") {
        None => Some(1),
        Some(value) => std::str::from_utf8(value).ok()?.parse().ok().filter(|count| *count > 0),
    }
}

/// More locations on one implicit pool than it has places.
pub(super) fn shared_by_many(cx: &mut Cx<'_>, view: View<'_>) {
    let versions = view.versions(|facts| facts.implicit.is_some());
    if versions.is_empty() {
        return;
    }
    for upstream in view.model.nginx().upstreams(view.model).filter(|upstream| upstream.own("keepalive").len() == 0) {
        let passes = view.passes_to(upstream);
        if passes.len() < LOCATIONS_THAT_EVICT {
            continue;
        }
        let message = format!(
            "{} locations share the 32 places that the upstream `{}` has by default, each with connections of its own: used in \
             turn they reuse none. Write `keepalive 32;`, which all locations share",
            passes.len(),
            name_of(upstream)
        );
        let group = Group::new(view, passes.iter().copied());
        let fix = patch::add_pool(view, upstream, &group).map(|mut fix| {
            fix.safety = crate::fix::Safety::Unsafe;
            fix.changes.insert(
                0,
                "connections are shared between locations, whatever their TLS name or source address".to_owned(),
            );
            fix
        });
        let limited = limited(cx, &versions);
        let report = cx.report(upstream, upstream.head(), message);
        report.versions = limited;
        offer(report, fix);
    }
}

/// Settings of a pool that is not there.
pub(super) fn tuning_without_pool(cx: &mut Cx<'_>, view: View<'_>) {
    let versions: VersionSet = view.versions(|facts| facts.implicit.is_none());
    if versions.is_empty() {
        return;
    }
    for upstream in view.model.nginx().upstreams(view.model).filter(|upstream| upstream.own("keepalive").len() == 0) {
        for name in ["keepalive_requests", "keepalive_time", "keepalive_timeout"] {
            for line in upstream.own(name) {
                let message = format!(
                    "`{}` has no effect: the upstream `{}` has no `keepalive`, so there is no pool to tune",
                    shown(line),
                    name_of(upstream)
                );
                let limited = limited(cx, &versions);
                cx.report(line, line.head(), message).versions = limited;
            }
        }
    }
}
