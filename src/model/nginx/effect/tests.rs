use super::*;
use crate::files::Memory;
use crate::model::Model;
use crate::model::include::{Loader, PathMap, Root};

const OLD: Version = Version::new(1, 24, 0);
const NEW: Version = Version::new(1, 31, 0);

fn load(http: &str) -> Model {
    let mut files = Memory::new();
    files.insert("/nginx.conf", format!("events {{}}\nhttp {{ {http} }}\n").as_bytes());
    Loader::new("/nginx.conf", Root::Implied, PathMap::default()).load(&files).unwrap()
}

/// The settings in effect in the only block of that name, as `key: value` lines.
fn lines(http: &str, block: &str, version: Version) -> Vec<String> {
    let model = load(http);
    let node = model.named(block).last().unwrap();
    let show = |(key, value): (Key, Vec<u8>)| format!("{key}: {}", String::from_utf8_lossy(&value));
    effect(node.inside(), version).into_iter().map(show).collect()
}

/// The values of some settings in the last location.
fn values(http: &str, version: Version, keys: &[&str]) -> Vec<String> {
    let lines = lines(http, "location", version);
    let value = |key: &&str| {
        let found = lines.iter().find_map(|line| line.strip_prefix(&format!("{key}: ")));
        found.unwrap_or("-").to_owned()
    };
    keys.iter().map(value).collect()
}

#[test]
fn inner_lines_replace_outer_ones_of_their_name() {
    let http = "gzip on; add_header X-A 1; add_header x-a 2; add_header X-B 3; allow all;
        server { gzip off; return 404; location / { add_header X-C 4 always; deny 10.0.0.1; allow 10.0.0.0/8; } }";
    let lines = lines(http, "location", OLD);
    assert_eq!(lines, ["add_header x-c: 4 always", "allow: deny 10.0.0.1; allow 10.0.0.0/8", "gzip: off"]);
    let model = load(http);
    let server = effect(model.named("server").next().unwrap().inside(), OLD);
    assert_eq!(server[&Key::new(b"add_header", b"x-a")], b"1; 2");
    assert_eq!(server[&Key::new(b"return", b"")], b"404");
}

#[test]
fn settings_of_a_proxy_have_no_say_where_nothing_is_passed_on() {
    let http = "server { proxy_read_timeout 5s; proxy_set_header X-A 1; fastcgi_param A b; location / { root /srv; } }";
    assert_eq!(lines(http, "location", OLD), ["root: /srv"]);
    let http = "server { proxy_read_timeout 5s; fastcgi_param A b; location / { fastcgi_pass 127.0.0.1:9000; } }";
    assert_eq!(lines(http, "location", OLD), ["backend: 127.0.0.1:9000", "fastcgi_param A: b"]);
}

#[test]
fn what_the_backend_sees_depends_on_the_version() {
    let http = "server { location / { proxy_pass http://127.0.0.1:8080; } }";
    let keys = ["backend", "proxy_set_header host", "proxy_set_header connection", "proxy_redirect", "request target"];
    let bare = ["http://127.0.0.1:8080", "127.0.0.1:8080", "close", "http://127.0.0.1:8080/ /", "-"];
    assert_eq!(values(http, OLD, &keys), bare);
    assert_eq!(values(http, NEW, &keys)[2], "");
}

/// The rows of "what a backend notices after the move to an upstream" that come from the text alone.
#[test]
fn moving_to_an_upstream_changes_what_is_named_after_the_host() {
    let keys = ["backend", "proxy_set_header host", "proxy_redirect", "proxy_cache_key", "keepalive"];
    let cache = "proxy_cache_path /c keys_zone=z:1m; server { proxy_cache z;";
    let bare = format!("{cache} location /a/ {{ proxy_pass http://127.0.0.1:8080/b/; }} }}");
    let moved = format!(
        "upstream be {{ server 127.0.0.1:8080; keepalive 32; }} {}",
        bare.replace("127.0.0.1:8080/b/", "be/b/")
    );
    assert_eq!(
        values(&bare, OLD, &keys),
        [
            "http://127.0.0.1:8080",
            "127.0.0.1:8080",
            "http://127.0.0.1:8080/b/ /a/",
            "$scheme127.0.0.1:8080$request_uri",
            "-"
        ]
    );
    assert_eq!(
        values(&moved, OLD, &keys),
        ["http://127.0.0.1:8080", "be", "http://be/b/ /a/", "$schemebe$request_uri", "32"]
    );
    assert_eq!(values(&bare, OLD, &["request target"]), values(&moved, OLD, &["request target"]));
}

#[test]
fn the_default_port_is_left_out_of_the_host() {
    let keys = ["backend", "proxy_set_header host"];
    let of = |pass: &str| values(&format!("server {{ location / {{ proxy_pass {pass}; }} }}"), OLD, &keys);
    assert_eq!(of("http://backend.test:80"), ["http://backend.test:80", "backend.test"]);
    assert_eq!(of("http://Backend.test"), ["http://backend.test:80", "Backend.test"]);
    assert_eq!(of("https://[::1]:8443"), ["https://[::1]:8443", "[::1]:8443"]);
    assert_eq!(of("http://unix:/run/app.sock:/x"), ["http://unix:/run/app.sock", "localhost"]);
}

#[test]
fn an_upstream_named_after_the_host_with_the_right_port_changes_nothing_but_the_pool() {
    let location = "location / { proxy_pass https://backend.test; proxy_ssl_server_name on; proxy_ssl_verify on; } }";
    let bare = lines(&format!("server {{ {location}"), "location", OLD);
    let moved = |server: &str| {
        let http = format!("upstream backend.test {{ server {server}; keepalive 8; }} server {{ {location}");
        let lines = lines(&http, "location", OLD);
        lines.into_iter().filter(|line| !line.starts_with("keepalive: ")).collect::<Vec<_>>()
    };
    assert_eq!(moved("backend.test:443"), bare);
    assert_ne!(moved("backend.test"), bare, "port 80, under https too");
    assert!(bare.contains(&"proxy_ssl_name: backend.test".to_owned()), "{bare:?}");
}

#[test]
fn the_only_server_of_an_upstream_is_what_its_address_is() {
    let of = |upstream: &str| {
        let http = format!("upstream be {{ {upstream} }} server {{ location / {{ proxy_pass http://be; }} }}");
        values(&http, OLD, &["backend"]).remove(0)
    };
    assert_eq!(of("least_conn; server a.test weight=3 max_fails=0;"), "http://a.test:80");
    assert_eq!(of("server a.test down;"), "http://a.test:80 down");
    assert_eq!(of("ip_hash; server a:81 weight=3; server b:82;"), "http://a:81 weight=3, b:82, ip_hash");
}

#[test]
fn an_if_without_its_own_pass_passes_to_that_of_its_location() {
    let http = "server { location / { proxy_pass http://a:1; if ($x) { add_header X y; } } }";
    let lines = lines(http, "if", OLD);
    assert!(lines.contains(&"backend: http://a:1".to_owned()), "{lines:?}");
}

#[test]
fn the_variables_of_the_pass_count_where_something_uses_them() {
    let location = "server { location / { proxy_pass http://a:1; proxy_set_header X-To $proxy_host:$proxy_port; } }";
    let keys = ["proxy_set_header x-to", "$proxy_host", "$proxy_port"];
    assert_eq!(values(location, OLD, &keys), ["a:1:1", "-", "-"]);
    let logged = format!("log_format l '$proxy_host $status'; {location}");
    assert_eq!(values(&logged, OLD, &keys), ["a:1:1", "a:1", "1"]);
}

#[test]
fn defaults_are_those_of_the_version() {
    let model = load("server { location / { proxy_pass http://a; } }");
    let level = model.named("location").next().unwrap().inside();
    let version = |v| setting(level, b"proxy_http_version", v).remove(&Key::new(b"proxy_http_version", b""));
    assert_eq!(version(OLD).unwrap(), b"1.0");
    assert_eq!(version(NEW).unwrap(), b"1.1");
    assert!(setting(level, b"fastcgi_keep_conn", OLD).is_empty(), "not a FastCGI location");
}
