//! Names and keywords that a version of the target does not know yet or any more.

use super::{Fault, Finder, Line};
use crate::catalog::nginx::{Directive, Kind};
use crate::checks::nginx::name_span;
use crate::checks::nginx::text::whole_line;
use crate::checks::nginx::tls_switch;
use crate::fix::{Edit, Fix};
use crate::version::{Holds, Server, VersionSet};

impl<'m> Finder<'_, 'm> {
    /// Compares a directive that may stand here with the target.
    pub(super) fn versions(&mut self, line: Line<'m>, directive: &'static Directive) {
        if directive.is_settled_since(self.oldest) && directive.deprecated.is_none() {
            return;
        }
        let candidates: Vec<&Directive> = line.directives().collect();
        if candidates.iter().any(|d| d.module.kind == Kind::ThirdParty) {
            return;
        }
        let all = candidates.iter().map(|d| d.allowed_in(line.context)).reduce(|a, b| a.union(&b));
        let known = all.unwrap_or_else(VersionSet::all);
        if self.cx.target.holds(Server::Nginx, &known) != Holds::Always {
            self.not_in_version(line, directive, &known);
            if self.cx.target.holds(Server::Nginx, &known) == Holds::Never {
                return;
            }
        }
        self.parameters(line, directive, &known);
        self.obsolete(line, directive);
    }

    fn not_in_version(&mut self, line: Line<'m>, directive: &Directive, known: &VersionSet) {
        if self.backported(directive) {
            return;
        }
        let name = line.name();
        let word = name_span(line.node);
        let placed = directive.versions != *known;
        let message = match directive.instead.filter(|_| !placed) {
            _ if placed => format!("`{name}` in {} is refused by {{versions}}", line.context.words()),
            Some(new) => format!("`{name}` is unknown to {{versions}}, which refuses the file; it has become `{new}`"),
            None => format!("`{name}` is unknown to {{versions}}, which refuses the file"),
        };
        let switch = has_own_rule(line).then(|| tls_switch::switch_fix(self.cx, line.node)).flatten();
        let report = self.add(Fault::DirectiveNotInVersion, line.node, word, message);
        report.versions(known.complement());
        if let Some(fix) = switch {
            report.fix(fix);
        }
    }

    /// Whether the package of the target's distribution has it earlier than nginx itself.
    fn backported(&self, directive: &Directive) -> bool {
        let distribution = self.cx.distribution.map(|distribution| distribution.name);
        directive.backports.iter().any(|(name, _)| distribution == Some(*name))
    }

    fn parameters(&mut self, line: Line<'m>, directive: &'static Directive, known: &VersionSet) {
        let args: Vec<&[u8]> = line.args().map(crate::model::Word::value).collect();
        let used: Vec<_> = directive
            .params_used(&args)
            .filter_map(|param| Some((param, directive.param_position(param, &args)?)))
            .collect();
        for (param, position) in used {
            let lacking = known.difference(&param.versions);
            if self.cx.target.holds(Server::Nginx, &lacking) == Holds::Never {
                continue;
            }
            let Some(word) = line.node.arg(position) else { continue };
            let what = match param.name {
                "<variables>" => "with variables in it".to_owned(),
                _ => format!("with `{}`", word.text()),
            };
            let message = format!("`{}` {what} is refused by {{versions}}", line.name());
            self.add(Fault::ParameterNotInVersion, line.node, word.span(), message).versions(lacking);
        }
    }

    fn obsolete(&mut self, line: Line<'m>, directive: &'static Directive) {
        let Some(first) = directive.deprecated.filter(|_| directive.warns && !has_own_rule(line)) else { return };
        let warning = directive.versions.intersection(&VersionSet::since(first));
        if self.cx.target.holds(Server::Nginx, &warning) == Holds::Never {
            return;
        }
        let name = line.name();
        let ignored = directive.repeat_at(first) == crate::catalog::nginx::Repeat::Ignored;
        let message = match (ignored, directive.instead) {
            (true, Some(new)) => {
                format!("`{name}` does nothing any more and nginx warns at each start; `{new}` took its place")
            }
            (true, None) => format!("`{name}` does nothing any more and nginx warns at each start"),
            (false, Some(new)) => format!("`{name}` is obsolete and nginx warns at each start; write `{new}`"),
            (false, None) => format!("`{name}` is obsolete and nginx warns at each start"),
        };
        let word = name_span(line.node);
        let always = self.cx.target.holds(Server::Nginx, &warning) == Holds::Always;
        let report = self.add(Fault::ObsoleteDirective, line.node, word, message);
        report.versions(warning);
        if always && ignored {
            let span = whole_line(line.node);
            report.fix(Fix::safe("remove the line", vec![Edit::replace(span, "")]));
        } else if let (true, Some(new), true) = (always, directive.instead, is_rename(line, directive)) {
            report.fix(Fix::safe(format!("write `{new}`"), vec![Edit::replace(word, new)]));
        }
    }
}

/// Whether the rule `nginx/ssl-on` warns of it where it is only obsolete.
fn has_own_rule(line: Line<'_>) -> bool {
    line.node.name() == b"ssl"
}

/// Whether the new name takes the same arguments and means the same.
fn is_rename(line: Line<'_>, directive: &Directive) -> bool {
    // The two old names became one, which may stand once.
    let level = line.node.level();
    let taken = ["proxy_buffer_size", "proxy_downstream_buffer", "proxy_upstream_buffer"];
    let alone = taken.iter().map(|name| level.own(name).len()).sum::<usize>() == 1;
    alone
        && matches!(directive.name, "proxy_downstream_buffer" | "proxy_upstream_buffer")
        && directive.module.name == "ngx_stream_proxy_module"
}
