//! Small faulty configurations and traps, where `../shared/cases` is present: what must be said of each, at
//! which line, and what must not.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic and says when it skips")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A case, what the command line adds, `rule@line` that must be found, and rules that must be silent.
type Case = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const KEEP_ALIVE: &[&str] = &[
    "nginx/bare-proxy-pass",
    "nginx/upstream-keepalive-missing",
    "nginx/upstream-keepalive-discarded",
    "nginx/upstream-keepalive-refused",
    "nginx/upstream-keepalive-zero",
    "nginx/proxy-http-version-1-0",
    "nginx/proxy-connection-close",
    "nginx/connection-upgrade-map-close",
    "nginx/partial-keepalive",
];

const CASES: &[Case] = &[
    ("n01-no-upstream-block.conf", &[], &["nginx/bare-proxy-pass@6"], &[]),
    (
        "n03-inherit-loses-keepalive.conf",
        &[],
        &["nginx/upstream-keepalive-missing@5"],
        &["nginx/proxy-connection-close"],
    ),
    ("n04-map-close.conf", &[], &["nginx/connection-upgrade-map-close@5"], &["nginx/proxy-connection-close"]),
    ("n04-map-close.conf", &["--nginx", "1.31"], &["nginx/connection-upgrade-map-close@5"], &[]),
    ("n06-tile-cache-ports.conf", &["--nginx", "1.28"], &["nginx/upstream-keepalive-missing@4"], &[]),
    ("n07-keepalive-before-method.conf", &["--nginx", "1.28"], &["nginx/upstream-keepalive-discarded@7"], &[]),
    ("n07-keepalive-before-method.conf", &["--nginx", "1.31"], &[], KEEP_ALIVE),
    ("n12-keepalive-zero-on-purpose.conf", &["--nginx", ">=1.29.7"], &[], KEEP_ALIVE),
    ("n12-keepalive-zero-on-purpose.conf", &["--nginx", "1.28"], &["nginx/upstream-keepalive-refused@5"], &[]),
    ("n38-unix-socket.conf", &[], &[], KEEP_ALIVE),
    ("n40-stream-proxy.conf", &[], &[], KEEP_ALIVE),
    ("peer-01-bare-proxy-pass", &[], &["nginx/bare-proxy-pass@6"], &[]),
    ("peer-03-inherited-psh-keepalive", &["--nginx", "1.24"], &["nginx/proxy-connection-close@14"], &[]),
    ("peer-03-inherited-psh-keepalive", &["--nginx", "1.31"], &[], KEEP_ALIVE),
    ("peer-06-ws-map-close", &[], &["nginx/connection-upgrade-map-close@5"], &[]),
    ("peer-25-stream", &[], &[], KEEP_ALIVE),
    ("peer-26-grpc-fastcgi-keepalive", &[], &["nginx/fastcgi-keep-conn-off"], &[]),
    ("peer-28-unclosed", &[], &["nginx/syntax"], &[]),
    ("peer-40-circular-include", &[], &["nginx/include-not-found"], &[]),
    ("peer-41-missing-include", &[], &["nginx/include-not-found"], &[]),
    ("peer-16-crlf", &[], &[], &["nginx/syntax"]),
    ("peer-68-no-final-newline", &[], &[], &["nginx/syntax"]),
    ("peer-66-utf8-idn", &[], &[], &["nginx/syntax"]),
    ("peer-15-if-parens", &[], &[], &["nginx/syntax"]),
    ("n49-lua-brace-touches.conf", &[], &[], &["nginx/syntax"]),
    ("n52-comment-between-args.conf", &[], &[], &["nginx/syntax"]),
];

fn shared_cases() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases");
    if !folder.is_dir() {
        eprintln!("skipped: no cases at {}", folder.display());
        return None;
    }
    Some(folder)
}

/// The findings of a run as `rule@line`.
fn findings(path: &Path, arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proxylint"));
    let output = command.arg("check").args(["--format", "json"]).args(arguments).arg(path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let document: serde_json::Value = serde_json::from_str(&text)
        .unwrap_or_else(|e| panic!("{}: {e}: {}", path.display(), String::from_utf8_lossy(&output.stderr)));
    let one = |finding: &serde_json::Value| {
        format!("{}@{}", finding["rule"].as_str().unwrap(), finding["range"]["start"]["line"])
    };
    document["findings"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn cases_get_what_their_notes_ask_for() {
    let Some(folder) = shared_cases() else { return };
    let mut wrong = Vec::new();
    for (case, arguments, wanted, silent) in CASES {
        let found = findings(&folder.join(case), arguments);
        let is_found = |want: &str| found.iter().any(|one| one == want || one.starts_with(&format!("{want}@")));
        let missing: Vec<_> = wanted.iter().filter(|want| !is_found(want)).collect();
        let loud: Vec<_> = silent.iter().filter(|rule| is_found(rule)).collect();
        if !missing.is_empty() || !loud.is_empty() {
            wrong
                .push(format!("{case} {arguments:?}: missing {missing:?}, should be silent {loud:?}, found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
