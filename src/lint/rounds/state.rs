//! Where the rounds stand.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::plan::{Member, Plan};
use super::round::{Refused, Trial};
use super::{Applied, Changed, Checked, Held, Linter, Outcome};
use crate::fix::Safety;

#[derive(Clone)]
pub(super) struct State {
    pub(super) checked: Vec<Arc<Checked>>,
    /// The files that were touched, by canonical path.
    texts: BTreeMap<PathBuf, Changed>,
    applied: Vec<Applied>,
    rounds: u32,
}

impl State {
    pub(super) fn new(first: Vec<Checked>) -> Self {
        let checked = first.into_iter().map(Arc::new).collect();
        Self { checked, texts: BTreeMap::new(), applied: Vec::new(), rounds: 0 }
    }

    /// The texts of the touched files, by canonical path.
    pub(super) fn new_texts(&self) -> BTreeMap<PathBuf, Arc<[u8]>> {
        self.texts.values().map(|file| (file.path.clone(), file.new.clone())).collect()
    }

    /// Adds to fixes what they change besides, and makes them unsafe. Whether one of them claimed to
    /// be safe.
    pub(super) fn demote(&mut self, plan: &Plan, strays: BTreeMap<usize, Vec<String>>) -> bool {
        let mut claimed = false;
        for (group, sentences) in strays {
            for &member in &plan.groups[group].members {
                let Member { model, finding, fix } = member;
                let fix = &mut Arc::make_mut(&mut self.checked[model]).findings[finding].fixes[fix];
                claimed |= fix.safety == Safety::Safe;
                fix.safety = Safety::Unsafe;
                let new = sentences.iter().filter(|sentence| !fix.changes.contains(sentence)).cloned();
                let new: Vec<String> = new.collect();
                fix.changes.extend(new);
            }
        }
        claimed
    }

    /// The state after a trial.
    pub(super) fn advance<L: Linter>(mut self, linter: &mut L, plan: &Plan, trial: Trial) -> Self {
        self.applied.extend(trial.groups.iter().map(|&group| plan.groups[group].applied(&self.checked)));
        for (number, new) in trial.texts {
            let (path, bytes) = plan.texts.get(number);
            let first = || Changed { path: path.to_owned(), old: bytes.clone(), new: bytes.clone() };
            self.texts.entry(path.to_owned()).or_insert_with(first).new = new;
        }
        for (number, model) in trial.models {
            self.checked[number] = Arc::new(linter.check(&self.checked[number], model));
        }
        self.rounds += 1;
        self
    }

    pub(super) fn finish(self, plan: &Plan, refused: Refused) -> Outcome {
        let refused = refused.into_iter().flat_map(|(group, reason)| plan.groups[group].held(&reason));
        let mut held: Vec<Held> = plan.held.iter().cloned().chain(refused).collect();
        held.sort_by_key(|held| (held.model, held.finding, held.fix));
        let changed = self.texts.into_values().filter(|file| file.old != file.new).collect();
        Outcome { checked: self.checked, changed, applied: self.applied, held, rounds: self.rounds }
    }
}
