//! What nginx's table of directives says of a name, as far as reading depends on it: whether it ends
//! in `;` or has a block, and with how many words.

use crate::catalog::nginx::{Context, ContextSet, Directive, Form, lookup};

/// Blocks that hold entries, not directives: nginx reads them with a function of their own and
/// refuses every `{` in them.
const ENTRY_BLOCKS: [&[u8]; 5] = [b"map", b"geo", b"types", b"split_clients", b"charset_map"];

/// Those whose entries are a key and a value, or a single keyword.
const PAIR_BLOCKS: [&[u8]; 3] = [b"map", b"geo", b"charset_map"];

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
pub(super) struct Known {
    records: &'static [Directive],
    /// The contexts that the enclosing block may be; any where empty.
    inside: ContextSet,
}

/// What the table has for `name` in a block of `parent`, or at the top of a file. Nothing inside a
/// block that is not known itself: its module may read it in its own way.
pub(super) fn known(name: &[u8], parent: Option<&[u8]>) -> Known {
    let anywhere = ContextSet::of(&[]);
    let inside = parent.map_or(anywhere, inside_of);
    if parent.is_some() && inside.is_empty() {
        return Known { records: &[], inside };
    }
    let records = lookup(name);
    let fits = |record: &Directive| !record.contexts.intersection(inside).is_empty();
    // Where it cannot stand at all, its place says nothing of its form.
    Known { records, inside: if records.iter().any(fits) { inside } else { anywhere } }
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

impl Known {
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

    /// Whether some version takes that many arguments before that end.
    pub(super) fn takes(self, arguments: usize, end: End) -> bool {
        let mut records = self.records().filter(|record| record.is_block() == (end == End::Block));
        records.any(|record| !record.accepting(arguments).is_empty())
    }
}
