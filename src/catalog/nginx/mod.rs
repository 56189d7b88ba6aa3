//! The directives and variables of nginx.

mod build;
pub mod context;
mod guess;
mod keepalive;
#[cfg(test)]
mod tests;
pub mod values;
mod versions;

use crate::version::{Holds, Server, Version, VersionSet};

pub use build::{Build, BuildError};
pub use context::{Area, Context, ContextSet};
pub use guess::{Likeness, likeness};
pub use keepalive::{Keepalive, keepalive};
pub use versions::{Usage, accepted_by, depends_on_version};

include!(concat!(env!("OUT_DIR"), "/catalog_nginx.rs"));

/// Behind every release.
const NEWEST: Version = Version::new(u16::MAX, 0, 0);

/// Who provides a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The nginx project.
    Official,
    /// NGINX Plus.
    Commercial,
    /// Anyone else, forks (Angie, Tengine) too.
    ThirdParty,
}

/// A module: what a build has or lacks as a whole.
#[derive(Debug, PartialEq, Eq)]
pub struct Module {
    /// Name in the documentation, such as `ngx_http_proxy_module`.
    pub name: &'static str,
    /// Who provides it.
    pub kind: Kind,
    /// Where it comes from if not from nginx itself: `openresty/echo-nginx-module`, `njs`.
    pub project: Option<&'static str>,
    /// The fork that has it: `angie`, `tengine`.
    pub vendor: Option<&'static str>,
    /// The configure option that builds it, where it is not built by default.
    pub build: Option<&'static str>,
    /// Whether the packages of nginx.org have it without a further package.
    pub stock: bool,
}

/// How many arguments a directive takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// One: `on` or `off`.
    Flag,
    /// One of several counts: bit `n` stands for `n` arguments.
    Counts(u16),
    /// That many or more.
    AtLeast(u8),
}

/// What ends a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A `;`.
    Line,
    /// A block with this context inside.
    Block(Context),
    /// The block of `if`, whose inside depends on the place.
    If,
    /// A block with another language inside (Lua).
    Raw,
}

/// How an outer level's lines work on an inner level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// The inner line overrides the outer one.
    Scalar,
    /// The outer lines hold only where the inner level has none.
    Array,
    /// It is not inherited.
    None,
    /// Not known (third-party modules).
    Unknown,
}

/// What a second line on the same level does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// The server refuses it.
    Error,
    /// Both count.
    Accumulate,
    /// The later one counts.
    LastWins,
    /// The earlier one counts.
    FirstWins,
    /// It changes nothing.
    Idempotent,
    /// The directive does nothing at all.
    Ignored,
    /// Not known.
    Unknown,
}

/// What kind of value a directive takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// `on` or `off`.
    Flag,
    /// One of [`Directive::params`].
    Enum,
    /// Several of [`Directive::params`].
    Bitmask,
    /// A whole number.
    Number,
    /// A size: `8k`, `1m`.
    Size,
    /// A size that may also be in gigabytes: `1g`.
    LargeSize,
    /// A size, or an expression that gives one.
    SizeExpr,
    /// A number of buffers and their size.
    Buffers,
    /// A time in milliseconds if it has no unit.
    Milliseconds,
    /// A time in seconds if it has no unit.
    Seconds,
    /// Any text, taken as it is.
    Text,
    /// A text with variables.
    Expression,
    /// Texts with variables that switch something on.
    Predicates,
    /// A name and a value.
    Pair,
    /// Media types.
    MediaTypes,
    /// Lengths of folder names, up to three.
    PathLevels,
    /// Rights of a file: `user:rw group:r`.
    Access,
    /// Something of its own, or not known.
    Other,
}

/// A keyword that a directive takes as an argument.
#[derive(Debug)]
pub struct Param {
    /// The word; one that ends in `=` or `:` is followed by a value, one in `<…>` is a feature of the value.
    pub name: &'static str,
    /// The versions that know it, among those that know the directive.
    pub versions: VersionSet,
    /// The first version that calls it obsolete.
    pub deprecated: Option<Version>,
    /// What replaced it.
    pub instead: Option<&'static str>,
    /// Whether only NGINX Plus has it.
    pub commercial: bool,
    /// The operating system that has it, where not all do.
    pub platform: Option<&'static str>,
}

/// One directive of one module.
#[derive(Debug)]
pub struct Directive {
    /// Its name.
    pub name: &'static str,
    /// Who provides it.
    pub module: &'static Module,
    /// The versions that know it; all of them where the history is not known.
    pub versions: VersionSet,
    /// Where any version allows it.
    pub contexts: ContextSet,
    context_versions: &'static [(Context, VersionSet)],
    /// How many arguments the newest version takes.
    pub arity: Arity,
    arity_before: &'static [(Version, Arity)],
    /// What ends it.
    pub form: Form,
    /// The kind of value.
    pub value: Value,
    /// Whether the value may hold variables; `None` where not known.
    pub variables: Option<bool>,
    /// Keywords, sorted.
    pub params: &'static [Param],
    /// What stands in its block, where that is entries: names, and `*` for any other name.
    pub entries: &'static [(&'static str, Arity)],
    default: Option<&'static str>,
    default_before: &'static [(VersionSet, Option<&'static str>)],
    /// How outer lines work on an inner level.
    pub merge: Merge,
    /// Directives that share one list with it (`allow` and `deny`).
    pub merge_with: &'static [&'static str],
    repeat: Repeat,
    repeat_since: Version,
    /// The first version that calls it obsolete.
    pub deprecated: Option<Version>,
    /// Whether these versions say so at start.
    pub warns: bool,
    /// What replaced it.
    pub instead: Option<&'static str>,
    /// The operating system that has it, where not all do.
    pub platform: Option<&'static str>,
    /// Distributions whose packages have it earlier: name as in the table of distributions, first package version.
    pub backports: &'static [(&'static str, &'static str)],
    /// Whether the documentation has it.
    pub documented: bool,
    /// From here on no version differs from another in what it accepts; [`Version::MAX`] where some name,
    /// place or keyword of it is gone.
    settled: Version,
}

/// A variable that a module provides, or a family of them.
#[derive(Debug)]
pub struct Variable {
    /// Its name without `$`; the common beginning of a family.
    pub name: &'static str,
    /// Whether it is a family: `arg_` stands for `$arg_anything`.
    pub family: bool,
    /// Who provides it.
    pub module: &'static Module,
    /// HTTP or stream.
    pub area: Area,
    /// The versions that know it.
    pub versions: VersionSet,
    /// Whether `set` may change it.
    pub settable: bool,
}

/// A default or behaviour that changed.
#[derive(Debug)]
pub struct Change {
    /// The directive.
    pub directive: &'static str,
    /// Its module.
    pub module: &'static str,
    /// Whether `from` and `to` are values that one could write.
    pub is_default: bool,
    /// The parameter, where it is not about the directive as a whole.
    pub param: Option<&'static str>,
    /// The versions with the new value.
    pub versions: VersionSet,
    /// The old value or behaviour.
    pub from: &'static str,
    /// The new one.
    pub to: &'static str,
}

/// Every directive, sorted by name; of one name official ones first.
pub fn directives() -> &'static [Directive] {
    &DIRECTIVES
}

/// Every variable, sorted by name.
pub fn variables() -> &'static [Variable] {
    &VARIABLES
}

/// Every changed default, oldest first.
pub fn changes() -> &'static [Change] {
    &CHANGES
}

/// The directives of that name, one for each module that has one, official ones first.
pub fn lookup(name: &[u8]) -> &'static [Directive] {
    DIRECTIVE_INDEX.get(name).map_or(&[], |&(from, to)| &DIRECTIVES[from as usize..to as usize])
}

/// The directives of that name that some version allows in `context`, official ones first.
pub fn lookup_in(name: &[u8], context: Context) -> impl Iterator<Item = &'static Directive> {
    lookup(name).iter().filter(move |directive| directive.contexts.contains(context))
}

/// What may stand in a context on some version of `target`, sorted by name: for completion.
pub fn directives_in(context: Context, target: &VersionSet) -> impl Iterator<Item = &'static Directive> {
    let known =
        move |directive: &&Directive| target.holds(Server::Nginx, &directive.allowed_in(context)) != Holds::Never;
    DIRECTIVES.iter().filter(move |directive| directive.contexts.contains(context)).filter(known)
}

/// The variables, and families of them, that some version of `target` has in an area, sorted by name.
pub fn variables_in(area: Area, target: &VersionSet) -> impl Iterator<Item = &'static Variable> {
    let known = |variable: &&Variable| target.holds(Server::Nginx, &variable.versions) != Holds::Never;
    VARIABLES.iter().filter(move |variable| variable.area == area).filter(known)
}

/// The variable of that name (without `$`) in one area: by its full name, else by its family.
pub fn variable(name: &[u8], area: Area) -> Option<&'static Variable> {
    let in_area = |variable: &&Variable| variable.area == area;
    let from = VARIABLES.partition_point(|variable| variable.name.as_bytes() < name);
    let exact = VARIABLES[from..].iter().take_while(|variable| variable.name.as_bytes() == name);
    exact.filter(|variable| !variable.family).find(in_area).or_else(|| {
        let families =
            VARIABLES.iter().filter(|variable| variable.family && name.starts_with(variable.name.as_bytes()));
        families.filter(in_area).max_by_key(|variable| variable.name.len())
    })
}

/// What a server of that version does where the directive is not written; the official directive's.
pub fn default_value(name: &[u8], context: Context, version: Version) -> Option<&'static str> {
    lookup_in(name, context).next().and_then(|directive| directive.default_at(version))
}

impl Arity {
    /// Whether `count` arguments are right.
    pub const fn accepts(self, count: usize) -> bool {
        match self {
            Self::Flag => count == 1,
            Self::Counts(bits) => count < 16 && bits & (1 << count) != 0,
            Self::AtLeast(least) => count >= least as usize,
        }
    }
}

impl Directive {
    /// The versions that allow it in `context`; none where it never was.
    pub fn allowed_in(&self, context: Context) -> VersionSet {
        if !self.contexts.contains(context) {
            return VersionSet::none();
        }
        let history = self.context_versions.iter().find(|(place, _)| *place == context);
        history.map_or_else(|| self.versions.clone(), |(_, versions)| self.versions.intersection(versions))
    }

    /// Where the newest versions allow it, or the last ones that knew it.
    pub fn contexts_today(&self) -> impl Iterator<Item = Context> {
        let closed = |context| self.context_versions.iter().any(|(place, v)| *place == context && !v.contains(NEWEST));
        self.contexts.iter().filter(move |&context| !closed(context))
    }

    /// Whether that version of the server knows it at all.
    pub fn available(&self, version: Version) -> bool {
        self.versions.contains(version)
    }

    /// How many arguments a version takes.
    pub fn arity_at(&self, version: Version) -> Arity {
        self.arity_before.iter().find(|(before, _)| version < *before).map_or(self.arity, |&(_, arity)| arity)
    }

    /// The versions that take that many arguments, whether they know the directive or not.
    pub fn accepting(&self, count: usize) -> VersionSet {
        let mut from = Version::MIN;
        let mut accepted = VersionSet::none();
        for &(before, arity) in self.arity_before.iter().chain(&[(Version::MAX, self.arity)]) {
            if arity.accepts(count) {
                let span = VersionSet::since(from).intersection(&VersionSet::before(before));
                accepted = accepted.union(&span);
            }
            from = before;
        }
        accepted
    }

    /// What a version does where it is not written.
    pub fn default_at(&self, version: Version) -> Option<&'static str> {
        let older = self.default_before.iter().find(|(versions, _)| versions.contains(version));
        older.map_or(self.default, |&(_, value)| value)
    }

    /// What a second line on the same level does in a version.
    pub fn repeat_at(&self, version: Version) -> Repeat {
        if version < self.repeat_since { Repeat::Error } else { self.repeat }
    }

    /// The keyword of that exact name.
    pub fn param(&self, name: &str) -> Option<&'static Param> {
        self.params.binary_search_by(|param| param.name.cmp(name)).ok().map(|i| &self.params[i])
    }

    /// Whether it opens a block.
    pub fn is_block(&self) -> bool {
        !matches!(self.form, Form::Line)
    }

    /// Whether the nginx project provides it as part of nginx itself.
    pub fn is_official(&self) -> bool {
        self.module.kind == Kind::Official && self.module.project.is_none()
    }

    /// The page of the documentation that describes it, where there is one.
    pub fn documentation(&self) -> Option<String> {
        let documented = self.documented && self.module.kind != Kind::ThirdParty;
        let folder = ["http", "mail", "stream"]
            .into_iter()
            .find(|area| self.module.name.strip_prefix("ngx_").is_some_and(|rest| rest.starts_with(area)));
        let folder = folder.map_or(String::new(), |folder| format!("{folder}/"));
        documented.then(|| format!("https://nginx.org/en/docs/{folder}{}.html#{}", self.module.name, self.name))
    }
}

impl Context {
    /// The context inside the block that a directive `name` opens here. Where it is not allowed here, the
    /// inside is judged as in its rightful place, so that one fault does not bring others.
    pub fn inside(self, name: &[u8]) -> Self {
        if !self.holds_directives() {
            return Self::Unknown;
        }
        let blocks = || lookup(name).iter().filter(|directive| directive.is_block());
        let found = blocks()
            .find(|directive| directive.contexts.contains(self))
            .or_else(|| blocks().find(|directive| directive.contexts.iter().any(|place| place.area() == self.area())))
            .or_else(|| blocks().next());
        match found.map(|directive| directive.form) {
            Some(Form::Block(inside)) => inside,
            Some(Form::If) if matches!(self, Self::Server | Self::Http) => Self::ServerIf,
            Some(Form::If) => Self::LocationIf,
            _ => Self::Unknown,
        }
    }
}
