//! Names that Caddy does not know, not yet, or not any more, and arguments that it does not take.

use std::collections::BTreeMap;

use foldhash::HashMap;

use super::refused::{Verdicts, report, report_one};
use crate::catalog::caddy::plugins::{self, Provided};
use crate::catalog::caddy::renames::RENAMES;
use crate::checks::{Check, Cx, Report, Run, Settings};
use crate::fix::{Edit, Fix};
use crate::model::caddy::accept::{Cause, Refusal, Unknown};
use crate::model::caddy::proxy::stands_among_handlers;
use crate::model::{Node, NodeId, Word};
use crate::suggest;
use crate::syntax::tree::{Origin, Quote};
use crate::version::VersionSet;

/// Faults of single lines; the parameter `fault` says which.
pub static CHECK: Check = Check { name: "caddy/grammar", run: Run::Model(run) };

/// Names that newer versions warn of.
pub static RENAMED: Check = Check { name: "caddy/renames", run: Run::Model(deprecated) };

fn run(cx: &mut Cx<'_>) {
    match cx.params.text("fault") {
        Some("unknown-name") => names(cx, unknown_name),
        Some("plugin-needed") => names(cx, plugin_needed),
        Some("name-not-in-version") => report(cx, Cause::TooNew),
        Some("removed-name") => removed(cx),
        Some("invalid-arguments") => report(cx, Cause::Arguments),
        _ => {}
    }
}

/// The places of one unknown name.
struct Places<'a> {
    unknown: &'a Unknown,
    provider: Option<Provider>,
    all: Vec<(&'a Refusal, VersionSet)>,
}

/// What provides a name.
struct Provider {
    project: String,
    /// What the stated build or list says of it.
    stated: Stated,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stated {
    Present,
    Absent,
    Nothing,
}

/// Calls for each unknown name, with all its places.
fn names(cx: &mut Cx<'_>, say: impl Fn(&mut Cx<'_>, &Places<'_>)) {
    let verdicts = Verdicts::of(cx);
    let mut found: BTreeMap<(&str, &str), Places<'_>> = BTreeMap::new();
    for (refusal, versions) in verdicts.refusals(Cause::Unknown) {
        let Some(unknown) = &refusal.unknown else { continue };
        if is_known(cx.settings, unknown) {
            continue;
        }
        let places = found.entry((unknown.section, unknown.name.as_str())).or_insert_with(|| Places {
            unknown,
            provider: provider(cx.settings, unknown),
            all: Vec::new(),
        });
        places.all.push((refusal, versions));
    }
    found.values().for_each(|places| say(cx, places));
}

/// Whether the user or the build says that a name is known.
fn is_known(settings: &Settings, unknown: &Unknown) -> bool {
    settings.knows_directive(unknown.name.as_bytes())
        || settings.caddy_build.as_ref().is_some_and(|build| build.has_name(&unknown.name))
}

fn provider(settings: &Settings, unknown: &Unknown) -> Option<Provider> {
    if unknown.section == "dns" {
        let project = format!("github.com/caddy-dns/{}", unknown.name);
        let stated =
            stated(settings, &Provided { section: "dns", name: &unknown.name, project: &project, module: None });
        return Some(Provider { stated, project });
    }
    let provided = plugins::provider(unknown.section, &unknown.name)?;
    Some(Provider { project: provided.project.to_owned(), stated: stated(settings, &provided) })
}

fn stated(settings: &Settings, provided: &Provided<'_>) -> Stated {
    let named = |word: &String| word == provided.name || provided.project.contains(word.as_str());
    match &settings.caddy_build {
        _ if settings.modules.iter().any(named) => Stated::Present,
        Some(build) if build.has(provided) => Stated::Present,
        Some(_) => Stated::Absent,
        None => Stated::Nothing,
    }
}

/// A name that nothing provides, or a plugin that the stated build lacks.
fn unknown_name(cx: &mut Cx<'_>, places: &Places<'_>) {
    let Unknown { name, section, known } = places.unknown;
    match &places.provider {
        None => {
            let near = likely(name, known);
            let hint = from_nginx(section, name);
            let message = match (&near[..], hint) {
                (_, Some(hint)) => format!("{}; what nginx calls so is {hint} here", places.all[0].0.message),
                ([], _) => places.all[0].0.message.clone(),
                (near, _) => format!("{}; did you mean {}?", places.all[0].0.message, either(near)),
            };
            let fix = match (&near[..], hint) {
                ([one], None) => rename(cx, places, one),
                _ => None,
            };
            let report = first_of(cx, places, message);
            report.fixes.extend(fix);
        }
        Some(Provider { project, stated: Stated::Absent }) => {
            let message = format!("`{name}` needs the plugin {project}, which the stated build lacks");
            first_of(cx, places, message);
        }
        Some(_) => {}
    }
}

fn plugin_needed(cx: &mut Cx<'_>, places: &Places<'_>) {
    if let Some(Provider { project, stated: Stated::Nothing }) = &places.provider {
        let name = &places.unknown.name;
        let message = format!("`{name}` needs the plugin {project}; Caddy without it refuses the file");
        first_of(cx, places, message);
    }
}

/// A report at the first place, with the others as labels.
fn first_of<'c>(cx: &'c mut Cx<'_>, places: &Places<'_>, message: String) -> &'c mut Report {
    /// Places shown besides the first.
    const MOST_LABELS: usize = 10;
    let (first, versions) = &places.all[0];
    let mut spans: Vec<_> =
        places.all.iter().map(|(refusal, _)| refusal.span).filter(|span| *span != first.span).collect();
    spans.dedup();
    let report = report_one(cx, first, versions.clone());
    report.message = message;
    for span in spans.into_iter().take(MOST_LABELS) {
        report.label(span, "and here");
    }
    report
}

/// The known names nearest to one that is not known; none where many are.
fn likely(name: &str, known: &[&'static str]) -> Vec<&'static str> {
    let near = suggest::near(name, known.iter().copied());
    let distance = |known: &str| strsim::osa_distance(&name.to_lowercase(), known);
    let Some(nearest) = near.first().map(|first| distance(first)) else { return Vec::new() };
    let best: Vec<&str> = near.into_iter().filter(|known| nearest <= 2 && distance(known) == nearest).collect();
    if best.len() > 3 { Vec::new() } else { best }
}

fn either(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
}

/// The fix that writes a known name, if it is one letter away wherever the unknown one is written.
fn rename(cx: &Cx<'_>, places: &Places<'_>, new: &str) -> Option<Fix> {
    let near = strsim::osa_distance(&places.unknown.name, new) == 1;
    let words: Option<Vec<Word<'_>>> = places
        .all
        .iter()
        .map(|(refusal, _)| cx.model.node(refusal.node).words().find(|word| word.span() == refusal.span))
        .collect();
    let words = words.filter(|words| near && words.iter().all(|word| is_plain(*word)))?;
    let change = format!("`{new}` comes into effect, if that is what was meant");
    Some(Fix::risky(format!("write `{new}`"), replace_all(&words, new), change))
}

/// Whether a word stands in the file as the server sees it.
fn is_plain(word: Word<'_>) -> bool {
    word.origin() == Origin::Written && word.quote() == Quote::Bare && word.raw() == word.value()
}

fn replace_all(words: &[Word<'_>], new: &str) -> Vec<Edit> {
    let mut spans: Vec<_> = words.iter().map(|word| word.span()).collect();
    spans.sort_unstable_by_key(|span| (span.file, span.start));
    spans.dedup();
    spans.into_iter().map(|span| Edit::replace(span, new)).collect()
}

/// What a directive of nginx is in a Caddyfile.
fn from_nginx(section: &str, name: &str) -> Option<&'static str> {
    const NAMES: [(&str, &str); 16] = [
        ("proxy_pass", "`reverse_proxy`"),
        ("upstream", "a list of addresses behind `reverse_proxy`"),
        ("fastcgi_pass", "`php_fastcgi`, or `reverse_proxy` with `transport fastcgi`"),
        ("location", "`handle` with a path"),
        ("server", "a block with the address in front of it"),
        ("server_name", "the address in front of the block"),
        ("listen", "the address in front of the block, or `bind`"),
        ("return", "`redir` or `respond`"),
        ("add_header", "`header`"),
        ("proxy_set_header", "`header_up` in `reverse_proxy`"),
        ("ssl_certificate", "`tls` with two files"),
        ("ssl_certificate_key", "`tls` with two files"),
        ("access_log", "`log`"),
        ("gzip", "`encode`"),
        ("alias", "`root` in `handle_path`"),
        ("auth_request", "`forward_auth`"),
    ];
    NAMES.iter().find(|(theirs, _)| section == "directive" && *theirs == name).map(|(_, ours)| *ours)
}

/// Names that newer versions do not have, with the fixes that are certain.
fn removed(cx: &mut Cx<'_>) {
    let verdicts = Verdicts::of(cx);
    let model = cx.model;
    for (refusal, versions) in verdicts.refusals(Cause::Gone) {
        let word = model.node(refusal.node).words().find(|word| word.span() == refusal.span);
        let plain = word.filter(|word| is_plain(*word));
        let scheme = plain.and_then(|word| {
            let text = word.text();
            let rest = text.strip_prefix("ws")?;
            rest.contains("://").then(|| {
                Fix::safe("write the scheme that Caddy takes", vec![Edit::replace(word.span(), format!("http{rest}"))])
            })
        });
        report_one(cx, refusal, versions).fixes.extend(scheme);
    }
}

/// Names that versions of the target take and warn of.
fn deprecated(cx: &mut Cx<'_>) {
    let (model, verdicts) = (cx.model, Verdicts::of(cx));
    let gone: HashMap<NodeId, VersionSet> =
        verdicts.refusals(Cause::Gone).into_iter().map(|(refusal, versions)| (refusal.node, versions)).collect();
    for rename in RENAMES {
        let known = VersionSet::since(rename.since);
        for node in model.named(rename.name).filter(|node| stands_in(*node, rename.blocks)) {
            let warned = cx.target.intersection(&known);
            let warned = gone.get(&node.id()).map_or(warned.clone(), |gone| warned.difference(gone));
            let Some(word) = node.words().next().filter(|_| !warned.is_empty()) else { continue };
            let message =
                format!("Caddy warns of `{}`, which it may drop; instead of it: {}", rename.name, rename.instead);
            let fix = rename
                .new
                .filter(|new| is_plain(word) && (rename.blocks == ["directive"] || !has_sibling(node, new)))
                .map(|new| {
                    let edits = vec![Edit::replace(word.span(), new)];
                    Fix::safe(format!("write `{new}`"), edits).needs(known.clone())
                });
            let report = cx.report(node, word.span(), message);
            report.versions(warned).fixes.extend(fix);
        }
    }
}

/// Whether a line stands in one of these blocks.
fn stands_in(node: Node<'_>, blocks: &[&str]) -> bool {
    let Some(parent) = node.parent() else { return false };
    let is_global = parent.words().len() == 0 && parent.parent().is_none();
    blocks.iter().any(|block| match *block {
        "directive" => stands_among_handlers(node),
        "option" => is_global,
        "http" => parent.is("transport") && parent.value(0) == Some(b"http"),
        name => parent.is(name) && parent.parent().is_some(),
    })
}

/// Whether the block of a line has another one of that name.
fn has_sibling(node: Node<'_>, name: &str) -> bool {
    node.parent().is_some_and(|block| block.children().any(|line| line.is(name)))
}
