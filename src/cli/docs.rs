//! `proxylint completions`, `proxylint man`: what packages install beside the program.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::terminal::Terminal;
use super::{Cli, Exit, Trouble};
use crate::files::write::write_new;
use crate::suggest;

const COMPLETIONS: &str = "\
Examples:
  proxylint completions bash > /usr/share/bash-completion/completions/proxylint
  proxylint completions zsh > ~/.zfunc/_proxylint        with ~/.zfunc in fpath
  proxylint completions fish > ~/.config/fish/completions/proxylint.fish";

#[derive(Debug, clap::Args)]
#[command(after_help = COMPLETIONS)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

const MAN: &str = "\
Examples:
  proxylint man | man -l -                   read it
  proxylint man check | man -l -             of a command
  proxylint man --output-dir /usr/local/share/man/man1";

#[derive(Debug, clap::Args)]
#[command(after_help = MAN)]
pub(super) struct Man {
    /// The command whose page is printed; without it, that of the program
    #[arg(value_name = "COMMAND", conflicts_with = "output_dir")]
    command: Option<String>,
    /// Write all pages into a folder instead
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
}

pub(super) fn completions(args: &Completions, terminal: &Terminal) -> Result<Exit, Vec<Trouble>> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "proxylint", &mut script);
    terminal.out(|out| out.write_all(&script))?;
    Ok(Exit::Clean)
}

pub(super) fn man(args: &Man, terminal: &Terminal) -> Result<Exit, Vec<Trouble>> {
    let pages = pages();
    if let Some(folder) = &args.output_dir {
        pages.iter().try_for_each(|(name, command)| save(folder, name, command))?;
        return Ok(Exit::Clean);
    }
    let wanted = args.command.as_ref().map_or("proxylint".to_owned(), |command| format!("proxylint-{command}"));
    let Some((_, command)) = pages.iter().find(|(name, _)| *name == wanted) else {
        let names: Vec<&str> = pages.iter().filter_map(|(name, _)| name.strip_prefix("proxylint-")).collect();
        let asked = args.command.as_deref().unwrap_or_default();
        let hint = suggest::did_you_mean(asked, names.iter().copied());
        return Err(Trouble::new(format!("there is no command `{asked}`{hint}")).help(names.join(", ")).into());
    };
    terminal.out(|out| render(command, out))?;
    Ok(Exit::Clean)
}

/// The commands that have a page, by its name.
fn pages() -> Vec<(String, Command)> {
    let mut program = Cli::command();
    program.build();
    let commands = program.get_subcommands().filter(|command| command.get_name() != "help");
    let commands = commands.map(|command| (format!("proxylint-{}", command.get_name()), command.clone()));
    std::iter::once(("proxylint".to_owned(), program.clone())).chain(commands).collect()
}

fn render(command: &Command, out: &mut dyn Write) -> io::Result<()> {
    clap_mangen::Man::new(command.clone()).render(&mut &mut *out)
}

fn save(folder: &Path, name: &str, command: &Command) -> Result<(), Trouble> {
    let mut page = Vec::new();
    render(command, &mut page).map_err(|error| Trouble::new(error.to_string()))?;
    let path = folder.join(format!("{name}.1"));
    write_new(&path, &page).map_err(|error| Trouble::new(error.to_string()).help("make the folder first"))
}
