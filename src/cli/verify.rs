//! `--verify`: the real server's own test, on a scratch copy, before anything is written.

use std::ffi::OsStr;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Trouble;
use super::patch::quoted;
use super::terminal::Terminal;
use crate::files::interrupt::Interrupt;
use crate::files::scratch::Scratch;
use crate::files::{Disk, Files, Overlay, reason};
use crate::model::Model;
use crate::model::include::PathMap;
use crate::session::{Config, Outcome};
use crate::verify::{self, Answer, Plan, Verdict};
use crate::version::{Server, Version};

/// What `--verify` is given where it has no value: the server on PATH.
pub(super) const ON_PATH: &str = "";

/// A test that takes longer is broken.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where servers lie that are not on a user's PATH.
const SYSTEM: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

const OUTSIDE: &str = "mend that first; where it is only that certificates, hosts or modules are missing here, run proxylint where they are, \
                       give a command that has them (`--verify='docker run --rm -v {folder}:/etc/nginx:ro nginx:1.24 nginx -t'`), \
                       or leave --verify out";
const BUG: &str = "this is a bug of proxylint, please report it; `--ignore` leaves a rule out";

/// Tests every configuration that a fix changed, before and after. Says what came out.
///
/// # Errors
/// When a server refuses a patched configuration, or when it cannot be told.
pub(super) fn run(outcome: &Outcome, command: &str, terminal: &Terminal, quiet: bool) -> Result<(), Trouble> {
    // Dropped last: a signal ends the program once the copies are gone.
    let interrupt = Interrupt::hold();
    let changed = outcome.changed.iter().map(|file| (file.path.clone(), file.new.clone())).collect();
    let patched = Overlay::with(&Disk, changed);
    for config in outcome.configs.iter().filter(|config| config.is_changed()) {
        let test = Test::new(command, config.before.server())?;
        let lines = test.judge(config, &patched, &interrupt)?;
        if !quiet {
            lines.iter().for_each(|line| terminal.notice(line));
        }
    }
    Ok(())
}

/// How a server is made to test a configuration.
enum Test<'a> {
    /// This program, with a server's usual arguments.
    Program { server: Server, program: PathBuf },
    /// A command of the user's, which gets the folder.
    Shell { server: Server, command: &'a str },
}

impl<'a> Test<'a> {
    fn new(command: &'a str, server: Server) -> Result<Self, Trouble> {
        if command.contains("{folder}") {
            return Ok(Self::Shell { server, command });
        }
        let name = if command == ON_PATH { server.name().to_lowercase() } else { command.to_owned() };
        match find(Path::new(&name)) {
            Some(program) => Ok(Self::Program { server, program }),
            None => Err(Trouble::new(format!(
                "`{name}`, which is to verify the patch, is not on PATH; nothing was written"
            ))
            .help("name the program, `--verify=/opt/nginx/sbin/nginx`, or a command with `{folder}` in it")),
        }
    }

    fn server(&self) -> Server {
        match self {
            Self::Program { server, .. } | Self::Shell { server, .. } => *server,
        }
    }

    /// Notices about a configuration that passed.
    fn judge(&self, config: &Config, patched: &dyn Files, interrupt: &Interrupt) -> Result<Vec<String>, Trouble> {
        let main = config.before.sources().get(config.before.main()).path().display().to_string();
        let server = self.server().name();
        if !verify::is_testable(config.before.root_context()) {
            let why =
                format!("not verified, so nothing was written: `{main}` is a part that {server} cannot read alone");
            return Err(Trouble::new(why).help("name the main file instead, or leave --verify out"));
        }
        let maps = &config.policy.maps;
        let before = self.verdict(&config.before, maps, &Disk, interrupt)?;
        let after = self.verdict(&config.after, maps, patched, interrupt)?;
        let who = self.version().map_or_else(|| server.to_owned(), |version| format!("{server} {version}"));
        match before.then(after) {
            Answer::Verified => Ok(self.notices(config, format!("verified: {who} accepts the patched `{main}`"))),
            Answer::VerifiedBut(words) => {
                let text = format!(
                    "verified: {who} reads all of the patched `{main}`; then it stops, as before the patch: {words}"
                );
                Ok(self.notices(config, text))
            }
            Answer::Damaged(words) => {
                let text =
                    format!("{who} accepts `{main}` and refuses it once patched, so nothing was written: {words}");
                Err(Trouble::new(text).help(BUG))
            }
            Answer::Unverified(words) => {
                let text = format!(
                    "not verified, so nothing was written: {who} stops in the unpatched copy of `{main}` already: {words}"
                );
                Err(Trouble::new(text).help(OUTSIDE))
            }
        }
    }

    fn notices(&self, config: &Config, first: String) -> Vec<String> {
        let mut lines = vec![first];
        if let Some(version) = self.version().filter(|version| !config.target.contains(*version)) {
            let server = self.server();
            let target = config.target.describe(server);
            lines.push(format!("note: {} {version} is not among the versions of the target, {target}", server.name()));
        }
        lines
    }

    /// What the server says of a model. A copy is made for it, and taken away.
    fn verdict(
        &self,
        model: &Model,
        maps: &PathMap,
        files: &dyn Files,
        interrupt: &Interrupt,
    ) -> Result<Verdict, Trouble> {
        let trouble = |error: std::io::Error| {
            let why = reason(&error);
            Trouble::new(format!("no copy to verify could be made, so nothing was written: {why}"))
                .help("name a folder with room for it that can be written to: TMPDIR=/var/tmp")
        };
        let scratch = Scratch::new().map_err(trouble)?;
        let folder = scratch.path().map_err(trouble)?;
        let plan = match self {
            Self::Program { .. } => verify::plan(&Disk, model, maps, &folder),
            Self::Shell { .. } => verify::plan_folder(files, model, &folder),
        };
        let plan = plan.map_err(trouble)?;
        scratch.fill(&plan.entries).map_err(trouble)?;
        let (accepted, output) = output(&mut self.command(&plan, &folder), || interrupt.pending())?;
        Ok(Verdict::of(accepted, &output, &folder))
    }

    fn command(&self, plan: &Plan, folder: &Path) -> Command {
        match self {
            Self::Program { server: Server::Nginx, program } => {
                let mut command = Command::new(program);
                command.arg("-t").arg("-c").arg(&plan.main);
                command
            }
            Self::Program { server: Server::Caddy, program } => {
                let mut command = Command::new(program);
                command.args(["adapt", "--adapter", "caddyfile", "--config"]).arg(&plan.main);
                command
            }
            Self::Shell { command, .. } => {
                let main = plan.main.file_name().unwrap_or_default();
                let text = command.replace("{folder}", &quoted(folder)).replace("{main}", &quoted(Path::new(main)));
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(text);
                shell
            }
        }
    }

    /// The version of the server on this machine.
    fn version(&self) -> Option<Version> {
        let Self::Program { server, program } = self else { return None };
        let argument = if *server == Server::Nginx { "-v" } else { "version" };
        let (_, output) = output(Command::new(program).arg(argument), || false).ok()?;
        let number = output.split(|c: char| c.is_whitespace() || c == '/').find_map(|word| {
            let word = word.trim_start_matches('v');
            word.chars().next().filter(char::is_ascii_digit).map(|_| word.to_owned())
        });
        Version::parse(&number?)
    }
}

/// A program by its path, or on PATH.
fn find(name: &Path) -> Option<PathBuf> {
    let is_there = |path: &PathBuf| path.is_file();
    if name.components().count() > 1 {
        return Some(name.to_owned()).filter(is_there);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(SYSTEM.iter().map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(is_there)
}

/// Whether a command succeeded, and all that it printed.
fn output(command: &mut Command, interrupted: impl Fn() -> bool) -> Result<(bool, String), Trouble> {
    let program = command.get_program().to_owned();
    let failed = |error: std::io::Error| cannot_run(&program, &error.to_string());
    let mut printed = tempfile::tempfile().map_err(failed)?;
    let (out, err) = (printed.try_clone().map_err(failed)?, printed.try_clone().map_err(failed)?);
    let mut child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn().map_err(failed)?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if interrupted() || start.elapsed() > PATIENCE => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(cannot_run(&program, if interrupted() { "interrupted" } else { "it does not end" }));
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let mut bytes = Vec::new();
    printed.rewind().and_then(|()| printed.read_to_end(&mut bytes)).map_err(failed)?;
    Ok((status.success(), String::from_utf8_lossy(&bytes).into_owned()))
}

fn cannot_run(program: &OsStr, why: &str) -> Trouble {
    Trouble::new(format!(
        "`{}`, which is to verify the patch, cannot be run, so nothing was written: {why}",
        program.display()
    ))
}
