//! Which fixes a round tries: their edits placed in files by canonical path, those of several
//! configurations that share a file joined.

use foldhash::HashSet;
use std::sync::Arc;

use super::join::join;
use super::refused::RefusedLines;
use super::texts::Texts;
use super::{Applied, Checked, Held, Reason};
use crate::files::Files;
use crate::finding::Finding;
use crate::fix::apply::Change;
use crate::fix::{Fix, Safety};
use crate::model::ProblemKind;
use crate::source::Span;
use crate::version::Holds;

/// The fixes of one round.
pub(super) struct Plan {
    /// The files that edits may touch.
    pub(super) texts: Texts,
    /// What is tried, in the order of the findings. Each is applied as a whole.
    pub(super) groups: Vec<Group>,
    /// What is not even tried.
    pub(super) held: Vec<Held>,
}

/// Fixes that are applied together: one, or the same one as several configurations see it.
pub(super) struct Group {
    pub(super) members: Vec<Member>,
    /// All their edits.
    pub(super) changes: Vec<Change>,
}

/// Indices of a fix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) model: usize,
    pub(super) finding: usize,
    pub(super) fix: usize,
}

impl Member {
    pub(super) fn held(self, reason: Reason) -> Held {
        Held { model: self.model, finding: self.finding, fix: self.fix, reason }
    }

    pub(super) fn finding(self, checked: &[Arc<Checked>]) -> &Finding {
        &checked[self.model].findings[self.finding]
    }

    fn fix(self, checked: &[Arc<Checked>]) -> &Fix {
        &self.finding(checked).fixes[self.fix]
    }
}

impl Group {
    /// Its fixes, all held back for one reason.
    pub(super) fn held(&self, reason: &Reason) -> Vec<Held> {
        self.members.iter().map(|member| member.held(reason.clone())).collect()
    }

    /// What its findings in one configuration are about.
    pub(super) fn places(&self, model: usize, checked: &[Arc<Checked>]) -> Vec<Span> {
        let findings = self.members.iter().filter(|member| member.model == model).map(|it| it.finding(checked));
        findings.flat_map(|it| it.labels.iter().map(|label| label.span).chain([it.span])).collect()
    }

    /// What a report says of it once it is applied.
    pub(super) fn applied(&self, checked: &[Arc<Checked>]) -> Applied {
        let member = self.members[0];
        let (finding, fix) = (member.finding(checked), member.fix(checked));
        let file = checked[member.model].model.file(finding.span);
        Applied {
            rule: finding.rule.to_string(),
            title: fix.title.clone(),
            safety: fix.safety,
            changes: fix.changes.clone(),
            path: file.path().to_owned(),
            position: file.position(finding.span.start),
        }
    }
}

impl Plan {
    /// The first fix of each finding that may be applied.
    pub(super) fn new(files: &dyn Files, checked: &[Arc<Checked>], allow: Safety) -> Self {
        let mut held = Vec::new();
        let mut chosen = Vec::new();
        for (model, one) in checked.iter().enumerate() {
            let (syntax, refused) = (syntax_faults(one), RefusedLines::new(one));
            for (finding, fixes) in one.findings.iter().enumerate().map(|(i, f)| (i, &f.fixes)) {
                let member = |fix| Member { model, finding, fix };
                let faulty = |fix| refused.of(&one.findings[finding], fix).map(|rule| Reason::Refused(rule.to_owned()));
                let refusals = fixes.iter().enumerate().map(|(index, fix)| {
                    faulty(index).or_else(|| refusal(one, &syntax, &one.findings[finding], fix, allow))
                });
                match first_allowed(refusals) {
                    Some(Ok(fix)) => chosen.push(member(fix)),
                    Some(Err(reason)) => held.push(member(0).held(reason)),
                    None => {}
                }
            }
        }
        if chosen.is_empty() {
            return Self { texts: Texts::default(), groups: Vec::new(), held };
        }
        let texts = Texts::new(files, checked);
        let placed =
            chosen.into_iter().map(|member| (member, texts.place(member.model, member.fix(checked)))).collect();
        let groups = if checked.len() > 1 { join(placed, checked, &texts, &mut held) } else { single(placed) };
        Self { texts, groups, held }
    }
}

/// The index of the first fix that is not refused, else why the first one is.
fn first_allowed(refusals: impl Iterator<Item = Option<Reason>>) -> Option<Result<usize, Reason>> {
    let mut first = None;
    for (index, refusal) in refusals.enumerate() {
        match refusal {
            None => return Some(Ok(index)),
            Some(reason) => {
                first.get_or_insert(reason);
            }
        }
    }
    first.map(Err)
}

/// The places where the text does not parse.
fn syntax_faults(checked: &Checked) -> HashSet<Span> {
    let syntax = checked.model.problems().iter().filter(|problem| problem.kind == ProblemKind::Syntax);
    syntax.map(|problem| problem.error.span).collect()
}

/// Why a fix is not even tried.
fn refusal(checked: &Checked, syntax: &HashSet<Span>, finding: &Finding, fix: &Fix, allow: Safety) -> Option<Reason> {
    if !syntax.is_empty() && !syntax.contains(&finding.span) {
        return Some(Reason::Unparsed);
    }
    if let Some(needs) = &fix.needs
        && checked.target.holds(checked.model.server(), needs) != Holds::Always
    {
        let server = checked.model.server();
        let versions = format!("{} {}", server.name(), needs.describe(server));
        return Some(Reason::Version(if checked.stated {
            format!("only {versions} understand the new text")
        } else {
            format!("only {versions} understand the new text, and no version was stated")
        }));
    }
    (fix.safety < allow).then(|| Reason::Unsafe(fix.changes.join(", and ")))
}

fn single(placed: Vec<(Member, Vec<Change>)>) -> Vec<Group> {
    placed.into_iter().map(|(member, changes)| Group { members: vec![member], changes }).collect()
}
