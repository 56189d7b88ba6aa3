//! Which versions accept what a configuration writes.

use super::{Context, Directive, Kind, Param, Value, lookup_in};
use crate::version::{Version, VersionSet};

/// One line of a configuration, as far as versions are concerned.
#[derive(Debug, Clone, Copy)]
pub struct Usage<'a> {
    /// Where it stands.
    pub context: Context,
    /// Its name.
    pub name: &'a [u8],
    /// The values of its arguments.
    pub args: &'a [&'a [u8]],
}

/// The versions that accept a line: that know its name, allow it there, and know its parameters. All of
/// them where that does not depend on the version: a name that is unknown, third-party, or misplaced in
/// every version is another fault.
pub fn accepted_by(usage: Usage<'_>) -> VersionSet {
    if !usage.context.holds_directives() {
        return VersionSet::all();
    }
    let mut accepted = VersionSet::none();
    for directive in lookup_in(usage.name, usage.context) {
        if directive.module.kind == Kind::ThirdParty {
            return VersionSet::all();
        }
        accepted = accepted.union(&directive.accepting_line(usage));
    }
    if accepted.is_empty() { VersionSet::all() } else { accepted }
}

/// Whether versions from `floor` on differ in what they accept of directives of one name: a quick answer
/// that spares most lines a closer look.
pub fn depends_on_version(directives: &[Directive], floor: Version) -> bool {
    directives.iter().any(|directive| !directive.is_settled_since(floor))
}

impl Directive {
    /// Whether versions from `floor` on all know the directive, and agree in what they accept of it.
    pub fn is_settled_since(&self, floor: Version) -> bool {
        self.settled <= floor
    }

    /// The versions that take a line as this directive.
    fn accepting_line(&'static self, usage: Usage<'_>) -> VersionSet {
        let mut versions = self.allowed_in(usage.context);
        if !self.arity_before.is_empty() {
            let fitting = versions.intersection(&self.accepting(usage.args.len()));
            // A count that no version takes is another fault.
            versions = if fitting.is_empty() { versions } else { fitting };
        }
        for param in self.params_used(usage.args) {
            versions = versions.intersection(&param.versions);
        }
        versions
    }

    /// The keywords among the arguments whose meaning depends on the version.
    pub fn params_used<'a>(&'static self, args: &'a [&'a [u8]]) -> impl Iterator<Item = &'static Param> + use<'a> {
        let versioned = |param: &&Param| param.versions != VersionSet::all() && !param.commercial;
        self.params.iter().filter(versioned).filter(move |param| self.param_position(param, args).is_some())
    }

    /// Which argument a keyword is, if it is there.
    pub fn param_position(&self, param: &Param, args: &[&[u8]]) -> Option<usize> {
        match param.name {
            "<variables>" => args.iter().position(|arg| arg.contains(&b'$')),
            "<zero>" => args.first().is_some_and(|arg| !arg.is_empty() && arg.iter().all(|&b| b == b'0')).then_some(0),
            name if name.starts_with('<') => None,
            name if name.ends_with('=') || name.ends_with(':') => {
                args.iter().position(|arg| arg.starts_with(name.as_bytes()))
            }
            name => {
                // The first argument of `server` or `listen` is an address, whatever it looks like.
                let first = usize::from(self.value == Value::Other && !self.takes_one());
                args.iter().skip(first).position(|arg| *arg == name.as_bytes()).map(|i| i + first)
            }
        }
    }

    fn takes_one(&self) -> bool {
        self.arity.accepts(1) && !(2..16).any(|count| self.arity.accepts(count))
    }

    /// Whether a version says at start that the directive is obsolete, or would.
    pub fn obsolete_at(&self, version: Version) -> bool {
        self.deprecated.is_some_and(|first| first <= version) && self.available(version)
    }
}
