//! A TOML table read key by key: what is wrong is told with its place, and a key that nobody asked
//! for is an error. A leaf: `build.rs` takes it in too.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::suggest;

/// What is wrong with a table, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TableError {
    /// Byte offset in the text that was read.
    pub at: usize,
    /// Small first letter, no full stop.
    pub message: String,
}

/// One value with its place.
pub struct Value<'t> {
    key: String,
    span: Range<usize>,
    value: DeValue<'t>,
}

/// A table from which keys are taken.
pub struct Table<'t> {
    span: Range<usize>,
    entries: Vec<(Range<usize>, Value<'t>)>,
    asked: Vec<&'static str>,
}

impl TableError {
    /// An error at a byte offset of the text that was read.
    pub fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

impl<'t> Table<'t> {
    /// Reads a TOML document.
    ///
    /// # Errors
    /// When it is not TOML.
    pub fn parse(text: &'t str) -> Result<Self, TableError> {
        let table = DeTable::parse(text)
            .map_err(|e| TableError::new(e.span().map_or(0, |span| span.start), e.message().replace('\n', ", ")))?;
        let span = table.span();
        Ok(Self::new(span, table.into_inner()))
    }

    fn new(span: Range<usize>, table: DeTable<'t>) -> Self {
        let mut entries: Vec<_> = table.into_iter().map(|(key, value)| entry(key, value)).collect();
        entries.sort_unstable_by_key(|(key, _)| key.start);
        Self { span, entries, asked: Vec::new() }
    }

    /// Where the table begins.
    pub fn at(&self) -> usize {
        self.span.start
    }

    /// The value of a key.
    pub fn take(&mut self, key: &'static str) -> Option<Value<'t>> {
        self.asked.push(key);
        let index = self.entries.iter().position(|(_, value)| value.key == key)?;
        Some(self.entries.remove(index).1)
    }

    /// The value of a key that must be there.
    ///
    /// # Errors
    /// When it is not.
    pub fn need(&mut self, key: &'static str) -> Result<Value<'t>, TableError> {
        let value = self.take(key);
        value.ok_or_else(|| match self.misspelt(key) {
            Some(error) => error,
            None => TableError::new(self.at(), format!("the key `{key}` is missing")),
        })
    }

    /// All keys that are left and their values, in the order of the text.
    pub fn rest(&mut self) -> impl Iterator<Item = (String, Value<'t>)> + use<'t> {
        std::mem::take(&mut self.entries).into_iter().map(|(_, value)| (value.key.clone(), value))
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// When a key is left that nobody asked for.
    pub fn finish(self) -> Result<(), TableError> {
        match self.entries.first() {
            None => Ok(()),
            Some((span, value)) => Err(self.unknown(span.start, &value.key)),
        }
    }

    fn unknown(&self, at: usize, key: &str) -> TableError {
        let hint = suggest::nearest(key, self.asked.iter().copied());
        let hint = match hint {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("known are {}", quoted(&self.asked)),
        };
        TableError::new(at, format!("unknown key `{key}`; {hint}"))
    }

    /// A key that is there and probably means the missing one.
    fn misspelt(&self, missing: &str) -> Option<TableError> {
        let near = |key: &str| suggest::nearest(key, [missing]).is_some();
        let (span, value) = self.entries.iter().find(|(_, value)| near(&value.key))?;
        let message = format!("unknown key `{}`; did you mean `{missing}`?", value.key);
        Some(TableError::new(span.start, message))
    }
}

fn entry<'t>(key: Spanned<std::borrow::Cow<'t, str>>, value: Spanned<DeValue<'t>>) -> (Range<usize>, Value<'t>) {
    let (key_span, span) = (key.span(), value.span());
    (key_span, Value { key: key.into_inner().into_owned(), span, value: value.into_inner() })
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl<'t> Value<'t> {
    /// Its place.
    pub fn at(&self) -> usize {
        self.span.start
    }

    /// An error about this value.
    pub fn error(&self, message: impl std::fmt::Display) -> TableError {
        TableError::new(self.at(), format!("`{}` {message}", self.key))
    }

    fn wanted(&self, what: &str) -> TableError {
        self.error(format_args!("must be {what}, not {}", kind(&self.value)))
    }

    /// As a text.
    ///
    /// # Errors
    /// When it is something else.
    pub fn text(self) -> Result<String, TableError> {
        match self.value {
            DeValue::String(text) => Ok(text.into_owned()),
            _ => Err(self.wanted("a text")),
        }
    }

    /// As a text that `parse` understands.
    ///
    /// # Errors
    /// When it is something else, or `parse` says what is wrong.
    pub fn parse<T, E: std::fmt::Display>(self, parse: impl Fn(&str) -> Result<T, E>) -> Result<T, TableError> {
        match &self.value {
            DeValue::String(text) => parse(text).map_err(|e| self.error(format_args!("is wrong: {e}"))),
            _ => Err(self.wanted("a text")),
        }
    }

    /// As one of some words.
    ///
    /// # Errors
    /// When it is something else.
    pub fn one_of<T: Copy>(self, words: &[(&str, T)]) -> Result<T, TableError> {
        let DeValue::String(text) = &self.value else { return Err(self.wanted("a text")) };
        let found = words.iter().find(|(word, _)| word == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let hint = suggest::did_you_mean(text, known.iter().copied());
            self.error(format_args!("must be one of {}, not `{text}`{hint}", quoted(&known)))
        })
    }

    /// As a list of texts; a single text counts as a list of one.
    ///
    /// # Errors
    /// When it is something else, or empty.
    pub fn texts(self) -> Result<Vec<String>, TableError> {
        let wanted = self.wanted("a list of texts");
        let list = match self.value {
            DeValue::String(text) => vec![text.into_owned()],
            DeValue::Array(items) => items
                .into_iter()
                .map(|item| match item.into_inner() {
                    DeValue::String(text) => Ok(text.into_owned()),
                    _ => Err(wanted.clone()),
                })
                .collect::<Result<_, _>>()?,
            _ => return Err(wanted),
        };
        if list.is_empty() { Err(TableError::new(wanted.at, format!("`{}` is empty", self.key))) } else { Ok(list) }
    }

    /// As yes or no.
    ///
    /// # Errors
    /// When it is something else.
    pub fn flag(self) -> Result<bool, TableError> {
        match self.value {
            DeValue::Boolean(flag) => Ok(flag),
            _ => Err(self.wanted("true or false")),
        }
    }

    /// As a whole number.
    ///
    /// # Errors
    /// When it is something else, or out of range.
    pub fn number(self) -> Result<i64, TableError> {
        match &self.value {
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| self.error("is out of range"))
            }
            _ => Err(self.wanted("a whole number")),
        }
    }

    /// As a table.
    ///
    /// # Errors
    /// When it is something else.
    pub fn table(self) -> Result<Table<'t>, TableError> {
        match self.value {
            DeValue::Table(table) => Ok(Table::new(self.span, table)),
            _ => Err(self.wanted("a table")),
        }
    }

    /// As the values of a list.
    ///
    /// # Errors
    /// When it is something else.
    pub fn list(self) -> Result<Vec<Value<'t>>, TableError> {
        match self.value {
            DeValue::Array(items) => Ok(items
                .into_iter()
                .map(|item| Value { key: self.key.clone(), span: item.span(), value: item.into_inner() })
                .collect()),
            _ => Err(self.wanted("a list")),
        }
    }

    /// The value as TOML has it.
    pub fn raw(&self) -> &DeValue<'t> {
        &self.value
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_nobody_asked_for_are_errors_with_place_and_suggestion() {
        let text = "severity = \"info\"\nmesage = \"x\"\n";
        let mut table = Table::parse(text).unwrap();
        assert_eq!(table.need("severity").unwrap().text().unwrap(), "info");
        let error = table.need("message").err().unwrap();
        assert_eq!((error.at, error.message.as_str()), (18, "unknown key `mesage`; did you mean `message`?"));
        let error = table.finish().unwrap_err();
        assert_eq!((error.at, error.message.as_str()), (18, "unknown key `mesage`; did you mean `message`?"));
        assert!(Table::parse("a = 1\na = 2").err().unwrap().message.contains("duplicate key"));
        assert_eq!(Table::parse("a = ").err().unwrap().at, 4);
    }

    #[test]
    fn values_of_another_kind_are_told_by_name() {
        let mut table = Table::parse("a = 1\nb = [\"x\", 2]\nc = []\nd = \"warnin\"\ne = { f = true }").unwrap();
        assert_eq!(table.need("a").unwrap().text().unwrap_err().message, "`a` must be a text, not a number");
        assert_eq!(table.need("b").unwrap().texts().unwrap_err().message, "`b` must be a list of texts, not a list");
        assert_eq!(table.need("c").unwrap().texts().unwrap_err().message, "`c` is empty");
        let error = table.need("d").unwrap().one_of(&[("info", 1), ("warning", 2)]).unwrap_err();
        assert_eq!(error.message, "`d` must be one of `info`, `warning`, not `warnin`; did you mean `warning`?");
        let mut inner = table.need("e").unwrap().table().unwrap();
        assert!(inner.need("f").unwrap().flag().unwrap());
        assert_eq!(inner.need("g").err().unwrap().message, "the key `g` is missing");
        table.finish().unwrap();
    }
}
