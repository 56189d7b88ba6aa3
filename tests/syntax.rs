//! nginx's syntax: public configurations with the verdicts of real servers.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic, and says what it skips")]

use std::path::{Path, PathBuf};

use proxylint::source::{FileId, SourceFile};
use proxylint::syntax::nginx::{Parsed, parse};

/// A file of the corpus and what `nginx -t` said of it.
struct Case {
    path: PathBuf,
    template: bool,
    verdict: String,
    /// The line that nginx named, where the file was this one.
    line: Option<u32>,
    /// What nginx said.
    detail: String,
}

/// The nginx files of `../shared/corpus`; none where it is not there.
fn corpus() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let Ok(index) = std::fs::read_to_string(root.join("INDEX.tsv")) else {
        eprintln!("skipped: no corpus at {}", root.display());
        return Vec::new();
    };
    let mut cases = Vec::new();
    for row in index.lines().filter(|row| row.starts_with("nginx/")) {
        let cell: Vec<&str> = row.split('\t').collect();
        let (detail, place) = cell[8].rsplit_once(" @").unwrap_or((cell[8], ""));
        let line = place.rsplit_once(':').filter(|(file, _)| cell[0].ends_with(file)).and_then(|(_, n)| n.parse().ok());
        cases.push(Case {
            path: root.join(cell[0]),
            template: cell[4] == "template",
            verdict: cell[6].to_owned(),
            line,
            detail: detail.to_owned(),
        });
    }
    cases
}

/// The lines that an error names, of its place and its labels.
fn lines(source: &SourceFile, parsed: &Parsed) -> Vec<Vec<u32>> {
    let of = |error: &proxylint::syntax::SyntaxError| {
        let labels = error.labels.iter().map(|(span, _)| span.start);
        std::iter::once(error.span.start).chain(labels).map(|at| source.line_of(at)).collect()
    };
    parsed.errors.iter().map(of).collect()
}

#[test]
fn corpus_files_that_nginx_accepts_have_no_syntax_error() {
    for case in corpus() {
        let source = SourceFile::new(&case.path, std::fs::read(&case.path).unwrap());
        let parsed = parse(FileId(0), source.bytes());
        if matches!(case.verdict.as_str(), "ok" | "environment") {
            assert_eq!(parsed.errors, [], "{}", case.path.display());
        }
    }
}

#[test]
fn corpus_files_that_nginx_refuses_have_an_error_where_it_says() {
    let mut wrong = Vec::new();
    for case in corpus().into_iter().filter(|case| case.verdict == "syntax-error" && !case.template) {
        // What a directive takes is not grammar.
        let Some(line) = case.line.filter(|_| !case.detail.contains("is not terminated")) else { continue };
        let source = SourceFile::new(&case.path, std::fs::read(&case.path).unwrap());
        let found = lines(&source, &parse(FileId(0), source.bytes()));
        if !found.iter().flatten().any(|&at| at == line) {
            wrong.push(format!("{}:{line}: {}: {found:?}", case.path.display(), case.detail));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
