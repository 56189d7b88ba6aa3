//! `--format json`, field by field as `docs/json.md` describes them.

use serde_json::{Value, json};

use crate::run::Folder;

const MAIN: &str = "events {}\nhttp {\n    include conf.d/*.conf;\n}\n";
const SITE: &str = "server {\n    location / {\n        root /srv\n    }\n}\n";

fn document(folder: &Folder, code: i32, args: &[&str]) -> Value {
    let said = folder.check([&["--format", "json"], args].concat()).exit(code);
    serde_json::from_str(&said.out).expect("it is JSON")
}

#[test]
fn a_document_holds_what_is_documented_and_nothing_else() {
    let folder = Folder::new(&[("nginx.conf", MAIN), ("conf.d/site.conf", SITE), ("old.conf", "gzip on;\n")]);
    folder.write("x.conf.j2", "");
    let document = document(&folder, 1, &["."]);
    let fingerprint = document["findings"][0]["fingerprint"].as_str().expect("a text");
    assert!(fingerprint.len() == 16 && fingerprint.bytes().all(|b| b.is_ascii_hexdigit()), "{fingerprint}");
    let at = |line: u32, column: u32, offset: u32| json!({ "line": line, "column": column, "offset": offset });
    let here = json!({ "start": at(3, 9, 34), "end": at(3, 18, 43) });
    let behind = json!({ "start": at(3, 18, 43), "end": at(3, 18, 43) });
    let expected = json!({
        "version": 1,
        "tool": { "name": "proxylint", "version": env!("CARGO_PKG_VERSION") },
        "target": { "nginx": "1.24.0", "stated": true },
        "findings": [{
            "rule": "nginx/syntax", "severity": "error", "category": "correctness",
            "message": "`;` is missing at the end of `root`", "path": "conf.d/site.conf", "range": here,
            "versions": "all", "fingerprint": fingerprint,
            "labels": [{
                "message": "nginx stops here", "path": "conf.d/site.conf",
                "range": { "start": at(4, 5, 48), "end": at(4, 6, 49) },
            }],
            "fixes": [{
                "title": "add the missing `;`", "safety": "safe", "changes": [],
                "edits": [{ "path": "conf.d/site.conf", "range": behind, "text": ";" }],
            }],
            "help": "https://github.com/proxylint/proxylint/blob/main/rules/nginx/syntax.md",
        }],
        "not_read": [{ "path": "x.conf.j2", "reason": "a template: what it becomes is not known" }],
        "not_included": ["old.conf"],
        "summary": { "files": 2, "directives": 6, "errors": 1, "warnings": 0, "infos": 0, "fixable": 1 },
    });
    assert_eq!(document, expected);
}

#[test]
fn paths_are_absolute_outside_the_working_directory() {
    let folder = Folder::new(&[("here/keep", ""), ("there/nginx.conf", "events {}\nhttp { gzip on }\n")]);
    let mut command = folder.command(["check", "--format", "json", "--select", "nginx/syntax", "../there"]);
    let output = command.current_dir(folder.join("here")).output().expect("the program runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let path = document["findings"][0]["path"].as_str().expect("a text");
    assert!(path.starts_with('/') && path.ends_with("/there/nginx.conf") && !path.contains(".."), "{path}");
    assert_eq!(document["target"]["stated"], false);
}

#[test]
fn fingerprints_stay_when_lines_move() {
    let folder = Folder::new(&[("nginx.conf", MAIN), ("conf.d/site.conf", SITE)]);
    let before = document(&folder, 1, &["nginx.conf"]);
    folder.write("conf.d/site.conf", format!("# one more line\n\n{}", SITE.replace("        root", "\troot")));
    let after = document(&folder, 1, &["."]);
    assert_eq!(before["findings"][0]["fingerprint"], after["findings"][0]["fingerprint"]);
    assert_ne!(before["findings"][0]["range"], after["findings"][0]["range"]);
}

#[test]
fn without_findings_it_is_a_whole_document_too() {
    let folder = Folder::new(&[("nginx.conf", "events {}\nhttp {}\n")]);
    let document = document(&folder, 0, &["nginx.conf"]);
    assert_eq!(document["findings"], json!([]));
    assert_eq!(document["summary"]["files"], 1);
}

#[test]
fn after_fixes_it_holds_what_remains() {
    let folder = Folder::new(&[("nginx.conf", "events {}\nhttp {\n    include none.conf;\n    gzip on\n}\n")]);
    let document = document(&folder, 1, &["--fix", "nginx.conf"]);
    let rules: Vec<&Value> = document["findings"].as_array().expect("a list").iter().map(|f| &f["rule"]).collect();
    assert_eq!(rules, ["nginx/include-not-found"]);
    assert!(folder.read("nginx.conf").contains("gzip on;"));
}

#[test]
fn every_field_is_described() {
    fn keys(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.keys().cloned());
                fields.values().for_each(|value| keys(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
            _ => {}
        }
    }
    let folder = Folder::new(&[("nginx.conf", MAIN), ("conf.d/site.conf", SITE)]);
    let mut found = Vec::new();
    keys(&document(&folder, 1, &["."]), &mut found);
    let page = include_str!("../../docs/json.md");
    for key in found {
        assert!(page.contains(&format!("`{key}")) || page.contains(&format!(".{key}`")), "{key}");
    }
}
