//! nginx's view of a model: contexts, upstreams, settings in effect.

use super::{Model, NodeId};

/// Where a directive stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Context {
    /// Outside every block.
    Main,
}

/// What the server makes of a model.
#[derive(Debug)]
pub struct View {
    contexts: Vec<Context>,
}

impl View {
    /// Computes it.
    pub(crate) fn new(model: &Model) -> Self {
        Self { contexts: vec![Context::Main; model.len()] }
    }

    /// The context a directive stands in.
    pub fn context(&self, id: NodeId) -> Context {
        self.contexts[id.0 as usize]
    }
}
