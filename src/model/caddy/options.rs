//! The options in a block, as Caddy's parsers take them from it.
//!
//! They do not care for lines: an option takes the arguments it knows of, and what is left of the
//! line is the next option.

use crate::catalog::caddy::{self as catalog, Entry};
use crate::model::{Node, Word};
use crate::syntax::tree::Body;

/// One option of a block.
#[derive(Debug, Clone)]
pub struct Setting<'m> {
    /// Its name.
    pub name: Word<'m>,
    /// What it takes of the line.
    pub args: Vec<Word<'m>>,
    /// The line it stands on.
    pub line: Node<'m>,
    /// What the catalogue knows of it.
    pub entry: Option<&'static Entry>,
    /// Whether it is the last of its line: a block on the line is its own.
    pub is_last: bool,
}

impl<'m> Setting<'m> {
    /// Whether it has that name.
    pub fn is(&self, name: &str) -> bool {
        self.name.is(name)
    }

    /// The value of an argument.
    pub fn value(&self, index: usize) -> Option<&'m [u8]> {
        self.args.get(index).map(|word| word.value())
    }

    /// An argument as a whole number.
    pub fn number(&self, index: usize) -> Option<i64> {
        std::str::from_utf8(self.value(index)?).ok()?.parse().ok()
    }

    /// Whether it has a block.
    pub fn has_block(&self) -> bool {
        self.is_last && matches!(self.line.body(), Body::Block { .. })
    }

    /// The options in its block, read as those of a module.
    pub fn settings_as(&self, section: &str, module: &str) -> Vec<Setting<'m>> {
        match catalog::named(section, module.as_bytes()) {
            Some(entry) if self.has_block() => settings(self.line, entry),
            _ => Vec::new(),
        }
    }
}

/// The lines of a block, those of imports among them; the `import` lines themselves left out.
pub fn lines<'m>(block: Node<'m>) -> impl Iterator<Item = Node<'m>> + Clone {
    block.children().filter(|line| !line.is("import"))
}

/// The options in the block of `block`, which the catalogue knows as `entry`.
pub fn settings<'m>(block: Node<'m>, entry: &'static Entry) -> Vec<Setting<'m>> {
    let mut settings = Vec::new();
    for line in lines(block) {
        let words: Vec<Word<'m>> = line.words().collect();
        let mut rest = &words[..];
        while let Some((name, after)) = rest.split_first() {
            let known = entry.below(name.value());
            let taken = known.map_or(after.len(), |known| takes(known, after.len()));
            let (args, left) = after.split_at(taken);
            settings.push(Setting { name: *name, args: args.to_vec(), line, entry: known, is_last: left.is_empty() });
            rest = left;
        }
    }
    settings
}

/// How many of `count` words behind its name an option takes.
fn takes(entry: &Entry, count: usize) -> usize {
    let all = entry.more || entry.max == u8::MAX || entry.module.is_some();
    if all { count } else { count.min(usize::from(entry.max)) }
}
