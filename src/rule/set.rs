//! The rules of a run: the program's own and users', which of them run, and how severe they are.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::checks;
use crate::files::globs::Globs;
use crate::files::{Files, Kind, reason};
use crate::rule::definition::{Activation, Finds, Param, Params, Rule};
use crate::rule::file::{self, Page, PageError};
use crate::rule::level::{Category, Severity};
use crate::suggest;
use crate::version::Server;

/// A rule of a run.
#[derive(Debug, Clone)]
pub struct Active {
    /// The rule.
    pub rule: Cow<'static, Rule>,
    /// Its severity in this run.
    pub severity: Severity,
    /// Whether it runs.
    pub on: bool,
    /// Where it is another; later ones win.
    pub exceptions: Vec<Exception>,
}

/// Another severity of a rule for some files.
#[derive(Debug, Clone)]
pub struct Exception {
    /// The files.
    pub paths: Arc<Globs>,
    /// What holds there.
    pub level: Level,
}

/// What a user says of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// It does not run.
    Off,
    /// It runs with the severity of its page.
    On,
    /// It runs with this severity.
    At(Severity),
}

/// The rules of a run, sorted by id.
#[derive(Debug, Clone)]
pub struct RuleSet {
    rules: Vec<Active>,
}

/// A folder of rules, or a name of a rule, that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// No rule has that name.
    #[error("no rule, category or server is called `{name}`; {hint}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// "did you mean `…`?" or where to look.
        hint: String,
    },
    /// A rule has no such parameter, or not with such a value.
    #[error("{0}")]
    Param(String),
    /// A page is no rule.
    #[error(transparent)]
    Page(#[from] PageError),
    /// A file or folder cannot be read.
    #[error("cannot read the rules in {}: {reason}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why, in the system's words.
        reason: String,
    },
    /// A folder has no page in it.
    #[error("there is no rule in {}; a rule is a Markdown file, such as nginx/error-log-off.md", .0.display())]
    Empty(PathBuf),
    /// Two rules have one name.
    #[error("{path}:1: there is a rule called `{id}` already; give this one another name")]
    Taken {
        /// The page that came second.
        path: String,
        /// The name.
        id: String,
    },
}

impl RuleSet {
    /// The program's own rules, each as its page says.
    pub fn builtin() -> Self {
        Self { rules: super::RULES.iter().map(|rule| Active::new(Cow::Borrowed(rule))).collect() }
    }

    /// No rules: for trying out a few.
    pub fn empty() -> Self {
        Self { rules: Vec::new() }
    }

    /// All rules, also those that do not run, sorted by id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Active> {
        self.rules.iter()
    }

    /// The rules that run on configurations of that server.
    pub fn running(&self, server: Server) -> impl Iterator<Item = &Active> {
        self.rules.iter().filter(move |active| active.runs() && active.rule.server == Some(server))
    }

    /// The severity of a rule in a file; `None` where it does not run.
    pub fn severity_at(&self, id: &str, path: &Path) -> Option<Severity> {
        let at = self.rules.binary_search_by(|active| active.rule.id.as_ref().cmp(id)).ok()?;
        self.rules[at].severity_at(path)
    }

    /// The rule of that id, or that had it before it was renamed.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(&self, name: &str) -> Result<&Active, RuleError> {
        let found = self.rules.iter().find(|active| active.is_called(name));
        found.ok_or_else(|| self.unknown(name, self.rules.iter().map(|active| active.rule.id.as_ref())))
    }

    /// Adds a rule.
    ///
    /// # Errors
    /// When its name is taken. `path` is the page that errors name.
    pub fn add(&mut self, rule: Rule, path: &str) -> Result<(), RuleError> {
        let names = std::iter::once(&rule.id).chain(rule.aliases.iter());
        if let Some(id) = names.into_iter().find(|id| self.rules.iter().any(|active| active.is_called(id))) {
            return Err(RuleError::Taken { path: path.to_owned(), id: id.clone().into_owned() });
        }
        let at = self.rules.partition_point(|active| active.rule.id < rule.id);
        self.rules.insert(at, Active::new(Cow::Owned(rule)));
        Ok(())
    }

    /// Adds the rules of a folder.
    ///
    /// # Errors
    /// When a page cannot be read or is no rule, a name is taken, or there is no page at all.
    pub fn add_folder(&mut self, files: &dyn Files, folder: &Path) -> Result<(), RuleError> {
        for (path, page) in read_folder(files, folder)? {
            self.add(page.rule, &path)?;
        }
        Ok(())
    }

    /// Which rules run. With `select`, only what it names; then less what `ignore` names. A name is
    /// a rule, the folder it lies in (`nginx`), a category, or `all`; the narrower name wins. A rule
    /// that is off by default runs when it is named itself, or by `all`.
    ///
    /// # Errors
    /// When a name is not known.
    pub fn select<S: AsRef<str>>(&mut self, select: &[S], ignore: &[S]) -> Result<(), RuleError> {
        for name in select.iter().chain(ignore) {
            self.check_selector(name.as_ref())?;
        }
        let narrowest = |active: &Active, names: &[S]| names.iter().filter_map(|n| active.named_by(n.as_ref())).max();
        for active in &mut self.rules {
            let (selected, ignored) = (narrowest(active, select), narrowest(active, ignore));
            let on = match active.rule.activation {
                Activation::Always => true,
                _ if select.is_empty() => active.on,
                Activation::On => selected.is_some(),
                Activation::Off => matches!(selected, Some(Width::Rule | Width::All)),
            };
            let allowed = ignored.is_none() || selected > ignored;
            active.on = on && allowed;
            let keeps = |level: Level| level == Level::Off || allowed && (select.is_empty() || on);
            active.exceptions.retain(|exception| keeps(exception.level));
        }
        Ok(())
    }

    /// Says what holds for the rules with that name, in all files or in some. Where the name is that of
    /// several rules, those that are off by default stay so unless it is `all`.
    ///
    /// # Errors
    /// When the name is not known.
    pub fn set(&mut self, name: &str, level: Level, paths: Option<&Arc<Globs>>) -> Result<(), RuleError> {
        self.check_selector(name)?;
        for active in &mut self.rules {
            match active.named_by(name) {
                None => {}
                Some(Width::Group) if active.rule.activation == Activation::Off && !active.runs() => {}
                Some(_) => match paths {
                    None => active.set(level),
                    Some(paths) => active.exceptions.push(Exception { paths: paths.clone(), level }),
                },
            }
        }
        Ok(())
    }

    /// Changes a parameter of a rule.
    ///
    /// # Errors
    /// When no rule has that name, or the rule has no such number, flag or list to change.
    pub fn set_param(&mut self, rule: &str, name: &str, value: Param) -> Result<(), RuleError> {
        let id = self.find(rule)?.rule.id.clone();
        let at = self.rules.iter().position(|active| active.rule.id == id).expect("just found");
        let Rule { finds, .. } = self.rules[at].rule.to_mut();
        let none = Params::default();
        let known = match finds {
            Finds::Check { params, .. } => &*params,
            Finds::Match { .. } => &none,
        };
        // A text says which of its faults a check reports: the rule would be another one.
        let open = |value: &Param| !matches!(value, Param::Text(_));
        let names: Vec<&str> = known.iter().filter(|(_, value)| open(value)).map(|(name, _)| name).collect();
        if !names.contains(&name) {
            let hint = match names.as_slice() {
                [] => "; it has none".to_owned(),
                _ => suggest::did_you_mean(name, names.iter().copied()),
            };
            return Err(RuleError::Param(format!("`{id}` has no parameter `{name}`{hint}")));
        }
        if known.get(name).map(std::mem::discriminant) != Some(std::mem::discriminant(&value)) {
            let like = format!("`{name}` of `{id}` must be of the kind that its page gives it");
            return Err(RuleError::Param(like));
        }
        let changed = Params::new(
            known
                .iter()
                .map(|(key, old)| (key.to_owned().into(), if key == name { value.clone() } else { old.clone() }))
                .collect(),
        );
        if let Finds::Check { name: check, params } = finds {
            if let Some(wrong) = checks::wrong_params(check, &changed) {
                return Err(RuleError::Param(format!("`{id}`: {wrong}")));
            }
            *params = changed;
        }
        Ok(())
    }

    fn check_selector(&self, name: &str) -> Result<(), RuleError> {
        if self.rules.iter().any(|active| active.named_by(name).is_some()) || CATEGORIES.contains(&name) {
            return Ok(());
        }
        let ids = self.rules.iter().flat_map(|active| [active.rule.id.as_ref(), active.folder()]);
        Err(self.unknown(name, ids.chain(CATEGORIES).chain(["all"])))
    }

    fn unknown<'a>(&self, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> RuleError {
        let whole = suggest::nearest(name, known.clone());
        // Or the rule of that name in a folder that was forgotten.
        let ending = |id: &&str| id.rsplit_once('/').is_some_and(|(_, last)| suggest::nearest(name, [last]).is_some());
        let near = whole.or_else(|| known.clone().find(ending));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`proxylint rules` lists all".to_owned(),
        };
        RuleError::Unknown { name: name.to_owned(), hint }
    }
}

const CATEGORIES: [&str; 5] = ["security", "correctness", "performance", "upgrade", "style"];

/// How much a name covers; the narrowest is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Width {
    All,
    Group,
    Rule,
}

impl Active {
    fn new(rule: Cow<'static, Rule>) -> Self {
        Self { severity: rule.severity, on: rule.activation != Activation::Off, rule, exceptions: Vec::new() }
    }

    /// Whether it runs on any file.
    pub fn runs(&self) -> bool {
        self.on || self.exceptions.iter().any(|exception| exception.level != Level::Off)
    }

    /// Its severity in a file; `None` where it does not run.
    pub fn severity_at(&self, path: &Path) -> Option<Severity> {
        let own = self.on.then_some(self.severity);
        let exception = self.exceptions.iter().rev().find(|exception| exception.paths.matches(path));
        exception.map_or(own, |exception| match exception.level {
            Level::Off => None,
            Level::On => Some(self.severity),
            Level::At(severity) => Some(severity),
        })
    }

    fn set(&mut self, level: Level) {
        self.on = level != Level::Off;
        if let Level::At(severity) = level {
            self.severity = severity;
        }
    }

    fn is_called(&self, name: &str) -> bool {
        self.rule.id == name || self.rule.aliases.iter().any(|alias| alias == name)
    }

    fn folder(&self) -> &str {
        self.rule.id.split_once('/').map_or("", |(folder, _)| folder)
    }

    fn named_by(&self, name: &str) -> Option<Width> {
        let category = |category: Category| category.as_str() == name;
        if self.is_called(name) {
            Some(Width::Rule)
        } else if name == self.folder() || category(self.rule.category) {
            Some(Width::Group)
        } else {
            (name == "all").then_some(Width::All)
        }
    }
}

/// The pages of a folder and of the folders in it, sorted by path; a README is none.
///
/// # Errors
/// When one cannot be read or is no rule, or there is none at all.
pub fn read_folder(files: &dyn Files, folder: &Path) -> Result<Vec<(String, Page)>, RuleError> {
    let mut pages = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let unreadable = |path: &Path, e: std::io::Error| RuleError::Read { path: path.to_owned(), reason: reason(&e) };
        for name in files.list(&next).map_err(|e| unreadable(&next, e))? {
            let path = next.join(&name);
            if files.kind(&path) == Kind::Folder {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") && name != "README.md" {
                let bytes = files.read(&path).map_err(|e| unreadable(&path, e))?;
                pages.push(read_page(folder, &path, &bytes)?);
            }
        }
    }
    if pages.is_empty() {
        return Err(RuleError::Empty(folder.to_owned()));
    }
    pages.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(pages)
}

fn read_page(folder: &Path, path: &Path, bytes: &[u8]) -> Result<(String, Page), RuleError> {
    let shown = path.display().to_string();
    let error = |line: usize, message: String| PageError { path: shown.clone(), line, message };
    let below = path.strip_prefix(folder).unwrap_or(path).with_extension("");
    let id = below.to_str().ok_or_else(|| error(1, "the name of a rule is UTF-8".to_owned()))?.replace('\\', "/");
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = bytes[..e.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() + 1;
        error(line, "the page is not UTF-8 here".to_owned())
    })?;
    let page = file::read(&id, &shown, text)?;
    if let Finds::Check { name, params } = &page.rule.finds {
        let line_of = |key: &str| text.lines().position(|line| line.trim_start().starts_with(key)).unwrap_or(0) + 1;
        if checks::find(name).is_none() {
            let hint = suggest::did_you_mean(name, checks::CHECKS.iter().map(|check| check.name));
            return Err(error(line_of("check"), format!("there is no check called `{name}`{hint}")).into());
        }
        if let Some(wrong) = checks::wrong_params(name, params) {
            return Err(error(line_of("params"), wrong).into());
        }
    }
    Ok((shown, page))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;

    fn page(id: &str, extra: &str) -> String {
        format!(
            "# {id}\n\nWhat is wrong.\n\n```toml rule\nseverity = \"warning\"\ncategory = \"performance\"\nsince = \"0.1.0\"\n\
             message = \"m\"\nmatch = {{ directive = [\"x\"] }}\n{extra}\n```\n"
        )
    }

    fn set(pages: &[(&str, &str)]) -> Result<RuleSet, RuleError> {
        let mut files = Memory::new();
        for (id, extra) in pages {
            files.insert(format!("own/{id}.md"), page(id, extra).as_bytes());
        }
        files.insert("own/README.md", &b"# The index is no rule"[..]);
        let mut rules = RuleSet::empty();
        rules.add_folder(&files, Path::new("own"))?;
        Ok(rules)
    }

    fn running(rules: &RuleSet) -> Vec<&str> {
        rules.iter().filter(|active| active.on).map(|active| active.rule.id.as_ref()).collect()
    }

    fn selected(select: &[&str], ignore: &[&str]) -> String {
        let mut rules = set(&[
            ("caddy/d", ""),
            ("nginx/a", "aliases = [\"nginx/old-a\"]"),
            ("nginx/b", "default = \"off\""),
            ("nginx/syntax", "default = \"always\""),
        ])
        .unwrap();
        rules.select(select, ignore).unwrap();
        running(&rules).join(" ")
    }

    #[test]
    fn the_narrower_name_decides_which_rules_run() {
        for (select, ignore, runs) in [
            (&[][..], &[][..], "caddy/d nginx/a nginx/syntax"),
            (&["nginx/b"], &[], "nginx/b nginx/syntax"),
            (&["nginx/old-a"], &[], "nginx/a nginx/syntax"),
            (&["nginx"], &[], "nginx/a nginx/syntax"),
            (&["all"], &[], "caddy/d nginx/a nginx/b nginx/syntax"),
            (&["performance"], &["nginx"], "caddy/d"),
            (&["nginx", "nginx/b"], &["nginx/a"], "nginx/b nginx/syntax"),
            (&["nginx/a"], &["performance"], "nginx/a"),
            (&[], &["nginx"], "caddy/d"),
            (&[], &["nginx/syntax"], "caddy/d nginx/a"),
            (&["security"], &[], "nginx/syntax"),
        ] {
            assert_eq!(selected(select, ignore), runs, "--select {select:?} --ignore {ignore:?}");
        }
    }

    #[test]
    fn unknown_names_are_told_with_the_one_that_was_meant() {
        let mut rules = set(&[("nginx/bare-proxy-pass", "")]).unwrap();
        let mut error = |name| rules.select(&[name], &[]).unwrap_err().to_string();
        assert!(error("nginx/bare-proxypass").contains("did you mean `nginx/bare-proxy-pass`?"));
        assert!(error("bare-proxy-pass").contains("did you mean `nginx/bare-proxy-pass`?"));
        assert!(error("perfomance").contains("did you mean `performance`?"));
        assert!(error("whatever").ends_with("is called `whatever`; `proxylint rules` lists all"));
    }

    #[test]
    fn names_are_taken_once() {
        let error = set(&[("nginx/a", ""), ("nginx/b", "aliases = [\"nginx/a\"]")]).unwrap_err().to_string();
        assert_eq!(error, "own/nginx/b.md:1: there is a rule called `nginx/a` already; give this one another name");
        assert!(matches!(set(&[]), Err(RuleError::Empty(_))));
    }

    #[test]
    fn pages_that_name_no_check_or_are_not_text_are_told_by_line() {
        let mut files = Memory::new();
        let text = page("nginx/a", "").replace("match = { directive = [\"x\"] }", "check = \"nginx/sintax\"");
        files.insert("own/nginx/a.md", text.as_bytes());
        let error = |files: &Memory| read_folder(files, Path::new("own")).unwrap_err().to_string();
        assert_eq!(
            error(&files),
            "own/nginx/a.md:10: there is no check called `nginx/sintax`; did you mean `nginx/syntax`?"
        );
        files.insert("own/nginx/a.md", &b"# nginx/a\n\n\xff\n"[..]);
        assert_eq!(error(&files), "own/nginx/a.md:3: the page is not UTF-8 here");
        assert!(
            read_folder(&files, Path::new("other")).unwrap_err().to_string().contains("cannot read the rules in other")
        );
    }
}
