//! Names that nginx does not know, know elsewhere, or know by another module.

use std::collections::BTreeMap;

use super::{Fault, Finder, Line};
use crate::catalog::nginx::{Area, Context, Directive, Kind, Module, directives, lookup};
use crate::checks::nginx::modules::Provided;
use crate::checks::nginx::name_span;
use crate::checks::nginx::scope::Scope;
use crate::fix::{Edit, Fix};
use crate::model::Node;
use crate::suggest;

/// Names met that need one report each, with their places.
#[derive(Default)]
pub(super) struct Names<'m> {
    unknown: BTreeMap<&'m [u8], Vec<Line<'m>>>,
    needed: BTreeMap<&'m [u8], (&'static Module, Vec<Node<'m>>)>,
    provided: Option<Provided>,
}

/// Names looked at for a likely spelling; more are not worth the time.
const MOST_SUGGESTIONS: usize = 50;

impl<'m> Finder<'_, 'm> {
    /// What a name is here; `None` where the line is not to be judged further.
    pub(super) fn name(&mut self, line: Line<'m>) -> Option<&'static Directive> {
        let name = line.node.name();
        if line.node.directives().is_empty() {
            match family(name) {
                _ if self.cx.settings.knows_directive(name) => {}
                Some(module) => self.needs(line, module),
                None => self.names.unknown.entry(name).or_default().push(line),
            }
            return None;
        }
        let Some(directive) = self.best(line) else {
            self.misplaced(line);
            return None;
        };
        let module = directive.module;
        if !module.stock || self.cx.settings.nginx_build.is_some() {
            self.needs(line, module);
        }
        (module.kind == Kind::Official && module.project.is_none()).then_some(directive)
    }

    /// Notes a directive of a module that not every nginx has.
    fn needs(&mut self, line: Line<'m>, module: &'static Module) {
        // What lacks a whole area is told at its block.
        let inside = match line.context.area() {
            Area::Stream => lookup(b"stream").first(),
            Area::Mail => lookup(b"mail").first(),
            _ => None,
        };
        let told = inside.is_some_and(|block| !self.provided().has(block.module));
        if !told && !self.provided().has(module) {
            self.names.needed.entry(line.node.name()).or_insert((module, Vec::new())).1.push(line.node);
        }
    }

    /// Whether the user has NGINX Plus, as far as anyone said.
    pub(super) fn has_plus(&mut self) -> bool {
        self.provided().has_plus()
    }

    fn provided(&mut self) -> &mut Provided {
        let cx = self.cx;
        self.names.provided.get_or_insert_with(|| {
            Provided::new(cx.model, cx.settings, {
                let model = cx.model;
                model.root_context() == Context::Main && Scope::of(cx).is_level_closed(model.top())
            })
        })
    }

    fn misplaced(&mut self, line: Line<'m>) {
        let known = line.node.directives();
        let mut places: Vec<Context> = known.iter().flat_map(Directive::contexts_today).collect();
        places.sort_unstable();
        places.dedup();
        let words: Vec<&str> = places.iter().map(|place| place.words()).collect();
        let head = name_span(line.node);
        let message =
            format!("nginx refuses `{}` in {}; it may stand in {}", line.name(), line.context.words(), any_of(&words));
        self.add(Fault::WrongContext, line.node, head, message);
    }

    /// One report for each unknown or optional name.
    pub(super) fn report_names(&mut self) {
        let names = std::mem::take(&mut self.names);
        for (i, (name, lines)) in names.unknown.iter().enumerate() {
            let near = if i < MOST_SUGGESTIONS { likely(name, lines[0].context) } else { Vec::new() };
            self.unknown(lines, &near);
        }
        let lacks_build = self.cx.settings.nginx_build.is_some();
        for (name, (module, nodes)) in &names.needed {
            let name = String::from_utf8_lossy(name);
            let apart = names.provided.as_ref().is_some_and(|provided| provided.is_apart(module));
            let (fault, message) = if apart {
                let message =
                    format!("the stated build has `{name}` in a module of its own, and no `load_module` loads it");
                (Fault::UnknownDirective, message)
            } else if lacks_build {
                (Fault::UnknownDirective, format!("`{name}` needs {}, which the stated build lacks", provider(module)))
            } else {
                (Fault::ModuleNeeded, format!("`{name}` needs {}; nginx without it refuses the file", provider(module)))
            };
            self.first_of(fault, nodes, message);
        }
    }

    fn unknown(&mut self, lines: &[Line<'m>], near: &[&'static str]) {
        let nodes: Vec<Node<'m>> = lines.iter().map(|line| line.node).collect();
        let name = lines[0].name();
        let message = match near {
            [] => format!("no nginx and no module known here has a directive `{name}`: nginx refuses the file"),
            near => {
                let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
                format!("nginx knows no directive `{name}` and refuses the file; did you mean {}?", near.join(" or "))
            }
        };
        let spans: Vec<_> = nodes.iter().map(|node| name_span(*node)).collect();
        let report = self.first_of(Fault::UnknownDirective, &nodes, message);
        if let [one] = near {
            let edits = spans.into_iter().map(|span| Edit::replace(span, *one)).collect();
            let change = format!("`{one}` comes into effect, if that is what was meant");
            report.fix(Fix::risky(format!("write `{one}`"), edits, change));
        }
    }

    /// A report at the first place, with the others as labels.
    fn first_of(&mut self, fault: Fault, nodes: &[Node<'m>], message: String) -> &mut crate::checks::Report {
        /// Places shown besides the first.
        const MOST_LABELS: usize = 10;
        let first = name_span(nodes[0]);
        let others: Vec<_> = nodes[1..].iter().map(|node| name_span(*node)).filter(|other| *other != first).collect();
        let report = self.add(fault, nodes[0], first, message);
        for other in others.into_iter().take(MOST_LABELS) {
            report.label(other, "and here");
        }
        report
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn any_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// Who provides a module, for messages.
fn provider(module: &Module) -> String {
    match (module.kind, module.vendor, module.project, module.build) {
        (Kind::Commercial, ..) => "NGINX Plus".to_owned(),
        (_, Some(vendor), ..) => match vendor {
            "angie" => "Angie".to_owned(),
            "tengine" => "Tengine".to_owned(),
            other => other.to_owned(),
        },
        (_, _, Some(project), _) => format!("the module {project}"),
        (_, _, _, Some(option)) if module.stock => format!("`{option}`"),
        (_, _, _, Some(option)) => format!("a build with `{option}`, or the package of {}", module.name),
        _ => format!("the module {}", module.name),
    }
}

/// Names near an unknown one that may stand in its place; none where many are.
fn likely(name: &[u8], context: Context) -> Vec<&'static str> {
    let Ok(name) = std::str::from_utf8(name) else { return Vec::new() };
    let here = directives().iter().filter(|d| d.module.kind == Kind::Official && d.contexts.contains(context));
    let here = here.map(|d| d.name).filter(|known| known.len().abs_diff(name.len()) <= 2);
    let near = suggest::near(name, here);
    let distance = |known: &str| strsim::osa_distance(&name.to_lowercase(), known);
    let nearest = near.first().map_or(0, |first| distance(first));
    let best: Vec<&str> = near.into_iter().filter(|known| nearest <= 2 && distance(known) == nearest).collect();
    if best.len() > 3 { Vec::new() } else { best }
}

/// The third-party module whose directives all begin as an unknown name does: `nchan_`, `passenger_`. Newer and
/// older versions of a module have directives that the catalogue lacks.
fn family(name: &[u8]) -> Option<&'static Module> {
    const LEAST: usize = 5;
    let prefix = &name[..memchr::memchr(b'_', name)? + 1];
    let mut members = directives().iter().filter(|directive| directive.name.as_bytes().starts_with(prefix)).peekable();
    let module = members.peek()?.module;
    let count = members.try_fold(0, |count, directive| {
        let same = directive.module.project == module.project && directive.module.kind == Kind::ThirdParty;
        same.then_some(count + 1)
    })?;
    (count >= LEAST).then_some(module)
}
