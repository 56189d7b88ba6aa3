//! Whose edit a changed line is, and what that edit's finding is about.

use foldhash::HashMap;
use std::collections::BTreeSet;
use std::ops::Range;

use super::pairs::{Pair, Side, Touch};
use crate::model::{Level, Model};
use crate::source::{FileId, Span};

/// A text that was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The file, the same in both models.
    pub file: FileId,
    /// The bytes that went.
    pub old: Range<usize>,
    /// Where the new ones are.
    pub new: Range<usize>,
    /// Numbers of those who wanted it.
    pub authors: Vec<usize>,
}

/// Who wants an edit: a fix.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Author {
    /// The places of its finding, in the model before.
    pub places: Vec<Span>,
}

/// Whose a changed line is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Owners {
    /// The authors of the edits that made it, or that could have.
    pub(super) authors: BTreeSet<usize>,
    /// Whether one of their edits is in the line. Else it changed without being edited: by what was
    /// put beside it, or anywhere.
    pub(super) certain: bool,
}

/// The owners of each touch of each pair.
pub(super) fn assign(pairs: &[Pair<'_>], edits: &[Edited], authors: usize) -> Vec<Vec<Owners>> {
    let mut by_file: HashMap<FileId, Vec<&Edited>> = HashMap::default();
    for edit in edits {
        by_file.entry(edit.file).or_default().push(edit);
    }
    by_file.values_mut().for_each(|edits| edits.sort_by_key(|edit| (edit.old.start, edit.old.end)));
    let of = |touch: &Touch| {
        let edits = by_file.get(&touch.span.file).map_or(&[][..], Vec::as_slice);
        let mut owners = overlapping(edits, touch);
        if owners.authors.is_empty() {
            owners.authors = (0..authors).collect();
        }
        owners
    };
    pairs.iter().map(|pair| pair.touches.iter().map(of).collect()).collect()
}

/// The authors of the edits that a line overlaps, or that touch it. Edits lie apart and in order, on
/// both sides.
fn overlapping(edits: &[&Edited], touch: &Touch) -> Owners {
    let side = |edit: &Edited| match touch.side {
        Side::Before => edit.old.clone(),
        Side::After => edit.new.clone(),
    };
    let line = touch.span.range();
    let from = edits.partition_point(|edit| side(edit).end < line.start);
    let near = edits[from..].iter().take_while(|edit| side(edit).start <= line.end);
    let (mut inside, mut beside) = (BTreeSet::new(), BTreeSet::new());
    for edit in near {
        let range = side(edit);
        let overlaps = range.start < line.end && line.start < range.end;
        let within = line.start < range.start && range.end < line.end;
        if overlaps || within { &mut inside } else { &mut beside }.extend(&edit.authors);
    }
    let certain = !inside.is_empty();
    Owners { authors: if certain { inside } else { beside }, certain }
}

/// The levels that findings are about.
pub(super) struct Homes {
    /// By author.
    homes: Vec<Vec<Home>>,
}

/// A level, as the range of its directives in the model before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Home {
    start: u32,
    end: u32,
}

impl Home {
    pub(super) fn of(level: Level<'_>) -> Self {
        match level.node() {
            Some(node) => Self { start: node.id().0 + 1, end: node.end().0 },
            None => Self { start: 0, end: u32::MAX },
        }
    }

    pub(super) fn contains(&self, inner: &Self) -> bool {
        self.start <= inner.start && inner.end <= self.end
    }

    /// Whether it is further out.
    pub(super) fn is_around(&self, inner: &Self) -> bool {
        self != inner && self.contains(inner)
    }
}

impl Homes {
    pub(super) fn new(before: &Model, authors: &[Author]) -> Self {
        let mut wanted: HashMap<FileId, Vec<(u32, usize)>> = HashMap::default();
        for (number, author) in authors.iter().enumerate() {
            for place in &author.places {
                wanted.entry(place.file).or_default().push((place.start, number));
            }
        }
        wanted.values_mut().for_each(|places| places.sort_unstable());
        let mut homes = vec![Vec::new(); authors.len()];
        for node in before.nodes() {
            let head = node.head();
            let Some(places) = wanted.get(&head.file) else { continue };
            let from = places.partition_point(|&(start, _)| start < head.start);
            for &(_, author) in places[from..].iter().take_while(|(start, _)| *start < head.end) {
                let home = Home::of(if node.children().next().is_some() { node.inside() } else { node.level() });
                if !homes[author].contains(&home) {
                    homes[author].push(home);
                }
            }
        }
        Self { homes }
    }

    /// `None` where a finding is about no directive: then it is about everything.
    pub(super) fn get(&self, author: usize) -> Option<&[Home]> {
        self.homes.get(author).map(Vec::as_slice).filter(|homes| !homes.is_empty())
    }
}
