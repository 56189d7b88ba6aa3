//! Rules: one Markdown file each.

pub mod level;

use std::borrow::Cow;

/// Parameters that a rule gives to its check: names and values, sorted by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Params(Cow<'static, [(Cow<'static, str>, Param)]>);

/// One value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Param {
    /// A text.
    Text(Cow<'static, str>),
    /// A whole number.
    Number(i64),
    /// Yes or no.
    Flag(bool),
    /// Several values.
    List(Cow<'static, [Param]>),
    /// Names and values.
    Table(Params),
}

impl Params {
    /// From pairs sorted by name: for generated tables.
    pub const fn from_static(pairs: &'static [(Cow<'static, str>, Param)]) -> Self {
        Self(Cow::Borrowed(pairs))
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&Param> {
        self.0.binary_search_by(|(key, _)| key.as_ref().cmp(name)).ok().map(|i| &self.0[i].1)
    }

    /// The text of a parameter.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Param::Text(text)) => Some(text),
            _ => None,
        }
    }
}
