//! Text and places in it. The only module that knows lines and columns.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Which file of a [`Sources`] a span lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A half-open byte range of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end` of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        debug_assert!(start <= end);
        Self { file, start, end }
    }

    /// The empty span in front of this one's first byte.
    pub fn before(self) -> Self {
        Self { end: self.start, ..self }
    }

    /// The empty span behind this one's last byte.
    pub fn after(self) -> Self {
        Self { start: self.end, ..self }
    }

    /// From the start of `self` to the end of `other`, which lies behind it in the same file.
    pub fn to(self, other: Self) -> Self {
        debug_assert_eq!(self.file, other.file);
        Self { end: other.end.max(self.start), ..self }
    }

    /// Length in bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether no byte lies in it.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether `other` lies inside (touching the ends counts).
    pub fn contains(self, other: Self) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }

    /// The range for slicing the file's bytes.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A place as people count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// 1-based.
    pub line: u32,
    /// 1-based, in characters (Unicode scalar values; an undecodable byte counts as one).
    pub column: u32,
    /// In bytes from the start of the file.
    pub offset: u32,
}

/// The bytes of one file. Any bytes: neither server asks for UTF-8.
#[derive(Debug)]
pub struct SourceFile {
    path: PathBuf,
    bytes: Arc<[u8]>,
    lines: OnceLock<Vec<u32>>,
    /// Places in long lines with the number of characters between the start of the line and them.
    steps: OnceLock<Vec<(u32, u32)>>,
}

/// In a line longer than this, columns are counted from a step that is at most about so far away.
const STEP: usize = 4096;

impl SourceFile {
    /// A file as it was read. `path` is the name it is reported under.
    pub fn new(path: impl Into<PathBuf>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), lines: OnceLock::new(), steps: OnceLock::new() }
    }

    /// The name it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole content.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// The bytes of a span of this file.
    pub fn slice(&self, span: Span) -> &[u8] {
        &self.bytes[span.range()]
    }

    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let after = memchr::memchr_iter(b'\n', &self.bytes).map(|at| at as u32 + 1);
            std::iter::once(0).chain(after).collect()
        })
    }

    /// Number of lines; a last line without a line feed counts, an empty rest behind one too.
    pub fn line_count(&self) -> u32 {
        self.lines().len() as u32
    }

    /// 1-based number of the line that holds `offset`.
    pub fn line_of(&self, offset: u32) -> u32 {
        self.lines().partition_point(|&start| start <= offset) as u32
    }

    /// Byte range of a 1-based line, without its line end (LF or CRLF).
    pub fn line_range(&self, line: u32) -> std::ops::Range<usize> {
        let lines = self.lines();
        let start = lines[line as usize - 1] as usize;
        let end = lines.get(line as usize).map_or(self.bytes.len(), |&next| next as usize - 1);
        let end = if end > start && self.bytes[end - 1] == b'\r' { end - 1 } else { end };
        start..end
    }

    /// The text of a 1-based line, without its line end.
    pub fn line_bytes(&self, line: u32) -> &[u8] {
        &self.bytes[self.line_range(line)]
    }

    /// Line and column of a byte offset.
    pub fn position(&self, offset: u32) -> Position {
        let line = self.line_of(offset);
        let start = self.lines()[line as usize - 1];
        let (from, before) = if offset - start <= STEP as u32 { (start, 0) } else { self.step(start, offset) };
        let column = before + characters(&self.bytes[from as usize..offset as usize]) + 1;
        Position { line, column, offset }
    }

    /// The last step at or in front of `offset` in the line that begins at `start`.
    fn step(&self, start: u32, offset: u32) -> (u32, u32) {
        let steps = self.steps.get_or_init(|| self.steps());
        let after = steps.partition_point(|&(at, _)| at <= offset);
        after.checked_sub(1).map(|index| steps[index]).filter(|&(at, _)| at >= start).unwrap_or((start, 0))
    }

    fn steps(&self) -> Vec<(u32, u32)> {
        let mut steps = Vec::new();
        let long = (1..=self.line_count()).map(|line| self.line_range(line)).filter(|range| range.len() > STEP);
        for range in long {
            let (mut at, mut count) = (range.start, 0);
            while range.end - at > STEP {
                let end = boundary(&self.bytes, at + STEP);
                count += characters(&self.bytes[at..end]);
                at = end;
                steps.push((at as u32, count));
            }
        }
        steps
    }
}

/// Number of characters; a byte that is not UTF-8 counts as one.
fn characters(bytes: &[u8]) -> u32 {
    bytes.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum::<usize>() as u32
}

/// `at`, or the start of the character that it lies in.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let inside = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(3)..=at).rev().find(|&at| !inside(at)).unwrap_or(at)
}

/// The files of a run, by [`FileId`].
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<Arc<SourceFile>>,
}

impl Sources {
    /// No files yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file; its id is the number of files before it.
    pub fn add(&mut self, file: Arc<SourceFile>) -> FileId {
        self.files.push(file);
        FileId(self.files.len() as u32 - 1)
    }

    /// The file of an id that this value gave out.
    pub fn get(&self, id: FileId) -> &Arc<SourceFile> {
        &self.files[id.0 as usize]
    }

    /// All files in order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (FileId, &Arc<SourceFile>)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }

    /// The bytes of a span.
    pub fn slice(&self, span: Span) -> &[u8] {
        self.get(span.file).slice(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_survive_bad_utf8() {
        let file = SourceFile::new("a", &b"a\xc3\xa4b\r\n\xffx\n"[..]);
        assert_eq!(file.line_count(), 3);
        assert_eq!(file.position(3), Position { line: 1, column: 3, offset: 3 });
        assert_eq!(file.position(7), Position { line: 2, column: 2, offset: 7 });
        assert_eq!(file.line_bytes(1), "aäb".as_bytes());
        assert_eq!(file.position(9), Position { line: 3, column: 1, offset: 9 });
    }

    #[test]
    fn columns_of_long_lines_are_those_counted_from_the_start() {
        let unit = b"a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xff\x80\xe2\x82";
        let bytes = [b"short\n", &unit.repeat(3000)[..], b"\r\n", &unit.repeat(2000)[..]].concat();
        let file = SourceFile::new("a", &bytes[..]);
        for offset in (0..bytes.len()).step_by(97) {
            let start = bytes[..offset].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            // In the middle of a character its first bytes count as ones that are not UTF-8.
            let column = characters(&bytes[start..offset]) + 1;
            assert_eq!(file.position(offset as u32).column, column, "{offset}");
        }
    }
}
