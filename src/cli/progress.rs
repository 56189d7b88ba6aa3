//! A sign of life for long runs, for people who wait at a terminal.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::files::{Files, Kind, Walk};

/// Shorter runs show nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// Files, and how many were read.
pub(super) struct Watched<'a> {
    files: &'a dyn Files,
    read: Arc<AtomicUsize>,
}

impl<'a> Watched<'a> {
    /// Counts what is read of `files`.
    pub(super) fn over(files: &'a dyn Files) -> Self {
        Self { files, read: Arc::default() }
    }
}

/// Shows that something happens, until it is dropped.
pub(super) struct Progress {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins after a second, where standard error is a terminal.
    pub(super) fn new(files: &Watched<'_>, wanted: bool) -> Self {
        if !wanted || !io::stderr().is_terminal() {
            return Self { stop: None, thread: None };
        }
        let (stop, stopped) = mpsc::channel::<()>();
        let read = files.read.clone();
        let thread = thread::spawn(move || {
            if stopped.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]") {
                bar.set_style(style);
            }
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                bar.set_message(format!("checking: {} files read", read.load(Ordering::Relaxed)));
                bar.tick();
            }
            bar.finish_and_clear();
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A bar that could not be drawn is no trouble.
            let _ = thread.join();
        }
    }
}

impl Files for Watched<'_> {
    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        self.read.fetch_add(1, Ordering::Relaxed);
        self.files.read(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.files.list(folder)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.canonical(path)
    }

    fn kind(&self, path: &Path) -> Kind {
        self.files.kind(path)
    }

    fn is_link(&self, path: &Path) -> bool {
        self.files.is_link(path)
    }

    fn walk(&self, folder: &Path) -> Walk {
        self.files.walk(folder)
    }

    fn renders(&self) -> bool {
        self.files.renders()
    }
}
