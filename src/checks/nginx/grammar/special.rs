//! Directives with rules of their own about their arguments.

use super::arguments::{self, Wrong};
use super::{Line, keyed, lists, rare};
use crate::catalog::nginx::values::{self, TimeUnit};
use crate::catalog::nginx::{Area, Context, Directive};
use crate::checks::nginx::address::{self, Form};
use crate::model::Word;
use crate::model::nginx::expressions::{holds_variables, is_fixed};
use crate::version::VersionSet;

/// What nginx refuses of a line beyond what its kind of value tells.
pub(super) fn judge<'m>(line: Line<'m>, directive: &Directive, target: &VersionSet) -> Option<Wrong<'m>> {
    own(line, directive, target)
        .or_else(|| rare::judge(line))
        .or_else(|| keyed::judge(line, directive))
        .or_else(|| variables(line))
}

fn own<'m>(line: Line<'m>, directive: &Directive, target: &VersionSet) -> Option<Wrong<'m>> {
    match directive.name {
        "listen" => listen(line),
        "server" if line.context != Context::Http => backend(line),
        "location" => location(line),
        "if" => super::condition::judge(line),
        "error_page" => error_page(line),
        "return" if line.context.area() == Area::Http => return_code(line),
        "set" => variable_name(line, 0, target),
        "map" | "split_clients" => variable_name(line, 1, target),
        "geo" => variable_name(line, line.args().len() - 1, target),
        "auth_request_set" | "perl_set" => variable_name(line, 0, target),
        "expires" => expires(line),
        "allow" | "deny" => network(line),
        "proxy_pass" if line.context.area() == Area::Http => url_prefix(line, &["http://", "https://"]),
        "proxy_cache_valid" | "fastcgi_cache_valid" | "uwsgi_cache_valid" | "scgi_cache_valid" => cache_valid(line),
        "keepalive_timeout" if line.context != Context::Upstream => keepalive_timeout(line),
        "error_log" => error_log(line),
        "keepalive" => arguments::number(line.args().next()?, "keepalive"),
        "limit_conn" => limit_conn(line),
        "proxy_redirect" => one_of_when_alone(line, &["off", "default"]).or_else(|| lists::default_redirect(line)),
        "proxy_cookie_domain" | "proxy_cookie_path" => one_of_when_alone(line, &["off"]),
        "worker_processes" => number_or(line, &["auto"]),
        "worker_connections" => in_range(line, 1, i64::from(i32::MAX)),
        "worker_priority" => worker_priority(line),
        "zone" => line.args().nth(1).and_then(|word| arguments::size(word, "zone", false)),
        "directio" => line.args().next().filter(|w| !w.is("off")).and_then(|w| arguments::size(w, "directio", true)),
        "load_module" => load_module(line),
        "limit_except" => limit_except(line),
        "resolver" => resolver(line),
        "use" => one_of(
            line,
            &["epoll", "poll", "select", "kqueue", "eventport", "/dev/poll", "devpoll", "iocp", "win32_select"],
        ),
        "aio" => aio(line),
        "worker_cpu_affinity" => cpu_masks(line),
        "proxy_bind" | "fastcgi_bind" | "uwsgi_bind" | "scgi_bind" | "grpc_bind" | "memcached_bind" | "tunnel_bind" => {
            bind(line)
        }
        "random" => one_of(line, &["two"]),
        "least_time" => one_of(line, &["header", "last_byte", "connect", "first_byte"]),
        "sticky" => one_of(line, &["cookie", "route", "learn", "header"]),
        "access_log" if line.context.area() == Area::Stream => stream_log(line),
        "gzip_comp_level" => in_range(line, 1, 9),
        "limit_req_status" | "limit_conn_status" => in_range(line, 400, 599),
        "ssl_ocsp_cache" => ocsp_cache(line),
        "userid_mark" => userid_mark(line),
        "userid_expires" => line
            .args()
            .next()
            .filter(|w| !w.is("off") && !w.is("max"))
            .and_then(|w| arguments::time(w, "userid_expires", TimeUnit::Seconds)),
        "proxy_cookie_flags" => one_of_when_alone(line, &["off"]),
        "http2_max_concurrent_pushes" => arguments::number(line.args().next()?, "http2_max_concurrent_pushes"),
        _ => None,
    }
}

/// A `$` that begins no variable, where variables may stand.
pub(super) fn variables(line: Line<'_>) -> Option<Wrong<'_>> {
    let words = line.args().enumerate().filter(|(_, word)| word.value().contains(&b'$'));
    words.filter(|(i, word)| holds_variables(line.node, *i, *word)).find_map(|(_, word)| broken_variable(word))
}

/// `$` without a name behind it, `${name` without `}` (`ngx_http_script_compile`).
pub(super) fn broken_variable(word: Word<'_>) -> Option<Wrong<'_>> {
    let mut rest = word.value();
    while let Some(at) = memchr::memchr(b'$', rest) {
        rest = &rest[at + 1..];
        if rest.first().is_some_and(|b| (b'1'..=b'9').contains(b)) {
            continue;
        }
        let bracket = rest.starts_with(b"{");
        let name = rest[usize::from(bracket)..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let text = String::from_utf8_lossy(&rest[..name + usize::from(bracket)]).into_owned();
        if bracket && rest.get(1 + name) != Some(&b'}') {
            let message = if text.chars().skip(1).all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit()) {
                format!(
                    "nginx finds no `}}` behind `${text}` and does not know variables of the environment: it refuses the file until something fills them in"
                )
            } else {
                format!("nginx finds no `}}` behind `${text}` and refuses the file")
            };
            return Some(Wrong::new(word, message));
        }
        if name == 0 {
            return Some(Wrong::new(word, "no name of a variable follows the `$`: nginx refuses the file"));
        }
        rest = &rest[name..];
    }
    None
}

fn listen(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().next()?;
    if word.value().is_empty() {
        return None;
    }
    let error = address::parse(word.value(), Form { listen: true, uri: false }).err()?;
    Some(Wrong::new(word, format!("`listen` cannot read `{}`: {error}", word.text())))
}

fn backend(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().next()?;
    let stream = line.context == Context::StreamUpstream;
    match address::parse(word.value(), Form::default()) {
        Err("invalid host") if word.value().windows(3).any(|w| w == b"://") => {
            Some(Wrong::new(word, format!("`server` takes a host and a port without a scheme, not `{}`", word.text())))
        }
        Err(error) => Some(Wrong::new(word, format!("`server` cannot read `{}`: {error}", word.text()))),
        Ok(url) if stream && url.port.is_none() && !url.unix => {
            Some(Wrong::new(word, format!("`server` of a stream upstream needs a port behind `{}`", word.text())))
        }
        Ok(_) => None,
    }
}

fn location(line: Line<'_>) -> Option<Wrong<'_>> {
    let first = line.args().next()?;
    let two = line.args().len() == 2;
    if two && !matches!(first.value(), b"=" | b"^~" | b"~" | b"~*") {
        let text = first.text();
        return Some(Wrong::new(
            first,
            format!("`{text}` is no modifier of a `location`; it takes `=`, `^~`, `~` or `~*`"),
        ));
    }
    super::nesting::judge(line)
}

fn error_page(line: Line<'_>) -> Option<Wrong<'_>> {
    let words: Vec<Word<'_>> = line.args().collect();
    let (_, before) = words.split_last()?;
    let (last, codes) = before.split_last()?;
    let codes = match last.value().strip_prefix(b"=") {
        None => before,
        Some(_) if codes.is_empty() => {
            return Some(Wrong::new(*last, "`error_page` needs the code of an error in front of `=`"));
        }
        Some(code) if !code.is_empty() && values::number(code).is_none() => {
            return Some(Wrong::new(*last, format!("`{}` is no code to answer with", last.text())));
        }
        Some(_) => codes,
    };
    let wrong = codes.iter().find(|word| !matches!(values::number(word.value()), Some(300..=498 | 500..=599)))?;
    Some(Wrong::new(*wrong, format!("`error_page` takes codes from 300 to 599 without 499, not `{}`", wrong.text())))
}

fn return_code(line: Line<'_>) -> Option<Wrong<'_>> {
    let first = line.args().next()?;
    let value = first.value();
    let url = [&b"http://"[..], b"https://", b"$scheme"].iter().any(|start| value.starts_with(start));
    match values::number(value) {
        Some(0..=999) => None,
        None if url && line.args().len() == 1 => None,
        _ => Some(Wrong::new(
            first,
            format!(
                "`return` takes a code, or a URL alone that begins with `http://`, `https://` or `$scheme`, not `{}`",
                first.text()
            ),
        )),
    }
}

fn variable_name<'m>(line: Line<'m>, index: usize, target: &VersionSet) -> Option<Wrong<'m>> {
    let word = line.args().nth(index)?;
    if let Some(name) = word.value().strip_prefix(b"$") {
        let taken = is_fixed(name, line.context.area(), target);
        return taken.then(|| {
            let message =
                format!("`{}` is nginx's own and cannot be given another value: nginx refuses the file", word.text());
            Wrong::new(word, message)
        });
    }
    let message = format!("`{}` takes the name of a variable with its `$`, not `{}`", line.name(), word.text());
    Some(Wrong::new(word, message))
}

fn expires(line: Line<'_>) -> Option<Wrong<'_>> {
    let words: Vec<Word<'_>> = line.args().collect();
    let (word, modified) = match words.as_slice() {
        [one] => (*one, false),
        [first, second] if first.is("modified") => (*second, true),
        [first, ..] => {
            return Some(Wrong::new(
                *first,
                format!("`expires` with two arguments begins with `modified`, not `{}`", first.text()),
            ));
        }
        [] => return None,
    };
    let value = word.value();
    if value.contains(&b'$') {
        return broken_variable(word);
    }
    if !modified && matches!(value, b"epoch" | b"max" | b"off") {
        return None;
    }
    let (sign, time) = match value.split_first() {
        Some((sign @ (b'@' | b'+' | b'-'), time)) => (Some(*sign), time),
        _ => (None, value),
    };
    let parsed = values::time(time, TimeUnit::Seconds);
    let daily = sign == Some(b'@');
    if parsed.is_none() || daily && (modified || parsed > Some(86_400_000)) {
        let mut wrong =
            Wrong::new(word, format!("`expires` takes a time, `epoch`, `max` or `off`, not `{}`", word.text()));
        wrong.meant = if sign.is_none() { values::meant(value, true) } else { None };
        return Some(wrong);
    }
    None
}

fn network(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().next()?;
    let good = word.is("all") || word.is("unix:") || address::is_network(word.value());
    (!good).then(|| {
        Wrong::new(
            word,
            format!(
                "`{}` takes an address, a network such as `10.0.0.0/8`, `unix:` or `all`, not `{}`",
                line.name(),
                word.text()
            ),
        )
    })
}

fn url_prefix<'m>(line: Line<'m>, prefixes: &[&str]) -> Option<Wrong<'m>> {
    let word = line.args().next()?;
    let value = word.value();
    let lower = value[..value.len().min(8)].to_ascii_lowercase();
    if value.contains(&b'$') {
        return None;
    }
    let Some(prefix) = prefixes.iter().find(|prefix| lower.starts_with(prefix.as_bytes())) else {
        let message =
            format!("`{}` takes a URL that begins with `http://` or `https://`, not `{}`", line.name(), word.text());
        return Some(Wrong::new(word, message));
    };
    let error = address::parse(&value[prefix.len()..], Form { listen: false, uri: true }).err()?;
    Some(Wrong::new(word, format!("`{}` cannot read `{}`: {error}", line.name(), word.text())))
}

fn cache_valid(line: Line<'_>) -> Option<Wrong<'_>> {
    let words: Vec<Word<'_>> = line.args().collect();
    let (time, codes) = words.split_last()?;
    let name = line.name();
    arguments::time(*time, &name, TimeUnit::Seconds).or_else(|| {
        let wrong = codes.iter().find(|w| !w.is("any") && !matches!(values::number(w.value()), Some(100..=599)))?;
        Some(Wrong::new(*wrong, format!("`{name}` takes codes from 100 to 599 or `any`, not `{}`", wrong.text())))
    })
}

fn keepalive_timeout(line: Line<'_>) -> Option<Wrong<'_>> {
    let mut words = line.args();
    let first = arguments::time(words.next()?, "keepalive_timeout", TimeUnit::Milliseconds);
    first.or_else(|| arguments::time(words.next()?, "keepalive_timeout", TimeUnit::Seconds))
}

fn error_log(line: Line<'_>) -> Option<Wrong<'_>> {
    const LEVELS: [&str; 8] = ["emerg", "alert", "crit", "error", "warn", "notice", "info", "debug"];
    let word = line.args().nth(1)?;
    let debug = word.value().starts_with(b"debug_");
    let known = debug || LEVELS.iter().any(|level| word.is(level)) || word.is("json");
    (!known).then(|| {
        let near = crate::suggest::did_you_mean(&word.text(), LEVELS);
        Wrong::new(word, format!("`{}` is no level of `error_log`: nginx refuses the file{near}", word.text()))
    })
}

fn limit_conn(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().nth(1)?;
    let good = matches!(values::number(word.value()), Some(1..=65535));
    (!good).then(|| {
        Wrong::new(word, format!("`limit_conn` takes a number of connections from 1 to 65535, not `{}`", word.text()))
    })
}

fn one_of_when_alone<'m>(line: Line<'m>, words: &[&str]) -> Option<Wrong<'m>> {
    let word = line.args().next().filter(|_| line.args().len() == 1)?;
    let known = words.iter().any(|known| word.is(known));
    (!known).then(|| {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Wrong::new(
            word,
            format!(
                "`{}` with one argument takes {}, not `{}`",
                line.name(),
                super::names::any_of(&words),
                word.text()
            ),
        )
    })
}

fn number_or<'m>(line: Line<'m>, words: &[&str]) -> Option<Wrong<'m>> {
    let word = line.args().next()?;
    let good = words.iter().any(|known| word.is(known)) || values::number(word.value()).is_some();
    (!good).then(|| {
        Wrong::new(
            word,
            format!("`{}` takes a whole number or `{}`, not `{}`", line.name(), words.join("`, `"), word.text()),
        )
    })
}

fn worker_priority(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().next()?;
    let value = word.value();
    let digits = value.strip_prefix(b"-").or(value.strip_prefix(b"+")).unwrap_or(value);
    arguments::number_of(word, digits, "worker_priority")
}

/// `stream` has no format of its own.
fn stream_log(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().next().filter(|word| line.args().len() == 1 && !word.is("off"))?;
    Some(Wrong::new(word, "`access_log` of `stream` needs the name of a `log_format`: nginx refuses the file"))
}

/// The first argument is one of these words.
fn one_of<'m>(line: Line<'m>, words: &[&str]) -> Option<Wrong<'m>> {
    let word = line.args().next()?;
    let known = words.iter().any(|known| word.is(known));
    (!known).then(|| {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let message = format!("`{}` takes {}, not `{}`", line.name(), super::names::any_of(&words), word.text());
        Wrong::new(word, message)
    })
}

fn aio(line: Line<'_>) -> Option<Wrong<'_>> {
    if line.args().next()?.value().starts_with(b"threads=") {
        return None;
    }
    one_of(line, &["on", "off", "threads", "sendfile"])
}

fn cpu_masks(line: Line<'_>) -> Option<Wrong<'_>> {
    let masks = line.args().skip(usize::from(line.args().next()?.is("auto")));
    let wrong = masks.into_iter().find(|word| !word.value().iter().all(|b| matches!(b, b'0' | b'1')))?;
    Some(Wrong::new(wrong, format!("`worker_cpu_affinity` takes masks of `0` and `1`, not `{}`", wrong.text())))
}

fn bind(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().next()?;
    let value = word.value();
    let url = address::parse(value, Form::default());
    let ip = |host: &[u8]| {
        std::str::from_utf8(host).is_ok_and(|host| host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok())
    };
    let good = value.contains(&b'$') || word.is("off") || ip(value) || url.is_ok_and(|url| url.unix || ip(url.host));
    (!good).then(|| {
        Wrong::new(word, format!("`{}` takes an address of this machine or `off`, not `{}`", line.name(), word.text()))
    })
}

fn in_range(line: Line<'_>, least: i64, most: i64) -> Option<Wrong<'_>> {
    let word = line.args().next()?;
    let good = values::number(word.value()).is_some_and(|number| (least..=most).contains(&number));
    (!good).then(|| {
        Wrong::new(word, format!("`{}` takes a number from {least} to {most}, not `{}`", line.name(), word.text()))
    })
}

fn ocsp_cache(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().next()?;
    let good = word.is("off") || word.value().strip_prefix(b"shared:").is_some_and(|zone| zone.contains(&b':'));
    (!good)
        .then(|| Wrong::new(word, format!("`ssl_ocsp_cache` takes `off` or `shared:NAME:SIZE`, not `{}`", word.text())))
}

fn userid_mark(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().next()?;
    let good = word.is("off") || matches!(word.value(), [b] if b.is_ascii_alphanumeric() || *b == b'=');
    (!good).then(|| {
        Wrong::new(word, format!("`userid_mark` takes `off` or one letter, digit or `=`, not `{}`", word.text()))
    })
}

/// Modules are loaded before the first block.
fn load_module(line: Line<'_>) -> Option<Wrong<'_>> {
    let block = line
        .node
        .level()
        .children()
        .take_while(|node| node.id() < line.node.id())
        .find(|node| !matches!(node.body(), crate::syntax::tree::Body::None { .. }))?;
    Some(Wrong::line(format!(
        "`load_module` stands behind the `{}` block: nginx loads modules only before the first block and refuses the file",
        String::from_utf8_lossy(block.name())
    )))
}

fn limit_except(line: Line<'_>) -> Option<Wrong<'_>> {
    const METHODS: [&str; 15] = [
        "GET",
        "HEAD",
        "POST",
        "PUT",
        "DELETE",
        "MKCOL",
        "COPY",
        "MOVE",
        "OPTIONS",
        "PROPFIND",
        "PROPPATCH",
        "LOCK",
        "UNLOCK",
        "PATCH",
        "CONNECT",
    ];
    let known = |word: &Word<'_>| METHODS.iter().any(|method| word.value().eq_ignore_ascii_case(method.as_bytes()));
    let wrong = line.args().find(|word| !known(word))?;
    Some(Wrong::new(wrong, format!("`{}` is no method that `limit_except` knows", wrong.text())))
}

fn resolver(line: Line<'_>) -> Option<Wrong<'_>> {
    let last = line.args().find(|word| word.is("ipv4=off"));
    if let Some(word) = last.filter(|_| line.args().any(|word| word.is("ipv6=off"))) {
        return Some(Wrong::new(word, "`ipv4` and `ipv6` cannot both be off: nothing could be resolved"));
    }
    line.args().find_map(|word| {
        let value = word.value();
        let on_or_off = |key: &[u8]| value.strip_prefix(key).map(|value| matches!(value, b"on" | b"off"));
        let flag = on_or_off(b"ipv6=").or_else(|| on_or_off(b"ipv4="));
        let time = || value.strip_prefix(b"valid=").map(|time| values::time(time, TimeUnit::Seconds).is_some());
        match flag.or_else(time) {
            Some(false) => Some(Wrong::new(word, format!("`resolver` does not understand `{}`", word.text()))),
            _ => None,
        }
    })
}
