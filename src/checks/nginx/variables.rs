//! Variables that nobody provides.

use foldhash::HashSet;

use super::regex;
use super::scope::Scope;
use crate::catalog::nginx::{Area, Kind, variable};
use crate::checks::{Check, Cx, Run};
use crate::model::nginx::expressions::{holds_variables, names};
use crate::model::{Model, Node, Word};
use crate::version::{Holds, Server};

/// Variables that nobody provides; the parameter `fault` is `unknown-variable`.
pub static CHECK: Check = Check { name: "nginx/variables", run: Run::Model(report) };

fn report(cx: &mut Cx<'_>) {
    let model = cx.model;
    let scope = Scope::of(cx);
    let modules = uses_modules(model);
    let captured = captured(model);
    for area in [Area::Http, Area::Stream] {
        let mut defined = defined(model, area);
        defined.extend(captured.iter().cloned());
        let mut seen: HashSet<Vec<u8>> = HashSet::default();
        for (node, word, written) in uses(model, area) {
            let name = written.to_ascii_lowercase();
            if defined.contains(&name) || !seen.insert(name.clone()) {
                continue;
            }
            match variable(&name, area) {
                Some(known) if cx.target.holds(Server::Nginx, &known.versions) != Holds::Always => {
                    let message = format!("`${}` is unknown to {{versions}}, which refuses the file", text(written));
                    cx.report(node, word.span(), message).versions(known.versions.complement());
                }
                None if scope.is_closed() && !modules => {
                    let near = near(&name, &defined, area);
                    let message =
                        format!("nothing provides the variable `${}`: nginx refuses the file{near}", text(written));
                    cx.report(node, word.span(), message);
                }
                _ => {}
            }
        }
    }
}

/// Whether a module that is not nginx's own is in use: its variables are not known here.
fn uses_modules(model: &Model) -> bool {
    let foreign = |node: Node<'_>| {
        let known = node.directives();
        !known.is_empty()
            && known
                .iter()
                .all(|directive| directive.module.kind != Kind::Official || directive.module.project.is_some())
    };
    let used = |lines: &mut dyn Iterator<Item = Node<'_>>| {
        let mut lines = lines.peekable();
        lines.peek().copied().is_some_and(foreign) && lines.any(|node| node.context().holds_directives())
    };
    model.named("load_module").len() > 0 || model.names().any(|mut lines| used(&mut lines))
}

fn text(name: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(name)
}

fn near(name: &[u8], defined: &HashSet<Vec<u8>>, area: Area) -> String {
    let mut names: Vec<&str> = defined.iter().filter_map(|name| std::str::from_utf8(name).ok()).collect();
    names.extend(crate::catalog::nginx::variables().iter().filter(|v| v.area == area && !v.family).map(|v| v.name));
    names.sort_unstable();
    match crate::suggest::nearest(&text(name), names) {
        Some(near) => format!("; did you mean `${near}`?"),
        None => String::new(),
    }
}

/// Names that directives of the configuration give, in small letters.
fn defined(model: &Model, area: Area) -> HashSet<Vec<u8>> {
    let mut defined = HashSet::default();
    let mut add = |word: Option<Word<'_>>| {
        if let Some(name) = word.and_then(|word| word.value().strip_prefix(b"$")) {
            defined.insert(name.to_ascii_lowercase());
        }
    };
    for name in ["map", "geo", "split_clients"] {
        model.named(name).filter(|node| node.context().area() == area).for_each(|node| add(node.args().last()));
    }
    for name in ["set", "auth_request_set", "perl_set", "js_set", "js_var", "set_by_lua"] {
        model.named(name).for_each(|node| add(node.arg(0)));
    }
    model.named("keyval").for_each(|node| add(node.arg(1)));
    defined
}

/// Names of groups of regular expressions, in small letters.
fn captured(model: &Model) -> HashSet<Vec<u8>> {
    let words = model.nodes().flat_map(Node::words).map(Word::value);
    words.flat_map(regex::groups).map(<[u8]>::to_ascii_lowercase).collect()
}

/// Every variable that nginx looks up by name while it reads the file.
fn uses(model: &Model, area: Area) -> impl Iterator<Item = (Node<'_>, Word<'_>, &[u8])> {
    let words = model.nodes().flat_map(|node| node.args().enumerate().map(move |(i, word)| (node, i, word)));
    let words = words.filter(|(_, _, word)| word.value().contains(&b'$'));
    let words = words.filter(move |(node, ..)| in_area(*node, area));
    let words = words.filter(|(node, i, word)| holds_variables(*node, *i, *word));
    words.flat_map(|(node, _, word)| names(word.value()).map(move |name| (node, word, name)))
}

fn in_area(node: Node<'_>, area: Area) -> bool {
    let context = node.context();
    // Entries of a map are of no area themselves.
    context.area() == area || context.holds_entries() && node.ancestors().any(|outer| outer.context().area() == area)
}
