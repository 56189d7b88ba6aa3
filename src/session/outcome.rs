//! What a run says, in no format.

use foldhash::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::policy::Policy;
use crate::baseline::{Baseline, Entry, Met};
use crate::files::Files;
use crate::finding::{Finding, Severity};
use crate::fix::{Fix, Safety};
use crate::lint::ignore::UNUSED;
use crate::lint::rounds::{self, Applied, Changed, Checked, Reason};
use crate::model::{Model, NotRead};
use crate::source::{FileId, SourceFile, Sources, Span};
use crate::version::{Server, VersionSet};

/// What a run says, in no format.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The findings, sorted by path and place; after fixes, those that remain.
    pub findings: Vec<Found>,
    /// The versions that the findings are about, one entry for each server that was met.
    pub targets: Vec<Assumed>,
    /// What was not read.
    pub unread: Vec<Unread>,
    /// Recognised files that no main file reads, sorted.
    pub not_included: Vec<PathBuf>,
    /// The configurations.
    pub configs: Vec<Config>,
    /// Canonical paths of the files that were read, sorted.
    pub files: Vec<PathBuf>,
    /// Number of directives before any fix, each place of inclusion counted.
    pub directives: usize,
    /// What the files become.
    pub changed: Vec<Changed>,
    /// The fixes that make it so.
    pub applied: Vec<Applied>,
    /// What was found and is not shown.
    pub passed: Passed,
    /// Known findings that are gone, each with the path of its baseline.
    pub gone: Vec<(PathBuf, Vec<Entry>)>,
    /// Named parts, and the main files that include them and that they are judged in.
    pub contexts: Vec<(PathBuf, PathBuf)>,
    /// Whether a finding is as bad as the settings allow none to be.
    pub fails: bool,
    /// Whether a fix went wrong by a fault of this program.
    pub bug: bool,
}

/// How many findings are not shown, before any fix.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passed {
    /// Comments ignore them.
    pub ignored: usize,
    /// They are about files that nobody named.
    pub elsewhere: usize,
    /// They were there at the revision.
    pub before: usize,
    /// Baselines have them, by the path of the baseline.
    pub known: BTreeMap<PathBuf, Met>,
}

impl Passed {
    pub(super) fn merge(&mut self, other: Self) {
        self.ignored += other.ignored;
        self.elsewhere += other.elsewhere;
        self.before += other.before;
        for (path, met) in other.known {
            self.known.entry(path).or_default().merge(met);
        }
    }
}

/// A configuration of a run.
#[derive(Debug, Clone)]
pub struct Config {
    /// As it was read.
    pub before: Arc<Model>,
    /// After the fixes.
    pub after: Arc<Model>,
    /// The versions that will read it.
    pub target: VersionSet,
    /// What holds for it.
    pub policy: Arc<Policy>,
}

impl Config {
    /// Whether a fix changed one of its files.
    pub fn is_changed(&self) -> bool {
        !Arc::ptr_eq(&self.before, &self.after)
    }

    /// The file that it begins with, as it was opened.
    pub fn main(&self) -> &Path {
        self.before.sources().get(self.before.main()).path()
    }
}

/// A finding and the files that its spans lie in.
#[derive(Debug, Clone)]
pub struct Found {
    /// What a rule says.
    pub finding: Finding,
    /// Whose configuration it is about.
    pub server: Server,
    /// The files of its configuration.
    pub sources: Arc<Sources>,
    /// The paths of those files without links, by their ids.
    pub paths: Arc<[PathBuf]>,
    /// Why fixes were not applied, by their index, where that was tried.
    pub held_back: BTreeMap<usize, Reason>,
}

/// The versions of one server that a run was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumed {
    /// Whose.
    pub server: Server,
    /// Which.
    pub versions: VersionSet,
    /// Whether the user stated them.
    pub stated: bool,
}

/// Something that was not read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unread {
    /// Its path.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
    /// What kind of reason it is.
    pub gap: Gap,
}

/// Why something was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    /// It should have been, and could not be: what was not found there is unknown.
    Failed,
    /// It is a template.
    Template,
    /// It is in a form that is not read.
    Other,
    /// The settings leave it out.
    Excluded,
    /// It is neither server's.
    Foreign,
}

/// How many findings there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Findings of severity error.
    pub errors: usize,
    /// Findings of severity warning.
    pub warnings: usize,
    /// Findings of severity info.
    pub infos: usize,
    /// Findings whose first fix is safe and can be applied.
    pub safe_fixes: usize,
    /// Findings whose first fix is unsafe and can be applied.
    pub unsafe_fixes: usize,
}

impl Outcome {
    /// What the rounds came to. `paths` are the canonical ones of the files of a configuration, by
    /// their ids.
    pub(super) fn new<'a>(
        done: rounds::Outcome,
        paths: impl Fn(usize) -> Vec<PathBuf>,
        policy: impl Fn(usize) -> &'a Arc<Policy>,
    ) -> Self {
        let mut outcome = Self { bug: done.bug(), ..Self::default() };
        let mut held: HashMap<(usize, usize), BTreeMap<usize, Reason>> = HashMap::default();
        for it in &done.held {
            held.entry((it.model, it.finding)).or_default().insert(it.fix, it.reason.clone());
        }
        let mut seen = HashSet::default();
        let idle = idle_comments(&done.checked, &paths);
        for (number, it) in done.checked.iter().enumerate() {
            let paths: Arc<[PathBuf]> = paths(number).into();
            outcome.add_files(it, &paths);
            let after = it.model.clone();
            let policy = policy(number).clone();
            let fail_on = policy.fail_on;
            outcome.configs.push(Config { before: after.clone(), after, target: it.target.clone(), policy });
            let sources = Arc::new(it.model.sources().clone());
            for (index, finding) in it.findings.iter().enumerate() {
                let Span { file, start, end } = finding.span;
                // A file that several configurations read has one finding.
                if !seen.insert((finding.rule.clone(), bytes_of(&paths[file.0 as usize]).to_vec(), start, end)) {
                    continue;
                }
                if finding.rule == UNUSED && !idle.contains(&(paths[file.0 as usize].clone(), start)) {
                    continue;
                }
                outcome.fails |= finding.severity >= fail_on;
                let held_back = held.remove(&(number, index)).unwrap_or_default();
                let (finding, server) = (finding.clone(), it.model.server());
                outcome.findings.push(Found {
                    finding,
                    server,
                    sources: sources.clone(),
                    paths: paths.clone(),
                    held_back,
                });
            }
        }
        outcome.findings.sort_by(|a, b| a.place().cmp(&b.place()));
        sort_paths(&mut outcome.files);
        outcome.changed = done.changed;
        outcome.applied = done.applied;
        outcome
    }

    fn add_files(&mut self, it: &Checked, paths: &[PathBuf]) {
        let model = &it.model;
        let missed: HashSet<&Path> = model.not_read().iter().map(|missed| missed.path.as_path()).collect();
        let read = model.sources().iter().zip(paths).filter(|((_, file), _)| !missed.contains(file.path()));
        self.files.extend(read.map(|(_, path)| path.clone()));
        let gap = |it: &NotRead| Unread { path: it.path.clone(), reason: it.reason.clone(), gap: Gap::Failed };
        self.unread.extend(model.not_read().iter().map(gap));
        match self.targets.iter_mut().find(|target| target.server == model.server()) {
            Some(target) => target.versions = target.versions.union(&it.target),
            None => {
                let (server, versions) = (model.server(), it.target.clone());
                self.targets.push(Assumed { server, versions, stated: it.stated });
            }
        }
    }

    /// The findings, each with the index of a configuration that reads its file.
    pub(super) fn located(&self) -> impl Iterator<Item = (usize, &Found)> {
        let mut readers: HashMap<*const SourceFile, usize> = HashMap::default();
        for (index, config) in self.configs.iter().enumerate() {
            for (_, file) in config.after.sources().iter() {
                readers.entry(Arc::as_ptr(file)).or_insert(index);
            }
        }
        let of = move |found: &Found| readers.get(&Arc::as_ptr(found.sources.get(found.finding.span.file))).copied();
        self.findings.iter().filter_map(move |found| Some((of(found)?, found)))
    }

    /// Adds what was found to a baseline.
    pub(super) fn add_to(&self, baseline: &mut Baseline, files: &dyn Files) {
        let mut by_config: Vec<Vec<&Finding>> = vec![Vec::new(); self.configs.len()];
        self.located().for_each(|(config, found)| by_config[config].push(&found.finding));
        for (config, findings) in self.configs.iter().zip(by_config) {
            baseline.add_findings(files, &config.after, findings);
        }
    }

    /// Adds what was passed over before any configuration was read.
    pub(super) fn add_gaps(&mut self, unread: Vec<Unread>, not_included: Vec<PathBuf>) {
        self.unread.extend(unread);
        self.unread.sort_unstable();
        self.unread.dedup();
        self.not_included.extend(not_included);
        self.not_included.sort_unstable();
        self.not_included.dedup();
    }

    /// Counts the findings.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for found in &self.findings {
            match found.finding.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Info => counts.infos += 1,
            }
            match found.fix().filter(|_| found.held_back.get(&0).is_none_or(Reason::is_choice)).map(|fix| fix.safety) {
                Some(Safety::Safe) => counts.safe_fixes += 1,
                Some(Safety::Unsafe) => counts.unsafe_fixes += 1,
                None => {}
            }
        }
        counts
    }

    /// Whether all was read that should have been.
    pub fn is_complete(&self) -> bool {
        self.unread.iter().all(|it| it.gap != Gap::Failed)
    }
}

/// The comments that ignore nothing in any configuration that reads their file.
fn idle_comments(checked: &[Arc<Checked>], paths: impl Fn(usize) -> Vec<PathBuf>) -> HashSet<(PathBuf, u32)> {
    let mut readers: HashMap<PathBuf, usize> = HashMap::default();
    let mut idle: HashMap<(PathBuf, u32), usize> = HashMap::default();
    for (number, it) in checked.iter().enumerate() {
        let paths = paths(number);
        for finding in it.findings.iter().filter(|finding| finding.rule == UNUSED) {
            *idle.entry((paths[finding.span.file.0 as usize].clone(), finding.span.start)).or_default() += 1;
        }
        paths.into_iter().for_each(|path| *readers.entry(path).or_default() += 1);
    }
    idle.into_iter().filter(|((path, _), count)| readers[path] == *count).map(|(comment, _)| comment).collect()
}

impl Found {
    /// The file of a span of this finding.
    pub fn file(&self, span: Span) -> &SourceFile {
        self.sources.get(span.file)
    }

    /// The path of that file without links; the name it was opened by where that is not known.
    pub fn canonical(&self, file: FileId) -> &Path {
        self.paths.get(file.0 as usize).map_or_else(|| self.sources.get(file).path(), PathBuf::as_path)
    }

    /// The fix that `--fix` takes.
    pub fn fix(&self) -> Option<&Fix> {
        self.finding.fixes.first()
    }

    fn place(&self) -> (&[u8], u32, u32, &str, &str) {
        let Finding { span, rule, message, .. } = &self.finding;
        (bytes_of(self.file(*span).path()), span.start, span.end, rule, message)
    }
}

fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// Sorts paths as texts: to compare them part by part takes longer than to parse short files.
fn sort_paths(paths: &mut Vec<PathBuf>) {
    paths.sort_unstable_by(|a, b| bytes_of(a).cmp(bytes_of(b)));
    paths.dedup_by(|a, b| bytes_of(a) == bytes_of(b));
}
