//! Small Caddyfiles with the verdict of each version, against ours.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may stop at the first surprise, and say what it skips"
)]

use std::path::Path;

use proxylint::files::Memory;
use proxylint::model::caddy::accept::accepts;
use proxylint::model::caddy::load::Loader;
use proxylint::model::include::PathMap;
use proxylint::syntax::caddy::Env;
use proxylint::version::{Server, Version, VersionSet};
use serde_json::Value;

const PROBES: &str = "../shared/data/caddy/language-probes.json";

fn version(text: &str) -> Version {
    VersionSet::parse(text).unwrap().members(Server::Caddy).next().unwrap()
}

/// Whether a version accepts a text; what it is refused for, if not.
fn verdict(text: &str, version: Version) -> Result<(), Vec<String>> {
    let mut files = Memory::new();
    files.insert("Caddyfile", text.as_bytes());
    let target = VersionSet::exactly(version);
    let mut loader = Loader::new("Caddyfile", Env::new().complete(), PathMap::default(), target);
    accepts(&loader.load(&files).unwrap(), version)
}

fn expected(probe: &Value, version: Version, all: &[Version]) -> bool {
    match &probe["accepted_by"] {
        Value::String(text) => match text.as_str() {
            "all" => true,
            "none" => false,
            range => VersionSet::parse(range).unwrap().contains(version),
        },
        Value::Array(list) => list.iter().any(|text| text.as_str().unwrap() == version.to_string()),
        other => panic!("{other} (of {} versions)", all.len()),
    }
}

#[test]
fn every_probe_gets_the_verdict_of_every_version() {
    if !Path::new(PROBES).exists() {
        eprintln!("skipped: no {PROBES}");
        return;
    }
    let data: Value = serde_json::from_slice(&std::fs::read(PROBES).unwrap()).unwrap();
    let versions: Vec<Version> =
        data["versions"].as_array().unwrap().iter().map(|text| version(text.as_str().unwrap())).collect();
    let probes = data["probes"].as_array().unwrap();
    let mut wrong = Vec::new();
    for probe in probes {
        for &version in &versions {
            let ours = verdict(probe["src"].as_str().unwrap(), version);
            if ours.is_ok() != expected(probe, version, &versions) {
                wrong.push(format!("{} on {version}: {ours:?}\n  {}", probe["label"], probe["src"]));
            }
        }
    }
    assert!(probes.len() > 300 && versions.len() == 10);
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), probes.len() * versions.len(), wrong.join("\n"));
}
