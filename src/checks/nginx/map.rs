//! Keys of `map` and `geo`.

use foldhash::HashMap;

use super::text::whole_line;
use crate::catalog::nginx::Context;
use crate::checks::{Check, Cx, Run};
use crate::fix::{Edit, Fix};
use crate::model::{Node, Word};

/// Faults of map keys; the parameter `fault` says which.
pub static CHECK: Check = Check { name: "nginx/map", run: Run::Each(&["map"], report) };

fn report(cx: &mut Cx<'_>, map: Node<'_>) {
    if cx.params.text("fault") != Some("duplicate-map-key") || !matches!(map.context(), Context::Http | Context::Stream)
    {
        return;
    }
    let hostnames = map.children().any(|entry| entry.is("hostnames") && entry.args().len() == 0);
    let mut first: HashMap<Vec<u8>, Node<'_>> = HashMap::default();
    for entry in map.children() {
        let Some(word) = entry.words().next() else { continue };
        if entry.args().len() != 1 || word.is("include") {
            continue;
        }
        for key in keys(word, hostnames) {
            if let Some(known) = first.get(&key) {
                duplicate(cx, *known, entry, word);
                break;
            }
            first.insert(key, entry);
        }
    }
}

/// What nginx puts into its table for a key: small letters, without the `\` in front of `default`.
fn keys(word: Word<'_>, hostnames: bool) -> Vec<Vec<u8>> {
    let value = word.value();
    if value.starts_with(b"~") {
        return Vec::new();
    }
    let key = value.strip_prefix(b"\\").unwrap_or(value).to_ascii_lowercase();
    // `default` and `\default` are different keys.
    let key = if value.starts_with(b"\\") { [b"\\", key.as_slice()].concat() } else { key };
    match key.strip_prefix(b".").filter(|_| hostnames) {
        Some(host) => vec![host.to_vec(), [b"*.", host].concat()],
        None => vec![key],
    }
}

fn duplicate(cx: &mut Cx<'_>, first: Node<'_>, later: Node<'_>, word: Word<'_>) {
    let same_value = first.value(0) == later.value(0);
    let message = format!("the key `{}` stands twice in this map: nginx refuses the file", word.text());
    let report = cx.report(later, later.head(), message);
    report.label(first.head(), "the first");
    if same_value && later.head().file == later.span().file {
        report.fix(Fix::safe("remove the second", vec![Edit::replace(whole_line(later), "")]));
    }
}
