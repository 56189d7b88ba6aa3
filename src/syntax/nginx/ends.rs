//! Where a directive ends that lacks its `;` or `{`.
//!
//! nginx reads on and stops at the next `;`, `{` or `}` with words that do not fit together. Which
//! line lacks its end is told by the lines that begin with a directive, where those before cannot be
//! one directive on any version.

use super::table::{self, End, Known};
use super::{Parser, errors};
use crate::source::Span;
use crate::syntax::SyntaxError;
use crate::syntax::tree::Body;

impl Parser<'_> {
    /// Cuts off directives from the front of the words read, where nginx refuses them as one.
    /// `end` is what stands behind the words, at `stop`; `None` for what can end none. Returns the word
    /// that begins the last line of what is left, if that has several.
    pub(super) fn split(&mut self, end: Option<End>, stop: Span) -> Option<usize> {
        let mut from = 0;
        while let Some((at, missing)) = self.missing_end(end, from) {
            let words = self.line_starts[at];
            let last_line = self.line_starts[from..at].last().copied();
            match missing {
                End::Semicolon => self.without_semicolon(words, last_line, true, stop),
                End::Block => {
                    let head = self.head(words);
                    self.report(errors::missing_brace(head, self.name(), stop));
                    self.open_block(words, head.after());
                }
            }
            from = at + 1;
        }
        let last_line = self.line_starts[from..].last().copied();
        self.line_starts.clear();
        last_line
    }

    /// Adds the directive in front of the word with index `end`, which lacks its `;`. Its last line
    /// begins at `last_line`, if it has several.
    fn without_semicolon(&mut self, end: usize, last_line: Option<usize>, sure: bool, stop: Span) {
        let head = self.head(end);
        let line = last_line.map_or(head, |word| self.tree.words[word].span.to(head.after()));
        let begin = last_line.map(|_| self.tree.words[self.first].span);
        self.report(errors::missing_semicolon(line, begin, self.name(), sure, stop));
        self.directive(end, Body::None { end: head.after() });
    }

    /// Reports the end of the directive being read; not where a quote in it is wrong, as what follows the
    /// quote may be meant otherwise.
    fn report(&mut self, error: SyntaxError) {
        if self.misread.is_none_or(|word| word < self.first) {
            self.errors.push(error);
        }
    }

    /// The first line, by its index in `line_starts` and from `from` on, in front of which the
    /// directive being read lacks its end, and which.
    fn missing_end(&self, end: Option<End>, from: usize) -> Option<(usize, End)> {
        let lines = self.line_starts.get(from..).filter(|lines| !lines.is_empty())?;
        if self.parent().is_some_and(table::holds_pairs) {
            if self.is_unclosed(*self.open.last()?) {
                return None;
            }
            let second = lines.iter().position(|&word| word == self.first + 2)?;
            return Some((from + second, End::Semicolon));
        }
        let known = self.known(self.first);
        let arguments = |words: usize| words - self.first - 1;
        if !known.is_known() || end.is_some_and(|end| self.may_be_whole(known, end)) {
            return None;
        }
        lines.iter().enumerate().find_map(|(index, &word)| {
            let is_line = || known.takes(arguments(word), End::Semicolon);
            let is_block = || known.takes(arguments(word), End::Block) && !known.ends_in(End::Semicolon);
            let missing = if !self.is_bare(word) || !self.known(word).is_known() {
                return None;
            } else if is_line() {
                End::Semicolon
            } else if is_block() {
                End::Block
            } else {
                return None;
            };
            Some((from + index, missing))
        })
    }

    /// Whether nginx may take all the words as one directive with that end.
    fn may_be_whole(&self, known: Known<'_>, end: End) -> bool {
        let arguments = self.first + 1..self.tree.words.len();
        if !known.takes(arguments.len(), end) {
            return false;
        }
        let Some(first) = arguments.clone().next().filter(|_| end == End::Semicolon) else { return true };
        let free = known.free_arguments(self.value(first)).unwrap_or(usize::MAX);
        arguments.skip(free).all(|word| known.takes_keyword(self.value(word)))
    }

    /// A directive at whose end stands something that can end none.
    pub(super) fn unfinished(&mut self, stop: Span) {
        let last_line = self.split(None, stop);
        let words = self.tree.words.len();
        let arguments = words - self.first - 1;
        let sure = match self.parent() {
            Some(parent) if table::holds_entries(parent) => arguments == 1,
            _ => self.known(self.first).takes(arguments, End::Semicolon),
        };
        self.without_semicolon(words, last_line, sure, stop);
    }

    /// Says so where nginx wants a block from the directive being read, which ends in `;`.
    pub(super) fn check_line(&mut self, semicolon: Span) {
        if !table::may_need_block(self.name()) {
            return;
        }
        let known = self.known(self.first);
        if known.ends_in(End::Block) && !known.ends_in(End::Semicolon) {
            let head = self.head(self.tree.words.len());
            self.report(errors::needs_block(head, self.name(), semicolon));
        }
    }

    /// Says so where nginx takes no block from the directive being read.
    pub(super) fn check_block(&mut self, open: Span) {
        if let Some(parent) = self.parent()
            && table::holds_entries(parent)
        {
            let (block, name) = self.block(self.open[self.open.len() - 1]);
            return self.report(errors::brace_among_entries(open, block, name));
        }
        let known = self.known(self.first);
        if known.is_known() && !known.ends_in(End::Block) {
            let head = self.head(self.tree.words.len());
            self.report(errors::takes_no_block(open, head, self.name()));
        }
    }
}
