//! The text of a `proxylint.toml` to a [`File`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Error, File, Layer, Override, Placed, RuleSetting, Target};
use crate::files::globs::Globs;
use crate::files::normal;
use crate::finding::Severity;
use crate::rule::{Level, Param};
use crate::table::{Table, TableError, Value};
use crate::target::Versions;
use crate::version::Server;
use toml::de::DeValue;

const SEVERITIES: [(&str, Severity); 3] =
    [("info", Severity::Info), ("warning", Severity::Warning), ("error", Severity::Error)];

const LEVELS: [(&str, Level); 5] = [
    ("off", Level::Off),
    ("on", Level::On),
    ("info", Level::At(Severity::Info)),
    ("warning", Level::At(Severity::Warning)),
    ("error", Level::At(Severity::Error)),
];

/// Reads a file. `shown` is what errors call it, `folder` what its paths are relative to, `base` the
/// working directory; both absolute.
///
/// # Errors
/// The first thing that is wrong, with its line.
pub(super) fn read(text: &[u8], shown: &str, folder: &Path, base: &Path) -> Result<File, Error> {
    let line_of = |at: usize| text[..at.min(text.len())].iter().filter(|&&byte| byte == b'\n').count() + 1;
    let error = |at: usize, message: String| Error { path: shown.to_owned(), line: Some(line_of(at)), message };
    let text = match std::str::from_utf8(text) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(bad) => return Err(error(bad.valid_up_to(), "the file is not UTF-8 here".to_owned())),
    };
    let reader = Reader { text, folder, base };
    reader.file(shown).map_err(|TableError { at, message }| error(at, message))
}

struct Reader<'a> {
    text: &'a str,
    folder: &'a Path,
    base: &'a Path,
}

impl Reader<'_> {
    fn file(&self, shown: &str) -> Result<File, TableError> {
        let mut table = Table::parse(self.text).map_err(quotes)?;
        table.take("$schema").map(Value::text).transpose()?;
        // First of all: a newer file may have keys that this program does not know.
        if let Some(value) = table.take("required-version") {
            required(value)?;
        }
        let base = self.layer(&mut table)?;
        let mut exclude = Globs::new(self.folder, self.base);
        let excluded = self.placed(&mut table, "exclude", |value| patterns(value, &mut exclude))?;
        let file = File {
            shown: shown.to_owned(),
            folder: self.folder.to_owned(),
            base,
            exclude,
            excluded,
            all: self.placed(&mut table, "all", Value::flag)?,
            rule_folders: self.placed(&mut table, "rule-folders", |value| self.paths(value))?,
            min_severity: self.placed(&mut table, "min-severity", |value| value.one_of(&SEVERITIES))?,
            fail_on: self.placed(&mut table, "fail-on", |value| value.one_of(&SEVERITIES))?,
            baseline: self.placed(&mut table, "baseline", |value| Ok(self.path(&value.text()?)))?,
            rules: table.take("rules").map(|value| self.rules(value, true)).transpose()?.unwrap_or_default(),
            targets: self.tables(&mut table, "target", |table| {
                Ok(Target { paths: self.globs(table)?, layer: self.layer(table)? })
            })?,
            overrides: self.tables(&mut table, "override", |table| {
                let paths = Arc::new(self.globs(table)?);
                Ok(Override { paths, rules: self.rules(table.need("rules")?, false)? })
            })?,
        };
        table.finish()?;
        Ok(file)
    }

    fn layer(&self, table: &mut Table<'_>) -> Result<Layer, TableError> {
        Ok(Layer {
            nginx: self.placed(table, "nginx", |value| version(value, Server::Nginx))?,
            caddy: self.placed(table, "caddy", |value| version(value, Server::Caddy))?,
            nginx_build: self.placed(table, "nginx-build", |value| Ok(self.path(&value.text()?)))?,
            caddy_build: self.placed(table, "caddy-build", |value| Ok(self.path(&value.text()?)))?,
            peak_concurrency: self.placed(table, "peak-concurrency", count)?,
            modules: self.placed(table, "modules", Value::texts)?,
            directives: self.placed(table, "directives", Value::texts)?,
            map: self.placed(table, "map", |value| self.map(value))?,
            env: self.placed(table, "env", pairs)?,
            env_files: self.placed(table, "env-files", |value| self.paths(value))?,
        })
    }

    fn line(&self, at: usize) -> usize {
        self.text[..at.min(self.text.len())].matches('\n').count() + 1
    }

    fn placed<'t, T>(
        &self,
        table: &mut Table<'t>,
        key: &'static str,
        read: impl FnOnce(Value<'t>) -> Result<T, TableError>,
    ) -> Result<Option<Placed<T>>, TableError> {
        let Some(value) = table.take(key) else { return Ok(None) };
        let line = self.line(value.at());
        Ok(Some(Placed { value: read(value)?, line }))
    }

    /// The tables of a list of tables; a single table counts as a list of one.
    fn tables<T>(
        &self,
        table: &mut Table<'_>,
        key: &'static str,
        read: impl Fn(&mut Table<'_>) -> Result<T, TableError>,
    ) -> Result<Vec<T>, TableError> {
        let values = match table.take(key) {
            None => return Ok(Vec::new()),
            Some(value) if matches!(value.raw(), DeValue::Table(_)) => vec![value],
            Some(value) => value.list()?,
        };
        let one = |value: Value<'_>| {
            let mut table = value.table()?;
            let read = read(&mut table)?;
            table.finish()?;
            Ok(read)
        };
        values.into_iter().map(one).collect()
    }

    /// A path of the file, from the working directory on where it lies below.
    fn path(&self, text: &str) -> PathBuf {
        let whole = normal(&self.folder.join(text));
        match whole.strip_prefix(self.base) {
            Ok(below) if below.as_os_str().is_empty() => PathBuf::from("."),
            Ok(below) => below.to_owned(),
            Err(_) => whole,
        }
    }

    fn paths(&self, value: Value<'_>) -> Result<Vec<PathBuf>, TableError> {
        Ok(value.texts()?.iter().map(|text| self.path(text)).collect())
    }

    fn globs(&self, table: &mut Table<'_>) -> Result<Globs, TableError> {
        let mut globs = Globs::new(self.folder, self.base);
        patterns(table.need("paths")?, &mut globs)?;
        Ok(globs)
    }

    fn map(&self, value: Value<'_>) -> Result<Vec<(PathBuf, PathBuf)>, TableError> {
        let at = value.at();
        let pair = |(from, to): (String, String)| {
            if !from.starts_with('/') {
                let text = format!("the server's folder `{from}` in `map` does not begin with `/`");
                return Err(TableError::new(at, text));
            }
            Ok((PathBuf::from(from), self.path(&to)))
        };
        pairs(value)?.into_iter().map(pair).collect()
    }

    fn rules(&self, value: Value<'_>, with_params: bool) -> Result<Vec<RuleSetting>, TableError> {
        let mut rules = Vec::new();
        for (name, value) in value.table()?.rest() {
            let line = self.line(value.at());
            let (level, params) = match value.raw() {
                DeValue::Table(_) if with_params => parameters(value)?,
                _ => (Some(value.one_of(&LEVELS)?), Vec::new()),
            };
            rules.push(RuleSetting { name, level, params, line });
        }
        rules.sort_by_key(RuleSetting::breadth);
        Ok(rules)
    }
}

/// Says what TOML does not: names of rules have a `/` in them.
fn quotes(mut error: TableError) -> TableError {
    if error.message.contains("invalid unquoted key") {
        error.message += "; a name with `/` stands in quotes: \"nginx/syntax\"";
    }
    error
}

type NamedParams = Vec<(String, Param)>;

/// `{ level = "warning", most = 3 }`.
fn parameters(value: Value<'_>) -> Result<(Option<Level>, NamedParams), TableError> {
    let mut table = value.table()?;
    let level = table.take("level").map(|value| value.one_of(&LEVELS)).transpose()?;
    let params = table.rest().map(|(name, value)| Ok((name, param(value)?)));
    Ok((level, params.collect::<Result<_, TableError>>()?))
}

fn param(value: Value<'_>) -> Result<Param, TableError> {
    match value.raw() {
        DeValue::String(_) => Ok(Param::Text(value.text()?.into())),
        DeValue::Boolean(_) => Ok(Param::Flag(value.flag()?)),
        DeValue::Array(_) => {
            Ok(Param::List(value.list()?.into_iter().map(param).collect::<Result<Vec<_>, _>>()?.into()))
        }
        _ => Ok(Param::Number(value.number()?)),
    }
}

/// The patterns as written, and compiled.
fn patterns(value: Value<'_>, globs: &mut Globs) -> Result<Vec<String>, TableError> {
    let at = value.at();
    let texts = value.texts()?;
    for text in &texts {
        globs.add(text).map_err(|message| TableError::new(at, message))?;
    }
    Ok(texts)
}

fn version(value: Value<'_>, server: Server) -> Result<String, TableError> {
    value.parse(|text| match text {
        "auto" => Ok(text.to_owned()),
        _ => Versions::parse(server, text).map(|_| text.to_owned()),
    })
}

fn count(value: Value<'_>) -> Result<u32, TableError> {
    let wrong = value.error(format_args!("must be a whole number from 1 to {}", u32::MAX));
    match u32::try_from(value.number()?) {
        Ok(0) | Err(_) => Err(wrong),
        Ok(count) => Ok(count),
    }
}

fn pairs(value: Value<'_>) -> Result<Vec<(String, String)>, TableError> {
    value.table()?.rest().map(|(name, value)| Ok((name, value.text()?))).collect()
}

/// Sees to it that this program is one that the file asks for.
fn required(value: Value<'_>) -> Result<(), TableError> {
    let own = env!("CARGO_PKG_VERSION");
    let version = semver::Version::parse(own).map_err(|error| value.error(error))?;
    let wanted = |text: &str| semver::VersionReq::parse(text).map(|wanted| (wanted, text.to_owned()));
    let at = value.at();
    let (wanted, text) = value.parse(wanted)?;
    if wanted.matches(&version) {
        return Ok(());
    }
    Err(TableError::new(
        at,
        format!("this project asks for proxylint `{text}`, and this is {own}; install another version"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<File, Error> {
        read(text.as_bytes(), "proxylint.toml", Path::new("/repo"), Path::new("/repo"))
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, message) in [
            ("ngnix = \"1.24\"", "1: unknown key `ngnix`; did you mean `nginx`?"),
            ("\nnginx = 1.24", "2: `nginx` must be a text, not a number"),
            ("nginx = \"1.2.x\"", "1: `nginx` is wrong: `1.2.x` is not a version"),
            ("caddy = \"nginx:1.24\"", "1: `caddy` is wrong: `nginx:1.24` is an image of nginx, not of Caddy"),
            ("peak-concurrency = 0", "1: `peak-concurrency` must be a whole number from 1"),
            (
                "[rules]\n\"nginx/syntax\" = \"eror\"",
                "2: `nginx/syntax` must be one of `off`, `on`, `info`, `warning`, `error`, not `eror`; did you mean `error`?",
            ),
            ("[[target]]\nnginx = \"1.24\"", "1: the key `paths` is missing"),
            ("[[target]]\npaths = [\"a\"]\nrules = {}", "3: unknown key `rules`"),
            ("[[override]]\npath = [\"a\"]", "2: unknown key `path`; did you mean `paths`?"),
            ("[[override]]\npaths = [\"!a\"]\nrules = {}", "2: `!a`: a pattern cannot be negated"),
            ("map = { nginx = \"a\" }", "1: the server's folder `nginx` in `map` does not begin with `/`"),
            ("required-version = \">=99\"\nfuture = 1", "1: this project asks for proxylint `>=99`"),
            ("required-version = \"new\"", "1: `required-version` is wrong: "),
            ("nginx = \"1.24\"\nnginx = \"1.26\"", "2: duplicate key"),
            ("a = ", "1: "),
            (
                "[rules]\nnginx/syntax = \"off\"",
                "2: invalid unquoted key, expected letters, numbers, `-`, `_`; a name with `/` stands in quotes",
            ),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("proxylint.toml:{message}")), "{text}\n{error}");
        }
        let error = read(b"# \xff", "p", Path::new("/"), Path::new("/")).unwrap_err().to_string();
        assert_eq!(error, "p:1: the file is not UTF-8 here");
    }

    #[test]
    fn a_file_says_what_it_says() {
        let file = parse(
            "nginx = \"1.28\"\nmap = { \"/etc/nginx\" = \"deploy\" }\n[rules]\n\"nginx/syntax\" = \"info\"\nall = \"off\"\n\
             [target]\npaths = \"staging\"\nnginx = \"auto\"\n",
        )
        .unwrap();
        assert_eq!(file.base.nginx, Some(Placed { value: "1.28".to_owned(), line: 1 }));
        assert_eq!(file.base.map.unwrap().value, [("/etc/nginx".into(), "deploy".into())]);
        let names: Vec<_> = file.rules.iter().map(|rule| (rule.name.as_str(), rule.level)).collect();
        assert_eq!(names, [("all", Some(Level::Off)), ("nginx/syntax", Some(Level::At(Severity::Info)))]);
        assert!(file.targets[0].paths.matches(Path::new("staging/nginx.conf")));
        assert_eq!(file.targets[0].layer.nginx.as_ref().unwrap().line, 8);
    }
}
