//! The public configurations beside the repository (`../shared/corpus`) with the verdicts of real servers.

#![allow(dead_code, unreachable_pub, reason = "every test takes what it needs")]
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use std::path::{Path, PathBuf};

/// What one server said of a file.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// `ok`, `environment`, or the kind of the first error.
    pub kind: String,
    /// The server's words.
    pub message: String,
    /// The line it named, where that lies in this very file.
    pub line: Option<u32>,
}

/// A file of the corpus.
#[derive(Debug, Clone)]
pub struct Case {
    /// Path in the corpus.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// Whether a generator fills it before a server reads it.
    pub template: bool,
    /// What it is a part of: `main`, `fragment:http`, …
    pub context: String,
    /// nginx 1.22.1 and 1.31.3.
    pub verdicts: [Verdict; 2],
    /// What was put beside it for the servers.
    pub repairs: String,
}

/// The nginx files; none, with a notice, where the corpus is not there.
pub fn nginx() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let Ok(index) = std::fs::read_to_string(root.join("INDEX.tsv")) else {
        println!("skipped: no corpus at {}", root.display());
        return Vec::new();
    };
    index.lines().filter(|row| row.starts_with("nginx/")).map(|row| case(&root, row)).collect()
}

fn case(root: &Path, row: &str) -> Case {
    let cell: Vec<&str> = row.split('\t').collect();
    let verdict = |kind: &str, detail: &str| {
        let (message, place) = detail.rsplit_once(" @").unwrap_or((detail, ""));
        let place = place.trim().rsplit_once(':').filter(|(file, _)| !file.is_empty() && cell[0].ends_with(file));
        Verdict {
            kind: kind.to_owned(),
            message: message.trim().to_owned(),
            line: place.and_then(|(_, line)| line.parse().ok()),
        }
    };
    Case {
        name: cell[0].to_owned(),
        path: root.join(cell[0]),
        template: cell[4] == "template",
        context: cell[5].to_owned(),
        verdicts: [verdict(cell[6], cell[8]), verdict(cell[7], cell[9])],
        repairs: cell[11].to_owned(),
    }
}
