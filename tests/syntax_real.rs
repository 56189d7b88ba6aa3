//! The grammar against real nginx: the fixtures, and damaged copies of them, are accepted by both or refused by both,
//! at the same line. The servers come from `tests/servers`; where they are missing the tests say so and pass, but
//! with `CI=true` they fail.

#![allow(missing_docs)]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod nginx_text;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use proxylint::source::{FileId, SourceFile};
use proxylint::syntax::nginx::parse;

const VERSIONS: [&str; 3] = ["nginx-1.22.1", "nginx-1.28.3", "nginx-1.31.3"];

/// What nginx says when the text itself is wrong. What a directive takes is not grammar.
const SYNTAX: [&str; 4] = ["unexpected ", "too long ", "\" is not terminated by", "\" has no opening"];

/// A server, and a folder for what it reads.
struct Nginx {
    program: PathBuf,
    folder: tempfile::TempDir,
}

#[derive(Debug, PartialEq)]
enum Verdict {
    Accepted,
    /// The text is wrong at that line.
    Syntax(u32, String),
    /// Something else is, there or elsewhere.
    Other(Option<u32>, String),
}

fn servers() -> Vec<Nginx> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(".cache/servers");
    let root = std::env::var_os("PROXYLINT_SERVERS").map_or(root, PathBuf::from);
    let programs = VERSIONS.map(|version| root.join(version).join("nginx"));
    let (there, missing): (Vec<_>, Vec<_>) = programs.into_iter().partition(|program| program.exists());
    for program in missing {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{} is missing: run tests/servers", program.display());
        // Written past the test runner, which hides what a passing test prints.
        writeln!(std::io::stderr(), "\nskipped: {} is missing, run tests/servers", program.display())
            .expect("stderr can be written to");
    }
    there.into_iter().map(|program| Nginx { program, folder: tempfile::tempdir().unwrap() }).collect()
}

impl Nginx {
    fn test(&self, text: &[u8]) -> Verdict {
        let path = self.folder.path().join("nginx.conf");
        std::fs::write(&path, text).unwrap();
        let mut command = Command::new(&self.program);
        command.args(["-t", "-e", "stderr", "-p"]).arg(self.folder.path()).arg("-c").arg(&path);
        let said = String::from_utf8_lossy(&command.output().unwrap().stderr).into_owned();
        if said.contains("syntax is ok") {
            return Verdict::Accepted;
        }
        let error = said.split_once("[emerg] ").map_or(&said[..], |(_, rest)| rest);
        let error = error.split_once(": ").map_or(error, |(_, rest)| rest);
        let place = format!(" in {}:", path.display());
        let Some((message, rest)) = error.split_once(&place) else {
            return Verdict::Other(None, error.to_owned());
        };
        let line = rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap();
        let is_syntax = message.starts_with(SYNTAX[0]) || message.starts_with(SYNTAX[1]);
        if is_syntax || SYNTAX[2..].iter().any(|end| message.contains(end)) {
            Verdict::Syntax(line, message.to_owned())
        } else {
            Verdict::Other(Some(line), message.to_owned())
        }
    }
}

/// How our reading of a text disagrees with nginx's.
fn disagreement(text: &[u8], nginx: &Verdict) -> Option<String> {
    let source = SourceFile::new("nginx.conf", text);
    let errors = parse(FileId(0), text).errors;
    let lines = |error: &proxylint::syntax::SyntaxError| -> Vec<u32> {
        let spans = error.labels.iter().map(|(span, _)| span.start).chain([error.span.start]);
        spans.map(|at| source.line_of(at)).collect()
    };
    // An unclosed block is named where it opens; nginx may stop anywhere between that and the end of the file.
    let names = |error: &proxylint::syntax::SyntaxError, line: u32| {
        let lines = lines(error);
        let is_open = error.message.contains("has no closing");
        lines.contains(&line) || is_open && lines.iter().min() <= Some(&line) && Some(&line) <= lines.iter().max()
    };
    // Of an unquoted `{3}`, nginx makes a directive `3}`, and stops where that ends.
    let late = |error: &proxylint::syntax::SyntaxError| error.message.contains("regex");
    let stops_before = |line: u32| errors.iter().any(|error| !late(error) && lines(error).iter().all(|&at| at < line));
    let agrees = match *nginx {
        Verdict::Accepted => errors.is_empty(),
        Verdict::Syntax(line, _) => errors.iter().any(|error| {
            // Behind a quote, we read on otherwise than nginx does.
            let is_quote = error.message.contains("quote");
            names(error, line) && !stops_before(if is_quote { source.line_of(error.span.start) } else { line })
        }),
        Verdict::Other(Some(line), _) => !stops_before(line),
        Verdict::Other(None, _) => true,
    };
    (!agrees).then(|| format!("{nginx:?}, but here {errors:#?}\n{}", text.escape_ascii()))
}

/// The fixtures, without Lua, which these servers do not know.
fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/syntax/nginx");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ext| ext == "conf"));
    paths.sort();
    let read = |path: PathBuf| (path.display().to_string(), std::fs::read(path).unwrap());
    paths.into_iter().map(read).filter(|(_, text)| memchr::memmem::find(text, b"_by_lua_block").is_none()).collect()
}

fn assert_agrees(nginx: &Nginx, name: &str, text: &[u8]) {
    if let Some(how) = disagreement(text, &nginx.test(text)) {
        panic!("{name}: {} says {how}", nginx.program.display());
    }
}

#[test]
fn nginx_agrees_on_the_fixtures() {
    for nginx in servers() {
        for (name, text) in fixtures() {
            assert_agrees(&nginx, &name, &text);
        }
    }
}

#[test]
fn nginx_agrees_on_damaged_fixtures() {
    // What a byte order mark becomes a part of depends on what follows it; that is said only once.
    let texts: Vec<_> = fixtures().into_iter().filter(|(_, text)| text.first().is_none_or(u8::is_ascii)).collect();
    for (seed, nginx) in servers().into_iter().enumerate() {
        let mut random = nginx_text::Random::new(seed as u64);
        for _ in 0..300 {
            let (name, text) = &texts[random.below(texts.len())];
            assert_agrees(&nginx, name, &nginx_text::damage(&mut random, text));
        }
    }
}

#[test]
fn nginx_agrees_on_words() {
    for (seed, nginx) in servers().into_iter().enumerate() {
        let mut random = nginx_text::Random::new(seed as u64);
        for _ in 0..300 {
            let entries = nginx_text::entries(&mut random, 14);
            let text = [b"events {}\nhttp {\ntypes {", &entries[..], b"\n}\n}\n"].concat();
            assert_agrees(&nginx, "types", &text);
        }
    }
}

/// Words and comments around the size of nginx's buffer.
#[test]
fn nginx_agrees_on_long_words() {
    for nginx in servers() {
        for length in 4090..4100 {
            let long = "a".repeat(length);
            for entry in [
                format!("{long};"),
                format!("{long} ;"),
                format!("{long}\n;"),
                format!("\"{long}\";"),
                format!("\"{long}\" ;"),
                format!("\"{long}\") ;"),
                format!("'{long}\n' a;"),
                format!("{long}\\ ;"),
                format!("#{long}\n"),
                format!("#{long}\r\n"),
            ] {
                let text = format!("events {{}}\nhttp {{\ntypes {{\n{entry}\n}} }}\n");
                assert_agrees(&nginx, &entry[..9], text.as_bytes());
            }
            assert_agrees(&nginx, "at the end", format!("events {{}}\n#{long}").as_bytes());
            assert_agrees(&nginx, "at the end", format!("events {{}}\n\"{long}").as_bytes());
        }
    }
}
