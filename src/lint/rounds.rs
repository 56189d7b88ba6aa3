//! The rounds of `--fix`: put fixes together, apply them, read and check again, until nothing changes.

mod join;
mod plan;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::files::{Files, Overlay};
use crate::finding::Finding;
use crate::fix::Safety;
use crate::fix::apply::Patch;
use crate::model::{Model, ProblemKind};
use crate::source::Position;
use crate::version::VersionSet;

use plan::Plan;

/// Rounds that may pass without fewer findings to fix.
const PATIENCE: u32 = 10;

/// A configuration and what the rules say of it.
#[derive(Debug)]
pub struct Checked {
    /// The configuration.
    pub model: Model,
    /// The versions that will read it. A later round keeps them.
    pub target: VersionSet,
    /// Whether the user stated them.
    pub stated: bool,
    /// What the rules say, sorted.
    pub findings: Vec<Finding>,
}

/// Reads and checks; what stands below the rounds.
pub trait Linter {
    /// Why it could not go on.
    type Error;

    /// Reads configuration number `model`, which was `before`, again, for the same target, and
    /// checks it.
    ///
    /// # Errors
    /// When the program itself could not go on.
    fn again(&mut self, model: usize, before: &Checked, files: &dyn Files) -> Result<Checked, Self::Error>;
}

/// A file that fixes changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The file itself: symbolic links resolved.
    pub path: PathBuf,
    /// What was read.
    pub old: Arc<[u8]>,
    /// What it becomes.
    pub new: Arc<[u8]>,
}

/// A fix that was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The rule.
    pub rule: String,
    /// What the fix does.
    pub title: String,
    /// Whether it changes anything but the fault.
    pub safety: Safety,
    /// What else it changes.
    pub changes: Vec<String>,
    /// The file of the finding, as it was opened.
    pub path: PathBuf,
    /// Where in that file, before the round that applied it.
    pub position: Position,
}

/// Why a fix was not applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// It changes something else too, and only safe fixes were asked for.
    #[error("unsafe, apply it with --unsafe-fixes")]
    Unsafe,
    /// A version of the target does not understand the new text.
    #[error("{0}")]
    Version(String),
    /// The server cannot read the configuration; until it can, nobody knows what a fix would change.
    #[error("the configuration does not parse yet")]
    Unparsed,
    /// Another configuration that reads the same file has no such fix.
    #[error("{} reads the same file and has no such fix", .0.display())]
    Shared(PathBuf),
    /// It overlaps with itself or with what was applied.
    #[error("it overlaps another fix")]
    Overlap,
    /// The text would not parse any more: a fault of this program.
    #[error("it would break the syntax ({0}), which is a bug of proxylint")]
    Breaks(String),
    /// It would change settings that it does not declare.
    #[error("{0}")]
    Guard(String),
    /// The fixes undo each other.
    #[error("the fixes do not settle, which is a bug of proxylint")]
    Unsettled,
}

impl Reason {
    /// Whether this program is at fault.
    pub fn is_bug(&self) -> bool {
        matches!(self, Self::Breaks(_) | Self::Unsettled)
    }
}

/// A fix of a remaining finding that was not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Index of the configuration in [`Outcome::checked`].
    pub model: usize,
    /// Index of the finding there.
    pub finding: usize,
    /// Index of the fix there.
    pub fix: usize,
    /// Why.
    pub reason: Reason,
}

/// What the rounds came to.
#[derive(Debug)]
pub struct Outcome {
    /// The configurations afterwards, with the findings that remain.
    pub checked: Vec<Arc<Checked>>,
    /// The files that changed, by path.
    pub changed: Vec<Changed>,
    /// What was applied, in order.
    pub applied: Vec<Applied>,
    /// What was not, in the order of the remaining findings.
    pub held: Vec<Held>,
    /// Number of rounds that changed something.
    pub rounds: u32,
}

impl Outcome {
    /// Whether a fault of this program showed.
    pub fn bug(&self) -> bool {
        self.held.iter().any(|held| held.reason.is_bug())
    }
}

/// Applies the fixes of `first` that are at least as safe as `allow`, and those of what is found
/// afterwards, until nothing changes.
///
/// # Errors
/// What the linter met.
pub fn run<L: Linter>(
    linter: &mut L,
    files: &dyn Files,
    first: Vec<Checked>,
    allow: Safety,
) -> Result<Outcome, L::Error> {
    let mut state = State::new(first);
    let mut best = (usize::MAX, state.clone());
    let mut idle = 0;
    loop {
        let plan = Plan::new(files, &state.checked, allow);
        let open = plan.groups.len();
        if open < best.0 {
            best = (open, state.clone());
            idle = 0;
        } else if idle == PATIENCE {
            let (_, state) = best;
            let plan = Plan::new(files, &state.checked, allow);
            let refused = (0..plan.groups.len()).map(|group| (group, Reason::Unsettled)).collect();
            return Ok(state.finish(&plan, refused));
        } else {
            idle += 1;
        }
        let (next, refused) = Round::play(linter, files, &state, &plan)?;
        match next {
            Some(next) => state = next,
            None => return Ok(state.finish(&plan, refused)),
        }
    }
}

/// Where the rounds stand.
#[derive(Clone)]
struct State {
    checked: Vec<Arc<Checked>>,
    /// The files that were touched, by canonical path.
    texts: BTreeMap<PathBuf, Changed>,
    applied: Vec<Applied>,
    rounds: u32,
}

impl State {
    fn new(first: Vec<Checked>) -> Self {
        let checked = first.into_iter().map(Arc::new).collect();
        Self { checked, texts: BTreeMap::new(), applied: Vec::new(), rounds: 0 }
    }

    fn finish(self, plan: &Plan, refused: Refused) -> Outcome {
        let refused = refused.into_iter().flat_map(|(group, reason)| plan.groups[group].held(&reason));
        let mut held: Vec<Held> = plan.held.iter().cloned().chain(refused).collect();
        held.sort_by_key(|held| (held.model, held.finding, held.fix));
        let changed = self.texts.into_values().filter(|file| file.old != file.new).collect();
        Outcome { checked: self.checked, changed, applied: self.applied, held, rounds: self.rounds }
    }
}

/// Groups that are wrong, by index.
type Refused = Vec<(usize, Reason)>;

/// One round: as many of a plan's groups as go together.
struct Round<'a, L> {
    linter: &'a mut L,
    files: &'a dyn Files,
    state: &'a State,
    plan: &'a Plan,
    /// Indices of the groups in `next`.
    accepted: Vec<usize>,
    refused: Refused,
    /// The state with the accepted groups applied.
    next: Option<State>,
}

impl<'a, L: Linter> Round<'a, L> {
    /// The state after the round, if it changes anything, and the groups that are wrong.
    fn play(
        linter: &'a mut L,
        files: &'a dyn Files,
        state: &'a State,
        plan: &'a Plan,
    ) -> Result<(Option<State>, Refused), L::Error> {
        let mut round = Self { linter, files, state, plan, accepted: Vec::new(), refused: Vec::new(), next: None };
        round.settle(&(0..plan.groups.len()).collect::<Vec<_>>())?;
        Ok((round.next, round.refused))
    }

    /// Accepts what it can of `groups`. All at once where that is right, else half by half until
    /// those that are wrong stand alone.
    fn settle(&mut self, groups: &[usize]) -> Result<(), L::Error> {
        let (patch, included) = self.patch(groups);
        if included.is_empty() {
            if let ([alone], true) = (groups, self.accepted.is_empty()) {
                self.refused.push((*alone, Reason::Overlap));
            }
            return Ok(());
        }
        let next = self.apply(&patch, &included)?;
        match self.judge(&next) {
            Ok(()) => {
                self.accepted.extend(included);
                self.next = Some(next);
            }
            Err(reason) => match groups {
                [alone] => self.refused.push((*alone, reason)),
                _ => {
                    let (left, right) = groups.split_at(groups.len() / 2);
                    self.settle(left)?;
                    self.settle(right)?;
                }
            },
        }
        Ok(())
    }

    /// What was accepted and, of `groups`, what does not overlap; the indices of the latter.
    fn patch(&self, groups: &[usize]) -> (Patch, Vec<usize>) {
        let mut patch = Patch::new();
        for &group in &self.accepted {
            // They went together before.
            let _ = patch.add(&self.plan.groups[group].changes);
        }
        let included = groups.iter().copied().filter(|&group| patch.add(&self.plan.groups[group].changes).is_ok());
        let included = included.collect();
        (patch, included)
    }

    /// The state after `patch`, which brings `included` to what was accepted.
    fn apply(&mut self, patch: &Patch, included: &[usize]) -> Result<State, L::Error> {
        let mut next = State { rounds: self.state.rounds + 1, ..self.state.clone() };
        for number in patch.files() {
            let (path, bytes) = self.plan.texts.get(number);
            let new: Arc<[u8]> = patch.apply(number, bytes).into();
            let first = || Changed { path: path.to_owned(), old: bytes.clone(), new: bytes.clone() };
            next.texts.entry(path.to_owned()).or_insert_with(first).new = new;
        }
        let changed = next.texts.values().map(|file| (file.path.clone(), file.new.clone()));
        let overlay = Overlay::with(self.files, changed.collect());
        for model in self.plan.texts.readers(patch.files()) {
            next.checked[model] = Arc::new(self.linter.again(model, &self.state.checked[model], &overlay)?);
        }
        let groups = self.accepted.iter().chain(included).map(|&group| &self.plan.groups[group]);
        next.applied.extend(groups.map(|group| group.applied(&self.state.checked)));
        Ok(next)
    }

    /// Whether a state may follow on the one before.
    fn judge(&self, next: &State) -> Result<(), Reason> {
        for (before, after) in self.state.checked.iter().zip(&next.checked) {
            if Arc::ptr_eq(before, after) {
                continue;
            }
            if let Some(broken) = new_syntax_error(&before.model, &after.model) {
                return Err(Reason::Breaks(broken));
            }
        }
        Ok(())
    }
}

/// The message of a syntax error that was not there before.
fn new_syntax_error(before: &Model, after: &Model) -> Option<String> {
    fn errors(model: &Model) -> impl Iterator<Item = &str> {
        let syntax = model.problems().iter().filter(|problem| problem.kind == ProblemKind::Syntax);
        syntax.map(|problem| problem.error.message.as_str())
    }
    if errors(after).count() <= errors(before).count() {
        return None;
    }
    errors(after).last().map(str::to_owned)
}
