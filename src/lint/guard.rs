//! The guard: what a round of fixes changes in the settings in effect, and which of it no fix was
//! meant to change.
//!
//! Both models are walked side by side; what is in effect is computed only on levels that a changed
//! line reaches. A fix may change the settings that its own lines name, on the levels that its
//! finding is about. Every other difference is laid to the fixes whose lines brought it about.

mod caddy;
mod owners;
mod pairs;
#[cfg(test)]
mod tests;
mod words;

use foldhash::{HashMap, HashSet};
use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::catalog::nginx::{Merge, default_value, keepalive};
use crate::model::nginx::effect::{self, Effect, Key};
use crate::model::nginx::{Backend, Context, Pass};
use crate::model::{Level, Model};
use crate::version::{Server, Version, VersionSet};

pub use owners::{Author, Edited};
use owners::{Home, Homes, Owners};
use pairs::{Kind, Pair, Touch, pairs};
pub use words::{level, sentences};

/// A difference that no fix was meant to bring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The setting.
    pub key: Key,
    /// Its value before; `None` where it was not set.
    pub before: Option<Vec<u8>>,
    /// Its value afterwards.
    pub after: Option<Vec<u8>>,
    /// Where, in words: "`location /api`".
    pub place: String,
    /// Whether the fix is meant to change it, but elsewhere.
    pub elsewhere: bool,
}

/// What each author's edits change that he does not mean to, by his number. `authors` are those of
/// `edits`.
pub fn undeclared(
    before: &Model,
    after: &Model,
    target: &VersionSet,
    edits: &[Edited],
    authors: &[Author],
) -> BTreeMap<usize, Vec<Difference>> {
    let pairs = pairs(before, after);
    let owners = owners::assign(&pairs, edits, authors.len());
    let judge = Judge {
        pairs: &pairs,
        owners: &owners,
        declared: declared(&pairs, &owners, authors.len()),
        homes: Homes::new(before, authors),
    };
    let mut found: BTreeMap<usize, Vec<Difference>> = BTreeMap::new();
    for changed in differences(&pairs, target) {
        for (author, difference) in judge.blame(&changed) {
            let list = found.entry(author).or_default();
            if !list.contains(&difference) {
                list.push(difference);
            }
        }
    }
    found
}

/// Everything that differs in the settings in effect, meant or not.
pub fn effects(before: &Model, after: &Model, target: &VersionSet) -> Vec<Difference> {
    let pairs = pairs(before, after);
    let difference = |Changed { pair, key, before, after, .. }| {
        let place = words::place(&pairs[pair]);
        Difference { key, before, after, place, elsewhere: false }
    };
    differences(&pairs, target).into_iter().map(difference).collect()
}

/// What the lines of each author name.
fn declared(pairs: &[Pair<'_>], owners: &[Vec<Owners>], authors: usize) -> Vec<HashSet<Key>> {
    let mut declared = vec![HashSet::default(); authors];
    for (pair, owners) in pairs.iter().zip(owners) {
        for (touch, owners) in pair.touches.iter().zip(owners) {
            if owners.certain && touch.kind != Kind::Order {
                for &author in &owners.authors {
                    declared[author].insert(touch.key.clone());
                }
            }
        }
    }
    declared
}

/// The item of a setting whose lines stand in another order.
const ORDER: &[u8] = b"order";

/// A setting that differs on a level.
struct Changed {
    /// Index of the pair of levels.
    pair: usize,
    key: Key,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
    /// The touched lines that brought it about: index of a pair, index there.
    causes: Vec<Cause>,
}

/// The number of a pair and of a touch in it.
type Cause = (usize, usize);

/// Every setting that differs, on every level that a changed line reaches.
fn differences(pairs: &[Pair<'_>], target: &VersionSet) -> Vec<Changed> {
    if pairs.first().is_some_and(|pair| pair.before.model().server() == Server::Caddy) {
        return caddy::differences(pairs, target);
    }
    let definitions = Definitions::new(pairs);
    let reaching = reaching(pairs);
    let versions = Versions::new(pairs, target);
    let of = |(index, pair): (usize, &Pair<'_>)| {
        let mut changed = Vec::new();
        structures(index, pair, &mut changed);
        let causes = &reaching[index];
        if !(causes.is_empty() && definitions.is_empty()) {
            let context = effect::context(pair.before);
            if !context.holds_entries() {
                let level = Compare { pairs, index, causes, definitions: &definitions, versions: &versions };
                level.settings(context, &mut changed);
                level.passes(&mut changed);
            }
        }
        changed
    };
    pairs.par_iter().enumerate().with_min_len(64).flat_map_iter(of).collect()
}

/// For each pair the touched lines whose settings reach it: its own, and those that outer levels hand
/// on.
fn reaching(pairs: &[Pair<'_>]) -> Vec<Vec<Cause>> {
    let mut reaching: Vec<Vec<Cause>> = Vec::with_capacity(pairs.len());
    let touch = |&(pair, touch): &Cause| (&pairs[pair], &pairs[pair].touches[touch]);
    let is_handed_on = |cause: &&Cause| {
        let (pair, Touch { key, .. }) = touch(cause);
        // `set` is carried out for inner levels, too.
        effect::merge(pair.before, &key.name) != Merge::None || effect::decides_proxied(&key.name)
    };
    for (index, pair) in pairs.iter().enumerate() {
        let outer = pair.parent.map_or(&[][..], |parent| &reaching[parent]);
        let mut causes: Vec<Cause> = outer.iter().filter(is_handed_on).copied().collect();
        causes
            .extend((0..pair.touches.len()).map(|touch| (index, touch)).filter(|it| touch(it).1.kind == Kind::Setting));
        reaching.push(causes);
    }
    reaching
}

/// The touches inside and around blocks that others refer to by name.
#[derive(Default)]
struct Definitions {
    /// By name in lower case.
    upstreams: HashMap<Vec<u8>, Vec<Cause>>,
    /// Of variables.
    variables: Vec<Cause>,
}

impl Definitions {
    fn new(pairs: &[Pair<'_>]) -> Self {
        let mut found = Self::default();
        for (index, pair) in pairs.iter().enumerate().filter(|(_, pair)| !pair.touches.is_empty()) {
            let context = effect::context(pair.before);
            let block = pair.before.node().and_then(|node| node.value(0));
            for (number, Touch { key, .. }) in pair.touches.iter().enumerate() {
                match (context, &*key.name) {
                    (Context::Upstream, _) => found.upstream(block.unwrap_or_default(), (index, number)),
                    (_, b"upstream") => found.upstream(&key.item, (index, number)),
                    (Context::Map | Context::Geo | Context::SplitClients, _)
                    | (_, b"map" | b"geo" | b"split_clients") => {
                        found.variables.push((index, number));
                    }
                    _ => {}
                }
            }
        }
        found
    }

    fn upstream(&mut self, name: &[u8], cause: Cause) {
        self.upstreams.entry(name.to_ascii_lowercase()).or_default().push(cause);
    }

    fn is_empty(&self) -> bool {
        self.upstreams.is_empty() && self.variables.is_empty()
    }

    /// Those that have a say in where a pass leads.
    fn used_by(&self, model: &Model, pass: &Pass) -> Vec<Cause> {
        if pass.by_variable {
            return self.upstreams.values().flatten().chain(&self.variables).copied().collect();
        }
        let upstream = |backend: &Backend| match backend {
            Backend::Upstream(id) => self.upstreams.get(&model.node(*id).value(0)?.to_ascii_lowercase()),
            _ => None,
        };
        pass.backends.iter().filter_map(upstream).flatten().copied().collect()
    }
}

/// Blocks and entries that came, went or moved.
fn structures(index: usize, pair: &Pair<'_>, changed: &mut Vec<Changed>) {
    for (number, touch) in pair.touches.iter().enumerate() {
        let (key, before, after) = match &touch.kind {
            Kind::Structure { before, after } => (touch.key.clone(), before.clone(), after.clone()),
            Kind::Order => (Key::new(&touch.key.name, ORDER), None, None),
            Kind::Setting | Kind::Inside => continue,
        };
        changed.push(Changed { pair: index, key, before, after, causes: vec![(index, number)] });
    }
}

/// One pair of levels, and what reaches it.
struct Compare<'a, 'm> {
    pairs: &'a [Pair<'m>],
    index: usize,
    causes: &'a [Cause],
    definitions: &'a Definitions,
    versions: &'a Versions<'a>,
}

impl<'m> Compare<'_, 'm> {
    fn pair(&self) -> &Pair<'m> {
        &self.pairs[self.index]
    }

    fn touch(&self, (pair, touch): Cause) -> &Touch {
        &self.pairs[pair].touches[touch]
    }

    /// Directives in effect whose lines were touched here or further out.
    fn settings(&self, context: Context, changed: &mut Vec<Changed>) {
        let names: BTreeSet<&[u8]> = (self.causes.iter())
            .filter(|&&cause| self.touch(cause).kind == Kind::Setting && self.reaches(cause, context))
            .map(|&cause| &*self.touch(cause).key.name)
            .collect();
        for name in names {
            let by = |cause: &&Cause| *self.touch(**cause).key.name == *name;
            let causes: Vec<_> = self.causes.iter().filter(by).copied().collect();
            self.compare(
                self.versions.of(name),
                |level, version| effect::setting(level, name, version),
                |_| causes.clone(),
                changed,
            );
        }
    }

    /// Whether a touched line can have a say here.
    fn reaches(&self, (pair, touch): Cause, context: Context) -> bool {
        let merge = effect::merge(self.pairs[pair].before, &self.pairs[pair].touches[touch].key.name);
        match context {
            // No request is answered here; what is inherited shows further in.
            Context::Http | Context::Stream | Context::Mail => pair == self.index && merge == Merge::None,
            _ => pair == self.index || merge != Merge::None,
        }
    }

    /// What the pass in effect comes to.
    fn passes(&self, changed: &mut Vec<Changed>) {
        let pair = self.pair();
        let (Some(before), Some(after)) = (effect::pass_of(pair.before), effect::pass_of(pair.after)) else { return };
        let mut defined = self.definitions.used_by(pair.before.model(), before);
        defined.extend(self.definitions.used_by(pair.after.model(), after));
        let decisive = |cause: &&Cause| {
            let name = &self.touch(**cause).key.name;
            effect::decides_proxied(name) && (!name.ends_with(b"_pass") || self.is_level_of((before, after), cause.0))
        };
        let lines: Vec<Cause> = self.causes.iter().filter(decisive).copied().collect();
        if lines.is_empty() && defined.is_empty() {
            return;
        }
        let by_variable = before.by_variable || after.by_variable;
        let causes = |key: &Key| {
            let decides = |cause: &&Cause| decides(&self.touch(**cause).key.name, &key.name);
            // An upstream has no say in what it is asked for and in redirects, a variable may have.
            let is_apart = *key.name == *effect::TARGET || *key.name == *b"proxy_redirect";
            let defined = if is_apart && !by_variable { &[][..] } else { &defined };
            lines.iter().filter(decides).chain(defined).copied().collect()
        };
        self.compare(&self.versions.plain, effect::proxied, causes, changed);
    }

    /// Whether a pass before or after stands on the levels of a pair: others of its name have no say.
    fn is_level_of(&self, (before, after): (&Pass, &Pass), pair: usize) -> bool {
        let Pair { before: old, after: new, .. } = &self.pairs[pair];
        old.model().node(before.node).level() == *old || new.model().node(after.node).level() == *new
    }

    fn compare(
        &self,
        versions: &[Version],
        effect: impl Fn(Level<'m>, Version) -> Effect,
        causes: impl Fn(&Key) -> Vec<Cause>,
        changed: &mut Vec<Changed>,
    ) {
        let pair = self.pair();
        for &version in versions {
            let (mut before, mut after) = (effect(pair.before, version), effect(pair.after, version));
            let keys: BTreeSet<Key> = before.keys().chain(after.keys()).cloned().collect();
            for key in keys {
                let (before, after) = (before.remove(&key), after.remove(&key));
                let known = |other: &Changed| {
                    other.pair == self.index && other.key == key && other.before == before && other.after == after
                };
                if before != after && !changed.iter().rev().take_while(|other| other.pair == self.index).any(known) {
                    let causes = causes(&key);
                    changed.push(Changed { pair: self.index, key, before, after, causes });
                }
            }
        }
    }
}

/// Whether a directive is among those that make what a pass comes to.
fn decides(name: &[u8], key: &[u8]) -> bool {
    let base = |name: &[u8]| name.ends_with(b"_pass") || name == b"set" || name == b"upstream";
    base(name)
        || name == key
        || (key == b"proxy_cache_key" && name == b"proxy_cache")
        || (key.ends_with(b"_ssl_name") && memchr::memmem::find(name, b"_ssl_").is_some())
}

/// One version of the target for each way in which its versions understand the directives: where
/// neither the defaults of connections to a backend nor those of a directive differ, one stands for
/// all.
struct Versions<'a> {
    /// For what depends on no directive's default.
    plain: Vec<Version>,
    /// By the name of a touched directive.
    named: HashMap<&'a [u8], Vec<Version>>,
}

impl<'a> Versions<'a> {
    fn new(pairs: &'a [Pair<'_>], target: &VersionSet) -> Self {
        let touches = pairs.iter().flat_map(|pair| &pair.touches).filter(|touch| touch.kind == Kind::Setting);
        let names: BTreeSet<&[u8]> = touches.map(|touch| &*touch.key.name).collect();
        let named = names.into_iter().map(|name| (name, ways(target, |v| default_value(name, Context::Location, v))));
        Self { plain: ways(target, |_| ()), named: named.collect() }
    }

    fn of(&self, name: &[u8]) -> &[Version] {
        self.named.get(name).unwrap_or(&self.plain)
    }
}

/// The first version of each way in which the target's versions keep connections and `differ` otherwise.
fn ways<T: Eq + std::hash::Hash>(target: &VersionSet, differ: impl Fn(Version) -> T) -> Vec<Version> {
    let mut seen = HashSet::default();
    let kept = |version| keepalive(version).map(|row| (row.http_version, row.connection, row.implicit));
    let mut versions: Vec<Version> =
        target.members(Server::Nginx).filter(|&version| seen.insert((kept(version), differ(version)))).collect();
    if versions.is_empty() {
        versions.push(target.ranges().first().map_or(Server::Nginx.assumed_floor(), |range| range.start));
    }
    versions
}

/// Whether requests or connections are answered with what is in effect on a level.
fn answers(level: Level<'_>) -> bool {
    use Context::{LimitExcept, Location, LocationIf, MailServer, Server, ServerIf, StreamServer};
    let context = effect::context(level);
    matches!(context, Server | ServerIf | Location | LocationIf | LimitExcept | StreamServer | MailServer)
}

struct Judge<'a, 'm> {
    pairs: &'a [Pair<'m>],
    owners: &'a [Vec<Owners>],
    declared: Vec<HashSet<Key>>,
    homes: Homes,
}

impl Judge<'_, '_> {
    /// The authors who brought a difference about and did not mean to; none if one of them did.
    fn blame(&self, changed: &Changed) -> Vec<(usize, Difference)> {
        let mut blamed: BTreeMap<usize, bool> = BTreeMap::new();
        for &(pair, touch) in &changed.causes {
            for &author in &self.owners[pair][touch].authors {
                let declared = self.declared[author].contains(&changed.key);
                let itself = self.pairs[pair].touches[touch].kind != Kind::Setting && pair == changed.pair;
                let here = itself || self.is_home(author, pair, changed.pair);
                if declared && here {
                    return Vec::new();
                }
                *blamed.entry(author).or_default() |= declared;
            }
        }
        let place = words::place(&self.pairs[changed.pair]);
        let difference = |(author, elsewhere)| {
            let Changed { key, before, after, .. } = changed;
            let (key, before, after) = (key.clone(), before.clone(), after.clone());
            (author, Difference { key, before, after, place: place.clone(), elsewhere })
        };
        blamed.into_iter().map(difference).collect()
    }

    /// Whether an author's finding is about what happens at `place`, which a line at `cause` reaches.
    /// It is not where the line stands further out than every place of the finding, and `place` is
    /// none of these. Where no request is answered, a line only defines what others may use.
    fn is_home(&self, author: usize, cause: usize, place: usize) -> bool {
        let Some(homes) = self.homes.get(author).filter(|_| answers(self.pairs[place].before)) else { return true };
        let cause = Home::of(self.pairs[cause].before);
        if !homes.iter().any(|home| cause.is_around(home)) {
            return true;
        }
        let place = Home::of(self.pairs[place].before);
        homes.iter().any(|home| home.contains(&place))
    }
}
