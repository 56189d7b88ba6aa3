//! `path:line:column: severity[rule] message`, one finding a line.

use std::io::{self, Write};

use super::{Look, place, plain};
use crate::session::{Found, Outcome};

pub(super) fn write(outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    for found in &outcome.findings {
        writeln!(out, "{}", line(found, look))?;
    }
    Ok(())
}

fn line(found: &Found, look: Look<'_>) -> String {
    let finding = &found.finding;
    let file = found.file(finding.span);
    let at = file.position(finding.span.start);
    let path = place::path(file.path(), look.base);
    let style = look.severity(finding.severity);
    format!(
        "{}:{}:{}: {style}{}[{}]{style:#} {}",
        plain::line(&path),
        at.line,
        at.column,
        finding.severity.as_str(),
        plain::line(&finding.rule),
        plain::line(&finding.message)
    )
}
