//! One tree for both languages: a directive is a name, words, and maybe a block.
//!
//! Everything lies in flat vectors in the order of the text; a directive's descendants follow it
//! directly (pre-order), so a walk is a loop and no depth of input can overflow a stack.

use crate::source::{Sources, Span};

/// How a word was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quote {
    /// Without quotes.
    Bare,
    /// In `'…'`.
    Single,
    /// In `"…"`.
    Double,
    /// In `` `…` `` (Caddyfile).
    Backtick,
    /// `<<MARKER … MARKER` (Caddyfile).
    Heredoc,
}

/// Where a word's text came from. A fix may touch only what is [`Written`](Origin::Written).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// It stands in the file as it is.
    Written,
    /// At least a part of it came from an argument of an import (Caddyfile).
    Argument,
    /// At least a part of it came from an environment variable, or its default (Caddyfile `{$NAME:default}`).
    Environment,
    /// At least a part of it is an environment variable whose value is not known here: the word's
    /// value shows the reference as written, and stands for any number of words (Caddyfile).
    Unknown,
}

impl Origin {
    /// The origin of a text made of two.
    pub fn or(self, other: Self) -> Self {
        self.max(other)
    }
}

/// A step of inclusion: `0` means the main file itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct ChainId(pub u32);

/// One word: the name of a directive or one of its arguments.
#[derive(Debug, Clone)]
pub struct WordData {
    /// With its quotes.
    pub span: Span,
    /// How it was written.
    pub quote: Quote,
    /// Where its text came from.
    pub origin: Origin,
    /// The imports that brought it here (Caddyfile; see [`Tree::chains`]).
    pub chain: ChainId,
    /// What the server sees, where that differs from the text between the quotes.
    pub value: Option<Box<[u8]>>,
}

impl WordData {
    /// What the server sees: quotes and escapes resolved.
    pub fn value<'a>(&'a self, sources: &'a Sources) -> &'a [u8] {
        match (&self.value, self.quote) {
            (Some(value), _) => value,
            (None, Quote::Bare) => sources.slice(self.span),
            (None, _) => {
                let raw = sources.slice(self.span);
                &raw[1.min(raw.len())..raw.len().saturating_sub(1).max(1.min(raw.len()))]
            }
        }
    }
}

/// What stands at the end of a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// `;` (nginx), or the end of the line (Caddyfile).
    None {
        /// Where the terminator lies; empty if there is none.
        end: Span,
    },
    /// `{ … }` with directives in it.
    Block {
        /// The `{`.
        open: Span,
        /// The `}`; empty at the place where reading stopped if it is missing.
        close: Span,
    },
    /// `{ … }` whose inside is another language (`*_by_lua_block`).
    Raw {
        /// The `{`.
        open: Span,
        /// The text between the braces.
        text: Span,
        /// The `}`; empty at the place where reading stopped if it is missing.
        close: Span,
    },
}

/// A directive of a [`Tree`].
#[derive(Debug, Clone, Copy)]
pub struct NodeData {
    /// Index of its first word (the name) in [`Tree::words`].
    pub first_word: u32,
    /// Number of words, the name counted. 0 only for a block without a name (Caddyfile's global options).
    pub word_count: u32,
    /// Its end.
    pub body: Body,
    /// Index of the enclosing directive, `u32::MAX` at top level.
    pub parent: u32,
    /// Index behind its last descendant in [`Tree::nodes`].
    pub end: u32,
}

/// One import that spliced words in (Caddyfile).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainLink {
    /// The chain that the import itself stands in.
    pub parent: ChainId,
    /// The `import` line.
    pub place: Span,
}

/// The directives of one file (nginx) or of one spliced configuration (Caddyfile).
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// Directives in pre-order.
    pub nodes: Vec<NodeData>,
    /// Words in the order of the text.
    pub words: Vec<WordData>,
    /// Comments with their `#`, without the line end, in the order of the text.
    pub comments: Vec<Span>,
    /// Steps of inclusion; `chains[i]` is `ChainId(i + 1)`.
    pub chains: Vec<ChainLink>,
}

impl WordData {
    /// What the server sees of a word of the file `bytes`: quotes and escapes resolved.
    pub fn value_in<'a>(&'a self, bytes: &'a [u8]) -> &'a [u8] {
        let written = &bytes[self.span.range()];
        match (&self.value, self.quote) {
            (Some(value), _) => value,
            (None, Quote::Bare) => written,
            (None, _) => written.get(1..written.len().saturating_sub(1)).unwrap_or_default(),
        }
    }
}

impl Tree {
    /// The words of a directive, its name first.
    pub fn words_of(&self, node: &NodeData) -> &[WordData] {
        &self.words[node.first_word as usize..(node.first_word + node.word_count) as usize]
    }
}
