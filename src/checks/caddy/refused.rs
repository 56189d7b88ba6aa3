//! What Caddy refuses to adapt.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::checks::{Check, Cx, Run, problems};
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
struct Verdicts(Vec<Verdict>);

/// Reports the refusals of one cause, each with the versions that refuse.
fn report(cx: &mut Cx<'_>, cause: Cause) {
    let model = cx.model;
    // What does not parse is judged when it does.
    let readable = model.readable_by(cx.target);
    let shared: Rc<Verdicts> = cx.shared.get(|| Verdicts(verdicts(model, &readable)));
    let mut found: BTreeMap<(u32, u32, u32), (&Refusal, VersionSet)> = BTreeMap::new();
    for Verdict { versions, refusals } in &shared.0 {
        for refusal in refusals.iter().filter(|refusal| refusal.cause == cause) {
            let key = (refusal.node.0, refusal.span.start, refusal.span.end);
            let entry = found.entry(key).or_insert_with(|| (refusal, VersionSet::none()));
            entry.1 = entry.1.union(versions);
        }
    }
    for (refusal, versions) in found.into_values() {
        let report = cx.report(model.node(refusal.node), refusal.span, refusal.message.clone());
        report.versions(versions);
        for (span, message) in &refusal.labels {
            report.label(*span, message.clone());
        }
    }
}
