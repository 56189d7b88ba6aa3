//! Runs the program in a folder of its own.

#![allow(dead_code, reason = "several tests take this in, and none calls all of it")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder that goes away with the value.
pub(crate) struct Folder(tempfile::TempDir);

/// What a run said.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Folder {
    /// With these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().expect("a temporary folder"));
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn join(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.join(path);
        std::fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("folders can be made");
        std::fs::write(path, text).expect("files can be written");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.join(path)).expect("the file is there")).into_owned()
    }

    /// The program, about to be run in the folder.
    pub(crate) fn command<I: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = I>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proxylint"));
        for name in ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR"] {
            command.env_remove(name);
        }
        command.current_dir(self.path()).args(args);
        command
    }

    /// Runs `proxylint check` with more arguments, and the rule `nginx/syntax` alone besides those
    /// that always run.
    pub(crate) fn check<I: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = I>) -> Said {
        let mut command = self.command(["check", "--select", "nginx/syntax", "--nginx", "1.24"]);
        Said::from(command.args(args).output().expect("the program runs"))
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it writes UTF-8");
        let code = output.status.code().expect("it ends by itself");
        Self { code, out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Said {
    /// Asserts the exit code, with all that was said on failure.
    #[track_caller]
    pub(crate) fn exit(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\n{}\n{}", self.out, self.err);
        self
    }

    /// Asserts what standard error holds.
    #[track_caller]
    pub(crate) fn errs(self, text: &str) -> Self {
        assert!(self.err.contains(text), "{text:?} is not in\n{}", self.err);
        self
    }

    /// Asserts what standard output holds.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.out.contains(text), "{text:?} is not in\n{}", self.out);
        self
    }
}
