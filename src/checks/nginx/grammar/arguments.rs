//! Number and kind of arguments.

use super::{Fault, Finder, Line, special};
use crate::catalog::nginx::values::{self, TimeUnit};
use crate::catalog::nginx::{Arity, Directive, Form, Param, Repeat, Value};
use crate::fix::{Edit, Fix};
use crate::model::Word;
use crate::syntax::tree::Body;
use crate::version::{Holds, Server, Version};

/// What is wrong with one argument.
pub(super) struct Wrong<'m> {
    /// The argument; `None` for the line as a whole.
    pub(super) word: Option<Word<'m>>,
    /// In words.
    pub(super) message: String,
    /// What was meant for sure.
    pub(super) meant: Option<String>,
}

impl<'m> Wrong<'m> {
    pub(super) fn new(word: Word<'m>, message: impl Into<String>) -> Self {
        Self { word: Some(word), message: message.into(), meant: None }
    }

    pub(super) fn line(message: impl Into<String>) -> Self {
        Self { word: None, message: message.into(), meant: None }
    }
}

impl<'m> Finder<'_, 'm> {
    /// Whether the line ends as the directive must.
    pub(super) fn form(&mut self, line: Line<'m>, directive: &Directive) -> bool {
        let has_block = !matches!(line.node.body(), Body::None { .. });
        if has_block == directive.is_block() {
            return true;
        }
        let name = line.name();
        let message = match directive.form {
            Form::Line => format!("`{name}` takes no block: nginx wants a `;` behind its arguments"),
            _ => format!("`{name}` needs a block `{{ … }}`, not a `;`"),
        };
        self.add(Fault::InvalidArguments, line.node, line.node.head(), message);
        false
    }

    /// Whether some version of the target takes that many arguments.
    pub(super) fn count(&mut self, line: Line<'m>, directive: &Directive) -> bool {
        let count = line.args().len();
        if directive.is_settled_since(self.oldest) && directive.arity.accepts(count) {
            return true;
        }
        let accepting = directive.accepting(count);
        let target = self.cx.target;
        match target.holds(Server::Nginx, &accepting) {
            Holds::Always => return true,
            Holds::Sometimes => {
                let message = format!("`{}` with {} is refused by {{versions}}", line.name(), arguments(count));
                let report = self.add(Fault::ParameterNotInVersion, line.node, line.node.head(), message);
                report.versions(accepting.complement());
            }
            Holds::Never if accepting.is_empty() => {
                let takes = target.members(Server::Nginx).last().map_or(directive.arity, |v| directive.arity_at(v));
                let message = format!("`{}` takes {}, not {count}: nginx refuses the file", line.name(), wanted(takes));
                self.add(Fault::InvalidArguments, line.node, line.node.head(), message);
            }
            Holds::Never => {
                let message = format!(
                    "`{}` with {} is known only to {}",
                    line.name(),
                    arguments(count),
                    accepting.words(Server::Nginx)
                );
                self.add(Fault::ParameterNotInVersion, line.node, line.node.head(), message);
            }
        }
        false
    }

    /// Judges the values.
    pub(super) fn values(&mut self, line: Line<'m>, directive: &'static Directive) {
        // A line that does nothing any more may hold anything.
        let ignored = |v: Version| directive.obsolete_at(v) && directive.repeat_at(v) == Repeat::Ignored;
        if directive.deprecated.is_some() && self.cx.target.members(Server::Nginx).any(ignored) {
            return;
        }
        let wrong = generic(line, directive).or_else(|| special::judge(line, directive, self.cx.target));
        if let Some(wrong) = wrong {
            let span = wrong.word.map_or(line.node.head(), Word::span);
            let report = self.add(Fault::InvalidArguments, line.node, span, wrong.message);
            if let (Some(meant), Some(word)) = (wrong.meant, wrong.word) {
                report.fix(Fix::safe(format!("write `{meant}`"), vec![Edit::replace(word.span(), meant)]));
            }
        }
    }

    /// A line of a block of entries: number of arguments.
    pub(super) fn entry(&mut self, line: Line<'m>) {
        let Some(parent) = line.node.parent() else { return };
        let blocks = parent.directives();
        let Some(block) = blocks.iter().find(|d| matches!(d.form, Form::Block(inside) if inside == line.context))
        else {
            return;
        };
        let name = line.node.name();
        let known = block.entries.iter().find(|(entry, _)| entry.as_bytes() == name);
        let Some((_, arity)) = known.or(block.entries.iter().find(|(entry, _)| *entry == "*")) else { return };
        if matches!(line.node.body(), Body::None { .. }) && !arity.accepts(line.args().len()) {
            let message = format!(
                "an entry of `{}` takes {}, not {}: nginx refuses the file",
                String::from_utf8_lossy(parent.name()),
                wanted_values(*arity),
                line.args().len()
            );
            self.add(Fault::InvalidArguments, line.node, line.node.head(), message);
        } else if let Some(wrong) = super::entries::judge(line).or_else(|| special::variables(line)) {
            let span = wrong.word.map_or(line.node.head(), Word::span);
            self.add(Fault::InvalidArguments, line.node, span, wrong.message);
        }
    }
}

/// `no argument`, `1 argument`, `2 arguments`.
fn arguments(count: usize) -> String {
    match count {
        0 => "no argument".to_owned(),
        1 => "1 argument".to_owned(),
        _ => format!("{count} arguments"),
    }
}

fn wanted(arity: Arity) -> String {
    match arity {
        Arity::Flag => "one argument, `on` or `off`".to_owned(),
        Arity::AtLeast(least) => format!("at least {}", arguments(least.into())),
        Arity::Counts(_) => {
            let counts: Vec<usize> = (0..16).filter(|&count| arity.accepts(count)).collect();
            match counts.as_slice() {
                [one] => arguments(*one),
                [rest @ .., last] => {
                    let rest: Vec<String> = rest.iter().map(usize::to_string).collect();
                    format!("{} or {}", rest.join(", "), arguments(*last))
                }
                [] => arguments(0),
            }
        }
    }
}

fn wanted_values(arity: Arity) -> String {
    wanted(arity).replace("argument", "value")
}

/// What the kind of value alone tells.
fn generic<'m>(line: Line<'m>, directive: &Directive) -> Option<Wrong<'m>> {
    let first = line.args().next()?;
    let name = line.name();
    match directive.value {
        Value::Flag => {
            flag(first).then(|| Wrong::new(first, format!("`{name}` is `on` or `off`, not `{}`", first.text())))
        }
        Value::Enum => keyword(directive, &[first], &name),
        Value::Bitmask => keyword(directive, &line.args().collect::<Vec<_>>(), &name),
        Value::Number => number(first, &name),
        Value::Size => size(first, &name, false),
        Value::LargeSize => size(first, &name, true),
        Value::SizeExpr if !first.value().contains(&b'$') => size(first, &name, false),
        Value::Buffers => buffers(line, first, &name),
        Value::Milliseconds => time(first, &name, TimeUnit::Milliseconds),
        Value::Seconds => time(first, &name, TimeUnit::Seconds),
        Value::Access => line.args().find(|word| !access(word.value())).map(|word| {
            Wrong::new(word, format!("`{}` is no right of a file; write `user:rw group:r all:r`", word.text()))
        }),
        Value::PathLevels => {
            line.args().skip(1).find(|word| !matches!(values::number(word.value()), Some(1..=3))).map(|word| {
                Wrong::new(word, format!("`{}` is no length of a folder's name; write 1, 2 or 3", word.text()))
            })
        }
        Value::Expression | Value::Predicates | Value::SizeExpr if directive.variables == Some(true) => {
            line.args().find_map(special::broken_variable)
        }
        Value::Pair => line.args().nth(1).and_then(special::broken_variable),
        _ => None,
    }
}

fn flag(word: Word<'_>) -> bool {
    !word.value().eq_ignore_ascii_case(b"on") && !word.value().eq_ignore_ascii_case(b"off")
}

fn keyword<'m>(directive: &Directive, words: &[Word<'m>], name: &str) -> Option<Wrong<'m>> {
    let known = |word: &Word<'_>| {
        let gone = |param: &Param| param.versions.ranges().last().is_none_or(|range| range.end != Version::MAX);
        let here = |param: &&Param| word.value().eq_ignore_ascii_case(param.name.as_bytes());
        directive.params.iter().find(here).is_some_and(|param| !gone(param) || directive.deprecated.is_some())
    };
    // What only NGINX Plus takes is another fault.
    if directive.params.iter().any(|param| param.commercial && param.name.starts_with('<')) {
        return None;
    }
    let wrong = words.iter().find(|word| !known(word))?;
    let names: Vec<String> =
        directive.params.iter().filter(|p| !p.commercial).map(|p| format!("`{}`", p.name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let message = format!("`{name}` does not know `{}`; it takes {}", wrong.text(), super::names::any_of(&names));
    Some(Wrong::new(*wrong, message))
}

pub(super) fn number<'m>(word: Word<'m>, name: &str) -> Option<Wrong<'m>> {
    let wrong = values::number(word.value()).is_none();
    wrong.then(|| Wrong::new(word, format!("`{name}` takes a whole number, not `{}`", word.text())))
}

/// A number whose sign was cut off.
pub(super) fn number_of<'m>(word: Word<'m>, digits: &[u8], name: &str) -> Option<Wrong<'m>> {
    let wrong = values::number(digits).is_none();
    wrong.then(|| Wrong::new(word, format!("`{name}` takes a whole number, not `{}`", word.text())))
}

pub(super) fn size<'m>(word: Word<'m>, name: &str, large: bool) -> Option<Wrong<'m>> {
    if values::size(word.value(), large).is_some() {
        return None;
    }
    let units = if large { "`k`, `m` or `g`" } else { "`k` or `m`" };
    let mut wrong =
        Wrong::new(word, format!("`{name}` takes a size, a number with {units} or none, not `{}`", word.text()));
    wrong.meant = values::meant(word.value(), false);
    Some(wrong)
}

pub(super) fn time<'m>(word: Word<'m>, name: &str, unit: TimeUnit) -> Option<Wrong<'m>> {
    if values::time(word.value(), unit).is_some() {
        return None;
    }
    let example = if unit == TimeUnit::Seconds { "`30s`, `10m`, `1d`" } else { "`500ms`, `30s`, `1h 30m`" };
    let mut wrong = Wrong::new(word, format!("`{name}` takes a time such as {example}, not `{}`", word.text()));
    wrong.meant = values::meant(word.value(), true);
    Some(wrong)
}

fn buffers<'m>(line: Line<'m>, first: Word<'m>, name: &str) -> Option<Wrong<'m>> {
    if !matches!(values::number(first.value()), Some(1..)) {
        return Some(Wrong::new(
            first,
            format!("`{name}` takes a number of buffers of 1 or more, not `{}`", first.text()),
        ));
    }
    let second = line.args().nth(1)?;
    match values::size(second.value(), false) {
        Some(1..) => None,
        Some(_) => Some(Wrong::new(second, format!("`{name}` takes buffers of at least a byte"))),
        None => size(second, name, false),
    }
}

fn access(value: &[u8]) -> bool {
    let right = [&b"user:"[..], b"group:", b"all:"].iter().find_map(|who| value.strip_prefix(*who));
    matches!(right, Some(b"rw" | b"r"))
}
