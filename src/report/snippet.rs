//! The lines around a place, harmless, for reports that show code with their own means.

use crate::report::plain;
use crate::source::{SourceFile, Span};

/// Lines shown before and behind a place.
const AROUND: u32 = 2;
/// A place over more lines is shown by its first ones.
const MOST_LINES: u32 = 8;
/// Bytes of a line that are shown before and behind a place.
const MOST_BYTES: usize = 160;

/// One line. Put together, the three parts are the line as it is shown.
pub(super) struct Line {
    pub(super) number: u32,
    pub(super) before: String,
    /// What lies in the place. May be empty.
    pub(super) marked: String,
    pub(super) after: String,
    /// Whether the place touches the line.
    pub(super) hit: bool,
}

/// The lines around a place.
pub(super) fn lines(file: &SourceFile, span: Span) -> Vec<Line> {
    let first = file.line_of(span.start);
    let last = file.line_of(span.end).min(first + MOST_LINES - 1);
    let end = (last + AROUND).min(file.line_count());
    let shown = first.saturating_sub(AROUND).max(1)..=end;
    let mut lines: Vec<Line> = shown.map(|number| line(file, number, span)).collect();
    // The empty rest behind the last line feed.
    if lines.last().is_some_and(|line| line.number == file.line_count() && !line.hit && line.text().is_empty()) {
        lines.pop();
    }
    lines
}

fn line(file: &SourceFile, number: u32, span: Span) -> Line {
    let whole = file.line_range(number);
    let hit = (file.line_of(span.start)..=file.line_of(span.end)).contains(&number);
    if !hit {
        let end = whole.end.min(whole.start + 2 * MOST_BYTES);
        let dots = if end < whole.end { "…" } else { "" };
        let before = format!("{}{dots}", decoded(file, whole.start, end));
        return Line { number, before, marked: String::new(), after: String::new(), hit };
    }
    let start = (span.start as usize).clamp(whole.start, whole.end);
    let end = (span.end as usize).clamp(start, whole.end);
    let (from, until) = (whole.start.max(start.saturating_sub(MOST_BYTES)), whole.end.min(end + MOST_BYTES));
    let mark_end = end.min(start + 2 * MOST_BYTES);
    let dots = |cut: bool| if cut { "…" } else { "" };
    let before = format!("{}{}", dots(from > whole.start), decoded(file, from, start));
    let marked = format!("{}{}", decoded(file, start, mark_end), dots(mark_end < end));
    let after = format!("{}{}", decoded(file, end, until), dots(until < whole.end));
    Line { number, before, marked, after, hit }
}

/// Bytes as text for people; tabs are shown as they are.
fn decoded(file: &SourceFile, start: usize, end: usize) -> String {
    let text = String::from_utf8_lossy(&file.bytes()[start..end]);
    text.split('\t').map(plain::line).collect::<Vec<_>>().join("\t")
}

impl Line {
    /// The line as it is shown.
    pub(super) fn text(&self) -> String {
        format!("{}{}{}", self.before, self.marked, self.after)
    }
}
