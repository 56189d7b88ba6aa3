//! How connections to the backend are kept, by version.

use crate::version::{Version, VersionSet};

/// What a range of versions does by default.
#[derive(Debug)]
pub struct Keepalive {
    /// The versions.
    pub versions: VersionSet,
    /// `proxy_http_version` where none is written.
    pub http_version: &'static str,
    /// The `Connection` header sent to the backend where none is written; `None`: no such header.
    pub connection: Option<&'static str>,
    /// The pool of an `upstream` block that states none: the arguments of its `keepalive`.
    pub implicit: Option<&'static str>,
    /// The arguments that `keepalive` takes, for people.
    pub arguments: &'static str,
    /// What `keepalive` before the balancing method does, for people.
    pub order: &'static str,
    /// `keepalive_requests` of an upstream; `None`: not known to these versions.
    pub requests: Option<&'static str>,
    /// `keepalive_timeout` of an upstream.
    pub timeout: Option<&'static str>,
    /// `keepalive_time` of an upstream.
    pub time: Option<&'static str>,
}

impl Keepalive {
    /// Every range of versions, oldest first.
    pub fn all() -> &'static [Self] {
        &super::KEEPALIVE
    }
}

/// What a version does by default; `None` before 1.1.4, which cannot keep connections.
pub fn keepalive(version: Version) -> Option<&'static Keepalive> {
    Keepalive::all().iter().find(|row| row.versions.contains(version))
}
