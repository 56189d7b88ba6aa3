//! Differences in words.

use super::Difference;
use super::pairs::Pair;
use crate::model::nginx::effect::{self, BACKEND, TARGET};
use crate::model::{Level, Node};

/// Places that are named; more are counted.
const NAMED: usize = 2;

pub(super) fn place(pair: &Pair<'_>) -> String {
    level(pair.before)
}

/// A level for people: "`location /api` of `example.com`".
pub fn level(level: Level<'_>) -> String {
    let Some(node) = level.node() else { return "the main level".to_owned() };
    let head = String::from_utf8_lossy(&effect::text(node.words())).into_owned();
    match server(level).filter(|server| *server != node).and_then(|server| server.own("server_name").next()) {
        Some(name) => format!("`{head}` of `{}`", String::from_utf8_lossy(name.value(0).unwrap_or_default())),
        None => format!("`{head}`"),
    }
}

fn server(level: Level<'_>) -> Option<Node<'_>> {
    level.outward().filter_map(Level::node).find(|node| node.is("server"))
}

/// What a fix changes besides the fault, one sentence for each setting.
pub fn sentences(differences: &[Difference]) -> Vec<String> {
    let mut groups: Vec<Vec<&Difference>> = Vec::new();
    for difference in differences {
        let same = |group: &&mut Vec<&Difference>| {
            let Difference { key, before, after, elsewhere, .. } = group[0];
            (key, before, after, elsewhere)
                == (&difference.key, &difference.before, &difference.after, &difference.elsewhere)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(difference),
            None => groups.push(vec![difference]),
        }
    }
    groups.iter().map(|group| sentence(group)).collect()
}

fn sentence(group: &[&Difference]) -> String {
    let Difference { key, before, after, elsewhere, .. } = group[0];
    let name = String::from_utf8_lossy(&key.name);
    let item = title_case(&key.item);
    let what = match (&*key.name, before, after) {
        _ if *key.item == *super::ORDER => format!("`{name}` lines are carried out in another order"),
        (b"proxy_set_header" | b"grpc_set_header", before, after) => header(&item, before, after),
        (b"proxy_cache_key", ..) => "cache keys change: every entry is fetched once more".to_owned(),
        (b"proxy_redirect", before, after) => {
            format!("redirects of the backend are rewritten by {} instead of {}", value(after), value(before))
        }
        (b"proxy_ssl_name" | b"grpc_ssl_name" | b"uwsgi_ssl_name", before, after) => {
            format!("the backend's certificate is asked for as {} instead of {}", value(after), value(before))
        }
        (name, before, after) if name == BACKEND => {
            format!("requests go to {} instead of {}", value(after), value(before))
        }
        (name, before, after) if name == TARGET => {
            let asked = |it: &Option<Vec<u8>>| match it {
                Some(target) => quoted(target),
                None => "the path of the request".to_owned(),
            };
            format!("the backend is asked for {} instead of {}", asked(after), asked(before))
        }
        (b"keepalive_idle_conns_per_host", _, Some(after)) if **after == *b"off" => {
            "no idle connections to the backend are kept".to_owned()
        }
        (b"keepalive_idle_conns_per_host", before, after) => {
            format!("{} idle connections to each backend are kept instead of {}", value(after), value(before))
        }
        (b"add_header" | b"add_trailer", Some(before), None) => {
            format!("`{item}: {}` is no longer sent", lossy(before))
        }
        (b"add_header" | b"add_trailer", _, Some(after)) => format!("`{item}: {}` is sent", lossy(after)),
        (_, Some(_), None) => format!("`{key}` is no longer in effect"),
        (_, None, Some(after)) => format!("`{key}` is now in effect with {}", quoted(after)),
        (_, before, after) => {
            let item = if key.item.is_empty() { String::new() } else { format!(" {item}") };
            format!("`{name}{item}` is {} instead of {}", value(after), value(before))
        }
    };
    let also = if *elsewhere { " also" } else { "" };
    format!("{what}{also} in {}", places(group))
}

fn header(item: &str, before: &Option<Vec<u8>>, after: &Option<Vec<u8>>) -> String {
    let line = |value: &[u8]| format!("`{item}: {}`", lossy(value));
    match (before, after) {
        (Some(before), Some(after)) if after.is_empty() => format!("the backend no longer sees {}", line(before)),
        (Some(before), Some(after)) if !before.is_empty() => {
            format!("the backend sees {} instead of {}", line(after), line(before))
        }
        (_, Some(after)) => format!("the backend sees {}", line(after)),
        (Some(before), None) if before.is_empty() => format!("the backend sees the client's `{item}`"),
        (before, None) => {
            let before = before.as_deref().unwrap_or_default();
            format!("the backend no longer sees {}, but the client's", line(before))
        }
    }
}

fn places(group: &[&Difference]) -> String {
    let mut names: Vec<&str> = group.iter().map(|difference| difference.place.as_str()).collect();
    names.dedup();
    let named = names[..names.len().min(NAMED)].join(", ");
    if names.len() > NAMED { format!("{named} and {} more", names.len() - NAMED) } else { named }
}

fn value(value: &Option<Vec<u8>>) -> String {
    value.as_ref().map_or_else(|| "nothing".to_owned(), |value| quoted(value))
}

fn quoted(value: &[u8]) -> String {
    if value.is_empty() { "nothing".to_owned() } else { format!("`{}`", lossy(value)) }
}

fn lossy(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

/// `x-real-ip` as people write it.
fn title_case(item: &[u8]) -> String {
    let text = lossy(item);
    let parts = text.split('-').map(|part| {
        let mut chars = part.chars();
        chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
    });
    parts.collect::<Vec<_>>().join("-")
}
