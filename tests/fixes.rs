//! Every fix of every rule over public configurations: what it changes is what it says it changes,
//! and nothing is lost on the way.
//!
//! `PROXYLINT_CORPUS=all cargo test --test fixes -- --nocapture` takes all files for all targets, and
//! prints how many fixes that were; without it a sample is taken.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic and print")]

mod corpus;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proxylint::checks::Settings;
use proxylint::files::{Disk, Files, Overlay};
use proxylint::fix::Safety;
use proxylint::lint;
use proxylint::lint::rounds::{self, Checked, Linter, Outcome};
use proxylint::model::Model;
use proxylint::model::include::{PathMap, Root};
use proxylint::model::load::Loader;
use proxylint::rule::set::RuleSet;
use proxylint::syntax::caddy::Env;
use proxylint::target::{Target, Versions};
use proxylint::version::Server;
use rayon::prelude::*;

/// Targets; an empty one is that nobody states.
const NGINX: [&str; 5] = ["1.22", "1.24", "1.28", "1.31", ""];
const CADDY: [&str; 4] = ["2.6", "2.8", "2.11", ""];

/// Without all files, every such file and target is taken.
const SAMPLE: usize = 7;

/// Reads and checks one configuration, with every rule.
struct Bench {
    loader: Loader,
    rules: RuleSet,
    versions: Versions,
}

impl Bench {
    fn new(main: &Path, server: Server, target: &str) -> Self {
        let mut rules = RuleSet::builtin();
        rules.select(&["all".to_owned()], &[]).unwrap();
        let versions = match target {
            "" => Versions::assumed(server),
            _ => Versions::parse(server, target).unwrap(),
        };
        let loader = match server {
            Server::Nginx => Loader::nginx(main, Root::Implied, PathMap::default()),
            Server::Caddy => Loader::caddy(main, Env::new(), PathMap::default(), versions.set.clone()),
        };
        Self { loader, rules, versions }
    }

    fn first(&mut self, files: &dyn Files) -> io::Result<Checked> {
        let model = self.loader.load(files)?;
        if self.versions.stated.is_none() {
            self.versions = Target::assumed().of(&model);
        }
        Ok(self.findings(model))
    }

    fn findings(&self, model: Model) -> Checked {
        let settings = Settings { peak_concurrency: Some(200), ..Settings::default() };
        let findings = lint::run(&model, &self.rules, &self.versions, &settings);
        let stated = self.versions.stated.is_some();
        Checked { model: model.into(), target: self.versions.set.clone(), stated, findings }
    }
}

impl Linter for Bench {
    type Error = io::Error;

    fn load(&mut self, _: usize, _: &Checked, files: &dyn Files) -> io::Result<Model> {
        self.loader.load(files)
    }

    fn check(&mut self, _: &Checked, model: Model) -> Checked {
        self.findings(model)
    }
}

/// A file, whose it is, and a target.
struct Run {
    path: PathBuf,
    server: Server,
    target: &'static str,
}

impl Run {
    fn name(&self) -> String {
        let path = self.path.components().rev().take(3).collect::<Vec<_>>();
        let path: PathBuf = path.into_iter().rev().collect();
        format!("{} for {:?}", path.display(), self.target)
    }
}

/// All of `../shared/corpus` and `../shared/cases`, and the examples of this repository, each for
/// every target, or a sample of them.
fn runs() -> Vec<Run> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<(PathBuf, Server)> = Vec::new();
    let templates: Vec<PathBuf> =
        corpus::nginx().into_iter().filter(|case| case.template).map(|case| case.path).collect();
    for folder in ["../shared/corpus/nginx", "../shared/corpus/caddy", "../shared/cases", "fixtures"] {
        for entry in walkdir::WalkDir::new(root.join(folder)).sort_by_file_name().into_iter().filter_map(Result::ok) {
            let path = entry.path();
            let is_caddy = entry.file_name().to_string_lossy().contains("addyfile");
            let is_other = [".expect", ".repo-licence", ".tree", ".tsv", ".md"]
                .iter()
                .any(|end| path.to_string_lossy().ends_with(end));
            if entry.file_type().is_file() && !is_other && !templates.iter().any(|it| it == path) {
                paths.push((path.to_owned(), if is_caddy { Server::Caddy } else { Server::Nginx }));
            }
        }
    }
    let targets = |server| if server == Server::Nginx { &NGINX[..] } else { &CADDY[..] };
    let run = |(path, server): (PathBuf, Server)| {
        targets(server).iter().map(move |&target| Run { path: path.clone(), server, target })
    };
    let all = paths.into_iter().flat_map(run);
    if std::env::var("PROXYLINT_CORPUS").is_ok_and(|it| it == "all") {
        all.collect()
    } else {
        all.step_by(SAMPLE).collect()
    }
}

/// Runs all, and fails with what each says is wrong.
fn each(what: &str, run: impl Fn(&Run) -> Vec<String> + Sync) {
    let runs = runs();
    let wrong: Vec<String> = runs
        .par_iter()
        .flat_map(|it| run(it).into_iter().map(|text| format!("{}: {text}", it.name())).collect::<Vec<_>>())
        .collect();
    assert!(wrong.is_empty(), "{} of {} runs: {what}:\n{}", wrong.len(), runs.len(), wrong.join("\n"));
}

#[test]
fn no_safe_fix_changes_anything_else() {
    let (fixes, safe) = (AtomicUsize::new(0), AtomicUsize::new(0));
    each("a fix claims to be safe and is not", |run| {
        let mut bench = Bench::new(&run.path, run.server, run.target);
        let Ok(first) = bench.first(&Disk) else { return Vec::new() };
        let claimed: Vec<Vec<Safety>> =
            first.findings.iter().map(|finding| finding.fixes.iter().map(|fix| fix.safety).collect()).collect();
        let outcome = rounds::judge(&mut bench, &Disk, vec![first]).unwrap();
        let mut wrong: Vec<String> = bugs(&outcome);
        for (finding, claimed) in outcome.checked[0].findings.iter().zip(&claimed) {
            for (fix, claimed) in finding.fixes.iter().zip(claimed) {
                fixes.fetch_add(1, Ordering::Relaxed);
                safe.fetch_add(usize::from(*claimed == Safety::Safe), Ordering::Relaxed);
                if fix.safety != *claimed {
                    wrong.push(format!("{} \"{}\": {}", finding.rule, fix.title, fix.changes.join("; ")));
                }
            }
        }
        wrong
    });
    println!("{} fixes were offered, {} as safe", fixes.into_inner(), safe.into_inner());
}

fn bugs(outcome: &Outcome) -> Vec<String> {
    let bugs = outcome.held.iter().filter(|held| held.reason.is_bug());
    bugs.map(|held| format!("{}: {}", outcome.checked[held.model].findings[held.finding].rule, held.reason)).collect()
}

#[test]
fn fixing_settles_and_loses_nothing() {
    let (applied, files, most) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    each("a fix loses something", |run| {
        let mut wrong = Vec::new();
        for allow in [Safety::Safe, Safety::Unsafe] {
            let mut bench = Bench::new(&run.path, run.server, run.target);
            let Ok(first) = bench.first(&Disk) else { return Vec::new() };
            let before = comments(&first.model);
            let outcome = rounds::run(&mut bench, &Disk, vec![first], allow).unwrap();
            applied.fetch_add(outcome.applied.len(), Ordering::Relaxed);
            files.fetch_add(outcome.changed.len(), Ordering::Relaxed);
            most.fetch_max(outcome.rounds as usize, Ordering::Relaxed);
            wrong.extend(bugs(&outcome));
            wrong.extend(lost_comments(before, comments(&outcome.checked[0].model)));
            wrong.extend(outcome.changed.iter().filter_map(|file| line_ends(&file.old, &file.new)));
            wrong.extend(second_run(run, &outcome, allow));
        }
        wrong
    });
    println!(
        "{} fixes were applied in {} files, in {} rounds at most",
        applied.into_inner(),
        files.into_inner(),
        most.into_inner()
    );
}

/// How often each comment stands in the files.
fn comments(model: &Model) -> BTreeMap<Vec<u8>, usize> {
    let mut counts = BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    for span in model.trees().iter().flat_map(|tree| &tree.comments) {
        if seen.insert((span.file, span.start)) {
            *counts.entry(model.text(*span).to_vec()).or_insert(0) += 1;
        }
    }
    counts
}

fn lost_comments(before: BTreeMap<Vec<u8>, usize>, after: BTreeMap<Vec<u8>, usize>) -> Vec<String> {
    let lost = before.into_iter().filter(|(text, count)| after.get(text).unwrap_or(&0) < count);
    lost.map(|(text, _)| format!("the comment {:?} is lost", String::from_utf8_lossy(&text))).collect()
}

/// What is wrong with the line ends of a new text.
fn line_ends(old: &[u8], new: &[u8]) -> Option<String> {
    let count = |text: &[u8], crlf: bool| {
        let lines = text.split_inclusive(|&b| b == b'\n').filter(|line| line.ends_with(b"\n"));
        lines.filter(|line| line.ends_with(b"\r\n") == crlf).count()
    };
    if count(old, true) == 0 && count(new, true) > 0 {
        return Some("LF became CRLF".to_owned());
    }
    if count(old, true) > 0 && count(old, false) == 0 && count(new, false) > 0 {
        return Some("CRLF became LF".to_owned());
    }
    let ends = |text: &[u8]| text.is_empty() || text.ends_with(b"\n");
    (ends(old) && !ends(new)).then(|| "the last line end is lost".to_owned())
}

/// A second run over what the first made.
fn second_run(run: &Run, outcome: &Outcome, allow: Safety) -> Vec<String> {
    let texts = outcome.changed.iter().map(|file| (file.path.clone(), Arc::clone(&file.new))).collect();
    let files = Overlay::with(&Disk, texts);
    let mut bench = Bench::new(&run.path, run.server, run.target);
    bench.versions = Versions { set: outcome.checked[0].target.clone(), ..bench.versions };
    let Ok(model) = bench.loader.load(&files) else { return vec!["it cannot be read again".to_owned()] };
    let first = bench.findings(model);
    let again = rounds::run(&mut bench, &files, vec![first], allow).unwrap();
    again.applied.iter().map(|fix| format!("a second run applies {} \"{}\"", fix.rule, fix.title)).collect()
}
