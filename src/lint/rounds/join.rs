//! Fixes in files that several configurations share.

use foldhash::HashMap;
use std::sync::Arc;

use super::plan::{Group, Member};
use super::texts::Texts;
use super::{Checked, Held, Reason};
use crate::fix::apply::Change;

type Placed = (Member, Vec<Change>);

/// Joins the fixes that several configurations have for files that they share, so that they are
/// applied together. A fix that another reader of its files lacks is held back.
pub(super) fn join(placed: Vec<Placed>, checked: &[Arc<Checked>], texts: &Texts, held: &mut Vec<Held>) -> Vec<Group> {
    let mut sets = Sets::new(placed.len());
    let lacking = unite_twins(&placed, checked, texts, &mut sets);
    let mut refused: HashMap<usize, usize> = HashMap::default();
    for (index, other) in lacking {
        refused.entry(sets.root(index)).or_insert(other);
    }
    let mut groups: Vec<Option<Group>> = placed.iter().map(|_| None).collect();
    for (index, (member, changes)) in placed.into_iter().enumerate() {
        let root = sets.root(index);
        if let Some(&other) = refused.get(&root) {
            let model = &checked[other].model;
            held.push(member.held(Reason::Shared(model.sources().get(model.main()).path().to_owned())));
            continue;
        }
        let group = groups[root].get_or_insert_with(|| Group { members: Vec::new(), changes: Vec::new() });
        group.members.push(member);
        group.changes.extend(changes);
    }
    groups.into_iter().flatten().collect()
}

/// Unites the fixes of one rule that make the same changes to the files which two configurations
/// share. Returns those without such a twin, each with the configuration that lacks it.
fn unite_twins(placed: &[Placed], checked: &[Arc<Checked>], texts: &Texts, sets: &mut Sets) -> Vec<(usize, usize)> {
    let key = |member: &Member, changes, mine: usize, other: usize| {
        (mine, other, member.finding(checked).rule.clone(), texts.common(mine, other, changes))
    };
    let mut twins = HashMap::default();
    for (index, (member, changes)) in placed.iter().enumerate() {
        for other in texts.other_readers(member.model, changes) {
            twins.insert(key(member, changes, member.model, other), index);
        }
    }
    let mut lacking = Vec::new();
    for (index, (member, changes)) in placed.iter().enumerate() {
        for other in texts.other_readers(member.model, changes) {
            match twins.get(&key(member, changes, other, member.model)) {
                Some(&twin) => sets.unite(index, twin),
                None => lacking.push((index, other)),
            }
        }
    }
    lacking
}

/// Disjoint sets; the root of one is its first member.
struct Sets(Vec<usize>);

impl Sets {
    fn new(len: usize) -> Self {
        Self((0..len).collect())
    }

    fn root(&self, mut index: usize) -> usize {
        while self.0[index] != index {
            index = self.0[index];
        }
        index
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}
