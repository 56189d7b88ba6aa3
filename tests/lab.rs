//! The verdict on connection reuse against `tests/lab/rows.conf`: every form that was measured on running servers.
//! `tests/live/rows.py` holds the same rows against the servers themselves.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::collections::BTreeSet;

use proxylint::checks::nginx::upstream_reuse::verdict::{Cause, Decider, Verdict};
use proxylint::checks::nginx::upstream_reuse::verdicts;
use proxylint::files::Memory;
use proxylint::model::Model;
use proxylint::model::include::{Loader, PathMap, Root};
use proxylint::version::{Version, VersionSet};

const VERSIONS: [(u16, u16, u16); 4] = [(1, 22, 1), (1, 28, 3), (1, 29, 6), (1, 31, 3)];

/// Rows that nginx refuses for a reason that is not a matter of versions: a port behind an upstream's name, a
/// repeated `keepalive`, a parameter that never was. Their verdict is void, and saying so is the work of other rules.
const REFUSED_ON_EVERY_VERSION: [&str; 6] = ["o-dup", "o-single", "r", "r-80", "r-after", "r-host"];

/// nginx Plus and a module of others had this directive long before nginx, so its use rules no version out.
const KNOWN_ELSEWHERE: &str = "sticky";

/// One row: its id, what was measured on each of [`VERSIONS`], and the text of the http block.
struct Row<'a> {
    id: &'a str,
    measured: Vec<&'a str>,
    text: &'a str,
}

fn rows() -> Vec<Row<'static>> {
    let text = include_str!("lab/rows.conf");
    let blocks = text.split("\n## ").skip(1);
    let rows = blocks.map(|block| {
        let (heading, text) = block.split_once('\n').unwrap();
        let mut columns = heading.split(" | ");
        let id = columns.next().unwrap();
        Row { id, measured: columns.take(VERSIONS.len()).collect(), text }
    });
    rows.collect()
}

fn load(row: &Row<'_>) -> Model {
    let mut files = Memory::new();
    files.insert("/nginx.conf", format!("events {{ }}\nhttp {{\n{}}}\n", row.text).as_bytes());
    Loader::new("/nginx.conf", Root::Implied, PathMap::default()).load(&files).unwrap()
}

/// proxylint's word for a row on one version.
fn judged(model: &Model, version: Version) -> &'static str {
    let version_only = VersionSet::exactly(version);
    if model.nginx().accepted_by(model, &version_only).is_empty() {
        return "refused";
    }
    match verdicts(model, version).as_slice() {
        [(_, Verdict::Reused)] => "reused",
        [(_, Verdict::NotReused(_))] => "not-reused",
        [(_, Verdict::Depends(_))] => "depends",
        [(_, Verdict::Unknown)] => "unknown",
        passes => panic!("{} passes in one row", passes.len()),
    }
}

#[test]
fn verdicts_are_those_that_were_measured() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for row in rows() {
        let model = load(&row);
        assert!(model.problems().is_empty(), "{}: {:?}", row.id, model.problems());
        for (index, (major, minor, patch)) in VERSIONS.into_iter().enumerate() {
            if REFUSED_ON_EVERY_VERSION.contains(&row.id) {
                continue;
            }
            if row.id == KNOWN_ELSEWHERE && row.measured[index] == "refused" {
                continue;
            }
            let judged = judged(&model, Version::new(major, minor, patch));
            compared += 1;
            if judged != row.measured[index] {
                wrong
                    .push(format!("{} on {major}.{minor}.{patch}: {judged}, measured {}", row.id, row.measured[index]));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert_eq!(compared, (rows().len() - REFUSED_ON_EVERY_VERSION.len()) * VERSIONS.len() - 2);
}

#[test]
fn the_rows_are_complete() {
    let rows = rows();
    let ids: BTreeSet<&str> = rows.iter().map(|row| row.id).collect();
    assert_eq!(ids.len(), rows.len(), "an id stands twice");
    assert_eq!(rows.len(), 105);
    let refused = rows.iter().filter(|row| row.measured.iter().all(|word| *word == "refused"));
    assert_eq!(refused.map(|row| row.id).collect::<BTreeSet<_>>(), BTreeSet::from(REFUSED_ON_EVERY_VERSION));
}

#[test]
fn who_decides_is_named() {
    for (id, decider) in [("l", Decider::Client), ("k-10x", Decider::Backend)] {
        let rows = rows();
        let row = rows.iter().find(|row| row.id == id).unwrap();
        let verdicts = verdicts(&load(row), Version::new(1, 28, 3));
        assert!(matches!(verdicts[..], [(_, Verdict::Depends(found))] if found == decider), "{id}: {verdicts:?}");
    }
}

#[test]
fn the_narrowest_cause_is_named() {
    let cause = |id: &str| {
        let rows = rows();
        let row = rows.iter().find(|row| row.id == id).unwrap();
        match verdicts(&load(row), Version::new(1, 28, 3))[..] {
            [(_, Verdict::NotReused(cause))] => cause,
            ref other => panic!("{id}: {other:?}"),
        }
    };
    assert_eq!(cause("a"), Cause::Bare);
    assert_eq!(cause("v"), Cause::BareUnix);
    assert_eq!(cause("b"), Cause::PoolMissing);
    assert!(matches!(cause("g-before-ip_hash"), Cause::PoolDiscarded(_)));
    assert!(matches!(cause("w10"), Cause::Version(Some(_))));
    assert!(matches!(cause("h"), Cause::Close(_)));
    assert_eq!(cause("ka1-2srv"), Cause::PoolTooSmall);
    assert_eq!(cause("fastcgi-c"), Cause::KeepConn);
    assert_eq!(cause("scgi-c"), Cause::Protocol);
}
