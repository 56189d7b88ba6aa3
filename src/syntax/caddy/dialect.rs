//! What differs between Caddy versions in how the text is read.

use std::cell::Cell;

use crate::version::{Version, VersionSet};

/// A change in how Caddy reads a file (`caddyconfig/caddyfile` of its source, checked on the
/// servers 2.6.2 to 2.11.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// A glob whose last part starts with `*` leaves out files that start with a dot.
    SkipDotfiles,
    /// An imported file of no bytes is no error.
    EmptyImport,
    /// `<<MARKER` starts a heredoc.
    Heredoc,
    /// `&(name)` is a named route, not an address.
    NamedRoutes,
    /// `{args[0]}` and `{args[:]}`; before, only `{args.0}`.
    IndexedArgs,
    /// A directive's `{` on a line of its own is an error.
    OwnLineBrace,
    /// `@name` among addresses is an error at any place, not only as the first.
    MatcherAddress,
    /// `import` takes a block, for `{block}` and `{blocks.name}`.
    ImportBlocks,
    /// `{block}` without a block is nothing, not a directive of that name.
    EmptyBlock,
    /// A quoted `{` or `}` is an argument.
    QuotedBraces,
    /// `import` works in a named route.
    NamedRouteImports,
}

const FEATURES: [(Feature, Version); 11] = [
    (Feature::SkipDotfiles, Version::new(2, 6, 3)),
    (Feature::EmptyImport, Version::new(2, 6, 3)),
    (Feature::Heredoc, Version::new(2, 7, 0)),
    (Feature::NamedRoutes, Version::new(2, 7, 0)),
    (Feature::IndexedArgs, Version::new(2, 7, 0)),
    (Feature::OwnLineBrace, Version::new(2, 7, 0)),
    (Feature::MatcherAddress, Version::new(2, 8, 0)),
    (Feature::ImportBlocks, Version::new(2, 9, 0)),
    (Feature::EmptyBlock, Version::new(2, 11, 0)),
    // Known to lie in 2.11.5 to 2.11.7.
    (Feature::QuotedBraces, Version::new(2, 11, 7)),
    (Feature::NamedRouteImports, Version::new(2, 11, 7)),
];

impl Feature {
    /// The first version that reads so.
    pub fn since(self) -> Version {
        FEATURES[self as usize].1
    }
}

/// How one version reads files. Remembers which of its peculiarities a file met: versions that
/// differ only in others read the file the same.
#[derive(Debug)]
pub struct Dialect {
    version: Version,
    met: Cell<u16>,
}

impl Dialect {
    /// The dialect of a version.
    pub fn new(version: Version) -> Self {
        Self { version, met: Cell::new(0) }
    }

    /// The version.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Whether the version has a feature. To be asked only where the answer matters.
    pub fn has(&self, feature: Feature) -> bool {
        self.met.set(self.met.get() | 1 << feature as u16);
        self.version >= feature.since()
    }

    /// The versions that read what was read so far in the same way.
    pub fn same_reading(&self) -> VersionSet {
        let met = FEATURES.iter().filter(|(feature, _)| self.met.get() & (1 << *feature as u16) != 0);
        met.fold(VersionSet::all(), |set, (_, since)| {
            let side = if self.version >= *since { VersionSet::since(*since) } else { VersionSet::before(*since) };
            set.intersection(&side)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_follows_the_enum() {
        for (index, (feature, _)) in FEATURES.iter().enumerate() {
            assert_eq!(*feature as usize, index);
        }
    }

    #[test]
    fn only_what_was_met_parts_versions() {
        let dialect = Dialect::new(Version::new(2, 8, 4));
        assert_eq!(dialect.same_reading(), VersionSet::all());
        assert!(dialect.has(Feature::Heredoc) && !dialect.has(Feature::QuotedBraces));
        let same = dialect.same_reading();
        assert!(same.contains(Version::new(2, 7, 0)) && same.contains(Version::new(2, 11, 4)));
        assert!(!same.contains(Version::new(2, 6, 4)) && !same.contains(Version::new(2, 11, 7)));
    }
}
