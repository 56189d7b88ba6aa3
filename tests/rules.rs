//! The pages of `rules/`: their examples, their shape, their index.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use proxylint::checks::CHECKS;
use proxylint::config::schema::schema;
use proxylint::files::Disk;
use proxylint::rule::example::{Example, Verdict};
use proxylint::rule::file::Page;
use proxylint::rule::set::read_folder;
use proxylint::rule::verify::verify;
use proxylint::rule::{Activation, Finds, RULES, RuleSet};

fn pages(folder: &str) -> Vec<(String, Page)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = read_folder(&Disk, &root.join(folder)).unwrap_or_else(|e| panic!("{e}"));
    let prefix = format!("{}/", root.display());
    pages.into_iter().map(|(path, page)| (path.trim_start_matches(&prefix).to_owned(), page)).collect()
}

fn assert_examples_hold(folder: &str) {
    let failures: Vec<String> =
        pages(folder).iter().flat_map(|(path, page)| verify(page, path)).map(|failure| failure.to_string()).collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn examples_of_the_pages_hold() {
    assert_examples_hold("rules");
}

#[test]
fn examples_of_declarative_rules_hold() {
    assert_examples_hold("fixtures/rules/declared");
}

#[test]
fn the_program_has_the_pages_of_the_folder() {
    let mut pages = pages("rules");
    pages.sort_by(|(_, a), (_, b)| a.rule.id.cmp(&b.rule.id));
    assert_eq!(RULES.len(), pages.len());
    for (rule, (path, page)) in RULES.iter().zip(&pages) {
        assert_eq!(*rule, page.rule, "{path}");
    }
}

#[test]
fn pages_have_the_sections_that_readers_expect() {
    for rule in RULES {
        let sections: Vec<&str> = rule.page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(sections, ["Why", "Fix", "Examples", "References"], "{}", rule.id);
        assert!(rule.page.ends_with('\n'), "{}", rule.id);
    }
}

#[test]
fn examples_say_whether_a_fix_is_safe() {
    for (path, page) in pages("rules") {
        let unsaid = |example: &&Example| matches!(&example.verdict, Verdict::Bad { fixed: Some(fixed) } if fixed.safe.is_none());
        let line =
            page.examples.iter().find(unsaid).map(|example| page.rule.page[..example.at].matches('\n').count() + 1);
        assert_eq!(line, None, "{path}: the `fixed` of the example at this line must say `safe` or `unsafe`");
    }
}

#[test]
fn messages_begin_small_and_one_sentence_has_no_full_stop() {
    for rule in RULES {
        let Some(message) = &rule.message else { continue };
        assert!(!message.starts_with(char::is_uppercase), "{}: {message}", rule.id);
        assert_eq!(message.ends_with('.'), message.matches(". ").count() == 1, "{}: {message}", rule.id);
    }
}

#[test]
fn names_are_unique_and_an_old_name_still_finds_its_rule() {
    let mut owners = BTreeMap::new();
    for rule in RULES {
        for name in std::iter::once(&rule.id).chain(rule.aliases.iter()) {
            assert_eq!(owners.insert(name.clone(), &rule.id), None, "two rules are called {name}");
            assert_eq!(RuleSet::builtin().find(name).unwrap().rule.id, rule.id);
        }
    }
}

#[test]
fn every_check_that_is_named_exists_and_every_check_is_used() {
    let mut unused: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
    for rule in RULES {
        if let Finds::Check { name, .. } = &rule.finds {
            assert!(CHECKS.iter().any(|check| check.name == name), "{}: no check is called {name}", rule.id);
            unused.retain(|check| check != name);
        }
    }
    assert!(unused.is_empty(), "no rule uses {unused:?}");
}

#[test]
fn the_index_lists_every_rule() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/README.md");
    let index = index();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &index).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, index, "rules/README.md is out of date; UPDATE=1 cargo test --test rules writes it");
}

/// It names every rule, too.
#[test]
fn the_schema_in_the_repository_is_that_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/proxylint.schema.json");
    let text = format!("{:#}\n", schema());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "docs/proxylint.schema.json is out of date; UPDATE=1 cargo test --test rules writes it");
}

fn index() -> String {
    let mut text =
        "# Rules\n\nOne page a rule: what is wrong, what happens in production, how it is mended, examples that are \
                    tested. `proxylint explain RULE` prints a page, `proxylint rules` lists them.\n"
            .to_owned();
    let mut folder = "";
    for rule in RULES {
        let (in_folder, name) = rule.id.split_once('/').unwrap();
        if in_folder != folder {
            folder = in_folder;
            write!(
                text,
                "\n## {folder}\n\n| rule | severity | category | what is wrong |\n| --- | --- | --- | --- |\n"
            )
            .unwrap();
        }
        let (severity, category) = (rule.severity.as_str(), rule.category.as_str());
        let off = if rule.activation == Activation::Off { ", off by default" } else { "" };
        let summary = rule.summary.replace('|', "\\|");
        writeln!(text, "| [{name}]({folder}/{name}.md) | {severity}{off} | {category} | {summary} |").unwrap();
    }
    text
}
