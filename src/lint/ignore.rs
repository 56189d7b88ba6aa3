//! Findings that somebody looked at and decided to keep: `# proxylint: ignore[rule] reason`.

use foldhash::{HashMap, HashSet};

use super::comments::{Comments, Ignore};
use crate::finding::Finding;
use crate::fix::{Edit, Fix};
use crate::model::Model;
use crate::rule::RuleSet;
use crate::rule::set::Active;
use crate::source::{FileId, Span};
use crate::syntax::note;
use crate::target::Versions;
use crate::version::Holds;

/// The rule about comments that ignore nothing.
pub const UNUSED: &str = "proxylint/unused-ignore";
/// The rule about comments that say nothing.
pub const INVALID: &str = "proxylint/invalid-comment";

/// Takes the findings that comments ignore out of `findings`, and adds what is wrong with the comments.
/// Returns the ignored ones.
pub(super) fn apply(model: &Model, rules: &RuleSet, versions: &Versions, findings: &mut Vec<Finding>) -> Vec<Finding> {
    if !model.sources().iter().any(|(_, file)| note::may_be_in(file.bytes())) {
        return Vec::new();
    }
    let comments = Comments::of(model);
    let coverage = Coverage::new(&comments.ignores, rules);
    let mut used = HashSet::default();
    let (mut kept, mut ignored) = (Vec::new(), Vec::new());
    for finding in std::mem::take(findings) {
        let by = coverage.of(&finding);
        if by.is_empty() {
            kept.push(finding);
        } else {
            used.extend(by);
            ignored.push(finding);
        }
    }
    *findings = kept;
    for fault in &comments.faults {
        findings.extend(report(model, rules, INVALID, fault.span, &fault.message, Some(&fault.help)));
    }
    for (index, ignore) in comments.ignores.iter().enumerate() {
        let used: Vec<bool> = (0..ignore.names.len()).map(|name| used.contains(&(index, name))).collect();
        findings.extend(judge(model, rules, versions, ignore, &used));
    }
    ignored
}

/// What comments cover, by rule and file.
struct Coverage<'a>(HashMap<(&'a str, FileId), Vec<Cover>>);

/// A stretch of a file in which a comment ignores a rule.
struct Cover {
    start: u32,
    end: u32,
    /// The greatest end of this one and those before it.
    furthest: u32,
    /// Index of the comment, and of the name in it.
    by: (usize, usize),
}

impl<'a> Coverage<'a> {
    fn new(ignores: &[Ignore], rules: &'a RuleSet) -> Self {
        let mut covers: HashMap<(&str, FileId), Vec<Cover>> = HashMap::default();
        for (index, ignore) in ignores.iter().enumerate() {
            let Some(Span { file, start, end }) = ignore.covers else { continue };
            for (name, (_, text)) in ignore.names.iter().enumerate() {
                if let Ok(active) = rules.find(text) {
                    let cover = Cover { start, end, furthest: end, by: (index, name) };
                    covers.entry((&active.rule.id, file)).or_default().push(cover);
                }
            }
        }
        for list in covers.values_mut() {
            list.sort_by_key(|cover| cover.start);
            let mut furthest = 0;
            for cover in list {
                furthest = cover.end.max(furthest);
                cover.furthest = furthest;
            }
        }
        Self(covers)
    }

    /// The comments that ignore a finding.
    fn of(&self, finding: &Finding) -> Vec<(usize, usize)> {
        let Span { file, start, .. } = finding.span;
        let Some(list) = self.0.get(&(finding.rule.as_ref(), file)) else { return Vec::new() };
        let before = list.partition_point(|cover| cover.start <= start);
        let near = list[..before].iter().rev().take_while(|cover| cover.furthest >= start);
        near.filter(|cover| cover.end >= start).map(|cover| cover.by).collect()
    }
}

/// What is wrong with a comment that ignores rules.
fn judge(model: &Model, rules: &RuleSet, versions: &Versions, ignore: &Ignore, used: &[bool]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut idle = Vec::new();
    for (index, (span, name)) in ignore.names.iter().enumerate().filter(|(index, _)| !used[*index]) {
        match rules.find(name) {
            Err(error) => findings.extend(report(model, rules, INVALID, *span, &error.to_string(), None)),
            Ok(active) if is_judged(model, active, versions, ignore.span) => idle.push(index),
            Ok(_) => {}
        }
    }
    if idle.is_empty() || ignore.is_unread {
        return findings;
    }
    let all = idle.len() == ignore.names.len();
    let names: Vec<String> = idle.iter().map(|&index| format!("`{}`", ignore.names[index].1)).collect();
    let message = match ignore.covers {
        None => "no directive follows this comment in its block: it ignores nothing".to_owned(),
        Some(_) => {
            format!("nothing that this comment covers is found by {}: it ignores nothing there", names.join(", "))
        }
    };
    let span = if all { ignore.span } else { ignore.names[idle[0]].0 };
    if let Some(mut finding) = report(model, rules, UNUSED, span, &message, None) {
        let kept = (0..ignore.names.len()).filter(|index| !idle.contains(index));
        let kept: Vec<&str> = kept.map(|index| ignore.names[index].1.as_str()).collect();
        finding.fixes.push(match all {
            true => Fix::safe("take the comment out", vec![Edit::replace(whole(model, ignore.span), "")]),
            false => Fix::safe("take it out of the list", vec![Edit::replace(ignore.list, kept.join(", "))]),
        });
        findings.push(finding);
    }
    findings
}

/// Whether a rule was run where the comment stands, so that its silence means something.
fn is_judged(model: &Model, active: &Active, versions: &Versions, comment: Span) -> bool {
    let holds = |fact| versions.set.holds(model.server(), fact) != Holds::Never;
    match active.rule.server {
        Some(server) if server != model.server() => true,
        Some(_) => {
            active.severity_at(model.file(comment).path()).is_some() && active.rule.versions.as_ref().is_none_or(holds)
        }
        // What is said of comments is not ignored by comments.
        None => true,
    }
}

/// The comment with its line where it stands alone, else with the space in front of it.
fn whole(model: &Model, comment: Span) -> Span {
    let bytes = model.file(comment).bytes();
    let before = &bytes[..comment.start as usize];
    let text = before.iter().rposition(|byte| !matches!(byte, b' ' | b'\t')).map_or(0, |at| at + 1);
    let alone = text == 0 || bytes[text - 1] == b'\n';
    let end = match &bytes[comment.end as usize..] {
        [b'\r', b'\n', ..] if alone => comment.end + 2,
        [b'\n', ..] if alone => comment.end + 1,
        _ => comment.end,
    };
    Span { start: text as u32, end, ..comment }
}

fn report(model: &Model, rules: &RuleSet, id: &str, span: Span, message: &str, note: Option<&str>) -> Option<Finding> {
    let active = rules.find(id).ok()?;
    Some(Finding {
        rule: active.rule.id.clone(),
        severity: active.severity_at(model.file(span).path())?,
        category: active.rule.category,
        message: message.to_owned(),
        span,
        labels: Vec::new(),
        versions: None,
        fixes: Vec::new(),
        note: note.map(str::to_owned),
    })
}
