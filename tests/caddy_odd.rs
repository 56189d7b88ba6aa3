//! Small Caddyfiles, accepted and refused as Caddy 2.6.2, 2.8.4 and 2.11.7 do.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use proxylint::files::Memory;
use proxylint::model::caddy::accept::accepts;
use proxylint::model::caddy::load::Loader;
use proxylint::model::include::PathMap;
use proxylint::syntax::caddy::Env;
use proxylint::version::{Version, VersionSet};

const VERSIONS: [Version; 3] = [Version::new(2, 6, 2), Version::new(2, 8, 4), Version::new(2, 11, 7)];

#[test]
fn odd_files_get_the_verdicts_of_caddy() {
    let text = include_str!("../fixtures/caddy/odd.txt");
    let cases = text.split("\n=== ").skip(1).map(|case| case.split_once('\n').unwrap());
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (accepted, text) in cases {
        for version in VERSIONS {
            let mut files = Memory::new();
            files.insert("Caddyfile", text.as_bytes());
            let target = VersionSet::exactly(version);
            let model = Loader::new("Caddyfile", Env::new().complete(), PathMap::default(), target).load(&files);
            let ours = accepts(&model.unwrap(), version);
            count += 1;
            if ours.is_ok() != accepted.split(' ').any(|name| name == version.to_string()) {
                wrong.push(format!("{version}: {ours:?}\n{text}"));
            }
        }
    }
    assert!(count > 500 && wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}
