//! The `server` blocks of `http` and the sockets that they listen on.

use std::collections::BTreeMap;

use foldhash::HashMap;

use super::address::{self, Form};
use crate::catalog::nginx::Context;
use crate::checks::Cx;
use crate::model::{Model, Node, NodeId};

/// An address and a port, as two `listen` lines are compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Socket {
    /// `*` for every IPv4 address, `[::]` for every IPv6 one, else the address as written, or a path.
    pub(crate) host: Vec<u8>,
    /// 0 for a socket in the file system.
    pub(crate) port: u16,
    /// Whether it is UDP (`quic`).
    pub(crate) udp: bool,
}

impl Socket {
    /// Whether it takes connections to every address of its family.
    pub(crate) fn is_wildcard(&self) -> bool {
        self.host == b"*" || self.host == b"[::]"
    }

    /// As people write it.
    pub(crate) fn text(&self) -> String {
        let host = String::from_utf8_lossy(&self.host);
        if self.port == 0 { format!("unix:{host}") } else { format!("{host}:{}", self.port) }
    }
}

/// One `listen` line, or the one that nginx assumes where a server has none.
#[derive(Debug, Clone)]
pub(crate) struct Listen {
    /// The line; `None` where it is assumed.
    pub(crate) line: Option<NodeId>,
    /// Index of its server in [`Servers::all`].
    pub(crate) server: usize,
    /// What it listens on.
    pub(crate) socket: Socket,
    /// What else the line says.
    pub(crate) options: Options,
}

/// What the checks ask of the words behind the address of a `listen`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    /// `ssl`.
    pub(crate) ssl: bool,
    /// `quic`.
    pub(crate) quic: bool,
    /// `http2`.
    pub(crate) http2: bool,
    /// `default_server`, or `default` as it was once.
    pub(crate) default_server: bool,
    /// `proxy_protocol`.
    pub(crate) proxy_protocol: bool,
}

impl Options {
    fn of(line: Node<'_>) -> Self {
        let mut options = Self::default();
        for word in line.args().skip(1) {
            match word.value() {
                b"ssl" => options.ssl = true,
                b"quic" => options.quic = true,
                b"http2" => options.http2 = true,
                b"default_server" | b"default" => options.default_server = true,
                b"proxy_protocol" => options.proxy_protocol = true,
                _ => {}
            }
        }
        options
    }

    /// Whether it speaks TLS.
    pub(crate) fn tls(self) -> bool {
        self.ssl || self.quic
    }

    fn or(self, other: Self) -> Self {
        Self {
            ssl: self.ssl || other.ssl,
            quic: self.quic || other.quic,
            http2: self.http2 || other.http2,
            default_server: self.default_server || other.default_server,
            proxy_protocol: self.proxy_protocol || other.proxy_protocol,
        }
    }
}

/// The servers of a model. Get them by [`Servers::of`].
#[derive(Debug, Default)]
pub(crate) struct Servers {
    /// The blocks, in reading order.
    pub(crate) all: Vec<NodeId>,
    /// Their `listen` lines, in reading order; those with a port range or a port that cannot be read are left out.
    pub(crate) listens: Vec<Listen>,
    /// Where the lines of each server begin in `listens`; one more for the end.
    starts: Vec<usize>,
    /// Indexes of `listens` by socket.
    pub(crate) by_socket: BTreeMap<Socket, Vec<usize>>,
    on_socket: HashMap<Socket, OnSocket>,
}

/// What the `listen` lines on one socket say together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OnSocket {
    /// What some line says holds for all of them.
    pub(crate) options: Options,
    /// Number of lines without `http2`.
    pub(crate) without_http2: usize,
    /// Number of lines whose server does not say `ssl on`.
    pub(crate) without_switch: usize,
}

impl Servers {
    /// The servers of the model, computed once.
    pub(crate) fn of(cx: &Cx<'_>) -> std::rc::Rc<Self> {
        cx.shared.get(|| Self::new(cx.model))
    }

    fn new(model: &Model) -> Self {
        let mut servers = Self::default();
        let mut blocks: Vec<Node<'_>> = model.named("server").filter(|node| node.context() == Context::Http).collect();
        blocks.sort_by_key(|node| node.id());
        for block in blocks {
            let server = servers.all.len();
            servers.all.push(block.id());
            servers.starts.push(servers.listens.len());
            let lines = block.inside().own("listen");
            let on = block.inside().value("ssl").is_some_and(|value| value.eq_ignore_ascii_case(b"on"));
            if lines.len() == 0 {
                servers.add(
                    Listen {
                        line: None,
                        server,
                        socket: Socket { host: b"*".to_vec(), port: 80, udp: false },
                        options: Options::default(),
                    },
                    on,
                );
            }
            for line in lines {
                if let Some(socket) = socket(line) {
                    servers.add(Listen { line: Some(line.id()), server, socket, options: Options::of(line) }, on);
                }
            }
        }
        servers.starts.push(servers.listens.len());
        servers
    }

    fn add(&mut self, listen: Listen, switched_on: bool) {
        self.by_socket.entry(listen.socket.clone()).or_default().push(self.listens.len());
        let together = self.on_socket.entry(listen.socket.clone()).or_default();
        together.options = together.options.or(listen.options);
        together.without_http2 += usize::from(!listen.options.http2);
        together.without_switch += usize::from(!switched_on);
        self.listens.push(listen);
    }

    /// The listens on one socket, in reading order.
    pub(crate) fn on<'s>(&'s self, socket: &Socket) -> impl Iterator<Item = &'s Listen> {
        self.by_socket.get(socket).into_iter().flatten().map(|&i| &self.listens[i])
    }

    /// The server that answers for names that no other has: the `default_server`, else the first.
    pub(crate) fn default_of(&self, socket: &Socket) -> Option<usize> {
        let marked = self.on(socket).find(|listen| listen.options.default_server);
        marked.or_else(|| self.on(socket).next()).map(|listen| listen.server)
    }

    /// The listens of one server, in reading order.
    pub(crate) fn of_server(&self, server: usize) -> impl Iterator<Item = &Listen> {
        self.listens[self.starts[server]..self.starts[server + 1]].iter()
    }

    /// What the lines on a socket say together.
    pub(crate) fn together(&self, socket: &Socket) -> OnSocket {
        self.on_socket.get(socket).copied().unwrap_or_default()
    }

    /// The index in `all` of a `server` block.
    pub(crate) fn index_of(&self, block: NodeId) -> Option<usize> {
        self.all.binary_search(&block).ok()
    }
}

/// What the first argument of `listen` names; `None` for ranges and what nginx refuses.
pub(crate) fn socket(line: Node<'_>) -> Option<Socket> {
    let udp = line.args().any(|word| word.is("quic"));
    let url = address::parse(line.value(0)?, Form { listen: true, uri: false }).ok()?;
    if url.last_port.is_some() {
        return None;
    }
    let host = match url.host {
        b"" | b"*" | b"0.0.0.0" => b"*".to_vec(),
        host if url.unix => return Some(Socket { host: host.to_vec(), port: 0, udp }),
        host => normal_host(host),
    };
    Some(Socket { host, port: url.port.unwrap_or(80), udp })
}

/// IPv6 in one form, names in small letters.
fn normal_host(host: &[u8]) -> Vec<u8> {
    let inside = host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]"));
    let address =
        inside.and_then(|text| std::str::from_utf8(text).ok()).and_then(|text| text.parse::<std::net::Ipv6Addr>().ok());
    match address {
        Some(address) => format!("[{address}]").into_bytes(),
        None => host.to_ascii_lowercase(),
    }
}
