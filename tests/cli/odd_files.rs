//! Files that cannot be read, are no files, or are not what they seem.

#![cfg(unix)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::run::Folder;

const MAIN: &str = "events {}\nhttp {\n    include conf.d/*.conf;\n}\n";

fn fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("mkfifo runs");
    assert!(made.success());
}

/// Takes all permissions. False, and said aloud, where that changes nothing: for the superuser.
#[expect(clippy::print_stderr, reason = "a test that shows nothing says so")]
fn lock(path: &Path) -> bool {
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o000)).expect("it is ours");
    let locked = std::fs::read_dir(path).is_err() && std::fs::read(path).is_err();
    if !locked {
        eprintln!("not shown here: the superuser can read everything");
    }
    locked
}

#[test]
fn what_is_no_regular_file_is_never_opened() {
    let folder = Folder::new(&[("nginx.conf", "events {}\nhttp {\n    include pipe.conf;\n}\n")]);
    fifo(&folder.join("pipe.conf"));
    folder.check(["pipe.conf"]).exit(2).errs("`pipe.conf` is not a regular file and is not read");
    folder.check(["/dev/zero"]).exit(2).errs("not a regular file");
    folder.check(["nginx.conf"]).exit(1).says("is not a regular file and is not read");
    folder.check(["."]).exit(1).errs("not read: pipe.conf: not a regular file");
}

#[test]
fn a_named_file_that_cannot_be_read_is_an_error() {
    let folder = Folder::new(&[("nginx.conf", "events {}\nhttp {}\n")]);
    // Reading it fails for everybody.
    folder.check(["--lang", "nginx", "/proc/self/mem"]).exit(2).errs("`/proc/self/mem` cannot be read: ");
    if lock(&folder.join("nginx.conf")) {
        folder.check(["nginx.conf"]).exit(2).errs("`nginx.conf` cannot be read: permission denied");
        folder.check(["."]).exit(2).errs("passed over ./nginx.conf: permission denied");
    }
}

#[test]
fn an_included_file_that_cannot_be_read_leaves_2_and_nothing_written() {
    let text = "events {}\nhttp {\n    include /proc/self/mem;\n    gzip on\n}\n";
    let folder = Folder::new(&[("nginx.conf", text)]);
    let said = folder.check(["nginx.conf"]).exit(2).errs("not read: /proc/self/mem: ");
    said.says("`;` is missing at the end of `gzip`").errs("checked 4 directives in 1 file");
    folder.check(["--exit-zero", "nginx.conf"]).exit(2);
    folder.write("fine.conf", "events {}\nhttp {\n    include /proc/self/mem;\n}\n");
    folder.check(["fine.conf"]).exit(2).errs("no findings in what could be read");
    for how in ["--fix", "--diff"] {
        let said = folder.check([how, "nginx.conf"]).exit(2);
        assert!(!said.out.contains("+++"), "{}", said.out);
        said.errs("nothing was fixed, as not everything could be read");
        assert_eq!(folder.read("nginx.conf"), text);
    }
}

#[test]
fn a_folder_that_cannot_be_listed_is_not_passed_over_in_silence() {
    let folder = Folder::new(&[("nginx.conf", MAIN), ("private/site.conf", "gzip on\n")]);
    if lock(&folder.join("private")) {
        folder.check(["."]).exit(2).errs("not read: private: permission denied");
    }
    std::fs::set_permissions(folder.join("private"), PermissionsExt::from_mode(0o755)).expect("it is ours");
}

#[test]
fn links_in_circles_and_into_nothing_end() {
    let folder = Folder::new(&[("nginx.conf", MAIN), ("conf.d/a.conf", "gzip on;\n")]);
    symlink("..", folder.join("conf.d/up")).expect("a link");
    symlink(folder.path(), folder.join("self")).expect("a link");
    symlink("none", folder.join("gone.conf")).expect("a link");
    symlink("round.conf", folder.join("round.conf")).expect("a link");
    let said = folder.check(["."]).exit(2);
    let said = said.errs("not read: gone.conf: a link that leads nowhere").errs("not read: round.conf: ");
    said.errs("checked 4 directives in 2 files");
}

#[test]
fn a_file_under_two_names_is_one() {
    let folder = Folder::new(&[("nginx.conf", MAIN), ("sites/shop.conf", "gzip on\n"), ("conf.d/keep", "")]);
    symlink("../sites/shop.conf", folder.join("conf.d/shop.conf")).expect("a link");
    symlink("nginx.conf", folder.join("again.conf")).expect("a link");
    let said = folder.check(["--format", "concise", ".", "nginx.conf", "./nginx.conf", "sites/shop.conf"]).exit(1);
    assert_eq!(said.out.lines().count(), 1, "{}", said.out);
    said.says("conf.d/shop.conf:1:1: error").errs("checked 4 directives in 2 files");
}

#[test]
fn folders_named_like_files_and_hidden_ones_do_not_confuse() {
    let folder = Folder::new(&[("nginx.conf/nginx.conf", MAIN), (".git/nginx.conf", "gzip on\n")]);
    folder.write("node_modules/x/nginx.conf", "gzip on\n");
    folder.check(["."]).exit(0).errs("checked 3 directives in 1 file");
    folder.check([".git"]).exit(1);
}

#[test]
fn names_that_are_not_text_are_shown_as_far_as_they_can_be() {
    let folder = Folder::new(&[]);
    std::fs::write(folder.join("").join(OsStr::from_bytes(b"a\xff\x1b[31m.conf")), "server { listen 80 }\n")
        .expect("written");
    let said = folder.check(["--format", "concise", "."]).exit(1);
    said.says("a\u{fffd}\\x1b[31m.conf:1:10: error[nginx/syntax]");
}

#[test]
fn an_empty_file_is_read_and_has_no_fault() {
    let folder = Folder::new(&[("a.conf", ""), ("nginx.conf", "")]);
    folder.check(["--lang", "nginx", "a.conf"]).exit(0).errs("checked 0 directives in 1 file");
    folder.check(["nginx.conf"]).exit(0).errs("checked 0 directives in 1 file");
    // Nothing says whose it is.
    folder.check(["a.conf"]).exit(2).errs("--lang nginx");
}
