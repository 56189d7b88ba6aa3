//! `proxylint init`.

use super::run::{Folder, Said};

fn run(folder: &Folder, args: &[&str]) -> Said {
    folder.command(args).output().unwrap().into()
}

const MAIN: &str =
    "events {}\nhttp {\n    include /etc/nginx/conf.d/*.conf;\n    server {\n        listen 80;\n    }\n}\n";

#[test]
fn what_lies_here_is_stated_from_then_on() {
    let folder = Folder::new(&[
        ("deploy/nginx/nginx.conf", MAIN),
        ("deploy/nginx/conf.d/a.conf", "server {\n    listen 81;\n}\n"),
        ("Dockerfile", "ARG V=1.28\nFROM nginx:${V}-alpine\n"),
        ("compose.yaml", "services:\n  edge:\n    image: caddy:2.8\n"),
        ("Caddyfile", "example.org {\n\trespond ok\n}\n"),
    ]);
    run(&folder, &["init"]).exit(0).errs("wrote proxylint.toml");
    let text = folder.read("proxylint.toml");
    for line in [
        "#   deploy/nginx/nginx.conf (nginx)\n",
        "# Dockerfile:2 names nginx:1.28-alpine\nnginx = \"nginx:1.28-alpine\"\n",
        "caddy = \"caddy:2.8\"\n",
        "\nmap = { \"/etc/nginx\" = \"deploy/nginx\" }\n",
        "\n# fail-on = \"warning\"\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    run(&folder, &["config"]).exit(0).says("nginx = \"nginx:1.28-alpine\"").says("1.28.0 - 1.28.3");
    run(&folder, &["check"]).exit(0).errs("nginx 1.28.0 - 1.28.3").errs("Caddy 2.8.0 - 2.8.4");
    run(&folder, &["init"]).exit(2).errs("`proxylint.toml` is there already");
    let every_line: String = text
        .lines()
        .map(|line| line.strip_prefix("# ").filter(|it| it.contains(" = ")).unwrap_or(line).to_owned() + "\n")
        .collect();
    folder.write("all.toml", every_line.replace("baseline = ", "# baseline = "));
    run(&folder, &["config", "--config", "all.toml"]).exit(0);
}

#[test]
fn images_that_differ_are_for_their_folders() {
    let folder = Folder::new(&[
        ("a/nginx.conf", "events {}\nhttp {}\n"),
        ("a/Dockerfile", "FROM nginx:1.24\n"),
        ("b/nginx.conf", "events {}\nhttp {}\n"),
        ("b/Dockerfile", "FROM debian:12\nRUN apt-get install -y nginx\n"),
        (".github/workflows/ci.yml", "jobs:\n  test:\n    services:\n      web:\n        image: nginx:1.27\n"),
    ]);
    let text = run(&folder, &["init", "--print"]).exit(0).out;
    assert!(text.contains("# nginx = \"nginx:1.27\"\n"), "{text}");
    assert!(text.contains("[[target]]\npaths = [\"a/**\"]\nnginx = \"nginx:1.24\"\n"), "{text}");
    assert!(text.contains("[[target]]\npaths = [\"b/**\"]\nnginx = \"debian:12\"\n"), "{text}");
    assert!(!folder.join("proxylint.toml").exists());
    run(&folder, &["init"]).exit(0);
    run(&folder, &["check", "a", "b"]).errs("nginx 1.22.1, 1.24.0");
}

#[test]
fn an_empty_folder_gets_a_file_that_says_so() {
    let folder = Folder::new(&[]);
    run(&folder, &["init"]).exit(0);
    assert!(folder.read("proxylint.toml").contains("# No main file was found here"));
    run(&folder, &["config"]).exit(0);
    run(&folder, &["init", "nowhere"]).exit(2).errs("there is no folder `nowhere`");
}
