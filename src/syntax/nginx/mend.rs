//! Words that are not meant as nginx takes them: a quote without its partner, a regex whose `{3}`
//! nginx takes for a block, the placeholder of a template.

use super::lexer::{self, Kind, Token};
use super::table::{self, End};
use super::{Parser, errors};
use crate::source::Span;
use crate::syntax::tree::Quote;

impl Parser<'_> {
    /// A word in quotes without a second quote, or with more text behind it. If it goes over several
    /// lines, the second quote was most likely another word's, and it is taken to end on its line.
    pub(super) fn misquoted(&mut self, token: Token, quote: Quote, closed: bool) {
        // Not searched for behind the word, lest a long line be searched for each word in it.
        let line = token.start + lexer::line_end(&self.bytes[token.start..token.end], 0);
        let stop = self.span(token.end, (token.end + 1).min(self.bytes.len()));
        let mark = self.span(token.start, token.start + 1);
        if closed && line == token.end {
            let span = self.span(token.start, token.end);
            self.errors.push(errors::text_behind_quote(stop, span));
            let value = lexer::value(&self.bytes[token.start + 1..token.end - 1]);
            self.misread = Some(self.tree.words.len());
            return self.push_word(span, quote, value);
        }
        // A quote directly behind a misread word has been reported with that.
        let before = self.misread.and_then(|word| self.tree.words.get(word));
        if before.is_none_or(|word| word.span.end != mark.start) {
            let partner = self.span(token.end - 1, token.end);
            self.errors.push(if closed {
                errors::misread_quote(mark, partner, stop)
            } else {
                errors::unclosed_quote(mark, stop)
            });
        }
        self.at = self.likely_end(token.start + 1, line);
        let text = &self.bytes[token.start + 1..self.at];
        if text.is_empty() {
            // A quote alone at the end of a line is one too many.
            self.misread = self.has_words().then(|| self.tree.words.len() - 1);
            return;
        }
        let value = lexer::value(text).unwrap_or_else(|| text.into());
        self.misread = Some(self.tree.words.len());
        self.push_word(self.span(token.start, self.at), quote, Some(value));
    }

    /// Where a word that begins at `start` and lacks its quote ends on its line: before the `;` (and `}` behind it) or
    /// `{` there.
    fn likely_end(&self, start: usize, line: usize) -> usize {
        let text = self.bytes[start..line].trim_ascii_end();
        let closed =
            text.iter().rposition(|&byte| byte != b'}' && !lexer::is_space(byte)).map_or(text, |at| &text[..=at]);
        let text = closed.strip_suffix(b";").or_else(|| text.strip_suffix(b"{")).unwrap_or(text);
        start + text.trim_ascii_end().len()
    }

    /// A regex without quotes whose `{3}` nginx would take for a block. Only where that is certain.
    pub(super) fn repetition(&mut self, token: Token) -> bool {
        let Some(behind) = lexer::repetition_end(self.bytes, token.start) else { return false };
        if !self.is_glued(token) || !self.refuses_block_in_word() {
            return false;
        }
        let mut end = lexer::bare_end(self.bytes, behind);
        while let Some(behind) = lexer::repetition_end(self.bytes, end) {
            end = lexer::bare_end(self.bytes, behind);
        }
        let span = self.tree.words[self.tree.words.len() - 1].span;
        let span = self.span(span.start as usize, end);
        let quotes = self.quotable(span);
        let braces = self.span(token.start, token.end);
        self.errors.push(errors::braces_in_regex(
            braces,
            quotes.unwrap_or(span),
            quotes.and_then(|inside| self.quote_for(inside)),
        ));
        self.extend_word(end);
        true
    }

    /// Whether a token stands directly behind a word without quotes of the same directive.
    fn is_glued(&self, token: Token) -> bool {
        let word = self.tree.words[self.first..].last();
        word.is_some_and(|word| word.quote == Quote::Bare && word.span.end as usize == token.start)
    }

    /// Whether nginx surely refuses a `{3}` at the end of the last word: it would be the beginning of
    /// a block with a directive named `3}`.
    fn refuses_block_in_word(&self) -> bool {
        let is_entry = self.parent().is_some_and(table::holds_entries);
        let is_argument = self.tree.words.len() - self.first > 1;
        let name = self.name();
        let takes_anything = table::holds_entries(name) || table::holds_lua(name);
        is_entry || is_argument && !takes_anything && self.known(self.first).is_known()
    }

    /// Whether the word with that index has no quotes.
    pub(super) fn is_bare(&self, word: usize) -> bool {
        self.tree.words[word].quote == Quote::Bare
    }

    /// Makes the last word end at `end`.
    fn extend_word(&mut self, end: usize) {
        self.at = end;
        if let Some(word) = self.tree.words.last_mut() {
            word.span.end = end as u32;
            word.value = lexer::value(&self.bytes[word.span.range()]);
        }
    }

    /// The part of a regex that belongs in quotes: not the `)` that ends the condition of an `if`.
    fn quotable(&self, word: Span) -> Option<Span> {
        if self.name() != b"if" || !self.bytes[word.range()].ends_with(b")") {
            return Some(word);
        }
        let next = lexer::next(self.bytes, word.end as usize);
        match next.kind {
            Kind::Open => Some(Span { end: word.end - 1, ..word }),
            Kind::Word { .. } if &self.bytes[next.start..next.end] == b")" => Some(word),
            _ => None,
        }
    }

    /// The quote that can be put around a word as it is.
    fn quote_for(&self, word: Span) -> Option<&'static str> {
        let text = &self.bytes[word.range()];
        ["\"", "'"].into_iter().find(|quote| !text.contains(&quote.as_bytes()[0]))
    }

    /// A template's `{{ name }}` or `{name}` where nginx takes no block.
    pub(super) fn placeholder(&mut self, token: Token) -> bool {
        let Some(behind) = lexer::placeholder_end(self.bytes, token.start) else { return false };
        if self.has_words() && table::holds_lua(self.name()) {
            return false;
        }
        if self.has_words() && self.bytes.get(token.end) != Some(&b'{') {
            let known = self.known(self.first);
            if !known.is_known() || known.ends_in(End::Block) {
                return false;
            }
        }
        let end = lexer::bare_end(self.bytes, behind);
        self.errors.push(errors::placeholder(self.span(token.start, token.end)));
        if self.is_glued(token) {
            self.extend_word(end);
        } else {
            self.at = end;
            // A line of its own is a command of the template, not a directive.
            let rest = &self.bytes[end..lexer::line_end(self.bytes, end)];
            if self.has_words() || !rest.trim_ascii().is_empty() {
                let value = lexer::value(&self.bytes[token.start..end]);
                self.push_word(self.span(token.start, end), Quote::Bare, value);
            }
        }
        true
    }
}
