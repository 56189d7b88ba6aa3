use super::*;
use crate::files::Memory;
use crate::finding::Severity;
use crate::model::include::{Loader, PathMap, Root};
use crate::rule::Level;
use crate::rule::file;

/// A rule with that definition, on by its page's word.
fn rules(definitions: &[&str]) -> RuleSet {
    let mut rules = RuleSet::empty();
    for (number, definition) in definitions.iter().enumerate() {
        let id = format!("nginx/rule-{number}");
        let page = format!(
            "# {id}\n\nSummary.\n\n```toml rule\nseverity = \"warning\"\ncategory = \"style\"\nsince = \"0.1.0\"\n{definition}\n```\n"
        );
        rules.add(file::read(&id, "page.md", &page).unwrap().rule, "page.md").unwrap();
    }
    rules
}

fn model(files: &[(&str, &str)]) -> Model {
    let mut memory = Memory::new();
    for (path, text) in files {
        memory.insert(path, text.as_bytes());
    }
    Loader::new(files[0].0, Root::Implied, PathMap::default()).load(&memory).unwrap()
}

fn check(model: &Model, rules: &RuleSet, target: &str) -> Vec<Finding> {
    run(model, rules, &Versions::parse(Server::Nginx, target).unwrap(), &Settings::default())
}

/// A finding in short: path, line, message, and the places of its labels.
fn shown(model: &Model, finding: &Finding) -> String {
    let place = |span: crate::source::Span| {
        let file = model.file(span);
        format!("{}:{}", file.path().display(), file.line_of(span.start))
    };
    let labels: Vec<String> =
        finding.labels.iter().map(|label| format!("{} {}", place(label.span), label.message)).collect();
    format!("{} {} [{}]", place(finding.span), finding.message, labels.join(", "))
}

const AUTOINDEX: &str = "message = \"`{directive}` lists {arg.1}files\"\n\
                         match = { directive = [\"autoindex\"], in = [\"location\"], args = [\"on\"] }\n\
                         fix = { safety = \"safe\", remove = true }";

#[test]
fn a_text_that_is_included_in_several_places_is_one_finding() {
    let model = model(&[
        (
            "nginx.conf",
            "events {}\nhttp {\n server {\n  location /a { include list.inc; }\n  location /b { include list.inc; }\n }\n}\n",
        ),
        ("list.inc", "autoindex on;\n"),
    ]);
    let findings = check(&model, &rules(&[AUTOINDEX]), "1.24");
    assert_eq!(findings.len(), 1);
    assert_eq!(
        shown(&model, &findings[0]),
        "list.inc:1 `autoindex` lists files [nginx.conf:4 included here, nginx.conf:5 included here]"
    );
    assert_eq!(findings[0].fixes.len(), 1);
}

#[test]
fn a_fix_must_be_right_wherever_the_text_is_included() {
    let model = model(&[
        ("nginx.conf", "events {}\nhttp {\n include list.inc;\n server {\n  location /b { include sub.inc; }\n }\n}\n"),
        ("list.inc", "autoindex on;\n"),
        ("sub.inc", "include list.inc;\nautoindex on;\n"),
    ]);
    let findings = check(&model, &rules(&[AUTOINDEX]), "1.24");
    assert_eq!(findings.len(), 2);
    assert_eq!(shown(&model, &findings[0]), "list.inc:1 `autoindex` lists files [sub.inc:1 included here]");
    assert!(findings[0].fixes.is_empty() && findings[0].note.as_ref().unwrap().contains("several places"));
    assert_eq!(shown(&model, &findings[1]), "sub.inc:2 `autoindex` lists files []", "included once: no label");
    assert_eq!(findings[1].fixes.len(), 1);
}

#[test]
fn the_including_place_that_differs_is_told() {
    let model = model(&[
        ("nginx.conf", "events {}\nhttp {\n server {\n include a.inc;\n }\n server {\n include a.inc;\n }\n}\n"),
        ("a.inc", "location / { include list.inc; }\n"),
        ("list.inc", "autoindex on;\n"),
    ]);
    let findings = check(&model, &rules(&[AUTOINDEX]), "1.24");
    assert_eq!(findings.len(), 1);
    assert_eq!(
        shown(&model, &findings[0]),
        "list.inc:1 `autoindex` lists files [nginx.conf:4 included here, nginx.conf:7 included here]"
    );
}

#[test]
fn a_rule_is_silent_outside_its_versions_and_names_them_where_it_is_true_for_some() {
    let definition = "versions = \">=1.25.1\"\nmessage = \"it is so\"\nmatch = { directive = [\"ssl\"] }";
    let model = model(&[("nginx.conf", "server { ssl on; }\n")]);
    let found = |target| {
        let findings = check(&model, &rules(&[definition]), target);
        findings.first().map(|f| (f.message.clone(), f.versions.as_ref().map(|v| v.describe(Server::Nginx))))
    };
    assert_eq!(found("1.24"), None);
    assert_eq!(found("1.26"), Some(("it is so".to_owned(), None)));
    let some = Some("1.25.1 - 1.26.3".to_owned());
    assert_eq!(found(">=1.24, <1.27"), Some(("it is so (on nginx 1.25.1 and later)".to_owned(), some)));
    assert_eq!(
        name_versions("So. And so.", &VersionSet::all(), Server::Nginx, Holds::Sometimes),
        "So. And so (on every nginx)."
    );
}

#[test]
fn findings_are_sorted_by_path_place_and_rule() {
    let rule = |name: &str| format!("message = \"x\"\nmatch = {{ directive = [\"{name}\"] }}");
    let (listen, root) = (rule("listen"), rule("root"));
    let model = model(&[
        ("z.conf", "events {}\nhttp {\n include b.conf;\n include a.conf;\n root /z;\n}\n"),
        ("b.conf", "server { root /b; listen 1; }\n"),
        ("a.conf", "server { listen 2; }\n"),
    ]);
    let findings = check(&model, &rules(&[&root, &listen, &root]), "1.24");
    let places: Vec<String> = findings.iter().map(|f| format!("{} {}", &f.rule[6..], shown(&model, f))).collect();
    assert_eq!(
        places,
        [
            "rule-1 a.conf:1 x []",
            "rule-0 b.conf:1 x []",
            "rule-2 b.conf:1 x []",
            "rule-1 b.conf:1 x []",
            "rule-0 z.conf:5 x []",
            "rule-2 z.conf:5 x []"
        ]
    );
}

#[test]
fn only_running_rules_report_and_with_the_severity_of_the_run() {
    let model = model(&[("nginx.conf", "server { listen 1; }\n")]);
    let mut rules = rules(&["message = \"x\"\nmatch = { directive = [\"listen\"] }"]);
    rules.set("style", Level::At(Severity::Error), None).unwrap();
    assert_eq!(check(&model, &rules, "1.24")[0].severity, Severity::Error);
    rules.set("nginx/rule-0", Level::Off, None).unwrap();
    assert!(check(&model, &rules, "1.24").is_empty());
}

#[test]
fn shared_results_are_computed_once_and_may_build_on_others() {
    struct Names(usize);
    struct Twice(usize);
    let shared = Shared::default();
    let mut computed = 0;
    for _ in 0..2 {
        let twice = shared.get(|| {
            computed += 1;
            Twice(shared.get(|| Names(21)).0 * 2)
        });
        assert_eq!(twice.0, 42);
    }
    assert_eq!(computed, 1);
}
