//! Caddy's view of a model.

pub mod load;
pub mod options;
pub mod pool;
pub mod proxy;
pub mod upstream;

use super::Model;
use proxy::Proxy;

/// What Caddy makes of a model.
#[derive(Debug)]
pub struct View {
    proxies: Vec<Proxy>,
}

impl View {
    /// Computes it.
    pub(crate) fn new(model: &Model) -> Self {
        Self { proxies: proxy::read_all(model) }
    }

    /// The directives that pass requests to backends, in reading order.
    pub fn proxies(&self) -> &[Proxy] {
        &self.proxies
    }
}
