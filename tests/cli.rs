//! The program as people run it. `TRYCMD=overwrite cargo test --test cli` writes what it says today
//! into `tests/cmd`; read the difference before it is committed.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic, and says what it skips")]

#[path = "cli/run.rs"]
mod run;

#[path = "cli/fixing.rs"]
mod fixing;
#[path = "cli/json.rs"]
mod json;
#[path = "cli/odd_files.rs"]
mod odd_files;
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
