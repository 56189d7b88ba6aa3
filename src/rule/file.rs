//! A page of `rules/` to a [`Rule`] and its examples. Runs in `build.rs` for the program's own
//! pages and at run time for users' ones.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};
use toml::de::DeValue;

use crate::rule::definition::{Activation, Finds, Mends, Param, Params, Pattern, Rewrite, Rule, Text, Texts};
use crate::rule::example::{Example, Fence, Verdict, group};
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
        mends: mends(&finds, examples),
        finds,
    })
}

/// A definition says what its fix is; of a check the `fixed` examples tell.
fn mends(finds: &Finds, examples: &[Example]) -> Mends {
    let of = |safe: bool| if safe { Mends::Safely } else { Mends::Unsafely };
    if let Finds::Match { rewrite, .. } = finds {
        return rewrite.as_ref().map_or(Mends::Never, |rewrite| of(rewrite.safe));
    }
    let fixed = examples.iter().filter_map(|example| match &example.verdict {
        Verdict::Bad { fixed: Some(fixed) } => Some(fixed.safe.map_or(Mends::Both, of)),
        _ => None,
    });
    fixed.reduce(|a, b| if a == b { a } else { Mends::Both }).unwrap_or(Mends::Never)
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

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
# acme/rule

What is
wrong with `x`.

```toml rule
severity = \"error\"
category = \"security\"
since    = \"0.2.0\"
versions = \">=1.25.1\"
default  = \"off\"
aliases  = [\"acme/old\"]
check    = \"nginx/syntax\"
params   = { names = [\"a\", \"b\"], count = 3, deep = { on = true } }
```

## Examples

```nginx bad @>=1.22, <1.30 peak-concurrency=200 nginx.conf
a;
```

```nginx bad conf.d/a.conf
b;
```

```nginx fixed safe conf.d/a.conf
c;
```

```nginx
prose;
```

```nginx good
d;
```

```nginx good @1.24
e;
```
";

    fn error_of(page: &str) -> String {
        read("acme/rule", "acme/rule.md", page).unwrap_err().to_string()
    }

    /// The error after one change of the good page.
    fn changed(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from));
        error_of(&GOOD.replacen(from, to, 1))
    }

    #[test]
    fn a_page_is_a_rule_with_examples() {
        let Page { rule, examples } = read("acme/rule", "acme/rule.md", GOOD).unwrap();
        assert_eq!((rule.summary.as_ref(), rule.server), ("What is wrong with `x`.", Some(Server::Nginx)));
        assert_eq!((rule.severity, rule.activation), (Severity::Error, Activation::Off));
        assert_eq!(rule.versions, Some(VersionSet::parse(">=1.25.1").unwrap()));
        let Finds::Check { name, params } = &rule.finds else { panic!("a check") };
        assert_eq!((name.as_ref(), params.number("count")), ("nginx/syntax", Some(3)));
        assert_eq!(params.texts("names").collect::<Vec<_>>(), ["a", "b"]);
        assert!(matches!(params.get("deep"), Some(Param::Table(deep)) if deep.flag("on")));

        assert_eq!(examples.len(), 3);
        assert_eq!(examples[0].target.as_deref(), Some(">=1.22, <1.30"));
        assert_eq!(examples[0].peak_concurrency, Some(200));
        assert_eq!(examples[0].files.len(), 2, "fences of one role with paths are one project");
        let Verdict::Bad { fixed: Some(fixed) } = &examples[0].verdict else { panic!("fixed") };
        assert_eq!((fixed.safe, fixed.files[0].text.as_str()), (Some(true), "c;\n"));
        assert_eq!((examples[1].target.as_deref(), examples[2].target.as_deref()), (None, Some("1.24")));
    }

    #[test]
    fn faults_are_told_with_file_line_and_suggestion() {
        for (from, to, error) in [
            ("since ", "sinse ", "9: unknown key `sinse`; did you mean `since`?"),
            (
                "\"error\"",
                "\"eror\"",
                "7: `severity` must be one of `info`, `warning`, `error`, not `eror`; did you mean `error`?",
            ),
            ("\"0.2.0\"", "\"2\"", "9: `since` is wrong: unexpected end of input while parsing major version number"),
            ("\">=1.25.1\"", "\"new\"", "10: `versions` is wrong: `new` is not a version: "),
            ("aliases  =", "aliases  ", "12: "),
            ("aliases  =", "alias =", "12: unknown key `alias`; did you mean `aliases`?"),
            ("check    = \"nginx/syntax\"", "", "7: the rule has neither `match` nor `check`"),
            ("params ", "fix ", "14: `fix` belongs to a rule with `match`; a check makes its own fixes"),
            (
                "params   =",
                "match    =",
                "13: `check` and `match` exclude each other; a rule has exactly one of the two",
            ),
            (
                "# acme/rule",
                "# acme/other",
                "1: the title is `# acme/other` and the file's path says `# acme/rule`; they must be equal",
            ),
            ("# acme/rule", "", "1: the page has no title; begin it with `# acme/rule`"),
            ("```toml rule", "```toml", "1: the page has no ```toml rule fence that says what to match"),
            (
                "nginx good @",
                "nginx goud @",
                "39: an example is `bad`, `fixed` or `good`, not `goud`; did you mean `good`?",
            ),
            ("fixed safe", "fixed @1.24", "27: `fixed` has the target of its `bad`; state it there"),
            ("nginx good\nd", "caddy good\nd", "7: the examples are of both servers; write one rule for each"),
            ("=200", "=many", "19: `many` is not a number of requests"),
        ] {
            let message = changed(from, to);
            assert!(message.starts_with(&format!("acme/rule.md:{error}")), "{from} -> {to}: {message}");
        }
    }

    #[test]
    fn a_declarative_rule_says_what_it_matches_and_how_it_is_mended() {
        let declared = |definition: &str| {
            let page = format!(
                "# nginx/a\n\nWrong.\n\n```toml rule\nseverity = \"info\"\ncategory = \"style\"\nsince = \"0.1.0\"\n{definition}\n```\n"
            );
            read("nginx/a", "a.md", &page).map(|page| page.rule.finds).map_err(|e| e.to_string())
        };
        let found = declared(
            "message = \"m\"\nmatch = { directive = [\"listen\"], in = [\"server\"], args = [] }\ngroup = \"block\"\n\
             fix = { safety = \"safe\", drop = [\"x\"], beside = \"y {arg.0};\", needs = \"1.24\" }",
        );
        let Ok(Finds::Match { pattern, rewrite: Some(rewrite), by_block: true }) = found else { panic!("{found:?}") };
        assert_eq!((pattern.inside.as_deref().map(<[_]>::len), pattern.args.as_deref()), (Some(1), Some(&[][..])));
        assert_eq!((rewrite.beside.as_deref(), rewrite.safe), (Some("y {arg.0};"), true));
        let matched = "message = \"m\"\nmatch = { directive = [\"a\"] }\n";
        for (definition, error) in [
            ("match = { directive = [\"a\"] }".to_owned(), "6: the key `message` is missing"),
            (
                "message = \"{what}\"\nmatch = { directive = [\"a\"] }".to_owned(),
                "9: `message` is wrong: nothing is called `{what}`",
            ),
            ("message = \"m\"\nmatch = { has = [\"a\"] }".to_owned(), "10: the key `directive` is missing"),
            (
                "message = \"m\"\nmatch = { directive = [\"a\"], hass = [\"a\"] }".to_owned(),
                "10: unknown key `hass`; did you mean `has`?",
            ),
            (format!("{matched}fix = {{ safety = \"safe\" }}"), "11: `fix` does nothing"),
            (
                format!("{matched}fix = {{ safety = \"safe\", remove = true, replace = \"b\" }}"),
                "11: `replace`, `drop` and `remove` exclude",
            ),
            (
                format!("{matched}fix = {{ safety = \"safe\", replace = \"{{versions}}\" }}"),
                "11: `replace` is wrong: {versions} is for messages",
            ),
            (
                format!("{matched}fix = {{ safety = \"safe\", replace = \"b\", changes = [\"c\"] }}"),
                "11: a safe fix has no `changes`",
            ),
            (format!("{matched}params = {{ a = 1 }}"), "11: `params` belongs to a rule with `check`"),
        ] {
            let message = declared(&definition).unwrap_err();
            assert!(message.starts_with(&format!("a.md:{error}")), "{definition}: {message}");
        }
    }
}
