//! Which location nginx takes.

use foldhash::HashMap;

use super::location::{Kind, Matcher};
use crate::catalog::nginx::Context;
use crate::checks::{Check, Cx, Run};
use crate::model::{Level, Node};

/// Faults in the choice of a location; the parameter `fault` says which.
pub static CHECK: Check = Check { name: "nginx/location-choice", run: Run::Model(report) };

fn report(cx: &mut Cx<'_>) {
    if cx.params.text("fault") != Some("duplicate-location") {
        return;
    }
    let holders = ["server", "location"].into_iter().flat_map(|name| cx.model.named(name));
    let levels: Vec<Level<'_>> = holders
        .filter(|node| matches!(node.context(), Context::Http | Context::Server | Context::Location))
        .map(Node::inside)
        .filter(|level| level.own("location").len() > 1)
        .collect();
    for level in levels {
        duplicates(cx, level);
    }
}

/// The same path twice on one level: as a beginning (with or without `^~`), or as a whole.
fn duplicates(cx: &mut Cx<'_>, level: Level<'_>) {
    let mut first: HashMap<(bool, &[u8]), Node<'_>> = HashMap::default();
    for node in level.own("location") {
        let Some(matcher) = Matcher::of(node) else { continue };
        let exact = match matcher.kind {
            Kind::Exact => true,
            Kind::Prefix | Kind::Preferred => false,
            Kind::Regex { .. } | Kind::Named => continue,
        };
        match first.get(&(exact, matcher.path)) {
            Some(known) => {
                let path = String::from_utf8_lossy(matcher.path);
                let message = format!("the location `{path}` stands twice here: nginx refuses the file");
                cx.report(node, node.head(), message).label(known.head(), "the first");
            }
            None => {
                first.insert((exact, matcher.path), node);
            }
        }
    }
}
