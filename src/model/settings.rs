//! The settings in effect at one place, for all versions of a target.

use std::collections::BTreeMap;

use super::nginx::effect::{self, Effect, Key};
use super::{Level, Model, Node, caddy};
use crate::source::FileId;
use crate::syntax::tree::Body;
use crate::version::{Server, Version, VersionSet};

/// The values of a setting, each with the versions of the target that have it; none where it is not
/// set and has no default.
pub type Values = Vec<(Option<Vec<u8>>, VersionSet)>;

/// Everything in effect on a level, for each version of the target.
pub fn in_effect(level: Level<'_>, target: &VersionSet) -> BTreeMap<Key, Values> {
    let server = level.model().server();
    let versions: Vec<Version> = target.members(server).collect();
    let effects: Vec<Effect> = versions.iter().map(|&version| effect_of(level, version)).collect();
    let mut settings: BTreeMap<Key, Values> = BTreeMap::new();
    for key in effects.iter().flat_map(BTreeMap::keys) {
        if settings.contains_key(key) {
            continue;
        }
        let mut values: Vec<(Option<Vec<u8>>, Vec<Version>)> = Vec::new();
        for (&version, effect) in versions.iter().zip(&effects) {
            let value = effect.get(key);
            match values.iter_mut().find(|(known, _)| known.as_ref() == value) {
                Some((_, versions)) => versions.push(version),
                None => values.push((value.cloned(), vec![version])),
            }
        }
        let values = values.into_iter().map(|(value, versions)| (value, VersionSet::of(server, versions)));
        settings.insert(key.clone(), values.collect());
    }
    settings
}

fn effect_of(level: Level<'_>, version: Version) -> Effect {
    match level.model().server() {
        Server::Nginx => effect::effect(level, version),
        Server::Caddy => caddy::effect::effect(level, version),
    }
}

/// The innermost levels that a line of a file belongs to: one for each place that includes the file.
/// A line that opens a block belongs to what is inside.
pub fn levels_of_line(model: &Model, file: FileId, line: u32) -> Vec<Level<'_>> {
    let source = model.sources().get(file);
    let range = source.line_range(line);
    let blank = source.bytes()[range.clone()].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let at = (range.start + blank) as u32;
    let is_around = |node: &Node<'_>| {
        let span = node.span();
        matches!(node.body(), Body::Block { .. }) && span.file == file && span.start <= at && at < span.end
    };
    let around: Vec<Node<'_>> = model.nodes().filter(is_around).collect();
    let is_innermost = |node: &&Node<'_>| !around.iter().any(|other| other.ancestors().any(|outer| outer == **node));
    let inside: Vec<Level<'_>> = around.iter().filter(is_innermost).map(|node| node.inside()).collect();
    if inside.is_empty() {
        let here = model
            .nodes()
            .filter(|node| node.span().file == file && node.parent().is_none_or(|it| it.span().file != file));
        let mut levels: Vec<Level<'_>> = here.map(Node::level).collect();
        levels.dedup();
        return levels;
    }
    inside
}

/// The levels of the blocks that people call by these words: `/api` or `location /api`, the name of a
/// server or of an upstream, an address of a site.
pub fn levels_called<'m>(model: &'m Model, words: &[u8]) -> Vec<Level<'m>> {
    let is_called = |node: &Node<'m>| {
        let named = |line: Node<'m>| line.args().any(|word| word.value() == words);
        matches!(node.body(), Body::Block { .. })
            && (effect::text(node.words()) == words
                || effect::text(node.args()) == words
                || node.own("server_name").any(named)
                || (model.server() == Server::Caddy && node.words().any(|word| word.value() == words)))
    };
    model.nodes().filter(is_called).map(Node::inside).collect()
}
