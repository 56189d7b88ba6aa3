//! The command line: the only part that prints.

mod check;
mod config;
mod docs;
mod explain;
mod ignores;
mod init;
mod input;
mod inputs;
mod installed;
mod known;
mod output;
mod patch;
mod progress;
mod render;
mod review;
mod rules;
mod terminal;
mod verify;
mod which;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::session::policy::PolicyError;
use terminal::Terminal;

/// What a run of the program came to. Worse is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Nothing to complain about.
    Clean = 0,
    /// Findings remain.
    Findings = 1,
    /// Arguments are wrong, or something could not be read or done.
    Broken = 2,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// One reason why the program cannot do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Trouble {
    /// What is wrong, naming file and line where there are any.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Trouble {
    /// Something is wrong, and the message says all of it.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl From<PolicyError> for Trouble {
    fn from(PolicyError { message, help }: PolicyError) -> Self {
        Self { message, help }
    }
}

impl From<Trouble> for Vec<Trouble> {
    fn from(trouble: Trouble) -> Self {
        vec![trouble]
    }
}

const EXAMPLES: &str = "\
Examples:
  proxylint check /etc/nginx                a folder: its main files with all that they include
  proxylint check --nginx 1.24 nginx.conf   for the nginx that will read it
  proxylint check --diff nginx.conf         the patch, for `git apply` or `patch -p1`
  proxylint check --fix nginx.conf          write the safe fixes
  proxylint which nginx.conf /api           the settings in effect in `location /api`
  proxylint check --format html -o audit.html /etc/nginx
  proxylint init                            a first proxylint.toml, made of what lies here
  proxylint explain nginx/bare-proxy-pass   what a rule is about
  proxylint rules                           all rules, one a line";

/// A linter for nginx.conf and Caddyfile whose fixes know which server version will read the file.
#[derive(Debug, Parser)]
#[command(name = "proxylint", version, after_help = EXAMPLES, arg_required_else_help = true, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// When to use colours; `auto` heeds NO_COLOR and FORCE_COLOR.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check configurations, and mend them.
    Check(Box<check::Args>),
    /// Write a first proxylint.toml: what lies here, which versions its images name.
    Init(init::Args),
    /// Print what is in effect for a path, and where each value comes from.
    Config(Box<config::Args>),
    /// Print the settings in effect at a place of a configuration: inherited ones and defaults too.
    Which(Box<which::Args>),
    /// Print the page of a rule: what is wrong, why, how it is mended, examples.
    Explain(explain::Args),
    /// List the rules, one a line, or run the examples of a folder of rules.
    Rules(rules::Args),
    /// Print the completions of a shell.
    Completions(docs::Completions),
    /// Print the manual page, or write all of them into a folder.
    Man(docs::Man),
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Color {
    /// On a terminal.
    #[default]
    Auto,
    /// Also in files and pipes.
    Always,
    /// Not at all.
    Never,
}

/// Runs the program with these arguments, its own name first.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody may be there to read it.
            let _ = error.print();
            return if error.use_stderr() { Exit::Broken } else { Exit::Clean };
        }
    };
    let terminal = Terminal::new(cli.color);
    let done = match cli.command {
        Command::Check(args) => check::run(&args, &terminal),
        Command::Init(args) => init::run(&args, &terminal),
        Command::Config(args) => config::run(&args, &terminal),
        Command::Which(args) => which::run(&args, &terminal),
        Command::Explain(args) => explain::run(&args, &terminal),
        Command::Rules(args) => rules::run(&args, &terminal),
        Command::Completions(args) => docs::completions(&args, &terminal),
        Command::Man(args) => docs::man(&args, &terminal),
    };
    done.unwrap_or_else(|troubles| {
        troubles.iter().for_each(|trouble| terminal.trouble(trouble));
        Exit::Broken
    })
}
