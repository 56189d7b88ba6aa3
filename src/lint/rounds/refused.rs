//! Lines that the server refuses: what else is wrong with them matters once they are mended.

use std::borrow::Cow;

use super::Checked;
use crate::finding::{Finding, Severity};
use crate::fix::Edit;
use crate::source::Span;

/// A directive that an error is about, and the rule that says so.
struct Line {
    head: Span,
    text: Vec<u8>,
    rule: Cow<'static, str>,
}

/// The lines of a configuration that every version of the target refuses.
#[derive(Default)]
pub(super) struct RefusedLines(Vec<Line>);

impl RefusedLines {
    pub(super) fn new(checked: &Checked) -> Self {
        let Checked { model, findings, .. } = checked;
        let (errors, others): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(|it| is_refusal(it));
        if errors.is_empty() || others.iter().all(|it| it.fixes.is_empty()) {
            return Self::default();
        }
        let mut errors: Vec<(u32, u32, &Finding)> =
            errors.iter().map(|it| (it.span.file.0, it.span.start, *it)).collect();
        errors.sort_by_key(|&(file, start, _)| (file, start));
        let mut lines = Vec::new();
        for node in model.nodes() {
            let head = node.head();
            let from = errors.partition_point(|&(file, start, _)| (file, start) < (head.file.0, head.start));
            if let Some((file, start, finding)) = errors.get(from)
                && *file == head.file.0
                && *start < head.end
            {
                lines.push(Line { head, text: model.text(head).to_vec(), rule: finding.rule.clone() });
            }
        }
        lines.sort_by_key(|line| (line.head.file.0, line.head.start));
        Self(lines)
    }

    /// The rule that a refused line breaks which a fix is about or would change, and leave refused.
    pub(super) fn of(&self, finding: &Finding, fix: usize) -> Option<&str> {
        if self.0.is_empty() || is_refusal(finding) {
            return None;
        }
        let edits = &finding.fixes[fix].edits;
        let mut spans = edits.iter().map(|edit| edit.span).chain([finding.span]);
        let line = spans.find_map(|span| self.at(span))?;
        (!line.is_replaced(edits)).then_some(&*line.rule)
    }

    /// The first line that a span overlaps.
    fn at(&self, span: Span) -> Option<&Line> {
        let before = |line: &Line| (line.head.file.0, line.head.end) <= (span.file.0, span.start);
        let line = self.0.get(self.0.partition_point(before))?;
        (line.head.file == span.file && line.head.start < span.end).then_some(line)
    }
}

impl Line {
    /// Whether edits take it away, not only elsewhere.
    fn is_replaced(&self, edits: &[Edit]) -> bool {
        let Span { file, start, end } = self.head;
        let goes = |it: &Edit| it.span.file == file && it.span.start <= start && end <= it.span.end;
        let stays = |it: &Edit| memchr::memmem::find(&it.text, &self.text).is_some();
        edits.iter().any(goes) && !edits.iter().any(stays)
    }
}

/// Whether a finding says that the server does not start. The errors of users' own rules do not.
fn is_refusal(finding: &Finding) -> bool {
    let own = finding.rule.starts_with("nginx/") || finding.rule.starts_with("caddy/");
    own && finding.severity == Severity::Error && finding.versions.is_none()
}
