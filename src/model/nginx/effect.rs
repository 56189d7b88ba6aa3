//! The settings in effect on a level, as data that can be compared and printed.
//!
//! What several directives decide together is told as what it comes to: the `Host` that the backend
//! sees, not the `proxy_pass` and the `proxy_set_header` lines that make it.

mod proxied;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{Context, Pass, Protocol};
use crate::catalog::nginx::{Directive, Merge, lookup_in};
use crate::model::{Level, Node, Word};
use crate::syntax::tree::Body;
use crate::version::Version;

pub use proxied::{BACKEND, TARGET};

/// What a setting is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The directive, or what several of them come to: `backend`.
    pub name: Box<[u8]>,
    /// Which item of it: a header's name, in lower case. Empty where it has one value.
    pub item: Box<[u8]>,
}

impl Key {
    /// A setting, or an item of one.
    pub fn new(name: &[u8], item: &[u8]) -> Self {
        Self { name: name.into(), item: item.into() }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.name))?;
        if self.item.is_empty() { Ok(()) } else { write!(f, " {}", String::from_utf8_lossy(&self.item)) }
    }
}

/// Settings and their values as text. What is absent has no default that is known.
pub type Effect = BTreeMap<Key, Vec<u8>>;

/// Directives whose lines are items: the first argument names the item. `true`: in any case.
const ITEMS: [(&str, bool); 10] = [
    ("add_header", true),
    ("add_trailer", true),
    ("fastcgi_param", false),
    ("grpc_set_header", true),
    ("proxy_set_header", true),
    ("scgi_param", false),
    ("set", false),
    ("sub_filter", false),
    ("uwsgi_param", false),
    ("env", false),
];

/// Everything in effect on a level, for one version of the server.
pub fn effect(level: Level<'_>, version: Version) -> Effect {
    let mut effect = Effect::new();
    for name in names(level) {
        effect.extend(setting(level, name, version));
    }
    effect.extend(proxied::proxied(level, version));
    effect
}

/// One directive in effect on a level, with its default where no line is. Nothing where it has no
/// say: settings of a proxy where nothing is passed on, and what [`proxied()`] tells better.
pub fn setting(level: Level<'_>, name: &[u8], version: Version) -> Effect {
    if !matters(level, name) {
        return Effect::new();
    }
    let directive = directive(level, name);
    let lines = lines(level, name, directive);
    let mut effect = Effect::new();
    for line in &lines {
        let value = effect.entry(key(*line)).or_default();
        if !value.is_empty() {
            value.extend_from_slice(b"; ");
        }
        value.extend_from_slice(&value_of(*line));
    }
    if lines.is_empty()
        && !has_items(name)
        && let Some(default) = directive.and_then(|directive| directive.default_at(version))
    {
        effect.insert(Key::new(name, b""), default.as_bytes().to_vec());
    }
    effect
}

/// What a pass in effect on a level comes to; nothing where nothing is passed on.
pub fn proxied(level: Level<'_>, version: Version) -> Effect {
    proxied::proxied(level, version)
}

/// Whether a change of directives of that name can change what [`proxied()`] tells.
pub fn decides_proxied(name: &[u8]) -> bool {
    proxied::INPUTS.iter().any(|input| input.as_bytes() == name)
}

/// The pass that answers requests on a level. An `if` or `limit_except` without its own takes that of
/// its location.
pub fn pass_of(level: Level<'_>) -> Option<&Pass> {
    let model = level.model();
    let own = level.node().and_then(|block| model.nginx().pass_in(model, block.id()));
    match own {
        Some(pass) => Some(pass),
        None => match level.node()?.name() {
            b"if" | b"limit_except" => pass_of(level.outer()?),
            _ => None,
        },
    }
}

/// The context of the directives on a level.
pub fn context(level: Level<'_>) -> Context {
    match (level.node(), level.children().next()) {
        (None, _) => level.model().root_context(),
        (Some(_), Some(child)) => child.context(),
        (Some(block), None) => block.context().inside(block.name()),
    }
}

/// What a line sets.
pub fn key(line: Node<'_>) -> Key {
    let name = line.name();
    let item = match ITEMS.iter().find(|(items, _)| items.as_bytes() == name) {
        Some((_, true)) => line.value(0).unwrap_or_default().to_ascii_lowercase(),
        Some((_, false)) => line.value(0).unwrap_or_default().to_vec(),
        None => Vec::new(),
    };
    Key::new(group_of(line.level(), name), &item)
}

/// How outer lines of a directive work on a level.
pub fn merge(level: Level<'_>, name: &[u8]) -> Merge {
    directive(level, name).map_or(Merge::Unknown, |directive| directive.merge)
}

fn has_items(name: &[u8]) -> bool {
    ITEMS.iter().any(|(items, _)| items.as_bytes() == name)
}

/// `allow` and `deny` are one list: it has the name that comes first.
pub fn group_of<'n>(level: Level<'_>, name: &'n [u8]) -> &'n [u8] {
    let others = directive(level, name).map_or(&[][..], |directive| directive.merge_with);
    others.iter().map(|other| other.as_bytes()).chain([name]).min().unwrap_or(name)
}

fn value_of(line: Node<'_>) -> Vec<u8> {
    let name = line.name();
    let skipped = usize::from(has_items(name));
    let grouped =
        group_of(line.level(), name) != name || directive(line.level(), name).is_some_and(|d| !d.merge_with.is_empty());
    let words = line.words().take(usize::from(grouped)).chain(line.args().skip(skipped));
    text(words)
}

/// Words as one would write them.
pub fn text<'m>(words: impl Iterator<Item = Word<'m>>) -> Vec<u8> {
    let mut out = Vec::new();
    for word in words {
        if !out.is_empty() {
            out.push(b' ');
        }
        out.extend_from_slice(&quoted(word.value()));
    }
    out
}

fn quoted(value: &[u8]) -> Vec<u8> {
    let special = |byte: &u8| byte.is_ascii_whitespace() || b";{}\"'".contains(byte);
    if value.is_empty() || value.iter().any(special) { [b"\"", value, b"\""].concat() } else { value.to_vec() }
}

fn directive(level: Level<'_>, name: &[u8]) -> Option<&'static Directive> {
    lookup_in(name, context(level)).next()
}

/// The lines of a directive in effect on a level, and of those that share one list with it.
fn lines<'m>(level: Level<'m>, name: &[u8], directive: Option<&Directive>) -> Vec<Node<'m>> {
    let others = directive.map_or(&[][..], |directive| directive.merge_with);
    let own = |level: Level<'m>| {
        let mut lines: Vec<_> = level.own_bytes(name).collect();
        others.iter().for_each(|other| lines.extend(level.own(other)));
        lines.sort_by_key(|line| line.id());
        lines
    };
    match directive.map(|directive| directive.merge) {
        Some(Merge::None) => own(level),
        _ => level.outward().map(own).find(|lines| !lines.is_empty()).unwrap_or_default(),
    }
}

/// Whether a directive has a say on a level.
fn matters(level: Level<'_>, name: &[u8]) -> bool {
    if !matches!(
        context(level),
        Context::Server | Context::Location | Context::ServerIf | Context::LocationIf | Context::LimitExcept
    ) {
        return true;
    }
    let of = Protocol::ALL.iter().find(|protocol| name.starts_with(protocol.prefix().as_bytes()));
    of.is_none_or(|&protocol| {
        pass_of(level).is_some_and(|pass| pass.protocol == protocol) && !proxied::tells(protocol, name)
    })
}

/// The names of all lines that reach a level.
fn names<'m>(level: Level<'m>) -> BTreeSet<&'m [u8]> {
    let lines = level
        .outward()
        .flat_map(Level::children)
        .filter(|node| matches!(node.body(), Body::None { .. }) && !node.is("include"));
    lines.map(Node::name).collect()
}
