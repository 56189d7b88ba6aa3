use std::sync::Arc;

use super::*;
use crate::finding::{Category, Finding, Label};
use crate::fix::{Edit, Fix};
use crate::session::{Assumed, Found, Gap, Unread};
use crate::source::{FileId, SourceFile, Sources, Span};
use crate::version::{Server, VersionSet};

/// Files, and a finding at the first place of a text in the first of them.
struct Case {
    sources: Sources,
    finding: Finding,
}

impl Case {
    fn new(files: &[(&str, &[u8])], place: &[u8]) -> Self {
        let mut sources = Sources::new();
        for (path, bytes) in files {
            sources.add(Arc::new(SourceFile::new(*path, *bytes)));
        }
        let span = find(&sources, 0, place);
        let finding = Finding {
            rule: "nginx/syntax".into(),
            severity: Severity::Warning,
            category: Category::Performance,
            message: "every request opens a connection to `127.0.0.1:8080`".to_owned(),
            span,
            labels: Vec::new(),
            versions: None,
            fixes: Vec::new(),
            note: None,
        };
        Self { sources, finding }
    }

    fn label(mut self, file: u32, place: &[u8], message: &str) -> Self {
        let span = find(&self.sources, file, place);
        self.finding.labels.push(Label { span, message: message.to_owned() });
        self
    }

    fn outcome(self) -> Outcome {
        let files = self.sources.iter().map(|(_, file)| file.path().to_owned()).collect();
        let found = Found {
            finding: self.finding,
            server: Server::Nginx,
            sources: Arc::new(self.sources),
            paths: Arc::new([]),
            held_back: Default::default(),
        };
        let versions = VersionSet::parse(">=1.18.0").unwrap();
        let targets = vec![Assumed { server: Server::Nginx, versions, stated: false }];
        Outcome { findings: vec![found], targets, files, directives: 9, ..Outcome::default() }
    }
}

fn find(sources: &Sources, file: u32, place: &[u8]) -> Span {
    let bytes = sources.get(FileId(file)).bytes();
    let at = memchr::memmem::find(bytes, place).unwrap_or_else(|| panic!("{place:?} is not in file {file}"));
    Span::new(FileId(file), at as u32, (at + place.len()) as u32)
}

fn render(format: Format, outcome: &Outcome) -> String {
    let look =
        Look { base: Path::new("/srv"), root: Path::new("/srv"), width: 80, color: false, links: false, ascii: false };
    let mut out = Vec::new();
    write(format, outcome, look, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

const SITE: &[u8] = b"server {\n    location / {\n        proxy_pass http://127.0.0.1:8080;\n    }\n}\n";
const SITE_8081: &[u8] = b"server {\n    location / {\n        proxy_pass http://127.0.0.1:8081;\n    }\n}\n";
const MAIN: &[u8] = b"events {}\nhttp {\n\tproxy_set_header Connection close;\n    include site.conf;\n}\n";

#[test]
fn related_places_of_other_files_are_shown_behind_the_finding() {
    let case = Case::new(&[("conf.d/site.conf", SITE), ("nginx.conf", MAIN)], b"proxy_pass http://127.0.0.1:8080")
        .label(1, b"proxy_set_header Connection close", "this line is in effect")
        .label(0, b"location /", "requests of this location");
    let mut outcome = case.outcome();
    let finding = &mut outcome.findings[0].finding;
    finding.note = Some("the backend must speak HTTP/1.1".to_owned());
    finding.fixes = vec![Fix::risky("pass to an upstream", vec![], "the backend sees `Host: app`")];
    assert_eq!(
        render(Format::Text, &outcome),
        "\
warning[nginx/syntax]

  ⚠ every request opens a connection to `127.0.0.1:8080`
   ╭─[conf.d/site.conf:3:9]
 1 │ server {
 2 │     location / {
   ·     ─────┬────
   ·          ╰── requests of this location
 3 │         proxy_pass http://127.0.0.1:8080;
   ·         ────────────────────────────────
 4 │     }
   ╰────
   ╭─[nginx.conf:3:2]
 2 │ http {
 3 │     proxy_set_header Connection close;
   ·     ────────────────┬────────────────
   ·                     ╰── this line is in effect
 4 │     include site.conf;
   ╰────
  note: the backend must speak HTTP/1.1
  fix: pass to an upstream (unsafe: --fix --unsafe-fixes)
  also changes: the backend sees `Host: app`
  more: proxylint explain nginx/syntax

"
    );
}

#[test]
fn far_lines_of_one_file_are_shown_apart_and_the_findings_own_first() {
    let text: Vec<u8> = (1..=30).flat_map(|n| format!("line{n:02} x;\n").into_bytes()).collect();
    let case = Case::new(&[("a", &text)], b"line20").label(0, b"line02", "far away").label(0, b"line21", "near");
    let text = render(Format::Text, &case.outcome());
    let order: Vec<usize> = ["20 │", "21 │", "22 │", " 2 │"].iter().map(|line| text.find(line).unwrap()).collect();
    assert!(order.is_sorted(), "{text}");
    assert!(!text.contains("15 │") && text.contains("[a:20:1]") && text.contains("[a:2:1]"), "{text}");
}

#[test]
fn what_steers_a_terminal_is_escaped_and_the_underline_still_fits() {
    let case = Case::new(&[("a\x1b[2Jb", b"x \x1b[31m\xff\xe2\x80\xae;\r\ny \xe4\x00;\r\n")], b"\xff").label(
        0,
        b"y",
        "here\x07\x7f",
    );
    let outcome = case.outcome();
    for format in [Format::Text, Format::Concise, Format::Json] {
        let text = render(format, &outcome);
        assert!(!text.contains(|c: char| plain::hidden(c) && c != '\n'), "{text:?}");
    }
    let text = render(Format::Text, &outcome);
    assert!(text.contains("[a\\x1b[2Jb:1:8]"), "{text}");
    assert!(text.contains(" 1 │ x \\x1b[31m\u{fffd}\\u{202e};\n   ·           ─\n 2 │ y \u{fffd}\\x00;\n"), "{text}");
    assert!(text.contains("╰── here\\x07\\x7f"), "{text}");
}

#[test]
fn endless_lines_are_cut_around_each_place() {
    let filler = "é;".repeat(2_000_000);
    let line = format!("{filler} proxy_pass {filler} keepalive {filler}\nnext;");
    let case = Case::new(&[("a", line.as_bytes())], b"proxy_pass").label(0, b"keepalive", "far to the right");
    let text = render(Format::Text, &case.outcome());
    assert!(text.len() < 4_000, "{} bytes", text.len());
    assert!(text.contains("…") && text.contains("proxy_pass") && text.contains("far to the right"), "{text}");
    assert!(text.contains("[a:1:4000002]"), "{text}");
}

#[test]
fn empty_places_are_pointed_at_wherever_they_are() {
    for (bytes, at) in [(&b""[..], 0), (b"a;\n", 3), (b"a", 1), (b"a;\r\n", 2), (b"a;\r\n", 3), (b"\n\n", 1)] {
        let mut case = Case::new(&[("a", bytes)], b"");
        case.finding.span = Span::new(FileId(0), at, at);
        let line = case.sources.get(FileId(0)).line_of(at);
        let text = render(Format::Text, &case.outcome());
        assert!(text.contains(&format!("\n {line} │")) && text.contains('▲'), "{bytes:?} {at}\n{text}");
    }
}

#[test]
fn of_a_thousand_related_places_a_few_are_drawn_and_all_are_in_json() {
    let text: Vec<u8> = (1..=1000).flat_map(|n| format!("a{n};\n\n\n\n").into_bytes()).collect();
    let mut case = Case::new(&[("a", &text)], b"a1;");
    for n in 2..=1000 {
        case = case.label(0, format!("a{n};").as_bytes(), "too");
    }
    let outcome = case.outcome();
    let text = render(Format::Text, &outcome);
    assert!(text.lines().count() < 60 && text.contains("and: 993 more such places"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&render(Format::Json, &outcome)).unwrap();
    assert_eq!(json["findings"][0]["labels"].as_array().unwrap().len(), 999);
}

#[test]
fn a_place_over_many_lines_is_shown_by_its_first() {
    let mut case = Case::new(&[("a", MAIN)], b"http {");
    case.finding.span.end = MAIN.len() as u32 - 1;
    let text = render(Format::Text, &case.outcome());
    assert!(text.contains("├─▶") || text.contains("╰─"), "{text}");
    let long: Vec<u8> = [b"http {\n".to_vec(), b"a;\n".repeat(50), b"}\n".to_vec()].concat();
    let mut case = Case::new(&[("a", &long)], b"http {");
    case.finding.span.end = long.len() as u32 - 1;
    let text = render(Format::Text, &case.outcome());
    assert!(text.contains("1 │ http {\n   · ──────\n 2 │ a;\n   ╰──"), "{text}");
}

#[test]
fn concise_is_one_line_each() {
    let case = Case::new(&[("/srv/conf.d/../site.conf", SITE)], b"proxy_pass");
    assert_eq!(
        render(Format::Concise, &case.outcome()),
        "site.conf:3:9: warning[nginx/syntax] every request opens a connection to `127.0.0.1:8080`\n"
    );
}

#[test]
fn json_has_the_documented_fields() {
    let files: [(&str, &[u8]); 2] = [("/etc/site.conf", SITE), ("nginx.conf", MAIN)];
    let mut outcome = Case::new(&files, b"proxy_pass").label(1, b"include", "included here").outcome();
    let place = outcome.findings[0].finding.span;
    let edits = vec![Edit::replace(place, "grpc_pass"), Edit::insert_after(place, &b"\xff"[..])];
    outcome.findings[0].finding.fixes = vec![Fix::risky("do it", edits, "the Host header")];
    outcome.findings[0].held_back = [(0, crate::lint::rounds::Reason::Declined)].into();
    outcome.unread = vec![Unread { path: "x.conf".into(), reason: "permission denied".to_owned(), gap: Gap::Failed }];
    outcome.not_included = vec!["sites-available/old".into()];
    let json: serde_json::Value = serde_json::from_str(&render(Format::Json, &outcome)).unwrap();
    let fingerprint = json["findings"][0]["fingerprint"].as_str().unwrap();
    let at =
        |line: u32, column: u32, offset: u32| serde_json::json!({ "line": line, "column": column, "offset": offset });
    let here = serde_json::json!({ "start": at(3, 9, 34), "end": at(3, 19, 44) });
    assert_eq!(
        json,
        serde_json::json!({
            "version": 1,
            "tool": { "name": "proxylint", "version": env!("CARGO_PKG_VERSION") },
            "target": { "nginx": "1.18.0 - 1.31.9", "stated": false },
            "findings": [{
                "rule": "nginx/syntax", "severity": "warning", "category": "performance",
                "message": "every request opens a connection to `127.0.0.1:8080`",
                "path": "/etc/site.conf", "range": here, "versions": "all", "fingerprint": fingerprint,
                "labels": [{
                    "message": "included here", "path": "nginx.conf",
                    "range": { "start": at(4, 5, 57), "end": at(4, 12, 64) },
                }],
                "fixes": [{
                    "title": "do it", "safety": "unsafe", "changes": ["the Host header"], "held_back": "declined",
                    "edits": [
                        { "path": "/etc/site.conf", "range": here, "text": "grpc_pass" },
                        { "path": "/etc/site.conf", "range": { "start": at(3, 19, 44), "end": at(3, 19, 44) },
                          "text_base64": "/w==" },
                    ],
                }],
                "help": "https://github.com/proxylint/proxylint/blob/main/rules/nginx/syntax.md",
            }],
            "not_read": [{ "path": "x.conf", "reason": "permission denied" }],
            "not_included": ["sites-available/old"],
            "summary": { "files": 2, "directives": 9, "errors": 0, "warnings": 1, "infos": 0, "fixable": 1 },
        })
    );
}

#[test]
fn fingerprints_survive_moved_and_indented_lines_and_are_never_alike() {
    let of = |files: &[(&str, &[u8])], count: usize| -> Vec<String> {
        let mut outcome = Case::new(files, b"proxy_pass").outcome();
        outcome.findings = vec![outcome.findings[0].clone(); count];
        let json: serde_json::Value = serde_json::from_str(&render(Format::Json, &outcome)).unwrap();
        let all = json["findings"].as_array().unwrap().iter();
        all.map(|finding| finding["fingerprint"].as_str().unwrap().to_owned()).collect()
    };
    let before = of(&[("site.conf", SITE)], 2);
    let moved = [b"# new\n\n", SITE].concat();
    let moved = String::from_utf8(moved).unwrap().replace("        proxy_pass", "\tproxy_pass");
    assert_eq!(before, of(&[("/srv/x/../site.conf", moved.as_bytes())], 2));
    assert_ne!(before[0], before[1]);
    assert_ne!(before, of(&[("other.conf", SITE)], 2));
    assert_ne!(before, of(&[("site.conf", SITE_8081)], 2));
}

#[test]
fn colours_only_where_wanted() {
    let outcome = Case::new(&[("a", SITE)], b"proxy_pass").outcome();
    for format in [Format::Text, Format::Concise] {
        let look =
            Look { base: Path::new("/"), root: Path::new("/"), width: 80, color: true, links: false, ascii: true };
        let mut out = Vec::new();
        write(format, &outcome, look, &mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().contains("\x1b["), "{format:?}");
    }
}
