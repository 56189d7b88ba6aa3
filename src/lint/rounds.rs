//! The rounds of `--fix`: put fixes together, apply them, read and check again, until nothing changes.

mod join;
mod plan;
mod refused;
mod review;
mod round;
mod state;
#[cfg(test)]
mod tests;
mod texts;

use foldhash::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::files::Files;
use crate::finding::Finding;
use crate::fix::Safety;
use crate::model::Model;
use crate::source::Position;
use crate::version::VersionSet;

use plan::Plan;
pub use review::{Decision, Proposal, Reviewer, review};
use round::{Refused, Round, strays};
use state::State;

/// Rounds that may pass without fewer findings to fix.
const PATIENCE: u32 = 10;

/// A configuration and what the rules say of it.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The configuration.
    pub model: Arc<Model>,
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

    /// Reads configuration number `model`, which was `before`, again. File ids stay the same.
    ///
    /// # Errors
    /// When the program itself could not go on.
    fn load(&mut self, model: usize, before: &Checked, files: &dyn Files) -> Result<Model, Self::Error>;

    /// Checks what became of `before`, for the same target.
    fn check(&mut self, before: &Checked, model: Model) -> Checked;
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
    #[error("unsafe, as {0}; apply it with --unsafe-fixes")]
    Unsafe(String),
    /// A version of the target does not understand the new text.
    #[error("{0}")]
    Version(String),
    /// The server cannot read the configuration; until it can, nobody knows what a fix would change.
    #[error("the configuration does not parse yet")]
    Unparsed,
    /// The server refuses a line that the fix is about, for what this rule says.
    #[error("the server refuses this line ({0}), which is to be mended first")]
    Refused(String),
    /// Another configuration that reads the same file has no such fix.
    #[error("{} reads the same file and has no such fix", .0.display())]
    Shared(PathBuf),
    /// It overlaps with itself or with what was applied.
    #[error("it overlaps another fix")]
    Overlap,
    /// The text would not parse any more: a fault of this program.
    #[error("it would break the syntax ({0}), which is a bug of proxylint")]
    Breaks(String),
    /// Someone said no.
    #[error("declined")]
    Declined,
    /// The fixes undo each other.
    #[error("the fixes do not settle, which is a bug of proxylint")]
    Unsettled,
}

impl Reason {
    /// Whether the fix is applied once it is asked for.
    pub fn is_choice(&self) -> bool {
        matches!(self, Self::Unsafe(_) | Self::Declined)
    }

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
/// afterwards, until nothing changes. What the guard sees a fix change besides is added to the fix,
/// which is unsafe then.
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
        let Round { trial, refused, .. } = Round::play(linter, files, &state, &plan, (0..open).collect())?;
        let Some(trial) = trial else {
            judge_rest(linter, files, &mut state)?;
            // The reasons name what the guard saw.
            let held = Plan::new(files, &state.checked, allow).held;
            return Ok(state.finish(&Plan { held, ..plan }, refused));
        };
        let strays = strays(&state.checked, &plan, &trial);
        if state.demote(&plan, strays) && allow == Safety::Safe {
            continue;
        }
        state = state.advance(linter, &plan, trial);
    }
}

/// Applies nothing, but adds to each fix what the guard sees it change besides.
///
/// # Errors
/// What the linter met.
pub fn judge<L: Linter>(linter: &mut L, files: &dyn Files, first: Vec<Checked>) -> Result<Outcome, L::Error> {
    let mut state = State::new(first);
    let plan = Plan::new(files, &state.checked, Safety::Unsafe);
    let mut waiting: Vec<usize> = (0..plan.groups.len()).collect();
    let mut all_refused = Refused::new();
    while !waiting.is_empty() {
        let Round { trial, refused, .. } = Round::play(linter, files, &state, &plan, waiting.clone())?;
        let judged = trial.iter().flat_map(|trial| &trial.groups).chain(refused.iter().map(|(group, _)| group));
        let judged: HashSet<usize> = judged.copied().collect();
        waiting.retain(|group| !judged.contains(group));
        all_refused.extend(refused);
        match trial {
            Some(trial) => drop(state.demote(&plan, strays(&state.checked, &plan, &trial))),
            None => break,
        }
    }
    Ok(state.finish(&plan, all_refused))
}

/// Lets the guard judge the unsafe fixes that remain.
fn judge_rest<L: Linter>(linter: &mut L, files: &dyn Files, state: &mut State) -> Result<(), L::Error> {
    let plan = Plan::new(files, &state.checked, Safety::Unsafe);
    let all = (0..plan.groups.len()).collect();
    if let Some(trial) = Round::play(linter, files, state, &plan, all)?.trial {
        state.demote(&plan, strays(&state.checked, &plan, &trial));
    }
    Ok(())
}
