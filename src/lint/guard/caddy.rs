//! What edits change in a Caddyfile. Nothing is inherited there: a line counts where it stands, and
//! what several lines decide together is the pool of connections to a backend.

use std::collections::BTreeSet;

use super::pairs::{Pair, Side};
use super::{Cause, Changed, structures};
use crate::model::Node;
use crate::model::caddy::effect::{POOL, shown};
use crate::model::nginx::effect::Key;
use crate::version::{Server, VersionSet};

pub(super) fn differences(pairs: &[Pair<'_>], target: &VersionSet) -> Vec<Changed> {
    let mut changed = Vec::new();
    for (index, pair) in pairs.iter().enumerate() {
        structures(index, pair, &mut changed);
    }
    pools(pairs, target, &mut changed);
    changed
}

/// What each backend's pool comes to, which one option may take from another.
fn pools(pairs: &[Pair<'_>], target: &VersionSet, changed: &mut Vec<Changed>) {
    let Some(top) = pairs.first() else { return };
    let (before, after) = (top.before.model(), top.after.model());
    let (old, new) = (before.caddy().proxies(), after.caddy().proxies());
    if old.len() != new.len() {
        return;
    }
    for (old, new) in old.iter().zip(new) {
        let mut seen = BTreeSet::new();
        for version in target.members(Server::Caddy) {
            let (was, is) = (shown(old.pool(version)), shown(new.pool(version)));
            if was != is && seen.insert((was.clone(), is.clone())) {
                let (pair, causes) = around(pairs, before.node(old.node), after.node(new.node));
                changed.push(Changed { pair, key: Key::new(POOL, b""), before: was, after: is, causes });
            }
        }
    }
}

/// The level that a directive stands on, and the touched lines of it and in it.
fn around(pairs: &[Pair<'_>], before: Node<'_>, after: Node<'_>) -> (usize, Vec<Cause>) {
    let holds = |pair: &Pair<'_>| pair.before == before.level();
    let pair = pairs.iter().position(holds).unwrap_or(0);
    let range = before.id()..before.end();
    let mut causes = Vec::new();
    for (index, pair) in pairs.iter().enumerate() {
        let within = pair.before.node().is_some_and(|node| range.contains(&node.id()));
        for (number, touch) in pair.touches.iter().enumerate() {
            let span = match touch.side {
                Side::Before => before.span(),
                Side::After => after.span(),
            };
            if within || span.contains(touch.span) {
                causes.push((index, number));
            }
        }
    }
    (pair, causes)
}
