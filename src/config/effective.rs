//! What is in effect for a path, and where each value comes from.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Error, File, Flags, Layer, Placed, RuleSetting};
use crate::catalog::nginx::Build;
use crate::checks::Settings;
use crate::files::{Files, Kind, reason};
use crate::finding::Severity;
use crate::model::include::PathMap;
use crate::rule::{Level, Param, RuleSet};
use crate::session::policy::Policy;
use crate::syntax::caddy::Env;
use crate::target::{Target, Versions};
use crate::version::Server;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Nobody states it.
    Default,
    /// A line of a configuration file.
    Line(String, usize),
    /// An option of the command line.
    Flag(&'static str),
}

/// A setting in effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its key, as TOML: `nginx`, `map."/etc/nginx"`.
    pub key: String,
    /// Its value, as TOML; `None` where nothing is set.
    pub value: Option<String>,
    /// What it means, where the value does not say it.
    pub note: Option<String>,
    /// Where it comes from.
    pub place: Place,
}

/// What is in effect for a path.
#[derive(Debug)]
pub struct Effective {
    /// The configuration file.
    pub file: Option<Arc<File>>,
    /// What holds.
    pub policy: Policy,
    /// Every setting with its source, in the order of the keys.
    pub settings: Vec<Setting>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Line(file, line) => write!(f, "{file}:{line}"),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

impl Effective {
    pub(super) fn new(
        files: &dyn Files,
        file: Option<Arc<File>>,
        path: &Path,
        flags: &Flags,
        rules: Arc<RuleSet>,
    ) -> Result<Self, Error> {
        let mut layers: Vec<&Layer> = Vec::new();
        if let Some(file) = &file {
            layers.extend(file.targets_of(path).map(|target| &target.layer));
            layers.push(&file.base);
        }
        let mut picker = Picker { files, file: file.as_deref(), layers, path, flags, settings: Vec::new() };
        let policy = picker.policy(rules)?;
        let settings = picker.settings;
        Ok(Self { file, policy, settings })
    }
}

struct Picker<'a> {
    files: &'a dyn Files,
    file: Option<&'a File>,
    /// The one that wins first.
    layers: Vec<&'a Layer>,
    path: &'a Path,
    flags: &'a Flags,
    settings: Vec<Setting>,
}

impl<'a> Picker<'a> {
    fn policy(&mut self, rules: Arc<RuleSet>) -> Result<Policy, Error> {
        let flags = self.flags;
        let mut target = Target::assumed();
        let nginx = self.versions(Server::Nginx, flags.nginx.as_ref(), |layer| layer.nginx.as_ref())?;
        let (nginx_build, nginx) = self.nginx_build(nginx)?;
        target.set(Server::Nginx, nginx);
        target.set(Server::Caddy, self.versions(Server::Caddy, flags.caddy.as_ref(), |layer| layer.caddy.as_ref())?);
        let flag = flags.caddy_build.as_ref();
        let parse = crate::catalog::caddy::build::Build::parse;
        let caddy_build = self.build("caddy-build", flag, |layer| layer.caddy_build.as_ref(), parse)?;
        let peak_concurrency = self.pick(
            "peak-concurrency",
            flags.peak_concurrency,
            |layer| layer.peak_concurrency.as_ref(),
            u32::to_string,
        );
        let list = |list: &Vec<String>| array(list);
        let modules = self.pick("modules", None, |layer| layer.modules.as_ref(), list).unwrap_or_default();
        let extra = self.pick("directives", None, |layer| layer.directives.as_ref(), list).unwrap_or_default();
        let settings = Settings { peak_concurrency, modules, extra_directives: extra, nginx_build, caddy_build };
        let (maps, env) = (self.maps()?, self.env()?);
        let file = self.file;
        let excluded = file.and_then(|file| file.excluded.as_ref());
        self.top("exclude", (!flags.exclude.is_empty()).then(|| flags.exclude.clone()), excluded, list);
        let all = self.top("all", flags.all.then_some(true), file.and_then(|file| file.all.as_ref()), bool::to_string);
        let folders = file.and_then(|file| file.rule_folders.as_ref());
        let stated = (!flags.rule_folders.is_empty()).then(|| flags.rule_folders.clone());
        let paths =
            |paths: &Vec<PathBuf>| array(&paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>());
        self.top("rule-folders", stated, folders, paths);
        let word = |severity: &Severity| quoted(severity.as_str());
        let least = file.and_then(|file| file.min_severity.as_ref());
        let least = self.top("min-severity", flags.min_severity, least, word).unwrap_or(Severity::Info);
        let fail_on = file.and_then(|file| file.fail_on.as_ref());
        let fail_on = self.top("fail-on", flags.fail_on, fail_on, word).unwrap_or(Severity::Warning);
        let baseline = file.and_then(|file| file.baseline.as_ref());
        let baseline =
            self.top("baseline", flags.baseline.clone(), baseline, |path: &PathBuf| quoted(&path.to_string_lossy()));
        self.rules();
        let all = all.unwrap_or(false);
        Ok(Policy { maps, env, target, rules, settings, least, fail_on, all, baseline })
    }

    fn line(&self, line: usize) -> Place {
        self.file.map_or(Place::Default, |file| Place::Line(file.shown.clone(), line))
    }

    fn set(&mut self, key: &str, value: Option<String>, note: Option<String>, place: Place) {
        self.settings.push(Setting { key: key.to_owned(), value, note, place });
    }

    /// The value of a key that layers may have: that of the command line, else the first one's.
    fn pick<T: Clone + 'a>(
        &mut self,
        key: &'static str,
        flag: Option<T>,
        of: impl Fn(&'a Layer) -> Option<&'a Placed<T>>,
        shown: impl Fn(&T) -> String,
    ) -> Option<T> {
        let stated = self.layers.iter().find_map(|layer| of(layer));
        self.top(key, flag, stated, shown)
    }

    /// The value of a key at the top.
    fn top<T: Clone>(
        &mut self,
        key: &'static str,
        flag: Option<T>,
        stated: Option<&Placed<T>>,
        shown: impl Fn(&T) -> String,
    ) -> Option<T> {
        let (value, place) = match (flag, stated) {
            (Some(value), _) => (Some(value), Place::Flag(flag_of(key))),
            (None, Some(Placed { value, line })) => (Some(value.clone()), self.line(*line)),
            (None, None) => (None, Place::Default),
        };
        let (text, note) = match (&value, key) {
            (None, "min-severity") => (Some(quoted("info")), None),
            (None, "fail-on") => (Some(quoted("warning")), None),
            (None, "all") => (Some("false".to_owned()), None),
            (value, _) => (value.as_ref().map(shown), None),
        };
        self.set(key, text, note, place);
        value
    }

    /// What `nginx -V` says, and the version that it says where none is stated.
    fn nginx_build(&mut self, nginx: Versions) -> Result<(Option<Build>, Versions), Error> {
        let flag = self.flags.nginx_build.as_ref();
        let build = self.build("nginx-build", flag, |layer| layer.nginx_build.as_ref(), Build::parse)?;
        let Some(build) = build else { return Ok((None, nginx)) };
        let Some(version) = build.version.filter(|_| nginx.stated.is_none()) else { return Ok((Some(build), nginx)) };
        let versions = Versions::parse(Server::Nginx, &version.to_string());
        let path = self.file.map_or_else(String::new, |file| file.shown.clone());
        let versions = versions.map_err(|error| Error { path, line: None, message: error.to_string() })?;
        if let Some(setting) = self.settings.last_mut() {
            setting.note = Some(format!("nginx {version}"));
        }
        Ok((Some(build), versions))
    }

    /// What the server says of its build: that of the command line, else that of the file that a layer names.
    fn build<B: Clone, E: fmt::Display>(
        &mut self,
        key: &'static str,
        flag: Option<&(PathBuf, B)>,
        of: impl Fn(&'a Layer) -> Option<&'a Placed<PathBuf>>,
        parse: impl Fn(&str) -> Result<B, E>,
    ) -> Result<Option<B>, Error> {
        let shown = |path: &PathBuf| quoted(&path.to_string_lossy());
        if let Some((path, build)) = flag {
            self.top(key, Some(path.clone()), None, shown);
            return Ok(Some(build.clone()));
        }
        let stated = self.layers.iter().find_map(|layer| of(layer));
        self.top(key, None, stated, shown);
        let Some(Placed { value: path, line }) = stated else { return Ok(None) };
        let wrong = |why: String| self.error(*line, format!("`{key}`: {}: {why}", path.display()));
        let text = self.files.read(path).map_err(|error| wrong(reason(&error)))?;
        parse(&String::from_utf8_lossy(&text)).map(Some).map_err(|error| wrong(error.to_string()))
    }

    fn versions(
        &mut self,
        server: Server,
        flag: Option<&Versions>,
        of: impl Fn(&'a Layer) -> Option<&'a Placed<String>>,
    ) -> Result<Versions, Error> {
        let key = if server == Server::Nginx { "nginx" } else { "caddy" };
        let stated = self.layers.iter().find_map(|layer| of(layer));
        let (versions, place) = match (flag, stated) {
            (Some(versions), _) => (versions.clone(), Place::Flag(flag_of(key))),
            (None, Some(Placed { value, line })) => (self.stated(server, value, *line)?, self.line(*line)),
            (None, None) => (Versions::assumed(server), Place::Default),
        };
        let words = versions.set.describe(server);
        let (value, note) = match (&versions.stated, stated) {
            (Some(_), Some(placed)) if flag.is_none() => (Some(quoted(&placed.value)), words),
            (Some(text), _) => (Some(quoted(text)), words),
            (None, _) => (None, format!("{words} is assumed")),
        };
        self.set(key, value, Some(note), place);
        Ok(versions)
    }

    fn stated(&self, server: Server, text: &str, line: usize) -> Result<Versions, Error> {
        let versions = match text {
            "auto" => (self.flags.installed)(server).map_err(|error| error.to_string()),
            _ => Versions::parse(server, text).map_err(|error| error.to_string()),
        };
        versions.map_err(|message| self.error(line, message))
    }

    fn error(&self, line: usize, message: String) -> Error {
        match self.file {
            Some(file) => file.error(line, message),
            None => Error { path: super::NAME.to_owned(), line: Some(line), message },
        }
    }

    /// What all layers say, the one that wins last, and the command line.
    fn maps(&mut self) -> Result<PathMap, Error> {
        let mut maps = PathMap::default();
        let mut known: Vec<(PathBuf, PathBuf, Place)> = Vec::new();
        for placed in self.layers.iter().rev().filter_map(|layer| layer.map.as_ref()) {
            for (from, to) in &placed.value {
                if self.files.kind(to) != Kind::Folder {
                    let text = format!("`map`: there is no folder `{}` for `{}`", to.display(), from.display());
                    return Err(self.error(placed.line, text));
                }
                known.push((from.clone(), to.clone(), self.line(placed.line)));
            }
        }
        known.extend(self.flags.maps.iter().map(|(from, to)| (from.clone(), to.clone(), Place::Flag("--map"))));
        for (from, to, _) in &known {
            maps.add(from, to);
        }
        if known.is_empty() {
            self.set("map", None, None, Place::Default);
        }
        for (from, to, place) in known {
            let (key, value) = (format!("map.{}", quoted(&from.to_string_lossy())), quoted(&to.to_string_lossy()));
            self.replace(key, value, place);
        }
        Ok(maps)
    }

    fn env(&mut self) -> Result<Env, Error> {
        let mut env = Env::new();
        let mut known: Vec<(String, String, Place)> = Vec::new();
        for layer in self.layers.iter().rev() {
            for placed in layer.env_files.iter() {
                for path in &placed.value {
                    let wrong =
                        |why: String| self.error(placed.line, format!("`env-files`: {}: {why}", path.display()));
                    let text = self.files.read(path).map_err(|error| wrong(reason(&error)))?;
                    env.set_file(&String::from_utf8_lossy(&text)).map_err(|error| wrong(error.to_string()))?;
                }
            }
            for placed in layer.env.iter() {
                for (name, value) in &placed.value {
                    env.set(name.as_str(), value.as_str());
                    known.push((name.clone(), value.clone(), self.line(placed.line)));
                }
            }
        }
        let files = self.layers.iter().find_map(|layer| layer.env_files.as_ref());
        let paths =
            |paths: &Vec<PathBuf>| array(&paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>());
        env.extend(&self.flags.env);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        known.extend(self.flags.env.iter().map(|(name, value)| (text(name), text(value), Place::Flag("--env"))));
        if known.is_empty() {
            self.set("env", None, None, Place::Default);
        }
        for (name, value, place) in known {
            self.replace(format!("env.{}", key(&name)), quoted(&value), place);
        }
        self.top("env-files", None, files, paths);
        Ok(env)
    }

    fn replace(&mut self, key: String, value: String, place: Place) {
        self.settings.retain(|setting| setting.key != key);
        self.settings.push(Setting { key, value: Some(value), note: None, place });
    }

    /// What is said of rules, in the order in which it holds.
    fn rules(&mut self) {
        let file = self.file;
        for setting in file.iter().flat_map(|file| &file.rules) {
            let place = self.line(setting.line);
            self.replace(format!("rules.{}", key(&setting.name)), level(setting), place);
        }
        for one in file.iter().flat_map(|file| &file.overrides).filter(|one| one.paths.matches(self.path)) {
            for setting in &one.rules {
                let place = self.line(setting.line);
                self.replace(format!("rules.{}", key(&setting.name)), level(setting), place);
            }
        }
        let flags = self.flags;
        if !flags.select.is_empty() {
            self.replace("rules.all".to_owned(), quoted("off"), Place::Flag("--select"));
        }
        for name in &flags.select {
            self.replace(format!("rules.{}", key(name)), quoted("on"), Place::Flag("--select"));
        }
        for name in &flags.ignore {
            self.replace(format!("rules.{}", key(name)), quoted("off"), Place::Flag("--ignore"));
        }
        if !self.settings.iter().any(|setting| setting.key.starts_with("rules.")) {
            self.set("rules", None, None, Place::Default);
        }
    }
}

fn flag_of(key: &str) -> &'static str {
    match key {
        "nginx" => "--nginx",
        "caddy" => "--caddy",
        "nginx-build" => "--nginx-build",
        "caddy-build" => "--caddy-build",
        "peak-concurrency" => "--peak-concurrency",
        "exclude" => "--exclude",
        "all" => "--all",
        "rule-folders" => "--rules",
        "min-severity" => "--min-severity",
        "fail-on" => "--fail-on",
        "baseline" => "--baseline",
        _ => "the command line",
    }
}

fn level(setting: &RuleSetting) -> String {
    let level = setting.level.map(|level| quoted(level_word(level)));
    if setting.params.is_empty() {
        return level.unwrap_or_else(|| quoted("on"));
    }
    let level = level.map(|level| format!("level = {level}"));
    let params = setting.params.iter().map(|(name, value)| format!("{} = {}", key(name), param(value)));
    format!("{{ {} }}", level.into_iter().chain(params).collect::<Vec<_>>().join(", "))
}

fn level_word(level: Level) -> &'static str {
    match level {
        Level::Off => "off",
        Level::On => "on",
        Level::At(severity) => severity.as_str(),
    }
}

fn param(value: &Param) -> String {
    match value {
        Param::Text(text) => quoted(text),
        Param::Number(number) => number.to_string(),
        Param::Flag(flag) => flag.to_string(),
        Param::List(list) => format!("[{}]", list.iter().map(param).collect::<Vec<_>>().join(", ")),
        Param::Table(table) => {
            let pairs = table.iter().map(|(name, value)| format!("{} = {}", key(name), param(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A text as TOML.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// A key as TOML.
fn key(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { quoted(name) }
}

fn array(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))
}
