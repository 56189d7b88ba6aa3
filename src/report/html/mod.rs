//! One page for an audit: nothing to load, nothing to install, filters that work from a file.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::item::{Item, items};
use super::place::Naming;
use super::{Look, diff, plain, snippet, statistics, summary};
use crate::finding::Severity;
use crate::session::Outcome;
use crate::source::Span;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// Nothing is loaded, whatever a configuration holds.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

pub(super) fn write(outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let title = escaped(&format!("proxylint: {}", summary::found(outcome)));
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"proxylint {}\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#findings\">Skip to the findings</a>\n<header>\n<h1>{title}</h1>\n<p class=\"soft\">{}</p>\n</header>\n<main>\n",
        env!("CARGO_PKG_VERSION"),
        prose(&summary::checked(outcome)),
    )?;
    gaps(outcome, look, out)?;
    rules(outcome, out)?;
    writeln!(out, "<section aria-labelledby=\"findings\">\n<h2 id=\"findings\" tabindex=\"-1\">Findings</h2>")?;
    form(outcome, out)?;
    if outcome.findings.is_empty() {
        writeln!(out, "<p>None.</p>")?;
    }
    for (index, item) in items(outcome, look, Naming::Opened).enumerate() {
        article(index + 1, &item, look, out)?;
    }
    writeln!(out, "</section>\n</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>")
}

fn gaps(outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let lines = summary::gaps(outcome, look);
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "<section aria-labelledby=\"gaps\">\n<h2 id=\"gaps\">Not checked</h2>\n<ul>")?;
    lines.iter().try_for_each(|line| writeln!(out, "<li>{}</li>", prose(line)))?;
    writeln!(out, "</ul>\n</section>")
}

fn rules(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let rows = statistics::rows(outcome);
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<section aria-labelledby=\"rules\">\n<h2 id=\"rules\">Rules</h2>\n<table>\n<thead><tr><th scope=\"col\" class=\"count\">Findings</th>\
         <th scope=\"col\">Severity</th><th scope=\"col\">Rule</th><th scope=\"col\">What is wrong</th></tr></thead>\n<tbody>"
    )?;
    for row in rows {
        let (rule, severity) = (escaped(&plain::line(&row.rule)), row.severity.as_str());
        writeln!(
            out,
            "<tr><td class=\"count\">{}</td><td class=\"severity {severity}\">{severity}</td><td><a href=\"#findings\" data-rule=\"{rule}\">{rule}</a></td><td>{}</td></tr>",
            row.count,
            prose(&row.summary)
        )?;
    }
    writeln!(out, "</tbody>\n</table>\n</section>")
}

/// The filters, which the script shows.
fn form(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let mut severities: BTreeMap<Severity, usize> = BTreeMap::new();
    outcome.findings.iter().for_each(|found| *severities.entry(found.finding.severity).or_default() += 1);
    writeln!(out, "<form id=\"filter\" hidden>\n<fieldset><legend>Severity</legend>")?;
    for (severity, count) in severities.iter().rev() {
        let severity = severity.as_str();
        writeln!(
            out,
            "<label><input type=\"checkbox\" name=\"severity\" value=\"{severity}\" checked> {severity} ({count})</label>"
        )?;
    }
    writeln!(out, "</fieldset>\n<label>Rule <select name=\"rule\"><option value=\"\">all</option>")?;
    let mut rules: Vec<&str> = outcome.findings.iter().map(|found| found.finding.rule.as_ref()).collect();
    rules.sort_unstable();
    rules.dedup();
    rules.iter().try_for_each(|rule| writeln!(out, "<option>{}</option>", escaped(&plain::line(rule))))?;
    writeln!(
        out,
        "</select></label>\n<label>Text <input type=\"search\" name=\"text\"></label>\n<button type=\"reset\">Show all</button>\n\
         <output id=\"shown\" class=\"soft\" aria-live=\"polite\"></output>\n</form>"
    )
}

fn article(number: usize, item: &Item<'_>, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (severity, rule) = (item.severity.as_str(), escaped(&item.rule));
    writeln!(
        out,
        "<article id=\"f{number}\" aria-labelledby=\"t{number}\" class=\"{severity}\" data-severity=\"{severity}\" data-rule=\"{rule}\">\n\
         <h3 id=\"t{number}\"><span class=\"severity {severity}\">{severity}</span>: {}</h3>\n<p><a class=\"place\" href=\"#f{number}\">{}</a> · {}</p>",
        prose(&item.message),
        escaped(&item.place()),
        match &item.help {
            Some(address) => format!("<a href=\"{}\">{rule}</a>", escaped(address)),
            None => rule.clone(),
        },
    )?;
    code(item, item.found.finding.span, "code of the finding", out)?;
    for label in item.found.finding.labels.iter().take(MOST_LABELS) {
        let place = item.place_of(label.span, look);
        writeln!(
            out,
            "<p><span class=\"place\">{}</span>: {}</p>",
            escaped(&place),
            prose(&plain::line(&label.message))
        )?;
        code(item, label.span, &format!("code at {place}"), out)?;
    }
    let advice = item.advice();
    if !advice.is_empty() {
        writeln!(out, "<ul>")?;
        advice.iter().try_for_each(|line| writeln!(out, "<li>{}</li>", prose(line)))?;
        writeln!(out, "</ul>")?;
    }
    patch(item, look, out)?;
    writeln!(out, "</article>")
}

/// More related places are left out.
const MOST_LABELS: usize = 6;

fn code(item: &Item<'_>, span: Span, name: &str, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<pre tabindex=\"0\" role=\"region\" aria-label=\"{}\">", escaped(name))?;
    for line in snippet::lines(item.found.file(span), span) {
        let class = if line.hit && line.marked.is_empty() { " class=\"empty\"" } else { "" };
        let mark = if line.hit { format!("<mark{class}>{}</mark>", escaped(&line.marked)) } else { String::new() };
        let (before, after) = (escaped(&line.before), escaped(&line.after));
        write!(out, "<span class=\"line\"><span class=\"number\">{}</span>{before}{mark}{after}</span>", line.number)?;
    }
    writeln!(out, "</pre>")
}

fn patch(item: &Item<'_>, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(fix) = item.found.fix() else { return Ok(()) };
    writeln!(out, "<details>\n<summary>What the {} fix changes</summary>", fix.safety.as_str())?;
    for file in diff::changes(item.found, fix, look) {
        let path = escaped(&file.path);
        write!(
            out,
            "<p class=\"place\">{path}</p>\n<pre tabindex=\"0\" role=\"region\" aria-label=\"patch of {path}\">"
        )?;
        for line in &file.lines {
            let class = match line.as_bytes().first() {
                Some(b'+') => "line new",
                Some(b'-') => "line old",
                Some(b'@') => "line hunk",
                _ => "line",
            };
            write!(out, "<span class=\"{class}\">{}</span>", escaped(line))?;
        }
        writeln!(out, "</pre>")?;
    }
    writeln!(out, "</details>")
}

/// Text in which backquotes show code.
fn prose(text: &str) -> String {
    let paired = text.matches('`').count().is_multiple_of(2);
    if !paired {
        return escaped(text);
    }
    let parts = text.split('`').enumerate();
    let part = |(index, part): (usize, &str)| match index % 2 {
        1 => format!("<code>{}</code>", escaped(part)),
        _ => escaped(part),
    };
    parts.map(part).collect()
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(prose("`<a>` & 'b'"), "<code>&lt;a&gt;</code> &amp; &#39;b&#39;");
        assert_eq!(prose("odd ` <b>"), "odd ` &lt;b&gt;");
    }
}
