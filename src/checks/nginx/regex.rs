//! Regular expressions in a configuration, and what PCRE says of them.

use crate::catalog::nginx::{Area, Context};
use crate::checks::{Check, Cx, Run};
use crate::model::nginx::expressions::is_fixed;
use crate::model::{Model, Node, Word};

/// Faults of regular expressions; the parameter `fault` says which.
pub static CHECK: Check = Check { name: "nginx/regex", run: Run::Model(report) };

fn report(cx: &mut Cx<'_>) {
    if cx.params.text("fault") != Some("invalid-regex") {
        return;
    }
    for pattern in patterns(cx.model) {
        if let Err(error) = engine::check(pattern.text, pattern.caseless) {
            let shown = String::from_utf8_lossy(pattern.text);
            let message = format!("PCRE does not take `{shown}`: {error}; nginx refuses the file");
            cx.report(pattern.node, pattern.word.span(), message);
        } else if pattern.node.is("fastcgi_split_path_info")
            && engine::groups(pattern.text).is_some_and(|count| count != 2)
        {
            let message = "`fastcgi_split_path_info` takes an expression with two groups, the script and the rest: nginx refuses the file";
            cx.report(pattern.node, pattern.word.span(), message);
        } else if let Some(name) = groups(pattern.text).find(|name| is_fixed(name, Area::Http, cx.target)) {
            let name = String::from_utf8_lossy(name);
            let message =
                format!("the group `{name}` would set nginx's own variable `${name}`: nginx refuses the file");
            cx.report(pattern.node, pattern.word.span(), message);
        }
    }
}

/// The names of groups: `(?<name>…)`, `(?P<name>…)`, `(?'name'…)`.
pub(super) fn groups(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    memchr::memchr_iter(b'?', text).filter(|&at| at > 0 && text[at - 1] == b'(').filter_map(|at| {
        let rest = &text[at + 1..];
        let rest = rest.strip_prefix(b"P").unwrap_or(rest);
        let (_, name) = rest.split_first().filter(|(open, _)| matches!(open, b'<' | b'\''))?;
        let end = name.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        (end > 0).then_some(&name[..end])
    })
}

/// A regular expression with its place.
pub(crate) struct Pattern<'m> {
    /// The directive that it is an argument of.
    pub(crate) node: Node<'m>,
    /// The argument.
    pub(crate) word: Word<'m>,
    /// The expression without the marker in front of it.
    pub(crate) text: &'m [u8],
    /// Whether case does not count.
    pub(crate) caseless: bool,
}

/// Every regular expression of a model.
pub(crate) fn patterns(model: &Model) -> impl Iterator<Item = Pattern<'_>> {
    model.nodes().flat_map(in_line)
}

fn in_line(node: Node<'_>) -> Vec<Pattern<'_>> {
    let context = node.context();
    if context == Context::Map {
        return node.words().next().and_then(|word| marked(node, word)).into_iter().collect();
    }
    if context.area() != Area::Http && !(context == Context::StreamServer && node.is("server_name")) {
        return Vec::new();
    }
    match node.name() {
        b"location" => location(node).into_iter().collect(),
        b"server_name" | b"valid_referers" => node.args().filter_map(|word| marked(node, word)).collect(),
        b"rewrite" | b"fastcgi_split_path_info" => {
            node.arg(0).map(|word| Pattern { node, word, text: word.value(), caseless: false }).into_iter().collect()
        }
        b"if" => condition(node).into_iter().collect(),
        b"proxy_redirect" | b"proxy_cookie_path" | b"proxy_cookie_domain" => {
            node.arg(0).and_then(|word| marked(node, word)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// `~pattern` or `~*pattern` in one word.
fn marked<'m>(node: Node<'m>, word: Word<'m>) -> Option<Pattern<'m>> {
    let rest = word.value().strip_prefix(b"~")?;
    let text = rest.strip_prefix(b"*").filter(|_| !node.is("server_name"));
    Some(Pattern { node, word, text: text.unwrap_or(rest), caseless: text.is_some() })
}

fn location(node: Node<'_>) -> Option<Pattern<'_>> {
    let matcher = super::location::Matcher::of(node)?;
    let super::location::Kind::Regex { case } = matcher.kind else { return None };
    Some(Pattern { node, word: node.args().last()?, text: matcher.path, caseless: !case })
}

/// The right side of `~` in an `if`, without the closing parenthesis.
fn condition(node: Node<'_>) -> Option<Pattern<'_>> {
    let words: Vec<Word<'_>> = node.args().collect();
    let at = words.iter().position(|word| matches!(word.value(), b"~" | b"~*" | b"!~" | b"!~*"))?;
    let word = *words.get(at + 1)?;
    let text =
        if at + 2 == words.len() { word.value().strip_suffix(b")").unwrap_or(word.value()) } else { word.value() };
    Some(Pattern { node, word, text, caseless: words[at].value().ends_with(b"*") })
}

/// The engine that nginx uses. Without the feature `pcre2` nothing is refused.
mod engine {
    /// What PCRE refuses, in its words, where PCRE 1 and 2 agree.
    #[cfg(feature = "pcre2")]
    pub(super) fn check(pattern: &[u8], caseless: bool) -> Result<(), String> {
        use pcre2::bytes::RegexBuilder;
        /// Errors that both generations of PCRE report; others may be a construct that only one of them knows.
        const COMMON: [i32; 12] = [101, 104, 105, 106, 108, 109, 114, 115, 122, 128, 143, 144];
        let Ok(text) = std::str::from_utf8(pattern) else { return Ok(()) };
        match RegexBuilder::new().caseless(caseless).build(text) {
            Err(error) if COMMON.contains(&error.code()) => {
                let words = error.to_string();
                Err(words.rsplit(": ").next().unwrap_or(&words).to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The number of groups of an expression, where it can be told.
    #[cfg(feature = "pcre2")]
    pub(super) fn groups(pattern: &[u8]) -> Option<usize> {
        let text = std::str::from_utf8(pattern).ok()?;
        pcre2::bytes::RegexBuilder::new().build(text).ok().map(|regex| regex.captures_len() - 1)
    }

    #[cfg(not(feature = "pcre2"))]
    pub(super) fn groups(_: &[u8]) -> Option<usize> {
        None
    }

    #[cfg(not(feature = "pcre2"))]
    pub(super) fn check(_: &[u8], _: bool) -> Result<(), String> {
        Ok(())
    }
}
