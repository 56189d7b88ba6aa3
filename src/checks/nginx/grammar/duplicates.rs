//! Directives that may stand once on a level.

use super::{Fault, Finder, Unreadable};
use foldhash::HashMap;

use crate::catalog::nginx::{Area, Context, Repeat, lookup_in};
use crate::checks::nginx::text::whole_line;
use crate::fix::{Edit, Fix};
use crate::model::Node;
use crate::version::{Server, VersionSet};

/// Directives that give something a name: what stands in front of it, and whether case does not count.
const NAMED: [(&str, &str, bool); 8] = [
    ("upstream", "", true),
    ("log_format", "", false),
    ("limit_req_zone", "zone=", false),
    ("limit_conn_zone", "zone=", false),
    ("proxy_cache_path", "keys_zone=", false),
    ("fastcgi_cache_path", "keys_zone=", false),
    ("uwsgi_cache_path", "keys_zone=", false),
    ("scgi_cache_path", "keys_zone=", false),
];

fn given_name(line: Node<'_>, key: &str, folds: bool) -> Option<Vec<u8>> {
    let name = match key {
        "" => line.value(0)?,
        key => {
            let zone = line.args().find_map(|word| word.value().strip_prefix(key.as_bytes()))?;
            &zone[..memchr::memchr(b':', zone).unwrap_or(zone.len())]
        }
    };
    Some(if folds { name.to_ascii_lowercase() } else { name.to_vec() })
}

impl<'m> Finder<'_, 'm> {
    /// Looks at every name of every block.
    pub(super) fn duplicates(&mut self, unreadable: &Unreadable) {
        let mut level: Vec<Node<'m>> = Vec::new();
        let model = self.cx.model;
        let blocks = model.nodes().filter(|node| node.children().next().is_some());
        let tops = std::iter::once(model.roots()).chain(blocks.map(Node::children));
        for children in tops {
            level.clear();
            level.extend(children.filter(|node| !unreadable.holds(*node)));
            if level.first().is_none_or(|node| !node.context().holds_directives()) {
                continue;
            }
            level.sort_by(|a, b| a.name().cmp(b.name()).then(a.id().cmp(&b.id())));
            for same in level.chunk_by(|a, b| a.name() == b.name()).filter(|same| same.len() > 1) {
                self.repeated(same[0].context(), same);
                self.same_zone(same);
                self.after_off(same);
            }
            self.root_and_alias(&level);
            self.links(&level);
            self.stores(&level);
        }
    }

    /// `limit_req` or `limit_conn` twice with one zone.
    fn same_zone(&mut self, same: &[Node<'m>]) {
        let key = match same[0].name() {
            b"limit_req" => "zone=",
            b"limit_conn" => "",
            _ => return,
        };
        let mut first: HashMap<Vec<u8>, Node<'m>> = HashMap::default();
        for line in same {
            let Some(zone) = given_name(*line, key, false) else { continue };
            match first.get(&zone) {
                Some(known) => {
                    let known = known.head();
                    let message = format!(
                        "the zone `{}` limits this level already: nginx refuses the second",
                        String::from_utf8_lossy(&zone)
                    );
                    self.add(Fault::DuplicateDirective, *line, line.head(), message).label(known, "the first");
                }
                None => {
                    first.insert(zone, *line);
                }
            }
        }
    }

    /// `root` and `alias`, of which a location takes one.
    fn root_and_alias(&mut self, level: &[Node<'m>]) {
        let find = |name: &str| level.iter().find(|node| node.is(name) && node.context() == Context::Location);
        let (Some(root), Some(alias)) = (find("root"), find("alias")) else { return };
        let (first, second) = if root.id() < alias.id() { (root, alias) } else { (alias, root) };
        let message = "a location takes `root` or `alias`, not both: nginx refuses the second";
        self.add(Fault::DuplicateDirective, *second, second.head(), message).label(first.head(), "the first");
    }

    /// Names that may be given once in `http` and once in `stream`.
    pub(super) fn definitions(&mut self, unreadable: &Unreadable) {
        let model = self.cx.model;
        for (directive, key, folds) in NAMED {
            for area in [Area::Http, Area::Stream] {
                let mut lines: Vec<Node<'m>> =
                    model.named(directive).filter(|n| n.context().area() == area && !unreadable.holds(*n)).collect();
                lines.sort_by_key(|line| line.id());
                let mut first: HashMap<Vec<u8>, Node<'m>> = HashMap::default();
                for line in lines {
                    let Some(name) = given_name(line, key, folds) else { continue };
                    if directive == "log_format" && area == Area::Http && name == b"combined" {
                        let message = "`combined` is nginx's own log format: nginx refuses a second one";
                        self.add(Fault::DuplicateDirective, line, line.head(), message);
                    }
                    let Some(known) = first.get(&name) else {
                        first.insert(name, line);
                        continue;
                    };
                    let known = known.head();
                    let shown = String::from_utf8_lossy(&name).into_owned();
                    let message =
                        format!("`{directive}` gives the name `{shown}` a second time: nginx refuses the file");
                    self.add(Fault::DuplicateDirective, line, line.head(), message).label(known, "the first");
                }
            }
        }
    }

    fn repeated(&mut self, context: Context, same: &[Node<'m>]) {
        let directive = lookup_in(same[0].name(), context).find(|directive| directive.is_official());
        let Some(directive) = directive else { return };
        let refused_by = |v: &crate::version::Version| directive.repeat_at(*v) == Repeat::Error;
        let refusing: Vec<_> = self.cx.target.members(Server::Nginx).filter(refused_by).collect();
        if refusing.is_empty() {
            return;
        }
        let refusing = refusing.into_iter().map(VersionSet::exactly).reduce(|a, b| a.union(&b));
        for later in &same[1..] {
            let message = format!(
                "`{}` may stand only once in {}: nginx refuses the second",
                String::from_utf8_lossy(later.name()),
                context.words()
            );
            let identical =
                later.words().map(crate::model::Word::value).eq(same[0].words().map(crate::model::Word::value))
                    && later.children().next().is_none();
            let report = self.add(Fault::DuplicateDirective, *later, later.head(), message);
            report.label(same[0].head(), "the first");
            report.versions(refusing.clone().unwrap_or_else(VersionSet::all));
            if identical && later.head().file == later.span().file {
                report.fix(Fix::safe("remove the second", vec![Edit::replace(whole_line(*later), "")]));
            }
        }
    }
}
