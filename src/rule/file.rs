//! A page of `rules/` to a [`Rule`] and its examples. Runs in `build.rs` for the program's own
//! pages and at run time for users' ones.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};
use toml::de::DeValue;

use crate::rule::definition::{Activation, Finds, Param, Params, Pattern, Rewrite, Rule, Text, Texts};
use crate::rule::example::{Example, Fence, group};
use crate::rule::level::{Category, Severity};
use crate::rule::template::{self, Piece};
use crate::table::{Table, TableError, Value};
use crate::version::{Server, VersionSet};

/// A rule with its examples.
#[derive(Debug, Clone)]
pub struct Page {
    /// The rule.
    pub rule: Rule,
    /// Its examples, in the order of the page.
    pub examples: Vec<Example>,
}

/// A page that is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}: {message}")]
pub struct PageError {
    /// The page, as it was named.
    pub path: String,
    /// 1-based.
    pub line: usize,
    /// What is wrong and what to do; small first letter, no full stop.
    pub message: String,
}

/// Reads a page. `id` is its path below the folder of rules without `.md`, `path` what errors name.
///
/// # Errors
/// When the page does not have the shape of a rule; the first fault is told.
pub fn read(id: &str, path: &str, text: &str) -> Result<Page, PageError> {
    read_page(id, text).map_err(|error| {
        let line = text[..error.at.min(text.len())].matches('\n').count() + 1;
        PageError { path: path.to_owned(), line, message: error.message }
    })
}

fn read_page(id: &str, text: &str) -> Result<Page, TableError> {
    let outline = Outline::read(text);
    outline.check_title(id)?;
    let (_, summary) = outline.summary.ok_or_else(|| {
        TableError::new(0, "the page has no summary; write a paragraph that says what is wrong below the title")
    })?;
    let examples = group(&outline.fences)?;
    let mut definition = outline.fences.iter().filter(|fence| fence.info.trim() == "toml rule");
    let (Some(fence), second) = (definition.next(), definition.next()) else {
        return Err(TableError::new(0, "the page has no ```toml rule fence that says what to match"));
    };
    if let Some(second) = second {
        return Err(TableError::new(second.at, "a second ```toml rule fence; a page is one rule"));
    }
    let at = fence.text_at;
    let rule = read_rule(id, &fence.text, summary, text, &examples)
        .map_err(|error| TableError { at: at + error.at, ..error })?;
    Ok(Page { rule, examples })
}

/// What matters of a page's Markdown.
#[derive(Default)]
struct Outline {
    title: Option<(usize, String)>,
    summary: Option<(usize, String)>,
    fences: Vec<Fence>,
}

impl Outline {
    fn read(text: &str) -> Self {
        let mut outline = Self::default();
        let mut events = Parser::new(text).into_offset_iter();
        while let Some((event, range)) = events.next() {
            let source = || one_line(&text[range.clone()]);
            match event {
                Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) if outline.title.is_none() => {
                    outline.title = Some((range.start, source().trim_matches(['#', ' ']).to_owned()));
                }
                Event::Start(Tag::Paragraph) if outline.summary.is_none() && outline.title.is_some() => {
                    outline.summary = Some((range.start, source()));
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    let mut fence = Fence { at: range.start, info: info.into_string(), ..Fence::default() };
                    for (event, range) in events.by_ref() {
                        match event {
                            Event::Text(part) => {
                                if fence.text.is_empty() {
                                    fence.text_at = range.start;
                                }
                                fence.text.push_str(&part);
                            }
                            Event::End(TagEnd::CodeBlock) => break,
                            _ => {}
                        }
                    }
                    outline.fences.push(fence);
                }
                _ => {}
            }
        }
        outline
    }

    fn check_title(&self, id: &str) -> Result<(), TableError> {
        match &self.title {
            Some((_, title)) if title == id => Ok(()),
            Some((at, title)) => Err(TableError::new(
                *at,
                format!("the title is `# {title}` and the file's path says `# {id}`; they must be equal"),
            )),
            None => Err(TableError::new(0, format!("the page has no title; begin it with `# {id}`"))),
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn read_rule(id: &str, text: &str, summary: String, page: &str, examples: &[Example]) -> Result<Rule, TableError> {
    let mut table = Table::parse(text)?;
    let severity = table.need("severity")?.one_of(&[
        ("info", Severity::Info),
        ("warning", Severity::Warning),
        ("error", Severity::Error),
    ])?;
    let category = table.need("category")?.one_of(&[
        ("security", Category::Security),
        ("correctness", Category::Correctness),
        ("performance", Category::Performance),
        ("upgrade", Category::Upgrade),
        ("style", Category::Style),
    ])?;
    let since = table.need("since")?.parse(semver::Version::parse)?.to_string();
    let versions = table.take("versions").map(|value| value.parse(VersionSet::parse)).transpose()?;
    let activation = table
        .take("default")
        .map(|value| value.one_of(&[("on", Activation::On), ("off", Activation::Off), ("always", Activation::Always)]));
    let aliases = table.take("aliases").map(Value::texts).transpose()?.unwrap_or_default();
    let message = table.take("message").map(|value| value.parse(checked)).transpose()?;
    let finds = read_finds(&mut table)?;
    let at = table.at();
    table.finish()?;
    if message.is_none() && matches!(finds, Finds::Match { .. }) {
        return Err(TableError::new(at, "the key `message` is missing"));
    }
    Ok(Rule {
        id: owned(id),
        aliases: texts(aliases),
        summary: summary.into(),
        page: owned(page),
        server: server_of(id, examples).map_err(|message| TableError::new(at, message))?,
        severity,
        category,
        since: since.into(),
        versions,
        activation: activation.transpose()?.unwrap_or(Activation::On),
        message,
        finds,
    })
}

/// The folder says which server a rule is about; elsewhere its examples do.
fn server_of(id: &str, examples: &[Example]) -> Result<Option<Server>, String> {
    match id.split('/').next() {
        Some("nginx") => return Ok(Some(Server::Nginx)),
        Some("caddy") => return Ok(Some(Server::Caddy)),
        Some("proxylint") => return Ok(None),
        _ => {}
    }
    match examples {
        [] => Err("the rule has no examples; add a ```nginx bad or ```caddy bad fence".to_owned()),
        [first, rest @ ..] if rest.iter().all(|example| example.server == first.server) => Ok(Some(first.server)),
        _ => Err("the examples are of both servers; write one rule for each".to_owned()),
    }
}

fn read_finds(table: &mut Table<'_>) -> Result<Finds, TableError> {
    let at = table.at();
    let (pattern, check) = (table.take("match"), table.take("check"));
    let (fix, group, params) = (table.take("fix"), table.take("group"), table.take("params"));
    match (pattern, check) {
        (Some(pattern), None) => {
            if let Some(params) = params {
                return Err(params.error("belongs to a rule with `check`"));
            }
            Ok(Finds::Match {
                pattern: read_pattern(pattern.table()?)?,
                rewrite: fix.map(|fix| read_rewrite(fix.table()?)).transpose()?,
                by_block: group.map(|group| group.one_of(&[("block", true)])).transpose()?.unwrap_or(false),
            })
        }
        (None, Some(check)) => {
            if let Some(value) = fix.or(group) {
                return Err(value.error("belongs to a rule with `match`; a check makes its own fixes"));
            }
            let params = params.map(|params| read_params(params.table()?)).transpose()?.unwrap_or_default();
            Ok(Finds::Check { name: check.text()?.into(), params })
        }
        (Some(_), Some(check)) => Err(check.error("and `match` exclude each other; a rule has exactly one of the two")),
        (None, None) => Err(TableError::new(at, "the rule has neither `match` nor `check`")),
    }
}

fn read_pattern(mut table: Table<'_>) -> Result<Pattern, TableError> {
    let pattern = Pattern {
        directive: texts(table.need("directive")?.texts()?),
        inside: table.take("in").map(Value::texts).transpose()?.map(texts),
        args: table.take("args").map(exact_texts).transpose()?.map(texts),
        has: texts(table.take("has").map(Value::texts).transpose()?.unwrap_or_default()),
        lacks: texts(table.take("lacks").map(Value::texts).transpose()?.unwrap_or_default()),
    };
    table.finish()?;
    Ok(pattern)
}

/// As [`Value::texts`], but an empty list means "no arguments".
fn exact_texts(value: Value<'_>) -> Result<Vec<String>, TableError> {
    match value.raw() {
        DeValue::Array(items) if items.is_empty() => Ok(Vec::new()),
        _ => value.texts(),
    }
}

fn read_rewrite(mut table: Table<'_>) -> Result<Rewrite, TableError> {
    let at = table.at();
    let safe = table.need("safety")?.one_of(&[("safe", true), ("unsafe", false)])?;
    let rewrite = Rewrite {
        replace: table.take("replace").map(read_text).transpose()?,
        drop: texts(table.take("drop").map(Value::texts).transpose()?.unwrap_or_default()),
        beside: table.take("beside").map(read_text).transpose()?,
        remove: table.take("remove").map(Value::flag).transpose()?.unwrap_or(false),
        safe,
        changes: texts(table.take("changes").map(Value::texts).transpose()?.unwrap_or_default()),
        needs: table.take("needs").map(|value| value.parse(VersionSet::parse)).transpose()?,
    };
    table.finish()?;
    let ways = [rewrite.replace.is_some(), !rewrite.drop.is_empty(), rewrite.remove];
    let error = match (ways.iter().filter(|way| **way).count(), rewrite.beside.is_some()) {
        (0, false) => "`fix` does nothing; give it `replace`, `drop`, `beside` or `remove`",
        (2.., _) => "`replace`, `drop` and `remove` exclude each other",
        _ if safe && !rewrite.changes.is_empty() => "a safe fix has no `changes`",
        _ => return Ok(rewrite),
    };
    Err(TableError::new(at, error))
}

/// A message.
fn checked(text: &str) -> Result<Text, String> {
    template::pieces(text).map(|_| owned(text))
}

/// New text for a file.
fn read_text(value: Value<'_>) -> Result<Text, TableError> {
    value.parse(|text| match template::pieces(text)?.contains(&Piece::Versions) {
        true => Err("{versions} is for messages".to_owned()),
        false => Ok(owned(text)),
    })
}

fn read_params(mut table: Table<'_>) -> Result<Params, TableError> {
    let pairs = table.rest().map(|(name, value)| Ok((name.into(), read_param(value)?)));
    Ok(Params::new(pairs.collect::<Result<_, TableError>>()?))
}

fn read_param(value: Value<'_>) -> Result<Param, TableError> {
    match value.raw() {
        DeValue::String(_) => Ok(Param::Text(value.text()?.into())),
        DeValue::Boolean(_) => Ok(Param::Flag(value.flag()?)),
        DeValue::Array(_) => {
            Ok(Param::List(value.list()?.into_iter().map(read_param).collect::<Result<Vec<_>, _>>()?.into()))
        }
        DeValue::Table(_) => Ok(Param::Table(read_params(value.table()?)?)),
        _ => Ok(Param::Number(value.number()?)),
    }
}

fn owned(text: &str) -> Text {
    text.to_owned().into()
}

fn texts(list: Vec<String>) -> Texts {
    list.into_iter().map(Text::from).collect()
}
