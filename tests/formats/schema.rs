//! `docs/report.schema.json` is true: what `--format json` and `jsonl` write is valid by it, and it
//! describes no field that is never written.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::run::{Folder, Said};
use crate::{project, report};

fn schema() -> Value {
    serde_json::from_str(include_str!("../../docs/report.schema.json")).unwrap()
}

/// The schema without leave to add fields, as the documents of this version are to be.
fn strict() -> Value {
    fn close(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                if fields.contains_key("properties") {
                    fields.insert("additionalProperties".into(), json!(false));
                }
                fields.values_mut().for_each(close);
            }
            Value::Array(values) => values.iter_mut().for_each(close),
            _ => {}
        }
    }
    let mut schema = schema();
    close(&mut schema);
    schema
}

fn documents() -> Vec<Value> {
    let clean = Folder::new(&[("nginx.conf", "events {}\nhttp {}\n"), ("Caddyfile", "localhost\n")]);
    let clean = Said::from(clean.command(["check", "--format", "json", "."]).output().unwrap());
    let folder = project();
    folder.write("deploy/conf.d/lat.conf", b"server {\n    root /caf\xe9\n}\n");
    folder.write("deploy/nginx.conf", format!("{}# ", crate::MAIN));
    let mut all = vec![report(&folder, "json"), crate::hostile::report("json"), clean.out];
    for format in [report(&folder, "jsonl"), crate::hostile::report("jsonl")] {
        all.extend(format.lines().map(str::to_owned));
    }
    let args = ["check", "--format", "json", "--unsafe-fixes", "--fix", "--nginx", "1.24", "deploy"];
    all.push(Said::from(folder.command(args).output().unwrap()).out);
    all.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
}

#[test]
fn documents_are_valid() {
    let validator = jsonschema::validator_for(&strict()).unwrap();
    for document in documents() {
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}\n{document:#}");
        assert!(jsonschema::is_valid(&schema(), &document));
    }
    assert!(!validator.is_valid(&json!({ "version": 2 })));
}

#[test]
fn every_field_is_described_in_words() {
    fn names(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                if let Some(Value::Object(properties)) = fields.get("properties") {
                    found.extend(properties.keys().cloned());
                }
                fields.values().for_each(|value| names(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| names(value, found)),
            _ => {}
        }
    }
    let (mut found, page) = (BTreeSet::new(), include_str!("../../docs/json.md"));
    names(&schema(), &mut found);
    assert!(found.len() > 30, "{found:?}");
    for name in found {
        assert!(page.contains(&format!("`{name}")) || page.contains(&format!(".{name}`")), "{name}");
    }
}
