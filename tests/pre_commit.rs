//! The hooks of `.pre-commit-hooks.yaml` under the real pre-commit. Without it on PATH the test says so and passes.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may stop at the first surprise, and say what it skips"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const CONFIG: &str = "repos:\n  - repo: HOOKS\n    rev: REV\n    hooks:\n      - id: ID\n";
const MAIN: &str = "events {}\nhttp {\n    upstream app { server 127.0.0.1:1; keepalive 8; }\n    proxy_http_version 1.1;\n    proxy_set_header Connection \"\";\n    include conf.d/*.conf;\n}\n";

fn has_pre_commit() -> bool {
    Command::new("pre-commit").arg("--version").output().is_ok_and(|output| output.status.success())
}

struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    fn run(&self, folder: &str, program: &str, args: &[&str]) -> Output {
        let own = Path::new(env!("CARGO_BIN_EXE_proxylint")).parent().unwrap().to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&path))).unwrap();
        let mut command = Command::new(program);
        command.current_dir(self.join(folder)).args(args).env("PATH", path);
        for (name, value) in [("AUTHOR", "a"), ("COMMITTER", "a")] {
            command.env(format!("GIT_{name}_NAME"), value).env(format!("GIT_{name}_EMAIL"), "a@example.org");
        }
        command.env("PRE_COMMIT_HOME", self.join("cache")).output().unwrap()
    }

    fn git(&self, folder: &str, args: &[&str]) -> String {
        let output = self.run(folder, "git", args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn join(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::create_dir_all(self.join(path).parent().unwrap()).unwrap();
        std::fs::write(self.join(path), text).unwrap();
    }

    /// Runs a hook on files; whether it passed, and what it said.
    fn hook(&self, id: &str, files: &[&str]) -> (bool, String) {
        let hooks = self.join("hooks").display().to_string();
        let revision = self.git("hooks", &["rev-parse", "HEAD"]);
        let config = CONFIG.replace("HOOKS", &hooks).replace("REV", &revision).replace("ID", id);
        self.write("project/.pre-commit-config.yaml", &config);
        let output = self.run("project", "pre-commit", &[&["run", "--files"], files].concat());
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), said)
    }
}

#[test]
fn hooks_check_and_fix_what_a_commit_names() {
    if !has_pre_commit() {
        eprintln!("skipped: pre-commit is not on PATH (pip install pre-commit)");
        return;
    }
    let scratch = Scratch { folder: tempfile::tempdir().unwrap() };
    scratch.write("hooks/.pre-commit-hooks.yaml", include_str!("../.pre-commit-hooks.yaml"));
    for (path, text) in [
        ("nginx.conf", MAIN),
        ("conf.d/a.conf", "server {\n    listen 80;\n    location / {\n        proxy_pass http://app;\n    }\n}\n"),
        ("conf.d/b.conf", "server {\n    listen 81\n}\n"),
        ("redis.conf", "port 6379\nsave 900 1\n"),
        ("vendor/x.conf", "server { listen 82 }\n"),
        ("page.html", "<p>"),
        ("proxylint.toml", "exclude = [\"vendor\"]\nnginx = \"1.24\"\n"),
    ] {
        scratch.write(&format!("project/{path}"), text);
    }
    for folder in ["hooks", "project"] {
        scratch.git(folder, &["init", "-q"]);
        scratch.git(folder, &["add", "."]);
        scratch.git(folder, &["commit", "-qm", "first"]);
    }
    let (passed, said) =
        scratch.hook("proxylint-system", &["conf.d/a.conf", "redis.conf", "vendor/x.conf", "page.html"]);
    assert!(passed && said.contains("Passed"), "in the context of nginx.conf nothing is wrong\n{said}");
    let (passed, said) = scratch.hook("proxylint-system", &["page.html"]);
    assert!(passed && said.contains("no files to check"), "{said}");
    let (passed, said) = scratch.hook("proxylint-system", &["conf.d/b.conf"]);
    assert!(!passed && said.contains("conf.d/b.conf:2:5"), "{said}");
    let (passed, said) = scratch.hook("proxylint-fix-system", &["conf.d/b.conf"]);
    assert!(!passed && said.contains("files were modified by this hook"), "{said}");
    let text = std::fs::read_to_string(scratch.join("project/conf.d/b.conf")).unwrap();
    assert_eq!(text, "server {\n    listen 81;\n}\n");
    let (passed, said) = scratch.hook("proxylint-fix-system", &["conf.d/a.conf", "conf.d/b.conf", "nginx.conf"]);
    assert!(passed, "{said}");
}
