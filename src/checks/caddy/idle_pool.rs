//! Is the pool of idle connections to a backend as large as the load on it?

use crate::checks::caddy::pool_fix::{self, OPTION};
use crate::checks::{Check, Cx, Report, Run};
use crate::fix::Fix;
use crate::model::caddy::options::Setting;
use crate::model::caddy::pool::{DEFAULT, Number, PIVOTS, Pool, Written};
use crate::model::caddy::proxy::{Proxy, Transport};
use crate::model::{Model, Node};
use crate::source::Span;
use crate::version::{Server, Version, VersionSet};

/// The pool is smaller than the stated peak, or than the default by its own line.
pub static UNDERSIZED: Check =
    Check { name: "caddy/idle-pool-undersized", run: Run::Model(|cx| each(cx, Fault::Undersized)) };

/// Nothing is written and nothing stated: the default holds.
pub static DEFAULT_HOLDS: Check =
    Check { name: "caddy/idle-pool-default", run: Run::Model(|cx| each(cx, Fault::Default)) };

/// Another option takes the default away.
pub static DEFAULT_LOST: Check =
    Check { name: "caddy/idle-pool-default-lost", run: Run::Model(|cx| each(cx, Fault::DefaultLost)) };

/// The limit over all addresses is below what each may keep.
pub static CAPPED: Check = Check { name: "caddy/idle-pool-capped", run: Run::Model(|cx| each(cx, Fault::Capped)) };

/// A negative number keeps nothing.
pub static NEGATIVE: Check =
    Check { name: "caddy/idle-pool-negative", run: Run::Model(|cx| each(cx, Fault::Negative)) };

/// `keepalive off`.
pub static OFF: Check = Check { name: "caddy/keepalive-off", run: Run::Model(|cx| each(cx, Fault::Off)) };

/// What a fix writes where no peak is stated.
const ASSUMED_PEAK: u32 = 128;

/// What can be wrong with a pool. At most one of them is said of a proxy, besides `Capped`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Undersized,
    Default,
    DefaultLost,
    Capped,
    Negative,
    Off,
}

/// One proxy with what the checks ask of it.
struct Case<'a> {
    model: &'a Model,
    proxy: &'a Proxy,
    written: &'a Written,
    peak: Option<u32>,
    target: &'a VersionSet,
    classes: &'a [(Version, VersionSet)],
}

/// Reports every proxy with that fault.
fn each(cx: &mut Cx<'_>, fault: Fault) {
    let (model, target, peak) = (cx.model, cx.target, cx.settings.peak_concurrency);
    let classes = classes(target);
    for proxy in model.caddy().proxies() {
        let Transport::Http(written) = &proxy.transport else { continue };
        let case = Case { model, proxy, written, peak, target, classes: &classes };
        let versions = case.versions(fault);
        if !versions.is_empty() {
            case.report(cx, fault, versions);
        }
    }
}

/// The versions of the target that treat every pool alike, with one of them for each.
fn classes(target: &VersionSet) -> Vec<(Version, VersionSet)> {
    let mut classes: Vec<Vec<Version>> = vec![Vec::new(); PIVOTS.len() + 1];
    for version in target.members(Server::Caddy) {
        classes[PIVOTS.iter().filter(|pivot| version >= **pivot).count()].push(version);
    }
    let class = |versions: Vec<Version>| Some((*versions.last()?, VersionSet::of(Server::Caddy, versions)));
    classes.into_iter().filter_map(class).collect()
}

impl Case<'_> {
    /// The versions of the target for which the fault is the one to be said.
    fn versions(&self, fault: Fault) -> VersionSet {
        let found = |version: Version| self.fault(version);
        // Where the default is lost on some versions, that is the thing to mend for all.
        let wider = matches!(fault, Fault::Default | Fault::Undersized);
        if wider && self.classes.iter().any(|(version, _)| found(*version) == Some(Fault::DefaultLost)) {
            return VersionSet::none();
        }
        let holds = |version: Version| match fault {
            Fault::Capped => self.is_capped(version),
            _ => found(version) == Some(fault),
        };
        let classes = self.classes.iter().filter(|(version, _)| holds(*version));
        classes.fold(VersionSet::none(), |set, (_, versions)| set.union(versions))
    }

    fn fault(&self, version: Version) -> Option<Fault> {
        if self.proxy.count() == Some(0) {
            return None;
        }
        let kept = match self.proxy.pool(version) {
            Pool::Off => return Some(Fault::Off),
            Pool::Keeps(kept) => kept,
            Pool::NoMatter | Pool::Unknown => return None,
        };
        if matches!(self.written.per_host, Some(Number::Known(number)) if number < 0) {
            return Some(Fault::Negative);
        }
        if self.written.connection_limit().is_some_and(|limit| limit <= kept) {
            return None;
        }
        if self.written.loses_default(version) {
            return Some(Fault::DefaultLost);
        }
        match (self.peak, self.needed()) {
            (Some(_), Some(needed)) => (kept < needed).then_some(Fault::Undersized),
            (Some(peak), None) => (kept < DEFAULT.min(peak)).then_some(Fault::Undersized),
            (None, _) if kept < DEFAULT => Some(Fault::Undersized),
            (None, _) if kept == DEFAULT && !matches!(self.written.per_host, Some(Number::Known(32))) => {
                Some(Fault::Default)
            }
            (None, _) => None,
        }
    }

    /// The peak for each address, where it is stated and their number is known.
    fn needed(&self) -> Option<u32> {
        let count = self.proxy.count()?.max(1);
        let peak = self.peak?;
        Some(if self.proxy.balanced { peak.div_ceil(count) } else { peak })
    }

    fn is_capped(&self, version: Version) -> bool {
        let (Pool::Keeps(kept), Some(Number::Known(total))) = (self.proxy.pool(version), self.written.total_limit())
        else {
            return false;
        };
        let Some(all) = self.all_kept(kept) else { return false };
        let peak = self.peak.unwrap_or(ASSUMED_PEAK);
        total > 0 && total < i64::from(all) && total < i64::from(peak)
    }

    /// What all addresses together may keep.
    fn all_kept(&self, kept: u32) -> Option<u32> {
        self.proxy.count().map(|count| kept.saturating_mul(count)).filter(|all| *all > 0)
    }

    fn report(&self, cx: &mut Cx<'_>, fault: Fault, versions: VersionSet) {
        let (node, span) = self.place(fault);
        let newest = versions.members(Server::Caddy).last();
        let kept = newest.map_or(DEFAULT, |version| match self.proxy.pool(version) {
            Pool::Keeps(kept) => kept,
            _ => 0,
        });
        let message = self.message(fault, kept);
        let fix = self.fix(fault, kept);
        let report = cx.report(node, span, message).versions(versions);
        offer(report, fix);
    }

    /// The option that a fault is about, else the transport if it is a text of its own, else the proxy.
    fn place(&self, fault: Fault) -> (Node<'_>, Span) {
        let node = self.model.node(self.proxy.node);
        let Some((transport, settings)) = self.proxy.transport_settings(self.model) else { return (node, node.head()) };
        let names: &[&str] = match fault {
            Fault::Undersized | Fault::Negative | Fault::Default => &[OPTION],
            Fault::DefaultLost => &["keepalive", "keepalive_idle_conns", "keepalive_interval"],
            Fault::Capped => &["keepalive_idle_conns"],
            Fault::Off => &["keepalive"],
        };
        let found = names.iter().find_map(|name| settings.iter().rfind(|setting| setting.is(name)));
        match found {
            Some(setting) => (setting.line, span_of(setting)),
            None if transport.line.chain_id() != node.chain_id() => (transport.line, transport.line.head()),
            None => (node, node.head()),
        }
    }

    fn message(&self, fault: Fault, kept: u32) -> String {
        let unless = if self.proxy.may_be_http2() { ", unless the backend speaks HTTP/2" } else { "" };
        let churn = "closed after a request and opened again for the next";
        match (fault, self.peak) {
            (Fault::Default, _) => format!(
                "Caddy keeps {kept} idle connections to each backend: with more concurrent requests, connections are \
                 {churn}{unless}. Raise `{OPTION}` to the number of concurrent requests."
            ),
            (Fault::Undersized, Some(peak)) => format!(
                "Caddy keeps {kept} idle connections to each backend, but {} concurrent requests are expected{}: \
                 connections are {churn}{unless}",
                self.needed().unwrap_or(peak),
                if self.needed().is_some_and(|needed| needed < peak) { " at each" } else { "" },
            ),
            (Fault::Undersized, None) => format!(
                "only {kept} idle connections are kept to each backend, less than the default of {DEFAULT}: with more \
                 concurrent requests, connections are {churn}{unless}"
            ),
            (Fault::DefaultLost, _) => format!(
                "without `{OPTION}` this option drops the pool from {DEFAULT} idle connections to {kept} on \
                 {{versions}}: connections are {churn}"
            ),
            (Fault::Capped, _) => format!(
                "this limit over all backends is below the {} idle connections that they may keep: connections are \
                 {churn}{unless}",
                self.all_kept(kept).unwrap_or(kept)
            ),
            (Fault::Negative, _) => {
                format!("a negative `{OPTION}` keeps no connection: every request opens a new one to the backend")
            }
            (Fault::Off, _) => "`keepalive off` opens a new connection to the backend for each request".to_owned(),
        }
    }

    fn fix(&self, fault: Fault, kept: u32) -> Option<Result<Fix, String>> {
        let wanted = self.peak.unwrap_or(ASSUMED_PEAK);
        match fault {
            Fault::Undersized | Fault::Default => Some(self.keep(wanted)),
            Fault::DefaultLost => Some(self.keep(self.peak.unwrap_or(DEFAULT))),
            Fault::Capped => Some(self.raise_limit(self.all_kept(kept)?.max(self.peak.unwrap_or(0)))),
            Fault::Negative => Some(self.keep(wanted).map(|fix| {
                Fix::risky(fix.title, fix.edits, "idle connections are kept at all, where none was before")
            })),
            Fault::Off => None,
        }
    }

    fn keep(&self, number: u32) -> Result<Fix, String> {
        pool_fix::keep(self.model, self.proxy, number, self.target)
    }

    fn raise_limit(&self, number: u32) -> Result<Fix, String> {
        let settings = self.proxy.transport_settings(self.model).map(|(_, settings)| settings).unwrap_or_default();
        let limit = settings.iter().rfind(|setting| setting.is("keepalive_idle_conns"));
        let limit = limit.ok_or("the limit is written elsewhere")?;
        let edit = pool_fix::replace_number(limit, number)?;
        Ok(Fix::safe(format!("keep {number} idle connections to all backends together"), vec![edit]))
    }
}

fn span_of(setting: &Setting<'_>) -> Span {
    let (first, last) = (setting.name.span(), setting.args.last().map_or(setting.name.span(), |word| word.span()));
    if first.file == last.file { first.to(last) } else { first }
}

fn offer(report: &mut Report, fix: Option<Result<Fix, String>>) {
    match fix {
        Some(Ok(fix)) => {
            report.fix(fix);
        }
        Some(Err(reason)) => {
            report.note(format!("no fix: {reason}"));
        }
        None => {}
    }
}
