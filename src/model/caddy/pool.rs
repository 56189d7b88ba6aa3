//! The pool of idle connections to backends: what is written, and what is in effect.
//!
//! Facts from Caddy's source (`modules/caddyhttp/reverseproxy/httptransport.go`), measured on 2.6.2,
//! 2.10.2, 2.11.4 and 2.11.7 with a backend that counts connections.

use crate::model::caddy::options::Setting;
use crate::syntax::tree::Origin;
use crate::version::Version;

/// Idle connections kept for each address of a backend where nothing is written.
pub const DEFAULT: u32 = 32;

/// What Go's transport keeps where Caddy hands it no number.
const GO_DEFAULT: u32 = 2;

/// From this version on each `keepalive…` option has its own default; before, any of them replaced
/// all defaults by zero.
pub const OWN_DEFAULTS: Version = Version::new(2, 11, 0);

/// The first version that knows `keepalive_idle_conns_per_host`.
pub const OPTION_SINCE: Version = Version::new(2, 4, 3);

/// From this version on the default holds in a written transport too, if no `keepalive…` option is in it.
const DEFAULT_IN_TRANSPORT: Version = Version::new(2, 5, 0);

/// The versions at which pools change, sorted.
pub const PIVOTS: [Version; 2] = [DEFAULT_IN_TRANSPORT, OWN_DEFAULTS];

/// A number as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// A whole number.
    Known(i64),
    /// It depends on what is not known here, or is no number.
    Unknown,
}

/// The lines of a transport that say how connections are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Whether there is a `transport` line at all.
    pub transport: bool,
    /// `keepalive off`
    pub off: bool,
    /// `keepalive` with a duration.
    pub keepalive: bool,
    /// `keepalive_interval`
    pub interval: bool,
    /// `keepalive_idle_conns`
    pub total: Option<Number>,
    /// `keepalive_idle_conns_per_host`
    pub per_host: Option<Number>,
    /// `max_conns_per_host`
    pub max_conns: Option<Number>,
    /// `proxy_protocol`
    pub proxy_protocol: bool,
    /// Whether HTTP/1.1 is not among `versions`.
    pub without_http1: bool,
    /// Whether `versions` allow HTTP/2.
    pub http2_written: Option<bool>,
    /// Whether something stands there whose meaning is not known here.
    pub unknown: bool,
}

/// What is in effect for one address of a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    /// Idle connections are kept, so many at most.
    Keeps(u32),
    /// `keepalive off`: the backend is asked to close each connection.
    Off,
    /// Requests share connections (HTTP/2 and 3), or the transport has no pool (FastCGI), or each
    /// client has its own (`proxy_protocol`): no number of idle connections matters.
    NoMatter,
    /// It cannot be told.
    Unknown,
}

impl Written {
    /// Reads the options of a `transport http`.
    pub(super) fn read(settings: &[Setting<'_>]) -> Self {
        let mut written = Self { transport: true, ..Self::default() };
        for setting in settings {
            written.read_one(setting);
        }
        written
    }

    fn read_one(&mut self, setting: &Setting<'_>) {
        let unknown = |word: &crate::model::Word<'_>| word.origin() == Origin::Unknown;
        if unknown(&setting.name) || setting.entry.is_none() {
            self.unknown = true;
        }
        let number = || match setting.number(0) {
            Some(number) if !setting.args.iter().any(unknown) => Some(Number::Known(number)),
            _ => Some(Number::Unknown),
        };
        match setting.name.value() {
            b"keepalive" if setting.args.iter().any(unknown) => self.unknown = true,
            b"keepalive" if setting.value(0) == Some(b"off") => self.off = true,
            b"keepalive" => (self.off, self.keepalive) = (false, true),
            b"keepalive_interval" => self.interval = true,
            b"keepalive_idle_conns" => self.total = number(),
            b"keepalive_idle_conns_per_host" => self.per_host = number(),
            b"max_conns_per_host" => self.max_conns = number(),
            b"proxy_protocol" => self.proxy_protocol = true,
            b"versions" if setting.args.iter().any(unknown) => self.unknown = true,
            b"versions" => {
                let has = |version: &str| setting.args.iter().any(|word| word.is(version));
                self.without_http1 = !has("1.1");
                self.http2_written = Some(has("2") || has("h2c") || has("3"));
            }
            _ => {}
        }
    }

    /// Whether a `keepalive…` option other than the number per address is written.
    pub fn has_another_option(&self) -> bool {
        self.keepalive || self.off || self.interval || self.total.is_some()
    }

    /// Whether the default is replaced by Go's because of another option.
    pub fn loses_default(&self, version: Version) -> bool {
        let lost = self.has_another_option() && (DEFAULT_IN_TRANSPORT..OWN_DEFAULTS).contains(&version);
        !self.off && self.per_host.is_none() && lost
    }

    /// What a version keeps for each address.
    pub fn pool(&self, version: Version) -> Pool {
        if self.without_http1 || self.proxy_protocol {
            return Pool::NoMatter;
        }
        if self.unknown {
            return Pool::Unknown;
        }
        if self.off {
            return Pool::Off;
        }
        match self.per_host {
            Some(Number::Unknown) => Pool::Unknown,
            Some(Number::Known(0)) => Pool::Keeps(if version < OWN_DEFAULTS { GO_DEFAULT } else { DEFAULT }),
            Some(Number::Known(number)) => Pool::Keeps(u32::try_from(number.max(0)).unwrap_or(u32::MAX)),
            None if self.loses_default(version) => Pool::Keeps(GO_DEFAULT),
            None if self.transport && version < DEFAULT_IN_TRANSPORT => Pool::Keeps(GO_DEFAULT),
            None => Pool::Keeps(DEFAULT),
        }
    }

    /// The limit over all addresses, if one is written.
    pub fn total_limit(&self) -> Option<Number> {
        self.total.filter(|total| *total != Number::Known(0))
    }

    /// The limit on connections of one address, idle or not, if one is written and known.
    pub fn connection_limit(&self) -> Option<u32> {
        match self.max_conns? {
            Number::Known(limit) if limit > 0 => u32::try_from(limit).ok(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Version = Version::new(2, 10, 2);
    const NEW: Version = Version::new(2, 11, 7);

    fn written(change: impl FnOnce(&mut Written)) -> Written {
        let mut written = Written { transport: true, ..Written::default() };
        change(&mut written);
        written
    }

    #[test]
    fn another_option_loses_the_default_before_2_11() {
        for change in
            [(|w| w.keepalive = true) as fn(&mut Written), |w| w.interval = true, |w| w.total = Some(Number::Known(64))]
        {
            assert_eq!(written(change).pool(OLD), Pool::Keeps(2));
            assert_eq!(written(change).pool(NEW), Pool::Keeps(32));
        }
        assert_eq!(written(|_| ()).pool(OLD), Pool::Keeps(32));
        assert_eq!(written(|_| ()).pool(Version::new(2, 4, 6)), Pool::Keeps(2));
        assert_eq!(Written::default().pool(Version::new(2, 4, 6)), Pool::Keeps(32));
    }

    #[test]
    fn zero_and_less() {
        assert_eq!(written(|w| w.per_host = Some(Number::Known(0))).pool(OLD), Pool::Keeps(2));
        assert_eq!(written(|w| w.per_host = Some(Number::Known(0))).pool(NEW), Pool::Keeps(32));
        assert_eq!(written(|w| w.per_host = Some(Number::Known(-1))).pool(NEW), Pool::Keeps(0));
        assert_eq!(written(|w| w.per_host = Some(Number::Unknown)).pool(NEW), Pool::Unknown);
    }

    #[test]
    fn where_the_pool_does_not_matter() {
        assert_eq!(written(|w| w.without_http1 = true).pool(NEW), Pool::NoMatter);
        assert_eq!(written(|w| w.off = true).pool(NEW), Pool::Off);
    }
}
