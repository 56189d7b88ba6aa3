//! `--render`: templates as what a command makes of them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use super::patch::quoted;
use crate::discover;
use crate::files::{Disk, Files, Kind, Walk};

/// The disk, with every template as a command makes a configuration of it.
pub(super) struct Rendering<'a> {
    command: &'a str,
    done: Mutex<HashMap<PathBuf, Rendered>>,
}

/// What a template becomes, or why nothing.
type Rendered = Result<Arc<[u8]>, String>;

impl<'a> Rendering<'a> {
    pub(super) fn new(command: &'a str) -> Self {
        Self { command, done: Mutex::default() }
    }

    fn render(&self, path: &Path, template: &[u8]) -> Rendered {
        let failed = |error: io::Error| format!("`{}` cannot be run: {error}", self.command);
        let mut input = tempfile::tempfile().map_err(failed)?;
        input.write_all(template).and_then(|()| input.rewind()).map_err(failed)?;
        let mut output = tempfile::tempfile().map_err(failed)?;
        let mut errors = tempfile::tempfile().map_err(failed)?;
        let status = Command::new("sh")
            .arg("-c")
            .arg(self.command.replace("{}", &quoted(path)))
            .stdin(Stdio::from(input))
            .stdout(output.try_clone().map_err(failed)?)
            .stderr(errors.try_clone().map_err(failed)?)
            .status()
            .map_err(failed)?;
        let read = |file: &mut std::fs::File| {
            let mut bytes = Vec::new();
            file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(failed)?;
            Ok::<_, String>(bytes)
        };
        if status.success() {
            return Ok(read(&mut output)?.into());
        }
        let said = String::from_utf8_lossy(&read(&mut errors)?).trim().replace('\n', "; ");
        Err(format!("`{}` makes no configuration of it ({status}): {said}", self.command))
    }
}

impl Files for Rendering<'_> {
    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        let bytes = Disk.read(path)?;
        if !discover::is_template(path, &bytes) {
            return Ok(bytes);
        }
        let key = Disk.canonical(path)?;
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let rendered = done.entry(key).or_insert_with(|| self.render(path, &bytes));
        rendered.clone().map_err(io::Error::other)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        Disk.list(folder)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Disk.canonical(path)
    }

    fn kind(&self, path: &Path) -> Kind {
        Disk.kind(path)
    }

    fn walk(&self, folder: &Path) -> Walk {
        Disk.walk(folder)
    }

    fn is_link(&self, path: &Path) -> bool {
        Disk.is_link(path)
    }

    fn renders(&self) -> bool {
        true
    }
}
