//! Writing files in a process of its own: killed at random moments, on full and read-only disks,
//! without permission. The child is this very test program, which runs one of its ignored tests.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic, and says what it skips")]
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use proxylint::files::write::{Rewrite, write_all};

const FOLDER: &str = "PROXYLINT_TEST_FOLDER";
const FILES: [&str; 3] = ["nginx.conf", "conf.d/a.conf", "conf.d/b.conf"];
const OLD: u8 = b'o';
const NEW: u8 = b'n';

fn text(byte: u8) -> Vec<u8> {
    vec![byte; 4000]
}

fn rewrites(folder: &Path, old: u8, new: u8) -> Vec<Rewrite> {
    let rewrite = |name: &&str| Rewrite { path: folder.join(name), old: text(old).into(), new: text(new).into() };
    FILES.iter().map(rewrite).collect()
}

fn tree() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    fs::create_dir(path.join("conf.d")).unwrap();
    FILES.iter().for_each(|name| fs::write(path.join(name), text(OLD)).unwrap());
    (folder, path)
}

/// Asserts that there are exactly the three files, all old or all new. Says which.
fn state(folder: &Path) -> u8 {
    let entries = walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap);
    let names: Vec<_> = entries.filter(|e| !e.file_type().is_dir()).map(|e| e.path().to_owned()).collect();
    assert_eq!(names.len(), FILES.len(), "{names:?}");
    let texts = FILES.map(|name| fs::read(folder.join(name)).unwrap());
    let first = texts[0][0];
    assert!(texts.iter().all(|bytes| *bytes == text(first)), "some old, some new: {:?}", texts.map(|t| t[0] as char));
    first
}

fn child(test: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", test]).env(FOLDER, folder).env("RUST_BACKTRACE", "0");
    command
}

fn folder_of_child() -> PathBuf {
    std::env::var_os(FOLDER).expect("run by the tests above only").into()
}

#[test]
#[ignore = "a child process of the other tests"]
fn child_writes_to_and_fro() {
    let folder = folder_of_child();
    println!("ready");
    loop {
        for (old, new) in [(OLD, NEW), (NEW, OLD)] {
            write_all(&rewrites(&folder, old, new), None).unwrap();
        }
    }
}

#[test]
#[ignore = "a child process of the other tests"]
fn child_writes_once() {
    match write_all(&rewrites(&folder_of_child(), OLD, NEW), None) {
        Ok(()) => println!("=written"),
        Err(error) => println!("={error}"),
    }
}

#[test]
fn a_signal_at_any_moment_leaves_all_files_old_or_all_new() {
    let (_keep, folder) = tree();
    let mut seed = 88_172_645_463_325_252_u64;
    let mut seen = [0, 0];
    for round in 0..40 {
        FILES.iter().for_each(|name| fs::write(folder.join(name), text(OLD)).unwrap());
        let mut child =
            child("child_writes_to_and_fro", &folder).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("ready") {
            line.clear();
            assert_ne!(std::io::BufRead::read_line(&mut out, &mut line).unwrap(), 0, "the child ended");
        }
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        std::thread::sleep(Duration::from_micros(seed % 30_000));
        let signal = ["-INT", "-TERM", "-HUP"][round % 3];
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let status = child.wait().unwrap();
        assert!(!status.success(), "{signal} did not end it: {status}");
        seen[usize::from(state(&folder) == NEW)] += 1;
    }
    assert!(seen[0] > 0 && seen[1] > 0, "killed in different states: {seen:?}");
}

/// Runs the child by `sh -c SCRIPT` in a mount namespace of its own, where `$1` is the folder of the
/// tree and `"$@"` from `$2` on is the child. `None` where the machine has no such namespaces.
fn in_namespace(script: &str, folder: &Path) -> Option<String> {
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let flags = if root { "-m" } else { "-rm" };
    if !Command::new("unshare").args([flags, "true"]).stderr(Stdio::null()).status().is_ok_and(|s| s.success()) {
        eprintln!("skipped: `unshare {flags}` is not allowed here");
        return None;
    }
    let child = child("child_writes_once", folder);
    let mut command = Command::new("unshare");
    command.args([flags, "sh", "-ec", script, "sh"]).arg(folder).arg(child.get_program()).args(child.get_args());
    let output = command.env(FOLDER, folder).output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{out}{}", String::from_utf8_lossy(&output.stderr));
    Some(out.lines().find_map(|line| line.split_once('=')).unwrap_or_else(|| panic!("{out}")).1.to_owned())
}

#[test]
fn a_full_disk_changes_nothing() {
    let (_keep, folder) = tree();
    // Room for five pages: the three files and two of the new texts.
    let script = r#"
        d=$1; shift; copy=$(mktemp -d); cp -r $d/. $copy
        mount -t tmpfs -o size=20k none $d; cp -r $copy/. $d
        "$@"
        diff -r $copy $d; rm -r $copy"#;
    let Some(text) = in_namespace(script, &folder) else { return };
    assert!(text.contains("` cannot be written: no space left on device; no file was changed"), "{text}");
    assert_eq!(state(&folder), OLD);
}

#[test]
fn a_read_only_file_system_changes_nothing() {
    let (_keep, folder) = tree();
    let script = r#"mount --bind $1 $1; mount -o remount,bind,ro $1; shift; exec "$@""#;
    let Some(text) = in_namespace(script, &folder) else { return };
    assert!(text.contains("nginx.conf` cannot be written: read-only file system; no file was changed"), "{text}");
    assert_eq!(state(&folder), OLD);
}

#[test]
fn a_file_that_is_mounted_by_itself_puts_the_others_back() {
    let (_keep, folder) = tree();
    let script = r#"mount --bind $1/conf.d/a.conf $1/conf.d/a.conf; shift; exec "$@""#;
    let Some(text) = in_namespace(script, &folder) else { return };
    assert!(text.contains("a.conf` cannot be written: it is a mount point of its own"), "{text}");
    assert!(text.ends_with("; no file was changed"), "{text}");
    assert_eq!(state(&folder), OLD);
}

#[test]
fn without_permission_nothing_changes() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        eprintln!("skipped: needs root to become nobody (see the unit tests for other users)");
        return;
    }
    let (keep, folder) = tree();
    let open = |path: &Path| Command::new("chmod").args(["-R", "a+rX"]).arg(path).status().unwrap();
    open(keep.path());
    let nobody = |folder: &Path| {
        let child = child("child_writes_once", folder);
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(child.get_program())
            .args(child.get_args());
        let output = command.env(FOLDER, folder).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let text = nobody(&folder);
    if text.contains("xec") {
        eprintln!("skipped: nobody may not run this program: {text}");
        return;
    }
    assert!(text.contains("nginx.conf` cannot be written: permission denied; no file was changed"), "{text}");
    // May write the file and its folder, yet not give the file away again.
    Command::new("chmod").args(["-R", "a+rwX"]).arg(&folder).status().unwrap();
    let text = nobody(&folder);
    assert!(
        text.contains("its owner (user 0, group 0) cannot be kept, run as that user; no file was changed"),
        "{text}"
    );
    assert_eq!(state(&folder), OLD);
}
