//! Fixes of Caddyfiles, proved by Caddy: the JSON that `caddy adapt` makes of the fixed file differs
//! from that of the original in the pool alone.
//!
//! The servers come from `tests/servers`. A test without its server says so and passes.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may stop at the first surprise, and say what it skips"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use proxylint::checks::Settings;
use proxylint::files::Disk;
use proxylint::fix::Safety;
use proxylint::session::policy::Policy;
use proxylint::session::{self, Request};
use proxylint::target::{Target, Versions};
use proxylint::version::Server;
use serde_json::Value;

const VERSIONS: [&str; 3] = ["2.6.2", "2.8.4", "2.11.7"];

fn caddy(version: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("PROXYLINT_SERVERS").map_or_else(|| PathBuf::from(".cache/servers"), PathBuf::from);
    let path = folder.join(format!("caddy-{version}/caddy"));
    if !path.exists() {
        eprintln!("skipped: no {}", path.display());
    }
    path.exists().then_some(path)
}

/// What Caddy makes of a file, without its pools; `None` if it refuses it.
fn adapt(caddy: &Path, file: &Path) -> Option<Value> {
    let output = Command::new(caddy)
        .args(["adapt", "--adapter", "caddyfile", "--config"])
        .arg(file)
        .env_clear()
        .output()
        .unwrap();
    let mut json = serde_json::from_slice(&output.stdout).ok().filter(|_| output.status.success())?;
    drop_pools(&mut json);
    Some(json)
}

/// Removes what a fix may change: the pool, and the transport that was written for it alone.
fn drop_pools(json: &mut Value) {
    match json {
        Value::Object(map) => {
            if let Some(Value::Object(transport)) = map.get_mut("transport") {
                transport.remove("keep_alive");
                if transport.len() == 1 && transport["protocol"] == "http" {
                    map.remove("transport");
                }
            }
            map.values_mut().for_each(drop_pools);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_pools),
        _ => {}
    }
}

/// The files of a folder that fixes change, with their new bytes. `Err` where a fix was a bug.
fn fixed(main: &Path, version: Option<&str>, peak: Option<u32>) -> Vec<(PathBuf, Vec<u8>)> {
    let mut target = Target::assumed();
    if let Some(version) = version {
        target.set(Server::Caddy, Versions::parse(Server::Caddy, version).unwrap());
    }
    let settings = Settings { peak_concurrency: peak, ..Settings::default() };
    let request = Request {
        paths: vec![main.to_owned()],
        lang: Some(Server::Caddy),
        policies: Arc::new(Policy { target, settings, ..Policy::default() }),
        fixes: Some(Safety::Unsafe),
        ..Request::default()
    };
    let outcome = session::run(&Disk, &request, None).unwrap();
    outcome.changed.into_iter().map(|change| (change.path, change.new.to_vec())).collect()
}

/// Fixes a copy of a file, and says what is wrong with the result.
fn judge(caddy: &Path, version: &str, main: &Path) -> Result<bool, String> {
    let Some(before) = adapt(caddy, main) else { return Ok(false) };
    for (target, peak) in [(Some(version), Some(100)), (None, None)] {
        let originals: Vec<(PathBuf, Vec<u8>)> = fixed(main, target, peak)
            .into_iter()
            .map(|(path, new)| {
                let old = std::fs::read(&path).unwrap();
                std::fs::write(&path, new).unwrap();
                (path, old)
            })
            .collect();
        let after = adapt(caddy, main);
        let text = std::fs::read_to_string(main).unwrap_or_default();
        for (path, old) in &originals {
            std::fs::write(path, old).unwrap();
        }
        if after.as_ref() != Some(&before) {
            return Err(format!("{} on {version} for {target:?}, peak {peak:?}:\n{text}\n{after:?}", main.display()));
        }
        if originals.is_empty() && !text.contains("proxy") {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Forms of the directive, each with what surrounds it.
const FORMS: &[&str] = &[
    ":80 {\n\treverse_proxy a:1\n}\n",
    ":80\nreverse_proxy a:1",
    ":80 {\n\treverse_proxy a:1 b:2 {\n\t}\n}\n",
    ":80 {\n  handle /x/* {\n    reverse_proxy https://a {\n      header_up X-A b # c\n    }\n  }\n}\n",
    ":80 {\n\treverse_proxy /x/* https://a { # why\n\t\ttransport http\n\t}\n}\n",
    ":80 {\n\treverse_proxy a:1 {\n\t\ttransport http {\n\t\t}\n\t}\n}\n",
    ":80 {\n\treverse_proxy a:1 {\n\t\ttransport http {\n\t\t\tdial_timeout 1s }\n\t}\n}\n",
    ":80 {\n\treverse_proxy a:1 {\n\t\tlb_retries 3 lb_try_duration 5s }\n}\n",
    ":80 {\n\treverse_proxy a:1 {\n\t\ttransport http {\n\t\t\tkeepalive_idle_conns_per_host 4 keepalive 30s\n\t\t}\n\t}\n}\n",
    ":80 {\n\treverse_proxy a:1 {\n\t\ttransport http {\n\t\t\tkeepalive 30s\n\t\t}\n\t}\n}\n",
    ":80 {\r\n\treverse_proxy a:1 {\r\n\t\theader_up A b\r\n\t}\r\n}\r\n",
    ":80 {\n\treverse_proxy \\\n\t\ta:1 \\\n\t\tb:2\n}\n",
    ":80 {\n\treverse_proxy \"a:1\" # two words\n}\n",
    ":80 { reverse_proxy a:1\n}\n",
    "(up) {\n\treverse_proxy {args.0} {\n\t\timport transport\n\t}\n}\n(transport) {\n\ttransport http {\n\t\tkeepalive_idle_conns 8\n\t}\n}\n:80 {\n\timport up a:1\n}\n:81 {\n\timport up b:1\n}\n",
    "(t) {\n\ttransport http {\n\t\tdial_timeout 1s\n\t}\n}\n:80 {\n\treverse_proxy a:1 {\n\t\timport t\n\t}\n\treverse_proxy /h2/* h2c://b:1 {\n\t\timport t\n\t}\n}\n",
    ":80 {\n\tforward_auth a:1 {\n\t\turi /x\n\t}\n\tphp_fastcgi b:9000\n\treverse_proxy h2c://c:1\n}\n",
    ":80 {\n\treverse_proxy a:1 {\n\t\ttransport http {\n\t\t\tkeepalive_idle_conns 16\n\t\t\tkeepalive_idle_conns_per_host -1\n\t\t}\n\t}\n}\n",
    "\u{feff}:80 {\n\troute {\n\t\treverse_proxy a:1\n\t}\n\thandle_errors {\n\t\treverse_proxy b:1\n\t}\n}\n",
];

#[test]
fn forms_differ_in_the_pool_alone() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("Caddyfile");
    let (mut wrong, mut judged) = (Vec::new(), 0);
    for version in VERSIONS {
        let Some(caddy) = caddy(version) else { continue };
        for form in FORMS {
            std::fs::write(&main, form).unwrap();
            match judge(&caddy, version, &main) {
                Ok(true) => judged += 1,
                Ok(false) => wrong.push(format!("{version} refuses {form}")),
                Err(message) => wrong.push(message),
            }
        }
        assert_eq!(judged, FORMS.len(), "{version}: {}", wrong.join("\n"));
        judged = 0;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every public Caddyfile that adapts, or every tenth.
fn corpus(step: usize) {
    let root = Path::new("../shared/corpus");
    let Ok(index) = std::fs::read_to_string(root.join("INDEX.tsv")) else {
        eprintln!("skipped: no corpus");
        return;
    };
    let Some(caddy) = caddy("2.11.7") else { return };
    let adapts = index.lines().filter(|line| line.starts_with("caddy/") && line.split('\t').nth(6) == Some("ok"));
    let (mut wrong, mut judged) = (Vec::new(), 0);
    for path in adapts.step_by(step).map(|line| root.join(line.split('\t').next().unwrap())) {
        // Imports are relative: the file is judged in a copy of its folder.
        let folder = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(path.parent().unwrap()).unwrap().flatten() {
            if entry.file_type().unwrap().is_file() {
                let copy = folder.path().join(entry.file_name());
                std::fs::write(copy, std::fs::read(entry.path()).unwrap()).unwrap();
            }
        }
        match judge(&caddy, "2.11.7", &folder.path().join(path.file_name().unwrap())) {
            Ok(done) => judged += usize::from(done),
            Err(message) => wrong.push(message),
        }
    }
    assert!(wrong.is_empty(), "{} of {judged}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(judged > 0);
}

#[test]
fn some_public_files_differ_in_the_pool_alone() {
    corpus(10);
}

#[test]
#[ignore = "takes a minute: all public Caddyfiles"]
fn all_public_files_differ_in_the_pool_alone() {
    corpus(1);
}
