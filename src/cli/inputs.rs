//! What commands are told of servers, files and rules, on the command line and in `proxylint.toml`.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::ValueEnum;

use super::terminal::Terminal;
use super::{Trouble, installed};
use crate::catalog::caddy::build as caddy;
use crate::catalog::nginx::Build;
use crate::config::{Choice, Flags, Store};
use crate::files::{Disk, Files, Kind, reason};
use crate::finding::Severity;
use crate::rule;
use crate::session::policy::PolicyError;
use crate::syntax::caddy::Env;
use crate::target::Versions;
use crate::version::Server;

/// Options that say what holds; [`Inputs::store`] adds what files say.
#[derive(Debug, clap::Args)]
pub(super) struct Inputs {
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
    /// What `caddy list-modules` says of it (in a file): which plugins it has
    #[arg(long, value_name = "FILE", help_heading = "Target")]
    caddy_build: Option<PathBuf>,
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
    /// Leave out what matches, where a folder is looked through: names, or paths from here
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', help_heading = "Input")]
    exclude: Vec<String>,

    /// The configuration file [the nearest proxylint.toml, upward from each path]
    #[arg(long, value_name = "FILE", conflicts_with = "no_config", help_heading = "Configuration")]
    config: Option<PathBuf>,
    /// No configuration file
    #[arg(long, help_heading = "Configuration")]
    no_config: bool,

    /// The file with the findings that are known, and not shown
    #[arg(long, value_name = "FILE", help_heading = "Known findings")]
    baseline: Option<PathBuf>,

    /// Only these rules: names, `nginx`, `caddy`, categories or `all`
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    select: Vec<String>,
    /// Not these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    ignore: Vec<String>,
    /// How bad: RULE=LEVEL with off, on, info, warning or error; also of `nginx`, `caddy`, categories, `all`
    #[arg(long, value_name = "RULE=LEVEL", value_delimiter = ',', help_heading = "Rules")]
    severity: Vec<RuleLevel>,
    /// A folder with rules of your own
    #[arg(long, value_name = "DIR", help_heading = "Rules")]
    rules: Vec<PathBuf>,
}

/// Options that say which findings matter.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Limits {
    /// Leave out findings below this: info, warning or error [info]
    #[arg(long, value_name = "LEVEL", value_enum, hide_possible_values = true, help_heading = "Output")]
    min_severity: Option<Level>,
    /// Exit with 1 for findings from this level on [warning]
    #[arg(long, value_name = "LEVEL", value_enum, hide_possible_values = true, help_heading = "Output")]
    fail_on: Option<Level>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    Info,
    Warning,
    Error,
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

/// `RULE=LEVEL` of `--severity`.
#[derive(Debug, Clone)]
struct RuleLevel {
    rule: String,
    level: rule::Level,
}

impl FromStr for RuleLevel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "write a rule, `=`, and off, on, info, warning or error: nginx/syntax=error";
        let (name, level) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or(example)?;
        let level = match level {
            "off" => rule::Level::Off,
            "on" => rule::Level::On,
            "info" => rule::Level::At(Severity::Info),
            "warning" => rule::Level::At(Severity::Warning),
            "error" => rule::Level::At(Severity::Error),
            _ => return Err(format!("there is no level `{level}`; {example}")),
        };
        Ok(Self { rule: name.to_owned(), level })
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

impl Inputs {
    /// The configuration files of a run, under what the command line states.
    ///
    /// `home` is the folder whose file holds for everything, where files are not in their own folders.
    pub(super) fn store(&self, limits: &Limits, home: Option<PathBuf>, terminal: &Terminal) -> Result<Store, Trouble> {
        let choice = match &self.config {
            Some(path) => Choice::Named(path.clone()),
            None if self.no_config => Choice::Nothing,
            None => home.map_or(Choice::Nearest, Choice::From),
        };
        let store = Store::new(Box::new(Disk), terminal.base.clone(), choice, self.flags(limits)?);
        store.map_err(|error| Trouble::new(error.to_string()))
    }

    fn flags(&self, limits: &Limits) -> Result<Flags, Trouble> {
        Ok(Flags {
            nginx: self.nginx.as_deref().map(|text| versions(Server::Nginx, text)).transpose()?,
            caddy: self.caddy.as_deref().map(|text| versions(Server::Caddy, text)).transpose()?,
            nginx_build: self.nginx_build.as_deref().map(nginx_build).transpose()?,
            caddy_build: self.caddy_build.as_deref().map(caddy_build).transpose()?,
            peak_concurrency: self.peak_concurrency,
            maps: maps(&self.map)?,
            env: environment(&self.env)?,
            rule_folders: self.rules.clone(),
            select: self.select.clone(),
            ignore: self.ignore.clone(),
            levels: self.severity.iter().map(|it| (it.rule.clone(), it.level)).collect(),
            exclude: self.exclude.clone(),
            all: self.all,
            min_severity: limits.min_severity.map(Level::severity),
            fail_on: limits.fail_on.map(Level::severity),
            baseline: self.baseline.clone(),
            installed: |server| installed::versions(server).map_err(PolicyError::from),
        })
    }
}

impl From<Trouble> for PolicyError {
    fn from(Trouble { message, help }: Trouble) -> Self {
        Self { message, help }
    }
}

/// What `nginx -V` wrote into a file.
fn nginx_build(path: &Path) -> Result<(PathBuf, Build), Trouble> {
    build("--nginx-build", path, "write it with `nginx -V 2> FILE`", Build::parse)
}

/// What `caddy list-modules` wrote into a file.
fn caddy_build(path: &Path) -> Result<(PathBuf, caddy::Build), Trouble> {
    build("--caddy-build", path, "write it with `caddy list-modules --packages > FILE`", caddy::Build::parse)
}

fn build<B, E: Display>(
    option: &str,
    path: &Path,
    help: &str,
    parse: impl Fn(&str) -> Result<B, E>,
) -> Result<(PathBuf, B), Trouble> {
    let trouble = |why: String| Trouble::new(format!("`{option} {}`: {why}", path.display())).help(help);
    let text = Disk.read(path).map_err(|error| trouble(reason(&error)))?;
    let build = parse(&String::from_utf8_lossy(&text)).map_err(|error| trouble(error.to_string()))?;
    Ok((path.to_owned(), build))
}

fn versions(server: Server, text: &str) -> Result<Versions, Trouble> {
    match text {
        "auto" => installed::versions(server),
        _ => Versions::parse(server, text).map_err(|error| Trouble::new(error.to_string())),
    }
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

fn maps(pairs: &[Map]) -> Result<Vec<(PathBuf, PathBuf)>, Trouble> {
    let pair = |Map { from, to }: &Map| {
        if Disk.kind(to) != Kind::Folder {
            let message = format!("`--map {}={}`: there is no folder `{1}`", from.display(), to.display());
            return Err(Trouble::new(message).help("name the folder here that the server has under the first name"));
        }
        Ok((from.clone(), to.clone()))
    };
    pairs.iter().map(pair).collect()
}
