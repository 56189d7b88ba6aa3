//! `proxylint explain`.

use std::path::PathBuf;

use super::terminal::Terminal;
use super::{Exit, Trouble, rules};
use crate::report::page;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Its name, such as nginx/bare-proxy-pass
    #[arg(value_name = "RULE")]
    rule: String,
    /// A folder of your own rules
    #[arg(long, value_name = "DIR")]
    rules: Vec<PathBuf>,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Vec<Trouble>> {
    let rules = rules::load(&args.rules)?;
    let active = rules.find(&args.rule).map_err(|error| Trouble::new(error.to_string()))?;
    terminal.out(|out| page::write(&active.rule, terminal.look(), out))?;
    Ok(Exit::Clean)
}
