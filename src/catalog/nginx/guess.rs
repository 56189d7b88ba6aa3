//! What a file is, judged by the directives in it: nginx at all, and which part of a configuration.

use super::{Area, Context, ContextSet, Directive, lookup, lookup_in};
use crate::syntax::tree::{Body, NodeData, Tree};

/// How much a file looks like a configuration of nginx.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Likeness {
    /// Directives that nginx or a module knows in their place.
    pub known: usize,
    /// All directives that could be judged.
    pub total: usize,
}

impl Likeness {
    /// Whether most of it is nginx.
    pub fn is_nginx(self) -> bool {
        self.known > 0 && self.known * 3 >= self.total * 2
    }
}

/// Counts the directives of a file that nginx knows where they stand. `context` is what its top level is,
/// as from [`Context::implied`].
pub fn likeness(tree: &Tree, text: &[u8], context: Context) -> Likeness {
    let mut likeness = Likeness { known: 0, total: 0 };
    let mut inside: Vec<Context> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let context = tree_parent(node).map_or(context, |parent| inside[parent]);
        let name = name_of(tree, node, text);
        inside.push(context.inside(name));
        // `include` is a word of many languages.
        if context.holds_directives() && name != b"include" {
            likeness.total += 1;
            likeness.known += usize::from(lookup_in(name, context).next().is_some());
        }
    }
    likeness
}

impl Context {
    /// The context that the top level of a file is, judged by its directives: `main` for a whole configuration,
    /// `http` for a file of servers, `server` for settings that may stand in several levels (as public
    /// fragments are mostly meant). Unknown where no directive is known.
    pub fn implied(tree: &Tree, text: &[u8]) -> Self {
        // From the likeliest to the least likely among those that allow all directives.
        const ORDER: [Context; 16] = [
            Context::Server,
            Context::Http,
            Context::Location,
            Context::Main,
            Context::LocationIf,
            Context::ServerIf,
            Context::LimitExcept,
            Context::Upstream,
            Context::StreamServer,
            Context::Stream,
            Context::StreamUpstream,
            Context::Events,
            Context::MailServer,
            Context::Mail,
            Context::RtmpApplication,
            Context::Rtmp,
        ];
        let mut votes = [0usize; ORDER.len()];
        for (index, node) in tree.nodes.iter().enumerate() {
            if tree_parent(node).is_none() {
                let fitting = fitting_contexts(tree, index, text);
                for (vote, &context) in votes.iter_mut().zip(&ORDER) {
                    *vote += usize::from(fitting.contains(context));
                }
            }
        }
        let best = votes.iter().copied().max().unwrap_or(0);
        let first = votes.iter().position(|&vote| vote == best);
        first.filter(|_| best > 0).map_or(Context::Unknown, |i| ORDER[i])
    }
}

/// Where a directive may stand; for a block that several areas have (`server`, `upstream`), only where
/// what is in it may stand there too.
fn fitting_contexts(tree: &Tree, index: usize, text: &[u8]) -> ContextSet {
    let node = &tree.nodes[index];
    let name = name_of(tree, node, text);
    let is_block = !matches!(node.body, Body::None { .. });
    let same_form = || lookup(name).iter().filter(|directive| directive.is_block() == is_block);
    let all: ContextSet = same_form().flat_map(Directive::contexts_today).collect();
    if !is_block || same_form().nth(1).is_none() {
        return all;
    }
    let children = || (index + 1..node.end as usize).filter(|&i| tree_parent(&tree.nodes[i]) == Some(index));
    let fit = |context: Context| {
        let inside = context.inside(name);
        children().filter(|&i| lookup_in(name_of(tree, &tree.nodes[i], text), inside).next().is_some()).count()
    };
    let best = all.iter().map(fit).max().unwrap_or(0);
    let fitting: ContextSet = all.iter().filter(|&context| fit(context) == best).collect();
    // A block that says nothing of its area is HTTP, as most are.
    let http: ContextSet = fitting.iter().filter(|context| context.area() == Area::Http).collect();
    if http.is_empty() { fitting } else { http }
}

fn tree_parent(node: &NodeData) -> Option<usize> {
    (node.parent != u32::MAX).then_some(node.parent as usize)
}

fn name_of<'a>(tree: &'a Tree, node: &NodeData, text: &'a [u8]) -> &'a [u8] {
    match tree.words_of(node).first() {
        Some(word) => word.value.as_deref().unwrap_or(&text[word.span.range()]),
        None => b"",
    }
}
