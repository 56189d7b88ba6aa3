//! Documents as their readers take them.

use serde_json::Value;

use crate::run::{Folder, Said};
use crate::{project, report};

fn attributes<'a>(node: roxmltree::Node<'a, 'a>) -> Vec<&'a str> {
    node.attributes().map(|attribute| attribute.name()).collect()
}

#[test]
fn checkstyle_has_files_with_errors() {
    let text = report(&project(), "checkstyle");
    let document = roxmltree::Document::parse(&text).unwrap();
    let root = document.root_element();
    assert!(root.has_tag_name("checkstyle") && root.attribute("version").is_some());
    let files: Vec<_> = root.children().filter(roxmltree::Node::is_element).collect();
    let names: Vec<_> = files.iter().map(|file| file.attribute("name").unwrap()).collect();
    assert_eq!(names, ["deploy/conf.d/shop.conf", "deploy/conf.d/site.conf", "deploy/nginx.conf"]);
    for error in files.iter().flat_map(|file| file.children().filter(roxmltree::Node::is_element)) {
        assert!(error.has_tag_name("error"));
        assert_eq!(attributes(error), ["line", "column", "severity", "message", "source"]);
        assert!(["info", "warning", "error"].contains(&error.attribute("severity").unwrap()));
        assert!(error.attribute("line").unwrap().parse::<u32>().unwrap() >= 1);
    }
}

#[test]
fn junit_counts_its_tests() {
    let text = report(&project(), "junit");
    let document = roxmltree::Document::parse(&text).unwrap();
    let root = document.root_element();
    let elements = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count().to_string();
    assert_eq!(root.attribute("tests"), Some(elements("testcase").as_str()));
    assert_eq!(root.attribute("failures"), Some(elements("failure").as_str()));
    assert_eq!(root.attribute("errors"), Some(elements("error").as_str()));
    for suite in root.children().filter(roxmltree::Node::is_element) {
        assert!(suite.has_tag_name("testsuite"));
        // Jenkins reads no report that has more than its schema knows.
        assert_eq!(attributes(suite), ["name", "file", "tests", "failures", "errors"]);
        for test in suite.children().filter(roxmltree::Node::is_element) {
            assert_eq!(attributes(test), ["classname", "name"]);
        }
        let tests = suite.children().filter(|node| node.has_tag_name("testcase")).count().to_string();
        assert_eq!(suite.attribute("tests"), Some(tests.as_str()));
        let names: std::collections::BTreeSet<_> = suite.children().filter_map(|node| node.attribute("name")).collect();
        assert_eq!(names.len().to_string(), tests, "no two tests of a suite are alike");
    }
}

#[test]
fn junit_names_what_was_not_read_and_what_is_clean() {
    let folder = project();
    folder.write("deploy/nginx.conf", "events {}\nhttp {\n    include /proc/self/mem;\n}\n");
    let args = ["check", "--select", crate::RULES, "--format", "junit", "deploy/nginx.conf"];
    let said = Said::from(folder.command(args).output().unwrap()).exit(2);
    let document = roxmltree::Document::parse(&said.out).unwrap();
    let root = document.root_element();
    assert_eq!(
        (root.attribute("failures"), root.attribute("errors"), root.attribute("tests")),
        (Some("0"), Some("1"), Some("2"))
    );
}

#[test]
fn gitlab_has_what_it_asks_for() {
    let issues: Value = serde_json::from_str(&report(&project(), "gitlab")).unwrap();
    let issues = issues.as_array().unwrap();
    let mut fingerprints = std::collections::BTreeSet::new();
    for issue in issues {
        for key in ["description", "check_name", "fingerprint"] {
            assert!(issue[key].as_str().is_some_and(|text| !text.is_empty()), "{issue}");
        }
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&issue["severity"].as_str().unwrap()));
        assert!(issue["location"]["lines"]["begin"].as_u64().unwrap() >= 1);
        assert!(!issue["location"]["path"].as_str().unwrap().starts_with("./"));
        assert!(fingerprints.insert(issue["fingerprint"].to_string()), "unique");
    }
    assert_eq!(issues.len(), 3);
}

/// A suggestion, taken over as reviewdog describes it: columns count bytes.
fn taken_over(text: &str, suggestion: &Value) -> String {
    let offset = |position: &Value| {
        let (line, column) =
            (position["line"].as_u64().unwrap() as usize, position["column"].as_u64().unwrap() as usize);
        text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>() + column - 1
    };
    let range = &suggestion["range"];
    let (start, end) = (offset(&range["start"]), offset(&range["end"]));
    format!("{}{}{}", &text[..start], suggestion["text"].as_str().unwrap(), &text[end..])
}

#[test]
fn suggestions_of_rdjson_do_what_fix_does() {
    const BROKEN: &str = "server {\n    # ä€\n    location /ü {\n        set $a ü; root /srv/ü\n    }\n}\n";
    for (path, text) in [("deploy/conf.d/shop.conf", crate::SHOP), ("deploy/conf.d/site.conf", BROKEN)] {
        let folder =
            Folder::new(&[("deploy/nginx.conf", "events {}\nhttp {\n    include conf.d/*.conf;\n}\n"), (path, text)]);
        let document: Value = serde_json::from_str(&report(&folder, "rdjson")).unwrap();
        let diagnostic = &document["diagnostics"][0];
        assert!(["ERROR", "WARNING", "INFO"].contains(&diagnostic["severity"].as_str().unwrap()));
        assert!(diagnostic["code"]["url"].as_str().unwrap().starts_with("https://"));
        assert_eq!(diagnostic["location"]["path"], path);
        let mended = taken_over(text, &diagnostic["suggestions"][0]);
        let args = ["check", "--fix", "--nginx", "1.24", "--select", crate::RULES, "deploy"];
        Said::from(folder.command(args).output().unwrap()).exit(0);
        assert_eq!(folder.read(path), mended);
        assert_ne!(mended, text);
    }
}

#[test]
fn rdjson_suggests_nothing_that_is_held_back() {
    let document: Value = serde_json::from_str(&report(&project(), "rdjson")).unwrap();
    let suggested: Vec<(&Value, bool)> = document["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (&it["code"]["value"], it.get("suggestions").is_some()))
        .collect();
    let (bare, broken) = ("nginx/bare-proxy-pass".into(), "nginx/syntax".into());
    assert_eq!(suggested, [(&bare, false), (&broken, true), (&"nginx/include-not-found".into(), false)]);
}
