//! Where findings go, and in which formats.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::Trouble;
use super::terminal::Terminal;
use crate::files::write::{write_into, write_new};
use crate::files::{Disk, Files, Kind, reason};
use crate::report::{self, Format, Look, plain, statistics};
use crate::session::Outcome;
use crate::suggest;

/// How findings are printed.
#[derive(Debug, clap::Args)]
pub(super) struct Output {
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output", help = FORMAT, long_help = long_format())]
    format: Vec<Wanted>,
    /// Write the findings to a file instead of standard output
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Print how often each rule was met instead of the findings
    #[arg(long, help_heading = "Output")]
    statistics: bool,
}

const FORMAT: &str = "How findings are printed, and to which file; may be repeated [default: text] [possible values: \
                      text, concise, json, jsonl, sarif, github, gitlab, checkstyle, junit, rdjson, markdown, html]";

fn long_format() -> String {
    let width = Format::ALL.iter().map(|(_, name, _)| name.len()).max().unwrap_or(0);
    let lines = Format::ALL.iter().map(|(_, name, about)| format!("\n  {name:width$}  {about}"));
    let head = "How findings are printed, and to which file; may be repeated [default: text]\n";
    std::iter::once(head.to_owned()).chain(lines).collect()
}

/// `FORMAT` or `FORMAT=FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    format: Format,
    file: Option<PathBuf>,
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, file) = match text.split_once('=') {
            Some((_, "")) => return Err("there is no file behind `=`".to_owned()),
            Some((name, file)) => (name, Some(PathBuf::from(file))),
            None => (text, None),
        };
        match Format::ALL.iter().find(|(_, known, _)| *known == name) {
            Some(&(format, ..)) => Ok(Self { format, file }),
            None => {
                let names = Format::ALL.map(|(_, name, _)| name);
                let hint = suggest::did_you_mean(name, names);
                let hint = if hint.is_empty() { format!("; known are {}", names.join(", ")) } else { hint };
                Err(format!("there is no format `{name}`{hint}"))
            }
        }
    }
}

/// What is printed, and what is written to which file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    stdout: Option<Content>,
    files: Vec<(PathBuf, Content)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Findings(Format),
    /// As text or as JSON.
    Statistics(Format),
}

impl Output {
    /// Whether nobody said how findings are to be printed.
    pub(super) fn is_default(&self) -> bool {
        self.format.is_empty() && self.output.is_none() && !self.statistics
    }

    /// What to print and to write.
    ///
    /// # Errors
    /// When two contents go to one place.
    pub(super) fn plan(&self) -> Result<Plan, Trouble> {
        let is_stdout = |file: &Option<PathBuf>| file.as_deref().is_none_or(|file| file == Path::new("-"));
        let (bare, with_file): (Vec<&Wanted>, Vec<&Wanted>) = self.format.iter().partition(|it| is_stdout(&it.file));
        if let [_, second, ..] = bare.as_slice() {
            let name = second.format.name();
            return Err(Trouble::new("only one format can go to standard output")
                .help(format!("give the others a file: `--format {name}=FILE`")));
        }
        let main = match bare.first() {
            Some(wanted) => Some(wanted.format),
            None if with_file.is_empty() || self.statistics => Some(Format::Text),
            None => None,
        };
        let main = match main {
            Some(format) if self.statistics => Some(statistics_as(format)?),
            main => main.map(Content::Findings),
        };
        let found = with_file.into_iter().filter_map(|it| Some((it.file.clone()?, Content::Findings(it.format))));
        let mut plan = Plan { stdout: main, files: found.collect() };
        if let Some(output) = self.output.clone().filter(|output| output != Path::new("-")) {
            let Some(content) = plan.stdout.take() else {
                return Err(Trouble::new("`--output` has nothing to write: each format has a file of its own")
                    .help("leave it out, or add a `--format` without a file"));
            };
            plan.files.push((output, content));
        }
        let mut seen = BTreeSet::new();
        match plan.files.iter().find(|(file, _)| !seen.insert(file)) {
            Some((file, _)) => {
                Err(Trouble::new(format!("two formats go to `{}`", file.display())).help("give each a file of its own"))
            }
            None => Ok(plan),
        }
    }
}

fn statistics_as(format: Format) -> Result<Content, Trouble> {
    if matches!(format, Format::Text | Format::Json) {
        return Ok(Content::Statistics(format));
    }
    let message = format!("there are no statistics in the format `{}`", format.name());
    Err(Trouble::new(message).help("they come as `text` or as `json`; give the other format a file"))
}

impl Plan {
    /// Sees to it that no report takes the place of a file that was checked.
    ///
    /// # Errors
    /// When one would.
    pub(super) fn spares(&self, outcome: &Outcome) -> Result<(), Trouble> {
        let checked = |file: &Path| Disk.canonical(file).is_ok_and(|file| outcome.files.contains(&file));
        match self.files.iter().find(|(file, _)| checked(file)) {
            Some((file, _)) => {
                Err(Trouble::new(format!("`{}` is a file that was checked; nothing was written", file.display()))
                    .help("give the report another name"))
            }
            None => Ok(()),
        }
    }

    /// Prints and writes.
    ///
    /// # Errors
    /// When something cannot be written.
    pub(super) fn carry_out(&self, outcome: &Outcome, terminal: &Terminal, quiet: bool) -> Result<(), Trouble> {
        for (file, content) in &self.files {
            let mut bytes = Vec::new();
            // A Vec takes everything.
            content.write(outcome, terminal.look_of_files(), &mut bytes).map_err(|error| failed(file, &error))?;
            save(file, &bytes)?;
            if !quiet {
                terminal.notice(&format!("written: {}", plain::line(&file.to_string_lossy())));
            }
        }
        match self.stdout {
            Some(content) => terminal.out(|out| content.write(outcome, terminal.look(), out)),
            None => Ok(()),
        }
    }
}

impl Content {
    fn write(self, outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Findings(format) => report::write(format, outcome, look, out),
            Self::Statistics(Format::Json) => statistics::write_json(outcome, out),
            Self::Statistics(_) => statistics::write_text(outcome, look, out),
        }
    }
}

/// Writes a whole file, or into a pipe or device that is there.
fn save(file: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    let kind = Disk.kind(file);
    // `/dev/stdout` may be a file that a shell has opened: another one in its place would not be seen.
    if kind == Kind::Special || kind == Kind::File && file.starts_with("/dev") {
        return match write_into(file, bytes) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(failed(file, &error)),
            _ => Ok(()),
        };
    }
    if kind == Kind::Folder {
        let message = format!("cannot write `{}`: it is a folder", file.display());
        return Err(Trouble::new(message).help("give the name of a file in it"));
    }
    let path = Disk.canonical(file).unwrap_or_else(|_| file.to_owned());
    write_new(&path, bytes).map_err(|error| Trouble::new(error.to_string()))
}

fn failed(file: &Path, error: &io::Error) -> Trouble {
    Trouble::new(format!("cannot write `{}`: {}", file.display(), reason(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(formats: &[&str], output: Option<&str>, statistics: bool) -> Result<Plan, String> {
        let format = formats.iter().map(|text| text.parse()).collect::<Result<Vec<Wanted>, String>>()?;
        let args = Output { format, output: output.map(PathBuf::from), statistics };
        args.plan().map_err(|trouble| trouble.message)
    }

    #[test]
    fn each_content_has_one_place() {
        let found = Content::Findings;
        let whole = |stdout, files: &[(&str, Content)]| {
            Ok(Plan { stdout, files: files.iter().map(|&(file, content)| (file.into(), content)).collect() })
        };
        assert_eq!(plan(&[], None, false), whole(Some(found(Format::Text)), &[]));
        assert_eq!(plan(&["json"], Some("a"), false), whole(None, &[("a", found(Format::Json))]));
        assert_eq!(plan(&["json=-"], None, false), whole(Some(found(Format::Json)), &[]));
        let both = whole(Some(found(Format::Text)), &[("a", found(Format::Sarif)), ("b=c", found(Format::Junit))]);
        assert_eq!(plan(&["sarif=a", "text", "junit=b=c"], None, false), both);
        assert_eq!(plan(&["sarif=a"], None, false), whole(None, &[("a", found(Format::Sarif))]));
        let counted = whole(Some(Content::Statistics(Format::Text)), &[("a", found(Format::Sarif))]);
        assert_eq!(plan(&["sarif=a"], Some("-"), true), counted);
    }

    #[test]
    fn what_has_none_is_told() {
        for (formats, output, statistics, message) in [
            (&["json", "text"][..], None, false, "only one format can go to standard output"),
            (&["json=a", "sarif=a"], None, false, "two formats go to `a`"),
            (&["json=a"], Some("b"), false, "`--output` has nothing to write: each format has a file of its own"),
            (&["html"], None, true, "there are no statistics in the format `html`"),
            (&["sarfi"], None, false, "there is no format `sarfi`; did you mean `sarif`?"),
            (&["json="], None, false, "there is no file behind `=`"),
        ] {
            assert_eq!(plan(formats, output, statistics), Err(message.to_owned()));
        }
    }
}
