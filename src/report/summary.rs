//! What a run says besides its findings: what was read and what not, for which versions, what was fixed.

use std::path::{Path, PathBuf};

use super::{Look, place, plain};
use crate::baseline::Entry;
use crate::finding::Severity;
use crate::lint::rounds::Applied;
use crate::session::{Assumed, Counts, Found, Gap, Outcome, Passed, Unread};

/// More names than this are counted, not listed, unless asked for.
const MOST_NAMES: usize = 10;

/// What became of the fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixes {
    /// Nobody asked for them.
    Offered,
    /// They stand in a patch.
    Printed,
    /// They were written.
    Written,
}

/// The notices of a run, one a line, the count of findings last.
pub fn lines(outcome: &Outcome, look: Look<'_>, fixes: Fixes, verbose: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if verbose {
        lines.extend(outcome.files.iter().map(|path| format!("read: {}", shown(path, look))));
    }
    lines.extend(unread(outcome, look, verbose));
    lines.extend(not_included(outcome, look, verbose));
    lines.extend(contexts(outcome, look));
    lines.extend(passed(&outcome.passed, look));
    lines.extend(gone(outcome, look, verbose));
    if fixes != Fixes::Offered {
        lines.extend(outcome.applied.iter().flat_map(|it| applied(it, fixes, look)));
    }
    if fixes == Fixes::Printed {
        // Without a patch they stand with the findings.
        lines.extend(outcome.findings.iter().filter_map(|found| held_back(found, look)));
    }
    lines.push(count(outcome, fixes));
    lines
}

/// What was found and is not shown.
fn passed(passed: &Passed, look: Look<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = |count: usize, what: &str| {
        let verb = if count == 1 { "was" } else { "were" };
        let what = what.replace("{was}", verb);
        lines.extend((count > 0).then(|| format!("not shown: {} {what}", many(count, "finding"))));
    };
    line(passed.ignored, "that comments ignore");
    line(passed.elsewhere, "of files that were not named");
    line(passed.before, "that {was} there at the revision");
    for (path, met) in &passed.known {
        line(met.len(), &format!("known by {}", shown(path, look)));
    }
    lines
}

/// Known findings that are gone, so that their baseline gets shorter.
fn gone(outcome: &Outcome, look: Look<'_>, verbose: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for (path, entries) in &outcome.gone {
        let count: usize = entries.iter().map(|entry| entry.count).sum();
        let verb = if count == 1 { "is" } else { "are" };
        let what = if count == 1 { "1 known finding".to_owned() } else { format!("{count} known findings") };
        lines.push(format!("{what} of {} {verb} gone: --write-baseline takes them out", shown(path, look)));
        let one = |entry: &Entry| format!("  gone: {}: {} [{}]", entry.path, entry.text, entry.rule);
        lines.extend(entries.iter().filter(|_| verbose).map(|entry| plain::line(&one(entry)).into_owned()));
    }
    lines
}

/// Parts that were judged in the main files around them.
fn contexts(outcome: &Outcome, look: Look<'_>) -> Vec<String> {
    let mut by_main: Vec<(&Path, Vec<&Path>)> = Vec::new();
    for (part, main) in &outcome.contexts {
        match by_main.iter_mut().find(|(known, _)| *known == main.as_path()) {
            Some((_, parts)) => parts.push(part),
            None => by_main.push((main, vec![part])),
        }
    }
    let line = |(main, parts): (&Path, Vec<&Path>)| {
        let it = if parts.len() == 1 { "it" } else { "them" };
        list(&format!("judged in {}, which includes {it}", shown(main, look)), &parts, look, false)
    };
    by_main.into_iter().filter_map(line).collect()
}

fn shown(path: &Path, look: Look<'_>) -> String {
    plain::line(&place::path(path, look.base)).into_owned()
}

/// What was not read. Other programs' files are counted, not listed, unless asked for.
fn unread(outcome: &Outcome, look: Look<'_>, verbose: bool) -> Vec<String> {
    let of = |gap: Gap| outcome.unread.iter().filter(move |it| it.gap == gap);
    let line = |it: &Unread| format!("not read: {}: {}", shown(&it.path, look), plain::line(&it.reason));
    let mut lines: Vec<String> = of(Gap::Failed).chain(of(Gap::Other)).map(line).collect();
    if verbose {
        lines.extend(of(Gap::Template).chain(of(Gap::Excluded)).chain(of(Gap::Foreign)).map(line));
        return lines;
    }
    let templates: Vec<&Path> = of(Gap::Template).map(|it| it.path.as_path()).collect();
    lines.extend(list("not checked, as they are templates", &templates, look, verbose));
    let excluded = of(Gap::Excluded).count();
    if excluded > 0 {
        lines.push(format!("passed over: {} excluded by the settings (-v lists them)", many(excluded, "file")));
    }
    let foreign = of(Gap::Foreign).count();
    if foreign > 0 {
        lines.push(format!("passed over: {} of other programs (-v lists them)", many(foreign, "file")));
    }
    lines
}

fn not_included(outcome: &Outcome, look: Look<'_>, verbose: bool) -> Option<String> {
    let paths: Vec<&Path> = outcome.not_included.iter().map(PathBuf::as_path).collect();
    let list = list("not checked, as no main file includes them", &paths, look, verbose)?;
    Some(format!("{list}; --all checks them too"))
}

/// A line with paths in it, the first few unless all are asked for. `None` where there is none.
fn list(head: &str, paths: &[&Path], look: Look<'_>, verbose: bool) -> Option<String> {
    let listed = if verbose { paths.len() } else { paths.len().min(MOST_NAMES) };
    let names: Vec<String> = paths[..listed].iter().map(|path| shown(path, look)).collect();
    let more = match paths.len() - listed {
        0 => String::new(),
        more => format!(" and {more} more (-v lists them)"),
    };
    (!paths.is_empty()).then(|| format!("{head}: {}{more}", names.join(", ")))
}

fn applied(it: &Applied, fixes: Fixes, look: Look<'_>) -> Vec<String> {
    let (path, at) = (shown(&it.path, look), it.position);
    let done = if fixes == Fixes::Printed { "the patch fixes" } else { "fixed" };
    let mut lines = vec![format!("{done}: {path}:{}:{}: {} [{}]", at.line, at.column, plain::line(&it.title), it.rule)];
    lines.extend(it.changes.iter().map(|change| format!("  this also changes: {}", plain::line(change))));
    lines
}

fn held_back(found: &Found, look: Look<'_>) -> Option<String> {
    let (reason, file) = (found.held_back.get(&0)?, found.file(found.finding.span));
    let at = file.position(found.finding.span.start);
    let path = shown(file.path(), look);
    Some(format!(
        "not fixed: {path}:{}:{}: {} [{}]",
        at.line,
        at.column,
        plain::line(&reason.to_string()),
        found.finding.rule
    ))
}

fn count(outcome: &Outcome, fixes: Fixes) -> String {
    let found = found(outcome);
    let result = match (fixes, outcome.applied.len()) {
        (Fixes::Offered, _) => format!("{found}{}", fixable(&outcome.counts())),
        (_, 0) => format!("nothing fixed, {found}"),
        (Fixes::Printed, fixed) => format!("{fixed} fixed by the patch, {found} left"),
        (Fixes::Written, fixed) => format!("{fixed} fixed, {found} left"),
    };
    let held = match outcome.findings.iter().filter(|found| found.held_back.contains_key(&0)).count() {
        0 => String::new(),
        held => format!("; {} held back", many(held, "fix")),
    };
    if outcome.configs.is_empty() {
        return "nothing to check".to_owned();
    }
    format!("{}: {result}{held}", checked(outcome))
}

/// How many findings there are: `2 errors, 1 warning`.
pub(super) fn found(outcome: &Outcome) -> String {
    let counts = outcome.counts();
    let found =
        [(counts.errors, Severity::Error), (counts.warnings, Severity::Warning), (counts.infos, Severity::Info)];
    let found = found.iter().filter(|(n, _)| *n > 0).map(|&(n, level)| many(n, level.as_str()));
    let found = found.collect::<Vec<_>>().join(", ");
    match (found.is_empty(), outcome.is_complete()) {
        (false, _) => found,
        (true, true) => "no findings".to_owned(),
        (true, false) => "no findings in what could be read".to_owned(),
    }
}

/// What was checked, for which versions.
pub(super) fn checked(outcome: &Outcome) -> String {
    let (directives, files) = (many(outcome.directives, "directive"), many(outcome.files.len(), "file"));
    let targets = outcome.targets.iter().map(target).collect::<Vec<_>>().join(" and ");
    format!("checked {directives} in {files} for {targets}")
}

/// What was not checked, one line each.
pub(super) fn gaps(outcome: &Outcome, look: Look<'_>) -> Vec<String> {
    unread(outcome, look, false).into_iter().chain(not_included(outcome, look, false)).collect()
}

fn target(target: &Assumed) -> String {
    let (server, versions) = (target.server.name(), target.versions.describe(target.server));
    if target.stated {
        return format!("{server} {versions}");
    }
    format!("{server} {versions} (assumed; say which with --{})", server.to_ascii_lowercase())
}

fn fixable(counts: &Counts) -> String {
    match (counts.safe_fixes, counts.unsafe_fixes) {
        (0, 0) => String::new(),
        (safe, 0) => format!(", {safe} fixable with --fix"),
        (0, risky) => format!(", {risky} fixable with --fix --unsafe-fixes"),
        (safe, risky) => format!(", {safe} fixable with --fix and {risky} more with --unsafe-fixes"),
    }
}

/// `1 file`, `2 files`.
pub fn many(count: usize, word: &str) -> String {
    match count {
        1 => format!("1 {word}"),
        _ if word.ends_with('x') => format!("{count} {word}es"),
        _ => format!("{count} {word}s"),
    }
}
