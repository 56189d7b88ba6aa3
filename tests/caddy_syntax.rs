//! Caddyfiles to trees: each `fixtures/syntax/caddy/NAME.caddyfile` against `NAME.tree`, and
//! properties that hold for every text.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fmt::Write as _;
use std::path::PathBuf;

use proxylint::files::{Disk, Memory};
use proxylint::model::caddy::load::Loader;
use proxylint::model::include::PathMap;
use proxylint::model::{Model, Node};
use proxylint::source::Span;
use proxylint::syntax::caddy::Env;
use proxylint::syntax::tree::{Body, Origin, Quote};
use proxylint::version::{Server, VersionSet};

fn load(text: &[u8], target: &str) -> Model {
    let mut files = Memory::new();
    files.insert("Caddyfile", text);
    Loader::new("Caddyfile", Env::new(), PathMap::default(), VersionSet::parse(target).unwrap()).load(&files).unwrap()
}

fn place(model: &Model, span: Span) -> String {
    let file = model.file(span);
    let name = file.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let at = file.position(span.start);
    format!("{name}:{}:{}", at.line, at.column)
}

fn describe(model: &Model, node: Node<'_>, out: &mut String) {
    let depth = node.ancestors().count();
    let words: Vec<String> = node
        .words()
        .map(|word| {
            let quote = match word.quote() {
                Quote::Bare => "",
                Quote::Single => "'",
                Quote::Double => "\"",
                Quote::Backtick => "`",
                Quote::Heredoc => "<<",
            };
            let origin = match word.origin() {
                Origin::Written => "",
                Origin::Argument => "(argument)",
                Origin::Environment => "(environment)",
                Origin::Unknown => "(unknown)",
            };
            format!("{quote}{}{origin}", word.text().escape_debug())
        })
        .collect();
    let body = match node.body() {
        Body::None { .. } => "",
        Body::Block { open, .. } if open.is_empty() => " {(none)",
        Body::Block { .. } => " {",
        Body::Raw { .. } => " {…}",
    };
    let chain: String = node.chain().map(|span| format!(" < {}", place(model, span))).collect();
    let at = place(model, node.head());
    writeln!(out, "{}{}{body}  @ {at}{chain}", "  ".repeat(depth), words.join(" | ")).unwrap();
}

fn dump(model: &Model) -> String {
    let mut out = String::new();
    for node in model.nodes() {
        describe(model, node, &mut out);
    }
    for tree in model.trees() {
        for comment in &tree.comments {
            writeln!(out, "{} @ {}", String::from_utf8_lossy(model.text(*comment)), place(model, *comment)).unwrap();
        }
    }
    for problem in model.problems() {
        let versions = problem.versions.as_ref().map(|set| format!(" [{}]", set.describe(Server::Caddy)));
        let at = place(model, problem.error.span);
        writeln!(out, "! {} @ {at}{}", problem.error.message, versions.unwrap_or_default()).unwrap();
    }
    out
}

#[test]
fn fixtures_have_their_trees() {
    let folder = PathBuf::from("fixtures/syntax/caddy");
    let mut count = 0;
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ext| ext != "caddyfile") {
            continue;
        }
        count += 1;
        let mut env = Env::new();
        env.set("UPSTREAMS", "one:1 two:2");
        let model =
            Loader::new(&path, env, PathMap::default(), VersionSet::parse(">=2.6.2").unwrap()).load(&Disk).unwrap();
        let expected = path.with_extension("tree");
        let is = dump(&model);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&expected, &is).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != is {
            wrong.push(format!("{}:\n{is}", path.display()));
        }
    }
    assert!(count > 0 && wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every plain word of the tree lies where its span says, and parents stand before children.
fn check_spans(model: &Model) {
    for node in model.nodes() {
        for word in node.words().filter(|word| word.origin() == Origin::Written && word.quote() == Quote::Bare) {
            let raw = model.text(word.span());
            let special = raw.iter().any(|b| b"\\\"`\r".contains(b)) || std::str::from_utf8(raw).is_err();
            // A backslash with white space behind it still belongs to the next token.
            let value = word.value().strip_prefix(b"\\").unwrap_or(word.value());
            assert!(special || value == raw, "{word:?} is not {:?}", String::from_utf8_lossy(raw));
        }
        assert!(node.parent().is_none_or(|parent| parent.id() < node.id()));
    }
}

#[test]
fn no_bytes_make_it_panic() {
    // A small generator of nasty texts; the same texts every time.
    let pieces: &[&[u8]] = &[
        b"{",
        b"}",
        b"{}",
        b"\n",
        b" ",
        b"\r\n",
        b"\"",
        b"`",
        b"\\",
        b"<<E\n",
        b"E",
        b"<<",
        b"#",
        b"import",
        b"(s)",
        b"&(r)",
        b"{$A}",
        b"{$A:b}",
        b"{args[0]}",
        b"{args[:]}",
        b"{block}",
        b"{blocks.x}",
        b"a,",
        b",",
        b"@m",
        b"\xff",
        b"\xc2\xa0",
        b"\xef\xbb\xbf",
        b"s",
        b"x",
        b"{$",
        b"\r",
        b"\\\n",
    ];
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for _ in 0..4000 {
        let mut text = Vec::new();
        for _ in 0..random(24) {
            text.extend_from_slice(pieces[random(pieces.len())]);
            if random(3) > 0 {
                text.push(b" \n"[random(2)]);
            }
        }
        let model = load(&text, ">=2.6.2");
        check_spans(&model);
        dump(&model);
    }
}

#[test]
fn depth_and_doubling_are_bounded() {
    let deep = [b"a {\n".repeat(100_000), b"}\n".repeat(100_000)].concat();
    assert_eq!(load(&deep, "2.11.7").len(), 100_000);
    let mut bomb = String::from("(s0) {\nrespond a\n}\n");
    for level in 1..64 {
        writeln!(bomb, "(s{level}) {{\nimport s{0}\nimport s{0}\n}}", level - 1).unwrap();
    }
    bomb.push_str(":80 {\nimport s63\n}\n");
    let model = load(bomb.as_bytes(), "2.11.7");
    assert!(
        model.problems().iter().any(|p| p.error.message.contains("the rest is not read")),
        "{:?}",
        model.problems()
    );
}
