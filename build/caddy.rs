//! Caddy's grammar (`src/catalog/caddy/grammar.txt`) to static tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use crate::version::{Version, VersionSet};

type Error = Box<dyn std::error::Error>;

const FILE: &str = "src/catalog/caddy/grammar.txt";

/// A line of the file with the lines below it.
#[derive(Debug)]
struct Line<'a> {
    words: Vec<&'a str>,
    below: Vec<Line<'a>>,
}

/// Writes `catalog_caddy.rs` into the output folder.
///
/// # Errors
/// Names the line that is wrong.
pub(crate) fn generate(root: &Path) -> Result<(), Error> {
    println!("cargo::rerun-if-changed={FILE}");
    let text = fs::read_to_string(root.join(FILE)).map_err(|e| format!("{FILE}: {e}"))?;
    let sections = sections(&text)?;
    let mut out = String::new();
    for (name, lines) in &sections {
        if *name == "order" {
            let names: Vec<String> = lines.iter().map(|line| format!("{:?}", line.words[0])).collect();
            writeln!(out, "pub(super) static ORDER: &[&str] = &[{}];", names.join(", "))?;
        }
    }
    writeln!(out, "pub(super) static SECTIONS: &[(&str, &[Entry])] = &[")?;
    for (name, lines) in sections.iter().filter(|(name, _)| **name != "order") {
        writeln!(out, "({name:?}, {}),", entries(lines)?)?;
    }
    writeln!(out, "];")?;
    Ok(fs::write(Path::new(&env::var("OUT_DIR")?).join("catalog_caddy.rs"), out)?)
}

fn sections(text: &str) -> Result<BTreeMap<&str, Vec<Line<'_>>>, Error> {
    let mut sections: BTreeMap<&str, Vec<Line<'_>>> = BTreeMap::new();
    let mut name = "";
    for (number, line) in text.lines().enumerate() {
        let at = |problem: &str| -> Error { format!("{FILE}:{}: {problem}", number + 1).into() };
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name = section;
            continue;
        }
        let content = line.trim_start_matches('\t');
        let mut level = sections.entry(name).or_default();
        for _ in 0..line.len() - content.len() {
            level = &mut level.last_mut().ok_or_else(|| at("nothing stands above this line"))?.below;
        }
        level.push(Line { words: content.split(' ').collect(), below: Vec::new() });
    }
    Ok(sections)
}

/// The lines as a Rust expression, sorted by name.
fn entries(lines: &[Line<'_>]) -> Result<String, Error> {
    let mut sorted: Vec<&Line<'_>> = lines.iter().collect();
    sorted.sort_by_key(|line| line.words[0]);
    let mut out = String::from("&[");
    for line in sorted {
        let entry = entry(line).map_err(|e| format!("{FILE}: `{}`: {e}", line.words.join(" ")))?;
        out.push_str(&entry);
    }
    Ok(out + "]")
}

fn entry(line: &Line<'_>) -> Result<String, Error> {
    let [name, args, block, rest @ ..] = &line.words[..] else { return Err("expected NAME ARGUMENTS BLOCK".into()) };
    let (min, max) = match args.split_once('-') {
        None => (args.parse::<u8>()?, args.parse::<u8>()?),
        Some((min, "")) => (min.parse()?, u8::MAX),
        Some((min, max)) => (min.parse()?, max.parse()?),
    };
    let block = match *block {
        "none" => "None",
        "empty" => "Empty",
        "any" => "Any",
        "loose" => "Loose",
        "strict" => "Strict",
        "must" => "Must",
        "handlers" => "Handlers",
        other => return Err(format!("`{other}` is no kind of block").into()),
    };
    let mut flags = Flags::default();
    for word in rest {
        flags.read(word)?;
    }
    let Flags { more, handler, matcher, since, until, once, kind, of, module, also, loose } = flags;
    let below = entries(&line.below)?;
    Ok(format!(
        "Entry {{ name: {name:?}, min: {min}, max: {max}, block: Block::{block}, more: {more}, handler: {handler}, \
         matcher: {matcher}, since: {}, until: {}, once: {}, kind: {kind}, of: &{of:?}, module: {module:?}, also: {also:?}, \
         loose_before: {}, below: {below} }},\n",
        version(&since),
        version(&until),
        version(&once),
        version(&loose),
    ))
}

struct Flags<'a> {
    more: bool,
    handler: bool,
    matcher: bool,
    since: Option<Version>,
    until: Option<Version>,
    once: Option<Version>,
    kind: &'static str,
    of: Vec<&'a str>,
    module: Option<&'a str>,
    also: Option<&'a str>,
    loose: Option<Version>,
}

impl Default for Flags<'_> {
    fn default() -> Self {
        let (more, handler, matcher) = (false, false, false);
        let (since, until, once, loose) = (None, None, None, None);
        Self {
            more,
            handler,
            matcher,
            since,
            until,
            once,
            kind: "Kind::Text",
            of: Vec::new(),
            module: None,
            also: None,
            loose,
        }
    }
}

impl<'a> Flags<'a> {
    fn read(&mut self, word: &'a str) -> Result<(), Error> {
        match word.split_once(['=', '<']) {
            None if word == "more" => self.more = true,
            None if word == "handler" => self.handler = true,
            None if word == "matcher" => self.matcher = true,
            None if word == "once" => self.once = Some(Version::MIN),
            Some(("since", v)) => self.since = Some(exact(v)?),
            Some(("until", v)) => self.until = Some(exact(v)?),
            Some(("once", v)) => self.once = Some(exact(v)?),
            Some(("loose", v)) => self.loose = Some(exact(v)?),
            Some(("module", name)) => self.module = Some(name),
            Some(("also", name)) => self.also = Some(name),
            Some(("of", words)) => self.of = words.split('|').collect(),
            Some(("type", "duration")) => self.kind = "Kind::Duration",
            Some(("type", "size")) => self.kind = "Kind::Size",
            Some(("type", "status")) => self.kind = "Kind::Status",
            Some(("type", "interval")) => self.kind = "Kind::Interval",
            Some(("type", "int")) => self.kind = "Kind::Int",
            _ => return Err(format!("`{word}` means nothing here").into()),
        }
        Ok(())
    }
}

fn exact(text: &str) -> Result<Version, Error> {
    let set = VersionSet::parse(text)?;
    Ok(set.ranges().first().ok_or("no version")?.start)
}

fn version(version: &Option<Version>) -> String {
    match version {
        None => "None".to_owned(),
        Some(v) => format!("Some(Version::new({}, {}, {}))", v.major, v.minor, v.patch),
    }
}
