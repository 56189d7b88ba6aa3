//! What Caddy refuses to adapt, besides names: text, blocks, addresses, arguments, references.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::checks::{Check, Cx, Report, Run, problems};
use crate::model::ProblemKind;
use crate::model::caddy::accept::{Cause, Refusal, Verdict, verdicts};
use crate::version::VersionSet;

/// Text and blocks that Caddy cannot put together.
pub static SYNTAX: Check = Check {
    name: "caddy/syntax",
    run: Run::Model(|cx| {
        problems::report(cx, ProblemKind::Syntax);
        report(cx, Cause::Structure);
    }),
};

/// The same address in two sites.
pub static AMBIGUOUS_SITE: Check =
    Check { name: "caddy/ambiguous-site", run: Run::Model(|cx| report(cx, Cause::Ambiguous)) };

/// What the versions of the target make of the model, computed once for all checks.
pub(super) struct Verdicts(Vec<Verdict>);

impl Verdicts {
    /// Of the versions that can read the text: what does not parse is judged when it does.
    pub(super) fn of(cx: &Cx<'_>) -> Rc<Self> {
        cx.shared.get(|| Self(verdicts(cx.model, &cx.model.readable_by(cx.target))))
    }

    /// The refusals of one cause in reading order, each once, with the versions that refuse.
    pub(super) fn refusals(&self, cause: Cause) -> Vec<(&Refusal, VersionSet)> {
        let mut found: BTreeMap<(u32, u32, u32), (&Refusal, VersionSet)> = BTreeMap::new();
        for Verdict { versions, refusals } in &self.0 {
            for refusal in refusals.iter().filter(|refusal| refusal.cause == cause) {
                let key = (refusal.node.0, refusal.span.start, refusal.span.end);
                let entry = found.entry(key).or_insert_with(|| (refusal, VersionSet::none()));
                entry.1 = entry.1.union(versions);
            }
        }
        found.into_values().collect()
    }
}

/// Reports the refusals of one cause.
pub(super) fn report(cx: &mut Cx<'_>, cause: Cause) {
    let verdicts = Verdicts::of(cx);
    for (refusal, versions) in verdicts.refusals(cause) {
        report_one(cx, refusal, versions);
    }
}

/// Reports one refusal.
pub(super) fn report_one<'c>(cx: &'c mut Cx<'_>, refusal: &Refusal, versions: VersionSet) -> &'c mut Report {
    let model = cx.model;
    let report = cx.report(model.node(refusal.node), refusal.span, refusal.message.clone());
    report.versions(versions);
    for (span, message) in &refusal.labels {
        report.label(*span, message.clone());
    }
    report
}
