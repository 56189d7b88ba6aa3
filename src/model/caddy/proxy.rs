//! Directives that pass requests to backends.

use super::options::{Setting, settings};
use super::pool::{Pool, Written};
use super::upstream::{Address, Network, Scheme};
use crate::catalog::caddy as catalog;
use crate::model::{Model, Node, NodeId, Word};
use crate::syntax::tree::Origin;
use crate::version::Version;

/// Which directive it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `reverse_proxy`
    ReverseProxy,
    /// `forward_auth`: a `reverse_proxy` to an authentication service.
    ForwardAuth,
    /// `php_fastcgi`: a `reverse_proxy` over FastCGI.
    PhpFastcgi,
}

/// How requests are carried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// HTTP; what is written of its pool.
    Http(Written),
    /// FastCGI: a connection for each request.
    Fastcgi,
    /// A module that is not Caddy's own, or a name that is not known here.
    Other,
}

/// A directive that passes requests to backends.
#[derive(Debug, Clone)]
pub struct Proxy {
    /// The directive.
    pub node: NodeId,
    /// Which one.
    pub kind: Kind,
    /// The addresses of its backends; `None` where the text is not known.
    pub upstreams: Vec<Option<Address>>,
    /// Whether addresses are looked up while it runs.
    pub dynamic: bool,
    /// Whether requests are spread evenly over the addresses.
    pub balanced: bool,
    /// The `transport` line that is in effect, if one is written.
    pub transport_line: Option<NodeId>,
    /// How requests are carried.
    pub transport: Transport,
    /// Whether its block holds a line whose meaning is not known here.
    pub unknown: bool,
}

impl Proxy {
    /// Reads one; `None` if the directive is something else.
    pub(super) fn read(node: Node<'_>) -> Option<Self> {
        let kind = match node.name() {
            b"reverse_proxy" => Kind::ReverseProxy,
            b"forward_auth" => Kind::ForwardAuth,
            b"php_fastcgi" => Kind::PhpFastcgi,
            _ => return None,
        };
        let entry = catalog::directive(node.name())?;
        let settings = settings(node, entry);
        let mut proxy = Self {
            node: node.id(),
            kind,
            upstreams: node.args().skip(usize::from(has_matcher(node))).map(address).collect(),
            dynamic: false,
            balanced: true,
            transport_line: None,
            transport: match kind {
                Kind::PhpFastcgi => Transport::Fastcgi,
                _ => Transport::Http(Written::default()),
            },
            unknown: false,
        };
        settings.iter().for_each(|setting| proxy.read_setting(setting));
        proxy.follow_schemes();
        Some(proxy)
    }

    fn read_setting(&mut self, setting: &Setting<'_>) {
        match setting.name.value() {
            b"to" => self.upstreams.extend(setting.args.iter().copied().map(address)),
            b"dynamic" => self.dynamic = true,
            b"lb_policy" => {
                let even = ["random", "round_robin", "least_conn", "random_choose"];
                self.balanced = even.iter().any(|name| setting.value(0) == Some(name.as_bytes()));
            }
            b"transport" => {
                self.transport_line = Some(setting.line.id());
                self.transport = match setting.value(0) {
                    Some(b"http") => Transport::Http(Written::read(&setting.settings_as("transport", "http"))),
                    Some(b"fastcgi") => Transport::Fastcgi,
                    _ => Transport::Other,
                };
            }
            _ if setting.entry.is_none() && !is_matcher(setting) => self.unknown = true,
            _ => {}
        }
    }

    /// `h2c://` sets the versions, whatever is written.
    fn follow_schemes(&mut self) {
        let h2c = self.upstreams.iter().flatten().any(|address| address.scheme == Scheme::H2c);
        if let (true, Transport::Http(written)) = (h2c, &mut self.transport) {
            written.without_http1 = true;
        }
    }

    /// What a version keeps open and idle for each address.
    pub fn pool(&self, version: Version) -> Pool {
        match &self.transport {
            _ if self.unknown => Pool::Unknown,
            Transport::Http(written) => written.pool(version),
            Transport::Fastcgi => Pool::NoMatter,
            Transport::Other => Pool::Unknown,
        }
    }

    /// Number of addresses, if it is known.
    pub fn count(&self) -> Option<u32> {
        if self.dynamic {
            return None;
        }
        self.upstreams.iter().map(|address| address.as_ref()?.count()).sum()
    }

    /// Whether the backends may speak HTTP/2: over TLS both sides agree on it.
    pub fn may_be_http2(&self) -> bool {
        let tls = self.upstreams.iter().flatten().any(|address| address.scheme == Scheme::Https);
        match &self.transport {
            Transport::Http(written) => written.http2_written.unwrap_or(tls || written.unknown),
            _ => false,
        }
    }

    /// Whether all backends are sockets in the file system.
    pub fn is_unix(&self) -> bool {
        let unix = |address: &Option<Address>| address.as_ref().is_some_and(|address| address.network == Network::Unix);
        !self.upstreams.is_empty() && self.upstreams.iter().all(unix)
    }

    /// The options of its HTTP transport, if it has a written one.
    pub fn transport_settings<'m>(&self, model: &'m Model) -> Option<(Setting<'m>, Vec<Setting<'m>>)> {
        let node = model.node(self.node);
        let entry = catalog::directive(node.name())?;
        let is_http = |setting: &Setting<'_>| setting.is("transport") && setting.value(0) == Some(b"http");
        let transport = settings(node, entry).into_iter().rfind(is_http)?;
        let inside = transport.settings_as("transport", "http");
        Some((transport, inside))
    }
}

fn is_matcher(setting: &Setting<'_>) -> bool {
    setting.name.value().starts_with(b"@")
}

fn address(word: Word<'_>) -> Option<Address> {
    (word.origin() != Origin::Unknown).then(|| Address::parse(&word.text()))
}

/// Whether the first argument of a handler is a matcher.
pub fn has_matcher(node: Node<'_>) -> bool {
    let first = node.arg(0).filter(|word| word.origin() != Origin::Unknown);
    first.is_some_and(|word| word.is("*") || word.value().starts_with(b"/") || word.value().starts_with(b"@"))
}

/// The directives of a block that pass requests to backends, at any depth.
pub(super) fn read_all(model: &Model) -> Vec<Proxy> {
    let mut proxies = Vec::new();
    for name in ["reverse_proxy", "forward_auth", "php_fastcgi"] {
        proxies.extend(model.named(name).filter(|node| stands_among_handlers(*node)).filter_map(Proxy::read));
    }
    proxies.sort_by_key(|proxy| proxy.node);
    proxies
}

/// Whether a directive stands where handlers stand: in a site, a named route, or a block in them
/// that takes handlers.
pub(crate) fn stands_among_handlers(node: Node<'_>) -> bool {
    let mut ancestors = node.ancestors().peekable();
    while let Some(ancestor) = ancestors.next() {
        if ancestors.peek().is_none() {
            return ancestor.words().len() > 0;
        }
        let takes_handlers = matches!(
            ancestor.name(),
            b"handle"
                | b"handle_path"
                | b"handle_errors"
                | b"handle_response"
                | b"route"
                | b"reverse_proxy"
                | b"intercept"
                | b"forward_auth"
                | b"php_fastcgi"
        );
        if !takes_handlers {
            return false;
        }
    }
    false
}
