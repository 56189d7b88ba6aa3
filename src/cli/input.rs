//! What is checked: files on the disk, or what standard input holds.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::Trouble;
use super::terminal::Terminal;
use crate::catalog::nginx::Context;
use crate::files::dump::Dump;
use crate::files::{Disk, Files, Kind, reason, to_path};
use crate::version::Server;

/// Standard input, as an argument.
const STDIN: &str = "-";
/// What standard input is called where nobody names it.
const UNNAMED: &str = "<stdin>";

/// Options that say what is checked.
#[derive(Debug, clap::Args)]
pub(super) struct Chosen {
    /// Files and folders; `-` for standard input, which may be the output of `nginx -T` [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The language of the named files, where it cannot be told
    #[arg(long, value_name = "LANGUAGE", help_heading = "Input")]
    lang: Option<Lang>,
    /// The block that the named parts of nginx configurations stand in: http, server, location, upstream, stream …
    #[arg(long, value_name = "BLOCK", value_parser = context, help_heading = "Input")]
    context: Option<Context>,
    /// The name of what standard input holds: its includes start there
    #[arg(long, value_name = "PATH", help_heading = "Input")]
    stdin_filename: Option<PathBuf>,
    /// A file with paths to check, one a line or with a NUL behind each; `-` for standard input
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    files_from: Option<PathBuf>,
    /// A command that makes a configuration of a template, from standard input to standard output; `{}` in it is
    /// the template's path
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["fix", "diff", "output_patch", "add_ignores"],
          help_heading = "Input")]
    pub(super) render: Option<String>,
    /// Heed what is excluded also for files that are named
    #[arg(long, help_heading = "Input")]
    pub(super) force_exclude: bool,
    /// The files are named by a program, such as pre-commit: heed what is excluded, pass over what is no
    /// configuration, and show only findings that concern these files
    #[arg(long, help_heading = "Input")]
    pub(super) hook: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Lang {
    Nginx,
    Caddy,
}

fn context(name: &str) -> Result<Context, String> {
    let known = Context::ALL.iter().filter(|context| !matches!(context, Context::Unknown));
    let names = || known.clone().map(|context| context.id());
    Context::parse(name).filter(|context| *context != Context::Unknown).ok_or_else(|| {
        let hint = crate::suggest::did_you_mean(name, names());
        format!("no block is called so{hint}; known are {}", names().collect::<Vec<_>>().join(", "))
    })
}

/// What is checked.
pub(super) enum Input {
    /// Files on the disk.
    Disk,
    /// One file, whose content standard input gave.
    Given(PathBuf, Vec<u8>),
    /// What `nginx -T` printed.
    Dump(Dump),
}

impl Chosen {
    /// The stated language.
    pub(super) fn server(&self) -> Option<Server> {
        self.lang.map(|lang| match lang {
            Lang::Nginx => Server::Nginx,
            Lang::Caddy => Server::Caddy,
        })
    }

    /// The stated block.
    pub(super) fn context(&self) -> Option<Context> {
        self.context
    }

    /// What is checked, and its paths.
    pub(super) fn input(&self) -> Result<(Input, Vec<PathBuf>), Trouble> {
        if self.paths.iter().any(|path| path == Path::new(STDIN)) {
            return self.stdin();
        }
        if self.stdin_filename.is_some() {
            let help = "write `-` where the path would stand";
            return Err(Trouble::new("`--stdin-filename` names standard input, which is not read").help(help));
        }
        let mut paths = self.paths.clone();
        if let Some(list) = &self.files_from {
            paths.extend(listed(list)?);
        } else if paths.is_empty() {
            paths.push(PathBuf::from("."));
        }
        Ok((Input::Disk, paths))
    }

    fn stdin(&self) -> Result<(Input, Vec<PathBuf>), Trouble> {
        if self.paths.len() > 1 || self.files_from.is_some() {
            let help = "check standard input by itself";
            return Err(Trouble::new("`-` and other paths are not checked in one run").help(help));
        }
        if let Some(name) = self.stdin_filename.as_ref().filter(|name| Disk.kind(name) == Kind::Folder) {
            let text = format!("`--stdin-filename {}`: this is a folder", name.display());
            return Err(Trouble::new(text).help("name a file, which need not exist"));
        }
        let text = read_stdin()?;
        let dump = Dump::parse(&text).map_err(|error| Trouble::new(format!("standard input: {error}")))?;
        match dump {
            Some(dump) if self.lang != Some(Lang::Caddy) => {
                let main = dump.main().to_owned();
                Ok((Input::Dump(dump), vec![main]))
            }
            _ => {
                let name = self.stdin_filename.clone().unwrap_or_else(|| UNNAMED.into());
                Ok((Input::Given(name.clone(), text), vec![name]))
            }
        }
    }
}

fn read_stdin() -> Result<Vec<u8>, Trouble> {
    let mut text = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut text);
    read.map_err(|error| Trouble::new(format!("standard input cannot be read: {}", reason(&error))))?;
    Ok(text)
}

/// The paths in a list: one a line, or with a NUL behind each.
fn listed(list: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let text = if list == Path::new(STDIN) {
        read_stdin()?
    } else {
        let wrong = |error| Trouble::new(format!("`--files-from {}`: {}", list.display(), reason(&error)));
        Disk.read(list).map_err(wrong)?.to_vec()
    };
    let separator = if text.contains(&0) { 0 } else { b'\n' };
    let names = text.split(|&byte| byte == separator);
    let names = names.map(|name| if separator == b'\n' { name.strip_suffix(b"\r").unwrap_or(name) } else { name });
    Ok(names.filter(|name| !name.is_empty()).map(to_path).collect())
}

impl Input {
    /// Why no files can be written there, where they cannot.
    pub(super) fn unwritable(&self) -> Option<Trouble> {
        match self {
            Self::Disk => None,
            Self::Given(..) => {
                let message = "standard input is no file that could be written";
                Some(Trouble::new(message).help("`--diff` prints a patch"))
            }
            Self::Dump(_) => {
                let message = "the files of a dump are not here: nothing can be written";
                Some(Trouble::new(message).help("`--diff` prints a patch to be applied on the server"))
            }
        }
    }

    /// The folder whose configuration file holds for everything, where the files' own folders are not here.
    pub(super) fn home(&self, terminal: &Terminal) -> Option<PathBuf> {
        matches!(self, Self::Dump(_)).then(|| terminal.base.clone())
    }
}
