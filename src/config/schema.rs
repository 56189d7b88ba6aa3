//! The JSON Schema of `proxylint.toml`, for editors.

use serde_json::{Map, Value, json};

use super::keys::{Key, Shape, TOP};
use crate::rule::{RULES, Rule};

/// The schema, as JSON Schema draft 7: what editors' TOML plug-ins know.
pub fn schema() -> Value {
    let mut schema = object(TOP);
    let head = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://raw.githubusercontent.com/proxylint/proxylint/main/docs/proxylint.schema.json",
        "title": "proxylint.toml",
        "description": "The configuration of proxylint, a linter for nginx.conf and Caddyfile.",
    });
    if let (Value::Object(schema), Value::Object(mut head)) = (&mut schema, head) {
        head.append(schema);
        head.insert(
            "definitions".to_owned(),
            json!({ "level": { "enum": ["off", "on", "info", "warning", "error"] } }),
        );
        *schema = head;
    }
    schema
}

fn object(keys: &[Key]) -> Value {
    let properties: Map<String, Value> = keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let needed: Vec<&str> = keys.iter().filter(|key| key.needed).map(|key| key.name).collect();
    let mut object = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !needed.is_empty() {
        object["required"] = json!(needed);
    }
    object
}

fn property(key: &Key) -> Value {
    let mut property = match key.shape {
        Shape::Text | Shape::Version(_) => json!({ "type": "string" }),
        Shape::Count => json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Severity => json!({ "enum": ["info", "warning", "error"] }),
        Shape::Texts => {
            json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" }, "minItems": 1 }] })
        }
        Shape::Pairs => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Shape::Rules { params } => rules(params),
        Shape::Tables(keys) => {
            let one = object(keys);
            json!({ "anyOf": [one, { "type": "array", "items": one }] })
        }
    };
    property["description"] = json!(key.about);
    property
}

/// Any name is allowed: a project may have rules of its own. Those known here are offered.
fn rules(params: bool) -> Value {
    let level = json!({ "$ref": "#/definitions/level" });
    let value = if params {
        let table = json!({ "type": "object", "properties": { "level": level } });
        json!({ "anyOf": [level, table] })
    } else {
        level
    };
    let groups = [
        ("all", "Every rule."),
        ("nginx", "The rules for nginx."),
        ("caddy", "The rules for Caddy."),
        ("security", "Rules on what someone can read, send or reach."),
        ("correctness", "Rules on what the server does otherwise than the text says."),
        ("performance", "Rules on what costs connections, time or memory."),
        ("upgrade", "Rules on what changes with a server version."),
        ("style", "Rules on what reads badly."),
    ];
    let described = |name: &str, about: &str| (name.to_owned(), json!({ "description": about, "allOf": [value] }));
    let groups = groups.iter().map(|(name, about)| described(name, about));
    let single = RULES.iter().map(|rule: &Rule| described(&rule.id, &rule.summary));
    let properties: Map<String, Value> = groups.chain(single).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": value })
}
