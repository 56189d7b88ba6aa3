//! Unified diffs that `git apply` and `patch -p1` take, byte for byte.

use std::io::Write;
use std::path::Path;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

/// Lines shown around a change.
pub const CONTEXT: usize = 3;

/// A file that changes.
#[derive(Debug, Clone, Copy)]
pub struct FileDiff<'a> {
    /// The file itself, an absolute path without links.
    pub path: &'a Path,
    /// What it holds.
    pub old: &'a [u8],
    /// What it is to hold.
    pub new: &'a [u8],
}

/// The folder that the names in a patch are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The working directory.
    Here,
    /// `/`, as at least one file lies outside the working directory.
    Root,
}

impl Base {
    /// The command that applies the patch.
    pub fn command(self, patch: &str) -> String {
        match self {
            Self::Here => format!("patch -p1 < {patch}"),
            Self::Root => format!("patch -d / -p1 < {patch}"),
        }
    }
}

/// One patch for all files, and what its names are relative to. `here` is the working directory,
/// an absolute path without links.
pub fn patch(files: &[FileDiff<'_>], here: &Path) -> (Vec<u8>, Base) {
    let inside: Option<Vec<&Path>> = files.iter().map(|file| file.path.strip_prefix(here).ok()).collect();
    let base = if inside.is_some() { Base::Here } else { Base::Root };
    let names = inside.unwrap_or_else(|| files.iter().map(|file| from_root(file.path)).collect());
    let mut out = Vec::new();
    for (file, name) in files.iter().zip(names) {
        write(&mut out, name, file.old, file.new);
    }
    (out, base)
}

/// The path without its root, so that it can stand behind `a/`.
fn from_root(path: &Path) -> &Path {
    path.ancestors().last().and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path)
}

/// The diff of one file. Nothing where nothing changes.
fn write(out: &mut Vec<u8>, name: &Path, old: &[u8], new: &[u8]) {
    let hunks = hunks(old, new, 0);
    if hunks.is_empty() {
        return;
    }
    for (mark, side) in [("---", "a/"), ("+++", "b/")] {
        out.extend_from_slice(mark.as_bytes());
        out.push(b' ');
        write_name(out, side, name);
        out.push(b'\n');
    }
    out.extend_from_slice(&hunks);
}

/// The hunks of a diff without the names. The texts are a part of a file with `skipped` lines before it.
pub fn hunks(old: &[u8], new: &[u8], skipped: usize) -> Vec<u8> {
    let (old, new) = (lines(old), lines(new));
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let mut out = Vec::new();
    for hunk in group_diff_ops(ops, CONTEXT) {
        write_hunk(&mut out, &hunk, &old, &new, skipped);
    }
    out
}

/// The lines of `new`, 1-based, that `old` has not.
pub fn changed_lines(old: &[u8], new: &[u8]) -> Vec<std::ops::Range<u32>> {
    let ops = capture_diff_slices(Algorithm::Myers, &lines(old), &lines(new));
    let changed = ops.iter().filter(|op| matches!(op.tag(), DiffTag::Insert | DiffTag::Replace));
    changed.map(|op| op.new_range().start as u32 + 1..op.new_range().end as u32 + 1).collect()
}

/// Lines with their line feeds; a carriage return alone ends none.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

fn write_hunk(out: &mut Vec<u8>, ops: &[DiffOp], old: &[&[u8]], new: &[&[u8]], skipped: usize) {
    let (Some(first), Some(last)) = (ops.first(), ops.last()) else { return };
    let (from, to) = (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
    let _ = writeln!(out, "@@ -{} +{} @@", place(&from, skipped), place(&to, skipped));
    for op in ops {
        if op.tag() == DiffTag::Equal {
            write_lines(out, b' ', &old[op.old_range()]);
        } else {
            write_lines(out, b'-', &old[op.old_range()]);
            write_lines(out, b'+', &new[op.new_range()]);
        }
    }
}

/// First line and number of lines; where there are none, the line before.
fn place(range: &std::ops::Range<usize>, skipped: usize) -> String {
    let before = skipped + range.start;
    match range.len() {
        0 => format!("{before},0"),
        1 => format!("{}", before + 1),
        len => format!("{},{len}", before + 1),
    }
}

fn write_lines(out: &mut Vec<u8>, mark: u8, lines: &[&[u8]]) {
    for line in lines {
        out.push(mark);
        out.extend_from_slice(line);
        if line.last() != Some(&b'\n') {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

/// A name as git writes it: in quotes where it holds a quote, a backslash or a control character,
/// with a tab behind it where it holds a space.
fn write_name(out: &mut Vec<u8>, side: &str, name: &Path) {
    let name = [side.as_bytes(), name.as_os_str().as_encoded_bytes()].concat();
    let special = |byte: &u8| byte.is_ascii_control() || matches!(byte, b'"' | b'\\');
    if !name.iter().any(special) {
        out.extend_from_slice(&name);
        if name.contains(&b' ') {
            out.push(b'\t');
        }
        return;
    }
    out.push(b'"');
    for byte in name {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            _ if byte.is_ascii_control() => {
                let _ = write!(out, "\\{byte:03o}");
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &str, old: &str, new: &str) -> (String, Base) {
        let file = FileDiff { path: Path::new(path), old: old.as_bytes(), new: new.as_bytes() };
        let (bytes, base) = patch(&[file], Path::new("/work"));
        (String::from_utf8(bytes).unwrap(), base)
    }

    #[test]
    fn a_hunk_and_its_numbers() {
        let (diff, base) = text("/work/conf.d/a.conf", "1\n2\n3\n4\n5\n6\n7", "1\n2\n3\n4\n5\n6\nx");
        assert_eq!(
            diff,
            "--- a/conf.d/a.conf\n+++ b/conf.d/a.conf\n@@ -4,4 +4,4 @@\n 4\n 5\n 6\n-7\n\\ No newline at end of file\n+x\n\\ No newline at end of file\n"
        );
        assert_eq!(base, Base::Here);
    }

    #[test]
    fn nothing_changed_prints_nothing() {
        assert_eq!(text("/work/a", "1\n", "1\n").0, "");
    }

    #[test]
    fn one_file_outside_makes_all_names_start_at_the_root() {
        let files = ["/work/a", "/etc/nginx/b"].map(|path| FileDiff { path: Path::new(path), old: b"1", new: b"2" });
        let (bytes, base) = patch(&files, Path::new("/work"));
        let diff = String::from_utf8(bytes).unwrap();
        assert!(diff.contains("--- a/work/a\n") && diff.contains("--- a/etc/nginx/b\n"), "{diff}");
        assert_eq!(base.command("fix.patch"), "patch -d / -p1 < fix.patch");
    }

    #[test]
    fn names_are_quoted_as_git_does() {
        assert!(text("/work/a b", "1", "2").0.starts_with("--- a/a b\t\n+++ b/a b\t\n"));
        assert!(text("/work/a\"b \n", "1", "2").0.starts_with("--- \"a/a\\\"b \\012\"\n"));
    }
}
