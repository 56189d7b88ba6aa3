//! Elements of XML documents.

use std::io::{self, Write};

use quick_xml::events::{BytesDecl, BytesText, Event};

use super::plain;

pub(super) use quick_xml::Writer;

/// The writer of a document that begins with its declaration.
pub(super) fn document(out: &mut dyn Write) -> io::Result<Writer<&mut dyn Write>> {
    let mut writer = Writer::new_with_indent(out, b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    Ok(writer)
}

/// Text that XML can hold: of several lines, each harmless.
pub(super) fn text(text: &str) -> String {
    let lines = text.lines().map(|line| plain::line(line).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// An element with attributes and text alone.
pub(super) fn leaf<W: Write>(
    writer: &mut Writer<W>,
    name: &str,
    attributes: &[(&str, &str)],
    content: &str,
) -> io::Result<()> {
    let mut element = writer.create_element(name);
    for &(key, value) in attributes {
        element = element.with_attribute((key, text(value).as_str()));
    }
    if content.is_empty() {
        return element.write_empty().map(drop);
    }
    element.write_text_content(BytesText::new(&text(content))).map(drop)
}
