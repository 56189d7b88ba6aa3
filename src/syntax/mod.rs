//! Text to [`Tree`](tree::Tree), and what is wrong with the text. Knows nothing of meaning; of the
//! catalogue only which directives have a block and how many words, as the servers' own parsers do.

pub mod caddy;
pub mod nginx;
pub mod note;
pub mod tree;

use crate::source::Span;

/// A place where the server's own parser stops. The tree around it is still usable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where the fault is (not where the server noticed it).
    pub span: Span,
    /// What the server makes of it; small first letter, no full stop.
    pub message: String,
    /// Related places.
    pub labels: Vec<(Span, String)>,
    /// What to do.
    pub help: Option<String>,
    /// A repair that is right for sure: each span replaced by its text. Empty where there is none.
    pub repair: Vec<(Span, &'static str)>,
}

impl SyntaxError {
    /// A fault without related places, help or repair.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), labels: Vec::new(), help: None, repair: Vec::new() }
    }

    /// Adds a related place.
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push((span, message.into()));
        self
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Offers a repair that is right for sure, or a further part of it.
    pub fn repair(mut self, span: Span, text: &'static str) -> Self {
        self.repair.push((span, text));
        self
    }
}
