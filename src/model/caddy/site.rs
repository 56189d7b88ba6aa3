//! Sites and their addresses.

use crate::model::{Model, NodeId};
use crate::syntax::tree::{Body, Origin};

/// A site block.
#[derive(Debug, Clone)]
pub struct Site {
    /// The block; its words are the addresses.
    pub node: NodeId,
    /// The addresses, word by word; `None` where the text is not known.
    pub addresses: Vec<Option<Address>>,
}

/// The sites of a model: top-level blocks that are neither global options nor snippets nor named routes.
pub(super) fn read_all(model: &Model) -> Vec<Site> {
    let blocks = model.roots().filter(|node| matches!(node.body(), Body::Block { .. }));
    let sites = blocks.filter(|node| node.words().len() > 0 && !node.name().starts_with(b"&("));
    let address =
        |word: crate::model::Word<'_>| (word.origin() != Origin::Unknown).then(|| Address::parse(&word.text()));
    sites.map(|node| Site { node: node.id(), addresses: node.words().map(address).collect() }).collect()
}

/// One address in front of a site block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// What stands in front of `://`.
    pub scheme: Option<String>,
    /// The host in small letters, without brackets; empty for all hosts.
    pub host: String,
    /// The port as written; empty if none is.
    pub port: String,
    /// From the first `/` on; empty if there is none.
    pub path: String,
}

impl Address {
    /// Reads an address. Any text is one; whether Caddy accepts it is another question.
    pub fn parse(text: &str) -> Self {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Some(scheme.to_owned()), rest),
            None => (None, text),
        };
        let (authority, path) = match rest.find('/') {
            Some(slash) => rest.split_at(slash),
            None => (rest, ""),
        };
        let (host, port) = split_port(authority);
        Self { scheme, host: host.to_ascii_lowercase(), port: port.to_owned(), path: path.to_owned() }
    }

    /// The port that it listens on, where `http` and `https` are the defaults; `None` if what is
    /// written is no port.
    pub fn listens_on(&self, (http, https): (u16, u16)) -> Option<u16> {
        match self.port.as_str() {
            "" if self.scheme.as_deref() == Some("http") => Some(http),
            "" => Some(https),
            port => port.parse().ok(),
        }
    }
}

fn split_port(text: &str) -> (&str, &str) {
    if let Some(rest) = text.strip_prefix('[')
        && let Some((host, after)) = rest.split_once(']')
    {
        return (host, after.strip_prefix(':').unwrap_or(""));
    }
    match text.split_once(':') {
        // Several colons without brackets are an IPv6 address.
        Some((host, port)) if !port.contains(':') => (host, port),
        _ => (text, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let parts = |text: &str| {
            let address = Address::parse(text);
            let port = address.listens_on((80, 443));
            (address.scheme.unwrap_or_default(), address.host, address.path, port)
        };
        let is =
            |scheme: &str, host: &str, path: &str, port| (scheme.to_owned(), host.to_owned(), path.to_owned(), port);
        assert_eq!(parts("A.example"), is("", "a.example", "", Some(443)));
        assert_eq!(parts("http://a.example/x/*"), is("http", "a.example", "/x/*", Some(80)));
        assert_eq!(parts(":8080"), is("", "", "", Some(8080)));
        assert_eq!(parts("https://"), is("https", "", "", Some(443)));
        assert_eq!(parts("[::1]:8080"), is("", "::1", "", Some(8080)));
        assert_eq!(parts("::1"), is("", "::1", "", Some(443)));
        assert_eq!(parts("a.example:"), is("", "a.example", "", Some(443)));
        assert_eq!(parts(":8000-8002"), is("", "", "", None));
        assert_eq!(parts(":70000"), is("", "", "", None));
    }
}
