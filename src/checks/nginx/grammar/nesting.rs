//! Locations in locations.

use super::Line;
use super::arguments::Wrong;
use crate::catalog::nginx::Context;
use crate::checks::nginx::location::{Kind, Matcher};

/// What nginx refuses of a location in another.
pub(super) fn judge(line: Line<'_>) -> Option<Wrong<'_>> {
    let inner = Matcher::of(line.node)?;
    if line.context != Context::Location {
        return None;
    }
    let outer = Matcher::of(line.node.parent()?)?;
    let name = |matcher: &Matcher<'_>| String::from_utf8_lossy(matcher.path).into_owned();
    let message = match (outer.kind, inner.kind) {
        (Kind::Exact, _) => {
            format!("a location inside the exact location `{}` is refused: it matches one path only", name(&outer))
        }
        (Kind::Named, _) => format!("a location inside the named location `{}` is refused", name(&outer)),
        (_, Kind::Named) => format!("the named location `{}` may stand only in a `server`", name(&inner)),
        (Kind::Prefix | Kind::Preferred, Kind::Prefix | Kind::Preferred | Kind::Exact)
            if !inner.path.starts_with(outer.path) =>
        {
            format!(
                "location `{}` is outside of the location `{}` that it stands in: nginx refuses the file",
                name(&inner),
                name(&outer)
            )
        }
        _ => return None,
    };
    Some(Wrong::line(message))
}
