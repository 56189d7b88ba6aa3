//! What nginx refuses of a directive by itself: its name, its place, its arguments, its version.
//!
//! All faults are found in one pass that the rules share; each rule reports those of its kind.

mod arguments;
mod condition;
mod duplicates;
mod entries;
mod keyed;
mod lists;
mod names;
mod nesting;
mod rare;
mod run_on;
mod special;
mod syslog;
pub(super) mod template;
mod versions;

use foldhash::HashSet;

use crate::catalog::nginx::{Context, Directive};
use crate::checks::{Check, Cx, Report, Run};
use crate::model::{Model, Node, ProblemKind, Word};
use crate::source::{FileId, SourceFile, Span};
use crate::version::{Holds, Server, Version};

/// Faults of single directives; the parameter `fault` says which.
pub static CHECK: Check = Check { name: "nginx/grammar", run: Run::Model(report) };

/// The kinds of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    UnknownDirective,
    WrongContext,
    InvalidArguments,
    DuplicateDirective,
    DirectiveNotInVersion,
    ParameterNotInVersion,
    ObsoleteDirective,
    ModuleNeeded,
    SwallowedDirective,
}

impl Fault {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "unknown-directive" => Self::UnknownDirective,
            "wrong-context" => Self::WrongContext,
            "invalid-arguments" => Self::InvalidArguments,
            "duplicate-directive" => Self::DuplicateDirective,
            "directive-not-in-version" => Self::DirectiveNotInVersion,
            "parameter-not-in-version" => Self::ParameterNotInVersion,
            "obsolete-directive" => Self::ObsoleteDirective,
            "module-needed" => Self::ModuleNeeded,
            "swallowed-directive" => Self::SwallowedDirective,
            _ => return None,
        })
    }
}

/// Every fault of the model.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<(Fault, Report)>);

fn report(cx: &mut Cx<'_>) {
    let Some(fault) = cx.params.text("fault").and_then(Fault::parse) else { return };
    let faults = cx.shared.get(|| find(cx));
    let wanted = faults.0.iter().filter(|(kind, _)| *kind == fault);
    cx.reports.extend(wanted.map(|(_, report)| report.clone()));
}

fn find(cx: &Cx<'_>) -> Faults {
    let unreadable = Unreadable::new(cx.model);
    let oldest = cx.target.members(Server::Nginx).next().unwrap_or(Version::MIN);
    let mut finder = Finder { cx, oldest, names: names::Names::default(), faults: Faults::default() };
    for node in cx.model.nodes() {
        let context = node.context();
        if unreadable.holds(node) {
            continue;
        }
        if context.holds_directives() {
            finder.directive(Line { node, context });
        } else if context.holds_entries() {
            finder.entry(Line { node, context });
        }
    }
    finder.report_names();
    finder.duplicates(&unreadable);
    finder.definitions(&unreadable);
    finder.twice(&unreadable);
    finder.shares(&unreadable);
    finder.faults
}

/// A directive in its context.
#[derive(Clone, Copy)]
struct Line<'m> {
    node: Node<'m>,
    context: Context,
}

impl<'m> Line<'m> {
    fn args(self) -> impl DoubleEndedIterator<Item = Word<'m>> + ExactSizeIterator {
        self.node.args()
    }

    /// What the catalogue has under its name in its context.
    fn directives(self) -> impl Iterator<Item = &'static Directive> {
        self.node.directives().iter().filter(move |directive| directive.contexts.contains(self.context))
    }

    /// The name as the server sees it, for messages.
    fn name(self) -> std::borrow::Cow<'m, str> {
        String::from_utf8_lossy(self.node.name())
    }
}

/// One pass over a model.
struct Finder<'c, 'm> {
    cx: &'c Cx<'m>,
    /// The oldest version of the target.
    oldest: Version,
    names: names::Names<'m>,
    faults: Faults,
}

impl<'m> Finder<'_, 'm> {
    /// Adds a fault at a part of a directive.
    fn add(&mut self, fault: Fault, node: Node<'_>, span: Span, message: impl Into<String>) -> &mut Report {
        self.faults.0.push((fault, Report::new(node, span, message)));
        &mut self.faults.0.last_mut().expect("just pushed").1
    }

    fn directive(&mut self, line: Line<'m>) {
        let Some(directive) = self.name(line) else { return };
        let before = self.faults.0.len();
        if self.form(line, directive) && self.count(line, directive) {
            self.values(line, directive);
            self.commercial(line, directive);
        }
        self.versions(line, directive);
        self.run_on(line, before);
    }

    /// The directive as some version of the target knows it here, else as any version does.
    fn best(&self, line: Line<'m>) -> Option<&'static Directive> {
        let known_to_target = |directive: &&'static Directive| {
            directive.is_settled_since(self.oldest)
                || self.cx.target.holds(Server::Nginx, &directive.allowed_in(line.context)) != Holds::Never
        };
        let here = || line.directives();
        here().find(known_to_target).or_else(|| here().next())
    }
}

/// What cannot be judged because the text around it does not parse or is filled in later.
struct Unreadable {
    /// Files with template marks.
    templates: HashSet<FileId>,
    /// Places where the parser stopped, sorted.
    broken: Vec<Span>,
}

impl Unreadable {
    fn new(model: &Model) -> Self {
        let marked = |file: &SourceFile| template::has_marks(file.path(), file.bytes());
        let templates = model.sources().iter().filter(|(_, file)| marked(file)).map(|(id, _)| id).collect();
        let syntax = model.problems().iter().filter(|problem| problem.kind == ProblemKind::Syntax);
        let mut broken: Vec<Span> = syntax.map(|problem| problem.error.span).collect();
        broken.sort_unstable();
        Self { templates, broken }
    }

    fn holds(&self, node: Node<'_>) -> bool {
        if self.templates.is_empty() && self.broken.is_empty() {
            return false;
        }
        let head = node.head();
        let next = self.broken.partition_point(|place| (place.file, place.end) < (head.file, head.start));
        let touched = self.broken.get(next).is_some_and(|place| place.file == head.file && place.start <= head.end);
        touched || self.templates.contains(&head.file)
    }
}
