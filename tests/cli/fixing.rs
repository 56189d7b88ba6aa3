//! `--backup`, `--output-patch`, `--review`.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::run::{Folder, Said};

const MAIN: &str = "events {}\nhttp {\n    include conf.d/*;\n    gzip on\n}\n";
const SITE: &str = "server {\n    gzip on\n}\n";

#[test]
fn backups_keep_the_old_text_and_are_never_read_as_configuration() {
    let folder = Folder::new(&[("nginx.conf", &MAIN.replace("/*", "/*.conf")), ("conf.d/a.conf", SITE)]);
    folder.check(["--fix", "--backup", "nginx.conf"]).exit(0);
    assert_eq!(folder.read("conf.d/a.conf.orig"), SITE);
    assert_ne!(folder.read("conf.d/a.conf"), SITE);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);

    // `conf.d/*` would read `conf.d/a.conf.bak`, and the server would be there twice.
    let folder = Folder::new(&[("nginx.conf", MAIN), ("conf.d/a.conf", SITE)]);
    let said = folder.check(["--fix", "--backup=.bak", "nginx.conf"]).exit(2);
    said.errs("conf.d/a.conf.bak` would be read as a part of the configuration (nginx.conf:3); nothing was written");
    assert_eq!((folder.read("nginx.conf").as_str(), folder.read("conf.d/a.conf").as_str()), (MAIN, SITE));
    folder.check(["--fix", "--backup=", "nginx.conf"]).exit(2).errs("makes no name for a backup");
    folder.check(["--backup", "nginx.conf"]).exit(2).errs("--fix");
}

#[test]
fn a_patch_in_a_file_is_the_one_that_is_printed() {
    let folder = Folder::new(&[("nginx.conf", MAIN), ("conf.d/a.conf", SITE)]);
    let printed = folder.check(["--diff", "-q", "nginx.conf"]).exit(1).out;
    let said = folder.check(["--output-patch", "my fixes.patch", "nginx.conf"]).exit(1);
    said.errs("the patch is in 'my fixes.patch': apply it with `patch -p1 < 'my fixes.patch'`");
    assert_eq!(folder.read("my fixes.patch"), printed);
    assert_eq!(folder.read("nginx.conf"), MAIN, "nothing is written");
    folder.check(["--output-patch", "no/such/folder/p", "nginx.conf"]).exit(2).errs("no such file or directory");
    // Together with --fix, both are done.
    folder.check(["--fix", "--output-patch", "again.patch", "nginx.conf"]).exit(0);
    assert_eq!(folder.read("again.patch"), printed);
    assert_ne!(folder.read("nginx.conf"), MAIN);
    folder.check(["--output-patch", "empty.patch", "nginx.conf"]).exit(0);
    assert!(!folder.join("empty.patch").exists());
}

/// Runs the program on a terminal of its own, with these answers.
fn review(folder: &Folder, args: &str, answers: &str) -> (String, i32) {
    let program = env!("CARGO_BIN_EXE_proxylint");
    on_terminal(folder, &format!("{program} check --select nginx/syntax --nginx 1.24 --fix --review {args}"), answers)
}

/// Runs a command on a terminal of its own, with these answers.
fn on_terminal(folder: &Folder, line: &str, answers: &str) -> (String, i32) {
    let mut command = Command::new("script");
    command.args(["-qec", line, "/dev/null"]).current_dir(folder.path()).env("NO_COLOR", "1").env("TERM", "dumb");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("script (bsdutils) runs");
    child.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n"), output.status.code().unwrap())
}

fn three() -> Folder {
    let server = |line| format!("    server {{\n        {line}\n    }}\n");
    let main =
        format!("events {{}}\nhttp {{\n{}{}{}}}\n", server("gzip on"), server("sendfile on"), server("listen 80"));
    Folder::new(&[("nginx.conf", &main)])
}

#[test]
fn each_fix_is_shown_and_asked_about() {
    let folder = three();
    let (said, code) = review(&folder, "nginx.conf", "y\nwhat\nn\ny\n");
    assert_eq!(code, 1, "one is left: {said}");
    assert!(said.contains("fix: add the missing `;` (safe)"), "{said}");
    assert!(said.contains("-        gzip on\n+        gzip on;\n"), "{said}");
    assert!(said.contains("apply? [y]es, [n]o, [a]ll of nginx/syntax, [q]uit (2 more): "), "{said}");
    assert_eq!(said.matches("apply? ").count(), 4, "an answer that is none is asked for again: {said}");
    assert!(said.contains("held back") && said.contains("declined"), "{said}");
    let text = folder.read("nginx.conf");
    assert!(text.contains("gzip on;\n") && text.contains("sendfile on\n") && text.contains("listen 80;\n"), "{text}");
}

/// What a fix changes in the settings in effect stands above its diff, and whether it is safe.
#[test]
fn the_effect_of_a_fix_is_shown() {
    let main = "events {}\nhttp {\n    server {\n        location / {\n            proxy_pass http://127.0.0.1:9000;\n        }\n        location /b {\n            if ($arg_a) {\n                grpc_pass grpc://127.0.0.1:9200;\n            }\n        }\n    }\n}\n";
    let folder = Folder::new(&[("nginx.conf", main)]);
    let program = env!("CARGO_BIN_EXE_proxylint");
    let line =
        format!("{program} check --select nginx/bare-proxy-pass --nginx 1.24 --fix --unsafe-fixes --review nginx.conf");
    let (said, code) = on_terminal(&folder, &line, "y\nn\n");
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("keeps connections (safe)\n"), "{said}");
    assert!(said.contains("  in `location /`: proxy_set_header connection: `close` becomes ``\n"), "{said}");
    assert!(said.contains("keeps connections (UNSAFE)\n"), "{said}");
    assert!(said.contains("  also changes: the backend sees `Host: backend_127_0_0_1_9200` instead of"), "{said}");
    let text = folder.read("nginx.conf");
    assert!(
        text.contains("proxy_pass http://backend_127_0_0_1_9000;") && text.contains("grpc://127.0.0.1:9200"),
        "{text}"
    );
}

#[test]
fn all_of_a_rule_and_quitting_end_the_questions() {
    let folder = three();
    let (said, code) = review(&folder, "nginx.conf", "a\n");
    assert_eq!((code, said.matches("apply? ").count()), (0, 1), "{said}");
    assert_eq!(folder.read("nginx.conf").matches(";\n").count(), 3);
    for answers in ["n\nq\n", "q\n", ""] {
        let folder = three();
        let before = folder.read("nginx.conf");
        let (said, code) = review(&folder, "nginx.conf", answers);
        assert_eq!((code, folder.read("nginx.conf")), (1, before), "{answers:?}: {said}");
    }
    let folder = three();
    review(&folder, "nginx.conf", "y\nq\n");
    assert_eq!(folder.read("nginx.conf").matches(";\n").count(), 1, "what was agreed to is written");
}

#[test]
fn without_a_terminal_there_is_nobody_to_ask() {
    let folder = three();
    folder.check(["--fix", "--review", "nginx.conf"]).exit(2).errs("there is no terminal to ask on");
    folder.check(["--review", "nginx.conf"]).exit(2);
    let said = Said::from(folder.command(["check", "--fix", "--interactive", "nginx.conf"]).output().unwrap());
    said.exit(2).errs("no terminal");
}
