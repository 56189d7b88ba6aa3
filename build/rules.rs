//! The pages of `rules/` as Rust source: one static slice of rules, sorted by id.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::rule::definition::{Finds, Param, Params, Pattern, Rewrite, Rule};
use crate::rule::file;
use crate::source::{Error, joined, option, text, texts, versions};

/// Writes `rules.rs` into the output folder.
///
/// # Errors
/// Names the page and the line that is wrong.
pub(crate) fn generate(root: &Path) -> Result<(), Error> {
    let source = source(&root.join("rules"))?;
    Ok(fs::write(Path::new(&env::var("OUT_DIR")?).join("rules.rs"), source)?)
}

/// The source of `pub static RULES`.
fn source(folder: &Path) -> Result<String, Error> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut pages = Vec::new();
    for section in entries(folder)?.into_iter().filter(|path| path.is_dir()) {
        println!("cargo::rerun-if-changed={}", section.display());
        for path in entries(&section)?.into_iter().filter(|path| path.extension().is_some_and(|e| e == "md")) {
            let name = path.strip_prefix(folder)?.with_extension("");
            pages.push((name.to_str().ok_or("the name of a rule is UTF-8")?.replace('\\', "/"), path));
        }
    }
    pages.sort();
    let mut source = String::from(
        "/// The program's own rules, sorted by id: the pages of `rules/`.\npub static RULES: &[Rule] = {\n\
         use std::borrow::Cow;\nuse crate::rule::definition::*;\nuse crate::rule::level::*;\nuse crate::version::*;\n&[\n",
    );
    for (id, path) in pages {
        let page = file::read(&id, &format!("rules/{id}.md"), &fs::read_to_string(&path)?)?;
        write_rule(&mut source, &page.rule, &path)?;
    }
    source.push_str("]};\n");
    Ok(source)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(entries.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?)
}

fn write_rule(out: &mut String, rule: &Rule, path: &Path) -> std::fmt::Result {
    let Rule {
        id,
        aliases,
        summary,
        page: _,
        server,
        severity,
        category,
        since,
        versions,
        activation,
        message,
        finds,
        mends,
    } = rule;
    writeln!(
        out,
        "Rule {{ id: {}, aliases: {}, summary: {}, page: Cow::Borrowed(include_str!({path:?})), server: {}, \
         severity: Severity::{severity:?}, category: Category::{category:?}, since: {}, versions: {}, \
         activation: Activation::{activation:?}, message: {}, finds: {}, mends: Mends::{mends:?} }},",
        text(id),
        texts(aliases),
        text(summary),
        option(server.as_ref(), |server| format!("Server::{server:?}")),
        text(since),
        option(versions.as_ref(), crate::source::versions),
        option(message.as_ref(), |message| text(message)),
        finds_source(finds),
    )
}

fn finds_source(finds: &Finds) -> String {
    match finds {
        Finds::Match { pattern, rewrite, by_block } => format!(
            "Finds::Match {{ pattern: {}, rewrite: {}, by_block: {by_block} }}",
            pattern_source(pattern),
            option(rewrite.as_ref(), rewrite_source),
        ),
        Finds::Check { name, params } => {
            format!("Finds::Check {{ name: {}, params: {} }}", text(name), params_source(params))
        }
    }
}

fn pattern_source(pattern: &Pattern) -> String {
    let Pattern { directive, inside, args, has, lacks } = pattern;
    format!(
        "Pattern {{ directive: {}, inside: {}, args: {}, has: {}, lacks: {} }}",
        texts(directive),
        option(inside.as_ref(), texts),
        option(args.as_ref(), texts),
        texts(has),
        texts(lacks),
    )
}

fn rewrite_source(rewrite: &Rewrite) -> String {
    let Rewrite { replace, drop, beside, remove, safe, changes, needs } = rewrite;
    format!(
        "Rewrite {{ replace: {}, drop: {}, beside: {}, remove: {remove}, safe: {safe}, changes: {}, needs: {} }}",
        option(replace.as_ref(), |replace| text(replace)),
        texts(drop),
        option(beside.as_ref(), |beside| text(beside)),
        texts(changes),
        option(needs.as_ref(), versions),
    )
}

fn params_source(params: &Params) -> String {
    let pairs = params.iter().map(|(name, value)| format!("({}, {})", text(name), param_source(value)));
    format!("Params::from_static(const {{ &[{}] }})", joined(pairs))
}

fn param_source(param: &Param) -> String {
    match param {
        Param::Text(value) => format!("Param::Text({})", text(value)),
        Param::Number(value) => format!("Param::Number({value})"),
        Param::Flag(value) => format!("Param::Flag({value})"),
        Param::List(values) => {
            format!("Param::List(Cow::Borrowed(const {{ &[{}] }}))", joined(values.iter().map(param_source)))
        }
        Param::Table(values) => format!("Param::Table({})", params_source(values)),
    }
}
