//! Addresses of sites.

use foldhash::HashMap;

use super::{Cause, Judge};
use crate::catalog::caddy as catalog;
use crate::model::caddy::options::lines;
use crate::model::caddy::site::Address;
use crate::model::{Node, Word};
use crate::source::Span;
use crate::syntax::tree::Origin;

/// What the sites of one listener have in common.
#[derive(Default)]
struct Listener<'m> {
    /// By address as written: the site it stands in, and where.
    keys: HashMap<&'m [u8], (Node<'m>, Span)>,
    http: bool,
    https: bool,
}

impl<'m> Judge<'m> {
    /// Judges the addresses of all sites.
    pub(super) fn addresses(&mut self, sites: &[Node<'m>]) {
        let ports = self.model.caddy().ports();
        let mut listeners: HashMap<(u16, Vec<Vec<u8>>), Listener<'m>> = HashMap::default();
        for &site in sites {
            let binds = binds(site);
            for word in site.words().filter(|word| word.origin() != Origin::Unknown) {
                let Some((address, port)) = self.address(site, word, ports) else { continue };
                let listener = listeners.entry((port, binds.clone())).or_default();
                listener.http |= address.scheme.as_deref() == Some("http");
                listener.https |= address.scheme.as_deref() == Some("https");
                if listener.http && listener.https {
                    let message = format!("port {port} is for HTTP at one site and for HTTPS at another");
                    self.refuse(Cause::Structure, site, word.span(), message);
                    continue;
                }
                let (first, there) = *listener.keys.entry(word.value()).or_insert((site, word.span()));
                if first != site {
                    let message = format!("the address `{}` stands in two sites: Caddy refuses both", word.text());
                    let refusal = self.refuse(Cause::Ambiguous, site, word.span(), message);
                    refusal.labels.push((there, "here first".to_owned()));
                }
            }
        }
    }

    /// One address, and the port that it listens on.
    fn address(&mut self, site: Node<'m>, word: Word<'m>, ports: (u16, u16)) -> Option<(Address, u16)> {
        let text = word.text();
        let name = catalog::directive(word.value()).filter(|entry| self.knows(entry));
        if name.is_some() && self.since(2, 8, 0) {
            let message = format!(
                "`{text}` is a directive and stands where an address is expected: it belongs into a site block"
            );
            self.refuse(Cause::Structure, site, word.span(), message);
            return None;
        }
        let address = Address::parse(&text);
        let scheme = address.scheme.as_deref().unwrap_or_default();
        if !matches!(scheme, "" | "http" | "https") && self.since(2, 7, 5) {
            let message = format!("`{scheme}://` is no scheme of a site: http and https are");
            self.refuse(Cause::Structure, site, word.span(), message);
            return None;
        }
        let Some(port) = address.listens_on(ports) else {
            let message = format!("`{}` is no port: a number up to 65535 is", address.port);
            self.refuse(Cause::Structure, site, word.span(), message);
            return None;
        };
        let (http, https) = ports;
        if (scheme == "http" && port == https) || (scheme == "https" && port == http) {
            self.refuse(Cause::Structure, site, word.span(), format!("`{text}`: the scheme does not fit the port"));
            return None;
        }
        if scheme != "http" && port != http && !qualifies(&address.host) && !has_internal_tls(site) {
            let message = format!("no certificate can be had for `{}`", address.host);
            self.refuse(Cause::Arguments, site, word.span(), message);
        }
        Some((address, port))
    }
}

/// The addresses that `bind` names.
fn binds(site: Node<'_>) -> Vec<Vec<u8>> {
    let mut binds: Vec<Vec<u8>> =
        lines(site).filter(|line| line.is("bind")).flat_map(Node::args).map(|word| word.value().to_vec()).collect();
    binds.sort_unstable();
    binds
}

fn has_internal_tls(site: Node<'_>) -> bool {
    lines(site).any(|line| line.is("tls") && line.arg(0).is_some_and(|word| word.is("internal")))
}

/// Whether a certificate can be asked for with that name (certmagic's `SubjectQualifiesForCert`).
fn qualifies(host: &str) -> bool {
    let wildcard = !host.contains('*') || host.starts_with("*.") || host == "*";
    let dots = !host.starts_with('.') && !host.ends_with('.');
    host.is_empty() || (wildcard && dots && !host.contains(|c: char| "()[]{}<> \t\n\"\\!@#$%^&|;'+=".contains(c)))
}
