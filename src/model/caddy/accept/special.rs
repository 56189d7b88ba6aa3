//! What single directives want besides the catalogue.

use super::matchers::Responses;
use super::{Cause, Judge, any_unknown, values};
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
                let message = "`handle_errors` takes no status before Caddy 2.8.0";
                self.refuse(Cause::Arguments, node, word.span(), message);
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
        let known = match hash.value() {
            b"bcrypt" => true,
            b"scrypt" => !self.since(2, 8, 0),
            b"argon2id" => self.since(2, 11, 0),
            _ => false,
        };
        if !known {
            let message = format!("`{}` is no way to hash passwords in Caddy {}", hash.text(), self.version);
            self.refuse(Cause::Arguments, node, hash.span(), message);
        }
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
            if catalog::directive(name.value()).is_none_or(|entry| !self.knows(entry)) {
                let message = format!("`{}` is no directive of Caddy {}", name.text(), self.version);
                self.refuse(Cause::Name, setting.line, name.span(), message);
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
