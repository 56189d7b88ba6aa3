//! Directives that take keywords in any order: `listen`, `server`, `proxy_cache_path`, …

use super::arguments::Wrong;
use super::{Fault, Finder, Line};
use crate::catalog::nginx::values::{self, TimeUnit};
use crate::catalog::nginx::{Context, Directive, Value};
use crate::model::Word;

/// Directives whose arguments from the given one on are keywords of the catalogue and nothing else.
const KEYED: [(&str, usize); 28] = [
    ("access_log", 2),
    ("add_header", 2),
    ("add_trailer", 2),
    ("disable_symlinks", 0),
    ("fastcgi_cache_path", 1),
    ("fastcgi_param", 2),
    ("grpc_ssl_certificate_cache", 0),
    ("hash", 1),
    ("keepalive", 1),
    ("limit_conn_zone", 1),
    ("limit_req", 0),
    ("limit_req_zone", 1),
    ("listen", 1),
    ("open_file_cache", 0),
    ("open_log_file_cache", 0),
    ("proxy_bind", 1),
    ("proxy_cache_path", 1),
    ("proxy_ssl_certificate_cache", 0),
    ("rewrite", 2),
    ("scgi_cache_path", 1),
    ("scgi_param", 2),
    ("server", 1),
    ("ssl_certificate_cache", 0),
    ("ssl_session_cache", 0),
    ("thread_pool", 1),
    ("uwsgi_cache_path", 1),
    ("uwsgi_param", 2),
    ("uwsgi_ssl_certificate_cache", 0),
];

impl<'m> Finder<'_, 'm> {
    /// Keywords and values that only NGINX Plus knows.
    pub(super) fn commercial(&mut self, line: Line<'m>, directive: &'static Directive) {
        let found = commercial_word(line, directive);
        if let Some((word, what)) = found.filter(|_| !self.has_plus()) {
            let stated = self.cx.settings.nginx_build.is_some();
            let fault = if stated { Fault::InvalidArguments } else { Fault::ModuleNeeded };
            let message =
                format!("`{}` with `{what}` needs NGINX Plus; nginx without it refuses the file", line.name());
            self.add(fault, line.node, word.span(), message);
        }
    }
}

/// The first word that only NGINX Plus understands.
fn commercial_word<'m>(line: Line<'m>, directive: &'static Directive) -> Option<(Word<'m>, String)> {
    if directive.value == Value::Enum {
        // A list of words that Plus opens to any text.
        let open = directive.params.iter().any(|param| param.commercial && param.name.starts_with('<'));
        let word = line.args().next().filter(|_| open)?;
        let known = directive.params.iter().any(|param| word.value().eq_ignore_ascii_case(param.name.as_bytes()));
        return (!known).then(|| (word, word.text().into_owned()));
    }
    let words = line.args().skip(first_keyword(directive)?);
    let param =
        |word: Word<'_>| directive.params.iter().find(|param| param.commercial && means(word.value(), param.name));
    words.into_iter().find_map(|word| param(word).map(|param| (word, param.name.to_owned())))
}

fn first_keyword(directive: &Directive) -> Option<usize> {
    KEYED.binary_search_by(|(name, _)| (*name).cmp(directive.name)).ok().map(|i| KEYED[i].1)
}

/// Whether a word is a keyword: `backup` as it is, `weight=5` by its beginning.
fn means(word: &[u8], keyword: &str) -> bool {
    if keyword.ends_with(['=', ':']) { word.starts_with(keyword.as_bytes()) } else { word == keyword.as_bytes() }
}

/// A word that is no keyword, or a keyword with a value that nginx refuses.
pub(super) fn judge<'m>(line: Line<'m>, directive: &Directive) -> Option<Wrong<'m>> {
    let first = first_keyword(directive)?;
    // `server` of http is a block, and only the one of an upstream has keywords.
    let keyed = directive.name != "server" || matches!(line.context, Context::Upstream | Context::StreamUpstream);
    if !keyed {
        return None;
    }
    line.args().skip(first).find_map(|word| keyword(line, directive, word))
}

fn keyword<'m>(line: Line<'m>, directive: &Directive, word: Word<'m>) -> Option<Wrong<'m>> {
    let value = word.value();
    if directive.name == "access_log" && value.starts_with(b"gzip=") {
        return bad(word, "gzip=", matches!(values::number(&value[5..]), Some(1..=9)), "a level from 1 to 9");
    }
    let known = directive.params.iter().filter(|param| !param.name.starts_with('<')).find(|p| means(value, p.name));
    match known {
        Some(param) => wrong_value(directive.name, word, param.name),
        None => {
            let names = directive.params.iter().map(|param| param.name).filter(|name| !name.starts_with('<'));
            let text = word.text();
            let near = crate::suggest::did_you_mean(
                text.split('=').next().unwrap_or_default(),
                names.map(|n| n.trim_end_matches('=')),
            );
            Some(Wrong::new(
                word,
                format!("`{}` knows no parameter `{text}`: nginx refuses the file{near}", line.name()),
            ))
        }
    }
}

fn bad<'m>(word: Word<'m>, key: &str, good: bool, wanted: &str) -> Option<Wrong<'m>> {
    (!good).then(|| {
        Wrong::new(
            word,
            format!("`{key}` takes {wanted}, not `{}`", word.text().split_at(key.len().min(word.text().len())).1),
        )
    })
}

/// What a keyword's value must be.
fn wrong_value<'m>(directive: &str, word: Word<'m>, key: &str) -> Option<Wrong<'m>> {
    let value = word.value().get(key.len()..).unwrap_or_default();
    let number = values::number(value);
    let whole = "a whole number";
    match key {
        "weight=" | "burst=" | "delay=" | "min_uses=" | "threads=" | "max_queue=" | "backlog=" => {
            bad(word, key, number.is_some_and(|n| n > 0), "a whole number of 1 or more")
        }
        "max=" => bad(word, key, number.is_some_and(|n| n > 0), "a whole number of 1 or more"),
        "max_fails=" | "max_conns=" | "fastopen=" | "setfib=" | "loader_files=" | "manager_files=" => {
            bad(word, key, number.is_some(), whole)
        }
        "fail_timeout=" | "inactive=" | "valid=" => {
            bad(word, key, values::time(value, TimeUnit::Seconds).is_some(), "a time such as `30s` or `10m`")
        }
        "loader_sleep=" | "loader_threshold=" | "manager_sleep=" | "manager_threshold=" | "flush=" => {
            bad(word, key, values::time(value, TimeUnit::Milliseconds).is_some(), "a time such as `50ms` or `1s`")
        }
        "rcvbuf=" | "sndbuf=" => bad(word, key, values::size(value, false).is_some(), "a size such as `64k`"),
        "buffer=" => bad(word, key, values::size(value, false).is_some_and(|n| n > 0), "a size such as `64k`"),
        "max_size=" | "min_free=" => bad(word, key, values::size(value, true).is_some(), "a size such as `10g`"),
        "use_temp_path=" | "ipv6only=" => bad(word, key, matches!(value, b"on" | b"off"), "`on` or `off`"),
        "so_keepalive=" => bad(word, key, so_keepalive(value), "`on`, `off` or `idle:interval:count`"),
        "levels=" => bad(word, key, levels(value), "up to three lengths of 1 or 2, such as `1:2`"),
        "rate=" => bad(word, key, rate(value), "a rate such as `10r/s` or `30r/m`"),
        "keys_zone=" => bad(word, key, zone(value), "a name and a size, such as `static:10m`"),
        "zone=" if directive.ends_with("_zone") => bad(word, key, zone(value), "a name and a size, such as `one:10m`"),
        "shared:" => bad(word, key, zone(value), "a name and a size, such as `SSL:10m`"),
        "builtin:" => bad(word, key, number.is_some(), whole),
        _ => None,
    }
}

fn so_keepalive(value: &[u8]) -> bool {
    if matches!(value, b"on" | b"off") {
        return true;
    }
    let parts: Vec<&[u8]> = value.splitn(3, |b| *b == b':').collect();
    let time = |part: &[u8]| part.is_empty() || values::time(part, TimeUnit::Seconds).is_some();
    let count = |part: &&[u8]| part.is_empty() || values::number(part).is_some();
    let valid = time(parts[0]) && parts.get(1).is_none_or(|p| time(p)) && parts.get(2).is_none_or(count);
    let zero = |part: &&[u8]| part.is_empty() || part.iter().all(|b| *b == b'0');
    valid && !parts.iter().all(zero)
}

fn levels(value: &[u8]) -> bool {
    let parts: Vec<&[u8]> = value.split(|b| *b == b':').collect();
    value.is_empty() || parts.len() <= 3 && parts.iter().all(|part| matches!(*part, b"1" | b"2"))
}

fn rate(value: &[u8]) -> bool {
    let digits = value.strip_suffix(b"r/s").or(value.strip_suffix(b"r/m")).unwrap_or(value);
    values::number(digits).is_some_and(|n| n > 0)
}

/// `name:size`.
fn zone(value: &[u8]) -> bool {
    match memchr::memchr(b':', value) {
        Some(colon) => values::size(&value[colon + 1..], false).is_some(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(KEYED.is_sorted());
    }

    #[test]
    fn values_of_keywords() {
        assert!(levels(b"1:2") && levels(b"2") && !levels(b"3") && !levels(b"1:2:2:2") && !levels(b"1:"));
        assert!(rate(b"10r/s") && rate(b"5") && !rate(b"0r/s") && !rate(b"1.5r/s") && !rate(b"10 r/s"));
        assert!(so_keepalive(b"30m::10") && so_keepalive(b"on") && !so_keepalive(b"::") && !so_keepalive(b"yes"));
        assert!(zone(b"one:10m") && !zone(b"one") && !zone(b"one:10x"));
    }
}
