//! `proxylint rules`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::terminal::Terminal;
use super::{Exit, Trouble};
use crate::files::Disk;
use crate::report::{plain, rules};
use crate::rule::set::{RuleSet, read_folder};
use crate::rule::verify::verify;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How to list them
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", conflicts_with = "test")]
    format: Format,
    /// A folder of your own rules to list too
    #[arg(long, value_name = "DIR", conflicts_with = "test")]
    rules: Vec<PathBuf>,
    /// Run the examples of the rules in a folder instead
    #[arg(long, value_name = "DIR")]
    test: Option<PathBuf>,
}

/// How to list rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// One a line.
    #[default]
    Text,
    /// For programs: one document.
    Json,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Vec<Trouble>> {
    if let Some(folder) = &args.test {
        return test(folder, terminal);
    }
    let rules = load(&args.rules)?;
    terminal.out(|out| match args.format {
        Format::Text => rules::write_text(&rules, terminal.look(), terminal.is_for_eyes(), out),
        Format::Json => rules::write_json(&rules, out),
    })?;
    Ok(Exit::Clean)
}

/// The program's own rules and those of some folders.
pub(super) fn load(folders: &[PathBuf]) -> Result<RuleSet, Trouble> {
    let mut rules = RuleSet::builtin();
    for folder in folders {
        rules.add_folder(&Disk, folder).map_err(|error| Trouble::new(error.to_string()))?;
    }
    Ok(rules)
}

/// Runs the examples of a folder of rules.
fn test(folder: &Path, terminal: &Terminal) -> Result<Exit, Vec<Trouble>> {
    let pages = read_folder(&Disk, folder).map_err(|error| Trouble::new(error.to_string()))?;
    let failures: Vec<_> = pages.iter().flat_map(|(path, page)| verify(page, path)).collect();
    terminal.out(|out| {
        let mut text =
            failures.iter().flat_map(|failure| failure.to_string().lines().map(own_line).collect::<Vec<_>>());
        text.try_for_each(|line| writeln!(out, "{line}"))
    })?;
    let examples: usize = pages.iter().map(|(_, page)| page.examples.len()).sum();
    let counts = [(pages.len(), "rule"), (examples, "example"), (failures.len(), "failure")];
    let counts = counts.map(|(count, what)| format!("{count} {what}{}", if count == 1 { "" } else { "s" }));
    terminal.notice(&counts.join(", "));
    Ok(if failures.is_empty() { Exit::Clean } else { Exit::Findings })
}

fn own_line(line: &str) -> String {
    plain::line(line).into_owned()
}
