//! `--fix` and `--diff` on files.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::run::{Folder, Said};

const MAIN: &str = "events {}\r\nhttp {\r\n    include conf.d/*.conf;\r\n}\r\n";
const SITE: &str = "server {\r\n    # caf\u{e9}\r\n    gzip on\r\n}";

#[test]
fn a_fix_is_written_and_a_second_run_changes_nothing() {
    let folder = Folder::new(&[("nginx.conf", MAIN), ("conf.d/a.conf", SITE)]);
    let said =
        folder.check(["--fix", "."]).exit(0).errs("fixed: conf.d/a.conf:3:5: add the missing `;` [nginx/syntax]");
    let said = said.errs("1 fixed, no findings left").errs("nginx -t -c ");
    assert_eq!(said.out, "");
    assert_eq!(folder.read("conf.d/a.conf"), SITE.replace("gzip on", "gzip on;"));
    assert_eq!(folder.read("nginx.conf"), MAIN);
    folder.check(["--fix", "."]).exit(0).errs("nothing fixed, no findings");
}

#[test]
fn what_remains_decides_the_exit() {
    let folder = Folder::new(&[("nginx.conf", "events {}\nhttp {\n    include none.conf;\n    gzip on\n}\n")]);
    folder.check(["--fix", "nginx.conf"]).exit(1).says("none.conf").errs("1 fixed, 1 error left");
    folder.check(["--fix", "--exit-zero", "nginx.conf"]).exit(0);
}

#[test]
fn a_patch_applies_from_where_it_was_made() {
    for (where_from, given) in [("", "."), ("conf.d", "..")] {
        let folder = Folder::new(&[("nginx.conf", MAIN), ("conf.d/a.conf", SITE)]);
        let mut command = folder.command(["check", "--select", "nginx/syntax", "--diff", "-q", given]);
        let made = command.current_dir(folder.join(where_from)).output().expect("the program runs");
        assert_eq!(made.status.code(), Some(1));
        assert_eq!(folder.read("conf.d/a.conf"), SITE, "nothing is written");
        let mut patch = Command::new("patch");
        patch
            .args(["-p1", "--binary"])
            .current_dir(folder.join(where_from))
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        let mut patch = patch.spawn().expect("patch runs");
        patch.stdin.take().expect("it is piped").write_all(&made.stdout).expect("it reads");
        assert!(patch.wait().expect("it ends").success());
        assert_eq!(folder.read("conf.d/a.conf"), SITE.replace("gzip on", "gzip on;"));
    }
}

#[test]
fn a_patch_outside_the_working_directory_says_how_it_applies() {
    let folder = Folder::new(&[("nginx.conf", "events {}\nhttp { gzip on }\n"), ("empty/keep", "")]);
    let mut command = folder.command(["check", "--select", "nginx/syntax", "--diff", "../nginx.conf"]);
    let made = command.current_dir(folder.join("empty")).output().expect("the program runs");
    let (out, err) = (String::from_utf8_lossy(&made.stdout), String::from_utf8_lossy(&made.stderr));
    let root = folder.join("nginx.conf").canonicalize().expect("it is there");
    assert!(out.starts_with(&format!("--- a{}\n", root.display())), "{out}");
    assert!(err.contains("patch -d / -p1 < FILE"), "{err}");
    // Without the folder the patch is of no use: `-q` does not hide it.
    let mut command = folder.command(["check", "-q", "--select", "nginx/syntax", "--diff", "../nginx.conf"]);
    let quiet = command.current_dir(folder.join("empty")).output().expect("the program runs");
    let notice = "names in the patch begin at `/`: apply it with `patch -d / -p1 < FILE`\n";
    assert_eq!(String::from_utf8_lossy(&quiet.stderr), notice);
    assert_eq!(quiet.stdout, made.stdout);
}

#[test]
fn unsafe_fixes_are_of_no_use_without_fixes() {
    let folder = Folder::new(&[("nginx.conf", "events {}\nhttp { gzip on }\n")]);
    let said = folder.check(["--unsafe-fixes", "nginx.conf"]).exit(2);
    let said = said.errs("`--unsafe-fixes` says that unsafe fixes are applied too, and none are asked for");
    assert_eq!((said.out.as_str(), said.err.contains("help: add --fix")), ("", true));
    folder.check(["--unsafe-fixes", "--output-patch", "p", "nginx.conf"]).exit(1);
}

/// Fixes `line` in a location. What was said, the findings that remain, the new text.
fn fix_line(line: &str) -> (String, serde_json::Value, String) {
    let text = format!(
        "events {{}}\nhttp {{\n    server {{\n        location / {{\n            {line}\n        }}\n    }}\n}}\n"
    );
    let folder = Folder::new(&[("nginx.conf", &text)]);
    let args = ["check", "--nginx", "1.28", "--format", "json", "--fix", "nginx.conf"];
    let said = Said::from(folder.command(args).output().expect("the program runs"));
    let json: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    (said.err, json["findings"].clone(), folder.read("nginx.conf"))
}

#[test]
fn fixes_of_lines_that_the_server_refuses_wait() {
    let refused = "proxy_pass http://127.0.0.1:9000 twice;";
    let (err, findings, text) = fix_line(refused);
    assert!(text.contains(refused), "{text}");
    let reason = "the server refuses this line (nginx/invalid-arguments), which is to be mended first";
    assert!(err.contains("nothing fixed, 1 error, 1 warning; 1 fix held back"), "{err}");
    assert_eq!(findings[0]["fixes"][0]["held_back"], reason);
    // The error has a fix of its own, and in the second round the line is fine.
    let (_, findings, text) = fix_line("proxy_pass http://127.0.0.1:9000; proxy_pass http://127.0.0.1:9000;");
    assert_eq!(findings.as_array().map(Vec::len), Some(0), "{findings} {text}");
    assert!(text.contains("proxy_pass http://backend_127_0_0_1_9000;"), "{text}");
}

#[test]
fn arguments_that_are_wrong_leave_all_files_alone() {
    let broken = "events {}\nhttp { gzip on }\n";
    let folder = Folder::new(&[("nginx.conf", broken), ("x.j2", "")]);
    for wrong in [
        &["nginx.conf", "none.conf"][..],
        &["nginx.conf", "x.conf.j2"],
        &["nginx.conf", "--nginx", "?"],
        &["nginx.conf", "--select", "none"],
        &["nginx.conf", "--rules", "none"],
        &["nginx.conf", "--map", "none"],
    ] {
        folder.check([&["--fix"], wrong].concat()).exit(2);
        assert_eq!(folder.read("nginx.conf"), broken, "{wrong:?}");
    }
}
