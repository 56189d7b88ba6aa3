//! Comments to proxylint: `# proxylint: ignore[rule] reason`, and what they cover.

use std::collections::BTreeSet;

use foldhash::HashMap;

use crate::catalog::nginx::Context;
use crate::model::{Model, Node, NodeId};
use crate::source::{FileId, SourceFile, Span};
use crate::suggest;
use crate::syntax::note::body;
use crate::syntax::tree::Body;

/// What a comment may begin with.
const WORDS: [&str; 3] = ["ignore", "ignore-file", "context"];

/// A comment that ignores rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ignore {
    /// The comment with its `#`.
    pub(super) span: Span,
    /// The text between the brackets.
    pub(super) list: Span,
    /// The rules that it names, as written.
    pub(super) names: Vec<(Span, String)>,
    /// What it covers; `None` where no directive follows.
    pub(super) covers: Option<Span>,
    /// Whether it stands in a text that was not read: a snippet that nothing imports.
    pub(super) is_unread: bool,
}

/// A comment that says something else than a comment may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// The comment, or the part that is wrong.
    pub(super) span: Span,
    /// What is wrong with it.
    pub(super) message: String,
    /// What to do.
    pub(super) help: String,
}

/// The comments to proxylint of a configuration.
#[derive(Debug, Default)]
pub(super) struct Comments {
    /// Those that ignore rules.
    pub(super) ignores: Vec<Ignore>,
    /// Those that are wrong.
    pub(super) faults: Vec<Fault>,
}

impl Comments {
    /// Those of a configuration, in the order of its files and texts.
    pub(super) fn of(model: &Model) -> Self {
        let all = model.trees().iter().flat_map(|tree| &tree.comments).copied();
        // An imported file may be read more than once.
        let ours: BTreeSet<Span> = all.filter(|&span| body(model.text(span)).is_some()).collect();
        let mut comments = Self::default();
        let mut places = Places::new(model);
        for span in ours {
            let file = model.file(span);
            match parse(file, span) {
                Ok(Parsed::Ignore { list, names, whole_file }) => {
                    let covers = if whole_file {
                        Some(Span::new(span.file, 0, file.bytes().len() as u32))
                    } else {
                        places.covered(span)
                    };
                    let is_unread = covers.is_none() && places.is_raw(span);
                    comments.ignores.push(Ignore { span, list, names, covers, is_unread });
                }
                Ok(Parsed::Context) => {}
                Err(fault) => comments.faults.push(fault),
            }
        }
        comments
    }
}

enum Parsed {
    Ignore { list: Span, names: Vec<(Span, String)>, whole_file: bool },
    Context,
}

fn parse(file: &SourceFile, comment: Span) -> Result<Parsed, Fault> {
    let (offset, body) = body(file.slice(comment)).expect("it was asked before");
    let start = comment.start + offset as u32;
    let word_end =
        body.iter().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))).unwrap_or(body.len());
    let word = String::from_utf8_lossy(&body[..word_end]).into_owned();
    let fault = |message: String, help: &str| Fault { span: comment, message, help: help.to_owned() };
    if word.is_empty() {
        return Err(fault("the comment says nothing to proxylint".to_owned(), IGNORE_HELP));
    }
    if !WORDS.contains(&word.as_str()) {
        let hint = suggest::did_you_mean(&word, WORDS);
        return Err(fault(format!("`{word}` is nothing that a comment can say to proxylint{hint}"), IGNORE_HELP));
    }
    let Some(inner) = body[word_end..].strip_prefix(b"[") else {
        return Err(fault(format!("`{word}` has no `[…]` behind it: it does nothing"), help_for(&word)));
    };
    let Some(close) = memchr::memchr(b']', inner) else {
        return Err(fault(format!("the `[` behind `{word}` is not closed: it does nothing"), help_for(&word)));
    };
    if word == "context" {
        let name = String::from_utf8_lossy(inner[..close].trim_ascii()).into_owned();
        if Context::parse(&name).is_none() {
            let hint = suggest::did_you_mean(&name, Context::ALL.iter().map(|known| known.id()));
            return Err(fault(format!("`{name}` is no context of nginx's configuration{hint}"), CONTEXT_HELP));
        }
        return Ok(Parsed::Context);
    }
    let list = Span::new(comment.file, start + word_end as u32 + 1, start + (word_end + 1 + close) as u32);
    let names = names(file, list);
    if names.is_empty() {
        return Err(fault(format!("`{word}[]` names no rule: it ignores nothing"), IGNORE_HELP));
    }
    if inner[close + 1..].trim_ascii().is_empty() {
        return Err(fault(format!("`{word}[…]` gives no reason: it ignores nothing until it does"), IGNORE_HELP));
    }
    Ok(Parsed::Ignore { list, names, whole_file: word == "ignore-file" })
}

const IGNORE_HELP: &str =
    "write `# proxylint: ignore[rule] reason` above a directive or behind it, or `ignore-file[rule] reason`";
const CONTEXT_HELP: &str = "write `# proxylint: context[location]`";

fn help_for(word: &str) -> &'static str {
    if word == "context" { CONTEXT_HELP } else { IGNORE_HELP }
}

/// The names in a list, each with its place.
fn names(file: &SourceFile, list: Span) -> Vec<(Span, String)> {
    let mut names = Vec::new();
    let mut at = list.start;
    for part in file.slice(list).split(|&byte| byte == b',') {
        let lead = part.len() - part.trim_ascii_start().len();
        let name = part.trim_ascii();
        if !name.is_empty() {
            let start = at + lead as u32;
            let span = Span::new(list.file, start, start + name.len() as u32);
            names.push((span, String::from_utf8_lossy(name).into_owned()));
        }
        at += part.len() as u32 + 1;
    }
    names
}

/// The directives of a configuration by file, in the order of the text; made for the files that are asked
/// about.
pub(crate) struct Places<'m> {
    model: &'m Model,
    /// Of all files, once one was asked for.
    files: Option<HashMap<FileId, Vec<(Span, NodeId)>>>,
}

impl<'m> Places<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        Self { model, files: None }
    }

    /// Whole directives of a file, each once, the outer before the inner.
    fn directives(&mut self, file: FileId) -> &[(Span, NodeId)] {
        let model = self.model;
        let files = self.files.get_or_insert_with(|| {
            let mut files: HashMap<FileId, Vec<(Span, NodeId)>> = HashMap::default();
            for node in model.nodes() {
                let span = node.span();
                files.entry(span.file).or_default().push((span, node.id()));
            }
            for spans in files.values_mut() {
                spans.sort_unstable_by_key(|(span, id)| (span.start, std::cmp::Reverse(span.end), *id));
                spans.dedup_by_key(|(span, _)| *span);
            }
            files
        });
        files.get(&file).map_or(&[], Vec::as_slice)
    }

    /// Whether a place lies in a text whose directives are not here.
    fn is_raw(&mut self, place: Span) -> bool {
        let model = self.model;
        let around = self.around(place.file, place.start);
        around.is_some_and(|(_, id)| matches!(model.node(id).body(), Body::Raw { .. }))
    }

    fn around(&mut self, file: FileId, offset: u32) -> Option<(Span, NodeId)> {
        let spans = self.directives(file);
        let behind = spans.partition_point(|(span, _)| span.start <= offset);
        let (_, id) = *spans[..behind].last()?;
        // It, or one of the blocks that it stands in.
        let last = self.model.node(id);
        let mut around = std::iter::once(last).chain(last.ancestors()).map(|node| (node.span(), node.id()));
        let found = around.find(|(span, _)| span.file != file || offset < span.end.max(span.start + 1));
        found.filter(|(span, _)| span.file == file)
    }

    /// The innermost directive that holds the byte at `offset`, where its file is read first.
    pub(crate) fn node(&mut self, file: FileId, offset: u32) -> Option<Node<'m>> {
        self.around(file, offset).map(|(_, id)| self.model.node(id))
    }

    /// The innermost directive that holds the byte at `offset`.
    pub(crate) fn innermost(&mut self, file: FileId, offset: u32) -> Option<Span> {
        self.around(file, offset).map(|(span, _)| span)
    }

    /// The first directive that begins at `offset` or behind it.
    pub(crate) fn next(&mut self, file: FileId, offset: u32) -> Option<Span> {
        let spans = self.directives(file);
        spans.get(spans.partition_point(|(span, _)| span.start < offset)).map(|(span, _)| *span)
    }

    /// What a comment covers: behind a directive, the directives of its line with their blocks; on a line of
    /// its own, the next directive of the block.
    fn covered(&mut self, comment: Span) -> Option<Span> {
        let model = self.model;
        let bytes = model.file(comment).bytes();
        let start = comment.start as usize;
        let line = memchr::memrchr(b'\n', &bytes[..start]).map_or(0, |at| at + 1);
        let before = bytes[line..start].trim_ascii_end();
        if before.trim_ascii_start().is_empty() {
            let around = self.innermost(comment.file, comment.start);
            let next = self.next(comment.file, comment.end)?;
            return Some(next).filter(|next| around.is_none_or(|around| next.start < around.end));
        }
        let last = (line + before.len() - 1) as u32;
        let directive = self.innermost(comment.file, last);
        let line = Span::new(comment.file, line as u32, comment.start);
        Some(directive.map_or(line, |it| Span::new(it.file, it.start.min(line.start), it.end.max(line.end))))
    }
}
