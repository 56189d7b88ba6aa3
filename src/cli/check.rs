//! `proxylint check`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{ArgAction, ValueEnum};

use super::inputs::{Inputs, Limits};
use super::progress::{Progress, Watched};
use super::terminal::Terminal;
use super::{Exit, Trouble, ignores, output, patch, review, verify};
use crate::fix::Safety;
use crate::lint::rounds::Reviewer;
use crate::report::summary::{self, Fixes};
use crate::session::{self, Outcome, Request};
use crate::version::Server;

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
    /// Files and folders
    #[arg(default_value = ".", value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    inputs: Inputs,
    /// The language of the named files, where it cannot be told
    #[arg(long, value_name = "LANGUAGE", help_heading = "Input")]
    lang: Option<Lang>,

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Lang {
    Nginx,
    Caddy,
}

impl Args {
    fn makes_patch(&self) -> bool {
        self.diff || self.output_patch.is_some()
    }
}

impl Lang {
    fn server(self) -> Server {
        match self {
            Self::Nginx => Server::Nginx,
            Self::Caddy => Server::Caddy,
        }
    }
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Vec<Trouble>> {
    let (request, plan) = (request(args, terminal)?, args.output.plan()?);
    if let Some(reason) = &args.add_ignores {
        return ignores::run(&request, reason, args.diff, terminal);
    }
    let mut asking = if args.review { Some(review::Asking::new(terminal)?) } else { None };
    let reviewer = asking.as_mut().map(|asking| asking as &mut dyn Reviewer);
    let (started, files) = (Instant::now(), Watched::default());
    let progress = Progress::new(&files, !args.quiet && !args.review);
    let outcome = session::run(&files, &request, reviewer);
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

fn request(args: &Args, terminal: &Terminal) -> Result<Request, Trouble> {
    if args.verify.is_some() && !args.fix && !args.makes_patch() {
        let help = "add --fix, --diff or --output-patch";
        return Err(Trouble::new("`--verify` tests what fixes make of the files, and none are asked for").help(help));
    }
    if args.unsafe_fixes && !args.fix && !args.makes_patch() {
        let message = "`--unsafe-fixes` says that unsafe fixes are applied too, and none are asked for";
        return Err(Trouble::new(message).help("add --fix, --diff or --output-patch"));
    }
    let wanted = if args.unsafe_fixes { Safety::Unsafe } else { Safety::Safe };
    Ok(Request {
        paths: args.paths.clone(),
        lang: args.lang.map(Lang::server),
        policies: Arc::new(args.inputs.store(&args.limits, terminal)?),
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
