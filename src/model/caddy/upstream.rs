//! Addresses of backends, as `reverse_proxy` takes them.

/// How requests reach a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// None is written: HTTP, or HTTPS if the transport says so.
    None,
    /// `http://`
    Http,
    /// `https://`
    Https,
    /// `h2c://`, `unix+h2c/`: HTTP/2 without TLS.
    H2c,
    /// Any other.
    Other,
}

/// What kind of address it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// A host and port.
    Tcp,
    /// A socket in the file system.
    Unix,
    /// Anything else: `udp/`, `fd/`.
    Other,
}

/// One address of a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// How requests reach it.
    pub scheme: Scheme,
    /// What kind of address it is.
    pub network: Network,
    /// The host, without brackets; the path of a socket.
    pub host: String,
    /// The port or range of ports as written; empty if none is.
    pub port: String,
}

impl Address {
    /// Reads an address. Any text is one; whether Caddy accepts it is another question.
    pub fn parse(text: &str) -> Self {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (scheme_of(scheme), rest),
            None => (Scheme::None, text),
        };
        let (network, rest) = match rest.split_once('/') {
            Some((network, rest)) if scheme == Scheme::None => (network, rest),
            _ => ("tcp", rest),
        };
        let scheme = if network == "unix+h2c" { Scheme::H2c } else { scheme };
        let network = match network {
            "tcp" | "tcp4" | "tcp6" => Network::Tcp,
            "unix" | "unix+h2c" | "unixgram" | "unixpacket" => Network::Unix,
            _ => Network::Other,
        };
        let (host, port) = if network == Network::Unix { (rest, "") } else { split_port(rest) };
        Self { scheme, network, host: host.to_owned(), port: port.to_owned() }
    }

    /// How many addresses it is: a range of ports is as many as it has ports, one with a placeholder
    /// as many as its values.
    pub fn count(&self) -> Option<u32> {
        if self.host.contains('{') || self.port.contains('{') {
            return None;
        }
        let (first, last) = self.port.split_once('-').unwrap_or((&self.port, &self.port));
        match (first.parse::<u16>(), last.parse::<u16>()) {
            (Ok(first), Ok(last)) if first <= last => Some(u32::from(last - first) + 1),
            _ => Some(1),
        }
    }
}

fn scheme_of(text: &str) -> Scheme {
    match text {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        "h2c" => Scheme::H2c,
        _ => Scheme::Other,
    }
}

fn split_port(text: &str) -> (&str, &str) {
    let text = text.split('/').next().unwrap_or(text);
    if let Some(rest) = text.strip_prefix('[')
        && let Some((host, after)) = rest.split_once(']')
    {
        return (host, after.strip_prefix(':').unwrap_or(""));
    }
    match text.rsplit_once(':') {
        // Several colons without brackets are an IPv6 address.
        Some((host, port)) if !host.contains(':') || host.contains('{') => (host, port),
        _ => (text, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (Scheme, Network, String, String, Option<u32>) {
        let address = Address::parse(text);
        let count = address.count();
        (address.scheme, address.network, address.host, address.port, count)
    }

    fn is(text: &str, scheme: Scheme, network: Network, host: &str, port: &str, count: Option<u32>) {
        assert_eq!(parts(text), (scheme, network, host.to_owned(), port.to_owned(), count), "{text}");
    }

    #[test]
    fn forms() {
        use Network::{Other, Tcp, Unix};
        is("app", Scheme::None, Tcp, "app", "", Some(1));
        is("app:8080", Scheme::None, Tcp, "app", "8080", Some(1));
        is(":9000", Scheme::None, Tcp, "", "9000", Some(1));
        is("app:8000-8003", Scheme::None, Tcp, "app", "8000-8003", Some(4));
        is("http://app:8000-8003", Scheme::Http, Tcp, "app", "8000-8003", Some(4));
        is("https://app", Scheme::Https, Tcp, "app", "", Some(1));
        is("h2c://app:9000", Scheme::H2c, Tcp, "app", "9000", Some(1));
        is("unix//run/a.sock", Scheme::None, Unix, "/run/a.sock", "", Some(1));
        is("unix+h2c//run/a.sock", Scheme::H2c, Unix, "/run/a.sock", "", Some(1));
        is("[::1]:80", Scheme::None, Tcp, "::1", "80", Some(1));
        is("::1", Scheme::None, Tcp, "::1", "", Some(1));
        is("udp/a:1", Scheme::None, Other, "a", "1", Some(1));
        is("{host}:8080", Scheme::None, Tcp, "{host}", "8080", None);
        is("app:{env.PORT}", Scheme::None, Tcp, "app", "{env.PORT}", None);
    }
}
