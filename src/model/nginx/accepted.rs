//! Which versions accept a configuration.

use foldhash::HashSet;

use super::expressions;
use crate::catalog::nginx::{self as catalog, Area, Usage, Variable, accepted_by, depends_on_version};
use crate::model::{Model, Node, Word};
use crate::version::{Server, Version, VersionSet};

/// The versions among `candidates` that refuse no directive, place or parameter that the configuration uses.
/// Empty only where it uses things that never were in one version together; names that are unknown or of
/// third-party modules rule nothing out.
pub(super) fn accepted(model: &Model, candidates: &VersionSet) -> VersionSet {
    let floor = candidates.members(Server::Nginx).next().unwrap_or(Server::Nginx.assumed_floor());
    let mut accepted = candidates.clone();
    let mut args = Vec::new();
    let depends = |lines: &mut dyn Iterator<Item = Node<'_>>| {
        lines.next().is_some_and(|node| depends_on_version(node.directives(), floor))
    };
    let names = model.names().filter(|lines| depends(&mut lines.clone()));
    for node in names.flatten() {
        args.clear();
        args.extend(node.args().map(crate::model::Word::value));
        let by = accepted_by(Usage { context: node.context(), name: node.name(), args: &args });
        if by != VersionSet::all() {
            accepted = accepted.intersection(&by);
        }
    }
    variables(model, floor).into_iter().fold(accepted, |accepted, by| accepted.intersection(&by))
}

/// For every variable in use that nginx does not have since `floor`, and that nothing here gives, the versions that
/// have it.
fn variables(model: &Model, floor: Version) -> Vec<VersionSet> {
    let is_stream = model.root_context().area() == Area::Stream || model.named("stream").len() > 0;
    let since = |v: &&Variable| (v.area == Area::Http || is_stream) && !v.versions.contains(floor);
    let newer: Vec<&Variable> = catalog::variables().iter().filter(since).collect();
    let exact: HashSet<&[u8]> = newer.iter().filter(|v| !v.family).map(|v| v.name.as_bytes()).collect();
    let families: Vec<&[u8]> = newer.iter().filter(|v| v.family).map(|v| v.name.as_bytes()).collect();
    let is_newer = |name: &&[u8]| exact.contains(name) || families.iter().any(|family| name.starts_with(family));
    // Few files have such a name, and their directives need no look then.
    if !model.sources().iter().any(|(_, file)| expressions::names(file.bytes()).any(|name| is_newer(&name))) {
        return Vec::new();
    }
    let mut found: HashSet<(Area, &[u8])> = HashSet::default();
    for node in model.nodes() {
        for (index, word) in node.args().enumerate().filter(|(_, word)| word.value().contains(&b'$')) {
            let names = expressions::names(word.value()).filter(is_newer);
            found.extend(names.filter(|_| expressions::holds_variables(node, index, word)).map(|n| (area(node), n)));
        }
    }
    let own = found.into_iter().filter(|(_, name)| !is_given(model, name));
    own.filter_map(|(area, name)| catalog::variable(name, area)).map(|variable| variable.versions.clone()).collect()
}

/// The area that a directive belongs to; entries of a block belong to that of the block.
fn area(node: Node<'_>) -> Area {
    let outer = node.ancestors().map(|outer| outer.context().area());
    std::iter::once(node.context().area()).chain(outer).find(|area| *area != Area::Core).unwrap_or(Area::Core)
}

/// Whether the configuration gives a value to a variable itself.
fn is_given(model: &Model, name: &[u8]) -> bool {
    let is = |word: Option<Word<'_>>| word.is_some_and(|word| word.value().strip_prefix(b"$") == Some(name));
    let last = ["map", "geo", "split_clients"].iter().flat_map(|name| model.named(name));
    let first = ["set", "auth_request_set", "perl_set", "js_set", "js_var"].iter().flat_map(|name| model.named(name));
    let given = last.map(|node| node.args().last()).chain(first.map(|node| node.arg(0)));
    let mut given = given.chain(model.named("keyval").map(|node| node.arg(1)));
    let group = [b"<", name, b">"].concat();
    given.any(is) || model.sources().iter().any(|(_, file)| memchr::memmem::find(file.bytes(), &group).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;
    use crate::model::include::{Loader, PathMap, Root};

    fn accepted_of(text: &str) -> VersionSet {
        let mut files = Memory::new();
        files.insert("/nginx.conf", text.as_bytes());
        let model = Loader::new("/nginx.conf", Root::Implied, PathMap::default()).load(&files).unwrap();
        model.nginx().accepted_by(&model, &VersionSet::since(Server::Nginx.assumed_floor()))
    }

    #[test]
    fn each_use_narrows_and_unknown_names_do_not() {
        let cases = [
            ("http { server { listen 80; } }", ">=1.18.0"),
            ("http { server { listen 443 ssl; http2 on; } }", ">=1.25.1"),
            ("http { server { ssl on; spdy_chunk_size 8k; } }", "<1.19.7, >=1.18.0"),
            ("http { upstream a { server b; keepalive 0; } }", ">=1.29.7"),
            ("http { upstream a { keepalive 16; server b resolve; zone z 64k; } }", ">=1.27.3"),
            ("http { more_set_headers x; brotli on; no_such_thing on; }", ">=1.18.0"),
            ("http { map $a $b { http2 on; } types { keepalive 0; } }", ">=1.18.0"),
            ("stream { server { listen 1; proxy_protocol v2; } }", ">=1.31.4"),
            ("server { http3 on; location / { proxy_http_version 2; } }", ">=1.29.4"),
            ("http { log_format a $request_port; }", ">=1.29.3"),
            ("http { map $host $request_port { } log_format a $request_port; }", ">=1.18.0"),
            ("http { map $is_request_port $x { default ''; } }", ">=1.29.3"),
            ("http { log_format a $proxy_protocol_tlv_alpn$server_name; }", ">=1.23.2"),
            ("stream { log_format a $server_name; }", ">=1.25.5"),
            ("http { server { location ~ ^/(?<request_port>x) { return 200 $request_port; } } }", ">=1.18.0"),
            ("http { server_name_in_redirect on; keepalive 0; }", ">=1.18.0"),
        ];
        for (text, versions) in cases {
            assert_eq!(accepted_of(text), VersionSet::parse(versions).unwrap(), "{text}");
        }
        assert!(accepted_of("http { server { ssl on; http2 on; } }").is_empty());
        assert!(accepted_of("http { limit_zone a $b 1m; }").is_empty());
    }
}
