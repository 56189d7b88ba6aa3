//! `proxylint config`.

use std::path::PathBuf;

use super::inputs::{Inputs, Limits};
use super::terminal::Terminal;
use super::{Exit, Trouble};
use crate::config::{self, schema};
use crate::files::{Disk, Files, Kind};
use crate::report;

const EXAMPLES: &str = "\
Examples:
  proxylint config                          what is in effect here
  proxylint config deploy/nginx.conf        for a file: with the targets and overrides that match it
  proxylint config --schema                 the JSON Schema of proxylint.toml";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Files and folders
    #[arg(default_value = ".", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Print the JSON Schema of proxylint.toml instead
    #[arg(long)]
    schema: bool,
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    limits: Limits,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Vec<Trouble>> {
    if args.schema {
        terminal.out(|out| writeln!(out, "{:#}", schema::schema()))?;
        return Ok(Exit::Clean);
    }
    let store = args.inputs.store(&args.limits, None, terminal)?;
    let mut effective = Vec::new();
    for path in &args.paths {
        if Disk.kind(path) == Kind::Missing {
            let text = format!("`{}` does not exist", path.display());
            return Err(Trouble::new(text).help("name a file or a folder that is there").into());
        }
        effective.push((path, store.effective(path).map_err(trouble)?));
    }
    terminal.out(|out| {
        for (index, (path, it)) in effective.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            report::settings::write(path, it, terminal.look(), out)?;
        }
        Ok(())
    })?;
    Ok(Exit::Clean)
}

fn trouble(error: config::Error) -> Trouble {
    crate::session::policy::PolicyError::from(error).into()
}
