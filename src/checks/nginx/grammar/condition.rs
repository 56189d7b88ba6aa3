//! The condition of `if` (`ngx_http_rewrite_if_condition`).

use super::Line;
use super::arguments::Wrong;
use crate::model::Word;

/// What nginx refuses of a condition.
pub(super) fn judge(line: Line<'_>) -> Option<Wrong<'_>> {
    let words: Vec<Word<'_>> = line.args().collect();
    let (first, last) = (*words.first()?, *words.last()?);
    if !first.value().starts_with(b"(") {
        return Some(Wrong::new(first, "the condition of `if` begins with `(`: nginx refuses the file"));
    }
    if !last.value().ends_with(b")") {
        return Some(Wrong::new(last, "the condition of `if` ends with `)`: nginx refuses the file"));
    }
    let parts = parts(&words);
    match parts.as_slice() {
        [] => Some(Wrong::line("the condition of `if` is empty: nginx refuses the file")),
        [(word, value), rest @ ..] if value.len() > 1 && value.starts_with(b"$") => variable(*word, rest),
        [(word, operator), rest @ ..] if is_file_test(operator) => match rest {
            [_] => None,
            _ => Some(Wrong::new(
                *word,
                format!("`{}` tests one file; put a path with spaces in quotes", text(operator)),
            )),
        },
        [(word, value), ..] => {
            let hint = if value.starts_with(b"!$") {
                "; nginx has no negation, compare with `= \"\"` or `= 0`"
            } else {
                "; it begins with a variable or a test such as `-f`"
            };
            Some(Wrong::new(*word, format!("nginx does not understand the condition at `{}`{hint}", text(value))))
        }
    }
}

/// The words without the outer parentheses, each with its place.
fn parts<'m>(words: &[Word<'m>]) -> Vec<(Word<'m>, &'m [u8])> {
    let last = words.len() - 1;
    let cut = |(i, word): (usize, &Word<'m>)| {
        let mut value = word.value();
        if i == 0 {
            value = value.strip_prefix(b"(").unwrap_or(value);
        }
        if i == last {
            value = value.strip_suffix(b")").unwrap_or(value);
        }
        (*word, value)
    };
    let mut parts: Vec<_> = words.iter().enumerate().map(cut).collect();
    // A parenthesis may stand alone; an empty word between them is a value.
    if parts.len() > 1 && words[0].value() == b"(" {
        parts.remove(0);
    }
    if parts.len() > 1 && words[last].value() == b")" {
        parts.pop();
    }
    parts.retain(|(word, value)| !value.is_empty() || !matches!(word.value(), b"(" | b")" | b"()"));
    parts
}

fn variable<'m>(word: Word<'m>, rest: &[(Word<'m>, &'m [u8])]) -> Option<Wrong<'m>> {
    match rest {
        [] => None,
        [(operator, value), _] => match *value {
            b"=" | b"!=" | b"~" | b"~*" | b"!~" | b"!~*" => None,
            b"==" => {
                let mut wrong = Wrong::new(*operator, "nginx compares with `=`: it refuses `==`");
                wrong.meant = (operator.value() == b"==").then(|| "=".to_owned());
                Some(wrong)
            }
            other => Some(Wrong::new(
                *operator,
                format!("`{}` is no comparison; nginx knows `=`, `!=`, `~`, `~*`, `!~` and `!~*`", text(other)),
            )),
        },
        more => {
            let joined =
                more.iter().find(|(_, value)| matches!(*value, b"&&" | b"||" | b"and" | b"or" | b"AND" | b"OR"));
            match joined {
                Some((word, value)) => Some(Wrong::new(
                    *word,
                    format!("nginx has no `{}`: a condition is one test; join tests with `map`", text(value)),
                )),
                None => Some(Wrong::new(
                    word,
                    "the condition of `if` is a variable, or a variable, a comparison and one value; put a value with spaces in quotes",
                )),
            }
        }
    }
}

fn is_file_test(value: &[u8]) -> bool {
    matches!(value.strip_prefix(b"!").unwrap_or(value), b"-f" | b"-d" | b"-e" | b"-x")
}

fn text(value: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(value)
}
