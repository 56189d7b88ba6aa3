//! `proxylint check`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ArgAction;

use super::input::{Chosen, Input};
use super::inputs::{Inputs, Limits};
use super::progress::{Progress, Watched};
use super::render::Rendering;
use super::terminal::Terminal;
use super::{Exit, Trouble, ignores, known, output, patch, review, verify};
use crate::files::given::Given;
use crate::files::{Disk, Files};
use crate::fix::Safety;
use crate::lint::rounds::Reviewer;
use crate::report::summary::{self, Fixes};
use crate::session::{self, Outcome, Request};

const EXAMPLES: &str = "\
Examples:
  proxylint check                                  what lies here
  proxylint check /etc/nginx                       nginx.conf with all that it includes
  proxylint check --nginx 1.24 nginx.conf          for the nginx that will read it
  proxylint check --nginx \">=1.22, <1.30\" site.conf
  proxylint check --map /etc/nginx=deploy/nginx deploy/nginx/nginx.conf
  proxylint check --diff nginx.conf | git apply    take over the safe fixes
  proxylint check --fix --unsafe-fixes nginx.conf
  proxylint check --format text --format sarif=proxylint.sarif
  proxylint check --severity nginx/bare-proxy-pass=error,style=off

Exit status:
  0  nothing found at or above --fail-on, and with --diff nothing to fix
  1  findings remain, or there is a patch
  2  arguments are wrong, or something could not be read, checked or written";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    chosen: Chosen,

    /// Write all that is found today into the baseline: it is known from now on
    #[arg(long, conflicts_with_all = ["fix", "diff", "output_patch", "add_ignores", "since"],
          help_heading = "Known findings")]
    write_baseline: bool,
    /// Show only what is new since a git revision, or stands in lines that have changed since then
    #[arg(long, value_name = "REVISION", help_heading = "Known findings")]
    since: Option<String>,

    /// Write the safe fixes: on every version of the target they change nothing but the fault. Where the
    /// fault is that connections are not kept, they are kept afterwards; the fix says what comes with that
    #[arg(long, help_heading = "Fixes")]
    fix: bool,
    /// With --fix, --diff or --output-patch: also fixes that change something else, which they name
    #[arg(long, help_heading = "Fixes")]
    unsafe_fixes: bool,
    /// Print what --fix would write as a patch, and write nothing
    #[arg(long, conflicts_with_all = ["format", "output", "statistics"], help_heading = "Fixes")]
    diff: bool,
    /// Write that patch to a file
    #[arg(long, value_name = "FILE", conflicts_with = "diff", help_heading = "Fixes")]
    output_patch: Option<PathBuf>,
    /// Put a comment with this reason at everything that is found today: it is ignored from now on
    #[arg(long, value_name = "REASON", conflicts_with_all = ["fix", "output_patch", "verify"], help_heading = "Fixes")]
    add_ignores: Option<String>,
    /// With --fix: show each fix and ask
    #[arg(long, visible_alias = "interactive", requires = "fix", conflicts_with = "diff", help_heading = "Fixes")]
    review: bool,
    /// Before anything is written: let the server test a patched copy; nginx or caddy on PATH, a
    /// program, or a command with {folder} in it
    #[arg(long, value_name = "COMMAND", num_args = 0..=1, require_equals = true, default_missing_value = verify::ON_PATH,
          help_heading = "Fixes")]
    verify: Option<String>,
    /// With --fix: keep the old files, with this behind their names [.orig]
    #[arg(long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = ".orig",
          requires = "fix", help_heading = "Fixes")]
    backup: Option<String>,

    #[command(flatten)]
    output: output::Output,
    #[command(flatten)]
    limits: Limits,
    /// Exit with 0 when there are findings
    #[arg(long, help_heading = "Output")]
    exit_zero: bool,
    /// No notices, only findings and errors
    #[arg(long, short, conflicts_with = "verbose", help_heading = "Output")]
    quiet: bool,
    /// Say more: every file read and every file passed over
    #[arg(long, short, action = ArgAction::SetTrue, help_heading = "Output")]
    verbose: bool,
}

impl Args {
    fn makes_patch(&self) -> bool {
        self.diff || self.output_patch.is_some()
    }
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Vec<Trouble>> {
    let (input, paths) = args.chosen.input()?;
    let prints = args.fix && !args.review && matches!(input, Input::Given(..));
    let writes = args.fix || args.add_ignores.is_some() && !args.diff;
    if let Some(trouble) = input.unwritable().filter(|_| writes && !prints) {
        return Err(trouble.into());
    }
    let request = request(args, &input, paths, terminal)?;
    let rendering = args.chosen.render.as_deref().map(Rendering::new);
    let disk = rendering.as_ref().map_or(&Disk as &dyn Files, |rendering| rendering);
    match &input {
        Input::Disk => check(args, &request, disk, terminal),
        Input::Dump(dump) => check(args, &request, dump, terminal),
        Input::Given(path, text) => {
            let given = Given::new(disk, &terminal.base, path, text.as_slice());
            if args.fix { fix_given(args, &request, &given, terminal) } else { check(args, &request, &given, terminal) }
        }
    }
}

fn check(args: &Args, request: &Request, files: &dyn Files, terminal: &Terminal) -> Result<Exit, Vec<Trouble>> {
    if request.paths.is_empty() {
        terminal.notice("nothing to check: the list of files is empty");
        return Ok(Exit::Clean);
    }
    if let Some(reason) = &args.add_ignores {
        return ignores::run(files, request, reason, args.diff, terminal);
    }
    if args.write_baseline {
        return known::write(files, request, terminal);
    }
    let mut asking = if args.review { Some(review::Asking::new(terminal)?) } else { None };
    let reviewer = asking.as_mut().map(|asking| asking as &mut dyn Reviewer);
    let plan = args.output.plan()?;
    let (started, files) = (Instant::now(), Watched::over(files));
    let progress = Progress::new(&files, !args.quiet && !args.review);
    let outcome = session::run(&files, request, reviewer);
    drop(progress);
    let (outcome, took) = (outcome.map_err(troubles)?, started.elapsed());
    plan.spares(&outcome)?;
    let fixes = match (args.diff, args.fix) {
        (false, true) => Fixes::Written,
        _ if args.makes_patch() => Fixes::Printed,
        _ => Fixes::Offered,
    };
    if let Some(command) = &args.verify {
        verify::run(&outcome, command, terminal, args.quiet)?;
    }
    if let Some(file) = &args.output_patch {
        patch::save(&outcome, file, terminal)?;
    }
    match fixes {
        Fixes::Printed if args.diff => patch::print(&outcome.changed, terminal)?,
        Fixes::Written => patch::write(&outcome, args.backup.as_deref())?,
        Fixes::Printed | Fixes::Offered => {}
    }
    if fixes != Fixes::Printed {
        plan.carry_out(&outcome, terminal, args.quiet)?;
    }
    if !args.quiet {
        let lines = summary::lines(&outcome, terminal.look(), fixes, args.verbose);
        lines.iter().for_each(|line| terminal.notice(line));
        if args.verbose || terminal.is_watched() {
            terminal.notice(&effort(&outcome, took));
        }
        hint(args, &outcome, terminal);
    }
    if fixes == Fixes::Written && !args.quiet {
        patch::commands(&outcome).iter().for_each(|line| terminal.notice(line));
    }
    if request.fixes.is_some() && !outcome.is_complete() {
        return Err(Trouble::new("nothing was fixed, as not everything could be read").help(READ_ALL).into());
    }
    Ok(exit(args, &outcome))
}

/// How many rules ran, and how long that took: no two runs say the same, so only people are told.
fn effort(outcome: &Outcome, took: Duration) -> String {
    let rules: BTreeSet<&str> = outcome
        .configs
        .iter()
        .flat_map(|config| config.policy.rules.running(config.before.server()))
        .map(|active| active.rule.id.as_ref())
        .collect();
    format!("{} rules in {:.2} s", rules.len(), took.as_secs_f64())
}

/// Says what the forge that runs this could show.
fn hint(args: &Args, outcome: &Outcome, terminal: &Terminal) {
    if outcome.findings.is_empty() || !args.output.is_default() || args.diff {
        return;
    }
    let is_set = |name: &str| std::env::var(name).is_ok_and(|value| value == "true");
    if is_set("GITHUB_ACTIONS") {
        terminal.notice("hint: `--format github` shows findings at the lines of a pull request");
    } else if is_set("GITLAB_CI") {
        terminal.notice(
            "hint: `--format gitlab=gl-code-quality-report.json` writes what a merge request shows as code quality",
        );
    }
}

const READ_ALL: &str = "see to it that the files named above can be read, or check without fixing";

/// 2 beats 1 beats 0.
fn exit(args: &Args, outcome: &Outcome) -> Exit {
    let patch = (args.diff || !args.fix) && args.makes_patch() && !outcome.changed.is_empty();
    let findings = outcome.fails || patch;
    if outcome.bug || !outcome.is_complete() {
        Exit::Broken
    } else if findings && !args.exit_zero {
        Exit::Findings
    } else {
        Exit::Clean
    }
}

/// Fixes what standard input gave; the text goes to standard output, what remains to standard error.
fn fix_given(args: &Args, request: &Request, given: &Given<'_>, terminal: &Terminal) -> Result<Exit, Vec<Trouble>> {
    let outcome = session::run(given, request, None).map_err(troubles)?;
    if let Some(other) = outcome.changed.iter().find(|file| file.path != given.path()) {
        let text = format!("a fix changes `{}` too, which standard output cannot hold", other.path.display());
        return Err(Trouble::new(text).help("`--diff -` prints a patch for all files").into());
    }
    let text = match outcome.changed.first() {
        Some(file) => file.new.clone(),
        None => given.read(given.path()).map_err(|error| Trouble::new(error.to_string()))?,
    };
    terminal.out(|out| out.write_all(&text))?;
    if !args.quiet {
        let lines = summary::lines(&outcome, terminal.look(), Fixes::Written, args.verbose);
        lines.iter().for_each(|line| terminal.notice(line));
    }
    Ok(exit(args, &outcome))
}

fn request(args: &Args, input: &Input, paths: Vec<PathBuf>, terminal: &Terminal) -> Result<Request, Trouble> {
    if args.verify.is_some() && !args.fix && !args.makes_patch() {
        let help = "add --fix, --diff or --output-patch";
        return Err(Trouble::new("`--verify` tests what fixes make of the files, and none are asked for").help(help));
    }
    if args.unsafe_fixes && !args.fix && !args.makes_patch() {
        let message = "`--unsafe-fixes` says that unsafe fixes are applied too, and none are asked for";
        return Err(Trouble::new(message).help("add --fix, --diff or --output-patch"));
    }
    let wanted = if args.unsafe_fixes { Safety::Unsafe } else { Safety::Safe };
    if args.verify.is_some() && !matches!(input, Input::Disk) {
        let help = "check the files where they lie";
        return Err(Trouble::new("`--verify` tests files on the disk, not standard input").help(help));
    }
    let since = args.since.as_deref().map(|revision| known::since(revision, input, terminal)).transpose()?;
    Ok(Request {
        paths,
        lang: args.chosen.server(),
        context: args.chosen.context(),
        policies: Arc::new(args.inputs.store(&args.limits, input.home(terminal), terminal)?),
        hook: args.chosen.hook,
        force_exclude: args.chosen.force_exclude,
        since,
        all_known: false,
        fixes: (args.fix || args.makes_patch()).then_some(wanted),
    })
}

pub(super) fn troubles(errors: Vec<session::Error>) -> Vec<Trouble> {
    let trouble = |error: &session::Error| {
        let help = Some(error.help()).filter(|help| !help.is_empty());
        Trouble { message: error.to_string(), help }
    };
    errors.iter().map(trouble).collect()
}
