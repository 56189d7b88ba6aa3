//! Where nginx reads variables in the arguments of a directive.

use crate::catalog::nginx::{Area, Context, lookup_in, variable};
use crate::model::{Node, Word};
use crate::version::{Holds, Server, VersionSet};

/// Directives with a handler of their own: from which argument on their values may hold variables.
const EXPRESSIONS: [(&str, usize); 52] = [
    ("access_log", 0),
    ("add_header", 1),
    ("add_trailer", 1),
    ("alias", 0),
    ("auth_basic_user_file", 0),
    ("auth_request_set", 1),
    ("error_page", 1),
    ("expires", 0),
    ("fastcgi_cache", 0),
    ("fastcgi_cache_key", 0),
    ("fastcgi_param", 1),
    ("fastcgi_pass", 0),
    ("fastcgi_store", 0),
    ("grpc_bind", 0),
    ("grpc_pass", 0),
    ("grpc_set_header", 1),
    ("hash", 0),
    ("if", 0),
    ("limit_conn_zone", 0),
    ("limit_req_zone", 0),
    ("log_format", 1),
    ("map", 0),
    ("memcached_pass", 0),
    ("proxy_bind", 0),
    ("proxy_cache", 0),
    ("proxy_cache_key", 0),
    ("proxy_cookie_domain", 0),
    ("proxy_cookie_path", 0),
    ("proxy_pass", 0),
    ("proxy_redirect", 0),
    ("proxy_set_header", 1),
    ("proxy_store", 0),
    ("return", 0),
    ("rewrite", 1),
    ("root", 0),
    ("scgi_cache", 0),
    ("scgi_cache_key", 0),
    ("scgi_param", 1),
    ("scgi_pass", 0),
    ("set", 1),
    ("split_clients", 0),
    ("ssl_certificate", 0),
    ("ssl_certificate_key", 0),
    ("sub_filter", 0),
    ("try_files", 0),
    ("uwsgi_cache", 0),
    ("uwsgi_cache_key", 0),
    ("uwsgi_param", 1),
    ("uwsgi_pass", 0),
    ("uwsgi_ssl_certificate", 0),
    ("uwsgi_ssl_certificate_key", 0),
    ("uwsgi_store", 0),
];

/// Whether nginx looks for variables in an argument. Names that are being defined and regular expressions
/// are none.
pub(crate) fn holds_variables(node: Node<'_>, index: usize, word: Word<'_>) -> bool {
    let name = node.name();
    let context = node.context();
    if context.holds_entries() {
        return context == Context::Map && index == 0 && !matches!(name, b"include");
    }
    let Some(directive) = lookup_in(name, context).next().filter(|directive| directive.is_official()) else {
        return false;
    };
    if directive.variables == Some(true) {
        return true;
    }
    let first = EXPRESSIONS.binary_search_by(|(known, _)| known.as_bytes().cmp(name)).map(|i| EXPRESSIONS[i].1);
    if first.is_ok_and(|first| index < first) || first.is_err() {
        return false;
    }
    match name {
        b"if" => !follows_match(node, index),
        b"map" | b"split_clients" => index == 0,
        b"rewrite" => index == 1,
        // Outside of servers nothing is made of them.
        b"ssl_certificate" | b"ssl_certificate_key" => context == Context::Server,
        b"limit_req_zone" | b"limit_conn_zone" => index == 0,
        b"access_log" => index == 0 || word.value().starts_with(b"if="),
        b"proxy_redirect" | b"proxy_cookie_domain" | b"proxy_cookie_path" => {
            index > 0 || !word.value().starts_with(b"~")
        }
        _ => true,
    }
}

/// Whether the word before compares with a regular expression.
fn follows_match(node: Node<'_>, index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|before| node.arg(before));
    before.is_some_and(|word| matches!(word.value(), b"~" | b"~*" | b"!~" | b"!~*"))
}

/// Whether a variable (without `$`) is nginx's own on every version of the target, in every build, and cannot be
/// given another value: "the duplicate variable".
pub(crate) fn is_fixed(name: &[u8], area: Area, target: &VersionSet) -> bool {
    let known = variable(&name.to_ascii_lowercase(), area).filter(|known| !known.family && !known.settable);
    known.is_some_and(|known| known.module.stock && target.holds(Server::Nginx, &known.versions) == Holds::Always)
}

/// The variables in a word: `$name`, `${name}`; not `$1`.
pub(crate) fn names(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    memchr::memchr_iter(b'$', value).filter_map(move |at| {
        let rest = &value[at + 1..];
        let inside = rest.strip_prefix(b"{").unwrap_or(rest);
        let end = inside.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let name = &inside[..end];
        (!name.is_empty() && !name[0].is_ascii_digit()).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(EXPRESSIONS.is_sorted());
    }

    #[test]
    fn names_of_variables() {
        let of = |text: &'static str| {
            names(text.as_bytes()).map(|n| String::from_utf8_lossy(n).into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of("http://${a}b$c/$1$"), ["a", "c"]);
    }
}
