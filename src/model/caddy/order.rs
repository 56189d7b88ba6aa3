//! In which order the handlers of a block run.
//!
//! Caddy sorts the handlers of a site, and of each block in it but `route`: by a fixed order of
//! directives, which the global option `order` changes, and among those of one directive by how
//! narrow their matcher is (`sortRoutes` in `caddyconfig/httpcaddyfile`).

use super::options::lines;
use super::proxy::has_matcher;
use crate::catalog::caddy as catalog;
use crate::model::{Model, Node, Word};
use crate::version::Version;

/// From this version on a path goes in front of the same path with a `*` at its end, and `vars` that
/// cannot be told apart are turned round.
const EXACT_FIRST: Version = Version::new(2, 7, 0);

/// From this version on a `*` at the end does not count for the length of a path.
const TRIMMED: Version = Version::new(2, 10, 1);

/// The directives in the order in which they run, with what `order` changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order(Vec<Vec<u8>>);

impl Order {
    /// Reads the global options of a model.
    pub(super) fn read(model: &Model) -> Self {
        let mut order = Self(catalog::ordered().iter().map(|name| name.as_bytes().to_vec()).collect());
        let global = model.roots().find(|node| node.words().len() == 0);
        for line in global.into_iter().flat_map(lines).filter(|line| line.is("order")) {
            let words: Vec<&[u8]> = line.args().map(Word::value).collect();
            order.place(&words);
        }
        order
    }

    fn place(&mut self, words: &[&[u8]]) {
        let [name, place, ..] = words else { return };
        let before = self.0.clone();
        self.0.retain(|known| known != name);
        let other = words.get(2).and_then(|other| self.rank(other));
        match (*place, other) {
            (b"first", _) => self.0.insert(0, name.to_vec()),
            (b"last", _) => self.0.push(name.to_vec()),
            (b"before", Some(at)) => self.0.insert(at, name.to_vec()),
            (b"after", Some(at)) => self.0.insert(at + 1, name.to_vec()),
            _ => self.0 = before,
        }
    }

    /// The place of a directive, counted from 0; `None` for one without.
    pub fn rank(&self, name: &[u8]) -> Option<usize> {
        // `handle_path` stands where `handle` stands.
        let name = if name == b"handle_path" { b"handle" } else { name };
        self.0.iter().position(|known| known == name)
    }

    /// The handlers of a block in the order in which a version runs them. Lines that are no
    /// handlers (matchers, `tls`, `bind`) are left out.
    pub fn handlers<'m>(&self, block: Node<'m>, version: Version) -> Vec<Node<'m>> {
        let handlers = lines(block).filter_map(|line| Some((self.rank(line.name())?, line)));
        if block.is("route") && block.parent().is_some() {
            return handlers.map(|(_, line)| line).collect();
        }
        let mut ranked: Vec<(usize, Matched<'m>)> =
            handlers.map(|(rank, line)| (rank, Matched::new(line, version))).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        for same in ranked.chunk_by_mut(|a, b| a.0 == b.0) {
            insert_sorted(same);
        }
        ranked.into_iter().map(|(_, matched)| matched.line).collect()
    }
}

/// A handler with what decides its place among those of its directive.
struct Matched<'m> {
    line: Node<'m>,
    /// The path of its matcher, if there is one and no more.
    path: Option<&'m [u8]>,
    has_matcher: bool,
    version: Version,
}

impl<'m> Matched<'m> {
    fn new(line: Node<'m>, version: Version) -> Self {
        let has_matcher = has_matcher(line) && !line.arg(0).is_some_and(|word| word.is("*"));
        Self { line, path: path_of(line), has_matcher, version }
    }

    /// Whether it goes in front of `other`: the narrower one does, and of `vars` the wider one, so
    /// that the narrower is set last. A path and another matcher cannot be compared.
    fn precedes(&self, other: &Self) -> bool {
        match self.line.is("vars") {
            false => self.is_narrower(other),
            true if self.version < EXACT_FIRST => other.is_narrower(self),
            true => !self.is_narrower(other),
        }
    }

    fn is_narrower(&self, other: &Self) -> bool {
        let (Some(a), Some(b)) = (self.path, other.path) else { return self.has_matcher && !other.has_matcher };
        let trim = |path: &'m [u8]| path.strip_suffix(b"*").unwrap_or(path);
        let (short_a, short_b) = (trim(a), trim(b));
        if short_a == short_b && self.version >= EXACT_FIRST {
            a.len() < b.len()
        } else if self.version >= TRIMMED {
            (short_b.len(), short_a) < (short_a.len(), short_b)
        } else {
            a.len() > b.len()
        }
    }
}

/// Sorts as Go's stable sort does with few elements: what cannot be compared stops an element on
/// its way to the front, so the outcome depends on how it is sorted.
fn insert_sorted(handlers: &mut [(usize, Matched<'_>)]) {
    for from in 1..handlers.len() {
        let mut at = from;
        while at > 0 && handlers[at].1.precedes(&handlers[at - 1].1) {
            handlers.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// The path of a handler's matcher, if it has exactly one, whatever else it matches.
fn path_of<'m>(line: Node<'m>) -> Option<&'m [u8]> {
    let matcher = line.arg(0).filter(|_| has_matcher(line))?.value();
    if matcher.starts_with(b"/") {
        return Some(matcher);
    }
    let defined = line.ancestors().find_map(|block| lines(block).find(|other| other.name() == matcher))?;
    let on_line = defined.arg(0).filter(|kind| kind.is("path")).map(|_| defined.args().skip(1));
    let in_block = lines(defined).filter(|inner| inner.is("path")).flat_map(Node::args);
    let mut paths = on_line.into_iter().flatten().chain(in_block);
    paths.next().filter(|_| paths.next().is_none()).map(Word::value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;
    use crate::model::caddy::load::Loader;
    use crate::model::include::PathMap;
    use crate::syntax::caddy::Env;
    use crate::version::VersionSet;

    fn model(text: &str) -> Model {
        let mut files = Memory::new();
        files.insert("Caddyfile", text.as_bytes());
        Loader::new("Caddyfile", Env::new(), PathMap::default(), VersionSet::all()).load(&files).unwrap()
    }

    /// The last argument of each handler, in order.
    fn order(text: &str, version: Version) -> Vec<String> {
        let model = model(text);
        let site = model.roots().last().unwrap();
        let handlers = model.caddy().order().handlers(site, version);
        handlers.iter().map(|line| line.args().last().unwrap().text().into_owned()).collect()
    }

    const NEW: Version = Version::new(2, 11, 7);

    #[test]
    fn directives_have_their_order() {
        let text = ":80 {\n\treverse_proxy d\n\trespond c\n\tbind x\n\troot a\n\tredir b\n}\n";
        assert_eq!(order(text, NEW), ["a", "b", "c", "d"]);
        let text = "{\n\torder reverse_proxy before root\n\torder redir last\n}\n:80 {\n\tredir c\n\troot b\n\treverse_proxy a\n}\n";
        assert_eq!(order(text, NEW), ["a", "b", "c"]);
    }

    /// What Caddy 2.6.2, 2.8.4 and 2.11.7 make of these.
    #[test]
    fn narrow_matchers_come_first() {
        let old = Version::new(2, 6, 2);
        let middle = Version::new(2, 8, 4);
        let text = ":80 {\n\t@p path /longest/path\n\trespond e\n\trespond * f\n\trespond /a* d\n\trespond /a c\n\
                    \trespond /long/path b\n\trespond @p a\n}\n";
        assert_eq!(order(text, NEW), ["a", "b", "c", "d", "e", "f"]);
        let text = ":80 {\n\t@m method GET\n\trespond e\n\trespond /a* b\n\trespond /a a\n\trespond @m c\n\
                    \trespond /longer d\n}\n";
        assert_eq!(order(text, old), ["b", "a", "c", "d", "e"]);
        assert_eq!(order(text, middle), ["a", "b", "c", "d", "e"]);
        assert_eq!(order(text, NEW), ["a", "b", "c", "d", "e"]);
        let text = ":80 {\n\t@m {\n\t\tmethod GET\n\t\tpath /bb\n\t}\n\trespond /a* b\n\trespond @m c\n\
                    \trespond /ab a\n}\n";
        assert_eq!(order(text, middle), ["b", "c", "a"]);
        assert_eq!(order(text, NEW), ["a", "c", "b"]);
    }

    #[test]
    fn wide_variables_come_first() {
        let text = ":80 {\n\t@m method GET\n\tvars /a x 3\n\tvars x 1\n\tvars /long/er x 4\n\tvars @m x 2\n}\n";
        assert_eq!(order(text, Version::new(2, 6, 2)), ["1", "3", "4", "2"]);
        assert_eq!(order(text, NEW), ["1", "2", "3", "4"]);
    }
}
