//! What a fix does to the lines around it, for reports that show it with its finding.

use std::ops::Range;

use super::{Look, place, plain};
use crate::fix::apply::{Change, Patch};
use crate::fix::diff::{CONTEXT, hunks};
use crate::fix::{Edit, Fix};
use crate::session::Found;
use crate::source::SourceFile;

/// The changed lines of one file.
pub(super) struct FileChange {
    /// The name it was opened by.
    pub(super) path: String,
    /// Lines of a unified diff, each harmless, without the names of the files.
    pub(super) lines: Vec<String>,
}

/// More lines than this of one fix are not shown.
const MOST_LINES: usize = 400;

/// What a fix changes, file by file in the order of its edits.
pub(super) fn changes(found: &Found, fix: &Fix, look: Look<'_>) -> Vec<FileChange> {
    let mut files: Vec<crate::source::FileId> = Vec::new();
    for edit in &fix.edits {
        if !files.contains(&edit.span.file) {
            files.push(edit.span.file);
        }
    }
    let change = |id| {
        let edits: Vec<&Edit> = fix.edits.iter().filter(|edit| edit.span.file == id).collect();
        let file = found.sources.get(id);
        let mut lines = lines(file, edits);
        if lines.len() > MOST_LINES {
            lines.truncate(MOST_LINES);
            lines.push("…".to_owned());
        }
        FileChange { path: plain::line(&place::path(file.path(), look.base)).into_owned(), lines }
    };
    files.into_iter().map(change).collect()
}

/// The hunks of a file, one part of the file after the other: fixes are small and files may be long.
fn lines(file: &SourceFile, mut edits: Vec<&Edit>) -> Vec<String> {
    // The order of insertions at one offset stays.
    edits.sort_by_key(|edit| edit.span.start);
    let mut parts: Vec<(Range<u32>, Vec<&Edit>)> = Vec::new();
    for edit in edits {
        let first = file.line_of(edit.span.start).saturating_sub(CONTEXT as u32 + 1).max(1);
        let last = (file.line_of(edit.span.end) + CONTEXT as u32 + 1).min(file.line_count());
        match parts.last_mut() {
            Some((lines, part)) if first <= lines.end => {
                lines.end = lines.end.max(last);
                part.push(edit);
            }
            _ => parts.push((first..last, vec![edit])),
        }
    }
    parts.into_iter().flat_map(|(lines, edits)| part(file, lines, &edits)).collect()
}

/// The hunks of the lines from the first to the last of `lines`.
fn part(file: &SourceFile, lines: Range<u32>, edits: &[&Edit]) -> Vec<String> {
    let start = file.line_range(lines.start).start;
    let end = if lines.end < file.line_count() { file.line_range(lines.end + 1).start } else { file.bytes().len() };
    let new = applied(file, start..end, edits);
    let text = hunks(&file.bytes()[start..end], &new, lines.start as usize - 1);
    let lines = text.split_inclusive(|&byte| byte == b'\n');
    lines.map(|line| shown(line.strip_suffix(b"\n").unwrap_or(line))).collect()
}

/// What a range of a file becomes by edits that lie in it.
pub(super) fn applied(file: &SourceFile, range: Range<usize>, edits: &[&Edit]) -> Vec<u8> {
    let shift = |edit: &&Edit| Change {
        file: 0,
        range: edit.span.range().start - range.start..edit.span.range().end - range.start,
        text: edit.text.clone(),
    };
    let mut patch = Patch::new();
    for edit in edits {
        // Edits of one fix do not overlap; of two that did, the first would be shown.
        let _ = patch.add(&[shift(edit)]);
    }
    patch.apply(0, &file.bytes()[range])
}

/// A line for people: no line end of Windows, tabs as they are.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
    text.split('\t').map(plain::line).collect::<Vec<_>>().join("\t")
}
