//! One round: as many of a plan's groups as go together.

use foldhash::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::plan::Plan;
use super::state::State;
use super::{Checked, Linter, Reason};
use crate::files::{Files, Overlay};
use crate::fix::apply::{Change, Patch};
use crate::lint::guard::{self, Author, Edited};
use crate::model::{Model, ProblemKind};
use crate::source::{FileId, SourceFile};

/// Groups that are wrong, by index.
pub(super) type Refused = Vec<(usize, Reason)>;

pub(super) struct Round<'a, L> {
    linter: &'a mut L,
    files: &'a dyn Files,
    state: &'a State,
    plan: &'a Plan,
    pub(super) refused: Refused,
    /// What was accepted, applied.
    pub(super) trial: Option<Trial>,
}

/// Groups, and what they make of the files.
pub(super) struct Trial {
    pub(super) groups: Vec<usize>,
    pub(super) patch: Patch,
    /// New texts by the number of the file.
    pub(super) texts: BTreeMap<usize, Arc<[u8]>>,
    /// The configurations that read these files, by number.
    pub(super) models: BTreeMap<usize, Model>,
}

impl<'a, L: Linter> Round<'a, L> {
    /// Applies what it can of the groups.
    pub(super) fn play(
        linter: &'a mut L,
        files: &'a dyn Files,
        state: &'a State,
        plan: &'a Plan,
        groups: Vec<usize>,
    ) -> Result<Self, L::Error> {
        let mut round = Self { linter, files, state, plan, refused: Vec::new(), trial: None };
        round.settle(&groups)?;
        Ok(round)
    }

    /// Accepts what it can of `groups`. All at once where that is right, else half by half until
    /// those that are wrong stand alone.
    fn settle(&mut self, groups: &[usize]) -> Result<(), L::Error> {
        let accepted = self.trial.as_ref().map_or(&[][..], |trial| &trial.groups);
        let (patch, all) = self.patch(accepted, groups);
        if all.len() == accepted.len() {
            if let ([alone], []) = (groups, accepted) {
                self.refused.push((*alone, Reason::Overlap));
            }
            return Ok(());
        }
        let trial = self.apply(patch, all)?;
        match self.wrong(&trial) {
            None => self.trial = Some(trial),
            Some(reason) => match groups {
                [alone] if self.trial.is_none() => self.refused.push((*alone, reason)),
                // It does not go with what was accepted, and waits.
                [_] => {}
                _ => {
                    let (left, right) = groups.split_at(groups.len() / 2);
                    self.settle(left)?;
                    self.settle(right)?;
                }
            },
        }
        Ok(())
    }

    /// What was accepted and, of `groups`, what does not overlap, with their indices.
    fn patch(&self, accepted: &[usize], groups: &[usize]) -> (Patch, Vec<usize>) {
        let mut patch = Patch::new();
        let all = accepted.iter().chain(groups).copied();
        let all = all.filter(|&group| patch.add(&self.plan.groups[group].changes).is_ok()).collect();
        (patch, all)
    }

    fn apply(&mut self, patch: Patch, groups: Vec<usize>) -> Result<Trial, L::Error> {
        let mut texts = BTreeMap::new();
        let mut changed = self.state.new_texts();
        for number in patch.files() {
            let (path, bytes) = self.plan.texts.get(number);
            let new: Arc<[u8]> = patch.apply(number, bytes).into();
            changed.insert(path.to_owned(), new.clone());
            texts.insert(number, new);
        }
        let readers = self.plan.texts.readers(patch.files());
        let opened = readers.iter().flat_map(|&number| self.opened(number, &texts)).collect();
        let overlay = Overlay::with(self.files, changed).knowing(opened);
        let mut models = BTreeMap::new();
        for number in readers {
            models.insert(number, self.linter.load(number, &self.state.checked[number], &overlay)?);
        }
        Ok(Trial { groups, patch, texts, models })
    }

    /// The files of a configuration by the paths that they were opened by, with their new texts.
    fn opened(&self, number: usize, texts: &BTreeMap<usize, Arc<[u8]>>) -> Vec<(PathBuf, Arc<[u8]>)> {
        let model = &self.state.checked[number].model;
        let unread: HashSet<&Path> = model.not_read().iter().map(|it| it.path.as_path()).collect();
        let read = model.sources().iter().filter(|(_, file)| !unread.contains(file.path()));
        let text = |(id, file): (FileId, &Arc<SourceFile>)| {
            let new = self.plan.texts.number(number, id).and_then(|file| texts.get(&file));
            (file.path().to_owned(), new.unwrap_or(file.bytes()).clone())
        };
        read.map(text).collect()
    }

    /// Why a trial may not stand.
    fn wrong(&self, trial: &Trial) -> Option<Reason> {
        let new_error = |(&number, model): (&usize, &Model)| new_syntax_error(&self.state.checked[number].model, model);
        trial.models.iter().find_map(new_error).map(Reason::Breaks)
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

/// What the groups of a trial change that they do not mean to, in words.
pub(super) fn strays(checked: &[Arc<Checked>], plan: &Plan, trial: &Trial) -> BTreeMap<usize, Vec<String>> {
    let mut authors: HashMap<&Change, Vec<usize>> = HashMap::default();
    for (author, &group) in trial.groups.iter().enumerate() {
        for change in &plan.groups[group].changes {
            authors.entry(change).or_default().push(author);
        }
    }
    let mut strays: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (&number, after) in &trial.models {
        let mut edits = Vec::new();
        for file in trial.patch.files() {
            let Some(id) = plan.texts.file_of(number, file) else { continue };
            for (change, new) in trial.patch.placed(file) {
                let authors = authors.get(&change).cloned().unwrap_or_default();
                edits.push(Edited { file: id, old: change.range, new, authors });
            }
        }
        let places = |group: &usize| Author { places: plan.groups[*group].places(number, checked) };
        let authors: Vec<Author> = trial.groups.iter().map(places).collect();
        let before = &checked[number];
        for (author, differences) in guard::undeclared(&before.model, after, &before.target, &edits, &authors) {
            let sentences = strays.entry(trial.groups[author]).or_default();
            for sentence in guard::sentences(&differences) {
                if !sentences.contains(&sentence) {
                    sentences.push(sentence);
                }
            }
        }
    }
    strays
}
