//! `--add-ignores`: comments that ignore what is found today.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use foldhash::HashMap;

use super::{Config, Error, Found, Outcome, Request};
use crate::files::{Files, Overlay};
use crate::lint::comments::Places;
use crate::lint::rounds::Changed;
use crate::model::Model;
use crate::rule::Activation;
use crate::source::{SourceFile, Span};

/// Comments that ignore what is found.
#[derive(Debug)]
pub struct Ignoring {
    /// The files with the comments in them.
    pub changed: Vec<Changed>,
    /// Number of findings that they ignore.
    pub ignored: usize,
    /// What is found afterwards: what no comment can ignore.
    pub left: Outcome,
}

/// Where a comment goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// On a line of its own that begins at the offset, in front of the directive at the other one.
    Above(usize, usize),
    /// Behind the text that ends at the offset.
    Behind(usize),
}

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The rules to ignore at each place of a file.
type Wanted<'a> = BTreeMap<Place, BTreeSet<&'a str>>;

/// Puts a comment with that reason at everything that is found. Nothing is written.
///
/// # Errors
/// When a path cannot be checked.
pub fn ignoring(files: &dyn Files, request: &Request, reason: &str) -> Result<Ignoring, Vec<Error>> {
    let found = super::run(files, request, None)?;
    let mut comments: BTreeMap<PathBuf, (Arc<SourceFile>, Wanted<'_>)> = BTreeMap::new();
    let mut places: HashMap<usize, Places<'_>> = HashMap::default();
    for (index, finding) in found.located().filter(|(index, it)| is_ignorable(&found.configs[*index], it)) {
        let model = &*found.configs[index].after;
        let directives = places.entry(index).or_insert_with(|| Places::new(model));
        let span = finding.finding.span;
        let Some(place) = place(model, directives, span) else { continue };
        let file = model.file(span);
        let path = files.canonical(file.path()).unwrap_or_else(|_| file.path().to_owned());
        let (_, places) = comments.entry(path).or_insert_with(|| (file.clone(), BTreeMap::new()));
        places.entry(place).or_default().insert(&finding.finding.rule);
    }
    let changed: Vec<Changed> = comments
        .into_iter()
        .map(|(path, (file, places))| {
            let new = with_comments(file.bytes(), &places, reason);
            Changed { path, old: file.bytes().clone(), new: new.into() }
        })
        .collect();
    let new = changed.iter().map(|it| (it.path.clone(), it.new.clone())).collect();
    let left = super::run(&Overlay::with(files, new), request, None)?;
    let ignored = found.findings.len().saturating_sub(left.findings.len());
    Ok(Ignoring { changed, ignored, left })
}

/// Whether a comment may ignore a finding: none about comments, about text that is not understood, or about
/// files that are not there.
fn is_ignorable(config: &Config, found: &Found) -> bool {
    let active = config.policy.rules.find(&found.finding.rule);
    active.is_ok_and(|active| active.rule.server.is_some() && active.rule.activation != Activation::Always)
}

/// Where a comment covers a span: above the line of its directive, where the line begins with it, else
/// behind that line.
fn place(model: &Model, places: &mut Places<'_>, span: Span) -> Option<Place> {
    let directive = places.innermost(span.file, span.start)?;
    let bytes = model.file(span).bytes();
    let line = line_start(bytes, directive.start as usize);
    // A byte order mark stays in front.
    let line = if line == 0 && bytes.starts_with(BOM) { BOM.len() } else { line };
    let text = line + bytes[line..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let first = places.next(span.file, text as u32).filter(|first| first.start as usize == text);
    if first.is_some_and(|first| first.contains(directive)) {
        return Some(Place::Above(line, text));
    }
    let end = directive.end as usize;
    let line_end = memchr::memchr(b'\n', &bytes[end..]).map_or(bytes.len(), |at| end + at);
    let rest = bytes[end..line_end].trim_ascii_end();
    (!rest.contains(&b'#')).then_some(Place::Behind(end + rest.len()))
}

fn line_start(bytes: &[u8], offset: usize) -> usize {
    memchr::memrchr(b'\n', &bytes[..offset]).map_or(0, |at| at + 1)
}

fn with_comments(bytes: &[u8], places: &Wanted<'_>, reason: &str) -> Vec<u8> {
    let mut inserts: Vec<(usize, Vec<u8>)> = Vec::new();
    for (place, rules) in places {
        let rules: Vec<&str> = rules.iter().copied().collect();
        let comment = format!("# proxylint: ignore[{}] {reason}", rules.join(", ")).into_bytes();
        inserts.push(match *place {
            Place::Above(line, text) => (line, [&bytes[line..text], &comment, line_end(bytes, text)].concat()),
            Place::Behind(end) => (end, [b" ", &comment[..]].concat()),
        });
    }
    inserts.sort_by_key(|(at, _)| *at);
    let mut out = Vec::with_capacity(bytes.len() + inserts.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut done = 0;
    for (at, text) in inserts {
        out.extend_from_slice(&bytes[done..at]);
        out.extend(text);
        done = at;
    }
    out.extend_from_slice(&bytes[done..]);
    out
}

/// The line end that follows `offset`, or that of the text in front.
fn line_end(bytes: &[u8], offset: usize) -> &'static [u8] {
    let end = memchr::memchr(b'\n', &bytes[offset..]).map(|at| offset + at);
    let end = end.or_else(|| memchr::memrchr(b'\n', &bytes[..offset]));
    if end.is_some_and(|end| end > 0 && bytes[end - 1] == b'\r') { b"\r\n" } else { b"\n" }
}
