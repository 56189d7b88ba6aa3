//! The schema of `proxylint.toml`, its reader, and the keys that both are made for.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use proxylint::config::keys::{Key, OVERRIDE, TARGET, TOP};
use proxylint::config::{Choice, Flags, NAME, Store};
use proxylint::files::Memory;

/// What `text`, as the configuration file of `/repo`, is told.
fn told(text: &str) -> Result<(), String> {
    let mut files = Memory::new();
    files.insert(Path::new("/repo").join(NAME), text.as_bytes());
    for (path, text) in [
        ("deploy/nginx/nginx.conf", ""),
        (".env", "A=b\n"),
        ("nginx-V.txt", "nginx version: nginx/1.24.0\nconfigure arguments: --with-http_ssl_module\n"),
        ("caddy-modules.txt", "http.handlers.file_server\n"),
        (
            "lint-rules/acme/credentials-in-log.md",
            include_str!("../fixtures/rules/declared/acme/credentials-in-log.md"),
        ),
    ] {
        files.insert(path, text.as_bytes());
    }
    let store = Store::new(Box::new(files), "/repo".into(), Choice::Nearest, Flags::default()).unwrap();
    store.effective(Path::new("deploy/nginx/nginx.conf")).map(drop).map_err(|error| error.to_string())
}

/// The keys that the reader knows, as it names them to who writes another one.
fn known(head: &str) -> Vec<String> {
    let error = told(&format!("{head}zzzzzzzzzzzzzzzz = 1\n")).unwrap_err();
    let (_, list) = error.split_once("known are ").unwrap_or_else(|| panic!("{error}"));
    let mut names: Vec<String> = list.split(", ").map(|name| name.trim_matches('`').to_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_reader_knows_the_keys_of_the_schema_and_no_others() {
    let tables: [(&str, &[Key]); 3] = [
        ("", TOP),
        ("[[target]]\npaths = [\"a\"]\n", TARGET),
        ("[[override]]\npaths = [\"a\"]\nrules = {}\n", OVERRIDE),
    ];
    for (head, keys) in tables {
        let mut names: Vec<String> = keys.iter().map(|key| key.name.to_owned()).collect();
        names.sort();
        assert_eq!(known(head), names);
    }
}

#[test]
fn every_example_is_accepted() {
    for key in TOP {
        assert_eq!(told(&format!("\"{}\" = {}\n", key.name, key.example)), Ok(()), "{}", key.name);
    }
    for (table, keys) in [("target", TARGET), ("override", OVERRIDE)] {
        let all: String = keys.iter().map(|key| format!("{} = {}\n", key.name, key.example)).collect();
        assert_eq!(told(&format!("[[{table}]]\n{all}")), Ok(()), "{table}");
    }
}

#[test]
fn a_value_of_another_shape_is_refused_by_reader_and_schema() {
    for key in TOP.iter().filter(|key| key.name != "$schema") {
        assert!(told(&format!("{} = 1970-01-01\n", key.name)).is_err(), "{}", key.name);
    }
}
