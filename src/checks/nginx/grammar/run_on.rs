//! A `;` that is missing where the parser cannot tell: the directive before takes the next line for arguments.

use super::{Fault, Finder, Line};
use crate::catalog::nginx::{Directive, Form, lookup_in};
use crate::checks::Report;
use crate::fix::{Edit, Fix};
use crate::model::Word;
use crate::syntax::tree::{Body, Quote};

impl<'m> Finder<'_, 'm> {
    /// Looks for the beginning of another directive among the arguments. `before`: the number of faults before
    /// those of this line.
    pub(super) fn run_on(&mut self, line: Line<'m>, before: usize) {
        let is_refused = |(fault, _): &(Fault, Report)| *fault == Fault::InvalidArguments;
        if self.faults.0[before..].iter().any(is_refused) {
            self.missing_semicolon(line, before);
        } else if line.args().len() > 1 && matches!(line.node.body(), Body::None { .. }) {
            self.swallowed(line);
        }
    }

    /// Says that a `;` is missing, instead of all that nginx makes of the next line.
    fn missing_semicolon(&mut self, line: Line<'m>, before: usize) {
        let words: Vec<Word<'m>> = line.node.words().collect();
        let Some(next) = words.iter().skip(1).position(|word| begins_directive(line, *word)) else { return };
        let (last, next) = (words[next], words[next + 1]);
        self.faults.0.truncate(before);
        let name = line.name();
        let message =
            format!("a `;` is missing here: nginx takes the next line for arguments of `{name}` and refuses the file");
        let place = words[0].span().to(last.span());
        let is_block = line.directives().next().is_some_and(Directive::is_block);
        let report = self.add(Fault::InvalidArguments, line.node, place, message);
        report.label(next.span(), "the next directive");
        if !is_block {
            report.fix(Fix::safe("add the missing `;`", vec![Edit::insert_after(last.span(), ";")]));
        }
    }

    /// A directive that nginx reads as arguments of the one before it: it begins a line, as deep as that one, and
    /// both could stand alone.
    fn swallowed(&mut self, line: Line<'m>) {
        let head = line.node.head();
        if memchr::memchr(b'\n', line.node.model().text(head)).is_none() {
            return;
        }
        let words: Vec<Word<'m>> = line.node.words().collect();
        let Some(depth) = depth(words[0]) else { return };
        let stands_alone = |at: usize| {
            let own = lookup_in(line.node.name(), line.context).any(|directive| directive.arity.accepts(at - 1));
            let next = lookup_in(words[at].value(), line.context);
            let fits = |arity: crate::catalog::nginx::Arity| arity.accepts(words.len() - at - 1);
            own && next.into_iter().any(|directive| directive.form == Form::Line && fits(directive.arity))
        };
        let is_next = |&at: &usize| {
            begins_directive(line, words[at]) && self::depth(words[at]) == Some(depth) && stands_alone(at)
        };
        let Some(at) = (2..words.len()).find(is_next) else { return };
        let (name, next) = (line.name(), words[at].text());
        let message = format!(
            "no `;` stands in front of `{next}`: nginx takes it and what follows for arguments of `{name}`, and it does nothing"
        );
        let last = words[at - 1].span();
        let change = format!("`{next}` comes into effect, and `{name}` loses its words");
        let report = self.add(Fault::SwallowedDirective, line.node, words[at].span(), message);
        report.label(last, "a `;` is missing behind this");
        report.fix(Fix::risky("add the missing `;`", vec![Edit::insert_after(last, ";")], change));
    }
}

/// Whether a word stands first on its line and is a directive that may stand here.
fn begins_directive(line: Line<'_>, word: Word<'_>) -> bool {
    word.quote() == Quote::Bare && depth(word).is_some() && lookup_in(word.value(), line.context).next().is_some()
}

/// The white space in front of a word, if nothing else stands there on its line.
fn depth(word: Word<'_>) -> Option<&[u8]> {
    let file = word.file();
    let line = file.line_range(file.line_of(word.span().start));
    let before = &file.bytes()[line.start..word.span().start as usize];
    before.trim_ascii().is_empty().then_some(before)
}
