//! What single directives want besides the catalogue.

use super::matchers::Responses;
use super::{Cause, Judge, Place, any_unknown, values};
use crate::catalog::caddy::{self as catalog, Entry};
use crate::model::caddy::options::Setting;
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
            b"query" => self.since(2, 8, 0),
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
