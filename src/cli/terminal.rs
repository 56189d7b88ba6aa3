//! Where output goes, and what it may look like there.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use supports_color::Stream;

use super::{Color, Trouble};
use crate::files::{Disk, Files, Kind};
use crate::report::{Look, plain};

/// Where prose is wrapped when there is no terminal to ask.
const WIDTH: usize = 100;
/// Wider prose is hard to read.
const MOST_WIDTH: usize = 120;
/// Narrower than this is not wrapped sensibly.
const LEAST_WIDTH: usize = 40;

/// Standard output and error of this process.
pub(super) struct Terminal {
    color: bool,
    color_err: bool,
    /// The working directory.
    pub(super) base: PathBuf,
    /// The root of the repository that it lies in.
    root: PathBuf,
}

impl Terminal {
    pub(super) fn new(color: Color) -> Self {
        let wanted = |stream| match color {
            Color::Auto => supports_color::on(stream).is_some(),
            Color::Always => true,
            Color::Never => false,
        };
        let base = std::env::current_dir().unwrap_or_default();
        let root = repository(&base);
        Self { color: wanted(Stream::Stdout), color_err: wanted(Stream::Stderr), base, root }
    }

    /// How reports on standard output look.
    pub(super) fn look(&self) -> Look<'_> {
        let terminal = io::stdout().is_terminal();
        let width = match terminal_size::terminal_size() {
            Some((width, _)) if terminal => (width.0 as usize).clamp(LEAST_WIDTH, MOST_WIDTH),
            _ => WIDTH,
        };
        Look {
            base: &self.base,
            root: &self.root,
            width,
            color: self.color,
            links: self.color && terminal && supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout),
            ascii: terminal && !supports_unicode::on(supports_unicode::Stream::Stdout),
        }
    }

    /// How reports in files look.
    pub(super) fn look_of_files(&self) -> Look<'_> {
        Look { base: &self.base, root: &self.root, width: WIDTH, color: false, links: false, ascii: false }
    }

    /// Whether standard output is for people's eyes: a terminal, or colours were asked for.
    pub(super) fn is_for_eyes(&self) -> bool {
        self.color || io::stdout().is_terminal()
    }

    /// Whether somebody reads the notices as they come.
    pub(super) fn is_watched(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Writes to standard output. A reader that has gone away is no trouble.
    pub(super) fn out(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Trouble> {
        let mut out = BufWriter::new(io::stdout().lock());
        match write(&mut out).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Trouble::new(format!("cannot write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Writes one notice to standard error.
    pub(super) fn notice(&self, text: &str) {
        // Nobody may be there to read it.
        let _ = writeln!(io::stderr(), "{text}");
    }

    /// Says why the program stops.
    pub(super) fn trouble(&self, trouble: &Trouble) {
        let style = |color: AnsiColor| if self.color_err { color.on_default().bold() } else { Style::new() };
        let (red, cyan) = (style(AnsiColor::Red), style(AnsiColor::Cyan));
        self.notice(&format!("{red}error:{red:#} {}", lines(&trouble.message, "\n")));
        if let Some(help) = &trouble.help {
            self.notice(&format!("  {cyan}help:{cyan:#} {}", lines(help, "\n        ")));
        }
    }
}

/// The folder above that git knows, or the folder itself.
fn repository(folder: &Path) -> PathBuf {
    let folder = Disk.canonical(folder).unwrap_or_else(|_| folder.to_owned());
    // It is a file in a worktree.
    let root = folder.ancestors().find(|above| Disk.kind(&above.join(".git")) != Kind::Missing);
    root.unwrap_or(&folder).to_owned()
}

/// The lines of a text, each harmless.
fn lines(text: &str, between: &str) -> String {
    text.lines().map(plain::line).collect::<Vec<_>>().join(between)
}
