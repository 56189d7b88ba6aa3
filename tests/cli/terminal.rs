//! Colours, control characters, readers that go away.

use std::io::Read;
use std::process::Stdio;

use crate::run::{Folder, Said};

const BROKEN: &str = "events {}\nhttp {\n    gzip on\n}\n";

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let folder = Folder::new(&[("nginx.conf", BROKEN)]);
    let check = ["check", "--select", "nginx/syntax", "nginx.conf"];
    let coloured = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = folder.command(check);
        command.args(args).envs(variables.iter().copied());
        let said = Said::from(command.output().expect("the program runs")).exit(1);
        said.out.contains("\x1b[")
    };
    assert!(!coloured(&[], &[]), "a pipe is no terminal");
    assert!(coloured(&["--color", "always"], &[("NO_COLOR", "1")]), "the option wins");
    assert!(coloured(&[], &[("FORCE_COLOR", "1")]));
    assert!(!coloured(&["--color", "never"], &[("FORCE_COLOR", "1")]));
    assert!(!coloured(&["--format", "json", "--color", "always"], &[]), "JSON has no colours");
    assert!(coloured(&["--diff", "--color", "always"], &[]));
}

#[test]
fn nothing_in_a_configuration_steers_the_terminal() {
    let text =
        "events {}\r\nhttp {\r\n    include \x1b[2J\u{9b}31m\u{202e}.conf;\r\n    gzip \x1b]0:title\x07\r\n}\r\n";
    let folder = Folder::new(&[("nginx.conf", text)]);
    let steers = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    for format in ["text", "concise", "json"] {
        let said = folder.check(["--format", format, "nginx.conf"]).exit(1);
        assert!(!said.out.contains(steers) && !said.err.contains(steers), "{format}: {:?}", said.out);
        assert!(said.out.contains("none") || said.out.contains("[2J"), "{}", said.out);
    }
    // A patch is for programs, and holds the bytes.
    let patch = folder.check(["--diff", "nginx.conf"]).exit(1);
    assert!(patch.out.contains("\x1b[2J") && !patch.err.contains(steers), "{:?}", patch.err);
    let patch = folder.check(["--diff", "--color", "always", "nginx.conf"]).exit(1);
    assert!(!patch.out.contains("\x1b[2J") && patch.out.contains("\\x1b[2J"), "{:?}", patch.out);
}

#[test]
fn a_reader_that_goes_away_is_no_trouble() {
    let lines = "x }\n".repeat(20_000);
    let folder = Folder::new(&[("nginx.conf", &lines)]);
    let mut command = folder.command(["check", "--format", "concise", "-q", "nginx.conf"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().expect("it is piped").read_to_string(&mut err).expect("text");
    assert_eq!((child.wait().expect("it ends").code(), err.as_str()), (Some(1), ""));
}
