//! Signals at any moment: the files are all old or all new, and nothing else is left.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::run::Folder;

const NAMES: [&str; 3] = ["conf.d/a.conf", "conf.d/b.conf", "nginx.conf"];
const MAIN: &str = "events {}\nhttp {\n    include conf.d/*.conf;\n    gzip on\n}\n";
const SITE: &str = "server {\n    gzip on\n}\n";

fn tree() -> Folder {
    let folder = Folder::new(&[("nginx.conf", MAIN), ("conf.d/a.conf", SITE), ("conf.d/b.conf", SITE)]);
    std::fs::create_dir(folder.join("tmp")).unwrap();
    folder
}

/// All files below the folder, with their texts.
fn files(folder: &Folder) -> BTreeMap<String, String> {
    let entries = walkdir::WalkDir::new(folder.path()).into_iter().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().is_file());
    let name = |path: &std::path::Path| path.strip_prefix(folder.path()).unwrap().display().to_string();
    files.map(|entry| (name(entry.path()), std::fs::read_to_string(entry.path()).unwrap())).collect()
}

/// What a run makes of the tree.
fn fixed() -> BTreeMap<String, String> {
    let folder = tree();
    folder.check(["--fix", "nginx.conf"]).exit(0);
    files(&folder)
}

/// Runs the program, sends it a signal after a while, and says how it ended.
fn interrupted(folder: &Folder, signal: &str, after: Duration) -> std::process::ExitStatus {
    // What tests here takes its time, so that signals come before, while and after it runs.
    let verify = "--verify=sleep 0.02 && test -f {folder}/{main}";
    let mut command =
        folder.command(["check", "--select", "nginx/syntax", "--nginx", "1.24", "--fix", verify, "nginx.conf"]);
    command.env("TMPDIR", folder.join("tmp")).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(after);
    // It may be gone already.
    let _ = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
    child.wait().unwrap()
}

#[test]
fn files_are_all_old_or_all_new_and_nothing_is_left() {
    let (old, new) = (files(&tree()), fixed());
    assert!(old.keys().eq(NAMES.iter()) && new.keys().eq(NAMES.iter()) && old != new);
    let rounds: u64 = std::env::var("PROXYLINT_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(60);
    let (mut olds, mut news, mut killed) = (0, 0, 0);
    for round in 0..rounds {
        let folder = tree();
        let signal = [("-INT", 2), ("-TERM", 15), ("-HUP", 1)][round as usize % 3];
        let status = interrupted(&folder, signal.0, Duration::from_micros(round * 7919 % 130 * 1000));
        assert!(status.success() || status.signal() == Some(signal.1), "{signal:?}: {status}");
        killed += usize::from(status.signal().is_some());
        let now = files(&folder);
        assert!(now == old || now == new, "{signal:?} in round {round} leaves {now:#?}");
        assert_eq!(std::fs::read_dir(folder.join("tmp")).unwrap().count(), 0, "{signal:?} in round {round}");
        if now == old { olds += 1 } else { news += 1 }
    }
    assert!(olds > 0 && news > 0 && killed > 0, "{olds} old, {news} new, {killed} killed");
}

/// Nothing can be done on SIGKILL; yet no file is ever half written or gone.
#[test]
fn a_killed_program_leaves_no_half_file() {
    let (old, new) = (files(&tree()), fixed());
    for round in 0..30 {
        let folder = tree();
        interrupted(&folder, "-KILL", Duration::from_micros(round * 7919 % 130 * 1000));
        let now = files(&folder);
        for name in NAMES {
            let text = now.get(name).unwrap_or_else(|| panic!("{name} is gone in round {round}"));
            assert!(*text == old[name] || *text == new[name], "{name} in round {round}: {text}");
        }
        // What is left behind is not read by `include conf.d/*.conf`, and a second run mends the rest.
        let others = now.keys().filter(|name| !NAMES.contains(&name.as_str()) && !name.starts_with("tmp/"));
        others.for_each(|name| assert!(name.rsplit('/').next().is_some_and(|it| it.starts_with('.')), "{name}"));
        folder.check(["--fix", "nginx.conf"]).exit(0);
        NAMES.iter().for_each(|name| assert_eq!(folder.read(name), new[*name], "{name} in round {round}"));
    }
}
