//! The patches that `--diff` prints, applied by the real `git apply` and `patch`.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic, and says what it skips")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proxylint::fix::diff::{Base, FileDiff, patch};

type File = (&'static str, Vec<u8>, Vec<u8>);

/// Old and new texts that a careless diff gets wrong.
fn cases() -> Vec<(&'static str, Vec<File>)> {
    let long = |mark: &str| {
        (0..60).map(|i| if i % 17 == 3 { format!("{mark} {i}\n") } else { format!("line {i}\n") }).collect::<String>()
    };
    vec![
        ("several hunks", vec![("nginx.conf", long("old").into(), long("new\nand").into())]),
        (
            "several files",
            vec![("a", b"1\n2\n".into(), b"1\n".into()), ("conf.d/b.conf", b"x\n".into(), b"y\nx\n".into())],
        ),
        ("CRLF", vec![("dos.conf", b"a;\r\nb;\r\nc;\r\n".into(), b"a;\r\nnew;\r\nb;\r\nc;\r\n".into())]),
        ("mixed line ends", vec![("m", b"a;\nb;\r\nc;\rd;\n".into(), b"a;\nb;\r\nx\r\nc;\rd;\ne;\n".into())]),
        ("no final newline before", vec![("n", b"a;\nb;".into(), b"a;\nb;\nc;\n".into())]),
        ("no final newline after", vec![("n", b"a;\nb;\n".into(), b"a;\nc;".into())]),
        ("no final newline at all", vec![("n", b"a;\nb;\nc;".into(), b"x;\nb;\nc;".into())]),
        (
            "bytes that are not UTF-8",
            vec![("l1", b"# caf\xe9\na \xff\xfe;\n".into(), b"# caf\xe9\nb \xff\xfd;\n".into())],
        ),
        ("a byte order mark", vec![("bom", b"\xef\xbb\xbfa;\n".into(), b"a;\n".into())]),
        ("a name with spaces", vec![("my site .conf", b"a\n".into(), b"b\n".into())]),
        ("a name with quotes", vec![("o\"ne\\two.conf", b"a\n".into(), b"b\n".into())]),
        ("a name with quotes and spaces", vec![("o \"ne\" two", b"a\n".into(), b"b\n".into())]),
        ("a name with a tab", vec![("a\tb c", b"a\n".into(), b"b\n".into())]),
        ("a name beyond ASCII", vec![("größe é.conf", b"a\n".into(), b"b\n".into())]),
        (
            "lines that look like a patch",
            vec![("p", b"-- a\n++ b\n@@ -1 +1 @@\n\\ x\n".into(), b"-- a\n-- c\n++ b\n@@ -1 +2 @@\n\\ x\n".into())],
        ),
        ("everything goes but one line", vec![("g", b"a\nb\nc\n".into(), b"b\n".into())]),
    ]
}

fn lay_out(folder: &Path, files: &[File]) {
    for (name, old, _) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, old).unwrap();
    }
}

fn apply(command: &mut Command, folder: &Path, patch: &Path) {
    let command = command.current_dir(folder).stdin(fs::File::open(patch).unwrap()).stdout(Stdio::piped());
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}; install git and patch"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {out}{err}\n{}", String::from_utf8_lossy(&fs::read(patch).unwrap()));
}

fn check(what: &str, command: &mut Command, files: &[File]) {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    lay_out(&here, files);
    let paths: Vec<PathBuf> = files.iter().map(|(name, ..)| here.join(name)).collect();
    let diffs: Vec<_> = files.iter().zip(&paths).map(|((_, old, new), path)| FileDiff { path, old, new }).collect();
    let (text, base) = patch(&diffs, &here);
    assert_eq!(base, Base::Here);
    let outside = tempfile::NamedTempFile::new().unwrap();
    fs::write(outside.path(), text).unwrap();
    apply(command, &here, outside.path());
    for (name, _, new) in files {
        let got = fs::read(here.join(name)).unwrap();
        assert_eq!(String::from_utf8_lossy(&got), String::from_utf8_lossy(new), "{what}: {name} by {command:?}");
        assert_eq!(got, *new, "{what}: {name} by {command:?}");
    }
    let count = walkdir::WalkDir::new(&here).into_iter().filter(|e| e.as_ref().unwrap().file_type().is_file()).count();
    assert_eq!(count, files.len(), "{what}: {command:?} left other files");
}

#[test]
fn patch_makes_the_new_bytes() {
    for (what, files) in cases() {
        check(what, Command::new("patch").args(["-p1", "--fuzz=0"]), &files);
    }
}

#[test]
fn git_apply_makes_the_new_bytes() {
    for (what, files) in cases() {
        check(what, Command::new("git").args(["apply", "--whitespace=nowarn"]), &files);
    }
}

/// In a folder below the root of a repository, names count from where the command runs.
#[test]
fn git_apply_works_in_a_folder_of_a_repository() {
    let repository = tempfile::tempdir().unwrap();
    let git =
        |args: &[&str]| assert!(Command::new("git").args(args).current_dir(&repository).status().unwrap().success());
    git(&["init", "-q"]);
    let here = repository.path().canonicalize().unwrap().join("deploy");
    let files: [File; 1] = [("nginx/nginx.conf", b"a\n".into(), b"b\n".into())];
    lay_out(&here, &files);
    let path = here.join(files[0].0);
    let (text, _) = patch(&[FileDiff { path: &path, old: b"a\n", new: b"b\n" }], &here);
    let file = repository.path().join("fix.patch");
    fs::write(&file, text).unwrap();
    apply(Command::new("git").arg("apply"), &here, &file);
    assert_eq!(fs::read(path).unwrap(), b"b\n");
}

/// What lies outside the working directory is patched from the root, as the printed command does.
#[test]
fn a_patch_from_the_root_applies_from_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    lay_out(&root, &[("one/a", b"1\n".into(), vec![]), ("two/b c", b"1\n".into(), vec![])]);
    let paths = [root.join("one/a"), root.join("two/b c")];
    let diffs = paths.each_ref().map(|path| FileDiff { path, old: b"1\n", new: b"2\n" });
    let (text, base) = patch(&diffs, &root.join("one"));
    assert_eq!(base, Base::Root);
    let file = root.join("fix.patch");
    fs::write(&file, text).unwrap();
    apply(Command::new("sh").arg("-c").arg(base.command(file.to_str().unwrap())), &root, &file);
    for path in paths {
        assert_eq!(fs::read(path).unwrap(), b"2\n");
    }
}
