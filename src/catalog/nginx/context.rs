//! The places where a directive may stand. A leaf: `build.rs` takes this file in too.

use std::fmt;

macro_rules! contexts {
    ($($(#[$doc:meta])* $name:ident $id:literal $words:literal;)+) => {
        /// Where a directive stands.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Context {
            $($(#[$doc])* $name,)+
        }

        impl Context {
            /// Every context.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The name that rule files and data files use.
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$name => $id,)+
                }
            }

            /// The place in words, for messages: "not allowed in …".
            pub const fn words(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)+
                }
            }
        }
    };
}

contexts! {
    /// Outside every block.
    Main "main" "the main level";
    /// `events { … }`.
    Events "events" "`events`";
    /// `http { … }`.
    Http "http" "`http`";
    /// `server { … }` in `http`.
    Server "server" "a `server` block";
    /// `location … { … }`, nested ones too.
    Location "location" "a `location` block";
    /// `if (…) { … }` in a `server`.
    ServerIf "server-if" "an `if` block of a `server`";
    /// `if (…) { … }` in a `location`.
    LocationIf "location-if" "an `if` block of a `location`";
    /// `limit_except … { … }`.
    LimitExcept "limit_except" "a `limit_except` block";
    /// `upstream … { … }` in `http`.
    Upstream "upstream" "an `upstream` block";
    /// Entries of `types { … }`.
    Types "types" "a `types` block";
    /// Entries of `map … { … }` (http or stream).
    Map "map" "a `map` block";
    /// Entries of `geo … { … }` (http or stream).
    Geo "geo" "a `geo` block";
    /// Entries of `split_clients … { … }` (http or stream).
    SplitClients "split_clients" "a `split_clients` block";
    /// Entries of `charset_map … { … }`.
    CharsetMap "charset_map" "a `charset_map` block";
    /// Conditions of NGINX Plus `match … { … }` in `http`.
    Match "match" "a `match` block";
    /// `stream { … }`.
    Stream "stream" "`stream`";
    /// `server { … }` in `stream`.
    StreamServer "stream.server" "a `server` block of `stream`";
    /// `upstream … { … }` in `stream`.
    StreamUpstream "stream.upstream" "an `upstream` block of `stream`";
    /// Conditions of NGINX Plus `match … { … }` in `stream`.
    StreamMatch "stream.match" "a `match` block of `stream`";
    /// `mail { … }`.
    Mail "mail" "`mail`";
    /// `server { … }` in `mail`.
    MailServer "mail.server" "a `server` block of `mail`";
    /// NGINX Plus `mgmt { … }`.
    Mgmt "mgmt" "`mgmt`";
    /// NGINX Plus `oidc_provider … { … }`.
    OidcProvider "oidc_provider" "an `oidc_provider` block";
    /// `acme_issuer … { … }`.
    AcmeIssuer "acme_issuer" "an `acme_issuer` block";
    /// `otel_exporter { … }`.
    OtelExporter "otel_exporter" "`otel_exporter`";
    /// `rtmp { … }`.
    Rtmp "rtmp" "`rtmp`";
    /// `server { … }` in `rtmp`.
    RtmpServer "rtmp.server" "a `server` block of `rtmp`";
    /// `application … { … }` in `rtmp`.
    RtmpApplication "rtmp.application" "an `application` block";
    /// `recorder … { … }` in `rtmp`.
    RtmpRecorder "rtmp.recorder" "a `recorder` block";
    /// Tengine's `processes { … }` and the `process … { … }` in it.
    Processes "processes" "a `processes` block";
    /// The inside of a block whose grammar is not known here. Nothing in it is judged.
    Unknown "unknown" "an unknown block";
}

/// The part of a configuration that a context belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Area {
    /// Neither: the main level, `events`, and blocks that several areas have.
    Core,
    /// HTTP.
    Http,
    /// TCP and UDP.
    Stream,
    /// Mail proxying.
    Mail,
    /// The RTMP module.
    Rtmp,
}

impl Context {
    /// The context with that [`id`](Self::id).
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|context| context.id() == id)
    }

    /// What it belongs to.
    pub const fn area(self) -> Area {
        match self {
            Self::Http
            | Self::Server
            | Self::Location
            | Self::ServerIf
            | Self::LocationIf
            | Self::LimitExcept
            | Self::Upstream
            | Self::Types
            | Self::CharsetMap
            | Self::Match
            | Self::OidcProvider
            | Self::AcmeIssuer
            | Self::OtelExporter => Area::Http,
            Self::Stream | Self::StreamServer | Self::StreamUpstream | Self::StreamMatch => Area::Stream,
            Self::Mail | Self::MailServer => Area::Mail,
            Self::Rtmp | Self::RtmpServer | Self::RtmpApplication | Self::RtmpRecorder => Area::Rtmp,
            _ => Area::Core,
        }
    }

    /// Whether lines in it are entries with any name (keys, media types), not directives.
    pub const fn holds_entries(self) -> bool {
        matches!(
            self,
            Self::Types
                | Self::Map
                | Self::Geo
                | Self::SplitClients
                | Self::CharsetMap
                | Self::Match
                | Self::StreamMatch
        )
    }

    /// Whether the directives in it are known, so that one can be judged.
    pub const fn holds_directives(self) -> bool {
        !self.holds_entries() && !matches!(self, Self::Unknown)
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// A set of contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ContextSet(u64);

impl ContextSet {
    /// The set with those members.
    pub const fn of(members: &[Context]) -> Self {
        let (mut bits, mut i) = (0, 0);
        while i < members.len() {
            bits |= 1 << members[i] as u8;
            i += 1;
        }
        Self(bits)
    }

    /// Whether `context` is in it.
    pub const fn contains(self, context: Context) -> bool {
        self.0 & (1 << context as u8) != 0
    }

    /// Whether nothing is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Members of both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Members of either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The members, in the order of [`Context::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Context> {
        Context::ALL.iter().copied().filter(move |&context| self.contains(context))
    }
}

impl FromIterator<Context> for ContextSet {
    fn from_iter<I: IntoIterator<Item = Context>>(members: I) -> Self {
        members.into_iter().fold(Self::default(), |set, context| set.union(Self::of(&[context])))
    }
}
