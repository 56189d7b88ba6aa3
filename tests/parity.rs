//! What nginx itself says of public configurations, and what proxylint says of them.
//!
//! The corpus holds the verdicts of nginx 1.22.1 and 1.31.3. Where one refuses a file, a finding must stand
//! at the line that it names; where one accepts a file, no finding may be an error.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and tells its numbers")]

mod corpus;

use corpus::{Case, Verdict};
use proxylint::catalog::nginx::Context;
use proxylint::checks::Settings;
use proxylint::files::Disk;
use proxylint::finding::{Finding, Severity};
use proxylint::lint;
use proxylint::model::Model;
use proxylint::model::include::{Loader, PathMap, Root};
use proxylint::rule::RuleSet;
use proxylint::source::Span;
use proxylint::target::Versions;
use proxylint::version::Server;

const VERSIONS: [&str; 2] = ["1.22.1", "1.31.3"];

/// Files on the disk of the server were put there for the verdicts; they are not here.
const ABOUT_FILES: [&str; 1] = ["nginx/include-not-found"];

fn lint(case: &Case, version: &str) -> (Model, Vec<Finding>) {
    let context = Context::parse(case.context.trim_start_matches("fragment:")).unwrap_or(Context::Main);
    let mut maps = PathMap::default();
    maps.add("/etc/nginx", case.path.parent().unwrap());
    let model = Loader::new(&case.path, Root::Context(context), maps).load(&Disk).unwrap();
    let versions = Versions::parse(Server::Nginx, version).unwrap();
    let findings = lint::run(&model, &RuleSet::builtin(), &versions, &Settings::default());
    let findings = findings.into_iter().filter(|f| !ABOUT_FILES.contains(&f.rule.as_ref()) && !was_provided(case, f));
    let findings = findings.collect();
    (model, findings)
}

/// Whether a finding is about what was put beside the file for the servers: variables and log formats.
fn was_provided(case: &Case, finding: &Finding) -> bool {
    let names = case.repairs.split(',').filter_map(|repair| repair.trim().split_once(':'));
    let message = finding.message.to_lowercase();
    let mut names = names.filter(|(kind, _)| matches!(*kind, "var" | "logfmt")).map(|(_, name)| name);
    matches!(finding.rule.as_ref(), "nginx/unknown-variable" | "nginx/undefined-reference")
        && names.any(|name| message.contains(&format!("`{name}`")) || message.contains(&format!("`${name}`")))
}

/// Whether a refusal tells of the machine and not of the text: a module that the file itself loads and that was
/// not there, or what an included file that is not here would have given.
fn is_environment(case: &Case, verdict: &Verdict) -> bool {
    let text = String::from_utf8_lossy(&std::fs::read(&case.path).unwrap()).into_owned();
    let name = verdict.message.strip_prefix("unknown directive \"").map(|rest| rest.trim_end_matches('"'));
    let loads = name.is_some() && text.lines().any(|line| line.trim_start().starts_with("load_module"));
    let elsewhere = case.verdicts.iter().any(|other| other.kind == "environment" && other.message == verdict.message);
    verdict.kind == "environment" || loads || elsewhere
}

/// The lines that a finding names: all of its place, and those of its labels.
fn lines(model: &Model, finding: &Finding) -> Vec<u32> {
    let lines = |span: Span| model.file(span).line_of(span.start)..=model.file(span).line_of(span.end);
    lines(finding.span).chain(finding.labels.iter().flat_map(|label| lines(label.span))).collect()
}

/// Whether our findings have what the server said.
fn has(model: &Model, findings: &[Finding], verdict: &Verdict) -> bool {
    let counts = |f: &&Finding| f.severity == Severity::Error || f.rule == "nginx/module-needed";
    let mut counting = findings.iter().filter(counts);
    match verdict.line {
        Some(line) => counting.any(|f| lines(model, f).contains(&line)),
        None => counting.next().is_some(),
    }
}

fn show(model: &Model, finding: &Finding) -> String {
    let line = model.file(finding.span).line_of(finding.span.start);
    format!("        {}:{line} {} {}", finding.severity.as_str(), finding.rule, finding.message)
}

#[test]
fn corpus_parity() {
    let (mut accepted, mut silent, mut refused, mut found, mut environment) = (0, 0, 0, 0, 0);
    let mut report = Vec::new();
    for case in corpus::nginx().iter().filter(|case| !case.template) {
        for (version, verdict) in VERSIONS.iter().zip(&case.verdicts) {
            let (model, findings) = lint(case, version);
            let shown =
                |f: &mut dyn Iterator<Item = &Finding>| f.map(|f| show(&model, f)).collect::<Vec<_>>().join("\n");
            match verdict.kind.as_str() {
                "ok" => {
                    accepted += 1;
                    let mut errors = findings.iter().filter(|f| f.severity == Severity::Error).peekable();
                    match errors.peek() {
                        None => silent += 1,
                        Some(_) => {
                            report.push(format!("{} {version}: accepted, but\n{}", case.name, shown(&mut errors)));
                        }
                    }
                }
                _ if is_environment(case, verdict) => environment += 1,
                _ => {
                    refused += 1;
                    if has(&model, &findings, verdict) {
                        found += 1;
                    } else {
                        let place = verdict.line.map_or_else(String::new, |line| format!(" at line {line}"));
                        let all = shown(&mut findings.iter());
                        report.push(format!("{} {version}: {}{place}\n{all}", case.name, verdict.message));
                    }
                }
            }
        }
    }
    println!("{}", report.join("\n"));
    println!("{environment} verdicts are about the environment");
    println!("accepted by nginx: {silent} of {accepted} without an error");
    println!("refused by nginx: {found} of {refused} with a finding at the line that nginx names");
    assert!(silent * 100 >= accepted * 98, "false alarms");
    assert!(found * 100 >= refused * 98, "misses");
}
