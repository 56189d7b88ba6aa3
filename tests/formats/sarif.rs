//! SARIF by the official schema, and by what GitHub asks for.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::run::{Folder, Said};
use crate::{MAIN, SHOP, project, report};

/// The schema of the OASIS committee, as the crate `serde-sarif` ships it. It is not a dependency of
/// anything, so that no build needs it.
fn schema() -> Option<Value> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/schemas");
    let file = folder.join("sarif-2.1.0.json");
    if !file.exists() {
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/formats/fetch-sarif-schema");
        Command::new(script).arg(&file).status().ok()?;
    }
    let mut schema: Value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    // One of its patterns ends in a bracket that no regular expression of ECMA-262 has.
    for component in ["run", "toolComponent"] {
        schema["definitions"][component]["properties"]["language"]["pattern"] = "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$".into();
    }
    Some(schema)
}

#[test]
fn it_is_valid_by_the_official_schema() {
    let Some(schema) = schema() else {
        eprintln!("NOT CHECKED: the SARIF schema cannot be had here (tests/formats/fetch-sarif-schema)");
        assert!(std::env::var_os("CI").is_none(), "CI must have the SARIF schema");
        return;
    };
    let validator = jsonschema::validator_for(&schema).unwrap();
    let folder = project();
    for report in [report(&folder, "sarif"), crate::hostile::report("sarif"), nothing_found()] {
        let document: Value = serde_json::from_str(&report).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        let mut broken = document.clone();
        broken["runs"][0]["results"] = "none".into();
        assert!(!validator.is_valid(&broken), "the schema says no to something");
    }
}

fn nothing_found() -> String {
    let folder = Folder::new(&[("nginx.conf", "events {}\nhttp {}\n")]);
    Said::from(folder.command(["check", "--format", "sarif", "nginx.conf"]).output().unwrap()).exit(0).out
}

#[test]
fn it_has_what_github_shows() {
    let document: Value = serde_json::from_str(&report(&project(), "sarif")).unwrap();
    let run = &document["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for rule in rules {
        for key in ["shortDescription", "fullDescription"] {
            let text = rule[key]["text"].as_str().unwrap();
            assert!(!text.is_empty() && text.chars().count() <= 1024, "{text}");
        }
        let page = rule["help"]["markdown"].as_str().unwrap();
        assert!(page.starts_with("# ") && page.contains("\n## Why\n") && !page.contains("toml rule"), "{page}");
        assert!(rule["properties"]["precision"].is_string() && rule["properties"]["problem.severity"].is_string());
    }
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    for result in results {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(result["ruleId"], rules[index]["id"]);
        let region = &result["locations"][0]["physicalLocation"]["region"];
        for key in ["startLine", "startColumn", "endLine", "endColumn"] {
            assert!(region[key].as_u64().unwrap() >= 1, "{region}");
        }
        let related = result["relatedLocations"].as_array().cloned().unwrap_or_default();
        for location in related {
            let link = format!("]({})", location["id"]);
            assert!(result["message"]["text"].as_str().unwrap().contains(&link), "GitHub shows what is linked");
        }
        assert!(result["partialFingerprints"]["primaryLocationLineHash"].as_str().unwrap().contains(':'));
    }
}

#[test]
fn files_are_named_from_the_root_of_the_repository_without_links() {
    let folder = Folder::new(&[
        (".git/HEAD", ""),
        (
            "a b/nginx/nginx.conf",
            &MAIN.replace("conf.d/*", "sites-enabled/*").replace("    include missing.conf;\n", ""),
        ),
        ("a b/nginx/sites-available/shop", SHOP),
    ]);
    std::fs::create_dir(folder.join("a b/nginx/sites-enabled")).unwrap();
    std::os::unix::fs::symlink("../sites-available/shop", folder.join("a b/nginx/sites-enabled/shop.conf")).unwrap();
    let args = |format| ["check", "--nginx", "1.24", "--select", crate::RULES, "--format", format, "nginx"];
    let said = |format| {
        let mut command = folder.command(args(format));
        Said::from(command.current_dir(folder.join("a b")).output().unwrap()).exit(1).out
    };
    let document: Value = serde_json::from_str(&said("sarif")).unwrap();
    let place = &document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(place["uri"], "a%20b/nginx/sites-available/shop");
    assert_eq!(place["uriBaseId"], "%SRCROOT%");
    assert!(said("github").starts_with("::warning file=a b/nginx/sites-available/shop,line=4,"));
    let document: Value = serde_json::from_str(&said("gitlab")).unwrap();
    assert_eq!(document[0]["location"]["path"], "a b/nginx/sites-available/shop");
    let document: Value = serde_json::from_str(&said("rdjson")).unwrap();
    assert_eq!(document["diagnostics"][0]["location"]["path"], "nginx/sites-available/shop");
    assert!(said("concise").starts_with("nginx/sites-enabled/shop.conf:4:9: "));
}

#[test]
fn rules_of_users_are_described() {
    let folder = project();
    let page = "# own/gzip\n\nNo `gzip` *here*.\n\n```toml rule\nseverity = \"error\"\ncategory = \"security\"\nsince = \"0.1.0\"\n\
                message = \"gzip\"\nmatch = { directive = [\"root\"] }\n```\n\n## Why\n\nBecause.\n";
    folder.write("rules/nginx/own.md", page.replace("# own/gzip", "# nginx/own"));
    let args = ["check", "--rules", "rules", "--select", "nginx/own", "--format", "sarif", "deploy"];
    let said = Said::from(folder.command(args).output().unwrap()).exit(1);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    let rules = document["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let rule = rules.iter().find(|rule| rule["id"] == "nginx/own").unwrap();
    assert_eq!(rule["shortDescription"]["text"], "No `gzip` here.");
    assert_eq!(rule["properties"]["security-severity"], "8.0");
    assert!(rule.get("helpUri").is_none());
}

#[test]
fn what_was_not_read_is_a_failed_run() {
    let folder = project();
    folder.write("deploy/nginx.conf", "events {}\nhttp {\n    include /proc/self/mem;\n}\n");
    let args = ["check", "--select", crate::RULES, "--format", "sarif", "deploy/nginx.conf"];
    let said = Said::from(folder.command(args).output().unwrap()).exit(2);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    let invocation = &document["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["toolExecutionNotifications"][0]["level"], "error");
}
