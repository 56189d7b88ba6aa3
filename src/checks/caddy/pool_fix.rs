//! Writing `keepalive_idle_conns_per_host` into whatever stands there.

use crate::fix::{Edit, Fix};
use crate::model::caddy::options::Setting;
use crate::model::caddy::pool::{DEFAULT, OPTION_SINCE, OWN_DEFAULTS};
use crate::model::caddy::proxy::{Proxy, Transport};
use crate::model::{Model, Node};
use crate::source::{SourceFile, Span};
use crate::syntax::tree::{Body, Origin, Quote};
use crate::version::{Server, VersionSet};

/// The option's name.
pub(super) const OPTION: &str = "keepalive_idle_conns_per_host";

/// Keeps `number` idle connections for each address of a proxy; an error says why that cannot be
/// written.
pub(super) fn keep(model: &Model, proxy: &Proxy, number: u32, target: &VersionSet) -> Result<Fix, String> {
    let Transport::Http(written) = &proxy.transport else { return Err("its transport is not Caddy's own".to_owned()) };
    let mut lines = vec![format!("{OPTION} {number}")];
    // Below 2.11.0 any of these options replaces all of their defaults, the idle time among them.
    if !written.has_another_option() && written.per_host.is_none() && has_older(target) {
        lines.push("keepalive 2m".to_owned());
    }
    let edits = match proxy.transport_settings(model) {
        Some((transport, settings)) => match settings.iter().rfind(|setting| setting.is(OPTION)) {
            Some(option) => vec![replace_number(option, number)?],
            None => add_lines(transport.line, &lines)?,
        },
        None => {
            let node = model.node(proxy.node);
            add_lines(node, &block("transport http", &lines, &unit(node)))?
        }
    };
    let title = if number == DEFAULT {
        format!("keep {number} idle connections to each backend again")
    } else {
        format!("keep {number} idle connections to each backend")
    };
    Ok(Fix::safe(title, edits).needs(VersionSet::since(OPTION_SINCE)))
}

fn has_older(target: &VersionSet) -> bool {
    target.members(Server::Caddy).any(|version| version < OWN_DEFAULTS)
}

/// Replaces the number of an option.
pub(super) fn replace_number(option: &Setting<'_>, number: u32) -> Result<Edit, String> {
    match option.args.first() {
        Some(word) if word.origin() == Origin::Written && word.quote() != Quote::Heredoc => {
            Ok(Edit::replace(word.span(), number.to_string()))
        }
        _ => Err("its value comes from an argument or the environment: raise it there".to_owned()),
    }
}

/// A directive with a block, line by line.
fn block(head: &str, inside: &[String], unit: &str) -> Vec<String> {
    let inside = inside.iter().map(|line| format!("{unit}{line}"));
    std::iter::once(format!("{head} {{")).chain(inside).chain(["}".to_owned()]).collect()
}

/// Adds lines to the block of a directive, which gets one if it has none.
pub(super) fn add_lines(node: Node<'_>, lines: &[String]) -> Result<Vec<Edit>, String> {
    let model = node.model();
    let head = node.head();
    let file = model.file(head);
    match node.body() {
        Body::Block { open, close } => {
            if open.file != head.file || close.file != head.file || open.is_empty() || close.is_empty() {
                return Err("its block does not open and close in one file".to_owned());
            }
            let inner = inner_indent(node).unwrap_or_else(|| format!("{}{}", indent(file, head), unit(node)));
            Ok(vec![before_close(file, open, close, &inner, lines)])
        }
        Body::None { .. } => {
            let last = node.words().next_back().map_or(head, crate::model::Word::span);
            let rest = file.bytes()[last.end as usize..end_of_line(file, last).end as usize].trim_ascii();
            if !(rest.is_empty() || rest.starts_with(b"#")) {
                return Err("something else stands behind it on its line".to_owned());
            }
            let outer = indent(file, head);
            let inner = format!("{outer}{}", unit(node));
            let mut text = String::new();
            for line in lines {
                text.push_str(&format!("\n{inner}{line}"));
            }
            text.push_str(&format!("\n{outer}}}"));
            Ok(vec![Edit::insert_after(last, " {"), Edit::insert_after(end_of_line(file, last), text)])
        }
        Body::Raw { .. } => Err("its block is not read".to_owned()),
    }
}

/// Inserts lines in front of the brace that closes a block.
fn before_close(file: &SourceFile, open: Span, close: Span, inner: &str, lines: &[String]) -> Edit {
    let line = file.line_range(file.line_of(close.start));
    let before = &file.bytes()[line.start..close.start as usize];
    let joined: String = lines.iter().map(|line| format!("{inner}{line}\n")).collect();
    if before.iter().all(u8::is_ascii_whitespace) {
        let start = Span { start: line.start as u32, end: line.start as u32, ..close };
        return Edit::insert_before(start, joined);
    }
    let outer = indent(file, open);
    Edit::insert_before(close, format!("\n{joined}{outer}"))
}

/// The empty span at the end of the line that `span` ends on, in front of its line end.
fn end_of_line(file: &SourceFile, span: Span) -> Span {
    let end = file.line_range(file.line_of(span.end)).end.max(span.end as usize) as u32;
    Span { start: end, end, ..span }
}

/// The white space that the line of `span` begins with.
fn indent(file: &SourceFile, span: Span) -> String {
    let line = file.line_bytes(file.line_of(span.start));
    let length = line.iter().position(|b| !matches!(b, b' ' | b'\t')).unwrap_or(line.len());
    String::from_utf8_lossy(&line[..length]).into_owned()
}

/// The white space in front of the first line in a block, if it stands on a line of its own.
fn inner_indent(node: Node<'_>) -> Option<String> {
    let Body::Block { open, .. } = node.body() else { return None };
    let first = node.children().next()?.head();
    let file = node.model().file(open);
    let own_line = first.file == open.file && file.line_of(first.start) > file.line_of(open.start);
    own_line.then(|| indent(file, first))
}

/// By how much this file indents one level more: as around the directive, or a tab as `caddy fmt`.
fn unit(node: Node<'_>) -> String {
    let deeper = |outer: Node<'_>| {
        let inner = inner_indent(outer)?;
        let outer = indent(node.model().file(outer.head()), outer.head());
        inner.strip_prefix(outer.as_str()).filter(|unit| !unit.is_empty()).map(str::to_owned)
    };
    std::iter::once(node).chain(node.ancestors()).find_map(deeper).unwrap_or_else(|| "\t".to_owned())
}
