//! A text that is included in several places is one text: what is said of it is said once, and a
//! fix of it must be right in all places.

use foldhash::HashMap;
use std::collections::BTreeMap;

use super::node_of;
use crate::checks::{Report, Shared};
use crate::model::{Model, Node, NodeId};
use crate::source::{FileId, Span};
use crate::syntax::tree::ChainId;

/// Reports of one text, each from another place of inclusion.
struct Merged {
    report: Report,
    /// The places of inclusion, with the message there where it is another.
    places: Vec<(ChainId, Option<String>)>,
    /// Whether all of them have the same fixes.
    agree: bool,
}

/// The reports of a rule, those of one text made one.
pub(super) fn merge(model: &Model, shared: &Shared, reports: Vec<Report>) -> Vec<Report> {
    let chain = |report: &Report| node_of(model, report.node).map_or(ChainId(0), Node::chain_id);
    if reports.iter().all(|report| chain(report) == ChainId(0)) {
        return reports;
    }
    let mut by_span: BTreeMap<Span, Vec<Merged>> = BTreeMap::new();
    for report in reports {
        let chain = chain(&report);
        let merged = by_span.entry(report.span).or_default();
        match merged.iter_mut().find(|merged| merged.takes(chain, &report)) {
            Some(merged) => merged.add(chain, report),
            None => merged.push(Merged { places: vec![(chain, None)], report, agree: true }),
        }
    }
    let merged: Vec<Merged> = by_span.into_values().flatten().collect();
    let uses = shared.get(|| Uses::count(model));
    merged.into_iter().map(|merged| merged.finish(model, &uses)).collect()
}

impl Merged {
    /// Whether the report may be the same fault, seen from another place.
    fn takes(&self, chain: ChainId, report: &Report) -> bool {
        self.report.node.is_some() && report.node.is_some() && self.places.iter().all(|(known, _)| *known != chain)
    }

    fn add(&mut self, chain: ChainId, report: Report) {
        self.agree &= report.fixes == self.report.fixes;
        self.places.push((chain, (report.message != self.report.message).then_some(report.message)));
        for label in report.labels {
            if !self.report.labels.contains(&label) {
                self.report.labels.push(label);
            }
        }
        self.report.versions = match (self.report.versions.take(), report.versions) {
            (Some(a), Some(b)) => Some(a.union(&b)),
            _ => None,
        };
    }

    /// Adds the including places, and keeps fixes that are right in all of them.
    fn finish(mut self, model: &Model, uses: &Uses) -> Report {
        let count = self.report.node.map_or(1, |node| uses.of(model, node));
        if count < 2 {
            return self.report;
        }
        for (place, message) in including_places(model, &self.places) {
            let message = message.map_or_else(|| "included here".to_owned(), |text| format!("included here: {text}"));
            self.report.label(place, message);
        }
        let right_everywhere = self.agree && self.places.len() == count;
        if !right_everywhere && !self.report.fixes.is_empty() {
            self.report.fixes.clear();
            self.report.note.get_or_insert_with(|| {
                "no fix: the file is included in several places, and the change would be wrong in some of them"
                    .to_owned()
            });
        }
        self.report
    }
}

/// For each place of inclusion the directive in which it differs from the others, the innermost
/// such.
fn including_places(model: &Model, places: &[(ChainId, Option<String>)]) -> Vec<(Span, Option<String>)> {
    let chains: Vec<Vec<Span>> = places.iter().map(|(chain, _)| model.chain(*chain).collect()).collect();
    let longest = chains.iter().map(Vec::len).max().unwrap_or(0);
    let differs = |depth: &usize| chains.iter().any(|chain| chain.get(*depth) != chains[0].get(*depth));
    let depth = (0..longest).find(differs).unwrap_or(0);
    let place = |chain: &Vec<Span>| chain.get(depth).or(chain.last()).copied();
    chains.iter().zip(places).filter_map(|(chain, (_, text))| Some((place(chain)?, text.clone()))).collect()
}

/// How often the text of a directive is seen in a model, where more than once: once for each place
/// of inclusion.
struct Uses(HashMap<(FileId, u32), usize>);

impl Uses {
    fn count(model: &Model) -> Self {
        let mut chains = vec![None; model.sources().iter().len()];
        let mut several = vec![false; chains.len()];
        for node in model.nodes() {
            let (file, chain) = (node.head().file.0 as usize, node.chain_id());
            several[file] |= *chains[file].get_or_insert(chain) != chain;
        }
        let mut uses = HashMap::default();
        for node in model.nodes().filter(|node| several[node.head().file.0 as usize]) {
            *uses.entry(start(node)).or_insert(0) += 1;
        }
        Self(uses)
    }

    fn of(&self, model: &Model, node: NodeId) -> usize {
        self.0.get(&start(model.node(node))).copied().unwrap_or(1)
    }
}

fn start(node: Node<'_>) -> (FileId, u32) {
    let head = node.head();
    (head.file, head.start)
}
