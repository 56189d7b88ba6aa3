//! Names that are used and nobody defines, and names that are defined and nobody uses.

use foldhash::{HashMap, HashSet};
use std::collections::BTreeMap;

use super::scope::Scope;
use super::{address, pass_target};
use crate::catalog::nginx::{Area, Context};
use crate::checks::{Check, Cx, Run};
use crate::fix::{Edit, Fix};
use crate::model::nginx::Backend;
use crate::model::{Model, Node, NodeId, Word};
use crate::suggest;

/// Names without a definition, definitions without a use; the parameter `kind` says which.
pub static CHECK: Check = Check { name: "nginx/references", run: Run::Model(report) };

fn report(cx: &mut Cx<'_>) {
    match cx.params.text("kind") {
        Some("undefined") => {
            undefined_zones(cx);
            undefined_formats(cx);
            undefined_locations(cx);
            backends_without_port(cx);
            misspelt_upstreams(cx);
        }
        Some("unused") => unused(cx, |kind| kind != Kind::LimitZone),
        Some("limit-zone") => unused(cx, |kind| kind == Kind::LimitZone),
        _ => {}
    }
}

/// A pair of directives: one gives a name to shared memory, the other uses it.
struct Zone {
    area: Area,
    defines: &'static str,
    /// What stands in front of the name in the definition.
    key: &'static str,
    uses: &'static str,
    /// What stands in front of the name in the use; empty where it is the first argument.
    by: &'static str,
}

const ZONES: [Zone; 7] = [
    Zone { area: Area::Http, defines: "limit_req_zone", key: "zone=", uses: "limit_req", by: "zone=" },
    Zone { area: Area::Http, defines: "limit_conn_zone", key: "zone=", uses: "limit_conn", by: "" },
    Zone { area: Area::Stream, defines: "limit_conn_zone", key: "zone=", uses: "limit_conn", by: "" },
    Zone { area: Area::Http, defines: "proxy_cache_path", key: "keys_zone=", uses: "proxy_cache", by: "" },
    Zone { area: Area::Http, defines: "fastcgi_cache_path", key: "keys_zone=", uses: "fastcgi_cache", by: "" },
    Zone { area: Area::Http, defines: "uwsgi_cache_path", key: "keys_zone=", uses: "uwsgi_cache", by: "" },
    Zone { area: Area::Http, defines: "scgi_cache_path", key: "keys_zone=", uses: "scgi_cache", by: "" },
];

impl Zone {
    fn definitions<'m>(&self, model: &'m Model) -> Vec<(Node<'m>, Word<'m>, &'m [u8])> {
        let area = self.area;
        let lines = model.named(self.defines).filter(move |node| node.context().area() == area);
        lines.filter_map(|node| node.args().find_map(|word| Some((node, word, self.defined(word)?)))).collect()
    }

    fn defined<'m>(&self, word: Word<'m>) -> Option<&'m [u8]> {
        let zone = word.value().strip_prefix(self.key.as_bytes())?;
        Some(&zone[..memchr::memchr(b':', zone).unwrap_or(zone.len())])
    }

    fn used<'m>(&self, node: Node<'m>) -> Option<(Word<'m>, &'m [u8])> {
        if self.by.is_empty() {
            let word = node.arg(0)?;
            return Some((word, word.value()));
        }
        node.args().find_map(|word| Some((word, word.value().strip_prefix(self.by.as_bytes())?)))
    }
}

fn undefined_zones(cx: &mut Cx<'_>) {
    let model = cx.model;
    if !Scope::of(cx).includes_are_complete() {
        return;
    }
    for zone in &ZONES {
        let known: HashSet<&[u8]> = zone.definitions(model).into_iter().map(|(.., name)| name).collect();
        for line in model.named(zone.uses).filter(|node| node.context().area() == zone.area) {
            let Some((word, name)) = zone.used(line) else { continue };
            if name.contains(&b'$') || name == b"off" || known.contains(name) {
                continue;
            }
            let message = format!(
                "no `{}` defines the zone `{}`: nginx refuses the file",
                zone.defines,
                String::from_utf8_lossy(name)
            );
            undefined(cx, line, word, name, &known, message);
        }
    }
}

/// Reports a name, and offers the one that is near.
fn undefined(cx: &mut Cx<'_>, line: Node<'_>, word: Word<'_>, name: &[u8], known: &HashSet<&[u8]>, message: String) {
    let text = String::from_utf8_lossy(name);
    let mut names: Vec<&str> = known.iter().filter_map(|name| std::str::from_utf8(name).ok()).collect();
    names.sort_unstable();
    let near = suggest::near(&text, names);
    let hint = near.first().map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let report = cx.report(line, word.span(), message + &hint);
    if let ([near], true) = (near.as_slice(), plain(word)) {
        let prefix = &word.value()[..word.value().len() - name.len()];
        let new = format!("{}{near}", String::from_utf8_lossy(prefix));
        let change = format!("`{near}` is used, if that is what was meant");
        report.fix(Fix::risky(format!("write `{near}`"), vec![Edit::replace(word.span(), new)], change));
    }
}

/// Whether a word stands in the file as it is, without quotes and escapes.
fn plain(word: Word<'_>) -> bool {
    word.raw() == word.value()
}

/// `access_log` with a format that no `log_format` above it defines.
fn undefined_formats(cx: &mut Cx<'_>) {
    let model = cx.model;
    if !Scope::of(cx).includes_are_complete() {
        return;
    }
    for area in [Area::Http, Area::Stream] {
        let here = |node: &Node<'_>| node.context().area() == area;
        let mut first: BTreeMap<Vec<u8>, Node<'_>> = BTreeMap::new();
        for line in model.named("log_format").filter(here) {
            let Some(name) = line.value(0) else { continue };
            let slot = first.entry(name.to_ascii_lowercase()).or_insert(line);
            if line.id() < slot.id() {
                *slot = line;
            }
        }
        let known: HashSet<&[u8]> = first.values().filter_map(|line| line.value(0)).collect();
        for line in model.named("access_log").filter(here) {
            let Some(word) = line.arg(1).filter(|_| !line.arg(0).is_some_and(|path| path.is("off"))) else { continue };
            let name = word.value().to_ascii_lowercase();
            if name == b"combined" && area == Area::Http {
                continue;
            }
            let shown = word.text();
            match first.get(&name) {
                None => {
                    let message = format!("no `log_format` defines `{shown}`: nginx refuses the file");
                    undefined(cx, line, word, word.value(), &known, message);
                }
                Some(format) if format.id() > line.id() => {
                    let message = format!(
                        "`log_format {shown}` stands below this line: nginx reads from the top and refuses the file"
                    );
                    cx.report(line, word.span(), message).label(format.head(), "the format");
                }
                Some(_) => {}
            }
        }
    }
}

/// `@name` that the server does not have.
fn undefined_locations(cx: &mut Cx<'_>) {
    let model = cx.model;
    let scope = Scope::of(cx);
    let mut named: HashMap<NodeId, HashSet<&[u8]>> = HashMap::default();
    for name in ["error_page", "try_files"] {
        for line in model.named(name) {
            let Some(word) = line.args().last().filter(|word| word.value().starts_with(b"@")) else { continue };
            let Some(server) = line.ancestors().find(|node| node.is("server")) else { continue };
            if line.context().area() != Area::Http || word.value().contains(&b'$') {
                continue;
            }
            let level = server.inside();
            if !scope.is_level_closed(level) {
                continue;
            }
            let known = named.entry(server.id()).or_insert_with(|| {
                level.own("location").filter_map(|node| node.value(0)).filter(|name| name.starts_with(b"@")).collect()
            });
            if !known.contains(word.value()) {
                let message = format!(
                    "this server has no `location {}`: each request that is sent there is answered with 500",
                    word.text()
                );
                undefined(cx, line, word, word.value(), known, message);
            }
        }
    }
}

/// A backend without a port that is no upstream, for protocols without a port of their own.
fn backends_without_port(cx: &mut Cx<'_>) {
    let model = cx.model;
    if !Scope::of(cx).includes_are_complete() {
        return;
    }
    let stream = |node: &Node<'_>| node.context() == Context::Stream;
    let of_stream: HashSet<Vec<u8>> = model
        .named("upstream")
        .filter(stream)
        .filter_map(|node| node.value(0))
        .map(<[u8]>::to_ascii_lowercase)
        .collect();
    for name in pass_target::PASSES.into_iter().chain(["tunnel_pass"]) {
        for line in model.named(name) {
            let Some(word) = line.arg(0).filter(|word| !word.value().contains(&b'$')) else { continue };
            let url = match (line.context().area(), name) {
                (Area::Http, "proxy_pass") => continue,
                (Area::Http, _) => pass_target::literal(line, word).map(|(url, _)| url),
                (Area::Stream, _) => address::parse(word.value(), address::Form::default()).ok(),
                _ => continue,
            };
            let Some(url) = url.filter(|url| !url.unix && url.port.is_none()) else { continue };
            let known = match line.context().area() {
                Area::Stream => of_stream.contains(&url.host.to_ascii_lowercase()),
                _ => model.nginx().upstream(model, url.host).is_some(),
            };
            if !known {
                let host = String::from_utf8_lossy(url.host);
                let message = format!(
                    "no `upstream` is called `{host}`, and `{name}` to a host needs a port: nginx refuses the file"
                );
                cx.report(line, word.span(), message);
            }
        }
    }
}

/// A backend of one label that is nearly the name of an upstream.
fn misspelt_upstreams(cx: &mut Cx<'_>) {
    const SHORTEST: usize = 5;
    let model = cx.model;
    let view = model.nginx();
    let names: Vec<String> =
        view.upstreams(model).filter_map(|node| node.arg(0)).map(|word| word.text().into_owned()).collect();
    for name in ["proxy_pass", "grpc_pass", "fastcgi_pass", "uwsgi_pass", "scgi_pass", "memcached_pass"] {
        for line in model.named(name).filter(|node| node.context().area() == Area::Http) {
            let Some(word) = line.arg(0) else { continue };
            let value = word.text();
            let host = value.split_once("://").map_or(&*value, |(_, rest)| rest).split('/').next().unwrap_or_default();
            let single = host.len() >= SHORTEST && !host.contains(['.', ':', '$', '[']) && host != "localhost";
            if !single || view.upstream(model, host.as_bytes()).is_some() {
                continue;
            }
            let letters = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
            let near = names.iter().find(|known| {
                strsim::osa_distance(host, known) <= 2 && letters(host) != letters(known) && known.len() >= SHORTEST
            });
            if let Some(near) = near {
                let message = format!(
                    "no `upstream` is called `{host}`, but one is called `{near}`: nginx looks for a host of that name"
                );
                let report = cx.report(line, word.span(), message);
                if plain(word) {
                    let new = value.replacen(host, near, 1);
                    let change = format!("requests go to the upstream `{near}`");
                    report.fix(Fix::risky(format!("pass to `{near}`"), vec![Edit::replace(word.span(), new)], change));
                }
            }
        }
    }
}

/// What can be defined and not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Upstream,
    Cache,
    LimitZone,
    Format,
    Variable,
    Location,
}

/// A name that something gives.
struct Definition<'m> {
    kind: Kind,
    line: Node<'m>,
    word: Word<'m>,
    name: Vec<u8>,
}

fn unused(cx: &mut Cx<'_>, wanted: impl Fn(Kind) -> bool) {
    let model = cx.model;
    if !Scope::of(cx).is_closed() {
        return;
    }
    let used = cx.shared.get(|| NamesUsed::new(model));
    let zones = zones_used(model);
    // A pass whose target nobody can tell may lead to any upstream.
    let anywhere = model.nginx().passes(model).iter().any(|pass| pass.backends.contains(&Backend::Unknown));
    for definition in definitions(model).into_iter().filter(|definition| wanted(definition.kind)) {
        let is_used = match definition.kind {
            Kind::Cache | Kind::LimitZone => zones.contains(&definition.name) || zones.contains(ANY),
            Kind::Upstream => anywhere || used.0.contains(&definition.name),
            _ => used.0.contains(&definition.name),
        };
        if is_used {
            continue;
        }
        let name = definition.word.text();
        let message = match definition.kind {
            Kind::Upstream => format!("nothing passes to the upstream `{name}`"),
            Kind::Cache => format!("nothing uses the cache `{}`", String::from_utf8_lossy(&definition.name)),
            Kind::LimitZone => format!(
                "nothing uses the zone `{}`: no request is limited by it",
                String::from_utf8_lossy(&definition.name)
            ),
            Kind::Format => format!("no `access_log` uses the format `{name}`"),
            Kind::Variable => format!("nothing uses `{name}`"),
            Kind::Location => format!("nothing leads to `location {name}`"),
        };
        cx.report(definition.line, definition.word.span(), message);
    }
}

fn definitions(model: &Model) -> Vec<Definition<'_>> {
    let mut all = Vec::new();
    let first = |line: Node<'_>| line.value(0).unwrap_or_default().to_ascii_lowercase();
    let http = |node: &Node<'_>| node.context().area() == Area::Http;
    for line in model.named("upstream").filter(|node| node.context() == Context::Http) {
        let Some(word) = line.arg(0) else { continue };
        all.push(Definition { kind: Kind::Upstream, line, word, name: first(line) });
    }
    for line in model.named("log_format").filter(http) {
        let Some(word) = line.arg(0) else { continue };
        all.push(Definition { kind: Kind::Format, line, word, name: first(line) });
    }
    for line in model.named("location").filter(http) {
        let Some(word) = line.arg(0).filter(|word| word.value().starts_with(b"@")) else { continue };
        all.push(Definition { kind: Kind::Location, line, word, name: first(line) });
    }
    for name in ["map", "geo", "split_clients"] {
        for line in model.named(name).filter(http) {
            let Some(word) = line.args().last() else { continue };
            all.push(Definition { kind: Kind::Variable, line, word, name: word.value().to_ascii_lowercase() });
        }
    }
    for zone in ZONES.iter().filter(|zone| zone.area == Area::Http) {
        let kind = if zone.defines.starts_with("limit_") { Kind::LimitZone } else { Kind::Cache };
        for (line, word, name) in zone.definitions(model) {
            all.push(Definition { kind, line, word, name: name.to_ascii_lowercase() });
        }
    }
    all
}

/// Stands for every name: a use whose name is a variable.
const ANY: &[u8] = b"*";

/// The zones that limits and caches use, in small letters.
fn zones_used(model: &Model) -> HashSet<Vec<u8>> {
    let lines = ZONES.iter().flat_map(|zone| model.named(zone.uses).map(move |line| (zone, line)));
    let names = lines.filter_map(|(zone, line)| zone.used(line)).map(|(_, name)| name.to_ascii_lowercase());
    names.map(|name| if name.contains(&b'$') { ANY.to_vec() } else { name }).collect()
}

/// The names among the definitions, in small letters, that arguments use elsewhere: `http://app/x` uses `app`,
/// `$a$b` uses `$a` and `$b`, `zone=one` uses `one`.
struct NamesUsed(HashSet<Vec<u8>>);

impl NamesUsed {
    fn new(model: &Model) -> Self {
        let defined: HashSet<Vec<u8>> = definitions(model).into_iter().map(|definition| definition.name).collect();
        let mut used = Tokens { defined: &defined, used: HashSet::default(), lower: Vec::new() };
        if !defined.is_empty() {
            for node in model.nodes() {
                let defines = defining_word(node);
                // Keys and values of a map are words too, and so is the key itself.
                let words = node.words().enumerate().filter(|(i, _)| Some(*i) != defines);
                words.for_each(|(_, word)| used.take(word.value()));
            }
        }
        Self(used.used)
    }
}

/// The word of a line, from 0, that gives a name.
fn defining_word(node: Node<'_>) -> Option<usize> {
    let key = |key: &[u8]| node.words().position(|word| word.value().starts_with(key));
    match node.name() {
        b"upstream" | b"log_format" => Some(1),
        b"location" if node.value(0).is_some_and(|value| value.starts_with(b"@")) => Some(1),
        b"map" | b"geo" | b"split_clients" => node.args().len().checked_sub(1).map(|last| last + 1),
        b"limit_req_zone" | b"limit_conn_zone" => key(b"zone="),
        name if name.ends_with(b"_cache_path") => key(b"keys_zone="),
        _ => None,
    }
}

/// Finds names in words.
struct Tokens<'d> {
    defined: &'d HashSet<Vec<u8>>,
    used: HashSet<Vec<u8>>,
    /// The word at hand in small letters.
    lower: Vec<u8>,
}

impl Tokens<'_> {
    fn take(&mut self, value: &[u8]) {
        let mut lower = std::mem::take(&mut self.lower);
        lower.clear();
        lower.extend(value.iter().map(u8::to_ascii_lowercase));
        let wide = |b: &u8| !(b.is_ascii_alphanumeric() || matches!(*b, b'_' | b'.' | b'-' | b'@'));
        lower.split(wide).filter(|token| !token.is_empty()).for_each(|token| self.is_used(token));
        for at in memchr::memchr_iter(b'$', &lower) {
            let name = &lower[at + 1..];
            let inside = name.strip_prefix(b"{").unwrap_or(name);
            let end = inside.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
            if inside.len() == name.len() {
                self.is_used(&lower[at..at + 1 + end]);
            } else {
                self.is_used(&[b"$", &inside[..end]].concat());
            }
        }
        self.is_used(&lower);
        self.lower = lower;
    }

    fn is_used(&mut self, name: &[u8]) {
        if self.defined.contains(name) && !self.used.contains(name) {
            self.used.insert(name.to_vec());
        }
    }
}
