//! Random configurations through all fixes: the text parses, the rounds settle, comments and line ends
//! stay, the guard is silent, a second run has nothing to do, and a real server that accepted the
//! configuration accepts it afterwards.
//!
//! A fixed set of cases; `PROPTEST_CASES=20000 cargo test --test random` takes that many new ones.

#![allow(missing_docs, unreachable_pub, reason = "a test")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic and print")]

mod bench;
#[path = "random/grammar.rs"]
mod grammar;
#[path = "random/mutation.rs"]
mod mutation;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bench::{CADDY, NGINX};
use grammar::Files;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use proxylint::files::Memory;
use proxylint::fix::Safety;
use proxylint::lint::rounds::Outcome;
use proxylint::version::Server;

/// Cases of each test unless `PROPTEST_CASES` says more.
const CASES: u32 = 80;

fn runner() -> TestRunner {
    let more = std::env::var_os("PROPTEST_CASES").is_some();
    let config = Config { failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    TestRunner::new(if more { config } else { Config { cases: CASES, rng_seed: RngSeed::Fixed(4), ..config } })
}

fn memory(files: &Files) -> Memory {
    let mut memory = Memory::new();
    files.iter().for_each(|(name, text)| memory.insert(format!("/etc/app/{name}"), text.clone()));
    memory
}

fn targets(server: Server) -> BoxedStrategy<&'static str> {
    select(if server == Server::Nginx { NGINX.to_vec() } else { CADDY.to_vec() }).boxed()
}

/// What is wrong with the fixes of a configuration, and what becomes of it.
fn wrong(server: Server, files: &Files, target: &str, allow: Safety) -> (Vec<String>, Option<Outcome>) {
    let memory = memory(files);
    let main = PathBuf::from(format!("/etc/app/{}", files[0].0));
    let Some((outcome, mut wrong)) = bench::losses(&main, server, target, &memory, allow) else {
        return (vec!["it cannot be read".to_owned()], None);
    };
    let strays = bench::strays(&main, server, target, &memory).unwrap().0;
    wrong.extend(strays.into_iter().map(|stray| format!("claims to be safe: {stray}")));
    (wrong, Some(outcome))
}

fn shown(files: &Files) -> String {
    files.iter().map(|(name, text)| format!("--- {name}\n{}\n", String::from_utf8_lossy(text))).collect()
}

fn fixed(files: &Files, outcome: &Outcome) -> Files {
    let text = |(name, old): &(String, Vec<u8>)| {
        let path = Path::new("/etc/app").join(name);
        let new = outcome.changed.iter().find(|it| it.path == path).map_or(&old[..], |it| &it.new);
        (name.clone(), new.to_vec())
    };
    files.iter().map(text).collect()
}

/// Runs all fixes on configurations, and hands what they become to `judge`.
fn check(
    what: &str,
    configurations: impl Strategy<Value = (Server, Files)>,
    judge: impl Fn(Server, &Files, &Files, &str) -> Result<(), String>,
) {
    let (cases, changed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let cases_with_target = configurations.prop_flat_map(|(server, files)| {
        (Just(server), Just(files), targets(server), select(vec![Safety::Safe, Safety::Unsafe]))
    });
    let result = runner().run(&cases_with_target, |(server, files, target, allow)| {
        let (wrong, outcome) = wrong(server, &files, target, allow);
        prop_assert!(wrong.is_empty(), "for {target:?}, {allow:?}: {wrong:#?}\n{}", shown(&files));
        let outcome = outcome.unwrap();
        cases.fetch_add(1, Ordering::Relaxed);
        changed.fetch_add(usize::from(!outcome.changed.is_empty()), Ordering::Relaxed);
        let new = fixed(&files, &outcome);
        let judged = judge(server, &files, &new, target);
        prop_assert!(
            judged.is_ok(),
            "for {target:?}, {allow:?}: {}\n{}\nbecomes\n{}",
            judged.unwrap_err(),
            shown(&files),
            shown(&new)
        );
        Ok(())
    });
    println!("{what}: {} cases, {} of them changed", cases.into_inner(), changed.into_inner());
    match result {
        Err(TestError::Fail(reason, _)) => panic!("{}", reason.message()),
        Err(error) => panic!("{error}"),
        Ok(()) => {}
    }
}

/// A real server of these tests; `None` where it is not installed.
fn real(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("PROXYLINT_SERVERS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(".cache/servers"), PathBuf::from);
    let program = root.join(name).join(name.split('-').next().unwrap());
    program.is_file().then_some(program)
}

/// Whether a server accepts a configuration, and what it says.
fn accepts(program: &Path, server: Server, files: &Files) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
    let main = folder.path().join(&files[0].0);
    let mut command = Command::new(program);
    match server {
        Server::Nginx => command.args(["-t", "-e", "stderr", "-p"]).arg(folder.path()).arg("-c").arg(main),
        Server::Caddy => command.args(["adapt", "--adapter", "caddyfile", "--config"]).arg(main),
    };
    let output = command.stdin(Stdio::null()).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The servers that read what was made for a target.
fn judges(server: Server, target: &str) -> &'static [&'static str] {
    match (server, target) {
        (Server::Nginx, "1.22" | "1.24") => &["nginx-1.22.1"],
        (Server::Nginx, "1.28") => &["nginx-1.28.3"],
        (Server::Nginx, "1.31") => &["nginx-1.31.3"],
        (Server::Nginx, _) => &["nginx-1.22.1", "nginx-1.31.3"],
        (Server::Caddy, "2.6") => &["caddy-2.6.2"],
        (Server::Caddy, "2.8") => &["caddy-2.8.4"],
        (Server::Caddy, "2.11") => &["caddy-2.11.7"],
        (Server::Caddy, _) => &["caddy-2.6.2", "caddy-2.11.7"],
    }
}

/// Counts the configurations that a real server accepted before and after.
fn judged_by_servers(accepted: Arc<AtomicUsize>) -> impl Fn(Server, &Files, &Files, &str) -> Result<(), String> {
    move |server, old, new, target| {
        for name in judges(server, target) {
            let Some(program) = real(name).filter(|_| old != new) else { continue };
            if !accepts(&program, server, old).0 {
                continue;
            }
            let (is_accepted, words) = accepts(&program, server, new);
            if !is_accepted {
                return Err(format!("{name} accepted it before and says now: {words}"));
            }
            accepted.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[test]
fn nginx_configurations_from_a_grammar() {
    let accepted = Arc::new(AtomicUsize::new(0));
    let configurations = grammar::nginx().prop_map(|files| (Server::Nginx, files));
    check("nginx", configurations, judged_by_servers(accepted.clone()));
    let accepted = accepted.load(Ordering::Relaxed);
    println!("nginx: {accepted} changed ones were accepted by a real server before and after");
    assert!(accepted > 0 || real("nginx-1.31.3").is_none(), "no configuration is one that nginx accepts");
}

#[test]
fn caddyfiles_from_a_grammar() {
    let accepted = Arc::new(AtomicUsize::new(0));
    let configurations = grammar::caddy().prop_map(|files| (Server::Caddy, files));
    check("Caddy", configurations, judged_by_servers(accepted.clone()));
    let accepted = accepted.load(Ordering::Relaxed);
    println!("Caddy: {accepted} changed ones were accepted by a real server before and after");
    assert!(accepted > 0 || real("caddy-2.11.7").is_none(), "no configuration is one that Caddy accepts");
}

#[test]
fn examples_changed_at_random() {
    check("mutated examples", mutation::mutated(), |_, _, _, _| Ok(()));
}
