//! The hash by which GitHub tells that a finding of one commit is that of another.
//!
//! It is what the `upload-sarif` action computes where a result has none, so that a report has the
//! same hashes whether the action uploads it or something else does: a polynomial in 37, modulo
//! 2^64, of the hundred UTF-16 units from the start of the line on, blanks and tabs left out, every line
//! end one line feed, behind the file one unit 65535 and then zeros. A number behind it tells
//! equal lines apart.

use foldhash::HashMap;

use crate::source::SourceFile;

const BLOCK: usize = 100;
const BASE: u64 = 37;
const END: u16 = 0xffff;

/// The hashes of all lines of a file, the first line first.
pub(super) fn line_hashes(file: &SourceFile) -> Vec<String> {
    let (units, starts) = units(&String::from_utf8_lossy(file.bytes()));
    let mut seen: HashMap<u64, u32> = HashMap::default();
    let named = |hash: u64| {
        let count = seen.entry(hash).or_default();
        *count += 1;
        format!("{hash:x}:{count}")
    };
    rolling(&units, &starts).into_iter().map(named).collect()
}

/// The units that are hashed, and where lines start in them.
fn units(text: &str) -> (Vec<u16>, Vec<usize>) {
    let (mut units, mut starts) = (Vec::with_capacity(text.len() + BLOCK + 1), Vec::new());
    let (mut at_start, mut after_cr) = (true, false);
    for unit in text.encode_utf16().chain([END]) {
        let skipped = unit == u16::from(b' ') || unit == u16::from(b'\t') || after_cr && unit == u16::from(b'\n');
        after_cr = unit == u16::from(b'\r');
        if skipped {
            continue;
        }
        if at_start {
            starts.push(units.len());
        }
        let unit = if after_cr { u16::from(b'\n') } else { unit };
        at_start = unit == u16::from(b'\n');
        units.push(unit);
    }
    units.resize(units.len() + BLOCK, 0);
    (units, starts)
}

/// The hash of the block at each start.
fn rolling(units: &[u16], starts: &[usize]) -> Vec<u64> {
    let leaving = (0..BLOCK).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let step = |hash: u64, unit: u16| hash.wrapping_mul(BASE).wrapping_add(u64::from(unit));
    let mut hash = units[..BLOCK].iter().fold(0, |hash, &unit| step(hash, unit));
    let mut hashes = Vec::with_capacity(starts.len());
    let mut starts = starts.iter().peekable();
    for at in 0..=units.len() - BLOCK {
        if starts.next_if(|&&start| start == at).is_some() {
            hashes.push(hash);
        }
        if let Some(&entering) = units.get(at + BLOCK) {
            hash = step(hash, entering).wrapping_sub(leaving.wrapping_mul(u64::from(units[at])));
        }
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(text: &str) -> Vec<String> {
        line_hashes(&SourceFile::new("a", text.as_bytes()))
    }

    #[test]
    fn line_ends_and_indentation_do_not_matter() {
        let expected = hashes("server {\n    listen 80;\n}\n");
        assert_eq!(expected.len(), 4);
        for text in ["server {\r\n\tlisten 80;\r\n}\r\n", "server{\rlisten80;\r}\r"] {
            assert_eq!(hashes(text), expected, "{text:?}");
        }
    }

    #[test]
    fn hashes_are_those_of_a_plain_sum() {
        // Computed with big integers, by the definition above.
        let end = "c129715d7a2bc9a3:1";
        assert_eq!(hashes(""), [end]);
        assert_eq!(
            hashes("events {}\nhttp {\n    gzip on; # \u{e4} \u{1f600}\n}\n"),
            ["6dbd95e183bdd88e:1", "99852523aea3af47:1", "dbc7602eb2c1b8ae:1", "32dce9ccfdbc9d3e:1", end]
        );
        let lines = hashes(&"proxy_set_header Upgrade $http_upgrade;\n".repeat(5));
        let numbers: Vec<&str> = lines.iter().filter_map(|hash| hash.split(':').nth(1)).collect();
        assert_eq!((&lines[0][..16], numbers), (&lines[1][..16], vec!["1", "2", "3", "1", "1", "1"]));
    }
}
