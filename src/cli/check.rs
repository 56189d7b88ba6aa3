//! `proxylint check`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{ArgAction, ValueEnum};

use super::terminal::Terminal;
use super::{Exit, Trouble, installed, patch, review, rules, verify};
use crate::catalog::nginx::Build;
use crate::checks::Settings;
use crate::files::{Disk, Files, Kind, reason};
use crate::finding::Severity;
use crate::fix::Safety;
use crate::lint::rounds::Reviewer;
use crate::model::include::PathMap;
use crate::report::summary::{self, Fixes};
use crate::report::{self, Format};
use crate::session::{self, Outcome, Request};
use crate::syntax::caddy::Env;
use crate::target::{Target, Versions};
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

    /// The nginx that will read it: 1.24 (the branch), 1.24.0, ">=1.22, <1.30", debian-12, ubuntu-24.04,
    /// nginx:1.28-alpine, or auto for the installed one
    #[arg(long, value_name = "VERSION", help_heading = "Target")]
    nginx: Option<String>,
    /// What `nginx -V` says of it (in a file): also which modules it has, and the version where --nginx does not say
    #[arg(long, value_name = "FILE", help_heading = "Target")]
    nginx_build: Option<PathBuf>,
    /// The Caddy that will read it, written alike
    #[arg(long, value_name = "VERSION", help_heading = "Target")]
    caddy: Option<String>,
    /// Most requests at once to one backend
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Target")]
    peak_concurrency: Option<u32>,

    /// Where a folder of the server lies here: /etc/nginx=deploy/nginx
    #[arg(long, value_name = "FROM=TO", help_heading = "Input")]
    map: Vec<Map>,
    /// What Caddy's environment holds: NAME=VALUE, or a file of such lines (a compose project's .env)
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    env: Vec<String>,
    /// Also check files of a folder that no main file includes
    #[arg(long, help_heading = "Input")]
    all: bool,
    /// The language of the named files, where it cannot be told
    #[arg(long, value_name = "LANGUAGE", help_heading = "Input")]
    lang: Option<Lang>,

    /// Only these rules: names, `nginx`, `caddy`, categories or `all`
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    select: Vec<String>,
    /// Not these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    ignore: Vec<String>,
    /// A folder with rules of your own
    #[arg(long, value_name = "DIR", help_heading = "Rules")]
    rules: Vec<PathBuf>,

    /// Write the safe fixes: on every version of the target they change nothing but the fault. Where the
    /// fault is that connections are not kept, they are kept afterwards; the fix says what comes with that
    #[arg(long, help_heading = "Fixes")]
    fix: bool,
    /// With --fix, --diff or --output-patch: also fixes that change something else, which they name
    #[arg(long, help_heading = "Fixes")]
    unsafe_fixes: bool,
    /// Print what --fix would write as a patch, and write nothing
    #[arg(long, conflicts_with = "format", help_heading = "Fixes")]
    diff: bool,
    /// Write that patch to a file
    #[arg(long, value_name = "FILE", conflicts_with = "diff", help_heading = "Fixes")]
    output_patch: Option<PathBuf>,
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

    /// How findings are printed
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t, help_heading = "Output")]
    format: OutputFormat,
    /// Leave out findings below this
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = Level::Info, help_heading = "Output")]
    min_severity: Level,
    /// Exit with 1 for findings from this level on
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = Level::Warning, help_heading = "Output")]
    fail_on: Level,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    Info,
    Warning,
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum OutputFormat {
    /// For people: the place, what happens there, what to do
    #[default]
    Text,
    /// One line each: path:line:column
    Concise,
    /// One document
    Json,
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

impl Level {
    fn severity(self) -> Severity {
        match self {
            Self::Info => Severity::Info,
            Self::Warning => Severity::Warning,
            Self::Error => Severity::Error,
        }
    }
}

impl OutputFormat {
    fn format(self) -> Format {
        match self {
            Self::Text => Format::Text,
            Self::Concise => Format::Concise,
            Self::Json => Format::Json,
        }
    }
}

/// `FROM=TO` of `--map`.
#[derive(Debug, Clone)]
struct Map {
    from: PathBuf,
    to: PathBuf,
}

impl FromStr for Map {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "write the server's folder, `=`, and the folder here: /etc/nginx=deploy/nginx";
        match text.split_once('=') {
            Some((from, to)) if !from.is_empty() && !to.is_empty() => {
                if !from.starts_with('/') {
                    return Err(format!("the server's folder `{from}` does not begin with `/`; {example}"));
                }
                Ok(Self { from: from.into(), to: to.into() })
            }
            _ => Err(example.to_owned()),
        }
    }
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Vec<Trouble>> {
    let request = request(args)?;
    let mut asking = if args.review { Some(review::Asking::new(terminal)?) } else { None };
    let reviewer = asking.as_mut().map(|asking| asking as &mut dyn Reviewer);
    let outcome = session::run(&Disk, &request, reviewer).map_err(troubles)?;
    let fixes = match (args.diff, args.fix) {
        (false, true) => Fixes::Written,
        _ if args.makes_patch() => Fixes::Printed,
        _ => Fixes::Offered,
    };
    if let Some(command) = &args.verify {
        verify::run(&outcome, &request.maps, command, terminal, args.quiet)?;
    }
    if let Some(file) = &args.output_patch {
        patch::save(&outcome, file, terminal)?;
    }
    match fixes {
        Fixes::Printed if args.diff => patch::print(&outcome, terminal)?,
        Fixes::Written => patch::write(&outcome, &request.maps, args.backup.as_deref())?,
        Fixes::Printed | Fixes::Offered => {}
    }
    let look = terminal.look();
    if fixes != Fixes::Printed {
        terminal.out(|out| report::write(args.format.format(), &outcome, look, out))?;
    }
    if !args.quiet {
        let lines = summary::lines(&outcome, look, fixes, args.verbose);
        lines.iter().for_each(|line| terminal.notice(line));
    }
    if fixes == Fixes::Written && !args.quiet {
        patch::commands(&outcome).iter().for_each(|line| terminal.notice(line));
    }
    if request.fixes.is_some() && !outcome.is_complete() {
        return Err(Trouble::new("nothing was fixed, as not everything could be read").help(READ_ALL).into());
    }
    Ok(exit(args, &outcome))
}

const READ_ALL: &str = "see to it that the files named above can be read, or check without fixing";

/// 2 beats 1 beats 0.
fn exit(args: &Args, outcome: &Outcome) -> Exit {
    let patch = (args.diff || !args.fix) && args.makes_patch() && !outcome.changed.is_empty();
    let findings = outcome.reaches(args.fail_on.severity()) || patch;
    if outcome.bug || !outcome.is_complete() {
        Exit::Broken
    } else if findings && !args.exit_zero {
        Exit::Findings
    } else {
        Exit::Clean
    }
}

fn request(args: &Args) -> Result<Request, Trouble> {
    if args.verify.is_some() && !args.fix && !args.makes_patch() {
        let help = "add --fix, --diff or --output-patch";
        return Err(Trouble::new("`--verify` tests what fixes make of the files, and none are asked for").help(help));
    }
    if args.unsafe_fixes && !args.fix && !args.makes_patch() {
        let message = "`--unsafe-fixes` says that unsafe fixes are applied too, and none are asked for";
        return Err(Trouble::new(message).help("add --fix, --diff or --output-patch"));
    }
    let mut rules = rules::load(&args.rules)?;
    rules.select(&args.select, &args.ignore).map_err(|error| Trouble::new(error.to_string()))?;
    let mut target = Target::assumed();
    for (server, text) in [(Server::Nginx, &args.nginx), (Server::Caddy, &args.caddy)] {
        if let Some(text) = text {
            target.set(server, versions(server, text)?);
        }
    }
    let nginx_build = args.nginx_build.as_deref().map(build).transpose()?;
    if let Some(version) = nginx_build.as_ref().and_then(|build| build.version).filter(|_| args.nginx.is_none()) {
        target.set(Server::Nginx, versions(Server::Nginx, &version.to_string())?);
    }
    let wanted = if args.unsafe_fixes { Safety::Unsafe } else { Safety::Safe };
    Ok(Request {
        paths: args.paths.clone(),
        lang: args.lang.map(Lang::server),
        all: args.all,
        maps: maps(&args.map)?,
        env: environment(&args.env)?,
        target,
        rules,
        settings: Settings { peak_concurrency: args.peak_concurrency, nginx_build, ..Settings::default() },
        least: args.min_severity.severity(),
        fixes: (args.fix || args.makes_patch()).then_some(wanted),
    })
}

/// The environment that pairs and files give; later ones win.
fn environment(given: &[String]) -> Result<Env, Trouble> {
    let mut env = Env::new();
    for text in given {
        let trouble = |why: String| {
            let help = "give NAME=VALUE, or the path of a file with such lines";
            Trouble::new(format!("`--env {text}`: {why}")).help(help)
        };
        let path = Path::new(text);
        if text.contains('=') && Disk.kind(path) != Kind::File {
            env.set_pair(text).map_err(|error| trouble(error.to_string()))?;
        } else {
            let bytes = Disk.read(path).map_err(|error| trouble(reason(&error)))?;
            env.set_file(&String::from_utf8_lossy(&bytes)).map_err(|error| trouble(error.to_string()))?;
        }
    }
    Ok(env)
}

/// What `nginx -V` wrote into a file.
fn build(path: &Path) -> Result<Build, Trouble> {
    let trouble = |why: String| {
        let help = "write it with `nginx -V 2> FILE`";
        Trouble::new(format!("`--nginx-build {}`: {why}", path.display())).help(help)
    };
    let text = Disk.read(path).map_err(|error| trouble(reason(&error)))?;
    Build::parse(&String::from_utf8_lossy(&text)).map_err(|error| trouble(error.to_string()))
}

fn versions(server: Server, text: &str) -> Result<Versions, Trouble> {
    match text {
        "auto" => installed::versions(server),
        _ => Versions::parse(server, text).map_err(|error| Trouble::new(error.to_string())),
    }
}

fn maps(pairs: &[Map]) -> Result<PathMap, Trouble> {
    let mut maps = PathMap::default();
    for Map { from, to } in pairs {
        if Disk.kind(to) != Kind::Folder {
            let message = format!("`--map {}={}`: there is no folder `{1}`", from.display(), to.display());
            return Err(Trouble::new(message).help("name the folder here that the server has under the first name"));
        }
        maps.add(from, to);
    }
    Ok(maps)
}

fn troubles(errors: Vec<session::Error>) -> Vec<Trouble> {
    errors.iter().map(|error| Trouble::new(error.to_string()).help(error.help())).collect()
}
