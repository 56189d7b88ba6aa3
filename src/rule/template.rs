//! Texts with places to fill in: `{directive}`, `{args}`, `{arg.0}`, `{versions}`; `{{` and `}}` are
//! braces. A leaf: `build.rs` takes it in too.

use crate::suggest;

/// A part of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Text as it is.
    Literal(&'t str),
    /// The directive's name.
    Directive,
    /// All its arguments.
    Args,
    /// One argument, counted from 0.
    Arg(usize),
    /// The versions for which it is true.
    Versions,
}

/// The parts of a template, in order.
///
/// # Errors
/// When a brace has no partner or encloses no known name; small first letter, no full stop.
pub fn pieces(template: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, brace) = rest.split_at(at);
        if !before.is_empty() {
            pieces.push(Piece::Literal(before));
        }
        let (piece, behind) = match brace.as_bytes() {
            [b'{', b'{', ..] | [b'}', b'}', ..] => (Piece::Literal(&brace[..1]), &brace[2..]),
            [b'{', ..] => {
                let end = brace.find('}').ok_or("`{` has no `}`; write `{{` for a brace")?;
                (named(&brace[1..end])?, &brace[end + 1..])
            }
            _ => return Err("`}` has no `{`; write `}}` for a brace".to_owned()),
        };
        pieces.push(piece);
        rest = behind;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Literal(rest));
    }
    Ok(pieces)
}

fn named(name: &str) -> Result<Piece<'_>, String> {
    match name {
        "directive" => Ok(Piece::Directive),
        "args" => Ok(Piece::Args),
        "versions" => Ok(Piece::Versions),
        _ => match name.strip_prefix("arg.").and_then(|number| number.parse().ok()) {
            Some(number) => Ok(Piece::Arg(number)),
            None => {
                let hint = suggest::did_you_mean(name, ["directive", "args", "arg.0", "versions"]);
                Err(format!(
                    "nothing is called `{{{name}}}`{hint} (known are {{directive}}, {{args}}, {{arg.0}}, {{versions}}; \
                     write `{{{{` for a brace)"
                ))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_doubled_braces_are_told_apart() {
        use Piece::*;
        assert_eq!(
            pieces("`{directive} {arg.1}` is {{host}} on {versions}").unwrap(),
            [
                Literal("`"),
                Directive,
                Literal(" "),
                Arg(1),
                Literal("` is "),
                Literal("{"),
                Literal("host"),
                Literal("}"),
                Literal(" on "),
                Versions
            ]
        );
        assert!(pieces("{directve}").unwrap_err().contains("did you mean `directive`?"));
        assert!(pieces("{arg}").unwrap_err().contains("did you mean `args`?"));
        assert!(pieces("a { b").is_err() && pieces("a } b").is_err());
    }
}
