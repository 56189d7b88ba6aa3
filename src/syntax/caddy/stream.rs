//! Tokens in the order in which the parser reads them, with imports spliced in.

use crate::source::FileId;
use crate::syntax::tree::ChainId;

use super::lexer::Token;

/// Where a token ends, for the question whether the next one stands on the same line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    file: FileId,
    chain: ChainId,
    end_line: u32,
}

impl Mark {
    pub(super) fn of(token: &Token) -> Self {
        Self { file: token.word.span.file, chain: token.word.chain, end_line: token.end_line }
    }

    /// Whether `next` stands on a later line, or comes from elsewhere.
    pub(super) fn is_above(self, next: &Token) -> bool {
        self.file != next.word.span.file || self.chain != next.word.chain || self.end_line < next.line
    }
}

/// The tokens that are still to be read. What an import brings is put in front of the rest, so no
/// number of imports makes reading more than linear.
#[derive(Debug, Default)]
pub(super) struct Stream {
    frames: Vec<std::vec::IntoIter<Token>>,
    back: Option<Token>,
    last: Option<Mark>,
    before: Option<Mark>,
}

impl Stream {
    /// Puts tokens in front of the rest.
    pub(super) fn push(&mut self, tokens: Vec<Token>) {
        if let Some(token) = self.back.take() {
            self.frames.push(vec![token].into_iter());
        }
        if !tokens.is_empty() {
            self.frames.push(tokens.into_iter());
        }
    }

    /// The next token, and whether it starts a line.
    pub(super) fn next(&mut self) -> Option<(Token, bool)> {
        let token = self.take()?;
        let fresh = self.last.is_none_or(|mark| mark.is_above(&token));
        self.before = self.last;
        self.last = Some(Mark::of(&token));
        Some((token, fresh))
    }

    fn take(&mut self) -> Option<Token> {
        if let Some(token) = self.back.take() {
            return Some(token);
        }
        loop {
            match self.frames.last_mut()?.next() {
                Some(token) => return Some(token),
                None => {
                    self.frames.pop();
                }
            }
        }
    }

    /// Gives back the token that [`next`](Self::next) gave last.
    pub(super) fn unread(&mut self, token: Token) {
        self.push(Vec::new());
        self.back = Some(token);
        self.last = self.before;
    }

    /// The token that comes next.
    pub(super) fn peek(&mut self) -> Option<&Token> {
        if self.back.is_none() {
            self.back = self.take();
        }
        self.back.as_ref()
    }

    /// Whether the next token stands on the line of the last one.
    pub(super) fn line_goes_on(&mut self) -> bool {
        let last = self.last;
        self.peek().is_some_and(|next| last.is_some_and(|mark| !mark.is_above(next)))
    }

    /// The end of the last token but one.
    pub(super) fn mark_before(&self) -> Option<Mark> {
        self.before
    }

    /// Makes `mark` the end of the last token, as if what was read since had not been there.
    pub(super) fn rewind(&mut self, mark: Option<Mark>) {
        self.last = mark;
        self.before = mark;
    }
}
