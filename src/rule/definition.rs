//! What a rule is, as data. A leaf: `build.rs` takes it in too and writes every page of `rules/`
//! as a static of these types; hence the `Cow`s.

use std::borrow::Cow;

use crate::rule::level::{Category, Severity};
use crate::version::{Server, VersionSet};

/// A text that stands in the program or was read at run time.
pub type Text = Cow<'static, str>;

/// Texts that stand in the program or were read at run time.
pub type Texts = Cow<'static, [Text]>;

/// One rule: a Markdown page as the program sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Its path below `rules/` without `.md`.
    pub id: Text,
    /// Ids it had before it was renamed.
    pub aliases: Texts,
    /// The first paragraph of the page, in one line of Markdown.
    pub summary: Text,
    /// The whole page.
    pub page: Text,
    /// Whose configurations it judges; `None` for rules about proxylint's own files and comments.
    pub server: Option<Server>,
    /// How bad it is in production.
    pub severity: Severity,
    /// What kind of harm.
    pub category: Category,
    /// The proxylint version that first had it.
    pub since: Text,
    /// The server versions for which the finding is true; `None` means all.
    pub versions: Option<VersionSet>,
    /// Whether it runs when nobody selects rules.
    pub activation: Activation,
    /// The message; a check may have its own instead.
    pub message: Option<Text>,
    /// How it finds its places.
    pub finds: Finds,
    /// What kind of fixes it has.
    pub mends: Mends,
}

/// What kind of fixes a rule has. For a check, its examples say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mends {
    /// None.
    Never,
    /// Safe ones.
    Safely,
    /// Unsafe ones.
    Unsafely,
    /// Both kinds.
    Both,
}

impl Mends {
    /// One word for lists.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Never => "none",
            Self::Safely => "safe",
            Self::Unsafely => "unsafe",
            Self::Both => "both",
        }
    }
}

/// Whether a rule runs when nobody selects rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Activation {
    /// It does.
    On,
    /// Only when it is selected by name.
    Off,
    /// Also when others are selected and it is not: without it "no findings" would be said of text
    /// that was not understood.
    Always,
}

/// How a rule finds its places.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a few hundred statics that nothing moves")]
pub enum Finds {
    /// By what stands in one directive.
    Match {
        /// Which directives.
        pattern: Pattern,
        /// What mends them.
        rewrite: Option<Rewrite>,
        /// Whether all matches of one block are one finding and one fix.
        by_block: bool,
    },
    /// By code that has a name.
    Check {
        /// Its name: `nginx/upstream-reuse`.
        name: Text,
        /// What the rule tells it.
        params: Params,
    },
}

/// Which directives a rule is about. All given keys must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// It has one of these names.
    pub directive: Texts,
    /// The enclosing block, or the context at top level, has one of these names.
    pub inside: Option<Texts>,
    /// Its arguments are exactly these.
    pub args: Option<Texts>,
    /// All of these are among its arguments.
    pub has: Texts,
    /// None of these is among its arguments.
    pub lacks: Texts,
}

/// How a match is mended. At least one of `replace`, `drop`, `beside` and `remove` is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The directive's new text, without its `;` or block.
    pub replace: Option<Text>,
    /// Arguments that go.
    pub drop: Texts,
    /// A line that is added to the block once, and not where the block has it.
    pub beside: Option<Text>,
    /// Whether the whole directive goes.
    pub remove: bool,
    /// Whether the server behaves the same but for the fault.
    pub safe: bool,
    /// What else changes, in words, where it is not safe.
    pub changes: Texts,
    /// The versions that understand the new text; `None` means all.
    pub needs: Option<VersionSet>,
}

/// Parameters that a rule gives to its check: names and values, sorted by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Params(Cow<'static, [(Text, Param)]>);

/// One value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Param {
    /// A text.
    Text(Text),
    /// A whole number.
    Number(i64),
    /// Yes or no.
    Flag(bool),
    /// Several values.
    List(Cow<'static, [Param]>),
    /// Names and values.
    Table(Params),
}

impl Rule {
    /// The name of the check it calls, if it calls one.
    pub fn check(&self) -> Option<&str> {
        match &self.finds {
            Finds::Check { name, .. } => Some(name),
            Finds::Match { .. } => None,
        }
    }
}

impl Params {
    /// From pairs sorted by name: for generated tables.
    pub const fn from_static(pairs: &'static [(Text, Param)]) -> Self {
        Self(Cow::Borrowed(pairs))
    }

    /// From pairs in any order.
    pub fn new(mut pairs: Vec<(Text, Param)>) -> Self {
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        Self(pairs.into())
    }

    /// All of them, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Param)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&Param> {
        self.0.binary_search_by(|(key, _)| key.as_ref().cmp(name)).ok().map(|i| &self.0[i].1)
    }

    /// A parameter that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Param::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A parameter that is a whole number.
    pub fn number(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Param::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A parameter that is yes or no; not given means no.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Param::Flag(true)))
    }

    /// The values of a parameter that is a list; one value counts as a list of one.
    pub fn list(&self, name: &str) -> &[Param] {
        match self.get(name) {
            Some(Param::List(list)) => list,
            Some(one) => std::slice::from_ref(one),
            None => &[],
        }
    }

    /// The texts of a parameter that is a list of texts.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.list(name).iter().filter_map(|value| match value {
            Param::Text(text) => Some(text.as_ref()),
            _ => None,
        })
    }
}
