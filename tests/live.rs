//! Real servers on loopback: the measured forms of connection reuse, and configurations before and after a patch.
//!
//! Each test runs a script of `tests/live/`, which says on its own what it found. The servers come from
//! `tests/servers`. Where they are missing a test says so on the terminal and passes, but with `CI=true` it fails.

#![allow(missing_docs)]

use std::env;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// The status with which a script says that it could not run (`EX_UNAVAILABLE` of sysexits.h).
const UNAVAILABLE: i32 = 69;

/// The status with which a script says that what it would look at is not here, which is fine.
const SKIPPED: i32 = 77;

fn live(script: &str, arguments: &[&str]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live").join(script);
    let output = Command::new("python3")
        .arg(path)
        .args(arguments)
        .env("PROXYLINT", env!("CARGO_BIN_EXE_proxylint"))
        .output()
        .expect("python3 is needed for the live tests");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let title = format!("{script} {}", arguments.join(" "));
    let in_ci = env::var("CI").as_deref() == Ok("true");
    if let Some(UNAVAILABLE | SKIPPED) = output.status.code() {
        let fine = output.status.code() == Some(SKIPPED) || !in_ci;
        assert!(fine, "{title} could not run:\n{said}");
        // Written past the test runner, which hides what a passing test prints.
        writeln!(std::io::stderr(), "\n{title}: {}", said.trim()).expect("stderr can be written to");
        return;
    }
    assert!(output.status.success(), "{title} failed:\n{said}");
}

#[test]
fn rows_of_the_lab_hold_on_nginx_1_22_1() {
    live("rows.py", &["1.22.1"]);
}

#[test]
fn rows_of_the_lab_hold_on_nginx_1_28_3() {
    live("rows.py", &["1.28.3"]);
}

#[test]
fn rows_of_the_lab_hold_on_nginx_1_31_3() {
    live("rows.py", &["1.31.3"]);
}

#[test]
fn port_cliff_on_nginx_1_22_1() {
    live("port_cliff.py", &["1.22.1"]);
}

#[test]
fn port_cliff_on_nginx_1_28_3() {
    live("port_cliff.py", &["1.28.3"]);
}

#[test]
fn port_cliff_on_nginx_1_31_3() {
    live("port_cliff.py", &["1.31.3"]);
}

/// One test for each folder of `tests/live/shapes`, and one that none of them is forgotten.
macro_rules! shapes {
    ($($name:ident)*) => {
        mod shape {
            $(
                #[test]
                fn $name() {
                    super::live("shapes.py", &[&stringify!($name).replace('_', "-")]);
                }
            )*
        }

        const SHAPES: &[&str] = &[$(stringify!($name)),*];
    };
}

shapes! {
    auth_request bare_address cache cache_key caddy_bare caddy_https caddy_lost caddy_snippet caddy_transport
    complete fastcgi grpc headers_http headers_server https if_block if_only memcached nested port redirect regex
    snippets socket two_servers upstreams variables websocket
}

/// A sample; the script without `--every` takes all of them, in a few minutes.
#[test]
fn nginx_accepts_public_configurations_after_the_fix() {
    live("../corpus_fix.py", &["--every", "8"]);
}

#[test]
fn every_shape_has_its_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/shapes");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder of shapes is there")
        .map(|entry| entry.expect("its entries can be read"))
        .filter(|entry| entry.path().join("shape.toml").exists())
        .map(|entry| entry.file_name().to_string_lossy().replace('-', "_"))
        .collect();
    found.sort();
    assert_eq!(found, SHAPES);
}
