//! Fixes that change more than they mean to, as a careless rule would write them.

use super::*;
use crate::files::Memory;
use crate::fix::apply::{Change, Patch};
use crate::model::include::{PathMap, Root};
use crate::model::load::Loader;
use crate::source::{FileId, Span};
use crate::syntax::caddy::Env;

/// A fix: the text its finding is about, and replacements of texts that stand in the files once.
struct Careless<'a> {
    about: &'a str,
    edits: &'a [(&'a str, &'a str)],
}

/// What the guard says of each fix, for all versions.
fn say(files: &[(&str, &str)], fixes: &[Careless<'_>]) -> Vec<Vec<String>> {
    let mut memory = Memory::new();
    files.iter().for_each(|(path, text)| memory.insert(path, text.as_bytes()));
    let server = if files[0].0.ends_with("Caddyfile") { Server::Caddy } else { Server::Nginx };
    let target = VersionSet::since(server.assumed_floor());
    let mut loader = match server {
        Server::Nginx => Loader::nginx(files[0].0, Root::Implied, PathMap::default()),
        Server::Caddy => Loader::caddy(files[0].0, Env::new(), PathMap::default(), target.clone()),
    };
    let before = loader.load(&memory).unwrap();
    let find = |text: &str| {
        let mut found = before.sources().iter().filter_map(|(id, file)| {
            let whole = std::str::from_utf8(file.bytes()).unwrap();
            whole.find(text).map(|at| (id, at..at + text.len()))
        });
        found.next().unwrap_or_else(|| panic!("no {text:?}"))
    };
    let mut patch = Patch::new();
    let mut changes: Vec<Vec<Change>> = Vec::new();
    for fix in fixes {
        let change = |(old, new): &(&str, &str)| {
            let (file, range) = find(old);
            Change { file: file.0 as usize, range, text: new.as_bytes().to_vec() }
        };
        changes.push(fix.edits.iter().map(change).collect());
        patch.add(changes.last().unwrap()).unwrap();
    }
    let mut edits = Vec::new();
    for file in patch.files() {
        let id = FileId(file as u32);
        let source = before.sources().get(id);
        memory.insert(source.path(), patch.apply(file, source.bytes()));
        for (change, new) in patch.placed(file) {
            let authors = (0..fixes.len()).filter(|&author| changes[author].contains(&change)).collect();
            edits.push(Edited { file: id, old: change.range, new, authors });
        }
    }
    let after = loader.load(&memory).unwrap();
    assert!(after.problems().is_empty(), "{:?}", after.problems());
    let author = |fix: &Careless<'_>| {
        let (file, range) = find(fix.about);
        Author { places: vec![Span::new(file, range.start as u32, range.end as u32)] }
    };
    let authors: Vec<Author> = fixes.iter().map(author).collect();
    let found = undeclared(&before, &after, &target, &edits, &authors);
    (0..fixes.len()).map(|author| found.get(&author).map(|list| sentences(list)).unwrap_or_default()).collect()
}

fn one(text: &str, about: &str, edits: &[(&str, &str)]) -> Vec<String> {
    say(&[("/nginx.conf", text)], &[Careless { about, edits }]).remove(0)
}

#[test]
fn a_first_header_line_drops_the_inherited_ones() {
    let text = "http { add_header X-Frame-Options DENY; server { location /a { root /x; } } }";
    let said = one(text, "root /x", &[("root /x;", "root /x; add_header X-New 1;")]);
    assert_eq!(said, ["`X-Frame-Options: DENY` is no longer sent in `location /a`"]);
}

#[test]
fn moving_to_an_upstream_names_what_the_backend_and_the_client_notice() {
    let text = "http { proxy_cache_path /c keys_zone=z:1m; server { server_name a.test; proxy_cache z;
        location / { proxy_pass http://127.0.0.1:8080; } } }";
    let moved =
        [("server {", "upstream app { server 127.0.0.1:8080; keepalive 32; } server {"), ("127.0.0.1:8080", "app")];
    assert_eq!(
        one(text, "proxy_pass http", &moved),
        [
            "cache keys change: every entry is fetched once more in `location /` of `a.test`",
            "redirects of the backend are rewritten by `http://app/ /` instead of `http://127.0.0.1:8080/ /` in \
             `location /` of `a.test`",
            "the backend sees `Host: app` instead of `Host: 127.0.0.1:8080` in `location /` of `a.test`",
        ]
    );
}

#[test]
fn the_complete_form_changes_nothing_else() {
    let text = "http { server { proxy_set_header Host $host; location / { proxy_pass http://127.0.0.1:8080; } } }";
    let edits = [
        ("server {", "upstream app { server 127.0.0.1:8080; keepalive 32; } server {"),
        ("http://127.0.0.1:8080;", "http://app; proxy_http_version 1.1; proxy_redirect http://127.0.0.1:8080/ /;"),
        ("$host;", "$host; proxy_set_header Connection '';"),
    ];
    assert_eq!(one(text, "proxy_pass http", &edits), [""; 0]);
}

#[test]
fn another_address_is_never_meant() {
    let text = "http { server { location / { proxy_pass http://127.0.0.1:8080; proxy_set_header Host $host; proxy_redirect off; } } }";
    let edits = [
        ("server {", "upstream app { server 127.0.0.1:8081; keepalive 8; } server {"),
        ("http://127.0.0.1:8080", "http://app"),
    ];
    let said = one(text, "proxy_pass http", &edits);
    assert_eq!(said, ["requests go to `http://127.0.0.1:8081` instead of `http://127.0.0.1:8080` in `location /`"]);
    let said = one(text, "proxy_pass http", &[("http://127.0.0.1:8080", "http://127.0.0.1:8080/")]);
    assert_eq!(said, ["the backend is asked for `/ for /` instead of the path of the request in `location /`"]);
}

#[test]
fn an_upstream_named_after_a_host_catches_others() {
    let text = "http { server {
        location /a { proxy_pass http://app.test:81; }
        location /b { proxy_pass http://app.test; } } }";
    let edits = [
        ("server {", "upstream app.test { server app.test:81; keepalive 8; } server {"),
        (
            "http://app.test:81;",
            "http://app.test; proxy_set_header Host app.test:81; proxy_redirect http://app.test:81/ /;",
        ),
    ];
    let said = one(text, "proxy_pass http://app.test:81", &edits);
    assert_eq!(
        said,
        [
            "requests go to `http://app.test:81` instead of `http://app.test:80` in `location /b`",
            "`keepalive` is now in effect with `8` also in `location /b`"
        ]
    );
}

#[test]
fn a_line_further_out_reaches_other_locations() {
    let text = "http { upstream app { server a:1; keepalive 8; } server { server_name s.test;
        location /a { proxy_pass http://app; }
        location /static { root /srv; }
        location /ws { proxy_pass http://app; }
        location /own { proxy_pass http://app; proxy_set_header Connection upgrade; } } }";
    let said = one(text, "proxy_pass", &[("server_name", "proxy_set_header Connection \"\"; server_name")]);
    assert_eq!(said, ["the backend no longer sees `Connection: close` also in `location /ws` of `s.test`"]);
    let about_both = [
        Careless { about: "location /a", edits: &[("server_name", "proxy_set_header Connection \"\"; server_name")] },
        Careless { about: "location /ws", edits: &[("server_name", "proxy_set_header Connection \"\"; server_name")] },
    ];
    assert_eq!(say(&[("/nginx.conf", text)], &about_both), [[""; 0], [""; 0]], "both want the same line");
}

#[test]
fn a_snippet_changes_every_place_that_includes_it() {
    let files = [
        ("/nginx.conf", "http { server { location /a { include s; } location /b { add_header X-B 1; include s; } } }"),
        ("/s", "root /srv;\n"),
    ];
    let fix = Careless { about: "root /srv", edits: &[("root /srv;", "root /srv; gzip on;")] };
    assert_eq!(say(&files, &[fix]), [[""; 0]], "the line itself is meant, in both places");
    let files = [files[0], ("/s", "location /in { root /srv; }\n")];
    let outer = [("/nginx.conf", "http { server { add_header X-A 1; include s; } server { include s; } }"), files[1]];
    let fix = Careless { about: "root /srv", edits: &[("root /srv;", "root /srv; add_header X-S 1;")] };
    assert_eq!(say(&outer, &[fix]), [["`X-A: 1` is no longer sent in `location /in`"]]);
}

#[test]
fn a_name_for_tls_that_changes_is_told() {
    let text = "http { server { location / { proxy_pass https://app.test; proxy_ssl_server_name on;
        proxy_set_header Host app.test; proxy_redirect off; } } }";
    let edits = [
        ("server {", "upstream be { server app.test:443; keepalive 8; } server {"),
        ("https://app.test", "https://be"),
    ];
    let said = one(text, "proxy_pass", &edits);
    assert_eq!(said, ["the backend's certificate is asked for as `be` instead of `app.test` in `location /`"]);
    let said = one(text, "proxy_pass", &[edits[0], ("https://app.test", "https://be; proxy_ssl_name app.test")]);
    assert_eq!(said, [""; 0]);
}

#[test]
fn rules_about_access_are_one_list() {
    let text = "http { server { deny 10.0.0.1; location / { root /a; } } }";
    let said = one(text, "root /a", &[("root /a;", "root /a; allow all;")]);
    assert_eq!(said, [""; 0], "the list is named by the line itself");
    let said = one(text, "root /a", &[("root /a;", "root /a; satisfy any;")]);
    assert_eq!(said, [""; 0]);
}

#[test]
fn the_order_of_what_is_carried_out_counts() {
    let text = "http { server { location / { set $a 1; return 204; root /x; } } }";
    let said = one(text, "root /x", &[("set $a 1; return 204;", "return 204; set $a 1;")]);
    assert_eq!(said, ["`rewrite` lines are carried out in another order in `location /`"]);
}

#[test]
fn the_fix_that_strays_is_told_from_its_neighbours() {
    let text = "http { add_header X-A 1; server { location /a { root /a; } location /b { root /b; } } }";
    let fixes = [
        Careless { about: "root /a", edits: &[("root /a;", "root /a; gzip on;")] },
        Careless { about: "root /b", edits: &[("root /b;", "root /b; add_header X-B 1;")] },
        Careless { about: "root /b", edits: &[("location /b", "location ^~ /b")] },
    ];
    let said = say(&[("/nginx.conf", text)], &fixes);
    assert_eq!(said, [vec![], vec!["`X-A: 1` is no longer sent in `location /b`".to_owned()], vec![]]);
}

#[test]
fn writing_out_a_default_changes_only_versions_with_another() {
    let text = "http { server { location / { proxy_pass http://a; } location /b { proxy_pass http://b; } } }";
    let edits = [("server {", "server { proxy_http_version 1.1;")];
    let said = one(text, "location / ", &edits);
    assert_eq!(said, ["`proxy_http_version` is `1.1` instead of `1.0` also in `location /b`"]);
}

#[test]
fn a_line_that_nobody_edited_is_nobodys() {
    // The comment swallows what stands behind it on its line.
    let text = "http { server { location / { root /x; gzip on; error_page 404 /e;\n } } }";
    let said = one(text, "root /x", &[("root /x;", "root /y; # better")]);
    assert_eq!(
        said,
        ["`error_page` is no longer in effect in `location /`", "`gzip` is `off` instead of `on` in `location /`"]
    );
}

fn caddy(text: &str, about: &str, edits: &[(&str, &str)]) -> Vec<String> {
    say(&[("/Caddyfile", text)], &[Careless { about, edits }]).remove(0)
}

#[test]
fn an_option_of_caddy_that_takes_the_pool_away_is_told() {
    let text =
        "example.com {\n\treverse_proxy localhost:80 {\n\t\ttransport http {\n\t\t\tdial_timeout 3s\n\t\t}\n\t}\n}\n";
    let said = caddy(text, "dial_timeout", &[("dial_timeout 3s", "dial_timeout 3s\n\t\t\tkeepalive 30s")]);
    assert_eq!(said, ["`2` idle connections to each backend are kept instead of `32` in `example.com`"]);
    let both = "dial_timeout 3s\n\t\t\tkeepalive 30s\n\t\t\tkeepalive_idle_conns_per_host 32";
    assert_eq!(caddy(text, "dial_timeout", &[("dial_timeout 3s", both)]), [""; 0]);
}

#[test]
fn a_block_where_there_was_none_is_the_line_with_more() {
    let text = "a.test {\n\treverse_proxy localhost:80\n}\nb.test {\n\treverse_proxy localhost:81\n}\n";
    let block =
        "reverse_proxy localhost:80 {\n\t\ttransport http {\n\t\t\tkeepalive_idle_conns_per_host 128\n\t\t}\n\t}";
    assert_eq!(caddy(text, "reverse_proxy localhost:80", &[("reverse_proxy localhost:80", block)]), [""; 0]);
    let off = "reverse_proxy localhost:80 {\n\t\ttransport http {\n\t\t\tkeepalive off\n\t\t}\n\t}";
    let said = caddy(text, "reverse_proxy localhost:80", &[("reverse_proxy localhost:80", off)]);
    assert_eq!(said, ["no idle connections to the backend are kept in `a.test`"]);
}
