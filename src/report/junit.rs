//! JUnit's XML: a suite for each file that was read, a failed test for each finding.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::item::{Item, items};
use super::place::{self, Naming};
use super::{Look, xml};
use crate::session::{Gap, Outcome, Unread};

/// The findings of each file, and why it was not read. A file without either passes.
type Suites<'a> = BTreeMap<String, (Vec<Item<'a>>, Vec<&'a Unread>)>;

pub(super) fn write(outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let suites = suites(outcome, look);
    let sum =
        |count: fn(&(Vec<Item<'_>>, Vec<&Unread>)) -> usize| suites.values().map(count).sum::<usize>().to_string();
    let (tests, failures, errors) = (sum(tests), sum(|it| it.0.len()), sum(|it| it.1.len()));
    let mut writer = xml::document(out)?;
    let attributes = [("name", "proxylint"), ("tests", &tests), ("failures", &failures), ("errors", &errors)];
    writer.create_element("testsuites").with_attributes(attributes).write_inner_content(|writer| {
        suites.iter().try_for_each(|(path, (items, unread))| suite(path, items, unread, writer))
    })?;
    writeln!(writer.into_inner())
}

fn suites<'a>(outcome: &'a Outcome, look: Look<'a>) -> Suites<'a> {
    let mut suites = Suites::new();
    for path in &outcome.files {
        suites.entry(place::path(path, look.base)).or_default();
    }
    for item in items(outcome, look, Naming::Resolved) {
        suites.entry(item.path.clone()).or_default().0.push(item);
    }
    for it in outcome.unread.iter().filter(|it| it.gap == Gap::Failed) {
        suites.entry(place::path(&it.path, look.base)).or_default().1.push(it);
    }
    suites
}

fn tests((items, unread): &(Vec<Item<'_>>, Vec<&Unread>)) -> usize {
    (items.len() + unread.len()).max(1)
}

fn suite<W: Write>(path: &str, items: &[Item<'_>], unread: &[&Unread], to: &mut xml::Writer<W>) -> io::Result<()> {
    let path = xml::text(path);
    let count = (items.len() + unread.len()).max(1).to_string();
    let (failures, errors) = (items.len().to_string(), unread.len().to_string());
    let path = path.as_str();
    let attributes = [("name", path), ("file", path), ("tests", &count), ("failures", &failures), ("errors", &errors)];
    to.create_element("testsuite").with_attributes(attributes).write_inner_content(|to| {
        if items.is_empty() && unread.is_empty() {
            return xml::leaf(to, "testcase", &[("classname", path), ("name", "no findings")], "");
        }
        items.iter().try_for_each(|item| failed(path, item, to))?;
        unread.iter().try_for_each(|it| not_read(path, it, to))
    })?;
    Ok(())
}

/// Its name holds the place: readers of these files want no two tests alike.
fn failed<W: Write>(path: &str, item: &Item<'_>, to: &mut xml::Writer<W>) -> io::Result<()> {
    let name = format!("{} at {}:{}", item.rule, item.start.line, item.start.column);
    let content = format!("{}: {}\n{}", item.place(), item.severity.as_str(), item.prose());
    testcase(path, &name, to, |to| {
        xml::leaf(to, "failure", &[("message", &item.message), ("type", item.severity.as_str())], &content)
    })
}

fn not_read<W: Write>(path: &str, it: &Unread, to: &mut xml::Writer<W>) -> io::Result<()> {
    testcase(path, "is read", to, |to| xml::leaf(to, "error", &[("message", &it.reason), ("type", "not read")], ""))
}

fn testcase<W: Write>(
    path: &str,
    name: &str,
    to: &mut xml::Writer<W>,
    content: impl FnOnce(&mut xml::Writer<W>) -> io::Result<()>,
) -> io::Result<()> {
    // The schema of Jenkins allows no file here.
    let attributes = [("classname", path), ("name", name)];
    to.create_element("testcase").with_attributes(attributes).write_inner_content(content).map(drop)
}
