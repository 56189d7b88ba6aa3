//! What single directives want besides the catalogue.

use super::matchers::Responses;
use super::{Cause, Judge, Place, any_unknown, values};
use crate::catalog::caddy::{self as catalog, Entry};
use crate::model::caddy::options::{Setting, lines};
use crate::model::{Node, Word};

impl<'m> Judge<'m> {
    pub(super) fn special(&mut self, node: Node<'m>, entry: &'static Entry, args: &[Word<'m>], scope: usize) {
        if any_unknown(args) {
            return;
        }
        match entry.name {
            "handle_path" => self.handle_path(node, args),
            "handle_errors" => self.handle_errors(node, args),
            "invoke" => self.invoke(node, args),
            "encode" => self.encode(node, args),
            "redir" => self.redir(node, args),
            "map" => self.map(node, args),
            "header" if !args.is_empty() && has_own_lines(node) => {
                let message = "`header` takes its fields on the line or in the block, not both";
                self.refuse(Cause::Arguments, node, node.head(), message);
            }
            "respond" => self.respond(node, args),
            "tls" => self.tls(node, args),
            "uri" => self.uri(node, args),
            "vars" if args.len() == 1 => {
                self.refuse(Cause::Arguments, node, node.head(), "`vars` needs a value for the name");
            }
            "basic_auth" | "basicauth" => self.basic_auth(node, args),
            "reverse_proxy" | "forward_auth" | "php_fastcgi" => self.proxy(node, scope),
            _ => {}
        }
    }

    fn handle_path(&mut self, node: Node<'m>, args: &[Word<'m>]) {
        if let [path] = args
            && !path.value().starts_with(b"/")
        {
            let message = "`handle_path` takes a path that begins with `/`, and no other matcher";
            self.refuse(Cause::Arguments, node, path.span(), message);
        }
    }

    fn handle_errors(&mut self, node: Node<'m>, args: &[Word<'m>]) {
        for word in args {
            if !self.since(2, 8, 0) {
                let message = "`handle_errors` takes a status since Caddy 2.8.0: older ones refuse the file";
                self.refuse(Cause::TooNew, node, word.span(), message);
            } else if !values::is_status(&word.text()) {
                let message = format!("`{}` is no status such as 404 or 5xx", word.text());
                self.refuse(Cause::Arguments, node, word.span(), message);
            }
        }
    }

    fn invoke(&mut self, node: Node<'m>, args: &[Word<'m>]) {
        if let [name] = args
            && !self.routes.contains(name.value())
        {
            let message = format!("the named route `&({})` is not defined", name.text());
            self.refuse(Cause::Reference, node, name.span(), message);
        }
    }

    /// A redirect, or 401 for scripts that read the location themselves.
    fn redir(&mut self, node: Node<'m>, args: &[Word<'m>]) {
        let [_, code] = args else { return };
        let text = code.text();
        let is_code = text.parse::<i64>().is_ok_and(|code| matches!(code, 300..=399 | 401));
        if !is_code && !text.starts_with('{') && !matches!(&*text, "permanent" | "temporary" | "html") {
            let message = format!(
                "`redir` wants a status from 300 to 399, 401, `permanent`, `temporary` or `html`, not `{text}`"
            );
            self.refuse(Cause::Arguments, node, code.span(), message);
        }
    }

    fn tls(&mut self, node: Node<'m>, args: &[Word<'m>]) {
        let [only] = args else { return };
        let text = only.text();
        if text == "internal" || text.contains('@') {
            return;
        }
        if text == "force_automate" {
            if !self.since(2, 9, 0) {
                let message = "`force_automate` came with Caddy 2.9.0: older ones refuse the file";
                self.refuse(Cause::TooNew, node, only.span(), message);
            }
            return;
        }
        let message = format!(
            "`tls` wants `internal`, an email address, or the files of a certificate and its key, not `{text}` alone"
        );
        self.refuse(Cause::Arguments, node, only.span(), message);
    }

    fn map(&mut self, node: Node<'m>, args: &[Word<'m>]) {
        for line in lines(node).filter(|line| line.args().len() >= args.len().max(1)) {
            if !any_unknown(&line.words().collect::<Vec<_>>()) {
                let message = format!("here are more values than `map` has outputs, {}", args.len().saturating_sub(1));
                self.refuse(Cause::Arguments, line, line.head(), message);
            }
        }
    }

    fn respond(&mut self, node: Node<'m>, args: &[Word<'m>]) {
        let only_status = matches!(args, [status] if status.value().len() == 3 && values::is_int(&status.text()));
        let body = lines(node).find(|line| line.is("body"));
        if let Some(body) = body.filter(|_| !args.is_empty() && !only_status) {
            self.refuse(Cause::Arguments, body, body.head(), "the body of `respond` stands on its line already");
        }
    }

    fn encode(&mut self, node: Node<'m>, args: &[Word<'m>]) {
        for word in args.iter().filter(|word| catalog::named("encoder", word.value()).is_none()) {
            self.refuse_name(node, *word, None, &Place::section("encoder", "encoder"));
        }
    }

    fn uri(&mut self, node: Node<'m>, args: &[Word<'m>]) {
        let Some(kind) = args.first() else { return };
        let fits = match kind.value() {
            b"strip_prefix" | b"strip_suffix" => args.len() == 2,
            b"replace" => matches!(args.len(), 3 | 4),
            b"path_regexp" => args.len() == 3,
            b"query" if !self.since(2, 8, 0) => {
                let message = "`uri query` came with Caddy 2.8.0: older ones refuse the file";
                self.refuse(Cause::TooNew, node, kind.span(), message);
                return;
            }
            b"query" => takes_query(&args[1..]),
            _ => false,
        };
        if !fits {
            self.refuse(Cause::Arguments, node, kind.span(), "`uri` does not take this");
        }
    }

    fn basic_auth(&mut self, node: Node<'m>, args: &[Word<'m>]) {
        let Some(hash) = args.first() else { return };
        let (cause, message) = match hash.value() {
            b"bcrypt" => return,
            b"scrypt" if !self.since(2, 8, 0) => return,
            b"argon2id" if self.since(2, 11, 0) => return,
            b"scrypt" => {
                (Cause::Gone, "Caddy has no `scrypt` any more since 2.8.0; instead of it: `bcrypt`".to_owned())
            }
            b"argon2id" => (Cause::TooNew, "`argon2id` came with Caddy 2.11.0: older ones refuse the file".to_owned()),
            _ => (Cause::Arguments, format!("`{}` is no way to hash passwords that Caddy knows", hash.text())),
        };
        self.refuse(cause, node, hash.span(), message);
    }

    pub(super) fn special_setting(&mut self, setting: &Setting<'m>, entry: &Entry, responses: &Responses<'m>) {
        match (entry.name, setting.name.value()) {
            (_, b"header_up") if setting.value(0).is_some_and(|field| field.starts_with(b"?")) => {
                let message = "a default (`?`) is for responses, not for requests: `header_down`";
                self.refuse(Cause::Arguments, setting.line, setting.args[0].span(), message);
            }
            ("reverse_proxy" | "intercept", b"handle_response") => {
                self.response_use(setting, |name| responses.has(name));
            }
            ("reverse_proxy" | "intercept", b"replace_status") if setting.args.len() > 1 => {
                self.response_use(setting, |name| responses.has_above(name));
            }
            ("", b"order") => self.order(setting),
            ("", b"admin") if setting.value(0) == Some(b"off") && setting.has_block() => {
                let message = "`admin off` takes no block: there is nothing to set";
                self.refuse(Cause::Arguments, setting.line, setting.name.span(), message);
            }
            ("", b"auto_https") => self.auto_https(setting),
            ("events", b"on") => self.event_handler(setting),
            (_, b"lb_retry_match") if setting.is_last => self.matcher_set(setting.line, &setting.args),
            _ => {}
        }
    }

    fn response_use(&mut self, setting: &Setting<'m>, is_defined: impl Fn(&[u8]) -> bool) {
        if let Some(name) = setting.args.first()
            && !is_defined(name.value())
            && !any_unknown(&[*name])
        {
            let message = format!("the response matcher `{}` is not defined here", name.text());
            self.refuse(Cause::Reference, setting.line, name.span(), message);
        }
    }

    fn auto_https(&mut self, setting: &Setting<'m>) {
        let Some(word) = setting.args.first().filter(|word| !any_unknown(&[**word])) else { return };
        let (cause, message) = match word.value() {
            b"off" | b"disable_redirects" | b"disable_certs" | b"ignore_loaded_certs" => return,
            b"prefer_wildcard" if !self.since(2, 9, 0) => {
                (Cause::TooNew, "`prefer_wildcard` came with Caddy 2.9.0: older ones refuse the file".to_owned())
            }
            b"prefer_wildcard" if !self.since(2, 11, 0) => return,
            b"prefer_wildcard" => (
                Cause::Gone,
                "Caddy has no `prefer_wildcard` any more since 2.11.0; instead of it: nothing, it is so by itself"
                    .to_owned(),
            ),
            _ => {
                let known = "off, disable_redirects, disable_certs or ignore_loaded_certs";
                (Cause::Arguments, format!("`auto_https` wants {known}, not `{}`", word.text()))
            }
        };
        self.refuse(cause, setting.line, word.span(), message);
    }

    /// Caddy itself brings no handler of events.
    fn event_handler(&mut self, setting: &Setting<'m>) {
        if let Some(name) = setting.args.get(1).filter(|word| !any_unknown(&[**word])) {
            self.refuse_name(setting.line, *name, None, &Place::section("event_handler", "handler of events"));
        }
    }

    /// `order`: places a directive.
    fn order(&mut self, setting: &Setting<'m>) {
        if any_unknown(&setting.args) {
            return;
        }
        let (named, fits) = match &setting.args[..] {
            [name, place] => (vec![*name], place.is("first") || place.is("last")),
            [name, place, other] => (vec![*name, *other], place.is("before") || place.is("after")),
            _ => (Vec::new(), false),
        };
        if !fits {
            let message = "`order` wants a directive and `first`, `last`, `before` or `after` another one";
            self.refuse(Cause::Arguments, setting.line, setting.name.span(), message);
        }
        for name in named {
            let known = catalog::directive(name.value());
            if known.is_none_or(|entry| !self.knows(entry)) {
                self.refuse_name(setting.line, name, known, &Place::section("directive", "directive"));
            }
        }
    }

    /// What holds for a block as a whole.
    pub(super) fn special_block(&mut self, line: Node<'m>, entry: &Entry, settings: &[Setting<'m>]) {
        if entry.name == "forward_auth" && !settings.iter().any(|setting| setting.is("uri")) {
            self.refuse(Cause::Arguments, line, line.head(), "`forward_auth` needs a `uri` in its block");
        }
    }
}

/// What `uri query` takes on its line: `-name`, `+name value`, `old>new`, `name value`, `name find replace`.
fn takes_query(args: &[Word<'_>]) -> bool {
    let Some(key) = args.first().map(|word| word.value()) else { return true };
    match key.first() {
        Some(b'-') => args.len() == 1,
        Some(b'+') => args.len() == 2,
        _ if key.contains(&b'>') => args.len() == 1,
        _ => matches!(args.len(), 2 | 3),
    }
}

/// Whether a line has lines in its block that come from the text that it comes from. The block of an import may
/// come to stand behind a line of the snippet; versions that know no such blocks read them otherwise.
fn has_own_lines(node: Node<'_>) -> bool {
    lines(node).next().is_some_and(|line| line.chain_id() == node.chain_id())
}
