//! One fix at a time, each asked about.

use foldhash::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::plan::{Group, Plan};
use super::round::{Refused, Round, Trial, strays};
use super::state::State;
use super::{Applied, Checked, Linter, Outcome, Reason};
use crate::files::Files;
use crate::fix::Safety;
use crate::lint::guard::{self, Difference};
use crate::model::Model;

/// A fix that someone is asked about.
#[derive(Debug)]
pub struct Proposal<'a> {
    /// The fix, as it would be listed once applied.
    pub fix: Applied,
    /// The message of its finding.
    pub message: &'a str,
    /// The files that it changes: canonical path, what they hold by now, what they would hold.
    pub files: Vec<(&'a Path, &'a [u8], &'a [u8])>,
    /// What it changes in the settings in effect.
    pub effect: Vec<Difference>,
    /// Number of fixes that wait behind it.
    pub behind: usize,
}

/// What is to become of a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It is applied.
    Yes,
    /// It is left out.
    No,
    /// It is applied, and all further ones of its rule are without being asked about.
    Rule,
    /// It is left out, and so is everything behind it.
    Quit,
}

/// Someone who decides.
pub trait Reviewer {
    /// Decides about one fix.
    fn decide(&mut self, proposal: &Proposal<'_>) -> Decision;
}

/// Asks about each fix that is at least as safe as `allow`, and about those of what is found
/// afterwards.
///
/// # Errors
/// What the linter met.
pub fn review<L: Linter>(
    linter: &mut L,
    files: &dyn Files,
    first: Vec<Checked>,
    allow: Safety,
    reviewer: &mut dyn Reviewer,
) -> Result<Outcome, L::Error> {
    let mut state = State::new(first);
    let mut passed = Passed::default();
    let mut agreed: HashSet<String> = HashSet::default();
    loop {
        let plan = Plan::new(files, &state.checked, allow);
        let waiting: Vec<usize> = (0..plan.groups.len()).filter(|&group| !passed.holds(&state, &plan, group)).collect();
        let Some(&next) = waiting.first() else { return Ok(finish(state, &plan, &passed)) };
        let Round { trial, refused, .. } = Round::play(linter, files, &state, &plan, vec![next])?;
        let Some(trial) = trial else {
            let reason = refused.into_iter().next().map_or(Reason::Overlap, |(_, reason)| reason);
            passed.add(&state, &plan, next, reason);
            continue;
        };
        if state.demote(&plan, strays(&state.checked, &plan, &trial)) && allow == Safety::Safe {
            continue;
        }
        let proposal = proposal(&state.checked, &plan, &trial, next, waiting.len() - 1);
        let decision = if agreed.contains(&proposal.fix.rule) { Decision::Yes } else { reviewer.decide(&proposal) };
        match decision {
            Decision::Rule => drop(agreed.insert(proposal.fix.rule)),
            Decision::Yes => {}
            Decision::No => {
                passed.add(&state, &plan, next, Reason::Declined);
                continue;
            }
            Decision::Quit => {
                waiting.iter().for_each(|&group| passed.add(&state, &plan, group, Reason::Declined));
                return Ok(finish(state, &plan, &passed));
            }
        }
        passed.shift(&plan, &trial);
        state = state.advance(linter, &plan, trial);
    }
}

fn proposal<'a>(
    checked: &'a [Arc<Checked>],
    plan: &'a Plan,
    trial: &'a Trial,
    group: usize,
    behind: usize,
) -> Proposal<'a> {
    let file = |(&number, new): (&usize, &'a Arc<[u8]>)| {
        let (path, old) = plan.texts.get(number);
        (path, &**old, &**new)
    };
    let effect =
        |(&number, after): (&usize, &Model)| guard::effects(&checked[number].model, after, &checked[number].target);
    let mut effect: Vec<Difference> = trial.models.iter().flat_map(effect).collect();
    effect.dedup();
    Proposal {
        fix: plan.groups[group].applied(checked),
        message: &plan.groups[group].members[0].finding(checked).message,
        files: trial.texts.iter().map(file).collect(),
        effect,
        behind,
    }
}

fn finish(state: State, plan: &Plan, passed: &Passed) -> Outcome {
    let reasons = (0..plan.groups.len()).filter_map(|group| Some((group, passed.reason(&state, plan, group)?)));
    let refused: Refused = reasons.collect();
    state.finish(plan, refused)
}

/// The fixes that were left out: the rule, and where the finding stands by now.
#[derive(Default)]
struct Passed(Vec<(String, PathBuf, usize, Reason)>);

impl Passed {
    fn add(&mut self, state: &State, plan: &Plan, group: usize, reason: Reason) {
        if let Some((rule, path, offset)) = place(state, plan, &plan.groups[group]) {
            self.0.push((rule.to_owned(), path.to_owned(), offset, reason));
        }
    }

    fn reason(&self, state: &State, plan: &Plan, group: usize) -> Option<Reason> {
        let place = place(state, plan, &plan.groups[group])?;
        let same = |it: &&(String, PathBuf, usize, Reason)| (it.0.as_str(), it.1.as_path(), it.2) == place;
        self.0.iter().find(same).map(|it| it.3.clone())
    }

    fn holds(&self, state: &State, plan: &Plan, group: usize) -> bool {
        self.reason(state, plan, group).is_some()
    }

    /// Follows the texts behind what a fix changes.
    fn shift(&mut self, plan: &Plan, trial: &Trial) {
        for &number in trial.texts.keys() {
            let (path, _) = plan.texts.get(number);
            let placed = trial.patch.placed(number);
            for it in self.0.iter_mut().filter(|it| it.1 == path) {
                let before = placed.iter().take_while(|(change, _)| change.range.end <= it.2);
                if let Some((change, new)) = before.last() {
                    it.2 = new.end + (it.2 - change.range.end);
                }
            }
        }
    }
}

/// The rule of a fix, and where its finding stands.
fn place<'a>(state: &'a State, plan: &'a Plan, group: &Group) -> Option<(&'a str, &'a Path, usize)> {
    let member = group.members.first()?;
    let finding = member.finding(&state.checked);
    let number = plan.texts.number(member.model, finding.span.file)?;
    Some((&finding.rule, plan.texts.get(number).0, finding.span.start as usize))
}
