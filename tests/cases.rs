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

/// What nginx refuses, as far as names, places and arguments go.
const REFUSED: &[&str] = &[
    "nginx/syntax",
    "nginx/unknown-directive",
    "nginx/wrong-context",
    "nginx/invalid-arguments",
    "nginx/duplicate-directive",
    "nginx/duplicate-map-key",
    "nginx/undefined-reference",
    "nginx/unknown-variable",
    "nginx/swallowed-directive",
];

const CASES: &[Case] = &[
    ("n26-regex-location-uri.conf", &[], &["nginx/proxy-pass-uri-not-allowed@6"], &[]),
    ("n41-duplicate-listen-options.conf", &[], &["nginx/listen-conflict@8"], &[]),
    ("n42-conflicting-name.conf", &[], &["nginx/conflicting-server-name@10"], &[]),
    ("n44-listen-http2.conf", &[], &["nginx/listen-http2@4"], &[]),
    ("n44-listen-http2.conf", &["--nginx", "1.22"], &[], &["nginx/listen-http2"]),
    ("n46-ssl-on.conf", &["--nginx", "1.24"], &["nginx/ssl-on@5"], &["nginx/directive-not-in-version"]),
    ("n46-ssl-on.conf", &["--nginx", "1.31"], &["nginx/directive-not-in-version@5"], &["nginx/ssl-on"]),
    ("n51-include-in-limit-except.conf", &[], &[], REFUSED),
    ("n53-regex-quantifier.conf", &[], &["nginx/syntax@5"], &[]),
    ("n54-env-escapes.conf", &[], &[], REFUSED),
    ("peer-13-map-hostnames", &[], &[], REFUSED),
    ("peer-18-http2-directive", &["--nginx", "1.24"], &["nginx/directive-not-in-version@5"], &[]),
    ("peer-18-http2-directive", &["--nginx", "1.28"], &[], REFUSED),
    ("peer-20-ssl-on", &["--nginx", "1.28"], &["nginx/directive-not-in-version@5"], &[]),
    ("peer-31-directive-like-map-keys", &[], &[], REFUSED),
    ("peer-38-duplicate", &[], &[], REFUSED),
    ("peer-45-empty", &[], &["nginx/incomplete-configuration"], &[]),
    ("peer-46-unknown-directive", &[], &["nginx/unknown-directive@3"], &[]),
    ("peer-58-limit-except", &[], &[], REFUSED),
    ("peer-60-proxy-http2", &["--nginx", "1.22"], &["nginx/parameter-not-in-version@4"], &[]),
    ("peer-61-var-case", &[], &["nginx/unknown-variable@3"], &[]),
    ("peer-63-dup-server-name", &[], &["nginx/conflicting-server-name@4"], &[]),
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

/// A case, a file of it, lines that stand there once the safe fixes are made for nginx 1.24, and texts
/// that do not.
type Trap = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

/// The traps in which fixes of other programs broke something. A peer's case that is not named here is
/// left alone.
const TRAPS: &[Trap] = &[
    (
        "peer-01-bare-proxy-pass",
        "nginx.conf",
        &["            proxy_set_header Host 127.0.0.1:8080;", "            proxy_redirect http://127.0.0.1:8080/ /;"],
        &[],
    ),
    // The headers of the server stay in effect: they are written into the location, or it writes none.
    (
        "peer-03-inherited-psh-keepalive",
        "nginx.conf",
        &["        proxy_set_header Connection \"\";"],
        &["            proxy_set_header"],
    ),
    ("peer-05-psh-host-dropped", "nginx.conf", &["            proxy_set_header Host 127.0.0.1:8080;"], &[]),
    ("peer-06-ws-map-close", "nginx.conf", &["        '' '';"], &["close"]),
    ("peer-08-proxy-pass-var-upstream", "nginx.conf", &["        keepalive 32;"], &["resolver"]),
    // The snippet is used elsewhere too.
    ("peer-10-include-snippet", "nginx.conf", &["            proxy_set_header Connection \"\";"], &["Host 127.0.0.1"]),
    ("peer-16-crlf", "nginx.conf", &["            proxy_http_version 1.1;\r"], &["1.1;\n"]),
    ("peer-20-ssl-on", "nginx.conf", &["        listen 8120 ssl;"], &["ssl on"]),
    (
        "peer-36-upstream-hostname",
        "nginx.conf",
        &["    upstream localhost_8080 {", "        server [::1]:8080;"],
        &["resolve"],
    ),
    ("peer-43-host-include-level", "nginx.conf", &["        proxy_set_header Connection \"\";"], &[]),
    (
        "peer-43-host-include-level",
        "locs/a.conf",
        &["    proxy_pass http://backend_127_0_0_1_8080;"],
        &["proxy_set_header"],
    ),
    // In `limit_except` nothing is put that may not stand there.
    ("peer-58-limit-except", "nginx.conf", &["            proxy_http_version 1.1;"], &[]),
    (
        "peer-60-proxy-http2",
        "nginx.conf",
        &["    upstream app { server 127.0.0.1:8080; keepalive 32; }"],
        &["proxy_http_version 1.1"],
    ),
    ("peer-65-upstream-missing", "nginx.conf", &["        server app_typo:80;"], &[]),
    ("peer-71-three-levels", "nginx.conf", &["            proxy_set_header Connection \"\";"], &[]),
];

/// All files below a folder.
fn texts(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.file_type().is_file());
    files.map(|it| (it.path().strip_prefix(folder).unwrap().to_owned(), std::fs::read(it.path()).unwrap())).collect()
}

#[test]
fn traps_get_the_right_fix_or_none() {
    let Some(folder) = shared_cases() else { return };
    let mut wrong = Vec::new();
    for entry in walkdir::WalkDir::new(&folder).max_depth(1).sort_by_file_name().into_iter().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with("peer-") {
            continue;
        }
        let before = texts(entry.path());
        let copy = tempfile::tempdir().unwrap();
        for (path, text) in &before {
            let path = copy.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_proxylint"));
        let output = command
            .args(["check", "--fix", "--nginx", "1.24", "nginx.conf"])
            .current_dir(copy.path())
            .output()
            .unwrap();
        let after = texts(copy.path());
        let notices = String::from_utf8_lossy(&output.stderr);
        let traps: Vec<&Trap> = TRAPS.iter().filter(|trap| trap.0 == name).collect();
        if traps.is_empty() && before != after {
            wrong.push(format!("{name} is to be left alone: {notices}"));
        }
        for (_, file, lines, texts) in traps {
            let text = after.iter().find(|(path, _)| path == Path::new(file)).map(|it| &it.1[..]).unwrap_or_default();
            let text = String::from_utf8_lossy(text);
            let missing =
                lines.iter().filter(|line| !text.split('\n').any(|it| it == **line)).map(|it| format!("lacks {it:?}"));
            let kept = texts.iter().filter(|it| text.contains(**it)).map(|it| format!("has {it:?}"));
            wrong.extend(missing.chain(kept).map(|it| format!("{name}/{file} {it}:\n{text}")));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
