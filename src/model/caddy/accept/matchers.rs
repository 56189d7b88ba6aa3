//! Named matchers: where they are defined, where they are used, what they hold.

use foldhash::HashSet;

use super::{Cause, Judge, Place, any_unknown, has_block};
use crate::catalog::caddy as catalog;
use crate::catalog::caddy::Entry;
use crate::model::caddy::options::{Setting, lines};
use crate::model::{Node, Word};
use crate::syntax::tree::Quote;

/// The matchers that a block can see: its own and those of the blocks around it.
#[derive(Debug, Default)]
pub(super) struct Scopes<'m> {
    scopes: Vec<Scope<'m>>,
}

#[derive(Debug)]
struct Scope<'m> {
    outer: Option<usize>,
    /// The names that are defined in it.
    names: HashSet<&'m [u8]>,
}

impl<'m> Scopes<'m> {
    /// A scope inside another one.
    pub(super) fn open(&mut self, outer: Option<usize>) -> usize {
        self.scopes.push(Scope { outer, names: HashSet::default() });
        self.scopes.len() - 1
    }

    fn knows(&self, scope: usize, name: &[u8]) -> bool {
        let outwards = std::iter::successors(Some(scope), |scope| self.scopes[*scope].outer);
        outwards.into_iter().any(|scope| self.scopes[scope].names.contains(name))
    }
}

/// Matchers of responses that a block of `reverse_proxy` or `intercept` defines.
#[derive(Debug, Default)]
pub(super) struct Responses<'m> {
    /// Whether the block may define any.
    allowed: bool,
    defined: Vec<&'m [u8]>,
    /// How many of them stand above the line that is being judged.
    above: usize,
}

impl<'m> Responses<'m> {
    /// Whether a line defines one of them.
    pub(super) fn takes(&mut self, _name: Word<'m>) -> bool {
        self.above += usize::from(self.allowed);
        self.allowed
    }

    /// Whether the block defines it.
    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.defined.contains(&name)
    }

    /// Whether it is defined above the line that is being judged.
    pub(super) fn has_above(&self, name: &[u8]) -> bool {
        self.defined[..self.above.min(self.defined.len())].contains(&name)
    }
}

impl<'m> Judge<'m> {
    pub(super) fn response_matchers(&self, entry: &Entry, settings: &[Setting<'m>]) -> Responses<'m> {
        let allowed = matches!(entry.name, "reverse_proxy" | "intercept" | "forward_auth" | "php_fastcgi");
        let named = settings.iter().map(|setting| setting.name.value()).filter(|name| name.starts_with(b"@"));
        Responses { allowed, defined: if allowed { named.collect() } else { Vec::new() }, above: 0 }
    }

    /// Judges `@name …`, and makes the name known.
    pub(super) fn matcher_definition(&mut self, line: Node<'m>, scope: usize) {
        let words: Vec<Word<'m>> = line.words().collect();
        let [name, args @ ..] = &words[..] else { return };
        if self.scopes.knows(scope, name.value()) {
            self.refuse(Cause::Structure, line, name.span(), format!("the matcher `{}` is defined twice", name.text()));
        }
        self.scopes.scopes[scope].names.insert(name.value());
        self.matcher_set(line, args);
    }

    /// The matchers of a set: on the line, or one on each line of the block.
    pub(super) fn matcher_set(&mut self, line: Node<'m>, args: &[Word<'m>]) {
        match args {
            _ if any_unknown(args) => {}
            [only] if only.quote() != Quote::Bare => {}
            [kind, rest @ ..] => self.matcher(line, *kind, rest, has_block(line)),
            [] => {
                if let Some(second) = lines(line).filter(|inner| inner.is("path_regexp")).nth(1) {
                    let message = "a named matcher takes one `path_regexp`";
                    self.refuse(Cause::Arguments, second, second.head(), message);
                }
                for inner in lines(line) {
                    let words: Vec<Word<'m>> = inner.words().collect();
                    if let [kind, rest @ ..] = &words[..]
                        && !any_unknown(&words)
                    {
                        self.matcher(inner, *kind, rest, has_block(inner));
                    }
                }
            }
        }
    }

    fn matcher(&mut self, line: Node<'m>, kind: Word<'m>, args: &[Word<'m>], block: bool) {
        let known = catalog::named("matcher", kind.value());
        let Some(entry) = known.filter(|entry| self.knows(entry)) else {
            return self.refuse_name(line, kind, known, &Place::section("matcher", "matcher"));
        };
        if kind.is("not") {
            return self.negated(line, args);
        }
        let too_many = entry.max < u8::MAX && args.len() > usize::from(entry.max);
        if args.len() < usize::from(entry.min) || too_many {
            let message = format!("`{}` has {} arguments, which it does not take", entry.name, args.len());
            self.refuse(Cause::Arguments, line, kind.span(), message);
        }
        if let Some(word) =
            args.iter().find(|word| kind.is("query") && !word.value().is_empty() && !word.value().contains(&b'='))
        {
            let message = format!("`query` wants `name=value`, not `{}`", word.text());
            self.refuse(Cause::Arguments, line, word.span(), message);
        }
        let forwarded = args.first().is_some_and(|word| word.is("forwarded"));
        if kind.is("remote_ip") && forwarded && self.since(2, 8, 0) {
            let message = "`remote_ip forwarded` is gone since Caddy 2.8.0; instead of it: the matcher `client_ip`";
            self.refuse(Cause::Gone, line, args[0].span(), message);
        }
        if block && !entry.below.is_empty() {
            self.todo.push(super::Task::Settings { line, entry, scope: 0 });
        }
    }

    /// `not`: another set, or an expression in quotes since 2.11.3.
    fn negated(&mut self, line: Node<'m>, args: &[Word<'m>]) {
        match args {
            [only] if only.quote() != Quote::Bare && self.since(2, 11, 3) => {}
            [kind, rest @ ..] => self.matcher(line, *kind, rest, false),
            [] => self.matcher_set(line, &[]),
        }
    }

    /// Judges a matcher that a directive names.
    pub(super) fn matcher_use(&mut self, node: Node<'m>, word: Word<'m>, scope: usize) {
        if !self.scopes.knows(scope, word.value()) {
            let message = format!("the matcher `{}` is not defined here", word.text());
            self.refuse(Cause::Reference, node, word.span(), message);
        }
    }
}
