//! Addresses as nginx reads them (`ngx_parse_url`).

use crate::catalog::nginx::values;

/// A host and a port as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Url<'a> {
    /// The host, IPv6 in its brackets; the path of a socket behind `unix:`; empty for a port alone.
    pub(crate) host: &'a [u8],
    /// The port, where one is written; the first of a range.
    pub(crate) port: Option<u16>,
    /// The last port of a range.
    pub(crate) last_port: Option<u16>,
    /// What follows from the first `/` or `?` on.
    pub(crate) uri: &'a [u8],
    /// Whether it is `unix:…`.
    pub(crate) unix: bool,
}

/// What nginx may find in an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Form {
    /// An address to listen on: a port alone or a range of ports will do.
    pub(crate) listen: bool,
    /// A path may follow.
    pub(crate) uri: bool,
}

/// Reads an address; an error is nginx's own wording.
pub(crate) fn parse(text: &[u8], form: Form) -> Result<Url<'_>, &'static str> {
    if text.len() >= 5 && text[..5].eq_ignore_ascii_case(b"unix:") {
        return unix(&text[5..], form);
    }
    if text.starts_with(b"[") { inet6(text, form) } else { inet(text, form) }
}

fn unix(path: &[u8], form: Form) -> Result<Url<'_>, &'static str> {
    let colon = if form.uri { memchr::memchr(b':', path) } else { None };
    let (host, uri) = colon.map_or((path, &b""[..]), |at| (&path[..at], &path[at + 1..]));
    if host.is_empty() {
        return Err("no path in the unix domain socket");
    }
    // sun_path on Linux, its terminating zero included.
    if host.len() > 107 {
        return Err("too long path in the unix domain socket");
    }
    Ok(Url { host, port: None, last_port: None, uri, unix: true })
}

fn inet(text: &[u8], form: Form) -> Result<Url<'_>, &'static str> {
    let path = memchr::memchr2(b'/', b'?', text);
    if path.is_some() && (form.listen || !form.uri) {
        return Err("invalid host");
    }
    let (authority, uri) = text.split_at(path.unwrap_or(text.len()));
    let Some(colon) = memchr::memchr(b':', authority) else {
        return if form.listen { alone(authority) } else { with_host(authority, (None, None), uri) };
    };
    let ports = ports(&authority[colon + 1..], form.listen)?;
    with_host(&authority[..colon], ports, uri)
}

fn with_host<'a>(host: &'a [u8], ports: (Option<u16>, Option<u16>), uri: &'a [u8]) -> Result<Url<'a>, &'static str> {
    if host.is_empty() {
        return Err("no host");
    }
    Ok(Url { host, port: ports.0, last_port: ports.1, uri, unix: false })
}

/// A port or a range of ports, or a host without one.
fn alone(text: &[u8]) -> Result<Url<'_>, &'static str> {
    let first = text.split(|b| *b == b'-').next().unwrap_or_default();
    let range_end = memchr::memchr(b'-', text).map(|at| &text[at + 1..]);
    let is_ports = values::number(first).is_some() && range_end.is_none_or(|end| values::number(end).is_some());
    if !is_ports {
        return with_host(text, (None, None), b"");
    }
    let (port, last_port) = ports(text, true)?;
    Ok(Url { host: b"", port, last_port, uri: b"", unix: false })
}

fn inet6(text: &[u8], form: Form) -> Result<Url<'_>, &'static str> {
    let end = memchr::memchr(b']', text).ok_or("invalid host")?;
    let (host, rest) = text.split_at(end + 1);
    let path = memchr::memchr(b'/', rest);
    if path.is_some() && (form.listen || !form.uri) {
        return Err("invalid host");
    }
    let (port, uri) = rest.split_at(path.unwrap_or(rest.len()));
    let ports = match port.split_first() {
        None => (None, None),
        Some((b':', digits)) => ports(digits, form.listen)?,
        Some(_) => return Err("invalid host"),
    };
    let inside = &host[1..host.len() - 1];
    if inside.is_empty() {
        return Err("no host");
    }
    let valid = std::str::from_utf8(inside).is_ok_and(|text| text.parse::<std::net::Ipv6Addr>().is_ok());
    if !valid {
        return Err("invalid IPv6 address");
    }
    with_host(host, ports, uri)
}

fn ports(text: &[u8], range: bool) -> Result<(Option<u16>, Option<u16>), &'static str> {
    let port = |digits: &[u8]| match values::number(digits) {
        Some(n @ 1..=65535) => Ok(n as u16),
        _ => Err("invalid port"),
    };
    let Some(dash) = memchr::memchr(b'-', text).filter(|_| range) else { return Ok((Some(port(text)?), None)) };
    let (first, last) = (port(&text[..dash])?, port(&text[dash + 1..])?);
    if first > last { Err("invalid port range") } else { Ok((Some(first), Some(last))) }
}

/// Whether a text is an IPv4 or IPv6 address, or a network of them: `10.0.0.0/8`.
pub(crate) fn is_network(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
    let longest = match address.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(_)) => 32,
        Ok(std::net::IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    bits.is_none_or(|bits| {
        bits.parse::<u8>().is_ok_and(|bits| bits <= longest)
            || bits.parse::<std::net::Ipv4Addr>().is_ok() && longest == 32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTEN: Form = Form { listen: true, uri: false };

    #[test]
    fn listening_addresses() {
        let port = |text: &str| parse(text.as_bytes(), LISTEN).map(|url| (url.host.to_vec(), url.port));
        assert_eq!(port("80"), Ok((vec![], Some(80))));
        assert_eq!(port("127.0.0.1:8080"), Ok((b"127.0.0.1".to_vec(), Some(8080))));
        assert_eq!(port("[::]:80"), Ok((b"[::]".to_vec(), Some(80))));
        assert_eq!(port("localhost"), Ok((b"localhost".to_vec(), None)));
        assert_eq!(port("8000-8010"), Ok((vec![], Some(8000))));
        assert_eq!(port("*:80"), Ok((b"*".to_vec(), Some(80))));
        for (text, error) in [
            ("99999", "invalid port"),
            ("0", "invalid port"),
            ("${PORT:-80}", "invalid port"),
            ("a:b", "invalid port"),
            (":80", "no host"),
            ("a/b", "invalid host"),
            ("[::1", "invalid host"),
            ("[zz]:80", "invalid IPv6 address"),
            ("80-70", "invalid port range"),
            ("unix:", "no path in the unix domain socket"),
        ] {
            assert_eq!(port(text), Err(error), "{text}");
        }
    }

    #[test]
    fn backends() {
        let form = Form { listen: false, uri: true };
        let url = parse(b"app:3000/v1?x", form).unwrap();
        assert_eq!((url.host, url.port, url.uri), (&b"app"[..], Some(3000), &b"/v1?x"[..]));
        let url = parse(b"unix:/run/a.sock:/v1", form).unwrap();
        assert_eq!((url.host, url.uri, url.unix), (&b"/run/a.sock"[..], &b"/v1"[..], true));
        assert_eq!(parse(b"app:3000-3010", Form::default()), Err("invalid port"));
        assert_eq!(parse(b"app/x", Form::default()), Err("invalid host"));
    }

    #[test]
    fn networks() {
        for text in ["10.0.0.1", "10.0.0.0/8", "2001:db8::/32", "::1", "10.0.0.0/255.0.0.0"] {
            assert!(is_network(text.as_bytes()), "{text}");
        }
        for text in ["10.0.0", "10.0.0.0/33", "localhost", "all", "10.0.0.1:80"] {
            assert!(!is_network(text.as_bytes()), "{text}");
        }
    }
}
