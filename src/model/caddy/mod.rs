//! Caddy's view of a model.

pub mod accept;
pub mod effect;
pub mod load;
pub mod options;
pub mod order;
pub mod pool;
pub mod proxy;
pub mod site;
pub mod upstream;

use std::sync::OnceLock;

use super::{Model, Node};
use crate::version::VersionSet;
use order::Order;
use proxy::Proxy;
use site::Site;

/// What Caddy makes of a model.
#[derive(Debug)]
pub struct View {
    sites: Vec<Site>,
    order: Order,
    proxies: Vec<Proxy>,
    ports: (u16, u16),
    /// What the versions that were asked for first make of it.
    verdicts: OnceLock<(VersionSet, Vec<accept::Verdict>)>,
}

impl View {
    /// Computes it.
    pub(crate) fn new(model: &Model) -> Self {
        let (sites, order) = (site::read_all(model), Order::read(model));
        Self { sites, order, proxies: proxy::read_all(model), ports: ports(model), verdicts: OnceLock::new() }
    }

    /// What versions make of the model, and which: computed once, for the first that are asked for.
    fn verdicts(
        &self,
        compute: impl FnOnce() -> (VersionSet, Vec<accept::Verdict>),
    ) -> &(VersionSet, Vec<accept::Verdict>) {
        self.verdicts.get_or_init(compute)
    }

    /// The sites, in reading order.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// In which order handlers run.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// The directives that pass requests to backends, in reading order.
    pub fn proxies(&self) -> &[Proxy] {
        &self.proxies
    }

    /// The ports that addresses without one listen on, for `http://` and for the rest.
    pub fn ports(&self) -> (u16, u16) {
        self.ports
    }
}

/// `http_port` and `https_port` of the global options.
fn ports(model: &Model) -> (u16, u16) {
    let global = model.roots().find(|node| node.words().len() == 0);
    let option = |name: &str, default: u16| {
        let line = global.and_then(|node| node.children().filter(|line| line.is(name)).last());
        line.and_then(|line: Node<'_>| std::str::from_utf8(line.value(0)?).ok()?.parse().ok()).unwrap_or(default)
    };
    (option("http_port", 80), option("https_port", 443))
}
