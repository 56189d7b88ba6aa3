//! The lines that a finding shows, as miette's source: decoded, escaped, cut, spans remapped.
//!
//! miette knows one source of UTF-8 text per finding. Configurations are bytes, their lines may be
//! endless, and related places lie in other files. So the source that miette sees holds the shown
//! lines alone, one segment after the other, each with its file's name and its own line numbers.

use std::ops::Range;
use std::path::Path;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use super::{place, plain};
use crate::finding::Label;
use crate::session::Found;
use crate::source::{FileId, Position, SourceFile, Span};

/// A longer line is cut around its place.
const LONG_LINE: usize = 320;
/// What a cut line shows in front of the place, in bytes.
const LEAD: usize = 60;
/// A place over more lines is shown by its first line.
const MOST_LINES: u32 = 6;
const CUT: &str = "…";

/// The shown lines of one finding.
pub(super) struct Excerpt {
    text: String,
    segments: Vec<Segment>,
    marks: Vec<Mark>,
}

/// Consecutive lines of one file.
struct Segment {
    name: String,
    /// 1-based.
    first_line: u32,
    line_count: usize,
    /// In [`Excerpt::text`].
    text: Range<usize>,
}

/// Where a place of the finding came to lie in the excerpt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    /// Offset in the excerpt.
    pub(super) start: usize,
    /// Length in the excerpt.
    pub(super) len: usize,
    at: Position,
}

impl Mark {
    /// Columns in front of it in the line as it is shown, about.
    pub(super) fn column(&self) -> usize {
        let column = self.at.column as usize - 1;
        if column > LONG_LINE { LEAD } else { column }
    }
}

/// Lines to be shown, before they are.
struct Want {
    file: FileId,
    lines: Range<u32>,
    /// The part of the single line that is shown, where it is cut.
    window: Option<Range<usize>>,
    /// Indexes of the places that lie in it.
    places: Vec<usize>,
}

impl Excerpt {
    /// The lines around the finding's place and these labels; one [`Mark`] for each of them in that order.
    pub(super) fn new(found: &Found, labels: &[Label], base: &Path) -> Self {
        let spans: Vec<Span> = std::iter::once(found.finding.span)
            .chain(labels.iter().map(|label| label.span))
            .map(|span| shorten(found.file(span), span))
            .collect();
        let mut excerpt = Self { text: String::new(), segments: Vec::new(), marks: Vec::new() };
        let nowhere = Mark { start: 0, len: 0, at: Position { line: 1, column: 1, offset: 0 } };
        excerpt.marks.resize(spans.len(), nowhere);
        for want in wanted(found, &spans) {
            let file = found.sources.get(want.file);
            let name = plain::line(&place::path(file.path(), base)).into_owned();
            excerpt.add(file, name, &want, &spans);
        }
        excerpt
    }

    /// Where the finding's place (the first) and its labels lie in the excerpt.
    pub(super) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn add(&mut self, file: &SourceFile, name: String, want: &Want, spans: &[Span]) {
        let start = self.text.len();
        for line in want.lines.clone() {
            let whole = file.line_range(line);
            let shown = match &want.window {
                Some(window) => window.clone(),
                None => cut(file, &whole, whole.start),
            };
            if shown.start > whole.start {
                self.text.push_str(CUT);
            }
            self.decode(file, line, &shown, want, spans);
            if shown.end < whole.end {
                self.text.push_str(CUT);
            }
            self.text.push('\n');
        }
        let text = start..self.text.len();
        self.segments.push(Segment { name, first_line: want.lines.start, line_count: want.lines.len(), text });
    }

    /// Appends the shown part of a line, and notes where places begin and end in it.
    fn decode(&mut self, file: &SourceFile, line: u32, shown: &Range<usize>, want: &Want, spans: &[Span]) {
        // Offsets in the file, and where they come to lie.
        let mut stops: Vec<(usize, usize)> = Vec::new();
        let mut at = shown.start;
        for chunk in file.bytes()[shown.clone()].utf8_chunks() {
            for c in chunk.valid().chars() {
                stops.push((at, self.text.len()));
                match c {
                    '\t' => self.text.push(c),
                    _ => plain::push(&mut self.text, c),
                }
                at += c.len_utf8();
            }
            for _ in chunk.invalid() {
                stops.push((at, self.text.len()));
                self.text.push('\u{fffd}');
                at += 1;
            }
        }
        let end = self.text.len();
        let place_of = |offset: u32| {
            let index = stops.partition_point(|&(from, _)| from < offset as usize);
            stops.get(index).map_or(end, |&(_, to)| to)
        };
        for &index in &want.places {
            let (span, mark) = (spans[index], &mut self.marks[index]);
            if file.line_of(span.start) == line {
                *mark = Mark { start: place_of(span.start), len: 0, at: file.position(span.start) };
            }
            if file.line_of(span.end) == line {
                mark.len = place_of(span.end).saturating_sub(mark.start);
            }
        }
    }
}

/// The place itself, or its part in its first line when it is long.
fn shorten(file: &SourceFile, span: Span) -> Span {
    let first = file.line_of(span.start);
    let last = file.line_of(span.end);
    let end = file.line_range(first).end as u32;
    if last - first < MOST_LINES && !(first..=last).any(|line| is_long(file, line)) {
        return span;
    }
    Span { end: span.end.min(end).max(span.start), ..span }
}

fn is_long(file: &SourceFile, line: u32) -> bool {
    file.line_range(line).len() > LONG_LINE
}

/// The part of a line that is shown: all of it, or what lies around `focus`.
fn cut(file: &SourceFile, line: &Range<usize>, focus: usize) -> Range<usize> {
    if line.len() <= LONG_LINE {
        return line.clone();
    }
    let start = focus.saturating_sub(LEAD).max(line.start);
    let end = (start + LONG_LINE).min(line.end);
    let start = end.saturating_sub(LONG_LINE).max(line.start);
    boundary(file, start, line.start)..boundary(file, end, start)
}

/// `offset`, or where the character begins that it lies in.
fn boundary(file: &SourceFile, offset: usize, least: usize) -> usize {
    let bytes = file.bytes();
    let inside = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (offset.saturating_sub(3).max(least)..=offset).rev().find(|&at| !inside(at)).unwrap_or(offset)
}

/// Which lines to show: the finding's own first, then the rest of its file, then other files.
fn wanted(found: &Found, spans: &[Span]) -> Vec<Want> {
    let mut wants: Vec<Want> =
        spans.iter().enumerate().map(|(index, &span)| want(found.file(span), span, index)).collect();
    wants.sort_by_key(|want| (want.file, want.lines.start, want.window.as_ref().map(|window| window.start)));
    let mut merged: Vec<Want> = Vec::new();
    for want in wants {
        match merged.last_mut() {
            Some(last) if last.takes(&want, spans) => {
                last.lines.end = last.lines.end.max(want.lines.end);
                last.places.extend(want.places);
            }
            _ => merged.push(want),
        }
    }
    let own = spans[0].file;
    merged.sort_by_key(|want| (!want.places.contains(&0), want.file != own, want.places.iter().min().copied()));
    merged
}

fn want(file: &SourceFile, span: Span, index: usize) -> Want {
    let (first, last) = (file.line_of(span.start), file.line_of(span.end));
    let places = vec![index];
    if is_long(file, first) {
        let window = cut(file, &file.line_range(first), span.start as usize);
        return Want { file: span.file, lines: first..first + 1, window: Some(window), places };
    }
    let lines = first.saturating_sub(1).max(1)..(last + 1).min(shown_lines(file)).max(last) + 1;
    Want { file: span.file, lines, window: None, places }
}

/// The number of the last line worth showing: not the empty rest behind the last line feed.
fn shown_lines(file: &SourceFile) -> u32 {
    let last = file.line_count();
    if last > 1 && file.line_range(last).is_empty() { last - 1 } else { last }
}

impl Want {
    /// Whether `other`, which begins no earlier, is shown as a part of this.
    fn takes(&self, other: &Want, spans: &[Span]) -> bool {
        if self.file != other.file {
            return false;
        }
        match (&self.window, &other.window) {
            (None, None) => other.lines.start <= self.lines.end,
            (Some(window), Some(_)) => {
                self.lines == other.lines && other.places.iter().all(|&i| window.contains(&spans[i].range().start))
            }
            _ => false,
        }
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let (start, end) = (span.offset(), span.offset() + span.len());
        // A span over two segments is refused, and miette shows them apart.
        let segment = self.segments.iter().find(|segment| segment.text.contains(&start) && end <= segment.text.end);
        let segment = segment.ok_or(MietteError::OutOfBounds)?;
        let mark = self.marks.iter().find(|mark| mark.start == start).filter(|_| before == 0 && after == 0);
        let (range, line, column) = match mark {
            Some(mark) => (start..end, mark.at.line, mark.at.column),
            None => (segment.text.clone(), segment.first_line, 1),
        };
        Ok(Box::new(MietteSpanContents::new_named(
            segment.name.clone(),
            &self.text.as_bytes()[range.clone()],
            (range.start, range.len()).into(),
            line as usize - 1,
            column as usize - 1,
            segment.line_count,
        )))
    }
}
