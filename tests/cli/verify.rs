//! `--verify`: nothing is written that the real server refuses.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::run::{Folder, Said};

/// Whether a server is there; says so loudly where not.
fn has(program: &str) -> bool {
    let there = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin", "/sbin"]
        .iter()
        .any(|folder| std::path::Path::new(folder).join(program).is_file());
    if !there {
        assert!(std::env::var_os("CI").is_none(), "{program} is not installed, and CI is set");
        eprintln!("NOT RUN: {program} is not installed");
    }
    there
}

/// A rule of the user's own whose fix puts a line in the place of `gzip`.
fn rule(replacement: &str) -> String {
    format!(
        "# mine/no-gzip\n\nMy own.\n\n```toml rule\nseverity = \"warning\"\ncategory = \"style\"\nsince = \"0.1.0\"\n\
         message = \"no\"\nmatch = {{ directive = [\"gzip\"], args = [\"on\"] }}\nfix = {{ safety = \"safe\", replace = \"{replacement}\" }}\n```\n\n\
         ## Examples\n\n```nginx bad\nhttp {{ gzip on; }}\n```\n\n```nginx good\nhttp {{ }}\n```\n"
    )
}

/// A tree like Debian's: everything is included by absolute paths, sites are links.
fn tree(replacement: &str, site: &str) -> Folder {
    let folder = Folder::new(&[("rules/mine/no-gzip.md", &rule(replacement)), ("sites-available/app", site)]);
    let here = folder.path().canonicalize().unwrap();
    let main = format!(
        "pid {0}/never/nginx.pid;\nevents {{}}\nhttp {{\n    access_log {0}/never/a.log;\n    proxy_cache_path {0}/never/c keys_zone=z:1m;\n    include {0}/sites-enabled/*;\n}}\n",
        here.display()
    );
    folder.write("nginx.conf", main);
    fs::create_dir(folder.join("sites-enabled")).unwrap();
    symlink(here.join("sites-available/app"), folder.join("sites-enabled/app")).unwrap();
    folder
}

const SITE: &str = "server {\n    listen 127.0.0.1:8999;\n    gzip on;\n}\n";

fn fix(folder: &Folder, args: &[&str]) -> Said {
    let base = ["check", "--rules", "rules", "--select", "mine/no-gzip", "--nginx", "1.18", "nginx.conf", "--fix"];
    let said = Said::from(folder.command(base).args(args).output().unwrap());
    assert!(!folder.join("never").exists(), "a test run must write nothing beside the files");
    said
}

#[test]
fn what_the_server_accepts_is_written() {
    if !has("nginx") {
        return;
    }
    let folder = tree("gzip off", SITE);
    let said = fix(&folder, &["--verify"]).exit(0).errs("accepts the patched `nginx.conf`\n");
    said.errs("is not among the versions of the target").errs("1 fixed");
    assert_eq!(folder.read("sites-available/app"), SITE.replace("on;", "off;"));
    assert!(fs::symlink_metadata(folder.join("sites-enabled/app")).unwrap().is_symlink());
}

#[test]
fn what_the_server_refuses_is_not_written_or_printed() {
    if !has("nginx") {
        return;
    }
    for how in [&["--verify"][..], &["--verify", "--diff"], &["--verify", "--output-patch", "p"], &["--verify=nginx"]] {
        let folder = tree("no_such_directive", SITE);
        let said = fix(&folder, how).exit(2);
        let app = folder.path().canonicalize().unwrap().join("sites-enabled/app");
        let words = format!("unknown directive \"no_such_directive\" in {}:3", app.display());
        let said = said.errs("accepts `nginx.conf` and refuses it once patched, so nothing was written: ").errs(&words);
        assert_eq!(said.out, "");
        assert_eq!(folder.read("sites-available/app"), SITE);
        assert!(!folder.join("p").exists());
    }
}

#[test]
fn a_command_gets_a_copy_of_the_folder() {
    if !has("nginx") {
        return;
    }
    let main = "events {}\nhttp {\n    include sites/*;\n}\n";
    let log = "error_log stderr; pid nginx.pid;";
    for (replacement, code) in [("gzip off", 0), ("no_such_directive", 2)] {
        let folder =
            Folder::new(&[("nginx.conf", main), ("sites/app", SITE), ("rules/mine/no-gzip.md", &rule(replacement))]);
        let command = format!("--verify=/usr/sbin/nginx -t -p {{folder}} -c {{folder}}/{{main}} -g '{log}'");
        let said = fix(&folder, &[&command]).exit(code);
        if code == 0 {
            said.errs("verified: nginx accepts the patched `nginx.conf`\n");
        } else {
            said.errs("unknown directive \"no_such_directive\" in /sites/app:3");
        }
        assert_eq!(folder.read("sites/app") == SITE, code == 2);
    }
}

#[test]
fn trouble_outside_of_the_text_is_not_taken_for_damage() {
    if !has("nginx") {
        return;
    }
    let missing = SITE
        .replace("gzip", "ssl_certificate no.pem;\n    ssl_certificate_key no.pem;\n    listen 8998 ssl;\n    gzip");
    let folder = tree("gzip off", &missing);
    let said = fix(&folder, &["--verify"]).exit(2);
    said.errs("not verified, so nothing was written: nginx ")
        .errs("stops in the unpatched copy")
        .errs("no.pem")
        .errs("docker run");
    assert_eq!(folder.read("sites-available/app"), missing);
    // A log that cannot be opened stops the server after it has read everything.
    let service = SITE.replace("gzip", "access_log /no/such/folder/$host;\n    root /no;\n    gzip");
    let folder = tree("gzip off", &service);
    fix(&folder, &["--verify"]).exit(0);
}

#[test]
fn trouble_that_only_the_patch_brings_is_damage() {
    if !has("nginx") {
        return;
    }
    let folder = tree("include /no/such/file.conf", SITE);
    let said = fix(&folder, &["--verify"]).exit(2);
    said.errs("refuses it once patched, so nothing was written: ").errs("\"/no/such/file.conf\" failed");
    assert_eq!(folder.read("sites-available/app"), SITE);
}

/// A stand-in for a server that takes the files where they lie, and not in a copy.
#[test]
fn a_copy_that_the_server_refuses_where_it_takes_the_original_verifies_nothing() {
    if !has("nginx") {
        return;
    }
    let outside = Folder::new(&[("extra.conf", "gzip_min_length 100;\n")]);
    let main =
        format!("events {{}}\nhttp {{\n    include {}/extra.conf;\n    gzip on;\n}}\n", outside.path().display());
    let folder = Folder::new(&[("nginx.conf", &main), ("rules/mine/no-gzip.md", &rule("gzip off"))]);
    let command =
        format!("--verify=test -f {}/extra.conf && ! grep -q extra.conf {{folder}}/{{main}}", outside.path().display());
    let said = fix(&folder, &[&command]).exit(2);
    said.errs("not verified, so nothing was written: nginx stops in the unpatched copy of `nginx.conf` already");
    assert_eq!(folder.read("nginx.conf"), main);
}

#[test]
fn a_patch_that_makes_the_server_accept_is_welcome() {
    if !has("nginx") {
        return;
    }
    let folder = Folder::new(&[("nginx.conf", "events {}\nhttp { server { listen 127.0.0.1:8999; gzip on\n}\n}\n")]);
    folder.check(["--fix", "--verify", "nginx.conf"]).exit(0).errs("accepts the patched");
    assert!(folder.read("nginx.conf").contains("gzip on;\n"));
}

#[test]
fn parts_are_tested_within_a_main_file_or_not_at_all() {
    if !has("nginx") {
        return;
    }
    let folder = Folder::new(&[
        ("app.conf", "server { listen 127.0.0.1:8999; gzip on\n}\n"),
        ("up.conf", "server 127.0.0.1:80\n;keepalive 3\n;"),
    ]);
    folder.check(["--fix", "--verify", "app.conf"]).exit(0).errs("accepts the patched");
    let wrong = folder.check(["--fix", "--verify", "app.conf", "--diff"]);
    assert_eq!(wrong.code, 0, "nothing left to fix, nothing to verify");
}

#[test]
fn a_caddyfile_is_adapted() {
    if !has("caddy") {
        return;
    }
    let text =
        "example.com {\n\treverse_proxy localhost:8080 {\n\t\ttransport http {\n\t\t\tkeepalive 30s\n\t\t}\n\t}\n}\n";
    let folder = Folder::new(&[("Caddyfile", text)]);
    let args = ["check", "--caddy", "2.6.2", "--fix", "--verify", "Caddyfile"];
    let said = Said::from(folder.command(args).output().unwrap());
    let said = said.errs("accepts the patched `Caddyfile`");
    assert_ne!(folder.read("Caddyfile"), text, "{}", said.err);
}

#[test]
fn a_caddyfile_that_is_refused_is_not_written() {
    if !has("caddy") {
        return;
    }
    let page = rule("no_such_directive").replace("mine/no-gzip", "caddy/mine").replace("\"gzip\"", "\"encode\"");
    let page = page
        .replace("args = [\"on\"]", "args = [\"gzip\"]")
        .replace("```nginx bad\nhttp { gzip on; }", "```caddyfile bad\na.test {\n\tencode gzip\n}");
    let page = page.replace("```nginx good\nhttp { }", "```caddyfile good\na.test {\n}");
    let text = "http://a.test:8998 {\n\tencode gzip\n}\n";
    let folder = Folder::new(&[("Caddyfile", text), ("rules/caddy/mine.md", &page)]);
    let args = ["check", "--rules", "rules", "--select", "caddy/mine", "--fix", "--verify", "Caddyfile"];
    let said = Said::from(folder.command(args).output().unwrap()).exit(2);
    said.errs("refuses it once patched, so nothing was written: ")
        .errs("Caddyfile:2: unrecognized directive: no_such_directive");
    assert_eq!(folder.read("Caddyfile"), text);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let folder = tree("gzip off", SITE);
    let said = fix(&folder, &["--verify=/no/such/nginx"]).exit(2);
    said.errs("`/no/such/nginx`, which is to verify the patch, is not on PATH; nothing was written");
    let said = Said::from(folder.command(["check", "--verify", "nginx.conf"]).output().unwrap()).exit(2);
    said.errs("none are asked for").errs("add --fix");
    assert_eq!(folder.read("sites-available/app"), SITE);
}

#[test]
fn no_copy_is_left() {
    if !has("nginx") {
        return;
    }
    let folder = tree("gzip off", SITE);
    let mut command = Command::new(env!("CARGO_BIN_EXE_proxylint"));
    fs::create_dir(folder.join("tmp")).unwrap();
    let args = ["check", "--rules", "rules", "--select", "mine/no-gzip", "nginx.conf", "--fix", "--verify"];
    let said = command.current_dir(folder.path()).args(args).env("TMPDIR", folder.join("tmp")).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert_eq!(fs::read_dir(folder.join("tmp")).unwrap().count(), 0);
}
