//! Examples of the rules' pages, changed at random.

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proxylint::files::Disk;
use proxylint::rule::example::ExampleFile;
use proxylint::rule::set::read_folder;
use proxylint::version::Server;

use super::grammar::Files;

/// Every example of every page.
static EXAMPLES: LazyLock<Vec<(Server, Vec<ExampleFile>)>> = LazyLock::new(|| {
    let pages = read_folder(&Disk, &Path::new(env!("CARGO_MANIFEST_DIR")).join("rules")).unwrap();
    pages.into_iter().flat_map(|(_, page)| page.examples).map(|example| (example.server, example.files)).collect()
});

/// What happens to a file.
#[derive(Debug, Clone)]
enum Change {
    Duplicate(Index),
    Delete(Index),
    Swap(Index, Index),
    Comment(Index),
    CommentBehind(Index),
    /// A line of another example.
    Graft(Index, Index, Index),
    /// A word of a line comes from another line.
    Word(Index, Index),
    Crlf,
    NoLastEnd,
    Indent(Index, &'static str),
}

fn change() -> impl Strategy<Value = Change> {
    let index = || any::<Index>();
    prop_oneof![
        3 => index().prop_map(Change::Duplicate),
        3 => index().prop_map(Change::Delete),
        2 => (index(), index()).prop_map(|(a, b)| Change::Swap(a, b)),
        3 => index().prop_map(Change::Comment),
        2 => index().prop_map(Change::CommentBehind),
        3 => (index(), index(), index()).prop_map(|(a, b, c)| Change::Graft(a, b, c)),
        2 => (index(), index()).prop_map(|(a, b)| Change::Word(a, b)),
        1 => Just(Change::Crlf),
        1 => Just(Change::NoLastEnd),
        1 => (index(), select(vec!["", "\t", "      "])).prop_map(|(a, text)| Change::Indent(a, text)),
    ]
}

fn apply(lines: &mut Vec<String>, change: &Change) {
    if lines.is_empty() {
        return;
    }
    let len = lines.len();
    match change {
        Change::Duplicate(at) => lines.insert(at.index(len), lines[at.index(len)].clone()),
        Change::Delete(at) => drop(lines.remove(at.index(len))),
        Change::Swap(a, b) => lines.swap(a.index(len), b.index(len)),
        Change::Comment(at) => lines.insert(at.index(len), "  # changed by hand; {".to_owned()),
        Change::CommentBehind(at) => lines[at.index(len)] += " # a note",
        Change::Graft(at, example, from) => {
            let (_, files) = &EXAMPLES[example.index(EXAMPLES.len())];
            let other: Vec<&str> = files[0].text.lines().collect();
            if !other.is_empty() {
                lines.insert(at.index(len), other[from.index(other.len())].to_owned());
            }
        }
        Change::Word(at, from) => {
            let word = lines[from.index(len)].split_whitespace().last().unwrap_or_default().to_owned();
            let line = &mut lines[at.index(len)];
            if let Some((rest, _)) = line.clone().trim_end().rsplit_once(' ') {
                *line = format!("{rest} {word}");
            }
        }
        Change::Indent(at, indent) => {
            let line = &mut lines[at.index(len)];
            *line = format!("{indent}{}", line.trim_start());
        }
        Change::Crlf | Change::NoLastEnd => {}
    }
}

/// An example after a few changes to its main file.
pub fn mutated() -> impl Strategy<Value = (Server, Files)> {
    (any::<Index>(), proptest::collection::vec(change(), 0..5)).prop_map(|(example, changes)| {
        let (server, files) = &EXAMPLES[example.index(EXAMPLES.len())];
        let main = if *server == Server::Nginx { "nginx.conf" } else { "Caddyfile" };
        let name = |number: usize, file: &ExampleFile| match &file.path {
            Some(path) => path.clone(),
            None if number == 0 => main.to_owned(),
            None => format!("{number}.conf"),
        };
        let mut texts: Files =
            files.iter().enumerate().map(|(n, it)| (name(n, it), it.text.clone().into_bytes())).collect();
        let mut lines: Vec<String> = files[0].text.lines().map(str::to_owned).collect();
        changes.iter().for_each(|change| apply(&mut lines, change));
        let has = |wanted: fn(&Change) -> bool| changes.iter().any(wanted);
        let eol = if has(|it| matches!(it, Change::Crlf)) { "\r\n" } else { "\n" };
        let mut text = lines.join(eol);
        if !has(|it| matches!(it, Change::NoLastEnd)) {
            text += eol;
        }
        texts[0].1 = text.into_bytes();
        (*server, texts)
    })
}
