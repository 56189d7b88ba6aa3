//! A patch for people's eyes: coloured, and nothing in it can steer a terminal.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{Look, plain};

/// Writes a unified diff as text for a terminal. Programs want the bytes themselves.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(patch: &[u8], look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    for line in patch.split_inclusive(|&byte| byte == b'\n') {
        let style = look.style(style_of(line));
        let text = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line));
        // Tabs are shown as they are.
        let text = text.split('\t').map(plain::line).collect::<Vec<_>>().join("\t");
        writeln!(out, "{style}{text}{style:#}")?;
    }
    Ok(())
}

fn style_of(line: &[u8]) -> Style {
    match line {
        [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => Style::new().bold(),
        [b'-', ..] => AnsiColor::Red.on_default(),
        [b'+', ..] => AnsiColor::Green.on_default(),
        [b'@', ..] => AnsiColor::Cyan.on_default(),
        _ => Style::new(),
    }
}
