//! What a run says besides its findings: what was read, for which versions, what was left out.

use super::{Look, place, plain};
use crate::session::{Assumed, Counts, Outcome};

/// More names than this are counted, not listed, unless asked for.
const MOST_NAMES: usize = 10;

/// The notices of a run, one a line, the count of findings last.
pub fn lines(outcome: &Outcome, look: Look<'_>, verbose: bool) -> Vec<String> {
    let mut lines: Vec<String> = outcome
        .not_read
        .iter()
        .map(|it| format!("not read: {}: {}", plain::line(&place::path(&it.path, look.base)), plain::line(&it.reason)))
        .collect();
    lines.extend(not_included(outcome, look, verbose));
    lines.extend(outcome.targets.iter().map(target));
    lines.push(count(outcome));
    lines
}

fn not_included(outcome: &Outcome, look: Look<'_>, verbose: bool) -> Option<String> {
    let all = &outcome.not_included;
    if all.is_empty() {
        return None;
    }
    let shown = if verbose { all.len() } else { all.len().min(MOST_NAMES) };
    let names: Vec<String> =
        all[..shown].iter().map(|path| plain::line(&place::path(path, look.base)).into_owned()).collect();
    let more = match all.len() - shown {
        0 => String::new(),
        more => format!(" and {more} more (-v lists them)"),
    };
    Some(format!("not included by any main file, so not checked: {}{more}; --all checks them too", names.join(", ")))
}

fn target(target: &Assumed) -> String {
    let (server, versions) = (target.server.name(), target.versions.describe(target.server));
    if target.stated {
        return format!("for {server} {versions}");
    }
    let option = server.to_ascii_lowercase();
    format!("for {server} {versions}, the releases that could read this: state yours with --{option}")
}

fn count(outcome: &Outcome) -> String {
    let counts = outcome.counts();
    let read = format!("{} in {}", many(outcome.directives, "directive"), many(outcome.files, "file"));
    let found = [(counts.errors, "error"), (counts.warnings, "warning"), (counts.infos, "info")];
    let found: Vec<String> = found.iter().filter(|(n, _)| *n > 0).map(|&(n, word)| many(n, word)).collect();
    if found.is_empty() {
        return format!("no findings: {read}");
    }
    format!("{}{}: {read}", found.join(", "), fixable(&counts))
}

fn fixable(counts: &Counts) -> String {
    match (counts.safe_fixes, counts.unsafe_fixes) {
        (0, 0) => String::new(),
        (safe, 0) => format!(" ({safe} fixable with --fix)"),
        (0, risky) => format!(" ({risky} fixable with --fix --unsafe-fixes)"),
        (safe, risky) => format!(" ({safe} fixable with --fix, {risky} more with --unsafe-fixes)"),
    }
}

/// `1 file`, `2 files`.
pub(super) fn many(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
