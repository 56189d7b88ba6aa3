//! Every fix of every rule over public configurations: what it changes is what it says it changes,
//! and nothing is lost on the way.
//!
//! `PROXYLINT_CORPUS=all cargo test --test fixes -- --nocapture` takes all files for all targets, and
//! prints how many fixes that were; without it a sample is taken.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic and print")]

mod bench;
mod corpus;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use bench::{CADDY, NGINX};
use proxylint::files::Disk;
use proxylint::fix::Safety;
use proxylint::version::Server;
use rayon::prelude::*;

/// Without all files, every such file and target is taken.
const SAMPLE: usize = 7;

/// A file, whose it is, and a target.
struct Run {
    path: PathBuf,
    server: Server,
    target: &'static str,
}

impl Run {
    fn name(&self) -> String {
        let path = self.path.components().rev().take(3).collect::<Vec<_>>();
        let path: PathBuf = path.into_iter().rev().collect();
        format!("{} for {:?}", path.display(), self.target)
    }
}

/// All of `../shared/corpus` and `../shared/cases`, and the examples of this repository, each for
/// every target, or a sample of them.
fn runs() -> Vec<Run> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<(PathBuf, Server)> = Vec::new();
    let templates: Vec<PathBuf> =
        corpus::nginx().into_iter().filter(|case| case.template).map(|case| case.path).collect();
    for folder in ["../shared/corpus/nginx", "../shared/corpus/caddy", "../shared/cases", "fixtures"] {
        for entry in walkdir::WalkDir::new(root.join(folder)).sort_by_file_name().into_iter().filter_map(Result::ok) {
            let path = entry.path();
            let is_caddy = entry.file_name().to_string_lossy().contains("addyfile");
            let is_other = [".expect", ".repo-licence", ".tree", ".tsv", ".md"]
                .iter()
                .any(|end| path.to_string_lossy().ends_with(end));
            if entry.file_type().is_file() && !is_other && !templates.iter().any(|it| it == path) {
                paths.push((path.to_owned(), if is_caddy { Server::Caddy } else { Server::Nginx }));
            }
        }
    }
    let targets = |server| if server == Server::Nginx { &NGINX[..] } else { &CADDY[..] };
    let run = |(path, server): (PathBuf, Server)| {
        targets(server).iter().map(move |&target| Run { path: path.clone(), server, target })
    };
    let all = paths.into_iter().flat_map(run);
    if std::env::var("PROXYLINT_CORPUS").is_ok_and(|it| it == "all") {
        all.collect()
    } else {
        all.step_by(SAMPLE).collect()
    }
}

/// Runs all, and fails with what each says is wrong.
fn each(what: &str, run: impl Fn(&Run) -> Vec<String> + Sync) {
    let runs = runs();
    let wrong: Vec<String> = runs
        .par_iter()
        .flat_map(|it| run(it).into_iter().map(|text| format!("{}: {text}", it.name())).collect::<Vec<_>>())
        .collect();
    assert!(wrong.is_empty(), "{} of {} runs: {what}:\n{}", wrong.len(), runs.len(), wrong.join("\n"));
}

#[test]
fn no_safe_fix_changes_anything_else() {
    let (fixes, safe) = (AtomicUsize::new(0), AtomicUsize::new(0));
    each("a fix claims to be safe and is not", |run| {
        let Some((wrong, all, safe_ones)) = bench::strays(&run.path, run.server, run.target, &Disk) else {
            return Vec::new();
        };
        fixes.fetch_add(all, Ordering::Relaxed);
        safe.fetch_add(safe_ones, Ordering::Relaxed);
        wrong
    });
    println!("{} fixes were offered, {} as safe", fixes.into_inner(), safe.into_inner());
}

#[test]
fn fixing_settles_and_loses_nothing() {
    let [applied, files, most] = [const { AtomicUsize::new(0) }; 3];
    each("a fix loses something", |run| {
        let mut all = Vec::new();
        for allow in [Safety::Safe, Safety::Unsafe] {
            let Some((outcome, wrong)) = bench::losses(&run.path, run.server, run.target, &Disk, allow) else { break };
            applied.fetch_add(outcome.applied.len(), Ordering::Relaxed);
            files.fetch_add(outcome.changed.len(), Ordering::Relaxed);
            most.fetch_max(outcome.rounds as usize, Ordering::Relaxed);
            all.extend(wrong);
        }
        all
    });
    println!(
        "{} fixes were applied in {} files, in {} rounds at most",
        applied.into_inner(),
        files.into_inner(),
        most.into_inner()
    );
}
