//! The program as people run it. `TRYCMD=overwrite cargo test --test cli` writes what it says today
//! into `tests/cmd`; read the difference before it is committed.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic, and says what it skips")]

#[path = "cli/run.rs"]
mod run;

#[path = "cli/config.rs"]
mod config;
#[path = "cli/fixing.rs"]
mod fixing;
#[path = "cli/ignores.rs"]
mod ignores;
#[path = "cli/init.rs"]
mod init;
#[path = "cli/json.rs"]
mod json;
#[path = "cli/known.rs"]
mod known;
#[path = "cli/odd_files.rs"]
mod odd_files;
#[path = "cli/parts.rs"]
mod parts;
#[cfg(unix)]
#[path = "cli/signals.rs"]
mod signals;
#[path = "cli/stdin.rs"]
mod stdin;
#[path = "cli/terminal.rs"]
mod terminal;
#[path = "cli/verify.rs"]
mod verify;
#[path = "cli/writing.rs"]
mod writing;

#[test]
fn what_it_says() {
    trycmd::TestCases::new().case("tests/cmd/*.md").case("README.md");
}

#[test]
fn the_readme_names_every_option() {
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_proxylint")).args(["check", "-h"]).output();
    let help = String::from_utf8(help.expect("the program runs").stdout).expect("text");
    let options = help.lines().filter_map(|line| line.trim_start().trim_start_matches("-q, ").strip_prefix("--"));
    let options: Vec<&str> =
        options.filter_map(|line| line.split(|c: char| !(c.is_ascii_lowercase() || c == '-')).next()).collect();
    assert!(options.len() > 20 && options.contains(&"peak-concurrency"), "{options:?}");
    let readme = include_str!("../README.md");
    let missing = options.iter().filter(|option| !readme.contains(&format!("`--{option}")) && **option != "quiet");
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&&str>::new());
}
