//! Configurations as the server reads them: includes, levels, what is in effect.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::path::Path;

use proxylint::files::Memory;
use proxylint::model::include::{Loader, PathMap, Root};
use proxylint::model::{Model, ProblemKind};

fn load(files: &[(&str, &str)]) -> Model {
    load_with(files, PathMap::default())
}

fn load_with(files: &[(&str, &str)], maps: PathMap) -> Model {
    let mut memory = Memory::new();
    for (path, text) in files {
        memory.insert(path, text.as_bytes());
    }
    Loader::new(files[0].0, Root::Implied, maps).load(&memory).unwrap()
}

/// The model in short: names nested as the server sees them.
fn shape(model: &Model) -> String {
    fn level(out: &mut String, children: proxylint::model::Children<'_>) {
        for node in children {
            out.push_str(&String::from_utf8_lossy(node.name()));
            if let Some(arg) = node.value(0) {
                out.push(' ');
                out.push_str(&String::from_utf8_lossy(arg));
            }
            if node.children().next().is_some() {
                out.push('{');
                level(out, node.children());
                out.push('}');
            }
            out.push(';');
        }
    }
    let mut out = String::new();
    level(&mut out, model.roots());
    out
}

#[test]
fn included_directives_stand_where_the_include_stands() {
    let model = load(&[
        ("conf/nginx.conf", "http { include sites/*.conf; server { include loc.conf; } a; }\n"),
        ("conf/sites/b.conf", "server { listen 2; }\n"),
        ("conf/sites/a.conf", "server { include loc.conf; listen 1; }"),
        ("conf/loc.conf", "location / { x 1; }\nlocation /b { x 2; }\n"),
        ("conf/sites/.hidden.conf", "no;"),
    ]);
    assert_eq!(
        shape(&model),
        "http{include sites/*.conf;server{include loc.conf;location /{x 1;};location /b{x 2;};listen 1;};\
         server{listen 2;};server{include loc.conf;location /{x 1;};location /b{x 2;};};a;};"
    );
    assert!(model.problems().is_empty());
    let second = model.named("x").find(|x| x.value(0) == Some(b"2")).unwrap();
    let names: Vec<_> = second.chain().map(|at| model.file(at).path().to_owned()).collect();
    assert_eq!(names, [Path::new("conf/sites/a.conf"), Path::new("conf/nginx.conf")]);
    assert_eq!(model.sources().iter().count(), 4);
}

#[test]
fn missing_files_cycles_and_folders_are_problems() {
    let model = load(&[
        ("nginx.conf", "include none.conf;\ninclude none/*.conf;\ninclude a.conf;\ninclude sub;\n"),
        ("a.conf", "a;\ninclude b.conf;\n"),
        ("b.conf", "b;\ninclude ./a.conf;\n"),
        ("sub/x.conf", ""),
    ]);
    let problems: Vec<_> = model
        .problems()
        .iter()
        .map(|problem| {
            assert_eq!(problem.kind, ProblemKind::Include);
            let file = model.file(problem.error.span);
            let line = file.line_of(problem.error.span.start);
            format!("{}:{line} {} {}", file.path().display(), problem.error.message, problem.error.labels.len())
        })
        .collect();
    assert_eq!(
        problems,
        [
            "nginx.conf:1 nginx refuses to start or reload: `none.conf` does not exist 0",
            "nginx.conf:4 nginx refuses to start or reload: `sub` is a folder 0",
            "b.conf:2 this file includes itself: nginx never ends reading it and crashes 2",
        ]
    );
    assert_eq!(
        shape(&model),
        "include none.conf;include none/*.conf;include a.conf;a;include b.conf;b;include ./a.conf;include sub;"
    );
}

#[test]
fn absolute_includes_can_be_mapped() {
    let mut maps = PathMap::default();
    maps.add("/etc/nginx", "deploy/nginx");
    let model =
        load_with(&[("deploy/nginx/nginx.conf", "include /etc/nginx/a.conf;"), ("deploy/nginx/a.conf", "a;")], maps);
    assert_eq!(shape(&model), "include /etc/nginx/a.conf;a;");
}

#[test]
fn the_nearest_level_with_lines_decides() {
    let model = load(&[(
        "nginx.conf",
        "http { h 1; s http; server { h 2; location /a { h 3; h 4; } location /b { if (x) { p; } } } }",
    )]);
    let location = |path: &str| model.named("location").find(|node| node.value(0) == Some(path.as_bytes())).unwrap();
    let values = |path| location(path).inside().in_effect("h").map(|h| h.value(0).unwrap()).collect::<Vec<_>>();
    assert_eq!(values("/a"), [b"3", b"4"]);
    assert_eq!(values("/b"), [b"2"]);
    let inner = model.named("p").next().unwrap();
    assert_eq!(inner.level().value("s"), Some(&b"http"[..]));
    assert_eq!(inner.level().value("nothing"), None);
}

#[test]
fn what_did_not_change_is_not_parsed_again() {
    let mut memory = Memory::new();
    memory.insert("nginx.conf", &b"include a.conf; include b.conf;"[..]);
    memory.insert("a.conf", &b"a;"[..]);
    memory.insert("b.conf", &b"b;"[..]);
    let mut loader = Loader::new("nginx.conf", Root::Implied, PathMap::default());
    let first = loader.load(&memory).unwrap();
    memory.insert("b.conf", &b"b; c;"[..]);
    let second = loader.load(&memory).unwrap();
    let same = |i: usize| std::sync::Arc::ptr_eq(&first.trees()[i], &second.trees()[i]);
    assert_eq!((same(0), same(1), same(2)), (true, true, false));
    assert_eq!(shape(&second), "include a.conf;a;include b.conf;b;c;");
}

#[test]
fn parts_find_their_includes_in_a_folder_above_or_leave_them_open() {
    let model = load(&[
        ("etc/sites-available/a", "server { include snippets/p.conf; include elsewhere/q.conf; }"),
        ("etc/snippets/p.conf", "listen 1;"),
    ]);
    assert_eq!(shape(&model), "server{include snippets/p.conf;listen 1;include elsewhere/q.conf;};");
    assert!(model.problems().is_empty(), "{:?}", model.problems());
    assert!(!model.is_closed());
}
