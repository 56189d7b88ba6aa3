//! Lists that may be switched off, and settings that exclude each other.

use super::arguments::Wrong;
use super::{Fault, Finder, Line};
use crate::catalog::nginx::Context;
use crate::model::Node;
use crate::syntax::tree::Body;

/// Directives that take a list or `off`, and on one level not both.
const SWITCHED_OFF: [&[u8]; 5] =
    [b"proxy_redirect", b"proxy_cookie_domain", b"proxy_cookie_path", b"proxy_cookie_flags", b"mirror"];

/// `proxy_redirect default` without the `proxy_pass` that it is made from.
pub(super) fn default_redirect(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().next().filter(|word| word.is("default") && line.args().len() == 1)?;
    let pass = line.node.level().own("proxy_pass").find(|pass| pass.id() < line.node.id());
    match pass.and_then(|pass| pass.value(0)) {
        None => {
            Some(Wrong::new(word, "`proxy_redirect default` needs a `proxy_pass` in front of it in the same block"))
        }
        Some(url) if url.contains(&b'$') => {
            Some(Wrong::new(word, "`proxy_redirect default` cannot be made from a `proxy_pass` with variables"))
        }
        Some(_) => None,
    }
}

/// The first line of a name on a level whose lines are sorted by name.
fn named<'m>(level: &[Node<'m>], name: &str) -> Option<Node<'m>> {
    let at = level.partition_point(|line| line.name() < name.as_bytes());
    level.get(at).copied().filter(|line| line.is(name))
}

impl<'m> Finder<'_, 'm> {
    /// `off` beside other lines of a list. `same`: the lines of one name on a level.
    pub(super) fn after_off(&mut self, same: &[Node<'m>]) {
        let off = |line: &Node<'_>| line.args().len() == 1 && line.arg(0).is_some_and(|word| word.is("off"));
        let (Some(first), true) = (same.first(), SWITCHED_OFF.contains(&same[0].name())) else { return };
        let against = |line: &&Node<'m>| off(first) || off(line);
        if let Some(line) = same[1..].iter().find(against) {
            let name = String::from_utf8_lossy(line.name()).into_owned();
            let message = format!("`{name} off` and other lines of it stand in one block: nginx refuses the second");
            self.add(Fault::DuplicateDirective, *line, line.head(), message).label(first.head(), "the first");
        }
    }

    /// A store and a cache for one place. `level`: its lines, sorted by name.
    pub(super) fn stores(&mut self, level: &[Node<'m>]) {
        const FAMILIES: [(&str, &str); 4] = [
            ("proxy_store", "proxy_cache"),
            ("fastcgi_store", "fastcgi_cache"),
            ("uwsgi_store", "uwsgi_cache"),
            ("scgi_store", "scgi_cache"),
        ];
        for (store, cache) in FAMILIES {
            let on = |name: &str| named(level, name).filter(|line| line.value(0) != Some(b"off"));
            let (Some(one), Some(other)) = (on(store), on(cache)) else { continue };
            let (first, second) = if one.id() < other.id() { (one, other) } else { (other, one) };
            let message = format!("`{store}` and `{cache}` stand in one block: nginx refuses the second");
            self.add(Fault::InvalidArguments, second, second.head(), message).label(first.head(), "the first");
        }
    }

    /// The old and the new way to check a link.
    pub(super) fn links(&mut self, level: &[Node<'m>]) {
        // nginx compares them in the levels that requests reach.
        let judged = level.first().is_some_and(|line| matches!(line.context(), Context::Server | Context::Location));
        let secret = named(level, "secure_link_secret").filter(|_| judged);
        let other = named(level, "secure_link").or_else(|| named(level, "secure_link_md5"));
        let (Some(secret), Some(other)) = (secret, other) else { return };
        let (first, second) = if secret.id() < other.id() { (secret, other) } else { (other, secret) };
        let message =
            "`secure_link_secret` cannot stand beside `secure_link` and `secure_link_md5`: nginx refuses the file";
        let http = second.ancestors().find(|block| block.is("http"));
        let report = self.add(Fault::InvalidArguments, second, second.head(), message);
        report.label(first.head(), "the first");
        if let Some(Body::Block { close, .. }) = http.map(Node::body) {
            report.label(close, "nginx names this line");
        }
    }
}
