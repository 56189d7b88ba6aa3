//! The library as other programs use it; its example is run.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::Command;

use proxylint::Options;
use proxylint::files::Memory;
use proxylint::fix::Safety;
use proxylint::report::Format;
use proxylint::version::Server;

fn files() -> Memory {
    let mut files = Memory::new();
    files.insert("nginx.conf", &b"events {}\nhttp {\n    include site.conf;\n}\n"[..]);
    files.insert("site.conf", &b"server {\n    root /srv\n}\n"[..]);
    files
}

#[test]
fn files_in_memory_are_checked_and_fixed() {
    let options = Options::new().target(Server::Nginx, "1.24").unwrap().rules(&["nginx/syntax"], &[]).unwrap();
    let report = proxylint::check_in(&files(), ["nginx.conf"], &options).unwrap();
    assert!(report.is_complete() && report.changed().is_empty());
    assert_eq!(report.findings()[0].finding.rule, "nginx/syntax");
    let mut out = Vec::new();
    report.write(Format::Concise, Path::new("/"), &mut out).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "site.conf:2:5: error[nginx/syntax] `;` is missing at the end of `root`\n"
    );
    let fixed = proxylint::check_in(&files(), ["nginx.conf"], &options.fix(Safety::Safe)).unwrap();
    assert!(fixed.findings().is_empty());
    assert_eq!(&*fixed.changed()[0].new, b"server {\n    root /srv;\n}\n");
}

#[test]
fn errors_say_what_is_wrong() {
    let error = proxylint::check_in(&files(), ["none.conf", "other.conf"], &Options::new()).unwrap_err();
    assert_eq!(error.to_string(), "`none.conf` does not exist\n`other.conf` does not exist");
    assert!(Options::new().target(Server::Nginx, "1.24.99").is_err());
    assert!(Options::new().rules(&["nginx/none"], &[]).is_err());
}

#[test]
fn the_example_does_what_it_says() {
    let args = ["run", "--quiet", "--example", "check", "--", "fixtures/projects/bare"];
    let output = Command::new(env!("CARGO")).args(args).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("fixtures/projects/bare/conf.d/shop.conf:7:9: warning[nginx/bare-proxy-pass]"), "{said}");
    assert!(said.contains("1 findings\n") && said.contains("shop.conf: "), "{said}");
}
