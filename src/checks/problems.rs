//! What reading met: text that does not parse, includes and imports that lead nowhere.

use crate::checks::{Check, Cx, Run};
use crate::fix::{Edit, Fix};
use crate::model::{Problem, ProblemKind};
use crate::syntax::SyntaxError;

/// Places where nginx's parser stops.
pub static NGINX_SYNTAX: Check = Check { name: "nginx/syntax", run: Run::Model(|cx| report(cx, ProblemKind::Syntax)) };

/// Includes of nginx that name nothing, or themselves.
pub static NGINX_INCLUDE: Check =
    Check { name: "nginx/include-not-found", run: Run::Model(|cx| report(cx, ProblemKind::Include)) };

/// Imports of Caddy that name nothing, or themselves.
pub static CADDY_IMPORT: Check =
    Check { name: "caddy/import-not-found", run: Run::Model(|cx| report(cx, ProblemKind::Include)) };

/// Comments to proxylint.
pub static COMMENTS: Check = Check { name: "proxylint/comments", run: Run::Comments };

/// Reports the model's problems of one kind.
pub(crate) fn report(cx: &mut Cx<'_>, kind: ProblemKind) {
    let model = cx.model;
    for Problem { error, versions, .. } in model.problems().iter().filter(|p| p.kind == kind) {
        let report = cx.report_span(error.span, error.message.clone());
        if let Some(versions) = versions {
            report.versions(versions.clone());
        }
        for (span, message) in &error.labels {
            report.label(*span, message.clone());
        }
        if let Some(help) = &error.help {
            report.note(help.clone());
        }
        if let Some(fix) = repair(error) {
            report.fix(fix);
        }
    }
}

fn repair(error: &SyntaxError) -> Option<Fix> {
    let (_, text) = error.repair.first()?;
    let title = match *text {
        ";" => "add the missing `;`".to_owned(),
        "" => "remove it".to_owned(),
        "\"" | "'" => "put it in quotes".to_owned(),
        " " => "put a space in between".to_owned(),
        "\n" => "put it on a line of its own".to_owned(),
        " {" => "put the `{` at the end of the line above".to_owned(),
        text => format!("write `{text}`"),
    };
    let edits = error.repair.iter().map(|&(span, text)| Edit::replace(span, text)).collect();
    Some(Fix::safe(title, edits))
}
