//! The default report: miette's drawing of the places, then what to do.

use std::fmt;
use std::io::{self, Write};

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode, ThemeCharacters};
use rayon::prelude::*;
use textwrap::{WordSplitter, wrap};

use super::excerpt::{Excerpt, Mark};
use super::{Look, help_url, plain};
use crate::finding::{Finding, Label, Severity};
use crate::fix::{Fix, Safety};
use crate::lint::rounds::Reason;
use crate::session::{Found, Outcome};

pub(super) fn write(outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    for findings in outcome.findings.chunks(AT_ONCE) {
        let drawn = findings.par_iter().with_min_len(16).map(|found| {
            let mut text = String::new();
            draw(found, look, &mut text).expect("a String takes everything");
            text
        });
        for text in drawn.collect::<Vec<String>>() {
            writeln!(out, "{text}")?;
        }
    }
    Ok(())
}

/// Findings that are drawn before the first of them is written.
const AT_ONCE: usize = 1024;

fn draw(found: &Found, look: Look<'_>, out: &mut String) -> fmt::Result {
    let shown = &found.finding.labels[..found.finding.labels.len().min(MOST_LABELS)];
    let excerpt = Excerpt::new(found, shown, look.base);
    let drawing = Drawing { finding: &found.finding, labels: labels(shown, &excerpt, look.width), excerpt };
    GraphicalReportHandler::new_themed(theme(&drawing, look))
        .with_width(look.width)
        .with_break_words(false)
        .with_word_splitter(WordSplitter::NoHyphenation)
        .with_word_separator(textwrap::WordSeparator::AsciiSpace)
        .with_urls(look.links)
        .with_link_display_text("")
        .without_syntax_highlighting()
        .render_report(out, &drawing)?;
    for (head, text) in advice(found) {
        paragraph(out, head, &text, look);
    }
    Ok(())
}

/// More related places than this are counted, not drawn.
const MOST_LABELS: usize = 6;

/// What stands below the drawing: a short head and its text.
pub(super) fn advice(found: &Found) -> Vec<(&'static str, String)> {
    let finding = &found.finding;
    let mut lines = Vec::new();
    if let Some(more @ 1..) = finding.labels.len().checked_sub(MOST_LABELS) {
        lines.push(("and", format!("{more} more such places; --format json names all")));
    }
    if let Some(note) = &finding.note {
        lines.push(("note", note.clone()));
    }
    if let Some(fix) = found.fix() {
        let held_back = found.held_back.get(&0);
        lines.push(("fix", describe(fix, held_back.is_none_or(Reason::is_choice))));
        match held_back {
            // It names the changes where they are the reason.
            Some(reason) => lines.push(("held back", reason.to_string())),
            None => lines.extend(fix.changes.iter().map(|change| ("also changes", change.clone()))),
        }
    }
    if help_url(&finding.rule).is_some() {
        lines.push(("more", format!("proxylint explain {}", finding.rule)));
    }
    lines
}

/// A fix, and what applies it, if anything does.
fn describe(fix: &Fix, can_be_applied: bool) -> String {
    let (safety, how) = match fix.safety {
        Safety::Safe => ("safe", ": --fix"),
        Safety::Unsafe => ("unsafe", ": --fix --unsafe-fixes"),
    };
    format!("{} ({safety}{})", fix.title, if can_be_applied { how } else { "" })
}

fn paragraph(out: &mut String, head: &str, text: &str, look: Look<'_>) {
    use std::fmt::Write as _;
    let indent = " ".repeat(head.len() + 4);
    let options = prose(look.width.saturating_sub(indent.len()));
    let style = look.head();
    let text = plain::line(text);
    for (number, line) in wrap(&text, options).iter().enumerate() {
        let done = if number == 0 {
            writeln!(out, "  {style}{head}:{style:#} {line}")
        } else {
            writeln!(out, "{indent}{line}")
        };
        done.expect("a String takes everything");
    }
}

/// One finding as miette draws it.
struct Drawing<'a> {
    finding: &'a Finding,
    labels: Vec<LabeledSpan>,
    excerpt: Excerpt,
}

/// The finding's place without words (the message says what is wrong), then the related places.
fn labels(labels: &[Label], excerpt: &Excerpt, width: usize) -> Vec<LabeledSpan> {
    let words = std::iter::once(None).chain(labels.iter().map(|label| Some(&label.message)));
    let labels = excerpt.marks().iter().zip(words).enumerate();
    labels
        .map(|(index, (mark, words))| {
            let words = words.map(|words| wrap(&plain::line(words), prose(room(mark, width))).join("\n"));
            let span = (mark.start, mark.len);
            if index == 0 {
                LabeledSpan::new_primary_with_span(words, span)
            } else {
                LabeledSpan::new_with_span(words, span)
            }
        })
        .collect()
}

/// What miette draws in front of the words of a label, besides the line itself: number, bar, arrow.
const GUTTER: usize = 12;

/// Columns that are left for the words of a label.
fn room(mark: &Mark, width: usize) -> usize {
    width.saturating_sub(GUTTER + mark.column() + mark.len / 2).max(LEAST_ROOM)
}

/// Narrower words are hard to read: rather too wide than that.
const LEAST_ROOM: usize = 30;

/// How prose is wrapped: between words, names of rules and directives left whole.
fn prose(width: usize) -> textwrap::Options<'static> {
    textwrap::Options::new(width)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
}

/// miette gives colours to the places in the order of the text: the finding's own gets that of
/// its severity, related ones another.
fn theme(drawing: &Drawing<'_>, look: Look<'_>) -> GraphicalTheme {
    let characters = if look.ascii { ThemeCharacters::ascii() } else { ThemeCharacters::unicode() };
    if !look.color {
        return GraphicalTheme { characters, ..GraphicalTheme::none() };
    }
    let mut theme = GraphicalTheme { characters, ..GraphicalTheme::unicode() };
    let own = match drawing.finding.severity {
        Severity::Error => theme.styles.error,
        Severity::Warning => theme.styles.warning,
        Severity::Info => theme.styles.advice,
    };
    let related = if own == theme.styles.help { theme.styles.linum } else { theme.styles.help };
    let mut order: Vec<&LabeledSpan> = drawing.labels.iter().collect();
    order.sort_by_key(|label| label.offset());
    theme.styles.highlights = order.iter().map(|label| if label.primary() { own } else { related }).collect();
    theme
}

impl fmt::Display for Drawing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plain::line(&self.finding.message))
    }
}

impl fmt::Debug for Drawing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Drawing<'_> {}

impl Diagnostic for Drawing<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(format!("{}[{}]", self.finding.severity.as_str(), plain::line(&self.finding.rule))))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.finding.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Info => miette::Severity::Advice,
        })
    }

    fn url<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        help_url(&self.finding.rule).map(|url| Box::new(url) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}
