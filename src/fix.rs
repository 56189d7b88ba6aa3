//! Edits that mend a finding, and their application.

use crate::source::Span;

/// Whether a fix changes anything but the fault. Ordered: `Safe` allows more than `Unsafe`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// Something else changes too; [`Fix::changes`] says what.
    Unsafe,
    /// On every version of the target the server behaves the same but for the fault.
    Safe,
}

/// Replaces the bytes of `span` by `text`. An empty span inserts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// The new bytes.
    pub text: Vec<u8>,
}

impl Edit {
    /// Puts `text` in front of the first byte of `span`.
    pub fn insert_before(span: Span, text: impl Into<Vec<u8>>) -> Self {
        Self { span: span.before(), text: text.into() }
    }

    /// Puts `text` behind the last byte of `span`.
    pub fn insert_after(span: Span, text: impl Into<Vec<u8>>) -> Self {
        Self { span: span.after(), text: text.into() }
    }

    /// Replaces `span` by `text`.
    pub fn replace(span: Span, text: impl Into<Vec<u8>>) -> Self {
        Self { span, text: text.into() }
    }
}

/// A set of edits in one or more files, applied all or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as a command: "pass to an upstream that keeps connections".
    pub title: String,
    /// Whether anything but the fault changes.
    pub safety: Safety,
    /// The edits.
    pub edits: Vec<Edit>,
    /// What else changes, in words. Never empty when unsafe.
    pub changes: Vec<String>,
}
