//! Directives that few people write, each with a rule of its own.

use foldhash::{HashMap, HashSet};

use super::arguments::Wrong;
use super::{Fault, Finder, Line, Unreadable, names, syslog};
use crate::catalog::nginx::{Area, values};
use crate::checks::nginx::address::{self, Form};
use crate::model::{Node, Word};

/// What nginx refuses of a line.
pub(super) fn judge(line: Line<'_>) -> Option<Wrong<'_>> {
    const WINDOWS: [&str; 7] = ["512", "1k", "2k", "4k", "8k", "16k", "32k"];
    const HASHES: [&str; 9] = ["512", "1k", "2k", "4k", "8k", "16k", "32k", "64k", "128k"];
    match line.node.name() {
        b"gzip_window" => one_size(line, &WINDOWS),
        b"gzip_hash" => one_size(line, &HASHES),
        b"modern_browser" | b"ancient_browser" => browser(line),
        b"pass" => pass(line),
        b"charset_map" => charsets(line),
        b"try_files" => code_at_the_end(line),
        b"log_format" => escaping(line),
        b"access_log" | b"error_log" => syslog::judge(line),
        b"sub_filter" => empty_pattern(line),
        b"protocol" => protocol(line),
        b"proxy_cache_path" | b"fastcgi_cache_path" | b"uwsgi_cache_path" | b"scgi_cache_path" => keys_zone(line),
        b"grpc_pass" | b"fastcgi_pass" | b"uwsgi_pass" | b"scgi_pass" | b"memcached_pass" => target(line),
        b"proxy_pass" if line.context.area() == Area::Stream => target(line),
        _ => None,
    }
}

fn one_size<'m>(line: Line<'m>, sizes: &[&str]) -> Option<Wrong<'m>> {
    let word = line.args().next()?;
    let bytes = values::size(word.value(), false)?;
    let known = sizes.iter().any(|size| values::size(size.as_bytes(), false) == Some(bytes));
    (!known)
        .then(|| Wrong::new(word, format!("`{}` takes {}, not `{}`", line.name(), names::any_of(sizes), word.text())))
}

/// `modern_browser msie 5.5`.
fn browser(line: Line<'_>) -> Option<Wrong<'_>> {
    const BROWSERS: [&str; 5] = ["msie", "gecko", "opera", "safari", "konqueror"];
    let mut words = line.args().filter(|_| line.node.is("modern_browser") && line.args().len() == 2);
    let (name, version) = (words.next()?, words.next()?);
    if !BROWSERS.iter().any(|known| name.is(known)) {
        let message = format!("`modern_browser` knows {}, not `{}`", names::any_of(&BROWSERS), name.text());
        return Some(Wrong::new(name, message));
    }
    let numbers = version.value().iter().all(|b| b.is_ascii_digit() || *b == b'.');
    (!numbers).then(|| Wrong::new(version, format!("`{}` is no version of a browser", version.text())))
}

/// `pass` of stream: an address, or variables that hold one.
fn pass(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().next().filter(|word| !word.value().contains(&b'$'))?;
    let url = match address::parse(word.value(), Form::default()) {
        Ok(url) => url,
        Err(error) => return Some(Wrong::new(word, format!("`pass` cannot read `{}`: {error}", word.text()))),
    };
    let host = String::from_utf8_lossy(url.host);
    let is_address = url.unix || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok();
    if !is_address {
        let message = format!("`pass` takes an IP address and a port, and looks no name up: `{}`", word.text());
        return Some(Wrong::new(word, message));
    }
    (!url.unix && url.port.is_none()).then(|| Wrong::new(word, format!("`pass` needs a port behind `{host}`")))
}

fn charsets(line: Line<'_>) -> Option<Wrong<'_>> {
    let mut words = line.args();
    let (from, to) = (words.next()?, words.next()?);
    let same = from.value().eq_ignore_ascii_case(to.value());
    same.then(|| Wrong::new(to, "`charset_map` maps a charset to another one, not to itself"))
}

/// `=404` at the end of `try_files`.
fn code_at_the_end(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().next_back()?;
    let code = word.value().strip_prefix(b"=")?;
    let good = matches!(values::number(code), Some(0..=999));
    (!good).then(|| Wrong::new(word, format!("`try_files` takes `=` and a code such as `=404`, not `{}`", word.text())))
}

fn escaping(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().nth(1)?;
    let escape = word.value().strip_prefix(b"escape=")?;
    let known = matches!(escape, b"default" | b"json" | b"none");
    (!known).then(|| Wrong::new(word, format!("`escape=` takes `default`, `json` or `none`, not `{}`", word.text())))
}

fn empty_pattern(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().next().filter(|word| word.value().is_empty())?;
    Some(Wrong::new(word, "`sub_filter` has nothing to look for: nginx refuses an empty text"))
}

/// `protocol` of a mail server.
fn protocol(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().next()?;
    let known = ["imap", "pop3", "smtp"].iter().any(|known| word.is(known));
    (!known).then(|| Wrong::new(word, format!("`protocol` takes `imap`, `pop3` or `smtp`, not `{}`", word.text())))
}

fn keys_zone(line: Line<'_>) -> Option<Wrong<'_>> {
    let has = line.args().any(|word| word.value().starts_with(b"keys_zone="));
    (!has).then(|| Wrong::line(format!("`{}` needs `keys_zone=NAME:SIZE`: nginx refuses it without", line.name())))
}

/// Where a pass leads, as far as it can be read: `host:port`, a socket, no path.
fn target(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().next().filter(|word| !word.value().contains(&b'$'))?;
    let schemes: &[&str] = match line.node.name() {
        b"grpc_pass" => &["grpc://", "grpcs://"],
        b"uwsgi_pass" => &["uwsgi://", "suwsgi://"],
        _ => &[],
    };
    let value = word.value();
    let begins = |scheme: &&&str| value.get(..scheme.len()).is_some_and(|v| v.eq_ignore_ascii_case(scheme.as_bytes()));
    let scheme = schemes.iter().find(begins).map_or(0, |scheme| scheme.len());
    let error = address::parse(&value[scheme..], Form::default()).err()?;
    let scheme =
        if memchr::memmem::find(&value[scheme..], b"://").is_some() { "; it takes no such scheme" } else { "" };
    Some(Wrong::new(word, format!("`{}` cannot read `{}`: {error}{scheme}", line.name(), word.text())))
}

impl<'m> Finder<'_, 'm> {
    /// Names that a list of referers has twice, and charsets that are mapped twice.
    pub(super) fn twice(&mut self, unreadable: &Unreadable) {
        let readable = |node: &Node<'m>| !unreadable.holds(*node);
        let lines: Vec<Node<'m>> = self.cx.model.named("valid_referers").filter(readable).collect();
        for level in lines.chunk_by(|a, b| a.parent().map(Node::id) == b.parent().map(Node::id)) {
            self.referers(level);
        }
        let mut maps: Vec<Node<'m>> = self.cx.model.named("charset_map").filter(readable).collect();
        maps.sort_by_key(|node| node.id());
        let mut first: HashMap<[Vec<u8>; 2], Node<'m>> = HashMap::default();
        for map in maps {
            let mut words = map.args().map(|word| word.value().to_ascii_lowercase());
            let (Some(from), Some(to)) = (words.next(), words.next()) else { continue };
            let known = *first.entry([(&from).min(&to).clone(), from.max(to)]).or_insert(map);
            if known.id() != map.id() {
                let message = "a `charset_map` between these charsets is there already: nginx refuses the second";
                self.add(Fault::DuplicateDirective, map, map.head(), message).label(known.head(), "the first");
            }
        }
    }

    /// The lines of one level.
    fn referers(&mut self, lines: &[Node<'m>]) {
        let mut seen: HashSet<Vec<u8>> = HashSet::default();
        let mut any = false;
        for line in lines {
            for word in line.args() {
                let name = word.value();
                any |= !matches!(name, b"none" | b"blocked");
                if matches!(name, b"none" | b"blocked" | b"server_names") || name.starts_with(b"~") {
                    continue;
                }
                if !seen.insert(referer(word)) {
                    let message = format!("`{}` is in the list already: nginx refuses the file", word.text());
                    self.add(Fault::InvalidArguments, *line, word.span(), message);
                }
            }
        }
        if let Some(line) = lines.first().filter(|_| !any) {
            let message = "`valid_referers` has nothing but `none` and `blocked`: nginx refuses a list without a host";
            self.add(Fault::InvalidArguments, *line, line.head(), message);
        }
    }
}

/// The host of an entry: what follows the first `/` is the beginning of a path.
fn referer(word: Word<'_>) -> Vec<u8> {
    let name = word.value();
    name[..memchr::memchr(b'/', name).unwrap_or(name.len())].to_ascii_lowercase()
}
