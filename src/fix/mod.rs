//! Edits that mend a finding, and their application.

pub mod apply;
pub mod diff;

use crate::source::{Sources, Span};
use crate::version::VersionSet;

/// Whether a fix changes anything but the fault. Ordered: `Safe` allows more than `Unsafe`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// Something else changes too; [`Fix::changes`] says what.
    Unsafe,
    /// On every version of the target the server behaves the same but for the fault.
    Safe,
}

impl Safety {
    /// The word of rule files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unsafe => "unsafe",
            Self::Safe => "safe",
        }
    }
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
///
/// Built by [`Fix::safe`] or [`Fix::risky`]; line feeds in its texts become the line ends of the file.
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
    /// The versions that understand the new text, where not all do. A fix whose text a version of
    /// the target refuses is never written.
    pub needs: Option<VersionSet>,
}

impl Fix {
    /// A fix that changes nothing but the fault.
    pub fn safe(title: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self { title: title.into(), safety: Safety::Safe, edits, changes: Vec::new(), needs: None }
    }

    /// A fix that changes something else too: `change` says what, in words.
    pub fn risky(title: impl Into<String>, edits: Vec<Edit>, change: impl Into<String>) -> Self {
        Self { title: title.into(), safety: Safety::Unsafe, edits, changes: vec![change.into()], needs: None }
    }

    /// Only versions of `needs` understand the new text.
    pub fn needs(mut self, needs: VersionSet) -> Self {
        self.needs = Some(needs);
        self
    }

    /// Writes the line ends of the files, where its texts have line feeds alone: those of the line
    /// that an edit begins in.
    pub fn follow_line_ends(&mut self, sources: &Sources) {
        for edit in &mut self.edits {
            if ends_in_crlf(sources.get(edit.span.file).bytes(), edit.span.start as usize) {
                edit.text = with_crlf(&edit.text);
            }
        }
    }
}

/// Whether the line that holds `offset`, or the one before where that is the last, ends in CRLF.
fn ends_in_crlf(bytes: &[u8], offset: usize) -> bool {
    let end = memchr::memchr(b'\n', &bytes[offset..]).map(|at| offset + at);
    let end = end.or_else(|| memchr::memrchr(b'\n', &bytes[..offset]));
    end.and_then(|end| end.checked_sub(1)).is_some_and(|before| bytes[before] == b'\r')
}

fn with_crlf(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 8);
    for &byte in text {
        if byte == b'\n' && out.last() != Some(&b'\r') {
            out.push(b'\r');
        }
        out.push(byte);
    }
    out
}
