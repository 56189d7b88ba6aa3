//! Parts of configurations: in the main file that includes them, in a stated block, named by a hook; templates.

use super::run::{Folder, Said};

const MAIN: &str = "events {}\nhttp {\n    proxy_http_version 1.1;\n    proxy_set_header Connection \"\";\n    upstream app { server 127.0.0.1:1; keepalive 8; }\n    include conf.d/*.conf;\n}\n";
const SITE: &str = "server {\n    listen 80;\n    location / {\n        proxy_pass http://app;\n    }\n}\n";

fn check(folder: &Folder, args: &[&str]) -> Said {
    let fixed = ["check", "--nginx", "1.24", "--format", "concise"];
    folder.command(fixed).args(args).output().unwrap().into()
}

#[test]
fn a_named_part_is_judged_in_the_main_file_that_includes_it() {
    let folder =
        Folder::new(&[("nginx.conf", MAIN), ("conf.d/a.conf", SITE), ("conf.d/b.conf", "server { listen 81 }\n")]);
    let said =
        check(&folder, &["conf.d/a.conf"]).exit(0).errs("judged in nginx.conf, which includes it: conf.d/a.conf");
    assert_eq!(said.out, "", "only what concerns the named file is shown");
    check(&folder, &["conf.d/b.conf"]).exit(1).says("conf.d/b.conf:1:10");
    check(&folder, &["conf.d/a.conf", "."]).exit(1).says("conf.d/b.conf");
    check(&folder, &["--hook", "conf.d/a.conf", "."]).exit(1).says("conf.d/b.conf");
    check(&folder, &["conf.d"]).exit(1).says("conf.d/b.conf");
    let alone = Folder::new(&[("conf.d/a.conf", SITE)]);
    check(&alone, &["conf.d/a.conf"]);
}

#[test]
fn a_caddy_part_is_judged_in_the_caddyfile_that_imports_it() {
    let folder = Folder::new(&[
        ("Caddyfile", "(log) {\n\tlog\n}\nimport sites/*.caddyfile\n"),
        ("sites/a.caddyfile", "a.example {\n\timport log\n\trespond ok\n}\n"),
    ]);
    check(&folder, &["sites/a.caddyfile"]).exit(0).errs("judged in Caddyfile");
}

#[test]
fn a_stated_block_is_where_a_part_stands() {
    let text = "proxy_pass http://127.0.0.1:8080;\n";
    let folder = Folder::new(&[("proxy.inc", text)]);
    check(&folder, &["--select", "nginx/wrong-context", "--context", "http", "proxy.inc"])
        .exit(1)
        .says("nginx/wrong-context");
    check(&folder, &["--select", "nginx/wrong-context", "--context", "location", "proxy.inc"]).exit(0);
    folder.write("marked.conf", format!("# proxylint: context[http]\n{text}"));
    check(&folder, &["--select", "nginx/wrong-context", "marked.conf"]).exit(1);
    folder.write("marked.conf", format!("# proxylint: context[locatoin]\n{text}"));
    check(&folder, &["--select", "proxylint", "marked.conf"]).exit(1).says("did you mean `location`?");
    folder.write("nginx.conf", "events {}\nhttp {}\n");
    check(&folder, &["--context", "http", "nginx.conf"]).exit(2).errs("is no part of an nginx configuration");
    folder.write("Caddyfile", ":80 {\n\trespond ok\n}\n");
    check(&folder, &["--context", "http", "Caddyfile"]).exit(2).errs("stands in no block");
    check(&folder, &["--context", "http", "."]).exit(2).errs("stands in no block");
    check(&folder, &["--context", "sevrer", "proxy.inc"]).exit(2).errs("did you mean `server`?");
}

#[test]
fn a_hook_names_any_file() {
    let folder = Folder::new(&[
        ("nginx.conf", MAIN),
        ("conf.d/a.conf", SITE),
        ("conf.d/b.conf", "server { listen 81 }\n"),
        ("redis.conf", "port 6379\nsave 900 1\n"),
        ("site.conf.template", "server { listen $PORT; }\n"),
        ("vendor/x.conf", "server { listen 82 }\n"),
        ("proxylint.toml", "exclude = [\"vendor\"]\n"),
    ]);
    let all = ["--hook", "redis.conf", "site.conf.template", "vendor/x.conf", "conf.d/a.conf", "nginx.conf"];
    let said = check(&folder, &all).exit(0);
    assert_eq!(said.out, "", "b.conf was not named");
    said.errs("1 file excluded by the settings").errs("site.conf.template").errs("1 file of other programs");
    check(&folder, &["--hook", "conf.d/b.conf"]).exit(1).says("conf.d/b.conf:1:");
    check(&folder, &["--hook", "redis.conf"]).exit(0).errs("nothing to check");
    check(&folder, &["vendor/x.conf"]).exit(1);
    check(&folder, &["--force-exclude", "vendor/x.conf"]).exit(0).errs("nothing to check");
    check(&folder, &["--hook", "gone.conf"]).exit(2).errs("`gone.conf` does not exist");
    check(&folder, &["--hook", "--fix", "conf.d/a.conf"]).exit(0);
    assert_eq!(folder.read("conf.d/b.conf"), "server { listen 81 }\n", "nobody named it");
}

#[test]
fn templates_are_checked_as_what_they_become() {
    let folder = Folder::new(&[
        ("templates/a.conf.template", "server {\n    listen ${PORT}\n}\n"),
        ("x.conf.j2", "{% if a %}\n"),
    ]);
    check(&folder, &["templates/a.conf.template"]).exit(2).errs("--render");
    let render = ["--render", "sed 's/${PORT}/80/'"];
    check(&folder, &[&render[..], &["templates/a.conf.template"]].concat())
        .exit(1)
        .says("templates/a.conf.template:2:5: error[nginx/syntax]");
    check(&folder, &[&render[..], &["templates"]].concat()).exit(1).says("templates/a.conf.template:2:5");
    check(&folder, &["--render", "cat {} >&2; false", "templates/a.conf.template"]).exit(2).errs("listen ${PORT}");
    check(&folder, &["--render", "no-such-command-here", "templates/a.conf.template"])
        .exit(2)
        .errs("no-such-command-here");
    check(&folder, &["--render", "true", "--fix", "templates"]).exit(2);
}
