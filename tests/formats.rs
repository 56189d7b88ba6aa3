//! Every format, compared with what it is meant to be (`UPDATE=1 cargo test --test formats` rewrites
//! `tests/formats/`; read the difference), and read by its consumers or by their schemas.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic, and says what it skips")]

#[path = "cli/run.rs"]
mod run;

#[path = "formats/consumers.rs"]
mod consumers;
#[path = "formats/hostile.rs"]
mod hostile;
#[path = "formats/page.rs"]
mod page;
#[path = "formats/sarif.rs"]
mod sarif;
#[path = "formats/schema.rs"]
mod schema;

use std::path::Path;

use run::{Folder, Said};

/// Every format, and the name of the file with what it says of [`project`].
const FORMATS: [(&str, &str); 12] = [
    ("text", "text.txt"),
    ("concise", "concise.txt"),
    ("json", "json.json"),
    ("jsonl", "jsonl.jsonl"),
    ("sarif", "sarif.json"),
    ("github", "github.txt"),
    ("gitlab", "gitlab.json"),
    ("checkstyle", "checkstyle.xml"),
    ("junit", "junit.xml"),
    ("rdjson", "rdjson.json"),
    ("markdown", "markdown.md"),
    ("html", "html.html"),
];

const RULES: &str = "nginx/syntax,nginx/include-not-found,nginx/bare-proxy-pass";

const MAIN: &str = "\
events {}
http {
    include conf.d/*.conf;
    include missing.conf;
}
";
const SHOP: &str = "\
server {
    listen 80;
    location / {
        proxy_pass http://127.0.0.1:8080;
    }
}
";
const SITE: &str = "server {\n    # ä & <b>\n    location /ü {\n        root /srv\n    }\n}\n";

/// A repository with a finding that has a safe fix, one that has an unsafe fix, and one without.
fn project() -> Folder {
    let folder = Folder::new(&[
        (".git/HEAD", ""),
        ("deploy/nginx.conf", MAIN),
        ("deploy/conf.d/shop.conf", SHOP),
        ("deploy/conf.d/site.conf", SITE),
        ("deploy/x.conf.j2", ""),
    ]);
    folder.write("deploy/clean.conf", "");
    folder
}

/// What a format says of the project.
fn report(folder: &Folder, format: &str) -> String {
    let args = ["check", "--nginx", "1.24", "--select", RULES, "--format", format, "deploy"];
    Said::from(folder.command(args).output().unwrap()).exit(1).out
}

#[test]
fn every_format_says_what_it_said() {
    let (folder, update) = (project(), std::env::var_os("UPDATE").is_some());
    let mut changed = Vec::new();
    for (format, file) in FORMATS {
        let said = without_pages(&report(&folder, format)).replace(env!("CARGO_PKG_VERSION"), "VERSION");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(file);
        if update {
            std::fs::write(&path, &said).unwrap();
        } else if std::fs::read_to_string(&path).ok().as_deref() != Some(said.as_str()) {
            changed.push(file);
        }
    }
    assert!(changed.is_empty(), "{changed:?} changed; UPDATE=1 rewrites them");
}

/// Pages of rules change on their own.
fn without_pages(report: &str) -> String {
    let shown = |line: &str| {
        !line.trim_start().starts_with("\"text\": \"# nginx/") && !line.trim_start().starts_with("\"markdown\": ")
    };
    report.split_inclusive('\n').filter(|line| shown(line)).collect()
}

#[test]
fn the_list_of_formats_is_whole() {
    let names: Vec<&str> = proxylint::report::Format::ALL.iter().map(|(_, name, _)| *name).collect();
    assert_eq!(names, FORMATS.map(|(format, _)| format));
    let help = Said::from(project().command(["check", "-h"]).output().unwrap()).exit(0).out;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains(&format!("[possible values: {}]", names.join(", "))), "{help}");
}

#[test]
fn several_formats_go_to_files() {
    let folder = project();
    let mut args =
        vec!["check", "--nginx", "1.24", "--select", RULES, "deploy", "--color", "always", "--format", "concise"];
    let wanted = FORMATS.map(|(format, file)| format!("{format}=out-{file}"));
    args.extend(wanted.iter().flat_map(|wanted| ["--format", wanted]));
    let said = Said::from(folder.command(args).output().unwrap()).exit(1).errs("written: out-sarif.json");
    assert!(said.out.contains("\x1b[") && said.out.lines().count() == 3, "{}", said.out);
    for (format, file) in FORMATS {
        assert_eq!(folder.read(&format!("out-{file}")), report(&folder, format), "{format}: no colours in files");
    }
}

#[test]
fn a_report_never_replaces_what_was_checked() {
    let folder = project();
    std::os::unix::fs::symlink("deploy/nginx.conf", folder.join("link")).unwrap();
    for file in ["deploy/nginx.conf", "./deploy/conf.d/../conf.d/shop.conf", "link"] {
        let args = ["check", "--fix", "--select", RULES, "--output", file, "deploy"];
        Said::from(folder.command(args).output().unwrap())
            .exit(2)
            .errs("is a file that was checked; nothing was written");
    }
    assert_eq!((folder.read("deploy/nginx.conf"), folder.read("deploy/conf.d/shop.conf")), (MAIN.into(), SHOP.into()));
}

#[test]
fn places_to_write_to_are_told_apart() {
    let folder = project();
    let check = |args: &[&str]| {
        let all = ["check", "--nginx", "1.24", "--select", RULES, "deploy"].iter().chain(args);
        Said::from(folder.command(all).output().unwrap())
    };
    folder.write("old.json", "old");
    let said = check(&["--format", "json", "-o", "old.json"]).exit(1);
    assert!(said.out.is_empty() && folder.read("old.json").contains("\"version\": 1"), "{}", said.out);
    check(&["--format", "json", "-o", "/dev/stdout"]).exit(1).says("\"version\": 1");
    check(&["--format", "json=-"]).exit(1).says("\"version\": 1");
    check(&["-o", "deploy"]).exit(2).errs("cannot write `deploy`: it is a folder");
    check(&["-o", "none/x"]).exit(2).errs("none/x");
    check(&["--format", "json", "--format", "text"]).exit(2).errs("only one format can go to standard output");
    check(&["--diff", "--format", "sarif=x"]).exit(2).errs("cannot be used with");
}

#[test]
fn statistics_count_by_rule() {
    let folder = project();
    let said = |format| {
        let args = ["check", "-q", "--nginx", "1.24", "--select", RULES, "--statistics", "--format", format, "deploy"];
        Said::from(folder.command(args).output().unwrap()).exit(1).out
    };
    let lines: Vec<String> = said("text").lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("1  1 fixable  warning  nginx/bare-proxy-pass    `proxy_pass`"), "{lines:?}");
    let document: serde_json::Value = serde_json::from_str(&said("json")).unwrap();
    assert_eq!(document["rules"][2]["rule"], "nginx/syntax");
    assert_eq!((&document["rules"][1]["count"], &document["rules"][1]["fixable"]), (&1.into(), &0.into()));
}
