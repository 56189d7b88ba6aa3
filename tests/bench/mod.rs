//! Fixes a configuration with every rule, and says what was lost on the way.

#![allow(dead_code, unreachable_pub, reason = "every test takes what it needs")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use proxylint::checks::Settings;
use proxylint::files::{Files, Overlay};
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

/// Targets; an empty one is that nobody states.
pub const NGINX: [&str; 5] = ["1.22", "1.24", "1.28", "1.31", ""];
pub const CADDY: [&str; 4] = ["2.6", "2.8", "2.11", ""];

/// Reads and checks one configuration, with every rule.
pub struct Bench {
    loader: Loader,
    rules: RuleSet,
    versions: Versions,
}

impl Bench {
    pub fn new(main: &Path, server: Server, target: &str) -> Self {
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

    pub fn first(&mut self, files: &dyn Files) -> io::Result<Checked> {
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

pub fn bugs(outcome: &Outcome) -> Vec<String> {
    let bugs = outcome.held.iter().filter(|held| held.reason.is_bug());
    bugs.map(|held| format!("{}: {}", outcome.checked[held.model].findings[held.finding].rule, held.reason)).collect()
}

/// How often each comment stands in the files; those to proxylint itself may go, when they ignore nothing.
pub fn comments(model: &Model) -> BTreeMap<Vec<u8>, usize> {
    let mut counts = BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    for span in model.trees().iter().flat_map(|tree| &tree.comments) {
        let is_own = proxylint::syntax::note::body(model.text(*span)).is_some();
        if !is_own && seen.insert((span.file, span.start)) {
            *counts.entry(model.text(*span).to_vec()).or_insert(0) += 1;
        }
    }
    counts
}

pub fn lost_comments(before: BTreeMap<Vec<u8>, usize>, after: BTreeMap<Vec<u8>, usize>) -> Vec<String> {
    let lost = before.into_iter().filter(|(text, count)| after.get(text).unwrap_or(&0) < count);
    lost.map(|(text, _)| format!("the comment {:?} is lost", String::from_utf8_lossy(&text))).collect()
}

/// What is wrong with the line ends of a new text.
pub fn line_ends(old: &[u8], new: &[u8]) -> Option<String> {
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

/// Everything that must not happen when fixes are applied: faults of this program, lost comments and
/// line ends, more to fix afterwards. Nothing where the file cannot be read.
pub fn losses(
    main: &Path,
    server: Server,
    target: &str,
    files: &dyn Files,
    allow: Safety,
) -> Option<(Outcome, Vec<String>)> {
    let mut bench = Bench::new(main, server, target);
    let first = bench.first(files).ok()?;
    let before = comments(&first.model);
    let errors = syntax_errors(&first.model);
    let outcome = rounds::run(&mut bench, files, vec![first], allow).unwrap();
    let mut wrong = bugs(&outcome);
    let after = &outcome.checked[0].model;
    wrong.extend(lost_comments(before, comments(after)));
    wrong.extend(outcome.changed.iter().filter_map(|file| line_ends(&file.old, &file.new)));
    wrong.extend(syntax_errors(after).into_iter().filter(|_| errors.is_empty()));
    wrong.extend(second_run(bench, files, &outcome, allow));
    Some((outcome, wrong))
}

fn syntax_errors(model: &Model) -> Vec<String> {
    let errors = model.problems().iter().filter(|it| it.kind == proxylint::model::ProblemKind::Syntax);
    errors.map(|it| it.error.message.clone()).collect()
}

/// A second run over what the first made.
fn second_run(mut bench: Bench, files: &dyn Files, outcome: &Outcome, allow: Safety) -> Vec<String> {
    let texts = outcome.changed.iter().map(|file| (file.path.clone(), Arc::clone(&file.new))).collect();
    let files = Overlay::with(files, texts);
    bench.versions = Versions { set: outcome.checked[0].target.clone(), ..bench.versions };
    let Ok(model) = bench.loader.load(&files) else { return vec!["it cannot be read again".to_owned()] };
    let first = bench.findings(model);
    let again = rounds::run(&mut bench, &files, vec![first], allow).unwrap();
    again.applied.iter().map(|fix| format!("a second run applies {} \"{}\"", fix.rule, fix.title)).collect()
}

/// The fixes that claim to be safe and change something else, as the guard says; and the number of
/// fixes, safe ones among them.
pub fn strays(main: &Path, server: Server, target: &str, files: &dyn Files) -> Option<(Vec<String>, usize, usize)> {
    let mut bench = Bench::new(main, server, target);
    let first = bench.first(files).ok()?;
    let claimed: Vec<Vec<Safety>> =
        first.findings.iter().map(|finding| finding.fixes.iter().map(|fix| fix.safety).collect()).collect();
    let outcome = rounds::judge(&mut bench, files, vec![first]).unwrap();
    let (mut wrong, mut fixes, mut safe) = (bugs(&outcome), 0, 0);
    for (finding, claimed) in outcome.checked[0].findings.iter().zip(&claimed) {
        for (fix, claimed) in finding.fixes.iter().zip(claimed) {
            fixes += 1;
            safe += usize::from(*claimed == Safety::Safe);
            if fix.safety != *claimed {
                wrong.push(format!("{} \"{}\": {}", finding.rule, fix.title, fix.changes.join("; ")));
            }
        }
    }
    Some((wrong, fixes, safe))
}
