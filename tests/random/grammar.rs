//! Configurations made from a grammar, in the many ways in which people write them down.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// A line, a block, or a comment.
#[derive(Debug, Clone)]
pub enum Item {
    Line(String),
    Block(String, Vec<Item>),
    Comment(String),
    Blank,
}

/// How it is written down.
#[derive(Debug, Clone)]
pub struct Style {
    indent: &'static str,
    eol: &'static str,
    /// Blocks of up to so many lines stand on one line.
    short: usize,
    last_eol: bool,
    bom: bool,
    /// What stands in front of an opening brace.
    brace: &'static str,
}

pub fn style() -> impl Strategy<Value = Style> {
    let indent = select(vec!["    ", "  ", "\t", ""]);
    let (eol, brace) = (prop_oneof![3 => Just("\n"), 1 => Just("\r\n")], prop_oneof![5 => Just(" "), 1 => Just("\n")]);
    let short = prop_oneof![3 => Just(0), 1 => Just(1), 1 => Just(3)];
    (indent, eol, short, prop::bool::weighted(0.9), prop::bool::weighted(0.05), brace)
        .prop_map(|(indent, eol, short, last_eol, bom, brace)| Style { indent, eol, short, last_eol, bom, brace })
}

/// A configuration: its files, the main one first.
pub type Files = Vec<(String, Vec<u8>)>;

impl Style {
    /// The text of some items. In a Caddyfile lines have no `;`, and a brace ends its line.
    pub fn write(&self, items: &[Item], caddy: bool) -> Vec<u8> {
        let mut out = String::new();
        self.items(items, caddy, 0, &mut out);
        let mut text = out.replace('\n', self.eol);
        if !self.last_eol {
            text.truncate(text.trim_end().len());
        }
        // Comments of older files are Latin-1.
        let latin1 = text.chars().map(|c| if c == 'é' && !caddy { 0xe9 } else { c as u8 });
        let bytes: Vec<u8> = if text.is_ascii() || !caddy { latin1.collect() } else { text.clone().into_bytes() };
        if self.bom && !caddy { [b"\xef\xbb\xbf", &bytes[..]].concat() } else { bytes }
    }

    fn items(&self, items: &[Item], caddy: bool, depth: usize, out: &mut String) {
        for item in items {
            let indent = self.indent.repeat(depth);
            let end = if caddy { "\n" } else { ";\n" };
            match item {
                Item::Blank => out.push('\n'),
                Item::Comment(text) => *out += &format!("{indent}# {text}\n"),
                Item::Line(text) => *out += &format!("{indent}{text}{end}"),
                Item::Block(head, inner) if !caddy && inner.len() <= self.short && inner.iter().all(is_line) => {
                    let lines: String = inner.iter().map(|it| format!(" {};", text(it))).collect();
                    *out += &format!("{indent}{head} {{{lines} }}\n");
                }
                Item::Block(head, inner) => {
                    let brace = if caddy { " " } else { self.brace };
                    *out += &format!("{indent}{head}{brace}{{\n");
                    self.items(inner, caddy, depth + 1, out);
                    *out += &format!("{indent}}}\n");
                }
            }
        }
    }
}

fn is_line(item: &Item) -> bool {
    matches!(item, Item::Line(_))
}

fn text(item: &Item) -> &str {
    match item {
        Item::Line(text) | Item::Comment(text) | Item::Block(text, _) => text,
        Item::Blank => "",
    }
}

fn line(text: &str) -> Item {
    Item::Line(text.to_owned())
}

/// One of the lines of each of some of the groups, in any order; `0` stands for a number from 0 to 3.
fn lines(groups: &'static [&'static [&'static str]], most: usize) -> BoxedStrategy<Vec<Item>> {
    let number = 0..4_u8;
    let one = |group: &'static [&'static str]| select(group.to_vec());
    subsequence(groups.to_vec(), 0..=most.min(groups.len()))
        .prop_flat_map(move |groups| groups.into_iter().map(one).collect::<Vec<_>>())
        .prop_shuffle()
        .prop_flat_map(move |lines| (Just(lines), number.clone()))
        .prop_map(|(lines, number)| {
            lines.into_iter().map(|it| line(&it.replace("u0", &format!("u{number}")))).collect()
        })
        .boxed()
}

/// Puts comments and empty lines between items.
fn with_comments(items: impl Strategy<Value = Vec<Item>>) -> impl Strategy<Value = Vec<Item>> {
    let comment = prop_oneof![
        12 => Just(None),
        2 => select(vec!["why it is so", "proxy_pass http://old;", "caf\u{e9} {", "}"]).prop_map(|text| Some(Item::Comment(text.to_owned()))),
        1 => Just(Some(Item::Blank)),
    ];
    items
        .prop_flat_map(move |items| {
            let len = items.len();
            (Just(items), vec(comment.clone(), len + 1))
        })
        .prop_map(|(items, mut between)| {
            let last = between.pop().flatten();
            let items = items.into_iter().zip(between).flat_map(|(item, before)| before.into_iter().chain([item]));
            items.chain(last).collect()
        })
}

const PASSES: &[&[&str]] = &[&[
    "proxy_pass http://u0",
    "proxy_pass http://u0/",
    "proxy_pass http://127.0.0.1:9001",
    "proxy_pass http://127.0.0.1:9001/",
    "proxy_pass http://127.0.0.1:9002/api/",
    "proxy_pass http://localhost",
    "proxy_pass https://127.0.0.1:9443",
    "proxy_pass http://unix:/run/app.sock",
    "proxy_pass http://$backend",
    "proxy_pass \"http://u0\"",
    "grpc_pass grpc://127.0.0.1:9200",
    "grpc_pass u0",
    "fastcgi_pass 127.0.0.1:9100",
    "fastcgi_pass u0",
    "return 200 ok",
    "root /srv",
]];

const SETTINGS: &[&[&str]] = &[
    &["proxy_set_header Host $host", "proxy_set_header Host $http_host", "proxy_set_header host example.org"],
    &[
        "proxy_set_header Connection \"\"",
        "proxy_set_header Connection close",
        "proxy_set_header Connection $connection_upgrade",
    ],
    &["proxy_set_header Upgrade $http_upgrade"],
    &["proxy_set_header X-Real-IP $remote_addr", "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for"],
    &["proxy_http_version 1.1", "proxy_http_version 1.0"],
    &["proxy_redirect off", "proxy_redirect default", "proxy_redirect http://127.0.0.1:9001/ /"],
    &["proxy_cache zone", "proxy_cache off"],
    &["proxy_cache_key $host$request_uri", "proxy_cache_key $proxy_host$request_uri"],
    &["add_header X-Frame-Options DENY", "add_header X-A b always"],
    &["proxy_read_timeout 30s", "proxy_buffering off"],
    &["proxy_ssl_server_name on", "proxy_ssl_name backend.test"],
    &["grpc_set_header X-A b"],
    &["fastcgi_keep_conn on", "fastcgi_param A b"],
];

const POOL: &[&[&str]] = &[
    &["keepalive 16", "keepalive 1", "keepalive 32"],
    &["least_conn", "ip_hash", "hash $uri consistent"],
    &["keepalive_timeout 30s", "keepalive_requests 100"],
    &["zone pool 64k"],
    &["server 127.0.0.1:9001"],
    &["server 127.0.0.1:9002 weight=2", "server 127.0.0.1:9002 max_fails=0"],
];

const MAPS: &[&[&str]] = &[&["default upgrade"], &["'' close", "'' ''", "\"\" \"\""]];

fn upstream(number: u8) -> impl Strategy<Value = Item> {
    with_comments(lines(POOL, 6)).prop_map(move |mut items| {
        items.insert(0, line("server 127.0.0.1:9003"));
        Item::Block(format!("upstream u{number}"), items)
    })
}

fn location() -> BoxedStrategy<Item> {
    let path = select(vec!["/", "/api/", "= /x", "~ \\.php$", "^~ /static/", "~* ^/v[0-9]{1,2}/", "@named", "/a b"]);
    let head =
        path.prop_map(
            |path| if path.contains("a b") { "location \"/a b\"".to_owned() } else { format!("location {path}") },
        );
    let simple = (lines(PASSES, 1), lines(SETTINGS, 5)).prop_map(|(pass, settings)| [settings, pass].concat());
    let inner = with_comments(simple.prop_shuffle());
    let condition = with_comments(lines(PASSES, 1));
    let extra = prop_oneof![
        6 => Just(None),
        1 => condition.prop_map(|items| Some(Item::Block("if ($request_method = POST)".to_owned(), items))),
        1 => lines(PASSES, 1).prop_map(|items| Some(Item::Block("limit_except GET".to_owned(), items))),
    ];
    (head, inner, extra)
        .prop_map(|(head, mut items, extra)| {
            items.extend(extra);
            Item::Block(head, items)
        })
        .boxed()
}

fn server(number: u8) -> impl Strategy<Value = Item> {
    let names = select(vec!["a.test", "b.test www.b.test", "_", "A.test"]);
    let listen = select(vec!["", " default_server", " http2"]);
    let body =
        (lines(SETTINGS, 3), vec(location(), 0..4)).prop_map(|(settings, locations)| [settings, locations].concat());
    (with_comments(body), names, listen).prop_map(move |(mut items, names, listen)| {
        let own = [
            format!("listen 127.0.0.1:81{number}0{listen}"),
            format!("server_name {names}"),
            "set $backend u0".to_owned(),
        ];
        items.splice(0..0, own.into_iter().map(Item::Line));
        Item::Block("server".to_owned(), items)
    })
}

/// nginx's configurations; some servers stand in files of their own.
pub fn nginx() -> impl Strategy<Value = Files> {
    let upstreams = (0..4).map(|n| upstream(n).boxed()).collect::<Vec<_>>();
    let servers = (vec(any::<bool>(), 2), server(0), server(1));
    let map = lines(MAPS, 2).prop_map(|lines| Item::Block("map $http_upgrade $connection_upgrade".to_owned(), lines));
    (lines(SETTINGS, 3), upstreams, map, servers, style(), style()).prop_map(
        |(settings, upstreams, map, servers, main, other)| {
            let (apart, first, second) = servers;
            let mut http = settings;
            http.push(line("proxy_cache_path cache keys_zone=zone:1m"));
            http.push(map);
            http.extend(upstreams);
            let mut files = vec![("nginx.conf".to_owned(), Vec::new())];
            for (number, (apart, server)) in apart.into_iter().zip([first, second]).enumerate() {
                if apart {
                    let name = format!("site {number}.conf");
                    http.push(line(&format!("include \"{name}\"")));
                    files.push((name, other.write(&[server], false)));
                } else {
                    http.push(server);
                }
            }
            let items = [
                line("pid nginx.pid"),
                line("error_log stderr"),
                Item::Block("events".to_owned(), Vec::new()),
                Item::Block("http".to_owned(), http),
            ];
            files[0].1 = main.write(&items, false);
            files
        },
    )
}

const TRANSPORT: &[&[&str]] = &[
    &["keepalive 30s", "keepalive off", "keepalive 2m"],
    &["keepalive_idle_conns 10", "keepalive_idle_conns 100"],
    &["keepalive_idle_conns_per_host 4", "keepalive_idle_conns_per_host 500", "keepalive_idle_conns_per_host -1"],
    &["keepalive_interval 20s"],
    &["dial_timeout 3s"],
    &["versions 1.1", "versions h2c 2"],
    &["max_conns_per_host 20"],
];

const OPTIONS: &[&[&str]] = &[
    &["lb_policy round_robin", "lb_policy ip_hash"],
    &["header_up Host {host}", "header_up X-A b"],
    &["flush_interval -1"],
    &["health_uri /up"],
];

fn proxy() -> impl Strategy<Value = Item> {
    let to = select(vec![
        "127.0.0.1:9001",
        "127.0.0.1:9001 127.0.0.1:9002",
        "/api/* h2c://127.0.0.1:9200",
        "https://localhost:9443",
        "unix//run/app.sock",
        "app:8080",
    ]);
    let transport = prop_oneof![1 => Just(None), 3 => with_comments(lines(TRANSPORT, 4)).prop_map(Some)];
    (to, lines(OPTIONS, 3), transport, any::<bool>()).prop_map(|(to, mut options, transport, bare)| {
        let head = format!("reverse_proxy {to}");
        if bare {
            return Item::Line(head);
        }
        options.extend(transport.map(|lines| Item::Block("transport http".to_owned(), lines)));
        Item::Block(head, options)
    })
}

fn site(number: u8) -> impl Strategy<Value = Item> {
    let handle = (select(vec!["handle /a/*", "handle_path /b/*", "route"]), with_comments(vec(proxy(), 1..2)));
    let handle = handle.prop_map(|(head, items)| Item::Block(head.to_owned(), items));
    let other =
        select(vec!["encode gzip", "file_server", "import common", "header X-A b", "respond /up 200"]).prop_map(line);
    let item = prop_oneof![3 => proxy().boxed(), 2 => handle.boxed(), 2 => other.boxed()];
    with_comments(vec(item, 1..4))
        .prop_map(move |items| Item::Block(format!("http://s{number}.test:810{number}"), items))
}

/// Caddyfiles with a snippet.
pub fn caddy() -> impl Strategy<Value = Files> {
    (proxy(), site(0), site(1), style()).prop_map(|(shared, first, second, style)| {
        let snippet = Item::Block("(common)".to_owned(), vec![shared]);
        let options = Item::Block(String::new(), vec![line("admin off"), line("auto_https off")]);
        let text = style.write(&[options, Item::Blank, snippet, Item::Blank, first, Item::Blank, second], true);
        let text = if text.starts_with(b" {") { text[1..].to_vec() } else { text };
        vec![("Caddyfile".to_owned(), text)]
    })
}
