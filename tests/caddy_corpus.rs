//! Public Caddyfiles with the verdict of Caddy 2.11.7, against ours.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may stop at the first surprise, and say what it skips"
)]

use std::path::Path;

use proxylint::checks::Settings;
use proxylint::files::Disk;
use proxylint::lint;
use proxylint::model::Model;
use proxylint::model::caddy::accept::accepts;
use proxylint::model::caddy::load::Loader;
use proxylint::model::include::PathMap;
use proxylint::rule::RuleSet;
use proxylint::syntax::caddy::Env;
use proxylint::target::{Target, Versions};
use proxylint::version::{Server, Version, VersionSet};

const CORPUS: &str = "../shared/corpus";
const NEWEST: Version = Version::new(2, 11, 7);

/// Files that we judge otherwise, and why.
const KNOWN: [&str; 1] = [
    // `:` and `:443` in one list with an `http://` address make Caddy mix up two listeners.
    "sites-02.Caddyfile",
];

struct File {
    path: String,
    verdict: String,
    detail: String,
}

fn files() -> Vec<File> {
    let Ok(index) = std::fs::read_to_string(Path::new(CORPUS).join("INDEX.tsv")) else {
        eprintln!("skipped: no corpus at {CORPUS}");
        return Vec::new();
    };
    let file = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        (cells[0].starts_with("caddy/") && cells[4] != "template").then(|| File {
            path: cells[0].to_owned(),
            verdict: cells[6].to_owned(),
            detail: cells[8].to_owned(),
        })
    };
    index.lines().filter_map(file).collect()
}

fn load(file: &File, env: Env) -> Model {
    let path = Path::new(CORPUS).join(&file.path);
    let target = VersionSet::exactly(NEWEST);
    Loader::new(path, env, PathMap::default(), target).load(&Disk).unwrap()
}

/// Messages and lines of the findings of these rules.
fn found_lines(model: &Model, ids: &[&str]) -> Vec<(String, u32)> {
    let mut rules = RuleSet::empty();
    for rule in proxylint::rule::RULES {
        if ids.contains(&rule.id.as_ref()) {
            rules.add(rule.clone(), "").unwrap();
        }
    }
    let mut target = Target::assumed();
    target.set(Server::Caddy, Versions::parse(Server::Caddy, "2.11.7").unwrap());
    let findings = lint::run(model, &rules, &target.of(model), &Settings::default());
    findings.iter().map(|f| (f.message.clone(), model.file(f.span).line_of(f.span.start))).collect()
}

/// The line that Caddy names: `…:LINE` or `…:LINE: …`.
fn line_of(detail: &str) -> u32 {
    let number = |part: &str| part.trim().split(' ').next().unwrap_or_default().parse().ok();
    detail.split(':').filter_map(number).next().unwrap()
}

#[test]
fn syntax_findings_are_those_of_caddy() {
    let mut wrong = Vec::new();
    for file in files() {
        let found = found_lines(&load(&file, Env::new()), &["caddy/syntax", "caddy/import-not-found"]);
        let right = match file.verdict.as_str() {
            "ok" | "unknown-directive" => found.is_empty(),
            "syntax" | "import-missing" => found.iter().any(|(_, line)| *line == line_of(&file.detail)),
            _ => true,
        };
        if !right {
            wrong.push(format!("{} ({}: {}): {found:?}", file.path, file.verdict, file.detail));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_caddy_accepts_is_accepted() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for file in files() {
        // The verdict is that of Caddy without any environment variables.
        let ours = accepts(&load(&file, Env::new().complete()), NEWEST);
        count += 1;
        if ours.is_ok() != (file.verdict == "ok") && !KNOWN.iter().any(|known| file.path.ends_with(known)) {
            wrong.push(format!("{} ({}: {}): {ours:?}", file.path, file.verdict, file.detail));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The rules that tell what Caddy refuses.
const REFUSALS: [&str; 9] = [
    "caddy/ambiguous-site",
    "caddy/import-not-found",
    "caddy/invalid-arguments",
    "caddy/name-not-in-version",
    "caddy/plugin-needed",
    "caddy/removed-name",
    "caddy/syntax",
    "caddy/undefined-reference",
    "caddy/unknown-name",
];

#[test]
fn findings_are_what_caddy_refuses() {
    let (mut wrong, mut count, mut same_line, mut refused) = (Vec::new(), 0, 0, 0);
    for file in files() {
        count += 1;
        let found = found_lines(&load(&file, Env::new().complete()), &REFUSALS);
        if file.verdict == "ok" {
            wrong.extend((!found.is_empty()).then(|| format!("{}: {found:?}", file.path)));
            continue;
        }
        refused += 1;
        let line = file.detail.split(':').any(|part| part.trim().parse::<u32>().is_ok()).then(|| line_of(&file.detail));
        let known = KNOWN.iter().any(|known| file.path.ends_with(known));
        // Of what stands in a block, Caddy names the line that the block ends on, or one near it.
        let in_block = file.detail.contains("parsing caddyfile tokens for");
        let is_there = |ours: u32| line.is_none_or(|line| ours == line || (in_block && ours < line));
        if known || found.iter().any(|(_, ours)| is_there(*ours)) {
            same_line += usize::from(!known);
        } else {
            wrong.push(format!("{} ({}: {}): {found:?}", file.path, file.verdict, file.detail));
        }
    }
    eprintln!(
        "{count} files: {} judged as Caddy does; {same_line} of {refused} refusals at Caddy's line",
        count - wrong.len()
    );
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}
