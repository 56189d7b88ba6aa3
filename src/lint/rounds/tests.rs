//! The rounds with a toy in the linter's place: files of words, rules that replace words.

use std::path::Path;

use super::*;
use crate::files::Memory;
use crate::finding::{Category, Severity};
use crate::fix::{Edit, Fix};
use crate::model::{Problem, ProblemKind, nginx::Context};
use crate::source::{SourceFile, Sources, Span};
use crate::syntax::SyntaxError;
use crate::version::{Server, Version};

struct Toy;

impl Linter for Toy {
    type Error = std::io::Error;

    fn load(&mut self, _: usize, before: &Checked, files: &dyn Files) -> Result<Model, Self::Error> {
        let main = before.model.sources().get(before.model.main()).path().to_owned();
        Ok(Arc::into_inner(read(files, &main)?.model).unwrap())
    }

    fn check(&mut self, before: &Checked, model: Model) -> Checked {
        let findings = findings(&model);
        Checked { model: Arc::new(model), findings, ..before.clone() }
    }
}

/// `include NAME` on a line reads another file; a `{` without `}` is a syntax error.
fn read(files: &dyn Files, main: &Path) -> std::io::Result<Checked> {
    let mut paths = vec![main.to_owned()];
    let mut sources = Sources::new();
    let mut problems = Vec::new();
    let mut read = 0;
    while let Some(path) = paths.get(read).cloned() {
        read += 1;
        let bytes = files.read(&path)?;
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let file = sources.add(Arc::new(SourceFile::new(path, bytes)));
        let names = text.lines().filter_map(|line| line.strip_prefix("include "));
        paths.extend(names.map(|name| main.with_file_name(name)));
        let span = |start: usize, len: usize| Span::new(file, start as u32, (start + len) as u32);
        if text.matches('(').count() > 1 {
            let error = SyntaxError::new(span(0, 1), "two brackets");
            problems.push(Problem { kind: ProblemKind::Syntax, error, versions: None });
        }
        if let Some((start, _)) = text.match_indices('{').find(|(start, _)| !text[*start..].contains('}')) {
            problems.push(Problem {
                kind: ProblemKind::Syntax,
                error: SyntaxError::new(span(start, 1), "unclosed `{`"),
                versions: None,
            });
        }
    }
    let main = crate::source::FileId(0);
    let (trees, entries, chains, not_read) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let model = Model::new(Server::Nginx, main, sources, trees, entries, chains, problems, not_read, Context::Main);
    let findings = findings(&model);
    Ok(Checked { model: Arc::new(model), target: VersionSet::branch(1, 24), stated: true, findings })
}

fn findings(model: &Model) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in model.sources().iter() {
        let text = std::str::from_utf8(source.bytes()).unwrap();
        for (start, word) in words(text) {
            if word != "{" || !text[start..].contains('}') {
                findings.extend(finding(Span::new(file, start as u32, (start + word.len()) as u32), word));
            }
        }
    }
    findings
}

fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_ascii_whitespace().map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

fn finding(span: Span, word: &str) -> Option<Finding> {
    let to = |text: &str| vec![Edit::replace(span, text)];
    let wide = Span { start: span.start.saturating_sub(4), ..span };
    let fixes = match word {
        "old" => vec![Fix::safe("renew", to("new"))],
        "two" => vec![Fix::safe("halve", to("old"))],
        "wide" => vec![Fix::safe("narrow", vec![Edit::replace(wide, "slim")])],
        "risk" => vec![Fix::risky("dare", to("dared"), "everything")],
        "both" => vec![Fix::risky("dare", to("dared"), "everything"), Fix::safe("mend", to("mended"))],
        "young" => vec![Fix::safe("age", to("aged")).needs(VersionSet::since(Version::new(1, 25, 0)))],
        "ping" => vec![Fix::safe("pong", to("pong"))],
        "pong" => vec![Fix::safe("ping", to("ping"))],
        "half" => vec![Fix::safe("bracket", to("("))],
        "break" => vec![Fix::safe("open", to("{"))],
        "{" => vec![Fix::safe("close", vec![Edit::insert_after(span, " }")])],
        "grow" => vec![Fix::safe(
            "add",
            vec![Edit::insert_before(Span { start: 0, end: 0, ..span }, "top\n"), Edit::replace(span, "grown")],
        )],
        _ => return None,
    };
    Some(Finding {
        rule: format!("toy/{word}").into(),
        severity: Severity::Warning,
        category: Category::Style,
        message: String::new(),
        span,
        labels: Vec::new(),
        versions: None,
        fixes,
        note: None,
    })
}

fn memory(files: &[(&str, &str)]) -> Memory {
    let mut memory = Memory::new();
    for (path, text) in files {
        memory.insert(path, text.as_bytes());
    }
    memory
}

fn play(files: &dyn Files, mains: &[&str], allow: Safety) -> Outcome {
    let first = mains.iter().map(|main| read(files, Path::new(main)).unwrap()).collect();
    run(&mut Toy, files, first, allow).unwrap()
}

fn fixed(text: &str, allow: Safety) -> (String, Outcome) {
    let files = memory(&[("/main", text)]);
    let outcome = play(&files, &["/main"], allow);
    let new = outcome.changed.first().map_or(text.to_owned(), |c| String::from_utf8(c.new.to_vec()).unwrap());
    (new, outcome)
}

fn reasons(outcome: &Outcome) -> Vec<(String, String)> {
    let rule = |held: &Held| outcome.checked[held.model].findings[held.finding].rule.to_string();
    outcome.held.iter().map(|held| (rule(held), held.reason.to_string())).collect()
}

#[test]
fn rounds_go_on_until_nothing_changes() {
    let (new, outcome) = fixed("two old x\n", Safety::Safe);
    assert_eq!(new, "new new x\n");
    assert_eq!(outcome.rounds, 2);
    assert_eq!(outcome.applied.len(), 3);
    assert_eq!(outcome.applied[0].position.column, 1);
    assert_eq!((outcome.held.len(), outcome.bug()), (0, false));
    assert_eq!(&*outcome.changed[0].old, b"two old x\n");
}

#[test]
fn nothing_to_do_changes_nothing() {
    let (new, outcome) = fixed("fine\n", Safety::Unsafe);
    assert_eq!((new.as_str(), outcome.rounds, outcome.changed.len()), ("fine\n", 0, 0));
}

#[test]
fn what_overlaps_waits_for_the_next_round() {
    // "wide" replaces the word before it too.
    let (new, _) = fixed("old wide old\n", Safety::Safe);
    assert_eq!(new, "slim new\n");
}

#[test]
fn unsafe_fixes_are_held_back_unless_asked_for() {
    let (new, outcome) = fixed("risk old both\n", Safety::Safe);
    assert_eq!(new, "risk new mended\n", "the second fix, where it alone is safe");
    assert_eq!(reasons(&outcome), [("toy/risk".into(), "unsafe, as everything; apply it with --unsafe-fixes".into())]);
    let (new, outcome) = fixed("risk old both\n", Safety::Unsafe);
    assert_eq!(new, "dared new dared\n");
    assert!(outcome.held.is_empty());
}

#[test]
fn a_text_that_a_version_refuses_is_never_written() {
    let (new, outcome) = fixed("young\n", Safety::Unsafe);
    assert_eq!(new, "young\n");
    let [(_, reason)] = &reasons(&outcome)[..] else { panic!("{outcome:?}") };
    assert!(reason.starts_with("only nginx 1.25.0 ") && reason.ends_with(" understand the new text"), "{reason}");
}

#[test]
fn a_fix_that_breaks_the_syntax_is_named_and_the_others_are_applied() {
    let (new, outcome) = fixed("old break old old two\n", Safety::Safe);
    assert_eq!(new, "new break new new new\n");
    assert!(outcome.bug());
    let [(rule, reason)] = &reasons(&outcome)[..] else { panic!("{outcome:?}") };
    assert_eq!(rule, "toy/break");
    assert!(reason.contains("unclosed `{`"), "{reason}");
}

#[test]
fn of_fixes_that_break_the_syntax_only_together_one_waits() {
    // One "half" makes a bracket, and two brackets in one text are an error.
    let files = memory(&[("/main", "half half\n")]);
    let first = vec![read(&files, Path::new("/main")).unwrap()];
    let judged = judge(&mut Toy, &files, first).unwrap();
    assert!(!judged.bug(), "{:?}", judged.held);
    let (new, _) = fixed("half half\n", Safety::Safe);
    assert_eq!(new, "( half\n");
}

#[test]
fn what_does_not_parse_is_repaired_first() {
    let (new, outcome) = fixed("two { x\n", Safety::Safe);
    assert_eq!(new, "new { } x\n");
    let rules: Vec<_> = outcome.applied.iter().map(|applied| applied.rule.as_str()).collect();
    assert_eq!(rules, ["toy/{", "toy/two", "toy/old"]);
}

#[test]
fn fixes_that_undo_each_other_stop_and_leave_the_file_alone() {
    let (new, outcome) = fixed("ping\n", Safety::Safe);
    assert_eq!(new, "ping\n");
    assert!(outcome.bug() && outcome.changed.is_empty());
    assert_eq!(reasons(&outcome)[0].0, "toy/ping");
}

#[test]
fn an_insertion_that_several_fixes_share_is_made_once() {
    let (new, _) = fixed("a\ngrow grow\n", Safety::Safe);
    assert_eq!(new, "top\na\ngrown grown\n");
}

#[test]
fn a_shared_file_is_changed_only_where_every_reader_wants_it() {
    let files = memory(&[("/e/a", "include s\nold"), ("/e/b", "include s"), ("/e/s", "grow")]);
    let outcome = play(&files, &["/e/a", "/e/b"], Safety::Safe);
    let changed: Vec<_> = outcome.changed.iter().map(|c| (c.path.to_str().unwrap(), c.new.as_ref())).collect();
    assert_eq!(changed, [("/e/a", &b"include s\nnew"[..]), ("/e/s", b"top\ngrown")]);
    assert_eq!(outcome.applied.len(), 2, "one, though two configurations have it");

    // The second configuration knows of no fault in the file.
    let first = vec![read(&files, Path::new("/e/a")).unwrap(), {
        let mut b = read(&files, Path::new("/e/b")).unwrap();
        b.findings.clear();
        b
    }];
    let outcome = run(&mut Toy, &files, first, Safety::Safe).unwrap();
    assert_eq!(outcome.changed[0].path, Path::new("/e/a"));
    assert_eq!(outcome.changed.len(), 1);
    assert_eq!(reasons(&outcome), [("toy/grow".into(), "/e/b reads the same file and has no such fix".into())]);
}

#[cfg(unix)]
#[test]
fn a_file_behind_several_links_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("main"), "include link\ninclude other\n").unwrap();
    std::fs::write(path("file"), "old old").unwrap();
    std::os::unix::fs::symlink("file", path("link")).unwrap();
    std::os::unix::fs::symlink(path("file"), path("other")).unwrap();
    let outcome = play(&crate::files::Disk, &[path("main").to_str().unwrap()], Safety::Safe);
    assert_eq!(outcome.changed.len(), 1);
    assert_eq!(outcome.changed[0].path, path("file").canonicalize().unwrap());
    assert_eq!(&*outcome.changed[0].new, b"new new");
}
