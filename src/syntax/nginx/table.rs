//! What nginx's table of directives says of a name, as far as reading depends on it: whether it ends
//! in `;` or has a block, and with how many words.

use crate::catalog::nginx::{Context, ContextSet, Directive, Form, Param, Value, lookup};
use crate::version::{Version, VersionSet};

/// Blocks that hold entries, not directives: nginx reads them with a function of their own and
/// refuses every `{` in them.
const ENTRY_BLOCKS: [&[u8]; 5] = [b"map", b"geo", b"types", b"split_clients", b"charset_map"];

/// Those whose entries are a key and a value, or a single keyword.
const PAIR_BLOCKS: [&[u8]; 3] = [b"map", b"geo", b"charset_map"];

/// Directives of any number of words, of which nginx takes nothing but keywords behind the first few, and how
/// many those are. Those that take keywords alone are known by the kind of their value.
const KEYWORDS_BEHIND: [(&[u8], usize); 9] = [
    (b"error_log", 1),
    (b"listen", 1),
    (b"server", 1),
    (b"access_log", 2),
    (b"limit_req", 0),
    (b"proxy_cache_path", 1),
    (b"fastcgi_cache_path", 1),
    (b"scgi_cache_path", 1),
    (b"uwsgi_cache_path", 1),
];

/// Levels of `error_log`, which the table does not have.
const LOG_LEVELS: [&[u8]; 16] = [
    b"debug",
    b"info",
    b"notice",
    b"warn",
    b"error",
    b"crit",
    b"alert",
    b"emerg",
    b"debug_core",
    b"debug_alloc",
    b"debug_mutex",
    b"debug_event",
    b"debug_http",
    b"debug_mail",
    b"debug_stream",
    b"debug_connection",
];

/// Whether the block of a directive of that name holds entries.
pub(super) fn holds_entries(name: &[u8]) -> bool {
    ENTRY_BLOCKS.contains(&name)
}

/// Whether it holds entries of two words at most.
pub(super) fn holds_pairs(name: &[u8]) -> bool {
    PAIR_BLOCKS.contains(&name)
}

/// Whether the block of a directive of that name is Lua.
pub(super) fn holds_lua(name: &[u8]) -> bool {
    name.ends_with(b"_by_lua_block")
}

/// Whether it may be one of nginx's own that is refused without a block. Quick: asked of every line.
pub(super) fn may_need_block(name: &[u8]) -> bool {
    match name {
        b"events" | b"http" | b"server" | b"location" | b"upstream" | b"if" | b"limit_except" | b"stream" | b"mail" => {
            true
        }
        _ => holds_entries(name) || holds_lua(name),
    }
}

/// What ends a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Semicolon,
    Block,
}

/// What the table has for a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'n> {
    name: &'n [u8],
    records: &'static [Directive],
    /// The contexts that the enclosing block may be; any where empty.
    inside: ContextSet,
}

/// What the table has for `name` in a block of `parent`, or at the top of a file. Nothing inside a
/// block that is not known itself: its module may read it in its own way.
pub(super) fn known<'n>(name: &'n [u8], parent: Option<&[u8]>) -> Known<'n> {
    let anywhere = ContextSet::of(&[]);
    let inside = parent.map_or(anywhere, inside_of);
    if parent.is_some() && inside.is_empty() {
        return Known { name, records: &[], inside };
    }
    let records = lookup(name);
    let fits = |record: &Directive| !record.contexts.intersection(inside).is_empty();
    // Where it cannot stand at all, its place says nothing of its form.
    Known { name, records, inside: if records.iter().any(fits) { inside } else { anywhere } }
}

/// The contexts that the block of a directive of that name may be.
fn inside_of(name: &[u8]) -> ContextSet {
    let contexts = lookup(name).iter().flat_map(|record| match record.form {
        Form::Block(context) => [Some(context), None],
        Form::If => [Some(Context::ServerIf), Some(Context::LocationIf)],
        Form::Line | Form::Raw => [None, None],
    });
    contexts.flatten().filter(|context| context.holds_directives()).collect()
}

impl Known<'_> {
    fn records(self) -> impl Iterator<Item = &'static Directive> {
        let anywhere = self.inside.is_empty();
        self.records.iter().filter(move |record| anywhere || !record.contexts.intersection(self.inside).is_empty())
    }

    /// Whether any version of any module has it.
    pub(super) fn is_known(self) -> bool {
        !self.records.is_empty()
    }

    /// Whether it is known to some version with that end.
    pub(super) fn ends_in(self, end: End) -> bool {
        self.records().any(|record| record.is_block() == (end == End::Block))
    }

    /// Whether some version since 1.0 takes that many arguments before that end.
    pub(super) fn takes(self, arguments: usize, end: End) -> bool {
        let versions = VersionSet::since(Version::new(1, 0, 0));
        let mut records = self.records().filter(|record| record.is_block() == (end == End::Block));
        records.any(|record| !record.accepting(arguments).intersection(&versions).is_empty())
    }

    /// How many of its arguments, of which `first` is the first, may be any word; nothing but keywords may follow.
    /// `None` where all may be.
    pub(super) fn free_arguments(self, first: &[u8]) -> Option<usize> {
        if self.name == b"access_log" && first == b"off" {
            return Some(1);
        }
        let listed = KEYWORDS_BEHIND.iter().find(|(name, _)| *name == self.name);
        let is_keywords = |record: &Directive| matches!(record.value, Value::Enum | Value::Bitmask);
        listed.map(|&(_, free)| free).or_else(|| self.records().all(is_keywords).then_some(0))
    }

    /// Whether some version takes that word as a keyword, or it may become one.
    pub(super) fn takes_keyword(self, word: &[u8]) -> bool {
        let is = |param: &Param| match param.name.as_bytes() {
            name @ [.., b'=' | b':'] => word.starts_with(name),
            name => word == name,
        };
        let is_level = self.name == b"error_log" && LOG_LEVELS.contains(&word);
        is_level || word.contains(&b'$') || self.records().any(|record| record.params.iter().any(is))
    }
}
