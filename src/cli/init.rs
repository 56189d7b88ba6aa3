//! `proxylint init`.

use std::path::{Path, PathBuf};

use super::terminal::Terminal;
use super::{Exit, Trouble};
use crate::config::{self, NAME};
use crate::files::write::write_new;
use crate::files::{Disk, Files, Kind};
use crate::report::plain;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The folder of the project
    #[arg(default_value = ".", value_name = "DIR")]
    folder: PathBuf,
    /// Print the file instead of writing it
    #[arg(long)]
    print: bool,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Vec<Trouble>> {
    if Disk.kind(&args.folder) != Kind::Folder {
        let text = format!("there is no folder `{}`", args.folder.display());
        return Err(Trouble::new(text).help("name the folder of the project").into());
    }
    let root = if args.folder == Path::new(".") { Path::new("") } else { &args.folder };
    let walked = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    let text = config::init::text(&Disk, walked);
    if args.print {
        terminal.out(|out| out.write_all(text.as_bytes()))?;
        return Ok(Exit::Clean);
    }
    let path = root.join(NAME);
    if Disk.kind(&path) != Kind::Missing {
        let text = format!("`{}` is there already", path.display());
        return Err(Trouble::new(text).help("`--print` prints what would be written").into());
    }
    write_new(&path, text.as_bytes()).map_err(|error| Trouble::new(error.to_string()))?;
    terminal.notice(&format!("wrote {}: read it, then run `proxylint check`", plain::line(&path.to_string_lossy())));
    Ok(Exit::Clean)
}
