//! Caddy's own directives, global options, matchers and modules: what each takes, and when.

pub mod build;
pub mod plugins;
pub mod renames;

use crate::version::Version;

/// What an entry takes as a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// A block is an error.
    None,
    /// A block is read over, but a line in it is an error.
    Empty,
    /// A block is read over, whatever is in it.
    Any,
    /// The known lines are read, others are read over.
    Loose,
    /// The known lines and no others.
    Strict,
    /// As `Strict`, and there must be one.
    Must,
    /// Directives of a site.
    Handlers,
}

/// What each argument must be for the adapter to accept it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Anything.
    Text,
    /// A duration: `5s`, `1d12h`.
    Duration,
    /// A number of bytes: `10MB`.
    Size,
    /// A whole number.
    Int,
    /// A status code, or a class of them: `2xx`.
    Status,
    /// A duration, or a number without a unit.
    Interval,
}

/// One name in its place.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// The fewest arguments, a matcher not counted.
    pub min: u8,
    /// The most arguments; 255 for any number.
    pub max: u8,
    /// What it takes as a block.
    pub block: Block,
    /// Whether arguments beyond the most are read over.
    pub more: bool,
    /// Whether it is an HTTP handler.
    pub handler: bool,
    /// Whether it may begin with a matcher.
    pub matcher: bool,
    /// The first version that knows it, if not all do.
    pub since: Option<Version>,
    /// The first version that does not know it any more.
    pub until: Option<Version>,
    /// From which version on a second one in the same block is an error.
    pub once: Option<Version>,
    /// What its arguments are.
    pub kind: Kind,
    /// The words that its arguments may be besides; if they are text, the only ones.
    pub of: &'static [&'static str],
    /// The section that its first argument names an entry of.
    pub module: Option<&'static str>,
    /// The directive whose block's entries are allowed here too.
    pub also: Option<&'static str>,
    /// Before this version, unknown lines in the block are read over.
    pub loose_before: Option<Version>,
    /// What its block may hold, sorted by name.
    pub below: &'static [Entry],
}

include!(concat!(env!("OUT_DIR"), "/catalog_caddy.rs"));

impl Entry {
    /// A block with those entries, and no more than that: the global options.
    pub const fn of_block(below: &'static [Entry]) -> Self {
        Self {
            name: "",
            min: 0,
            max: 0,
            block: Block::Strict,
            more: false,
            handler: false,
            matcher: false,
            since: None,
            until: None,
            once: None,
            kind: Kind::Text,
            of: &[],
            module: None,
            also: None,
            loose_before: None,
            below,
        }
    }

    /// Whether a version knows it.
    pub fn known_to(&self, version: Version) -> bool {
        self.since.is_none_or(|since| since <= version) && self.until.is_none_or(|until| version < until)
    }

    /// The entry of that name in its block.
    pub fn below(&self, name: &[u8]) -> Option<&'static Entry> {
        let own = find(self.below, name);
        own.or_else(|| find(directive(self.also?.as_bytes())?.below, name))
    }
}

fn find(entries: &'static [Entry], name: &[u8]) -> Option<&'static Entry> {
    entries.binary_search_by(|entry| entry.name.as_bytes().cmp(name)).ok().map(|i| &entries[i])
}

/// The entries of a section: `directive`, `option`, `matcher`, or a kind of modules.
pub fn section(name: &str) -> &'static [Entry] {
    SECTIONS.iter().find(|(section, _)| *section == name).map_or(&[], |(_, entries)| entries)
}

/// The entry of that name in a section.
pub fn named(section_name: &str, name: &[u8]) -> Option<&'static Entry> {
    find(section(section_name), name)
}

/// What the block of the global options may hold.
pub fn global_options() -> &'static Entry {
    static GLOBAL: std::sync::LazyLock<Entry> = std::sync::LazyLock::new(|| Entry::of_block(section("option")));
    &GLOBAL
}

/// The directive of that name.
pub fn directive(name: &[u8]) -> Option<&'static Entry> {
    named("directive", name)
}

/// The handler directives in the order in which they run, of all versions: each knows a part of it.
pub fn ordered() -> &'static [&'static str] {
    ORDER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found() {
        let proxy = directive(b"reverse_proxy").unwrap();
        assert!(proxy.handler && proxy.matcher && proxy.max == 255);
        assert_eq!(proxy.below(b"lb_retries").map(|entry| (entry.min, entry.kind)), Some((1, Kind::Int)));
        let transport = named("transport", b"http").unwrap();
        let per_host = transport.below(b"keepalive_idle_conns_per_host").unwrap();
        assert_eq!(per_host.since, Some(Version::new(2, 4, 3)));
        assert!(directive(b"forward_auth").unwrap().below(b"transport").is_some());
        assert!(directive(b"nonsense").is_none());
    }

    #[test]
    fn every_handler_has_its_place_in_the_order() {
        for entry in section("directive").iter().filter(|entry| entry.handler) {
            assert!(ordered().contains(&entry.name), "{}", entry.name);
        }
    }
}
