//! Backends of `reverse_proxy`: addresses, schemes, transports.

use super::{Cause, Judge};
use crate::model::caddy::options::settings;
use crate::model::caddy::proxy::has_matcher;
use crate::model::{Node, Word};
use crate::syntax::tree::Origin;

impl<'m> Judge<'m> {
    /// Judges the addresses of a proxy, and whether its transport fits them.
    pub(super) fn proxy(&mut self, node: Node<'m>, _scope: usize) {
        let Some(entry) = crate::catalog::caddy::directive(node.name()) else { return };
        let settings = settings(node, entry);
        let mut words: Vec<Word<'m>> = node.args().skip(usize::from(has_matcher(node))).collect();
        words.extend(
            settings.iter().filter(|setting| setting.is("to")).flat_map(|setting| setting.args.iter().copied()),
        );
        let mut last: Option<String> = None;
        for word in words.into_iter().filter(|word| word.origin() != Origin::Unknown) {
            match self.upstream(&word.text()) {
                Err((cause, message)) => {
                    self.refuse(cause, node, word.span(), message);
                }
                Ok(scheme) => {
                    if last.as_ref().is_some_and(|last| !last.is_empty() && *last != scheme) {
                        let message = "all backends of one `reverse_proxy` must have the same scheme";
                        self.refuse(Cause::Arguments, node, word.span(), message);
                    }
                    last = Some(scheme);
                }
            }
        }
        let scheme = last.unwrap_or_default();
        let Some(transport) = settings.iter().rfind(|setting| setting.is("transport")) else { return };
        let fastcgi = transport.value(0) == Some(b"fastcgi");
        let tls = transport.settings_as("transport", "http").iter().any(|setting| setting.is("tls"));
        if (scheme == "https" && fastcgi) || (scheme == "http" && tls) {
            let message = format!("backends with `{scheme}://` do not fit this transport");
            self.refuse(Cause::Arguments, transport.line, transport.name.span(), message);
        }
    }

    /// The scheme of an address; an error says why Caddy refuses it.
    fn upstream(&self, text: &str) -> Result<String, (Cause, String)> {
        match text.split_once("://") {
            Some((scheme, rest)) => self.upstream_url(text, scheme, rest),
            None => {
                self.check_port(text, port_of(text))?;
                Ok(if text.starts_with("unix+h2c/") { "h2c".to_owned() } else { String::new() })
            }
        }
    }

    fn upstream_url(&self, text: &str, scheme: &str, rest: &str) -> Result<String, (Cause, String)> {
        if text.contains('{') {
            return wrong(format!("`{text}` has a placeholder, which Caddy does not take together with a scheme"));
        }
        let port = port_of(rest.split('/').next().unwrap_or(rest));
        if !matches!(scheme, "http" | "https" | "h2c") && self.since(2, 7, 5) {
            return Err(match scheme {
                "ws" => {
                    (Cause::Gone, "Caddy takes no `ws://` any more since 2.7.5; instead of it: `http://`".to_owned())
                }
                "wss" => {
                    (Cause::Gone, "Caddy takes no `wss://` any more since 2.7.5; instead of it: `https://`".to_owned())
                }
                _ => (Cause::Arguments, format!("`{scheme}://` is no scheme for a backend: http, https and h2c are")),
            });
        }
        if rest.contains(['/', '?', '#']) {
            return wrong(format!("`{text}` has a path: a backend is a scheme, a host and a port"));
        }
        if matches!((scheme, port), ("http" | "h2c", "443") | ("https", "80")) {
            return wrong(format!("`{text}`: the scheme does not fit the port"));
        }
        let is_range = port.contains('-');
        if is_range && !self.since(2, 7, 3) {
            let message = format!("`{text}` has a range of ports, which Caddy takes with a scheme since 2.7.3");
            return Err((Cause::TooNew, message));
        }
        self.check_port(text, port)?;
        Ok(scheme.to_owned())
    }

    /// Ranges of ports are read since 2.7.0; before, any text is a port.
    fn check_port(&self, text: &str, port: &str) -> Result<(), (Cause, String)> {
        let network = text.split_once('/').map_or("tcp", |(network, _)| network);
        let has_ports = !matches!(network, "unix" | "unix+h2c" | "unixgram" | "unixpacket" | "fd" | "fdgram");
        if port.is_empty() || text.contains('{') || !has_ports {
            return Ok(());
        }
        let (first, last) = port.split_once('-').unwrap_or((port, port));
        match (first.parse::<u16>(), last.parse::<u16>()) {
            (Ok(first), Ok(last)) if first <= last => Ok(()),
            _ if !self.since(2, 7, 0) => Ok(()),
            _ => wrong(format!("`{text}`: `{port}` is neither a port nor a range of ports")),
        }
    }
}

fn wrong<T>(message: String) -> Result<T, (Cause, String)> {
    Err((Cause::Arguments, message))
}

/// What stands behind the last colon, outside of brackets; nothing for an address of IPv6 alone.
fn port_of(text: &str) -> &str {
    let behind = text.rsplit(']').next().unwrap_or(text);
    if behind.len() == text.len() && text.matches(':').count() > 1 && !text.contains('{') {
        return "";
    }
    behind.rsplit_once(':').map_or("", |(_, port)| port)
}
