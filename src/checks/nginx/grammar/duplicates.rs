//! Directives that may stand once on a level.

use super::{Fault, Finder, Unreadable};
use crate::catalog::nginx::{Context, Repeat, lookup_in};
use crate::checks::nginx::text::whole_line;
use crate::fix::{Edit, Fix};
use crate::model::Node;
use crate::version::{Server, VersionSet};

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
