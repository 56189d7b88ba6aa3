//! Known findings: `--baseline`, `--write-baseline`, `--since`.

use std::process::Command;

use super::run::{Folder, Said};

const MAIN: &str = "\
events {}
http {
    server {
        listen 80;
        server_name a.example;
        location / {
            proxy_pass http://127.0.0.1:8080;
        }
    }
}
";

fn check(folder: &Folder, args: &[&str]) -> Said {
    let fixed = ["check", "--nginx", "1.24", "--select", "nginx/bare-proxy-pass", "--format", "concise"];
    folder.command(fixed).args(args).output().unwrap().into()
}

fn another(backend: &str) -> String {
    format!(
        "        location /{backend}/ {{\n            proxy_pass http://127.0.0.1:{backend};\n        }}\n    }}\n}}\n"
    )
}

fn with_another(backend: &str) -> String {
    MAIN.replace("    }\n}\n", &another(backend)).replacen("        }\n        }\n", "        }\n", 1)
}

#[test]
fn known_findings_are_passed_over_wherever_they_move() {
    let folder = Folder::new(&[("nginx.conf", MAIN)]);
    check(&folder, &["--baseline", "b.json", "nginx.conf"]).exit(2).errs("the baseline `b.json` cannot be read");
    check(&folder, &["--baseline", "b.json", "--write-baseline", "nginx.conf"]).exit(0).errs("1 finding");
    let text = folder.read("b.json");
    assert!(
        text.contains("\"path\": \"nginx.conf\"")
            && text.contains("\"place\": \"http > server a.example > location /\""),
        "{text}"
    );
    check(&folder, &["--baseline", "b.json", "nginx.conf"]).exit(0).errs("not shown: 1 finding known by b.json");
    folder.write("nginx.conf", format!("# moved\n\n{}", MAIN.replace("listen 80;", "listen   80;\n\n")));
    check(&folder, &["--baseline", "b.json", "nginx.conf"]).exit(0);
    folder.write("nginx.conf", MAIN.replace("8080", "9090"));
    check(&folder, &["--baseline", "b.json", "nginx.conf"])
        .exit(1)
        .says("9090")
        .errs("1 known finding of b.json is gone");
    std::fs::remove_file(folder.join("nginx.conf")).unwrap();
    folder.write("main/nginx.conf", MAIN);
    check(&folder, &["--baseline", "b.json", "main"]).exit(0).errs("not shown: 1 finding known by b.json");
}

#[test]
fn a_baseline_may_lie_in_a_folder_of_its_own() {
    let folder = Folder::new(&[("deploy/nginx.conf", MAIN), ("lint/README", "")]);
    check(&folder, &["--baseline", "lint/b.json", "--write-baseline", "deploy"]).exit(0);
    assert!(
        folder.read("lint/b.json").contains("\"path\": \"../deploy/nginx.conf\""),
        "{}",
        folder.read("lint/b.json")
    );
    check(&folder, &["--baseline", "lint/b.json", "deploy"]).exit(0);
}

#[test]
fn a_second_one_alike_is_new() {
    let folder = Folder::new(&[("nginx.conf", MAIN), ("proxylint.toml", "baseline = \"b.json\"\n")]);
    check(&folder, &["--write-baseline", "nginx.conf"]).exit(0);
    check(&folder, &["nginx.conf"]).exit(0);
    folder.write("copy.conf", MAIN);
    check(&folder, &["nginx.conf", "copy.conf"]).exit(1).says("copy.conf:7:13");
}

#[test]
fn a_baseline_that_is_none_is_an_error() {
    let folder = Folder::new(&[("nginx.conf", MAIN)]);
    for text in ["", "{}", "[]", "{\"version\": 2, \"findings\": []}", "{\"version\": 1, \"findings\": [{}]}"] {
        folder.write("b.json", text);
        check(&folder, &["--baseline", "b.json", "nginx.conf"]).exit(2).errs("the baseline `b.json` is");
    }
    check(&folder, &["--write-baseline", "nginx.conf"]).exit(2).errs("`--baseline FILE`");
    folder.write("nginx.conf", "events {}\nhttp {\n    include \"x\n");
    check(&folder, &["--baseline", "c.json", "--write-baseline", "nginx.conf"]).exit(0);
}

fn git(folder: &Folder, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(folder.path()).args([
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "init.defaultBranch=main",
    ]);
    let output = command.args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn repository() -> Folder {
    let folder = Folder::new(&[("deploy/nginx.conf", MAIN)]);
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-qm", "first"]);
    folder
}

#[test]
fn since_a_revision_only_what_is_new_is_shown() {
    let folder = repository();
    check(&folder, &["--since", "HEAD", "deploy"]).exit(0).errs("not shown: 1 finding that was there at the revision");
    folder.write("deploy/nginx.conf", format!("# moved\n{}", with_another("9090")));
    let said = check(&folder, &["--since", "HEAD", "deploy"]).exit(1);
    assert!(said.out.contains("127.0.0.1:9090") && !said.out.contains("127.0.0.1:8080"), "{}", said.out);
    folder.write("deploy/nginx.conf", MAIN.replace("            proxy_pass", "          proxy_pass"));
    check(&folder, &["--since", "HEAD", "deploy"]).exit(1).says("8080");
    folder.write("deploy/nginx.conf", MAIN);
    folder.write("other/nginx.conf", MAIN);
    check(&folder, &["--since", "HEAD", "deploy", "other"]).exit(1).says("other/nginx.conf:7:13");
    git(&folder, &["mv", "deploy", "moved"]);
    check(&folder, &["--since", "HEAD", "moved"]).exit(0);
}

#[test]
fn what_a_line_elsewhere_causes_is_new() {
    let upstream = "events {}\nhttp {\n    upstream x {\n        server 127.0.0.1:1;\n        keepalive 8;\n    }\n    proxy_http_version 1.1;\n    proxy_set_header Connection \"\";\n    server {\n        location / {\n            proxy_pass http://x;\n        }\n    }\n}\n";
    let folder = Folder::new(&[("nginx.conf", upstream)]);
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-qm", "first"]);
    folder.write("nginx.conf", upstream.replace("    proxy_http_version 1.1;\n", ""));
    let args = ["--select", "nginx/proxy-http-version-1-0", "--since", "HEAD", "nginx.conf"];
    check(&folder, &args).exit(1).says("nginx/proxy-http-version-1-0");
}

#[test]
fn links_of_a_repository_are_followed_at_the_revision() {
    let folder = Folder::new(&[
        ("nginx.conf", "events {}\nhttp {\n    include sites-enabled/*;\n}\n"),
        ("sites-available/a", "server {\n    location / {\n        proxy_pass http://127.0.0.1:8080;\n    }\n}\n"),
    ]);
    std::fs::create_dir(folder.join("sites-enabled")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("../sites-available/a", folder.join("sites-enabled/a")).unwrap();
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-qm", "first"]);
    check(&folder, &["--since", "HEAD", "nginx.conf"])
        .exit(0)
        .errs("not shown: 1 finding that was there at the revision");
}

#[test]
fn a_revision_that_is_none_is_an_error() {
    let folder = repository();
    check(&folder, &["--since", "nowhere", "deploy"]).exit(2).errs("there is no revision `nowhere` here");
    check(&folder, &["--since", "--help", "deploy"]).exit(2);
    let bare = Folder::new(&[("nginx.conf", MAIN)]);
    check(&bare, &["--since", "HEAD", "nginx.conf"]).exit(2).errs("not a git repository");
}
