//! `proxylint which`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::inputs::{Inputs, Limits};
use super::terminal::Terminal;
use super::{Exit, Trouble};
use crate::files::Disk;
use crate::model::settings::{levels_called, levels_of_line};
use crate::model::{Level, Model};
use crate::report::which;
use crate::session::{self, Request};

const EXAMPLES: &str = "\
Examples:
  proxylint which nginx.conf /api                in `location /api`
  proxylint which nginx.conf shop.example.org    in the server of that name
  proxylint which nginx.conf conf.d/shop.conf:7  at line 7 of a file that it includes
  proxylint which nginx.conf 12 --nginx 1.24     at its own line 12, for that version";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The main file, or a folder that holds one
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// A line of the main file, FILE:LINE, what stands behind `location`, or a server's name
    #[arg(value_name = "PLACE")]
    place: String,
    #[command(flatten)]
    inputs: Inputs,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Vec<Trouble>> {
    let policies = Arc::new(args.inputs.store(&Limits::default(), None, terminal)?);
    let request = Request { paths: vec![args.path.clone()], policies, all_known: true, ..Request::default() };
    let outcome = session::run(&Disk, &request, None).map_err(super::check::troubles)?;
    let mut found = false;
    terminal.out(|out| {
        for config in &outcome.configs {
            for level in levels(&config.before, &args.place) {
                if found {
                    writeln!(out)?;
                }
                found = true;
                which::write(level, &config.target, terminal.look(), out)?;
            }
        }
        Ok(())
    })?;
    if found {
        return Ok(Exit::Clean);
    }
    let text = format!("`{}` has no place `{}`", args.path.display(), args.place);
    Err(Trouble::new(text)
        .help("name a line, FILE:LINE, a location as it is written (`/api`, `= /x`), or a server")
        .into())
}

/// The levels that a place means.
fn levels<'m>(model: &'m Model, place: &str) -> Vec<Level<'m>> {
    let line = |text: &str| text.parse::<u32>().ok().filter(|line| *line > 0);
    if let Some(line) = line(place) {
        return of_line(model, model.sources().get(model.main()).path(), line);
    }
    match place.rsplit_once(':') {
        Some((path, number)) if line(number).is_some() => of_line(model, Path::new(path), line(number).unwrap_or(1)),
        _ => levels_called(model, place.as_bytes()),
    }
}

fn of_line<'m>(model: &'m Model, path: &Path, line: u32) -> Vec<Level<'m>> {
    let files = model.sources().iter().filter(|(_, file)| file.path().ends_with(path) && line <= file.line_count());
    files.flat_map(|(id, _)| levels_of_line(model, id, line)).collect()
}
