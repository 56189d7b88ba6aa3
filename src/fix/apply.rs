//! Many fixes over many files at once: which fit together, and what comes out.

use std::collections::BTreeMap;
use std::ops::Range;

/// An edit of one of several files.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Change {
    /// Number of the file.
    pub file: usize,
    /// The bytes that go. Empty where the text is inserted.
    pub range: Range<usize>,
    /// The bytes that come.
    pub text: Vec<u8>,
}

/// Changes that do not overlap, by file.
///
/// Insertions at one offset do not overlap: they stand in the order in which they were added. A
/// change that is there already is shared.
#[derive(Debug, Clone, Default)]
pub struct Patch {
    files: BTreeMap<usize, FilePatch>,
}

#[derive(Debug, Clone, Default)]
struct FilePatch {
    /// By the first byte: the byte behind the last, and the new text.
    replaced: BTreeMap<usize, (usize, Vec<u8>)>,
    inserted: BTreeMap<usize, Vec<Vec<u8>>>,
}

/// A change overlaps one that is already there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap;

impl Patch {
    /// No changes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds all changes of a fix, or none.
    ///
    /// # Errors
    /// When one of them overlaps a change of this patch, or another one of the fix.
    pub fn add(&mut self, fix: &[Change]) -> Result<(), Overlap> {
        let mut added: Vec<&Change> = Vec::with_capacity(fix.len());
        for change in fix.iter().filter(|change| !change.is_empty()) {
            let file = self.files.entry(change.file).or_default();
            if file.holds(change) {
                continue;
            }
            if file.overlaps(&change.range) {
                added.iter().for_each(|change| self.remove(change));
                return Err(Overlap);
            }
            file.add(change);
            added.push(change);
        }
        Ok(())
    }

    fn remove(&mut self, change: &Change) {
        if let Some(file) = self.files.get_mut(&change.file) {
            file.remove(change);
        }
    }

    /// Numbers of the files that change.
    pub fn files(&self) -> impl Iterator<Item = usize> + '_ {
        self.files.iter().filter(|(_, file)| !file.is_empty()).map(|(&number, _)| number)
    }

    /// The new text of a file.
    pub fn apply(&self, file: usize, old: &[u8]) -> Vec<u8> {
        self.files.get(&file).map_or_else(|| old.to_vec(), |patch| patch.apply(old))
    }

    /// The changes of a file in the order of the text, and where each new text comes to stand.
    pub fn placed(&self, file: usize) -> Vec<(Change, Range<usize>)> {
        let steps = self.files.get(&file).map(FilePatch::steps).unwrap_or_default();
        let (mut placed, mut shift) = (Vec::with_capacity(steps.len()), 0_isize);
        for Step { range, text, .. } in steps {
            let start = range.start.wrapping_add_signed(shift);
            let place = start..start + text.len();
            shift += text.len() as isize - range.len() as isize;
            placed.push((Change { file, range, text: text.to_vec() }, place));
        }
        placed
    }
}

/// One change, ready to be made.
struct Step<'a> {
    range: Range<usize>,
    /// Insertions at one offset come first, in their order; then what is replaced there.
    rank: usize,
    text: &'a [u8],
}

impl Change {
    /// Whether it changes nothing.
    fn is_empty(&self) -> bool {
        self.range.is_empty() && self.text.is_empty()
    }
}

impl FilePatch {
    fn is_empty(&self) -> bool {
        self.replaced.is_empty() && self.inserted.is_empty()
    }

    fn holds(&self, change: &Change) -> bool {
        if change.range.is_empty() {
            self.inserted.get(&change.range.start).is_some_and(|texts| texts.contains(&change.text))
        } else {
            self.replaced.get(&change.range.start) == Some(&(change.range.end, change.text.clone()))
        }
    }

    fn overlaps(&self, range: &Range<usize>) -> bool {
        // What is replaced lies apart, so only the last that begins before our end can reach us.
        let last = self.replaced.range(..range.end).next_back();
        let replaced = last.is_some_and(|(_, (end, _))| *end > range.start);
        // An insertion at either end of what goes stays beside it.
        replaced || (range.len() > 1 && self.inserted.range(range.start + 1..range.end).next().is_some())
    }

    fn add(&mut self, change: &Change) {
        if change.range.is_empty() {
            self.inserted.entry(change.range.start).or_default().push(change.text.clone());
        } else {
            self.replaced.insert(change.range.start, (change.range.end, change.text.clone()));
        }
    }

    fn remove(&mut self, change: &Change) {
        if !change.range.is_empty() {
            self.replaced.remove(&change.range.start);
        } else if let Some(texts) = self.inserted.get_mut(&change.range.start) {
            texts.retain(|text| *text != change.text);
            if texts.is_empty() {
                self.inserted.remove(&change.range.start);
            }
        }
    }

    /// In the order of the text.
    fn steps(&self) -> Vec<Step<'_>> {
        let inserted = self.inserted.iter().flat_map(|(&at, texts)| {
            texts.iter().enumerate().map(move |(rank, text)| Step { range: at..at, rank, text })
        });
        let replaced =
            self.replaced.iter().map(|(&start, (end, text))| Step { range: start..*end, rank: usize::MAX, text });
        let mut steps: Vec<Step<'_>> = inserted.chain(replaced).collect();
        steps.sort_by_key(|step| (step.range.start, step.rank));
        steps
    }

    fn apply(&self, old: &[u8]) -> Vec<u8> {
        let mut new = Vec::with_capacity(old.len() + 256);
        let mut done = 0;
        for Step { range, text, .. } in self.steps() {
            new.extend_from_slice(&old[done..range.start]);
            new.extend_from_slice(text);
            done = range.end;
        }
        new.extend_from_slice(&old[done..]);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(range: Range<usize>, text: &str) -> Change {
        Change { file: 0, range, text: text.into() }
    }

    fn result(patch: &Patch) -> String {
        String::from_utf8(patch.apply(0, b"0123456789")).unwrap()
    }

    #[test]
    fn insertions_at_one_offset_keep_their_order_and_stand_beside_what_is_replaced() {
        let mut patch = Patch::new();
        patch.add(&[change(3..3, "b"), change(3..5, "XY")]).unwrap();
        patch.add(&[change(3..3, "a"), change(5..5, "c")]).unwrap();
        patch.add(&[change(5..6, "")]).unwrap();
        assert_eq!(result(&patch), "012baXYc6789");
    }

    #[test]
    fn a_fix_that_overlaps_leaves_nothing_behind() {
        let mut patch = Patch::new();
        patch.add(&[change(2..6, "_")]).unwrap();
        for range in [2..5, 0..3, 5..9, 3..4, 4..4] {
            assert_eq!(patch.add(&[change(8..8, "!"), change(range, "?")]), Err(Overlap));
        }
        patch.add(&[change(7..7, "i")]).unwrap();
        assert_eq!(patch.add(&[change(6..9, "?")]), Err(Overlap), "an insertion inside");
        assert_eq!(patch.add(&[change(0..2, "?"), change(1..1, "?")]), Err(Overlap), "with itself");
        assert_eq!(result(&patch), "01_6i789");
    }

    #[test]
    fn identical_changes_are_shared_and_survive_the_refusal_of_one_owner() {
        let mut patch = Patch::new();
        patch.add(&[change(0..0, "up;"), change(2..3, "x")]).unwrap();
        patch.add(&[change(0..0, "up;"), change(4..5, "y")]).unwrap();
        assert_eq!(patch.add(&[change(0..0, "up;"), change(2..3, "z")]), Err(Overlap));
        assert_eq!(result(&patch), "up;01x3y56789");
    }

    #[test]
    fn the_places_of_the_new_texts_are_told() {
        let mut patch = Patch::new();
        patch.add(&[change(2..4, "abc"), change(2..2, "1"), change(2..2, "22"), change(7..9, "")]).unwrap();
        patch.add(&[change(9..10, "z")]).unwrap();
        let new = patch.apply(0, b"0123456789");
        let texts: Vec<_> =
            patch.placed(0).into_iter().map(|(change, place)| (change.text, new[place].to_vec())).collect();
        assert_eq!(texts.len(), 5);
        assert!(texts.iter().all(|(text, there)| text == there), "{texts:?}");
    }

    #[test]
    fn only_files_with_changes_are_named() {
        let mut patch = Patch::new();
        patch.add(&[Change { file: 3, range: 1..1, text: Vec::new() }]).unwrap();
        assert_eq!(
            patch.add(&[Change { file: 1, ..change(0..2, "") }, Change { file: 1, ..change(1..2, "") }]),
            Err(Overlap)
        );
        assert_eq!(patch.files().count(), 0);
    }
}
