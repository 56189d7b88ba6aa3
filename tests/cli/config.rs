//! `proxylint.toml` where it lies.

use super::run::{Folder, Said};

const MAIN: &str = "events {}\nhttp {\n    upstream idle {\n        server 127.0.0.1:1;\n    }\n}\n";

fn check(folder: &Folder, args: &[&str]) -> Said {
    folder.command(["check", "--format", "concise"]).args(args).output().unwrap().into()
}

#[test]
fn each_main_file_has_the_nearest_one() {
    let folder = Folder::new(&[
        ("proxylint.toml", "nginx = \"1.24\"\nrules = { \"nginx/unused-definition\" = \"error\" }\n"),
        ("a/nginx.conf", MAIN),
        ("b/proxylint.toml", "nginx = \"1.28\"\nrules = { all = \"off\" }\n"),
        ("b/nginx.conf", MAIN),
    ]);
    let said = check(&folder, &["."]).exit(1).errs("nginx 1.24.0, 1.28.0 - 1.28.3");
    assert!(said.out.contains("a/nginx.conf:3:") && !said.out.contains("b/nginx.conf"), "{}", said.out);
    check(&folder, &["--nginx", "1.26", "."]).exit(1).errs("nginx 1.26.0 - 1.26.3:");
    check(&folder, &["--no-config", "."]).exit(0).errs("(assumed");
    check(&folder, &["--config", "b/proxylint.toml", "."]).exit(0).errs("nginx 1.28.0 - 1.28.3:");
}

#[cfg(unix)]
#[test]
fn one_that_cannot_be_read_is_not_passed_over() {
    let folder = Folder::new(&[("nginx.conf", MAIN)]);
    std::os::unix::fs::symlink("nowhere", folder.join("proxylint.toml")).unwrap();
    check(&folder, &["nginx.conf"]).exit(2).errs("proxylint.toml: cannot be read: there is no such file");
    std::fs::remove_file(folder.join("proxylint.toml")).unwrap();
    std::fs::create_dir(folder.join("proxylint.toml")).unwrap();
    check(&folder, &["nginx.conf"]).exit(2).errs("this is a folder");
    std::fs::remove_dir(folder.join("proxylint.toml")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.join("proxylint.toml")).status().unwrap();
    assert!(made.success());
    check(&folder, &["nginx.conf"]).exit(2).errs("not a regular file");
}
