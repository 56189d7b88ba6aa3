//! What edits change in a Caddyfile. Nothing is inherited there: a line counts where it stands, and
//! what several lines decide together is the pool of connections to a backend.

use super::pairs::{Pair, Side};
use super::{Cause, Changed, structures};
use crate::model::caddy::effect::{POOL, shown};
use crate::model::nginx::effect::Key;
use crate::model::{Node, NodeId};
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
    let levels = Levels::new(pairs);
    for (old, new) in old.iter().zip(new) {
        let mut seen = Vec::new();
        for version in target.members(Server::Caddy) {
            let (was, is) = (old.pool(version), new.pool(version));
            if was == is || seen.contains(&(was, is)) {
                continue;
            }
            seen.push((was, is));
            let (was, is) = (shown(was), shown(is));
            if was != is {
                let (pair, causes) = levels.around(before.node(old.node), after.node(new.node));
                changed.push(Changed { pair, key: Key::new(POOL, b""), before: was, after: is, causes });
            }
        }
    }
}

/// The pairs by the block that they are the inside of.
struct Levels<'p, 'm> {
    pairs: &'p [Pair<'m>],
    /// Sorted; the top level is not among them.
    blocks: Vec<(NodeId, usize)>,
}

impl<'p, 'm> Levels<'p, 'm> {
    fn new(pairs: &'p [Pair<'m>]) -> Self {
        let block = |(index, pair): (usize, &Pair<'m>)| Some((pair.before.node()?.id(), index));
        let mut blocks: Vec<_> = pairs.iter().enumerate().filter_map(block).collect();
        blocks.sort_unstable();
        Self { pairs, blocks }
    }

    /// The level that a directive stands on, and the touched lines of it and in it.
    fn around(&self, before: Node<'_>, after: Node<'_>) -> (usize, Vec<Cause>) {
        let block = before.level().node().map(Node::id);
        let found = block.and_then(|block| self.blocks.binary_search_by_key(&block, |(node, _)| *node).ok());
        let pair = found.map_or(0, |at| self.blocks[at].1);
        let beside = self.pairs[pair].touches.iter().enumerate().filter(|(_, touch)| match touch.side {
            Side::Before => before.span().contains(touch.span),
            Side::After => after.span().contains(touch.span),
        });
        let mut causes: Vec<Cause> = beside.map(|(number, _)| (pair, number)).collect();
        let from = self.blocks.partition_point(|(node, _)| *node < before.id());
        let inside = self.blocks[from..].iter().take_while(|(node, _)| *node < before.end());
        causes
            .extend(inside.flat_map(|(_, index)| (0..self.pairs[*index].touches.len()).map(|number| (*index, number))));
        (pair, causes)
    }
}
