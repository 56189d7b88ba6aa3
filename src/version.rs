//! Server versions and sets of them. A leaf: `build.rs` takes this file in too.

use std::borrow::Cow;
use std::fmt;

/// A server version, such as 1.28.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// First number.
    pub major: u16,
    /// Second number.
    pub minor: u16,
    /// Third number.
    pub patch: u16,
}

impl Version {
    /// Below every release.
    pub const MIN: Self = Self::new(0, 0, 0);
    /// Above every release.
    pub const MAX: Self = Self::new(u16::MAX, u16::MAX, u16::MAX);

    /// `major.minor.patch`.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self { major, minor, patch }
    }

    /// The version that a server says it is: three numbers.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.splitn(3, '.').map(|number| number.parse().ok());
        Some(Self::new(numbers.next()??, numbers.next()??, numbers.next()??))
    }

    const fn next(self) -> Self {
        Self::new(self.major, self.minor, self.patch + 1)
    }

    const fn next_branch(self) -> Self {
        Self::new(self.major, self.minor + 1, 0)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Which of the two servers a version belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Server {
    /// nginx, open source.
    Nginx,
    /// Caddy 2.
    Caddy,
}

/// A half-open range of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Range {
    /// The first version in it.
    pub start: Version,
    /// The first version behind it; [`Version::MAX`] for an open end.
    pub end: Version,
}

/// A set of versions: half-open ranges, sorted, apart from each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VersionSet {
    ranges: Cow<'static, [Range]>,
}

/// Whether something is true for the versions of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// For every one.
    Always,
    /// For some.
    Sometimes,
    /// For none.
    Never,
}

/// A version text that names no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a version: {reason}; write 1.24, 1.24.0 or \">=1.22, <1.30\"")]
pub struct VersionError {
    /// What was given.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

impl VersionSet {
    /// A set from ranges that are sorted and apart: for generated tables.
    pub const fn from_static(ranges: &'static [Range]) -> Self {
        Self { ranges: Cow::Borrowed(ranges) }
    }

    /// Every version.
    pub const fn all() -> Self {
        Self::from_static(&[Range { start: Version::MIN, end: Version::MAX }])
    }

    /// No version.
    pub const fn none() -> Self {
        Self::from_static(&[])
    }

    fn one(start: Version, end: Version) -> Self {
        let ranges = if start < end { vec![Range { start, end }] } else { Vec::new() };
        Self { ranges: ranges.into() }
    }

    /// `version` and all later ones.
    pub fn since(version: Version) -> Self {
        Self::one(version, Version::MAX)
    }

    /// All versions before `version`.
    pub fn before(version: Version) -> Self {
        Self::one(Version::MIN, version)
    }

    /// Just `version`.
    pub fn exactly(version: Version) -> Self {
        Self::one(version, version.next())
    }

    /// Every release of the branch `major.minor`.
    pub fn branch(major: u16, minor: u16) -> Self {
        let first = Version::new(major, minor, 0);
        Self::one(first, first.next_branch())
    }

    /// A set of `versions`, sorted: those without a release between them become one range, and the
    /// newest release stands for all later ones too.
    pub fn of(server: Server, versions: impl IntoIterator<Item = Version>) -> Self {
        let releases = server.releases();
        let behind = |version: Version| releases.get(releases.partition_point(|&v| v <= version)).copied();
        let mut ranges: Vec<Range> = Vec::new();
        for version in versions {
            let end = behind(version).unwrap_or(Version::MAX);
            match ranges.last_mut() {
                Some(last) if last.end >= version => last.end = end,
                _ => ranges.push(Range { start: version, end }),
            }
        }
        Self { ranges: ranges.into() }
    }

    /// The ranges, sorted.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    /// `1.24` (the branch), `1.24.0`, or comparators joined by `,` (and) and `||` (or).
    ///
    /// # Errors
    /// When the text is none of these.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        let alternatives = text.split("||").map(|part| parse_all(part.trim(), text));
        alternatives.reduce(|a, b| Ok(a?.union(&b?))).expect("split yields at least one part")
    }

    /// Whether `version` is in it.
    pub fn contains(&self, version: Version) -> bool {
        let after = self.ranges.partition_point(|range| range.start <= version);
        after > 0 && version < self.ranges[after - 1].end
    }

    /// Whether no version at all, released or not, is in it.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Versions in both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut ranges = Vec::new();
        let (mut i, mut j) = (0, 0);
        while let (Some(a), Some(b)) = (self.ranges.get(i), other.ranges.get(j)) {
            let (start, end) = (a.start.max(b.start), a.end.min(b.end));
            if start < end {
                ranges.push(Range { start, end });
            }
            if a.end < b.end { i += 1 } else { j += 1 }
        }
        Self { ranges: ranges.into() }
    }

    /// Versions not in it.
    #[must_use]
    pub fn complement(&self) -> Self {
        let mut ranges = Vec::new();
        let mut start = Version::MIN;
        for range in self.ranges.iter() {
            if start < range.start {
                ranges.push(Range { start, end: range.start });
            }
            start = range.end;
        }
        if start < Version::MAX {
            ranges.push(Range { start, end: Version::MAX });
        }
        Self { ranges: ranges.into() }
    }

    /// Versions in this set and not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.intersection(&other.complement())
    }

    /// Versions in either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.complement().intersection(&other.complement()).complement()
    }

    /// The released versions in it, oldest first. A range of a single version counts even if no such
    /// release is known here: whoever names it has it (it may be newer than this program).
    pub fn members(&self, server: Server) -> impl Iterator<Item = Version> + '_ {
        let releases = server.releases();
        self.ranges.iter().flat_map(move |range| {
            let from = releases.partition_point(|&v| v < range.start);
            let to = releases.partition_point(|&v| v < range.end);
            let unknown = (from == to && range.end == range.start.next()).then_some(range.start);
            releases[from..to].iter().copied().chain(unknown)
        })
    }

    /// For which of this target's versions a fact is true that is true for `fact`.
    pub fn holds(&self, server: Server, fact: &Self) -> Holds {
        let releases = server.releases();
        let index = |version: Version| releases.partition_point(|&v| v < version);
        let (mut inside, mut all) = (0, 0);
        for range in self.ranges.iter() {
            let (from, to) = (index(range.start), index(range.end));
            if from < to {
                let common = |f: &Range| index(f.end).min(to).saturating_sub(index(f.start).max(from));
                inside += fact.ranges.iter().map(common).sum::<usize>();
                all += to - from;
            } else if range.end == range.start.next() {
                inside += usize::from(fact.contains(range.start));
                all += 1;
            }
        }
        match inside {
            0 => Holds::Never,
            _ if inside == all => Holds::Always,
            _ => Holds::Sometimes,
        }
    }

    /// The released versions in words: `1.22.1`, `1.18.0 - 1.31.9`, several joined by commas.
    pub fn describe(&self, server: Server) -> String {
        let releases = server.releases();
        let mut runs: Vec<(Version, Version)> = Vec::new();
        for version in self.members(server) {
            let index = releases.partition_point(|&v| v < version);
            match runs.last_mut() {
                Some((_, last)) if index > 0 && releases[index - 1] == *last => *last = version,
                _ => runs.push((version, version)),
            }
        }
        let text = |(a, b): &(Version, Version)| if a == b { a.to_string() } else { format!("{a} - {b}") };
        runs.iter().map(text).collect::<Vec<_>>().join(", ")
    }

    /// The versions in words, for messages: "nginx 1.25.1 and later", "nginx before 1.29.7",
    /// "nginx 1.22.0 to 1.24.0".
    pub fn words(&self, server: Server) -> String {
        let parts: Vec<String> = self.ranges.iter().map(|range| range_words(*range, server)).collect();
        match parts.as_slice() {
            [] => format!("no {}", server.name()),
            [one] if *self == Self::all() => format!("{one} {}", server.name()),
            _ => format!("{} {}", server.name(), parts.join(", ")),
        }
    }
}

fn range_words(range: Range, server: Server) -> String {
    let last = server.releases().iter().rev().find(|&&version| version < range.end);
    match (range.start, range.end, last) {
        (Version::MIN, Version::MAX, _) => "every".to_owned(),
        (Version::MIN, end, _) => format!("before {end}"),
        (start, Version::MAX, _) => format!("{start} and later"),
        (start, _, Some(&last)) if last > start => format!("{start} to {last}"),
        (start, _, _) => start.to_string(),
    }
}

const EMPTY_RANGE: &str = "no version is in that range";

impl VersionError {
    /// Whether the text is a range that holds no version.
    pub fn is_empty_range(&self) -> bool {
        self.reason == EMPTY_RANGE
    }
}

/// `1.24`, `1.24.0`, or comparators that must all hold.
fn parse_all(part: &str, whole: &str) -> Result<VersionSet, VersionError> {
    let error = |reason: String| VersionError { text: whole.trim().to_owned(), reason };
    if part.starts_with(|c: char| c.is_ascii_digit()) {
        return parse_bare(part)
            .ok_or_else(|| error("expected two or three numbers with dots between them".to_owned()));
    }
    let requirement = semver::VersionReq::parse(part).map_err(|e| error(e.to_string()))?;
    if requirement.comparators.is_empty() {
        return Err(error("no version is named".to_owned()));
    }
    let mut set = VersionSet::all();
    for comparator in &requirement.comparators {
        let range = comparator_range(comparator).ok_or_else(|| error(format!("`{comparator}` is not supported")))?;
        set = set.intersection(&range);
    }
    if set.is_empty() { Err(error(EMPTY_RANGE.to_owned())) } else { Ok(set) }
}

fn parse_bare(text: &str) -> Option<VersionSet> {
    let numbers: Vec<u16> = text.split('.').map(|n| n.parse().ok()).collect::<Option<_>>()?;
    match numbers[..] {
        [major, minor] => Some(VersionSet::branch(major, minor)),
        [major, minor, patch] => Some(VersionSet::exactly(Version::new(major, minor, patch))),
        _ => None,
    }
}

fn comparator_range(comparator: &semver::Comparator) -> Option<VersionSet> {
    use semver::Op;
    let number = |n: u64| u16::try_from(n).ok();
    let (major, minor) = (number(comparator.major)?, comparator.minor.map(number));
    let minor = match minor {
        Some(minor) => minor?,
        None => return None,
    };
    let whole_branch = comparator.patch.is_none();
    let first = Version::new(major, minor, number(comparator.patch.unwrap_or(0))?);
    let behind = if whole_branch { first.next_branch() } else { first.next() };
    match comparator.op {
        Op::Exact => Some(VersionSet::one(first, behind)),
        Op::Greater => Some(VersionSet::since(behind)),
        Op::GreaterEq => Some(VersionSet::since(first)),
        Op::Less => Some(VersionSet::before(first)),
        Op::LessEq => Some(VersionSet::before(behind)),
        Op::Tilde => Some(VersionSet::one(first, first.next_branch())),
        _ => None,
    }
}

impl Server {
    /// The name people write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Caddy => "Caddy",
        }
    }

    /// Every release from nginx 1.0.0 or Caddy 2.0.0 on, oldest first (release lists of both
    /// projects, read on 2026-11-30).
    pub fn releases(self) -> &'static [Version] {
        match self {
            Self::Nginx => &NGINX_RELEASES,
            Self::Caddy => &CADDY_RELEASES,
        }
    }

    /// The oldest release assumed where nobody stated a version.
    pub fn assumed_floor(self) -> Version {
        match self {
            Self::Nginx => Version::new(1, 18, 0),
            Self::Caddy => Version::new(2, 6, 2),
        }
    }
}

macro_rules! releases {
    ($($major:literal $minor:literal: $($patch:literal)+;)+) => {
        [$($(Version::new($major, $minor, $patch)),+),+]
    };
}

static NGINX_RELEASES: [Version; 260] = releases! {
    1 0: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
    1 1: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19;
    1 2: 0 1 2 3 4 5 6 7 8 9;
    1 3: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16;
    1 4: 0 1 2 3 4 5 6 7;
    1 5: 0 1 2 3 4 5 6 7 8 9 10 11 12 13;
    1 6: 0 1 2 3;
    1 7: 0 1 2 3 4 5 6 7 8 9 10 11 12;
    1 8: 0 1;
    1 9: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
    1 10: 0 1 2 3;
    1 11: 0 1 2 3 4 5 6 7 8 9 10 11 12 13;
    1 12: 0 1 2;
    1 13: 0 1 2 3 4 5 6 7 8 9 10 11 12;
    1 14: 0 1 2;
    1 15: 0 1 2 3 4 5 6 7 8 9 10 11 12;
    1 16: 0 1;
    1 17: 0 1 2 3 4 5 6 7 8 9 10;
    1 18: 0;
    1 19: 0 1 2 3 4 5 6 7 8 9 10;
    1 20: 0 1 2;
    1 21: 0 1 2 3 4 5 6;
    1 22: 0 1;
    1 23: 0 1 2 3 4;
    1 24: 0;
    1 25: 0 1 2 3 4 5;
    1 26: 0 1 2 3;
    1 27: 0 1 2 3 4 5;
    1 28: 0 1 2 3;
    1 29: 0 1 2 3 4 5 6 7 8;
    1 30: 0 1 2 3 4 5 6 7;
    1 31: 0 1 2 3 4 5 6 7 8 9;
};

static CADDY_RELEASES: [Version; 49] = releases! {
    2 0: 0;
    2 1: 0 1;
    2 2: 0 1 3;
    2 3: 0;
    2 4: 0 1 2 3 4 5 6;
    2 5: 0 1 2;
    2 6: 0 1 2 3 4;
    2 7: 0 1 2 3 4 5 6;
    2 8: 0 1 2 3 4;
    2 9: 0 1;
    2 10: 0 1 2;
    2 11: 0 1 2 3 4 5 6 7 8 9;
};

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> VersionSet {
        VersionSet::parse(text).unwrap()
    }

    #[test]
    fn texts_become_ranges() {
        assert_eq!(set("1.24"), VersionSet::branch(1, 24));
        assert!(set("1.24").contains(Version::new(1, 24, 7)) && !set("1.24").contains(Version::new(1, 25, 0)));
        assert_eq!(set(">=1.22, <1.30").describe(Server::Nginx), "1.22.0 - 1.29.8");
        assert_eq!(set(">=1.30.2, <1.31 || >=1.31.3").ranges().len(), 2);
        assert_eq!(set("<=1.28").ranges()[0].end, Version::new(1, 29, 0));
        for bad in ["", "abc", "1", "^1.2", "1.2.3.4", ">1.30, <1.2", ">=2", "1.99999999"] {
            let error = VersionSet::parse(bad).unwrap_err();
            assert!(error.to_string().contains("write 1.24"), "{error}");
        }
    }

    #[test]
    fn words_are_those_of_people() {
        let words = |text| set(text).words(Server::Nginx);
        assert_eq!(words(">=1.25.1"), "nginx 1.25.1 and later");
        assert_eq!(words("<1.29.7"), "nginx before 1.29.7");
        assert_eq!(words("1.24"), "nginx 1.24.0");
        assert_eq!(words(">=1.30.2, <1.31 || >=1.31.3"), "nginx 1.30.2 to 1.30.7, 1.31.3 and later");
        assert_eq!(VersionSet::all().words(Server::Caddy), "every Caddy");
    }

    #[test]
    fn sets_behave_like_sets() {
        let a = set(">=1.20, <1.24");
        let b = set(">=1.22");
        assert_eq!(a.intersection(&b), set(">=1.22, <1.24"));
        assert_eq!(a.union(&b), set(">=1.20"));
        assert_eq!(a.difference(&b), set(">=1.20, <1.22"));
        assert_eq!(VersionSet::all().complement(), VersionSet::none());
        assert_eq!(VersionSet::none().complement(), VersionSet::all());
    }

    #[test]
    fn single_versions_become_ranges() {
        let of = |texts: &[&str]| VersionSet::of(Server::Caddy, texts.iter().map(|text| set(text).ranges()[0].start));
        assert_eq!(of(&["2.6.4", "2.7.0", "2.7.1"]), set(">=2.6.4, <2.7.2"));
        assert_eq!(of(&["2.6.2", "2.7.0"]).ranges().len(), 2);
        assert_eq!(of(&["2.11.9"]), set(">=2.11.9"));
        assert_eq!(of(&[]), VersionSet::none());
    }

    #[test]
    fn holds_is_decided_over_releases() {
        let pivot = set(">=1.29.7");
        assert_eq!(set("1.29").holds(Server::Nginx, &pivot), Holds::Sometimes);
        assert_eq!(set("1.30").holds(Server::Nginx, &pivot), Holds::Always);
        assert_eq!(set("1.28").holds(Server::Nginx, &pivot), Holds::Never);
        assert_eq!(set("1.99.0").holds(Server::Nginx, &pivot), Holds::Always);
        assert_eq!(set("1.28").holds(Server::Nginx, &set("1.28.77")), Holds::Never, "never released");
        assert_eq!(set("1.28").holds(Server::Nginx, &set("<1.28.1 || >1.28.0")), Holds::Always);
        assert_eq!(VersionSet::none().holds(Server::Nginx, &VersionSet::all()), Holds::Never);
    }
}
