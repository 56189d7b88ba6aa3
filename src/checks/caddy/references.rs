//! Names that are used and nobody defines, and names that are defined and nobody uses.

use foldhash::HashSet;

use super::refused;
use crate::checks::{Check, Cx, Run};
use crate::model::caddy::accept::Cause;
use crate::model::{Model, Node, Word};
use crate::syntax::tree::{Body, ChainId, Origin};

/// Matchers, snippets, named routes and arguments; the parameter `kind` says what of them.
pub static CHECK: Check = Check { name: "caddy/references", run: Run::Model(run) };

fn run(cx: &mut Cx<'_>) {
    match cx.params.text("kind") {
        Some("undefined") => refused::report(cx, Cause::Reference),
        // Uses may stand in what cannot be read.
        Some("unused") if cx.model.problems().is_empty() => {
            unused_matchers(cx);
            unused_snippets(cx);
            unused_routes(cx);
        }
        Some("argument") => missing_arguments(cx),
        _ => {}
    }
}

/// Matchers that nothing in their block names.
fn unused_matchers(cx: &mut Cx<'_>) {
    let model = cx.model;
    let uses: HashSet<&[u8]> = model.nodes().flat_map(named_matchers).collect();
    for node in model.nodes().filter(|node| node.name().starts_with(b"@") && node.parent().is_some()) {
        let Some(word) = node.words().next().filter(|word| is_of_main(model, *word)) else { continue };
        if !uses.contains(word.value()) {
            let message = format!("nothing uses the matcher `{}`", word.text());
            cx.report(node, word.span(), message);
        }
    }
}

/// The words of a line that may name a matcher: all that begin with `@` but the name of the line, and
/// any that hold one.
fn named_matchers<'m>(node: Node<'m>) -> impl Iterator<Item = &'m [u8]> {
    node.args().flat_map(|word| {
        let value = word.value();
        let starts = memchr::memchr_iter(b'@', value).map(move |at| &value[at..]);
        starts.map(|rest| {
            let end = rest[1..].iter().position(|byte| !is_name_byte(*byte)).map_or(rest.len(), |end| end + 1);
            &rest[..end]
        })
    })
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii() || matches!(byte, b'_' | b'-' | b'.' | b'/')
}

/// Whether a word stands in the main file itself and not in what snippets and other files bring: those may be
/// there for others.
fn is_of_main(model: &Model, word: Word<'_>) -> bool {
    word.origin() == Origin::Written && word.chain_id() == ChainId::default() && word.span().file == model.main()
}

/// Snippets of the main file that no `import` names.
fn unused_snippets(cx: &mut Cx<'_>) {
    let model = cx.model;
    if model.caddy().sites().is_empty() || has_unknown_import(model) {
        return;
    }
    let used: HashSet<&[u8]> = model.named("import").filter_map(|node| node.value(0)).collect();
    let bodies: Vec<&[u8]> =
        model.roots().filter(|node| snippet_name(*node).is_some()).map(|node| model.text(node.span())).collect();
    for node in model.roots() {
        let Some(name) = snippet_name(node).filter(|name| !used.contains(name)) else { continue };
        let word = node.words().next().filter(|word| is_of_main(model, *word));
        // Snippets that nobody imports are not read; those named in one are left to it.
        if let Some(word) = word.filter(|_| !bodies.iter().any(|body| imports(body, name))) {
            cx.report(node, word.span(), format!("nothing imports the snippet `{}`", word.text()));
        }
    }
}

fn has_unknown_import(model: &Model) -> bool {
    model.named("import").any(|node| node.arg(0).is_some_and(|word| word.origin() == Origin::Unknown))
}

fn snippet_name<'m>(node: Node<'m>) -> Option<&'m [u8]> {
    let is_raw = matches!(node.body(), Body::Raw { .. });
    node.name().strip_prefix(b"(")?.strip_suffix(b")").filter(|_| is_raw)
}

/// Whether a text has the word `import` with that name behind it.
fn imports(text: &[u8], name: &[u8]) -> bool {
    let words: Vec<&[u8]> = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    words.windows(2).any(|pair| pair[0] == b"import" && pair[1] == name)
}

/// Named routes that no `invoke` names.
fn unused_routes(cx: &mut Cx<'_>) {
    let model = cx.model;
    if model.caddy().sites().is_empty() {
        return;
    }
    let used: HashSet<&[u8]> = model.named("invoke").filter_map(|node| node.args().last()).map(Word::value).collect();
    for node in model.roots() {
        let Some(name) = node.name().strip_prefix(b"&(").and_then(|name| name.strip_suffix(b")")) else { continue };
        let word = node.words().next().filter(|word| is_of_main(model, *word));
        if let Some(word) = word.filter(|_| !used.contains(name)) {
            cx.report(node, word.span(), format!("nothing invokes the named route `{}`", word.text()));
        }
    }
}

/// `{args[N]}` that an import gives no argument for.
fn missing_arguments(cx: &mut Cx<'_>) {
    let model = cx.model;
    for node in model.nodes().filter(|node| node.chain_id() != ChainId::default()) {
        for word in node.words().filter(|word| word.chain_id() != ChainId::default()) {
            if let Some(placeholder) = argument(word.value()) {
                let shown = String::from_utf8_lossy(placeholder);
                let message =
                    format!("the import gives no argument for `{shown}`: the text stays as it is, braces and all");
                cx.report(node, word.span(), message);
            }
        }
    }
}

/// The first `{args[N]}` or `{args.N}` of a text.
fn argument(text: &[u8]) -> Option<&[u8]> {
    let start = memchr::memmem::find(text, b"{args")?;
    let rest = &text[start..];
    let end = memchr::memchr(b'}', rest)?;
    let key = &rest[b"{args".len()..end];
    let index = key.strip_prefix(b".").or_else(|| key.strip_prefix(b"[")?.strip_suffix(b"]"))?;
    (!index.is_empty() && index.iter().all(u8::is_ascii_digit)).then_some(&rest[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_of_arguments() {
        assert_eq!(argument(b"x{args[1]}y"), Some(&b"{args[1]}"[..]));
        assert_eq!(argument(b"{args.0}"), Some(&b"{args.0}"[..]));
        for text in ["{args[:]}", "{args}", "{argsx}", "{host}", "{args[1]"] {
            assert_eq!(argument(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn imports_in_text() {
        assert!(imports(b"{\n\timport a\n}", b"a") && !imports(b"{ import ab }", b"a"));
    }
}
