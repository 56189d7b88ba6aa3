//! The catalogue's text files to static tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use crate::context::Context;
use crate::version::{Range, Version, VersionSet};

type Error = Box<dyn std::error::Error>;

/// Writes `catalog_nginx.rs` into the output folder.
///
/// # Errors
/// Names the file and the line that is wrong.
pub(crate) fn generate(root: &Path) -> Result<(), Error> {
    let folder = root.join("src/catalog/nginx");
    let read = |name: &str| -> Result<String, Error> {
        println!("cargo::rerun-if-changed=src/catalog/nginx/{name}");
        fs::read_to_string(folder.join(name)).map_err(|e| format!("{name}: {e}").into())
    };
    let mut out = Output::default();
    let changes: Vec<Change> = rows(&read("changes.txt")?, "changes.txt", change)?;
    out.directives(&read("directives.txt")?, &changes)?;
    out.variables(&read("variables.txt")?)?;
    out.changes(&changes)?;
    out.keepalive(&read("keepalive.txt")?)?;
    let target = Path::new(&env::var("OUT_DIR")?).join("catalog_nginx.rs");
    Ok(fs::write(target, out.text)?)
}

/// The lines of a file that are neither empty nor comments, each through `parse`; errors name the line.
fn rows<T>(text: &str, file: &str, mut parse: impl FnMut(&str) -> Result<T, Error>) -> Result<Vec<T>, Error> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let at = |n: usize| move |e: Error| -> Error { format!("src/catalog/nginx/{file}:{}: {e}", n + 1).into() };
    lines.map(|(n, line)| parse(line).map_err(at(n))).collect()
}

/// A line by its tabs: cells, then KEY=VALUE.
struct Cells<'a> {
    cells: Vec<&'a str>,
}

impl<'a> Cells<'a> {
    fn new(line: &'a str) -> Self {
        Self { cells: line.split('\t').collect() }
    }

    fn at(&self, index: usize) -> Result<&'a str, Error> {
        self.cells.get(index).copied().ok_or_else(|| format!("cell {} is missing", index + 1).into())
    }

    /// The KEY=VALUE cells after `from` plain ones; every key must be one of `known`.
    fn keys(&self, from: usize, known: &[&str]) -> Result<Keys<'a>, Error> {
        let mut keys = Keys::default();
        for cell in self.cells.get(from..).unwrap_or(&[]) {
            let (key, value) = cell.split_once('=').ok_or_else(|| format!("`{cell}` is not KEY=VALUE"))?;
            if !known.contains(&key) {
                return Err(format!("unknown key `{key}`").into());
            }
            keys.0.insert(key, value);
        }
        Ok(keys)
    }
}

/// The KEY=VALUE cells of a line.
#[derive(Default)]
struct Keys<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Keys<'a> {
    fn get(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).copied()
    }

    /// The value, empty where there is none.
    fn text(&self, key: &str) -> &'a str {
        self.get(key).unwrap_or_default()
    }
}

/// A row of changes.txt.
struct Change {
    directive: String,
    module: String,
    is_default: bool,
    versions: VersionSet,
    from: String,
    to: String,
    param: Option<String>,
}

fn change(line: &str) -> Result<Change, Error> {
    let cells = Cells::new(line);
    let keys = cells.keys(6, &["param", "platform"])?;
    Ok(Change {
        directive: cells.at(0)?.into(),
        module: cells.at(1)?.into(),
        is_default: cells.at(2)? == "default",
        versions: version_set(cells.at(3)?)?,
        from: cells.at(4)?.into(),
        to: cells.at(5)?.into(),
        param: keys.get("param").map(Into::into),
    })
}

/// `A..B` joined by commas; either end may be missing; nothing at all is every version.
fn version_set(text: &str) -> Result<VersionSet, Error> {
    if text.is_empty() {
        return Ok(VersionSet::all());
    }
    let mut set = VersionSet::none();
    for part in text.split(',') {
        let (from, to) = part.split_once("..").ok_or_else(|| format!("`{part}` is not A..B"))?;
        let from = if from.is_empty() { VersionSet::all() } else { VersionSet::since(version(from)?) };
        let to = if to.is_empty() { VersionSet::all() } else { VersionSet::before(version(to)?) };
        let range = from.intersection(&to);
        if range.is_empty() {
            return Err(format!("`{part}` ends before it begins").into());
        }
        set = set.union(&range);
    }
    Ok(set)
}

fn version(text: &str) -> Result<Version, Error> {
    let numbers: Vec<u16> = text.split('.').map(str::parse).collect::<Result<_, _>>()?;
    match numbers[..] {
        [major, minor, patch] => Ok(Version::new(major, minor, patch)),
        _ => Err(format!("`{text}` is not a version").into()),
    }
}

fn version_text(v: Version) -> String {
    match v {
        Version::MIN => "Version::MIN".into(),
        Version::MAX => "Version::MAX".into(),
        Version { major, minor, patch } => format!("Version::new({major}, {minor}, {patch})"),
    }
}

fn set_text(set: &VersionSet) -> String {
    if *set == VersionSet::all() {
        return "VersionSet::all()".into();
    }
    let range = |r: &Range| {
        format!("crate::version::Range {{ start: {}, end: {} }}", version_text(r.start), version_text(r.end))
    };
    let ranges: Vec<_> = set.ranges().iter().map(range).collect();
    format!("VersionSet::from_static(&[{}])", ranges.join(", "))
}

/// `Some("text")` or `None`.
fn option_text(value: Option<&str>) -> String {
    format!("{value:?}")
}

fn option_version(value: Option<&str>) -> Result<String, Error> {
    value.map_or(Ok("None".into()), |v| Ok(format!("Some({})", version_text(version(v)?))))
}

fn arity_text(text: &str) -> Result<String, Error> {
    Ok(match text {
        "flag" => "Arity::Flag".into(),
        "any" => "Arity::AtLeast(0)".into(),
        _ => match text.strip_suffix('+') {
            Some(least) => format!("Arity::AtLeast({})", least.parse::<u8>()?),
            None => {
                let counts: Vec<u32> = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
                format!("Arity::Counts({})", counts.iter().fold(0u16, |bits, n| bits | 1 << n))
            }
        },
    })
}

fn context_text(id: &str) -> Result<String, Error> {
    let context = Context::parse(id).ok_or_else(|| format!("unknown context `{id}`"))?;
    Ok(format!("Context::{context:?}"))
}

fn list_text(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    if items.is_empty() { "&[]".into() } else { format!("&[{}]", items.join(", ")) }
}

/// The Rust text, as it grows.
#[derive(Default)]
struct Output {
    text: String,
    modules: Vec<String>,
}

impl Output {
    /// Adds the module of a `[...]` line; gives the expression that names it, its kind and name, and its area.
    fn module(&mut self, head: &str) -> Result<Section, Error> {
        let words: Vec<&str> = head.trim_matches(['[', ']']).split(' ').collect();
        let (&kind, &name) = words.first().zip(words.get(1)).ok_or("a section is [kind module ...]")?;
        let (mut project, mut vendor, mut build, mut stock, mut area) = (None, None, None, "yes", "");
        for word in &words[2..] {
            match word.split_once('=') {
                Some(("project", value)) => project = Some(value.replace('+', " ")),
                Some(("vendor", value)) => vendor = Some(value),
                Some(("build", value)) => build = Some(value),
                Some(("stock", value)) => stock = value,
                Some(("area", value)) => area = value,
                _ => return Err(format!("unknown word `{word}` in a section").into()),
            }
        }
        let (rank, variant) = match kind {
            "official" => (0, "Official"),
            "commercial" => (1, "Commercial"),
            "third-party" => (2, "ThirdParty"),
            _ => return Err(format!("unknown kind `{kind}`").into()),
        };
        let text = format!(
            "Module {{ name: {name:?}, kind: Kind::{variant}, project: {}, vendor: {}, build: {}, stock: {} }}",
            option_text(project.as_deref()),
            option_text(vendor),
            option_text(build),
            variant == "Official" && project.is_none() && stock == "yes"
        );
        let id = self.modules.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.modules.push(text);
            self.modules.len() - 1
        });
        Ok(Section { module: format!("&MODULES[{id}]"), rank, name: name.into(), area: area.into() })
    }

    fn directives(&mut self, text: &str, changes: &[Change]) -> Result<(), Error> {
        let mut section = None;
        let mut found: Vec<(String, u8, String)> = Vec::new();
        rows(text, "directives.txt", |line| {
            if line.starts_with('[') {
                section = Some(self.module(line)?);
            } else {
                let section = section.as_ref().ok_or("a directive before the first section")?;
                let name = line.split('\t').next().unwrap_or_default().to_owned();
                found.push((name, section.rank, directive(line, section, changes)?));
            }
            Ok(())
        })?;
        found.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        writeln!(self.text, "static DIRECTIVES: [Directive; {}] = [", found.len())?;
        let mut index = phf_codegen::Map::<&[u8]>::new();
        let mut from = 0;
        for (i, (name, _, text)) in found.iter().enumerate() {
            writeln!(self.text, "    {text},")?;
            if found.get(i + 1).is_none_or(|next| next.0 != *name) {
                index.entry(name.as_bytes(), format!("({from}, {})", i + 1));
                from = i + 1;
            }
        }
        writeln!(self.text, "];")?;
        writeln!(self.text, "static DIRECTIVE_INDEX: phf::Map<&'static [u8], (u16, u16)> = {};", index.build())?;
        Ok(())
    }

    fn variables(&mut self, text: &str) -> Result<(), Error> {
        let mut section = None;
        let mut found = Vec::new();
        rows(text, "variables.txt", |line| {
            if line.starts_with('[') {
                section = Some(self.module(line)?);
                return Ok(());
            }
            let section = section.as_ref().ok_or("a variable before the first section")?;
            let cells = Cells::new(line);
            let keys = cells.keys(1, &["versions", "settable"])?;
            let name = cells.at(0)?;
            let (name, family) = name.strip_suffix('*').map_or((name, false), |name| (name, true));
            let area = match section.area.as_str() {
                "http" => "Area::Http",
                "stream" => "Area::Stream",
                other => return Err(format!("unknown area `{other}`").into()),
            };
            let text = format!(
                "Variable {{ name: {name:?}, family: {family}, module: {}, area: {area}, versions: {}, settable: {} }}",
                section.module,
                set_text(&version_set(keys.text("versions"))?),
                keys.get("settable") == Some("yes")
            );
            found.push((name.to_owned(), section.rank, text));
            Ok(())
        })?;
        found.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        writeln!(self.text, "static VARIABLES: [Variable; {}] = [", found.len())?;
        for (_, _, text) in &found {
            writeln!(self.text, "    {text},")?;
        }
        writeln!(self.text, "];")?;
        writeln!(self.text, "static MODULES: [Module; {}] = [", self.modules.len())?;
        for text in &self.modules {
            writeln!(self.text, "    {text},")?;
        }
        Ok(writeln!(self.text, "];")?)
    }

    fn changes(&mut self, changes: &[Change]) -> Result<(), Error> {
        writeln!(self.text, "static CHANGES: [Change; {}] = [", changes.len())?;
        for c in changes {
            writeln!(
                self.text,
                "    Change {{ directive: {:?}, module: {:?}, is_default: {}, param: {}, versions: {}, from: {:?}, to: {:?} }},",
                c.directive,
                c.module,
                c.is_default,
                option_text(c.param.as_deref()),
                set_text(&c.versions),
                c.from,
                c.to
            )?;
        }
        Ok(writeln!(self.text, "];")?)
    }

    fn keepalive(&mut self, text: &str) -> Result<(), Error> {
        let lines = rows(text, "keepalive.txt", |line| {
            let cells = Cells::new(line);
            let optional =
                |i: usize| -> Result<String, Error> { Ok(option_text(Some(cells.at(i)?).filter(|cell| *cell != "-"))) };
            Ok(format!(
                "    Keepalive {{ versions: {}, http_version: {:?}, connection: {}, implicit: {}, arguments: {:?}, \
                 order: {:?}, requests: {}, timeout: {}, time: {} }},",
                set_text(&version_set(cells.at(0)?)?),
                cells.at(1)?,
                optional(2)?,
                optional(3)?,
                cells.at(4)?,
                cells.at(5)?,
                optional(6)?,
                optional(7)?,
                optional(8)?
            ))
        })?;
        writeln!(self.text, "static KEEPALIVE: [Keepalive; {}] = [\n{}\n];", lines.len(), lines.join("\n"))?;
        Ok(())
    }
}

/// The module of the lines below a `[...]` line.
struct Section {
    module: String,
    rank: u8,
    name: String,
    area: String,
}

/// The keys of a line of directives.txt.
const DIRECTIVE_KEYS: &[&str] = &[
    "versions",
    "deprecated",
    "warns",
    "instead",
    "merge",
    "merge-with",
    "repeat",
    "repeat-since",
    "value",
    "default",
    "params",
    "entries",
    "platform",
    "plus-since",
    "backport",
    "prefixes",
    "documented",
];

/// A line of directives.txt as a Rust expression.
fn directive(line: &str, section: &Section, changes: &[Change]) -> Result<String, Error> {
    let cells = Cells::new(line);
    let keys = cells.keys(4, DIRECTIVE_KEYS)?;
    let name = cells.at(0)?;
    let (contexts, context_versions) = contexts(cells.at(1)?)?;
    let (arity, arity_before) = arities(cells.at(2)?)?;
    let value = keys.text("value");
    let variables = match value.as_bytes().last() {
        Some(b'$') => Some(true),
        Some(b'!') => Some(false),
        _ => None,
    };
    let backport = |b: &str| b.split_once(':').map(|(vendor, version)| format!("({vendor:?}, {version:?})"));
    let fields = [
        ("name", format!("{name:?}")),
        ("module", section.module.clone()),
        ("versions", set_text(&version_set(keys.text("versions"))?)),
        ("contexts", contexts),
        ("context_versions", context_versions),
        ("form", form(cells.at(3)?)?),
        ("value", value_kind(value.trim_end_matches(['$', '!']), &arity)?),
        ("arity", arity),
        ("arity_before", arity_before),
        ("variables", format!("{variables:?}")),
        ("params", params(keys.text("params"))?),
        ("entries", entries(keys.text("entries"))?),
        ("default", option_text(keys.get("default"))),
        ("default_before", defaults_before(name, &section.name, keys.get("default"), changes)),
        ("merge", format!("Merge::{}", variant(keys.get("merge").unwrap_or("unknown")))),
        ("merge_with", list_text(keys.text("merge-with").split_whitespace().map(|n| format!("{n:?}")))),
        ("repeat", format!("Repeat::{}", variant(keys.get("repeat").unwrap_or("unknown")))),
        ("repeat_since", version_text(keys.get("repeat-since").map_or(Ok(Version::MIN), version)?)),
        ("deprecated", option_version(keys.get("deprecated"))?),
        ("warns", (keys.get("deprecated").is_some() && keys.get("warns") != Some("no")).to_string()),
        ("instead", option_text(keys.get("instead"))),
        ("platform", option_text(keys.get("platform"))),
        ("backports", list_text(keys.text("backport").split_whitespace().filter_map(backport))),
        ("settled", version_text(settled(&cells, keys.text("versions"), keys.text("params"))?)),
        ("documented", (keys.get("documented") != Some("no")).to_string()),
    ];
    let fields: Vec<String> = fields.iter().map(|(name, text)| format!("{name}: {text}")).collect();
    Ok(format!("Directive {{ {} }}", fields.join(", ")))
}

/// `http server@1.2.3..` as the set of contexts and the list of those with a history.
fn contexts(text: &str) -> Result<(String, String), Error> {
    let (mut set, mut history) = (Vec::new(), Vec::new());
    for word in text.split_whitespace() {
        let (id, versions) = word.split_once('@').map_or((word, None), |(id, versions)| (id, Some(versions)));
        let context = context_text(id)?;
        if let Some(versions) = versions {
            history.push(format!("({context}, {})", set_text(&version_set(versions)?)));
        }
        set.push(context);
    }
    Ok((format!("ContextSet::of({})", list_text(set)), list_text(history)))
}

/// `1,2 1<1.29.7` as the newest arity and the list of older ones.
fn arities(text: &str) -> Result<(String, String), Error> {
    let (newest, older) = text.split_once(' ').unwrap_or((text, ""));
    let mut history = Vec::new();
    for word in older.split_whitespace() {
        let (arity, before) = word.split_once('<').ok_or_else(|| format!("`{word}` is not ARITY<VERSION"))?;
        history.push(format!("({}, {})", version_text(version(before)?), arity_text(arity)?));
    }
    Ok((arity_text(newest)?, list_text(history)))
}

fn form(text: &str) -> Result<String, Error> {
    Ok(match text {
        ";" => "Form::Line".into(),
        "{if}" => "Form::If".into(),
        "{raw}" => "Form::Raw".into(),
        _ => format!("Form::Block({})", context_text(text.trim_matches(['{', '}']))?),
    })
}

fn value_kind(text: &str, arity: &str) -> Result<String, Error> {
    let kind = match text {
        "flag" => "Flag",
        "" | "custom" if arity == "Arity::Flag" => "Flag",
        "" | "custom" => "Other",
        "enum" => "Enum",
        "bitmask" => "Bitmask",
        "number" => "Number",
        "size" => "Size",
        "large_size" => "LargeSize",
        "size_expr" => "SizeExpr",
        "number_size" => "Buffers",
        "time_ms" => "Milliseconds",
        "time_s" => "Seconds",
        "string" => "Text",
        "string_expr" => "Expression",
        "predicates" => "Predicates",
        "keyval" => "Pair",
        "mime_types" => "MediaTypes",
        "path_levels" => "PathLevels",
        "access" => "Access",
        _ => return Err(format!("unknown kind of value `{text}`").into()),
    };
    Ok(format!("Value::{kind}"))
}

/// `NAME@VERSIONS!DEPRECATED>INSTEAD%PLATFORM`, apart by spaces.
fn params(text: &str) -> Result<String, Error> {
    let mut all = Vec::new();
    for word in text.split_whitespace() {
        // `<` and `>` enclose a feature; a leading `@` belongs to the name.
        let head = word.find('>').filter(|_| word.contains('<')).map_or(1, |i| i + 1);
        let (head, rest) = word.split_at(head);
        let name_end = rest.find(['@', '!', '>', '%']).unwrap_or(rest.len());
        let (name, mut rest) = (format!("{head}{}", &rest[..name_end]), &rest[name_end..]);
        let (mut versions, mut deprecated, mut instead, mut commercial, mut platform) = ("", None, None, false, None);
        while let Some(mark) = rest.chars().next() {
            let end = rest[1..].find(['@', '!', '>', '%']).map_or(rest.len(), |i| i + 1);
            let value = &rest[1..end];
            match mark {
                '@' => versions = value,
                '!' => deprecated = Some(value),
                '>' => instead = Some(value),
                _ if value == "plus" => commercial = true,
                _ => platform = Some(value),
            }
            rest = &rest[end..];
        }
        all.push((
            name.clone(),
            format!(
                "Param {{ name: {name:?}, versions: {}, deprecated: {}, instead: {}, commercial: {commercial}, platform: {} }}",
                set_text(&version_set(versions)?),
                option_version(deprecated)?,
                option_text(instead),
                option_text(platform)
            ),
        ));
    }
    all.sort();
    Ok(list_text(all.into_iter().map(|(_, text)| text)))
}

/// `default:1 *:1+`, apart by spaces.
fn entries(text: &str) -> Result<String, Error> {
    let mut all = Vec::new();
    for word in text.split_whitespace() {
        let (name, arity) = word.rsplit_once(':').ok_or_else(|| format!("`{word}` is not NAME:ARITY"))?;
        all.push(format!("({name:?}, {})", arity_text(arity)?));
    }
    Ok(list_text(all))
}

/// The defaults of older versions, the newest first: the first whose versions hold is the answer.
fn defaults_before(name: &str, module: &str, newest: Option<&str>, changes: &[Change]) -> String {
    let of_this = |c: &&Change| c.is_default && c.param.is_none() && c.directive == name && c.module == module;
    let found: Vec<&Change> = changes.iter().filter(of_this).collect();
    let later = found.iter().rev().enumerate().map(|(i, c)| {
        let value = if i == 0 { newest } else { Some(c.to.as_str()) };
        format!("({}, {})", set_text(&c.versions), option_text(value))
    });
    let first = found.first().map(|c| format!("(VersionSet::all(), {})", option_text(Some(&c.from))));
    list_text(later.chain(first))
}

/// The version from which on nothing changes: the last number in the cells, or MAX where something ends.
fn settled(cells: &Cells<'_>, versions: &str, params: &str) -> Result<Version, Error> {
    let mut last = Version::MIN;
    let spans = [cells.at(1)?, params].into_iter().flat_map(str::split_whitespace).filter_map(|word| {
        let span = word.char_indices().skip(1).find(|&(_, c)| c == '@').map(|(at, _)| &word[at + 1..]);
        span.map(|span| span.split(['!', '>', '%']).next().unwrap_or_default())
    });
    for span in spans.chain([versions]) {
        let set = version_set(span)?;
        match set.ranges().last() {
            Some(range) if range.end == Version::MAX => last = last.max(range.start),
            _ => return Ok(Version::MAX),
        }
    }
    for word in cells.at(2)?.split_whitespace().skip(1) {
        last = last.max(word.split_once('<').map_or(Ok(Version::MIN), |(_, before)| version(before))?);
    }
    Ok(last)
}

/// `last-wins` as `LastWins`.
fn variant(text: &str) -> String {
    text.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}
