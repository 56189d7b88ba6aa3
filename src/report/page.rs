//! The page of a rule for a terminal: its Markdown without the machine's part, paragraphs wrapped.

use std::io::{self, Write};

use anstyle::Style;
use textwrap::{Options, WordSeparator, WordSplitter, wrap};

use super::{Look, plain, rules};
use crate::rule::{Mends, Rule};

/// Writes the page of a rule.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(rule: &Rule, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    head(rule, look, out)?;
    let mut page = Page { look, out, paragraph: String::new(), blank: true };
    let mut lines = rule.page.lines().skip_while(|line| !line.starts_with("# ")).skip(1);
    while let Some(line) = lines.next() {
        match line.strip_prefix("```") {
            Some("toml rule") => lines.by_ref().take_while(|line| !line.starts_with("```")).for_each(drop),
            Some(info) => page.fence(info, &mut lines)?,
            None => page.line(line)?,
        }
    }
    page.flush()
}

/// What the definition says, in two lines.
fn head(rule: &Rule, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (head, severity) = (look.style(Style::new().bold()), look.severity(rule.severity));
    writeln!(out, "{head}{}{head:#}", plain::line(&rule.id))?;
    let mends = match rule.mends {
        Mends::Never => "no fix",
        Mends::Safely => "safe fix",
        Mends::Unsafely => "unsafe fix",
        Mends::Both => "safe or unsafe fix",
    };
    let versions = match (&rule.versions, rule.server) {
        (Some(versions), Some(server)) => format!("{} · ", versions.words(server)),
        _ => String::new(),
    };
    writeln!(
        out,
        "{severity}{}{severity:#} · {} · {versions}{mends} · {} by default · since {}\n",
        rule.severity.as_str(),
        rule.category.as_str(),
        rules::default(rule.activation).replace("always", "on"),
        rule.since
    )
}

struct Page<'a> {
    look: Look<'a>,
    out: &'a mut dyn Write,
    /// Lines that are wrapped as one.
    paragraph: String,
    /// Whether the last line was empty.
    blank: bool,
}

impl Page<'_> {
    fn line(&mut self, line: &str) -> io::Result<()> {
        if line.trim().is_empty() {
            self.flush()?;
            return self.print("", Style::new());
        }
        if line.starts_with('#') {
            self.flush()?;
            return self.print(line.trim_start_matches('#').trim(), self.look.style(Style::new().bold()));
        }
        if line.starts_with('|') {
            self.flush()?;
            return self.print(line, Style::new());
        }
        if is_item(line) {
            self.flush()?;
        } else if !self.paragraph.is_empty() {
            self.paragraph.push(' ');
        }
        self.paragraph.push_str(if self.paragraph.is_empty() { line } else { line.trim() });
        Ok(())
    }

    /// A fence as an indented block under what it says of itself.
    fn fence<'l>(&mut self, info: &str, lines: &mut impl Iterator<Item = &'l str>) -> io::Result<()> {
        self.flush()?;
        if let Some((_, role)) = info.split_once(' ') {
            let role = role.replace("fixed safe", "fixed (safe)").replace("fixed unsafe", "fixed (unsafe)");
            self.print(&format!("{role}:"), self.look.style(Style::new().dimmed()))?;
        }
        for line in lines.take_while(|line| !line.starts_with("```")) {
            self.blank = false;
            let line = line.replace('\t', "    ");
            writeln!(self.out, "{}", format!("    {}", plain::line(&line)).trim_end())?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let paragraph = std::mem::take(&mut self.paragraph);
        if paragraph.is_empty() {
            return Ok(());
        }
        let indent = if is_item(&paragraph) { "  " } else { "" };
        let options = Options::new(self.look.width)
            .subsequent_indent(indent)
            .word_splitter(WordSplitter::NoHyphenation)
            .word_separator(WordSeparator::AsciiSpace)
            .break_words(false);
        wrap(&paragraph, options).iter().try_for_each(|line| self.print(line, Style::new()))
    }

    /// One line; never two empty ones in a row.
    fn print(&mut self, line: &str, style: Style) -> io::Result<()> {
        if line.is_empty() && self.blank {
            return Ok(());
        }
        self.blank = line.is_empty();
        writeln!(self.out, "{style}{}{style:#}", plain::line(line))
    }
}

/// Whether the line begins an item of a list.
fn is_item(line: &str) -> bool {
    let text = line.trim_start();
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    text.starts_with("- ") || text.starts_with("* ") || (number.len() < text.len() && number.starts_with(". "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::rule::file;

    #[test]
    fn prose_is_wrapped_and_code_is_not() {
        let page = "# nginx/a\n\nWhat is wrong, in\none sentence.\n\n```toml rule\nseverity = \"info\"\ncategory = \"style\"\n\
                    since = \"0.1.0\"\ncheck = \"c\"\n```\n\n## Why\n\n- an item that is too long for one line\n- another\n\n\
                    | a | table |\n\n```nginx bad @1.24\n\tlisten 80; # a line of code that is longer than that\n```\n";
        let rule = file::read("nginx/a", "a.md", page).unwrap().rule;
        let look =
            Look { base: Path::new("."), root: Path::new("."), width: 30, color: false, links: false, ascii: false };
        let mut out = Vec::new();
        write(&rule, look, &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "nginx/a\ninfo · style · no fix · on by default · since 0.1.0\n\n\
             What is wrong, in one\nsentence.\n\nWhy\n\n- an item that is too long for\n  one line\n- another\n\n\
             | a | table |\n\nbad @1.24:\n        listen 80; # a line of code that is longer than that\n"
        );
    }
}
