//! Writing with steps that fail, and on the disk.

use std::cell::Cell;
use std::fs;

use super::*;

/// The disk, whose step number `fails_at` and, if it `stays_broken`, all later ones fail.
struct Faulty {
    fails_at: usize,
    stays_broken: bool,
    steps: Cell<usize>,
}

impl Faulty {
    fn step(&self) -> io::Result<()> {
        let step = self.steps.replace(self.steps.get() + 1);
        let fails = if self.stays_broken { step >= self.fails_at } else { step == self.fails_at };
        if fails { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(()) }
    }
}

impl Store for Faulty {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.step()?;
        Disk.read(path)
    }

    fn check(&self, path: &Path) -> Result<(), String> {
        self.step().map_err(|e| e.to_string())?;
        Disk.check(path)
    }

    fn stage(&self, path: &Path, bytes: &[u8]) -> io::Result<TempPath> {
        let half = Disk.stage(path, &bytes[..bytes.len() / 2])?;
        self.step()?;
        drop(half);
        Disk.stage(path, bytes)
    }

    fn keep(&self, path: &Path, name: Option<&Path>) -> io::Result<TempPath> {
        self.step()?;
        Disk.keep(path, name)
    }

    fn replace(&self, new: TempPath, path: &Path) -> Result<(), (io::Error, TempPath)> {
        match self.step() {
            Ok(()) => Disk.replace(new, path),
            Err(error) => Err((error, new)),
        }
    }

    fn sync(&self, folder: &Path) {
        Disk.sync(folder);
    }
}

/// Three files with their old text, in two folders.
struct Tree {
    folder: tempfile::TempDir,
    files: Vec<Rewrite>,
}

fn tree() -> Tree {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("conf.d")).unwrap();
    let rewrite = |name: &str| {
        let (old, new) = (format!("old {name}\n"), format!("new {name}\n"));
        fs::write(root.join(name), &old).unwrap();
        Rewrite { path: root.join(name), old: old.into_bytes().into(), new: new.into_bytes().into() }
    };
    let files = ["nginx.conf", "conf.d/a.conf", "conf.d/b.conf"].map(rewrite).to_vec();
    Tree { folder, files }
}

impl Tree {
    /// Every file below it, sorted, with its content.
    fn content(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = walkdir::WalkDir::new(self.folder.path().canonicalize().unwrap()).sort_by_file_name();
        let files = entries.into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
        files.map(|entry| (entry.path().to_owned(), fs::read(entry.path()).unwrap())).collect()
    }

    fn expected(&self, text: impl Fn(&Rewrite) -> Arc<[u8]>) -> Vec<(PathBuf, Vec<u8>)> {
        let mut all: Vec<_> = self.files.iter().map(|file| (file.path.clone(), text(file).to_vec())).collect();
        all.sort();
        all
    }

    fn is_old(&self) -> bool {
        self.content() == self.expected(|file| file.old.clone())
    }

    fn is_new(&self) -> bool {
        self.content() == self.expected(|file| file.new.clone())
    }

    fn fail(&self) -> String {
        write_all(&self.files, None).unwrap_err().to_string()
    }
}

#[test]
fn all_files_are_written_and_nothing_else_is_left() {
    let tree = tree();
    assert!(tree.is_old());
    write_all(&tree.files, None).unwrap();
    assert!(tree.is_new(), "{:?}", tree.content());
}

#[test]
fn whichever_step_fails_the_files_are_all_old_or_all_new() {
    for backup in [None, Some(OsStr::new(".orig"))] {
        let mut failures = 0;
        for fails_at in 0.. {
            let tree = tree();
            let store = Faulty { fails_at, stays_broken: false, steps: Cell::new(0) };
            match write_with(&store, &tree.files, backup, &|| false) {
                Err(error) => {
                    failures += 1;
                    assert!(tree.is_old(), "step {fails_at}: {:?}", tree.content());
                    let text = error.to_string();
                    assert!(text.ends_with("; no file was changed") && text.contains("no storage space"), "{text}");
                }
                Ok(()) if backup.is_none() => {
                    assert!(tree.is_new());
                    break;
                }
                Ok(()) => {
                    assert_eq!(tree.content().len(), 6);
                    break;
                }
            }
        }
        assert!(failures >= 3 * 6, "every step of every file was reached: {failures}");
    }
}

#[test]
fn where_nothing_works_any_more_the_old_texts_are_kept_and_named() {
    let mut stranded = 0;
    for fails_at in 0.. {
        let tree = tree();
        let store = Faulty { fails_at, stays_broken: true, steps: Cell::new(0) };
        let Err(error) = write_with(&store, &tree.files, None, &|| false) else { break };
        for (path, kept) in &error.aftermath.stranded {
            stranded += 1;
            let file = tree.files.iter().find(|file| file.path == *path).unwrap();
            assert_eq!(fs::read(path).unwrap(), *file.new);
            assert_eq!(fs::read(kept).unwrap(), *file.old);
            assert!(error.to_string().contains(&kept.display().to_string()), "{error}");
        }
        assert_eq!(tree.content().len(), 3 + error.aftermath.stranded.len());
    }
    assert!(stranded >= 3);
}

#[test]
fn an_interruption_leaves_the_old_files() {
    for moment in 0.. {
        let tree = tree();
        let asked = Cell::new(0);
        let interrupted = || asked.replace(asked.get() + 1) >= moment;
        match write_with(&Disk, &tree.files, None, &interrupted) {
            Err(error) => {
                assert_eq!(error.to_string(), "interrupted; no file was changed");
                assert!(tree.is_old());
            }
            Ok(()) => {
                assert!(moment >= 6 && tree.is_new());
                break;
            }
        }
    }
}

#[test]
fn a_file_that_changed_is_not_overwritten() {
    let tree = tree();
    fs::write(&tree.files[1].path, "edited meanwhile\n").unwrap();
    let before = tree.content();
    let text = tree.fail();
    assert!(
        text.ends_with(
            "conf.d/a.conf` cannot be written: it changed after it was read, run again; no file was changed"
        ),
        "{text}"
    );
    assert_eq!(tree.content(), before);
}

#[test]
fn a_file_that_vanished_is_not_made_again() {
    let tree = tree();
    fs::remove_file(&tree.files[2].path).unwrap();
    assert!(tree.fail().contains("no such file"), "{}", tree.fail());
    assert_eq!(tree.content().len(), 2);
}

#[test]
fn backups_stand_beside_the_files_and_are_never_overwritten() {
    let tree = tree();
    write_all(&tree.files, Some(OsStr::new("~"))).unwrap();
    let content = tree.content();
    for file in &tree.files {
        assert!(content.contains(&(file.path.clone(), file.new.to_vec())));
        assert!(content.contains(&(with_suffix(&file.path, OsStr::new("~")), file.old.to_vec())));
    }
    let back: Vec<_> =
        tree.files.iter().map(|f| Rewrite { old: f.new.clone(), new: f.old.clone(), ..f.clone() }).collect();
    let text = write_all(&back, Some(OsStr::new("~"))).unwrap_err().to_string();
    assert!(text.contains("its backup `") && text.contains("nginx.conf~` exists already"), "{text}");
    assert_eq!(tree.content(), content);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn is_root() -> bool {
        fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0)
    }

    #[test]
    fn mode_owner_and_attributes_stay() {
        let tree = tree();
        let path = &tree.files[0].path;
        fs::set_permissions(path, fs::Permissions::from_mode(0o640)).unwrap();
        let attribute = xattr::set(path, "user.proxylint", b"kept");
        if is_root() {
            std::os::unix::fs::chown(path, Some(12), Some(34)).unwrap();
        }
        let before = fs::metadata(path).unwrap();
        write_all(&tree.files, None).unwrap();
        let after = fs::metadata(path).unwrap();
        assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
        assert_ne!(after.ino(), before.ino(), "replaced, not written over");
        match attribute {
            Ok(()) => assert_eq!(xattr::get(path, "user.proxylint").unwrap().as_deref(), Some(&b"kept"[..])),
            Err(error) => eprintln!("skipped: this file system has no user attributes ({error})"),
        }
    }

    #[test]
    fn a_hard_linked_file_is_refused() {
        let tree = tree();
        fs::hard_link(&tree.files[0].path, tree.folder.path().join("other")).unwrap();
        assert!(tree.fail().contains("other hard links"), "{}", tree.fail());
    }

    #[test]
    fn what_became_a_link_is_refused() {
        let tree = tree();
        let path = &tree.files[0].path;
        fs::rename(path, path.with_extension("real")).unwrap();
        symlink(path.with_extension("real"), path).unwrap();
        assert!(tree.fail().contains("it is not a regular file"), "{}", tree.fail());
    }

    #[test]
    fn read_only_files_and_folders_are_left_alone() {
        if is_root() {
            eprintln!("skipped: root may write everywhere");
            return;
        }
        let tree = tree();
        let path = &tree.files[1].path;
        let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        mode(path, 0o444);
        assert!(
            tree.fail().contains("a.conf` cannot be written: permission denied; no file was changed"),
            "{}",
            tree.fail()
        );
        mode(path, 0o644);
        mode(path.parent().unwrap(), 0o555);
        let text = tree.fail();
        mode(path.parent().unwrap(), 0o755);
        assert!(text.contains("a.conf` cannot be written: permission denied"), "{text}");
        assert!(tree.is_old());
    }
}
