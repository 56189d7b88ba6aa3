//! Standard input: a file, the output of `nginx -T`, a list of paths.

use std::io::Write;
use std::process::Stdio;

use super::run::{Folder, Said};

const FAULT: &str = "events {}\nhttp {\n    server {\n        listen 80;\n        server_name a\n    }\n}\n";

/// Runs `proxylint check` with standard input.
pub(crate) fn check(folder: &Folder, args: &[&str], input: &[u8]) -> Said {
    let mut command = folder.command(["check", "--nginx", "1.24", "--select", "nginx/syntax"]);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn a_file_is_read_from_standard_input() {
    let folder = Folder::new(&[]);
    check(&folder, &["--format", "concise", "-"], FAULT.as_bytes()).exit(1).says("<stdin>:5:9: error[nginx/syntax]");
    check(&folder, &["-"], b"events {}\nhttp {}\n").exit(0);
    check(&folder, &["-"], b"").exit(2).errs("looks neither like nginx's configuration");
    check(&folder, &["-"], b"port 6379\nsave 900 1\n").exit(2).errs("--lang");
    check(&folder, &["-", "nginx.conf"], b"").exit(2).errs("not checked in one run");
    check(&folder, &["--stdin-filename", "a.conf", "."], b"").exit(2).errs("write `-`");
    check(&folder, &["--lang", "caddy", "-"], b"example.org {\n\trespond ok\n}\n").exit(0);
    check(&folder, &["--stdin-filename", "Caddyfile", "-"], b"example.org {\n\trespond ok\n").exit(1);
}

#[test]
fn its_name_says_where_its_includes_lie() {
    let folder = Folder::new(&[("deploy/conf.d/a.conf", "server {\n    listen 80\n}\n")]);
    let main = b"events {}\nhttp {\n    include conf.d/*.conf;\n}\n";
    check(&folder, &["--format", "concise", "--stdin-filename", "deploy/nginx.conf", "-"], main)
        .exit(1)
        .says("deploy/conf.d/a.conf:2:5: error[nginx/syntax]");
    check(&folder, &["-"], main).exit(0);
}

#[test]
fn an_unsaved_part_is_judged_in_its_main_file() {
    let main = "events {}\nhttp {\n    include conf.d/*.conf;\n}\n";
    let folder = Folder::new(&[("nginx.conf", main), ("conf.d/a.conf", "server { listen 80; }\n")]);
    let said =
        check(&folder, &["--format", "concise", "--stdin-filename", "conf.d/a.conf", "-"], b"server { listen 80 }\n");
    said.exit(1).says("conf.d/a.conf:1:").errs("judged in nginx.conf");
    let new =
        check(&folder, &["--format", "concise", "--stdin-filename", "conf.d/new.conf", "-"], b"server { listen 80 }\n");
    new.exit(1).says("conf.d/new.conf:1:").errs("judged in nginx.conf");
}

#[test]
fn fixed_text_goes_to_standard_output() {
    let folder = Folder::new(&[]);
    let fixed = FAULT.replace("server_name a\n", "server_name a;\n");
    let said = check(&folder, &["--fix", "-"], FAULT.as_bytes()).exit(0);
    assert_eq!(said.out, fixed);
    let said = check(&folder, &["--fix", "--stdin-filename", "x/nginx.conf", "-"], fixed.as_bytes()).exit(0);
    assert_eq!(said.out, fixed, "also where nothing is to be fixed");
    check(&folder, &["--diff", "--stdin-filename", "x/nginx.conf", "-"], FAULT.as_bytes())
        .exit(1)
        .says("--- a/x/nginx.conf")
        .says("+        server_name a;");
    let said = check(&folder, &["--fix", "--stdin-filename", "x/nginx.conf", "-"], FAULT.as_bytes()).exit(0);
    assert_eq!(said.out, fixed);
    assert!(!folder.join("x").exists());
    check(&folder, &["--fix", "--review", "-"], FAULT.as_bytes()).exit(2).errs("standard input is no file");
    check(&folder, &["--add-ignores", "old", "-"], FAULT.as_bytes()).exit(2).errs("standard input is no file");
    check(&folder, &["--stdin-filename", ".", "-"], FAULT.as_bytes()).exit(2).errs("this is a folder");
}

fn dump(ends: &str) -> Vec<u8> {
    let text = "nginx: the configuration file /etc/nginx/nginx.conf syntax is ok\n\
        nginx: configuration file /etc/nginx/nginx.conf test is successful\n\
        # configuration file /etc/nginx/nginx.conf:\nevents {}\nhttp {\n    include /etc/nginx/conf.d/*.conf;\n    include empty/*.conf;\n}\n\n\
        # configuration file /etc/nginx/conf.d/a.conf:\nserver {\n    listen 80;\n    location / {\n        proxy_pass http://127.0.0.1:8080;\n    }\n}\n\n";
    text.replace('\n', ends).into_bytes()
}

#[test]
fn the_output_of_nginx_is_the_files_of_the_server() {
    let folder = Folder::new(&[]);
    for ends in ["\n", "\r\n"] {
        let args = ["--select", "nginx/bare-proxy-pass", "--format", "concise", "-"];
        check(&folder, &args, &dump(ends))
            .exit(1)
            .says("/etc/nginx/conf.d/a.conf:4:9: warning[nginx/bare-proxy-pass]")
            .errs("checked 8 directives in 2 files");
    }
    let diff = check(&folder, &["--select", "nginx/bare-proxy-pass", "--diff", "-"], &dump("\n")).exit(1);
    assert!(diff.out.starts_with("--- a/etc/nginx/conf.d/a.conf\n+++ b/etc/nginx/conf.d/a.conf\n"), "{}", diff.out);
    diff.errs("patch -d / -p1");
    check(&folder, &["--fix", "-"], &dump("\n")).exit(2).errs("the files of a dump are not here");
    check(&folder, &["-"], b"nginx: [emerg] unknown directive \"x\" in /etc/nginx/nginx.conf:1\n")
        .exit(2)
        .errs("nginx printed no configuration, as it refuses it");
    let cut = dump("\n");
    let cut = &cut[..cut.len() - 20];
    let main_only =
        "# configuration file /etc/nginx/nginx.conf:\nevents {}\nhttp { include /etc/nginx/mime.types; }\n\n";
    check(&folder, &["-"], main_only.as_bytes()).exit(2).errs("not read: /etc/nginx/mime.types: it is not in the dump");
    check(&folder, &["-"], cut).exit(1);
}

#[test]
fn a_project_file_holds_for_a_dump() {
    let folder =
        Folder::new(&[("proxylint.toml", "[[override]]\npaths = [\"/etc/nginx/**\"]\nrules = { all = \"off\" }\n")]);
    check(&folder, &["--select", "nginx/bare-proxy-pass", "-"], &dump("\n")).exit(0);
}

#[test]
fn paths_come_from_a_list() {
    let folder = Folder::new(&[("a b.conf", "server { listen 80 }\n"), ("c.conf", "server { listen 80; }\n")]);
    folder.write("list", "a b.conf\r\n\nc.conf\n");
    folder.write("nul", b"c.conf\0a b.conf\0");
    for list in ["list", "nul"] {
        check(&folder, &["--format", "concise", "--files-from", list], b"").exit(1).says("a b.conf:1:");
    }
    check(&folder, &["--files-from", "-"], b"c.conf\n").exit(0).errs("in 1 file");
    check(&folder, &["--files-from", "-"], b"").exit(0).errs("nothing to check");
    check(&folder, &["--files-from", "-"], b"gone.conf\n").exit(2).errs("`gone.conf` does not exist");
    check(&folder, &["--files-from", "nowhere"], b"").exit(2).errs("`--files-from nowhere`: there is no such file");
}
