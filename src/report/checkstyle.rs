//! Checkstyle's XML: what most readers of lint reports take.

use std::io::{self, Write};

use super::item::{Item, by_file, items};
use super::place::Naming;
use super::{Look, xml};
use crate::session::Outcome;

pub(super) fn write(outcome: &Outcome, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = xml::document(out)?;
    let root = writer.create_element("checkstyle").with_attribute(("version", "10.0"));
    root.write_inner_content(|writer| {
        by_file(items(outcome, look, Naming::Resolved)).try_for_each(|file| {
            let name = xml::text(&file[0].path);
            let element = writer.create_element("file").with_attribute(("name", name.as_str()));
            element.write_inner_content(|writer| file.iter().try_for_each(|item| error(item, writer))).map(drop)
        })
    })?;
    writeln!(writer.into_inner())
}

fn error<W: Write>(item: &Item<'_>, writer: &mut xml::Writer<W>) -> io::Result<()> {
    let (line, column) = (item.start.line.to_string(), item.start.column.to_string());
    let source = format!("proxylint.{}", item.rule.replace('/', "."));
    let attributes = [
        ("line", line.as_str()),
        ("column", column.as_str()),
        // The same three words.
        ("severity", item.severity.as_str()),
        ("message", item.message.as_str()),
        ("source", source.as_str()),
    ];
    xml::leaf(writer, "error", &attributes, "")
}
