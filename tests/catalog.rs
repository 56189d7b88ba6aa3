//! The catalogue against the tables it was made from, and against public configurations.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

mod corpus;

use proxylint::catalog::nginx::{Area, Context, Directive, Kind, directives, likeness, lookup, variables};
use proxylint::source::FileId;
use proxylint::syntax::nginx::parse;
use proxylint::version::Version;

#[test]
fn fragments_are_recognised_as_what_they_are() {
    let cases = corpus::nginx();
    let mut wrong = Vec::new();
    let mut not_nginx = Vec::new();
    for case in &cases {
        let text = std::fs::read(&case.path).unwrap();
        let tree = parse(FileId(0), &text).tree;
        let found = Context::implied(&tree, &text);
        let expected = case.context.trim_start_matches("fragment:");
        if found.id() != expected {
            wrong.push(format!("{}: {} where {expected} is right", case.name, found.id()));
        }
        if !likeness(&tree, &text, found).is_nginx() {
            not_nginx.push(format!("{}: {:?}", case.name, likeness(&tree, &text, found)));
        }
    }
    let agree = cases.len() - wrong.len();
    println!("{}", wrong.join("\n"));
    println!("implied context: {agree} of {} agree", cases.len());
    println!("{}", not_nginx.join("\n"));
    println!("recognised as nginx: {} of {}", cases.len() - not_nginx.len(), cases.len());
    assert!(agree * 100 >= cases.len() * 95);
    assert!(not_nginx.len() * 100 <= cases.len() * 7);
}

#[test]
fn other_languages_are_not_taken_for_nginx() {
    let texts: [&str; 5] = [
        "bind 127.0.0.1\nport 6379\nsave 900 1\nmaxmemory 100mb\n",
        "<VirtualHost *:80>\n  ServerName a.example\n  DocumentRoot /srv\n</VirtualHost>\n",
        "; pool\n[www]\nuser = www-data\nlisten = /run/php.sock\npm.max_children = 5\n",
        "options { directory \"/var/cache/bind\"; recursion no; };\nzone \"a.example\" { type master; file \"db.a\"; };\n",
        "subnet 10.0.0.0 netmask 255.0.0.0 { range 10.0.0.5 10.0.0.9; option routers 10.0.0.1; }\n",
    ];
    for text in texts {
        let tree = parse(FileId(0), text.as_bytes()).tree;
        let context = Context::implied(&tree, text.as_bytes());
        assert!(!likeness(&tree, text.as_bytes(), context).is_nginx(), "{text}");
    }
}

/// The tables that the catalogue was made from; nothing, with a notice, where they are not there.
fn table(name: &str) -> Vec<serde_json::Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/nginx").join(name);
    let Ok(text) = std::fs::read(&path) else {
        println!("skipped: no {}", path.display());
        return Vec::new();
    };
    serde_json::from_slice(&text).unwrap()
}

fn version(value: &serde_json::Value) -> Option<Version> {
    let numbers: Vec<u16> = value.as_str()?.split('.').map(|n| n.parse().ok()).collect::<Option<_>>()?;
    Some(Version::new(numbers[0], numbers[1], numbers[2]))
}

/// The release before, as far as a number can say.
fn before(v: Version) -> Version {
    if v.patch > 0 { Version::new(v.major, v.minor, v.patch - 1) } else { Version::new(v.major, v.minor - 1, 999) }
}

#[test]
fn directives_are_those_of_the_table() {
    let records = table("directives.json");
    assert!(records.is_empty() || records.len() == directives().len());
    for record in &records {
        let text = |key: &str| record[key].as_str();
        let name = text("name").unwrap();
        let kind = match text("kind") {
            Some("official") => Kind::Official,
            Some("commercial") => Kind::Commercial,
            _ => Kind::ThirdParty,
        };
        let project = text("project").or(text("distribution"));
        let same = |d: &&Directive| {
            d.module.kind == kind && Some(d.module.name) == text("module") && d.module.project == project
        };
        let found = lookup(name.as_bytes()).iter().find(same).unwrap_or_else(|| panic!("{name} is missing"));
        assert_eq!(found.is_block(), record["block"] == true, "{name}");
        assert_eq!(found.default_at(Version::new(99, 0, 0)), text("default"), "{name}");
        if let Some(since) = version(&record["since"]) {
            assert!(found.available(since), "{name} since {since}");
            let backported = record["backported"].is_array();
            assert!(backported || since.minor == 1 || !found.available(before(since)), "{name} before {since}");
        }
        if let Some(removed) = version(&record["removed"]) {
            assert!(found.available(before(removed)) && !found.available(removed), "{name} until {removed}");
        }
        for (param, since) in record["param_since"].as_object().unwrap() {
            let known = found.param(param).unwrap_or_else(|| panic!("{name} {param}"));
            assert!(version(since).is_none_or(|since| known.versions.contains(since)), "{name} {param}");
        }
        assert_eq!(found.contexts_today().count(), record["contexts"].as_array().unwrap().len(), "{name}");
        for count in 0..8 {
            let allowed = match &record["args"] {
                serde_json::Value::Array(counts) => counts.contains(&count.into()),
                serde_json::Value::String(s) if s == "flag" => count == 1,
                serde_json::Value::String(s) => count >= s.chars().next().and_then(|c| c.to_digit(10)).unwrap_or(0),
                other => panic!("{other}"),
            };
            assert_eq!(found.arity.accepts(count as usize), allowed, "{name} with {count}");
        }
    }
}

#[test]
fn variables_are_those_of_the_table() {
    let records = table("variables.json");
    assert!(records.is_empty() || records.len() == variables().len());
    for record in &records {
        let name = record["name"].as_str().unwrap().trim_start_matches('$');
        let area = if record["area"] == "http" { Area::Http } else { Area::Stream };
        let found = variables().iter().find(|v| v.name == name && v.area == area && record["module"] == v.module.name);
        let found = found.unwrap_or_else(|| panic!("${name} is missing"));
        assert_eq!(found.family, record["prefix"] == true, "{name}");
        // Two that the table has wrong are settable: seen on the servers.
        let settable = record["settable"] == true || matches!(name, "invalid_referer" | "uid_reset");
        assert_eq!(found.settable, settable, "{name}");
        assert!(version(&record["since"]).is_none_or(|since| found.versions.contains(since)), "{name}");
    }
}
