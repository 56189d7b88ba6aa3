//! Which server a distribution or image has.

use crate::version::{Range, Server, Version, VersionSet};

/// A distribution, package repository or image that has a server.
#[derive(Debug, PartialEq, Eq)]
pub struct Distribution {
    /// Which server.
    pub server: Server,
    /// What users write: `debian-12`, `nginx:stable`.
    pub name: &'static str,
    /// Other names for it.
    pub others: &'static [&'static str],
    /// The versions that it may have.
    pub versions: VersionSet,
    /// Revision of the package, as it was when the table was made.
    pub package: Option<&'static str>,
    /// Whether the vendor mends faults without changing the version.
    pub backports: bool,
    /// What it is called.
    pub title: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/distros.rs"));

/// The distribution with that name; case does not matter.
pub fn find(server: Server, name: &str) -> Option<&'static Distribution> {
    of(server).find(|known| known.names().any(|one| one.eq_ignore_ascii_case(name)))
}

/// The distributions that have that server.
pub fn of(server: Server) -> impl Iterator<Item = &'static Distribution> {
    DISTRIBUTIONS.iter().filter(move |known| known.server == server)
}

impl Distribution {
    /// All its names, the main one first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.others.iter().copied())
    }
}
