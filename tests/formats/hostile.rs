//! What configurations and file names hold never steers a reader, whatever the format.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::Value;

use crate::FORMATS;
use crate::run::{Folder, Said};

/// A line that wants to be a command, an element, a link, a fence, the end of a comment.
const LINE: &str = "location / { proxy_pass \"http://127.0.0.1:8080/\x1b[2J\u{9b}31m\u{202e}::error::x]]><img/src=x/onerror=alert(1)>```![i](http://evil/)|@all%0A&amp;\u{fffe}'\"; }";
const NAME: &[u8] = b"a,b:c%0A\"&<script>]]>`|\x1b[31m\n::warning::x\xff.conf";

fn folder() -> Folder {
    let folder =
        Folder::new(&[(".git/HEAD", ""), ("conf/nginx.conf", "events {}\r\nhttp {\r\n    include d/*;\r\n}\r\n")]);
    std::fs::create_dir(folder.join("conf/d")).unwrap();
    let path = folder.join("conf/d").join(OsStr::from_bytes(NAME));
    let mut text = format!("server {{\r\n\t{LINE}\r\n\tgzip on\r\n}}\r\n# ").into_bytes();
    text.extend(b"\xff\xfe latin \xe4\r\n");
    std::fs::write(path, text).unwrap();
    folder
}

pub(crate) fn report(format: &str) -> String {
    let args = ["check", "--nginx", "1.24", "--select", crate::RULES, "--format", format, "conf"];
    let said = Said::from(folder().command(args).output().unwrap()).exit(1);
    assert!(!said.err.contains(steers), "{:?}", said.err);
    said.out
}

fn steers(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}'
}

#[test]
fn no_control_character_leaves_as_itself() {
    for (format, _) in FORMATS {
        let text = report(format);
        assert!(!text.contains(steers), "{format}: {text:?}");
        assert!(text.contains("[2J"), "{format} shows what stands there: {text}");
    }
}

#[test]
fn lines_stay_lines() {
    assert_eq!(report("concise").lines().count(), 2);
    let commands = report("github");
    assert_eq!(commands.lines().count(), 2, "{commands}");
    for line in commands.lines() {
        let (properties, _) = line.strip_prefix("::").unwrap().split_once(' ').unwrap().1.split_once("::").unwrap();
        let names: Vec<&str> = properties.split(',').map(|property| property.split_once('=').unwrap().0).collect();
        assert_eq!(names, ["file", "line", "endLine", "col", "endColumn", "title"]);
    }
}

#[test]
fn xml_stays_xml() {
    for format in ["checkstyle", "junit"] {
        let text = report(format);
        let document = roxmltree::Document::parse(&text).unwrap();
        let names: std::collections::BTreeSet<&str> =
            document.descendants().filter(roxmltree::Node::is_element).map(|node| node.tag_name().name()).collect();
        assert!(!names.contains("img") && !names.contains("script"), "{names:?}");
        assert!(!text.contains('\u{fffe}'), "no character of XML");
    }
}

#[test]
fn json_stays_json() {
    for format in ["json", "sarif", "gitlab", "rdjson"] {
        serde_json::from_str::<Value>(&report(format)).unwrap();
    }
    report("jsonl").lines().for_each(|line| drop(serde_json::from_str::<Value>(line).unwrap()));
}

#[test]
fn markdown_gains_no_element() {
    let text = report("markdown");
    for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                let ours = ["<details>", "</details>", "<summary>safe fix</summary>"];
                assert!(ours.iter().any(|tag| html.contains(tag)) && !html.contains("img"), "{html}");
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                assert!(dest_url.starts_with("https://github.com/proxylint/"), "{dest_url}");
            }
            Event::Start(Tag::Image { dest_url, .. }) => panic!("an image: {dest_url}"),
            // Forges look for names in text, not in code.
            Event::Text(text) if !text.contains('\n') && !text.contains("| ") => {
                assert!(!text.contains("@all"), "{text}");
            }
            _ => {}
        }
    }
}
