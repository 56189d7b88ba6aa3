//! Markdown for a comment on a pull request, or for the summary of a job.

use std::io::{self, Write};

use pulldown_cmark::{Event, Parser};

use super::item::{Item, items};
use super::place::Naming;
use super::{Look, diff, plain, snippet, summary};
use crate::session::Outcome;
use crate::version::Server;

/// GitHub takes comments of 65,536 characters. Findings that no longer fit are counted.
const MOST_BYTES: usize = 60_000;
/// Of one finding; a longer one is shown without its code and patch.
const MOST_OF_ONE: usize = 12_000;

pub(super) fn write(outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut text = format!("## proxylint: {}\n\n{}\n", summary::found(outcome), escaped(&summary::checked(outcome)));
    for line in summary::gaps(outcome, look) {
        text.push_str(&format!("\n- {}", escaped(&line)));
    }
    let mut left = outcome.findings.len();
    for item in items(outcome, look, Naming::Opened) {
        let section = section(&item, look);
        if text.len() + section.len() > MOST_BYTES {
            break;
        }
        text.push_str(&section);
        left -= 1;
    }
    if left > 0 {
        text.push_str(&format!("\nAnd {left} more, which do not fit into a comment.\n"));
    }
    writeln!(out, "{}", text.trim_end())
}

fn section(item: &Item<'_>, look: Look<'_>) -> String {
    let rule = match &item.help {
        Some(address) => format!("[{}]({address})", escaped(&item.rule)),
        None => code(&item.rule),
    };
    let mut text = format!("\n### {}: {}\n\n", item.severity.as_str(), code(&item.place()));
    text.push_str(&format!("{} ({rule})\n", escaped(&item.message)));
    for label in item.found.finding.labels.iter().take(MOST_RELATED) {
        text.push_str(&format!(
            "- {}: {}\n",
            code(&item.place_of(label.span, look)),
            escaped(&plain::line(&label.message))
        ));
    }
    for line in item.advice() {
        text.push_str(&format!("- {}\n", escaped(&line)));
    }
    let shown = shown(item, look);
    if shown.len() <= MOST_OF_ONE {
        text.push_str(&shown);
    }
    text
}

/// More related places are left out.
const MOST_RELATED: usize = 6;

/// The patch, or the code where there is none.
fn shown(item: &Item<'_>, look: Look<'_>) -> String {
    let Some(fix) = item.found.fix() else {
        let language = if item.found.server == Server::Nginx { "nginx" } else { "caddyfile" };
        let lines = snippet::lines(item.found.file(item.found.finding.span), item.found.finding.span);
        let lines = lines.iter().map(|line| {
            let mark = if line.hit { '>' } else { ' ' };
            format!("{mark} {:4} | {}", line.number, line.text())
        });
        return format!("\n{}", fence(language, &lines.collect::<Vec<_>>().join("\n")));
    };
    let files = diff::changes(item.found, fix, look);
    let texts = files.iter().map(|file| format!("--- {0}\n+++ {0}\n{1}", file.path, file.lines.join("\n")));
    let patch = fence("diff", &texts.collect::<Vec<_>>().join("\n"));
    format!("\n<details><summary>{} fix</summary>\n\n{patch}\n</details>\n", fix.safety.as_str())
}

/// A block of code whose fence is longer than any in it.
fn fence(language: &str, text: &str) -> String {
    let marks = "`".repeat(longest_run(text).max(2) + 1);
    format!("{marks}{language}\n{text}\n{marks}\n")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Text in a code span.
fn code(text: &str) -> String {
    let marks = "`".repeat(longest_run(text) + 1);
    if text.starts_with('`') || text.ends_with('`') {
        format!("{marks} {text} {marks}")
    } else {
        format!("{marks}{text}{marks}")
    }
}

/// A message in which only backquotes mean something: what is in them comes from a file, and
/// nothing that a file holds becomes a link, an image, HTML, or calls somebody.
pub(super) fn escaped(message: &str) -> String {
    let parts: Vec<&str> = message.split('`').collect();
    let is_code = |index: usize| index % 2 == 1;
    let paired = is_code(parts.len()) && parts.iter().skip(1).step_by(2).all(|part| !part.is_empty());
    if !paired {
        // Which of them are ours cannot be told.
        return literal(message);
    }
    let parts = parts.into_iter().enumerate();
    parts.map(|(index, part)| if is_code(index) { code(part) } else { literal(part) }).collect()
}

fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // Forges look for names and numbers in the finished text.
            '@' | '#' => out.extend([c, '\u{200b}']),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '|' | '~' | '!' | '&' | '$' => {
                out.extend(['\\', c]);
            }
            _ => out.push(c),
        }
    }
    // Addresses become links by themselves.
    out.replace("://", ":\\//").replace("www.", "www\\.")
}

/// The text of inline Markdown without its marks.
pub(super) fn plain(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    for event in Parser::new(markdown) {
        match event {
            Event::Text(text) => out.push_str(&text),
            Event::Code(text) => {
                out.push('`');
                out.push_str(&text);
                out.push('`');
            }
            Event::SoftBreak | Event::HardBreak => out.push(' '),
            _ => {}
        }
    }
    out
}

/// The page of a rule without its definition.
pub(super) fn page(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line == "```toml rule" {
            lines.by_ref().take_while(|line| !line.starts_with("```")).for_each(drop);
            // The empty line behind it.
            lines.next();
            continue;
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_message_is_markdown_but_its_code() {
        assert_eq!(escaped("`a_b` is *bad*"), "`a_b` is \\*bad\\*");
        let hostile = escaped("`x` ![i](http://e/) @all <b> ``` | #1");
        assert_eq!(hostile, "\\`x\\` \\!\\[i\\](http:\\//e/) @\u{200b}all \\<b\\> \\`\\`\\` \\| #\u{200b}1");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(fence("x", "````"), "`````x\n````\n`````\n");
    }

    #[test]
    fn a_page_loses_its_definition_alone() {
        assert_eq!(
            page("# a\n\nb\n\n```toml rule\nx = 1\n```\n\n## Why\n\n```nginx\ny\n```\n"),
            "# a\n\nb\n\n## Why\n\n```nginx\ny\n```\n"
        );
        assert_eq!(plain("`a` *b*\n[c](d)"), "`a` b c");
    }
}
