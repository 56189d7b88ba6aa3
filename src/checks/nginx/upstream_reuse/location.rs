//! The edits of one location: what it lacks for reuse, and what a move into an upstream would change.

use super::View;
use super::index::{PROXY_VARIABLES, mentions_proxy_host};
use super::patch::{Group, Moved, Patch, Refusal};
use super::verdict::{Close, Connection, connection, sets};
use crate::fix::Edit;
use crate::model::nginx::{Address, Backend, Pass, Protocol, Scheme};
use crate::model::{Level, Node, Word, layout};
use crate::source::Span;

/// One location on its way to the complete form.
pub(super) struct Location<'a, 'm> {
    view: View<'m>,
    pass: &'m Pass,
    group: &'a Group,
    moved: Option<&'a Moved>,
    /// The address as this very pass writes it.
    address: Option<&'m Address>,
    node: Node<'m>,
    /// The `location` block: where its settings go. The pass may stand in an `if` inside.
    home: Node<'m>,
}

impl<'a, 'm> Location<'a, 'm> {
    pub(super) fn new(
        view: View<'m>,
        pass: &'m Pass,
        group: &'a Group,
        moved: Option<&'a Moved>,
    ) -> Result<Self, Refusal> {
        let node = view.node(pass.node);
        let home = node.ancestors().find(|node| node.is("location"));
        let home = home.ok_or("the `location` block around it is not in the files that were read")?;
        // One in a nested location would inherit.
        let stranger = |&&other: &&usize| view.passes[other].protocol == pass.protocol && !group.has(other);
        if view.index().in_location(home.id()).iter().any(|other| stranger(&other)) {
            return Err(
                "another pass in the same location, or in one nested in it, would get these settings too".to_owned()
            );
        }
        let address = pass.backends.iter().find_map(|backend| match backend {
            Backend::Address(address) => Some(address),
            _ => None,
        });
        Ok(Self { view, pass, group, moved, address, node, home })
    }

    fn level(&self) -> Level<'m> {
        self.home.inside()
    }

    pub(super) fn edits(&self, patch: &mut Patch) -> Result<Vec<Edit>, Refusal> {
        let mut edits = Vec::new();
        if let Some((moved, address)) = self.moved.zip(self.address) {
            edits.extend(self.pass_text(moved, address)?);
        }
        let mut lines: Vec<Vec<u8>> = Vec::new();
        match self.pass.protocol {
            Protocol::Http => {
                self.http_version(patch, &mut edits, &mut lines)?;
                self.headers(&mut edits, &mut lines)?;
                if let Some(address) = self.renamed() {
                    self.tls_name(address, &mut lines);
                    self.redirects(patch, &mut edits, &mut lines);
                    self.cache_key(patch, address, &mut edits, &mut lines);
                }
            }
            Protocol::Grpc => {
                if let Some(address) = self.renamed() {
                    self.tls_name(address, &mut lines);
                    // The authority is the text of the pass.
                    if !self.level().in_effect("grpc_set_header").any(|line| sets(line, b"host")) {
                        patch.changes_more();
                    }
                }
            }
            _ => {}
        }
        if self.renamed().is_some() && self.view.model.nginx().uses_proxy_host(self.level()) {
            patch.changes_more();
        }
        if self.leads() && !lines.is_empty() {
            edits.push(self.insertion(&lines));
        }
        Ok(edits)
    }

    /// Whether this is the first pass of the patch in its location: the settings are written once.
    fn leads(&self) -> bool {
        // Those of another protocol write no such settings.
        let in_group = |pass: &&usize| self.group.has(**pass) && self.view.pass(**pass).protocol == self.pass.protocol;
        let nearest = |pass: &&usize| {
            let node = self.view.node(self.view.pass(**pass).node);
            node.ancestors().find(|node| node.is("location")) == Some(self.home)
        };
        let mut here = self.view.index().in_location(self.home.id()).iter().filter(in_group).filter(nearest);
        here.next().is_some_and(|&first| self.view.pass(first).node == self.pass.node)
    }

    /// The address, if the upstream bears another name than the pass writes: then `$proxy_host` and all
    /// that comes of the text of the pass change.
    fn renamed(&self) -> Option<&'m Address> {
        let moved = self.moved?;
        self.address.filter(|address| moved.name != address.host || address.port.is_some())
    }

    /// Behind the pass, or in front of the `if` that holds it.
    fn insertion(&self, lines: &[Vec<u8>]) -> Edit {
        match self.node.ancestors().take_while(|node| *node != self.home).last() {
            Some(outermost) => layout::in_front(outermost, lines),
            None => layout::beside(self.node, lines),
        }
    }

    /// Names the upstream in place of host and port.
    fn pass_text(&self, moved: &Moved, address: &Address) -> Result<Option<Edit>, Refusal> {
        let word = self.node.arg(0).ok_or("the pass has no argument")?;
        let mut old = address.host.clone();
        if let Some(port) = address.port {
            old.extend_from_slice(format!(":{port}").as_bytes());
        }
        let raw = word.raw();
        let from = memchr::memmem::find(raw, b"://").map_or(0, |at| at + 3);
        let behind = raw.get(from + old.len());
        if !raw[from..].starts_with(&old)
            || behind.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b':'))
        {
            return Err("the address is not written plainly".to_owned());
        }
        if old == moved.name {
            return Ok(None);
        }
        let start = word.span().start + from as u32;
        let span = Span { start, end: start + old.len() as u32, ..word.span() };
        Ok(Some(Edit::replace(span, moved.name.clone())))
    }

    fn http_version(&self, patch: &mut Patch, edits: &mut Vec<Edit>, lines: &mut Vec<Vec<u8>>) -> Result<(), Refusal> {
        let line = self.level().setting("proxy_http_version");
        match line.and_then(|line| Some((line, line.arg(0)?))) {
            Some((line, word)) if word.is("1.0") => {
                if self.may_edit(line) {
                    edits.push(Edit::replace(word.span(), "1.1"));
                } else if line.level() == self.level() {
                    return Err(SHARED_LINE.to_owned());
                } else {
                    lines.push(b"proxy_http_version 1.1;".to_vec());
                }
            }
            None if self.view.reuse.classes.iter().any(|class| class.facts.http_version != "1.1") => {
                lines.push(b"proxy_http_version 1.1;".to_vec());
            }
            _ => return Ok(()),
        }
        if self.level().value("proxy_request_buffering") == Some(b"off") {
            patch.change(
                "chunked request bodies reach the backend in chunks, since `proxy_request_buffering` is off".to_owned(),
            );
        }
        Ok(())
    }

    /// Whether everything that takes that line is being fixed by this patch.
    fn may_edit(&self, line: Node<'m>) -> bool {
        self.group.covers(self.view, line)
    }

    /// The request headers: an empty `Connection`, the `Host` that the backend saw before, and
    /// whatever an outer level gave, which the first own line would cut off.
    fn headers(&self, edits: &mut Vec<Edit>, lines: &mut Vec<Vec<u8>>) -> Result<(), Refusal> {
        let in_effect: Vec<Node<'m>> = self.level().in_effect("proxy_set_header").collect();
        let new = self.new_headers(&in_effect);
        let changed: Vec<_> = in_effect.iter().map(|line| self.changed_header(*line)).collect();
        let is_own = self.level().deciding("proxy_set_header") == Some(self.level());
        let changes_anything = changed.iter().any(Option::is_some);
        // Where everything that takes these lines is being fixed, they are mended where they stand. A `Host`
        // of one backend does not belong on an outer level.
        let may_edit_all = in_effect.iter().all(|line| self.may_edit(*line));
        let in_place = may_edit_all && (is_own || new.iter().all(|line| line == EMPTY_CONNECTION));
        if changes_anything && is_own && !may_edit_all {
            return Err(SHARED_LINE.to_owned());
        }
        if is_own || in_place {
            for (line, text) in in_effect.iter().zip(changed) {
                if let (Some(word), Some(text)) = (line.arg(1), text) {
                    edits.push(Edit::replace(word.span(), text));
                }
            }
            match in_effect.last().filter(|_| !is_own && !new.is_empty()) {
                Some(last) => edits.push(layout::beside(*last, &new)),
                None => lines.extend(new),
            }
        } else if changes_anything || !new.is_empty() {
            lines.extend(in_effect.iter().zip(changed).map(|(line, text)| repeated(*line, text)));
            lines.extend(new);
        }
        Ok(())
    }

    /// Header lines that the location lacks.
    fn new_headers(&self, in_effect: &[Node<'m>]) -> Vec<Vec<u8>> {
        let mut new = Vec::new();
        if self.connections().any(|connection| connection == Connection::Close(Close::Default)) {
            new.push(EMPTY_CONNECTION.to_vec());
        }
        if let Some(address) = self.renamed()
            && !in_effect.iter().any(|line| sets(*line, b"host"))
            && self.moved.is_some_and(|moved| moved.name != address.proxy_host())
        {
            new.push([b"proxy_set_header Host ", &address.proxy_host()[..], b";"].concat());
        }
        new
    }

    /// The new value of a header line in effect, if it must change.
    fn changed_header(&self, line: Node<'m>) -> Option<Vec<u8>> {
        let written = |connection| matches!(connection, Connection::Close(Close::Written(_)));
        if sets(line, b"connection") && self.connections().any(written) {
            return Some(b"\"\"".to_vec());
        }
        written_out(line.arg(1)?.raw(), self.renamed()?)
    }

    /// The `Connection` header in effect, for each class of versions.
    fn connections(&self) -> impl Iterator<Item = Connection> {
        self.view.reuse.classes.iter().map(|class| connection(self.level(), class.facts))
    }

    /// The name that the backend's certificate is asked for and checked against.
    fn tls_name(&self, address: &Address, lines: &mut Vec<Vec<u8>>) {
        let (level, prefix) = (self.level(), self.pass.protocol.prefix());
        let on = |name| level.value(&format!("{prefix}{name}")) == Some(b"on");
        let setting = format!("{prefix}ssl_name");
        let named = level.value(&setting).is_some_and(|name| name != b"$proxy_host");
        if address.scheme == Scheme::Tls && !named && (on("ssl_server_name") || on("ssl_verify")) {
            lines.push([setting.as_bytes(), b" ", &address.host[..], b";"].concat());
        }
    }

    /// `proxy_redirect default` rewrites the text of the pass, so that text is written out.
    fn redirects(&self, patch: &mut Patch, edits: &mut Vec<Edit>, lines: &mut Vec<Vec<u8>>) {
        let Some(uri) = &self.pass.uri else { return };
        let in_effect: Vec<_> = self.level().in_effect("proxy_redirect").collect();
        let default = in_effect.iter().find(|line| line.value(0) == Some(b"default"));
        if !in_effect.is_empty() && default.is_none() {
            return;
        }
        if in_effect.is_empty() && self.inherits_redirect() {
            return;
        }
        let Some(word) = self.node.arg(0) else { return };
        let url = word.value();
        let (from, to) =
            if uri.is_empty() { ([url, b"/"].concat(), b"/".to_vec()) } else { (url.to_vec(), self.prefix().to_vec()) };
        let special = |b: &u8| b"$;{}\"'\\".contains(b) || b.is_ascii_whitespace();
        // A regex location has no prefix to write.
        if to.is_empty() || from.iter().chain(&to).any(special) {
            patch.changes_more();
            return;
        }
        match default.and_then(|line| Some((line, line.arg(0)?))) {
            Some((line, word)) if line.level() == self.level() => {
                edits.push(Edit::replace(word.span(), [&from[..], b" ", &to].concat()));
            }
            _ => lines.push([b"proxy_redirect ", &from[..], b" ", &to, b";"].concat()),
        }
    }

    /// Whether a pass of an enclosing location gives its own redirect to this one (measured: it is
    /// inherited as if it were written there).
    fn inherits_redirect(&self) -> bool {
        let outer = self.home.ancestors().filter(|node| node.is("location"));
        let mut passes = outer.flat_map(|location| location.own("proxy_pass"));
        passes.any(|pass| pass.value(0).is_some_and(|url| !url.contains(&b'$')))
    }

    /// The prefix of the location; empty for a regex or a named one.
    fn prefix(&self) -> &'m [u8] {
        match (self.home.value(0), self.home.value(1)) {
            (Some(b"=" | b"^~"), Some(prefix)) => prefix,
            (Some(b"~" | b"~*"), _) => b"",
            (Some(prefix), None) if prefix.starts_with(b"/") => prefix,
            _ => b"",
        }
    }

    /// The default cache key begins with the text of the pass.
    fn cache_key(&self, patch: &mut Patch, address: &Address, edits: &mut Vec<Edit>, lines: &mut Vec<Vec<u8>>) {
        let level = self.level();
        if level.value("proxy_cache").is_none_or(|zone| zone == b"off") {
            return;
        }
        match level.setting("proxy_cache_key") {
            Some(line) => {
                let Some(word) = line.arg(0) else { return };
                let Some(text) = written_out(word.raw(), address) else { return };
                if line.level() == level {
                    edits.push(Edit::replace(word.span(), text));
                } else {
                    lines.push([b"proxy_cache_key ", &text[..], b";"].concat());
                }
            }
            None => match self.default_cache_key() {
                Some(key) => lines.push([b"proxy_cache_key ", &key[..], b";"].concat()),
                None => patch.change("cache keys change: every entry is fetched once more".to_owned()),
            },
        }
    }

    /// The default cache key written out: the text of the pass and the request as the client sent it
    /// (measured). Only where nothing rewrites the request on its way here.
    fn default_cache_key(&self) -> Option<Vec<u8>> {
        const REWRITES: [&str; 5] = ["rewrite", "try_files", "error_page", "auth_request", "mirror"];
        let server = self.home.ancestors().find(|node| node.is("server"))?;
        let rewritten = server.descendants().any(|node| REWRITES.iter().any(|name| node.is(name)));
        let plain = self.pass.uri.as_ref().is_some_and(Vec::is_empty) && !rewritten && !self.prefix().is_empty();
        plain.then_some([self.node.value(0)?, b"$request_uri"].concat())
    }
}

const EMPTY_CONNECTION: &[u8] = b"proxy_set_header Connection \"\";";

const SHARED_LINE: &str = "the line to change stands in a file that other locations include too";

/// A line of an outer level, to be repeated.
fn repeated(line: Node<'_>, value: Option<Vec<u8>>) -> Vec<u8> {
    let words: Vec<&[u8]> = line.words().map(Word::raw).collect();
    match (value, words.as_slice()) {
        (Some(value), [name, header, ..]) => [*name, b" ", *header, b" ", &value[..], b";"].concat(),
        _ => [&words.join(&b' ')[..], b";"].concat(),
    }
}

/// A value with `$proxy_host` and `$proxy_port` written out; `None` if it holds neither.
fn written_out(raw: &[u8], address: &Address) -> Option<Vec<u8>> {
    if !mentions_proxy_host(raw) {
        return None;
    }
    let host = address.proxy_host();
    let port = address.effective_port().to_string();
    let mut text = Vec::with_capacity(raw.len() + host.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'$', rest) {
        text.extend_from_slice(&rest[..at]);
        let (name, length) = variable_name(&rest[at..]);
        let written = &rest[at..at + length];
        rest = &rest[at + length..];
        let joins = rest.first() == Some(&b'$') && is_braceless(written);
        match name {
            b"proxy_host" => text.extend_from_slice(&host),
            b"proxy_port" => text.extend_from_slice(port.as_bytes()),
            // The text that takes the place of the next variable must not become part of this name.
            _ if joins && PROXY_VARIABLES.iter().any(|next| rest.starts_with(next.as_bytes())) => {
                text.extend_from_slice(&[b"${", name, b"}"].concat());
            }
            _ => text.extend_from_slice(written),
        }
    }
    text.extend_from_slice(rest);
    Some(text)
}

/// The name of the variable that a text begins with, and the length of `$name` or `${name}`.
fn variable_name(text: &[u8]) -> (&[u8], usize) {
    let inner = &text[1..];
    if let Some(braced) = inner.strip_prefix(b"{")
        && let Some(end) = memchr::memchr(b'}', braced)
    {
        return (&braced[..end], end + 3);
    }
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let end = inner.iter().take_while(|b| is_name(b)).count();
    (&inner[..end], end + 1)
}

/// Whether a variable that is not empty is written without braces.
fn is_braceless(written: &[u8]) -> bool {
    written.len() > 1 && written[1] != b'{'
}
