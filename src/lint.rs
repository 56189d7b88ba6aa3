//! Rules over a model.
//!
//! Rules find their directives through the model's index of names, so a rule costs nothing where
//! the names it is about do not stand.

pub(crate) mod comments;
pub mod guard;
pub mod ignore;
mod place;
pub mod rounds;
#[cfg(test)]
mod tests;

use foldhash::HashMap;

use crate::checks::{self, Cx, Report, Run, Settings, Shared};
use crate::finding::{Finding, Label};
use crate::model::{Model, Node, NodeId};
use crate::rule::Mender;
use crate::rule::definition::{Finds, Params, Pattern, Rewrite};
use crate::rule::set::{Active, RuleSet};
use crate::target::Versions;
use crate::version::{Holds, Server, VersionSet};

/// What the rules say of a configuration.
#[derive(Debug, Clone, Default)]
pub struct Said {
    /// The findings, sorted by path, place and rule.
    pub findings: Vec<Finding>,
    /// Those that comments ignore.
    pub ignored: Vec<Finding>,
}

/// What the rules say of a configuration, sorted by path, place and rule; less what comments ignore.
/// `versions` are those that will read it: [`Target::of`](crate::target::Target::of).
pub fn run(model: &Model, rules: &RuleSet, versions: &Versions, settings: &Settings) -> Vec<Finding> {
    say(model, rules, versions, settings).findings
}

/// What the rules say of a configuration, and what comments ignore of it.
pub fn say(model: &Model, rules: &RuleSet, versions: &Versions, settings: &Settings) -> Said {
    let shared = Shared::default();
    let mut findings = Vec::new();
    for active in rules.running(model.server()) {
        if active.rule.versions.as_ref().is_some_and(|fact| holds(versions, model, fact) == Holds::Never) {
            continue;
        }
        let reports = reports(model, active, versions, settings, &shared);
        let judged = reports.into_iter().filter_map(|report| judge(model, active, versions, report));
        let merged = place::merge(model, &shared, judged.collect());
        findings.extend(merged.into_iter().filter_map(|report| finding(model, active, report)));
    }
    let ignored = ignore::apply(model, rules, versions, &mut findings);
    sort(model, &mut findings);
    Said { findings, ignored }
}

fn holds(versions: &Versions, model: &Model, fact: &VersionSet) -> Holds {
    versions.set.holds(model.server(), fact)
}

/// What one rule reports.
fn reports(model: &Model, active: &Active, versions: &Versions, settings: &Settings, shared: &Shared) -> Vec<Report> {
    static NONE: Params = Params::from_static(&[]);
    let params = match &active.rule.finds {
        Finds::Check { params, .. } => params,
        Finds::Match { .. } => &NONE,
    };
    let template = active.rule.message.as_deref();
    let mut cx = Cx {
        model,
        target: &versions.set,
        stated: versions.stated.is_some(),
        distribution: versions.distribution,
        settings,
        params,
        shared,
        template,
        reports: Vec::new(),
    };
    match &active.rule.finds {
        Finds::Match { pattern, rewrite, by_block } => {
            report_matches(&mut cx, &active.rule.id, pattern, rewrite.as_ref(), *by_block);
        }
        Finds::Check { name, .. } => match checks::find(name).map(|check| check.run) {
            Some(Run::Model(run)) => run(&mut cx),
            Some(Run::Each(names, run)) => {
                names.iter().flat_map(|name| model.named(name)).for_each(|node| run(&mut cx, node));
            }
            Some(Run::Comments) | None => {}
        },
    }
    cx.reports
}

/// Reports what a declarative rule matches.
fn report_matches(cx: &mut Cx<'_>, rule: &str, pattern: &Pattern, rewrite: Option<&Rewrite>, by_block: bool) {
    let model = cx.model;
    let named = pattern.directive.iter().flat_map(|name| model.named(name));
    let mut matches: Vec<Node<'_>> = named.filter(|node| pattern.matches(*node)).collect();
    // A block that is spread over files is one block for each: a text is mended where it stands.
    let block = |node: &Node<'_>| (node.parent().map(Node::id), node.head().file);
    matches.sort_by_key(|node| (block(node), node.id()));
    for in_block in matches.chunk_by(|a, b| block(a) == block(b)) {
        let mender = rewrite.map(|rewrite| Mender::new(rewrite, rule, in_block[0]));
        if mender.as_ref().is_some_and(Mender::is_satisfied) {
            continue;
        }
        let groups = if by_block { vec![in_block] } else { in_block.chunks(1).collect() };
        for group in groups {
            let message = cx.message(group[0]).unwrap_or_default();
            let report = cx.report(group[0], group[0].head(), message);
            for other in &group[1..] {
                report.label(other.head(), "and here");
            }
            if let Some(fix) = mender.as_ref().and_then(|mender| mender.fix(group)) {
                report.fix(fix);
            }
        }
    }
}

/// Compares a report with the target: drops it where it is true for no version, and names the
/// versions where it is not true for all. Fixes that a version of the target refuses stay: the
/// rounds hold them back and say why.
fn judge(model: &Model, active: &Active, versions: &Versions, mut report: Report) -> Option<Report> {
    let fact = match (&active.rule.versions, report.versions.take()) {
        (Some(rule), Some(own)) => rule.intersection(&own),
        (Some(rule), None) => rule.clone(),
        (None, Some(own)) => own,
        (None, None) => VersionSet::all(),
    };
    let held = holds(versions, model, &fact);
    if held == Holds::Never {
        return None;
    }
    report.message = name_versions(&report.message, &fact, model.server(), held);
    if held == Holds::Sometimes {
        report.versions = Some(fact.intersection(&versions.set));
    }
    Some(report)
}

/// The message with the versions in it.
fn name_versions(message: &str, fact: &VersionSet, server: Server, held: Holds) -> String {
    let words = fact.words(server);
    if message.contains("{versions}") {
        message.replace("{versions}", &words)
    } else if held == Holds::Always {
        message.to_owned()
    } else {
        match message.strip_suffix('.') {
            Some(sentences) => format!("{sentences} (on {words})."),
            None => format!("{message} (on {words})"),
        }
    }
}

/// `None` where the rule does not run on the file of the report.
fn finding(model: &Model, active: &Active, mut report: Report) -> Option<Finding> {
    let severity = active.severity_at(model.file(report.span).path())?;
    report.fixes.retain(|fix| !fix.edits.is_empty());
    report.fixes.iter_mut().for_each(|fix| fix.follow_line_ends(model.sources()));
    Some(Finding {
        rule: active.rule.id.clone(),
        severity,
        category: active.rule.category,
        message: report.message,
        span: report.span,
        labels: report.labels.into_iter().map(|(span, message)| Label { span, message }).collect(),
        versions: report.versions,
        fixes: report.fixes,
        note: report.note,
    })
}

/// By path, place, rule and message.
fn sort(model: &Model, findings: &mut [Finding]) {
    let mut files: Vec<_> = model.sources().iter().collect();
    files.sort_by_key(|(_, file)| file.path());
    let rank: HashMap<_, _> = files.iter().enumerate().map(|(rank, (id, _))| (*id, rank)).collect();
    findings.sort_by(|a, b| {
        let key = |f: &Finding| (rank[&f.span.file], f.span.start, f.span.end);
        key(a).cmp(&key(b)).then_with(|| a.rule.cmp(&b.rule)).then_with(|| a.message.cmp(&b.message))
    });
}

/// The directive of a report in its model.
fn node_of(model: &Model, id: Option<NodeId>) -> Option<Node<'_>> {
    id.map(|id| model.node(id))
}
