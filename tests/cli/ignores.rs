//! Comments that ignore findings, and `--add-ignores`.

use super::run::{Folder, Said};

const OLD: &str = "\
events {}
http {
    upstream idle { server 127.0.0.1:1; }
    server {
        listen 80;
        location / { proxy_pass http://127.0.0.1:8080; }
        location /b {
            proxy_pass http://127.0.0.1:8081;
        }
    }
}
";

fn said(folder: &Folder, args: &[&str]) -> Said {
    let mut command = folder.command(["check", "--format", "concise", "--nginx", "1.24"]);
    command.args(args).output().unwrap().into()
}

#[test]
fn what_is_found_today_is_ignored_tomorrow() {
    let folder = Folder::new(&[("nginx.conf", OLD)]);
    let found = said(&folder, &["nginx.conf"]).exit(1).out.lines().count();
    assert!(found >= 3, "{found}");
    let patch = Said::from(
        folder
            .command(["check", "--nginx", "1.24", "--add-ignores", "before proxylint", "--diff", "nginx.conf"])
            .output()
            .unwrap(),
    )
    .exit(0);
    let patch = patch.out;
    assert_eq!(folder.read("nginx.conf"), OLD, "--diff writes nothing");
    said(&folder, &["--add-ignores", "before proxylint", "nginx.conf"])
        .exit(0)
        .errs(&format!("ignored {found} findings by comments in 1 file"));
    let text = folder.read("nginx.conf");
    let comment = "    # proxylint: ignore[nginx/unused-definition] before proxylint\n    upstream idle {";
    assert!(text.contains(comment), "{text}");
    for line in text.lines().filter(|line| line.contains("# proxylint:")) {
        assert!(patch.contains(&format!("+{line}")), "{line}\n{patch}");
    }
    said(&folder, &["nginx.conf"]).exit(0).errs(&format!("not shown: {found} findings that comments ignore"));
    let kept: String =
        text.lines().filter(|line| !line.contains("# proxylint:")).map(|l| l.to_owned() + "\n").collect();
    assert_eq!(kept, OLD, "nothing but comments was added");
}

#[test]
fn comments_follow_line_ends_and_the_byte_order_mark() {
    let text = "\u{feff}a.example {\r\n\treverse_proxy :8080 {\r\n\t\ttransport http {\r\n\t\t\tkeepalive off\r\n\t\t}\r\n\t}\r\n}\r\n";
    let folder = Folder::new(&[("Caddyfile", text)]);
    said(&folder, &["--select", "caddy/keepalive-off", "--add-ignores", "old", "Caddyfile"]).exit(0);
    let comment = "\t\t\t# proxylint: ignore[caddy/keepalive-off] old\r\n\t\t\tkeepalive off\r\n";
    assert_eq!(folder.read("Caddyfile"), text.replace("\t\t\tkeepalive off\r\n", comment));
    let one_line = "\u{feff}:80 {\r\n\trespond ok\r\n}\r\n:80 {\r\n}\r\n";
    folder.write("Caddyfile", one_line);
    said(&folder, &["--add-ignores", "old", "Caddyfile"]);
    assert!(folder.read("Caddyfile").starts_with("\u{feff}"), "{:?}", folder.read("Caddyfile"));
}

#[test]
fn directives_that_share_a_line_share_a_comment_behind_it() {
    let text = "events {}\nhttp {\n    server {\n        listen 80; location / { proxy_pass http://127.0.0.1:8080; }\n    }\n}\n";
    let folder = Folder::new(&[("nginx.conf", text)]);
    said(&folder, &["--select", "nginx/bare-proxy-pass", "--add-ignores", "why not", "nginx.conf"]).exit(0);
    let line = "        listen 80; location / { proxy_pass http://127.0.0.1:8080; } # proxylint: ignore[nginx/bare-proxy-pass] why not";
    assert!(folder.read("nginx.conf").contains(line), "{}", folder.read("nginx.conf"));
    said(&folder, &["--select", "nginx/bare-proxy-pass,proxylint", "nginx.conf"]).exit(0);
}

#[test]
fn a_caddyfile_is_treated_alike() {
    let text =
        "example.org {\n\treverse_proxy localhost:8080 {\n\t\ttransport http {\n\t\t\tkeepalive off\n\t\t}\n\t}\n}\n";
    let folder = Folder::new(&[("Caddyfile", text)]);
    said(&folder, &["--select", "caddy/keepalive-off", "--add-ignores", "the backend counts", "Caddyfile"]).exit(0);
    let added = folder.read("Caddyfile");
    assert!(added.contains("# proxylint: ignore[caddy/keepalive-off] the backend counts\n"), "{added}");
    said(&folder, &["Caddyfile"]).exit(0);
}

#[test]
fn a_reason_is_one_line() {
    let folder = Folder::new(&[("nginx.conf", OLD)]);
    for reason in ["", "  ", "a\nb"] {
        said(&folder, &["--add-ignores", reason, "nginx.conf"]).exit(2).errs("`--add-ignores` needs a reason");
    }
    assert_eq!(folder.read("nginx.conf"), OLD);
}

#[test]
fn what_cannot_be_ignored_is_named() {
    let folder = Folder::new(&[("nginx.conf", "events {}\nhttp {\n    server { listen 80; }\n")]);
    said(&folder, &["--add-ignores", "old", "nginx.conf"]).exit(1).errs("not ignored: nginx.conf:");
}

#[test]
fn a_comment_is_unused_only_if_no_configuration_needs_it() {
    let snippet =
        "# proxylint: ignore[nginx/unused-definition] for the other one\nupstream x { server 127.0.0.1:1; }\n";
    let main = "events {}\nhttp {\n    include snippet.conf;\n    server { listen 80; }\n}\n";
    let uses =
        main.replace("listen 80;", "listen 80; location / { proxy_pass http://x; proxy_set_header Connection \"\"; }");
    let folder = Folder::new(&[("snippet.conf", snippet), ("a.conf", main), ("b.conf", &uses)]);
    said(&folder, &["--select", "nginx/unused-definition,proxylint", "a.conf", "b.conf"]).exit(0);
    said(&folder, &["--select", "nginx/unused-definition,proxylint", "b.conf"]).exit(1).says("proxylint/unused-ignore");
}

#[test]
fn many_comments_take_no_longer_than_they_are_many() {
    let server = |i: usize| {
        format!(
            "    # proxylint: ignore[nginx/bare-proxy-pass] old\n    server {{ server_name a{i}; location / {{ proxy_pass http://127.0.0.1:{i}; }} }}\n"
        )
    };
    let text = format!("events {{}}\nhttp {{\n{}}}\n", (1..10_000).map(server).collect::<String>());
    let folder = Folder::new(&[("nginx.conf", &text)]);
    let start = std::time::Instant::now();
    said(&folder, &["--select", "nginx/bare-proxy-pass,proxylint", "nginx.conf"])
        .exit(0)
        .errs("9999 findings that comments ignore");
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn a_snippet_that_nobody_imports_is_not_judged() {
    let text =
        "(unused) {\n\t# proxylint: ignore[caddy/keepalive-off] later\n\trespond ok\n}\n:80 {\n\trespond ok\n}\n";
    let folder = Folder::new(&[("Caddyfile", text)]);
    said(&folder, &["Caddyfile"]).exit(0);
}

#[test]
fn a_fix_takes_an_unused_comment_out() {
    let text = "events {}\n# proxylint: ignore[nginx/ssl-on] long gone\nhttp {\n    server { listen 80; }\n}\n";
    let folder = Folder::new(&[("nginx.conf", text)]);
    said(&folder, &["--select", "nginx/ssl-on,proxylint", "--fix", "nginx.conf"]).exit(0);
    assert_eq!(folder.read("nginx.conf"), "events {}\nhttp {\n    server { listen 80; }\n}\n");
}
