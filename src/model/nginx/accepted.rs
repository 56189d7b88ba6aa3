//! Which versions accept a configuration.

use crate::catalog::nginx::{Usage, accepted_by, depends_on_version};
use crate::model::{Model, Node};
use crate::version::{Server, VersionSet};

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
    accepted
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
            ("http { server_name_in_redirect on; keepalive 0; }", ">=1.18.0"),
        ];
        for (text, versions) in cases {
            assert_eq!(accepted_of(text), VersionSet::parse(versions).unwrap(), "{text}");
        }
        assert!(accepted_of("http { server { ssl on; http2 on; } }").is_empty());
        assert!(accepted_of("http { limit_zone a $b 1m; }").is_empty());
    }
}
