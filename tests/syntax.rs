//! nginx's syntax: each `fixtures/syntax/nginx/NAME.conf` against `NAME.tree` (written anew with `UPDATE=1`),
//! public configurations with the verdicts of real servers, and what holds for every text.

#![allow(missing_docs)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may stop at the first surprise, and says what it skips"
)]

mod corpus;
mod nginx_text;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proxylint::source::{FileId, SourceFile, Span};
use proxylint::syntax::SyntaxError;
use proxylint::syntax::nginx::{Parsed, parse};
use proxylint::syntax::tree::{Body, NodeData, Tree, WordData};

/// A file and what became of it.
struct Read {
    source: SourceFile,
    parsed: Parsed,
}

impl Read {
    fn text(name: impl Into<PathBuf>, bytes: impl Into<std::sync::Arc<[u8]>>) -> Self {
        let source = SourceFile::new(name, bytes);
        let parsed = parse(FileId(0), source.bytes());
        Self { source, parsed }
    }

    fn file(path: &Path) -> Self {
        Self::text(path, std::fs::read(path).unwrap())
    }

    fn place(&self, span: Span) -> String {
        let [start, end] = [span.start, span.end].map(|at| self.source.position(at));
        match (start.line == end.line, span.is_empty()) {
            (_, true) => format!("{}:{}", start.line, start.column),
            (true, _) => format!("{}:{}-{}", start.line, start.column, end.column),
            (false, _) => format!("{}:{}-{}:{}", start.line, start.column, end.line, end.column),
        }
    }

    fn shown(&self, span: Span) -> String {
        self.source.slice(span).escape_ascii().to_string().replace("\\\"", "\"").replace("\\'", "'")
    }

    /// A word as written, and what the server sees where that is more than its quotes taken off.
    fn word(&self, word: &WordData) -> String {
        let value = word.value.as_ref().map_or(String::new(), |value| format!(" (is {})", value.escape_ascii()));
        format!("{}{value}", self.shown(word.span))
    }

    fn node(&self, depth: usize, node: &NodeData) -> String {
        let words = self.parsed.tree.words_of(node);
        let place = words.first().map_or(String::new(), |word| self.place(word.span.before()));
        let words: Vec<String> = words.iter().map(|word| self.word(word)).collect();
        let end = match node.body {
            Body::None { end } if end.is_empty() => " (no end)".to_owned(),
            Body::None { .. } => " ;".to_owned(),
            Body::Block { open, close } => format!(" {{ {} … {}", self.place(open), self.place(close)),
            Body::Raw { open, text, close } => {
                format!(" {{ {} {} {}", self.place(open), self.shown(text), self.place(close))
            }
        };
        format!("{:8}{}{}{end}", place, "    ".repeat(depth), words.join(" | "))
    }

    fn dump(&self) -> String {
        let tree = &self.parsed.tree;
        let mut out = String::new();
        for node in &tree.nodes {
            let depth = std::iter::successors(parent(tree, node), |node| parent(tree, node)).count();
            writeln!(out, "{}", self.node(depth, node)).unwrap();
        }
        for &comment in &tree.comments {
            writeln!(out, "{:8}{}", self.place(comment.before()), self.shown(comment)).unwrap();
        }
        for error in &self.parsed.errors {
            writeln!(out, "\n! {} {}", self.place(error.span), error.message).unwrap();
            for (span, label) in &error.labels {
                writeln!(out, "  {} {label}", self.place(*span)).unwrap();
            }
            if let Some(help) = &error.help {
                writeln!(out, "  help: {help}").unwrap();
            }
            for &(span, text) in &error.repair {
                writeln!(out, "  repair {}: {text:?}", self.place(span)).unwrap();
            }
        }
        out
    }

    /// The lines that an error names: of its place, then of its labels.
    fn lines(&self, error: &SyntaxError) -> Vec<u32> {
        let labels = error.labels.iter().map(|(span, _)| span.start);
        std::iter::once(error.span.start).chain(labels).map(|at| self.source.line_of(at)).collect()
    }

    /// The text with every repair made.
    fn repaired(&self) -> Vec<u8> {
        let mut edits: Vec<_> = self.parsed.errors.iter().flat_map(|error| &error.repair).collect();
        edits.sort_by_key(|(span, _)| span.start);
        let mut text = self.source.bytes().to_vec();
        for (span, with) in edits.into_iter().rev() {
            text.splice(span.range(), with.bytes());
        }
        text
    }
}

fn parent<'t>(tree: &'t Tree, node: &NodeData) -> Option<&'t NodeData> {
    tree.nodes.get(node.parent as usize)
}

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/syntax/nginx");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ext| ext == "conf"));
    paths.sort();
    assert!(paths.len() > 40);
    paths
}

#[test]
fn fixtures_have_their_trees() {
    let mut wrong = Vec::new();
    for path in fixtures() {
        let is = Read::file(&path).dump();
        let expected = path.with_extension("tree");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&expected, &is).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != is {
            wrong.push(format!("{}:\n{is}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// A repair takes its error away and brings no other.
#[test]
fn repairs_mend_the_fixtures() {
    for path in fixtures() {
        let read = Read::file(&path);
        let left = read.parsed.errors.iter().filter(|error| error.repair.is_empty()).map(|error| &error.message);
        let again = Read::text(&path, read.repaired());
        let found = again.parsed.errors.iter().map(|error| &error.message);
        assert!(left.eq(found), "{}:\n{}", path.display(), again.dump());
    }
}

#[test]
fn corpus_files_that_nginx_accepts_have_no_syntax_error() {
    for case in corpus::nginx() {
        let accepts = |kind: &str| matches!(kind, "ok" | "environment");
        if case.verdicts.iter().any(|verdict| accepts(&verdict.kind)) {
            let read = Read::file(&case.path);
            assert_eq!(read.parsed.errors, [], "{}", case.name);
        }
    }
}

#[test]
fn corpus_files_that_nginx_refuses_have_their_first_error_where_it_says() {
    let mut wrong = Vec::new();
    for case in corpus::nginx() {
        for verdict in &case.verdicts {
            let Some(line) = verdict.line.filter(|_| !case.template) else { continue };
            let read = Read::file(&case.path);
            let lines: Vec<_> = read.parsed.errors.iter().map(|error| read.lines(error)).collect();
            let early = lines.iter().any(|lines| lines.iter().all(|&at| at < line));
            let missed = verdict.kind == "syntax-error" && !lines.iter().any(|lines| lines.contains(&line));
            if early || missed {
                wrong.push(format!("{}:{line}: {}: {lines:?}", case.name, verdict.message));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What holds for the tree of any text.
fn check(bytes: &[u8]) {
    let Parsed { tree, errors } = parse(FileId(0), bytes);
    let mut at = 0;
    for word in &tree.words {
        assert!(word.span.start >= at && word.span.end > word.span.start, "words follow each other");
        at = word.span.end;
        assert!(word.value_in(bytes).len() <= word.span.len());
    }
    let mut first_word = 0;
    for (index, node) in tree.nodes.iter().enumerate() {
        assert_eq!(node.first_word, first_word, "every word belongs to one directive");
        first_word += node.word_count;
        let outside = parent(&tree, node).map_or(tree.nodes.len() as u32, |parent| parent.end);
        assert!(node.end > index as u32 && node.end <= outside, "blocks lie inside each other");
    }
    assert_eq!(first_word as usize, tree.words.len());
    for error in &errors {
        let spans = error.labels.iter().map(|(span, _)| span).chain([&error.span]);
        assert!(spans.chain(error.repair.iter().map(|(span, _)| span)).all(|span| span.end as usize <= bytes.len()));
    }
    assert!(errors.is_sorted_by_key(|error| error.span.start));
}

#[test]
fn any_bytes_become_a_tree() {
    let mut random = nginx_text::Random::new(1);
    for _ in 0..20_000 {
        check(&nginx_text::pieces(&mut random, 40));
    }
    for _ in 0..2_000 {
        let length = random.below(200);
        check(&(0..length).map(|_| random.below(256) as u8).collect::<Vec<_>>());
    }
    for path in fixtures() {
        let text = std::fs::read(path).unwrap();
        for end in 0..text.len() {
            check(&text[..end]);
        }
        for _ in 0..200 {
            check(&nginx_text::damage(&mut random, &text));
        }
    }
}

/// Time in proportion to the length, whatever the text: some of these would take minutes otherwise.
#[test]
fn no_text_takes_long() {
    const LENGTH: usize = 100_000;
    let start = std::time::Instant::now();
    let parts: [&[u8]; 24] = [
        b"{",
        b"}",
        b"a{",
        b"a}",
        b"a {\n",
        b"a\n",
        b"listen\n",
        b"listen 80\n",
        b"'",
        b"'a\n",
        b"\"'\n",
        b"\\\"",
        b"{{",
        b"{%",
        b"$",
        b"${",
        b"a{3}",
        b"location ~ a{3} ",
        b"x_by_lua_block {",
        b"x_by_lua_block {\n\"\\\"",
        b"x_by_lua_block {[[",
        b"-",
        b"map {\na\n",
        b"  a {\n b {\n}\n",
    ];
    for part in parts {
        let text = part.repeat(LENGTH / part.len());
        for begin in [&b""[..], b"content_by_lua_block {", b"events {\n", b"'", b"map $a $b {"] {
            check(&[begin, &text].concat());
        }
    }
    let took = start.elapsed();
    // Other programs may run beside it.
    assert!(took.as_secs() < 120, "{took:?}");
}
