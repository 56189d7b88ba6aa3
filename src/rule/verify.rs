//! Runs the examples of a rule's page.

use std::io;
use std::path::PathBuf;

use crate::checks::Settings;
use crate::files::{Files, Memory};
use crate::fix::Safety;
use crate::lint::{self, rounds};
use crate::model::Model;
use crate::model::include::{PathMap, Root};
use crate::model::load::Loader;
use crate::rule::definition::{Activation, Rule};
use crate::rule::example::{Example, ExampleFile, Fixed, Verdict};
use crate::rule::file::Page;
use crate::rule::set::{Level, RuleSet};
use crate::syntax::caddy::Env;
use crate::target::{Target, Versions};
use crate::version::{Holds, Server};

/// An example that does not come out as the page says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}: {message}")]
pub struct Failure {
    /// The page, as it was named.
    pub path: String,
    /// 1-based line of the example.
    pub line: usize,
    /// What came out instead.
    pub message: String,
}

/// Runs all examples of a page; `path` is the name that failures give it.
///
/// A `bad` example must give a finding; after the fixes, unsafe ones too, its bytes must be exactly
/// `fixed`, and the rule silent. Without `fixed` no fix may be offered. A `good` example gives no
/// finding. A rule needs one of each.
pub fn verify(page: &Page, path: &str) -> Vec<Failure> {
    let failure = |at: usize, message: String| {
        let line = page.rule.page[..at].matches('\n').count() + 1;
        Failure { path: path.to_owned(), line, message }
    };
    let mut failures: Vec<Failure> = (page.examples.iter())
        .filter_map(|example| Some(failure(example.at, run(&page.rule, example).err()?)))
        .collect();
    let good = |example: &Example| example.verdict == Verdict::Good;
    if !page.examples.iter().any(good) {
        failures.push(failure(0, "the rule has no `good` example, one that gives no finding".to_owned()));
    }
    if page.examples.iter().all(good) {
        failures.push(failure(0, "the rule has no `bad` example, one that gives a finding".to_owned()));
    }
    failures
}

/// Runs one example; an error says what came out instead.
fn run(rule: &Rule, example: &Example) -> Result<(), String> {
    let files = memory(&example.files, example.server);
    let mut linter = OneRule::new(rule, example)?;
    let model = linter.loader.load(&files).map_err(|e| format!("the example cannot be read: {e}"))?;
    let versions = linter.target.of(&model);
    let unread = model.problems().iter().find(|problem| {
        problem.versions.as_ref().is_none_or(|set| versions.set.holds(example.server, set) != Holds::Never)
    });
    if let (Some(problem), true) = (unread, rule.activation != Activation::Always) {
        return Err(format!("the example cannot be read: {}", problem.error.message));
    }
    let first = linter.findings(model, versions);
    let found = messages(&first);
    match &example.verdict {
        Verdict::Good if first.findings.is_empty() => Ok(()),
        Verdict::Good => Err(format!("a `good` example must give no finding, but: {found}")),
        Verdict::Bad { .. } if first.findings.is_empty() => {
            Err("a `bad` example must give a finding, but the rule is silent".to_owned())
        }
        Verdict::Bad { fixed } => {
            let outcome = rounds::run(&mut linter, &files, vec![first], Safety::Unsafe).map_err(|e| e.to_string())?;
            match (fixed, outcome.changed.first()) {
                (Some(fixed), _) => compare(example, fixed, &outcome),
                (None, None) => Ok(()),
                (None, Some(change)) => {
                    Err(format!("the rule has a fix; show it in a `fixed` fence:\n{}", shown(&change.new)))
                }
            }
        }
    }
}

fn compare(example: &Example, fixed: &Fixed, outcome: &rounds::Outcome) -> Result<(), String> {
    if let Some(held) = outcome.held.first() {
        return Err(format!("a fix was held back: {}", held.reason));
    }
    for file in &example.files {
        let path = path_of(file, example.server);
        let expected = fixed.files.iter().find(|other| other.path == file.path).unwrap_or(file);
        let changed = outcome.changed.iter().find(|changed| changed.path == path);
        let came_out = changed.map_or(file.text.as_bytes(), |changed| &changed.new);
        if came_out != expected.text.as_bytes() {
            return Err(format!("after the fixes {} is not as in `fixed`, but:\n{}", path.display(), shown(came_out)));
        }
    }
    if let Some(extra) = fixed.files.iter().find(|file| example.files.iter().all(|other| other.path != file.path)) {
        return Err(format!("`fixed` has a file {} that `bad` has not", path_of(extra, example.server).display()));
    }
    if let Some(applied) =
        outcome.applied.iter().find(|fix| fixed.safe.is_some_and(|safe| safe != (fix.safety == Safety::Safe)))
    {
        let safety = if applied.safety == Safety::Safe { "safe" } else { "unsafe" };
        return Err(format!("the fix \"{}\" is {safety}", applied.title));
    }
    match outcome.checked[0].findings.is_empty() {
        true => Ok(()),
        false => Err(format!("the rule is not silent after its fixes: {}", messages(&outcome.checked[0]))),
    }
}

fn messages(checked: &rounds::Checked) -> String {
    checked.findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("; ")
}

fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).lines().map(|line| format!("    {line}\n")).collect()
}

fn memory(files: &[ExampleFile], server: Server) -> Memory {
    let mut memory = Memory::new();
    for file in files {
        memory.insert(path_of(file, server), file.text.as_bytes());
    }
    memory
}

fn path_of(file: &ExampleFile, server: Server) -> PathBuf {
    let unnamed = match server {
        Server::Nginx => "nginx.conf",
        Server::Caddy => "Caddyfile",
    };
    PathBuf::from(file.path.as_deref().unwrap_or(unnamed))
}

/// Checks an example with its rule alone; one about proxylint's own comments with all rules.
struct OneRule {
    id: String,
    rules: RuleSet,
    target: Target,
    settings: Settings,
    loader: Loader,
}

impl OneRule {
    fn new(rule: &Rule, example: &Example) -> Result<Self, String> {
        let mut rules = if rule.server.is_none() { RuleSet::builtin() } else { RuleSet::empty() };
        if rules.find(&rule.id).is_err() {
            rules.add(rule.clone(), "").map_err(|e| e.to_string())?;
        }
        rules.set(&rule.id, Level::On, None).map_err(|e| e.to_string())?;
        let mut target = Target::assumed();
        if let Some(text) = &example.target {
            target.set(example.server, Versions::parse(example.server, text).map_err(|e| e.to_string())?);
        }
        let main = path_of(&example.files[0], example.server);
        let settings = Settings { peak_concurrency: example.peak_concurrency, ..Settings::default() };
        let loader = match example.server {
            Server::Nginx => Loader::nginx(main, Root::Implied, PathMap::default()),
            Server::Caddy => Loader::caddy(main, Env::new(), PathMap::default(), target.caddy.set.clone()),
        };
        Ok(Self { id: rule.id.to_string(), rules, target, settings, loader })
    }

    fn findings(&self, model: Model, versions: Versions) -> rounds::Checked {
        let mut findings = lint::run(&model, &self.rules, &versions, &self.settings);
        findings.retain(|finding| finding.rule == self.id);
        rounds::Checked { model: model.into(), target: versions.set, stated: versions.stated.is_some(), findings }
    }
}

impl rounds::Linter for OneRule {
    type Error = io::Error;

    fn load(&mut self, _: usize, _: &rounds::Checked, files: &dyn Files) -> io::Result<Model> {
        self.loader.load(files)
    }

    fn check(&mut self, before: &rounds::Checked, model: Model) -> rounds::Checked {
        // Later rounds keep the versions of the first: what a fix adds must not narrow them.
        let versions = Versions { set: before.target.clone(), ..self.target.get(before.model.server()).clone() };
        self.findings(model, versions)
    }
}
