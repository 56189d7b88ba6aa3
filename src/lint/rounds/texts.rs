//! The files of several configurations, each once.

use foldhash::HashMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Checked;
use crate::files::{Files, Folders};
use crate::fix::Fix;
use crate::fix::apply::Change;
use crate::source::FileId;

/// The files by number; one that is reached by several paths has one number.
#[derive(Default)]
pub(super) struct Texts {
    files: Vec<Text>,
    /// The number of each file of each configuration.
    numbers: Vec<Vec<usize>>,
}

struct Text {
    path: PathBuf,
    bytes: Arc<[u8]>,
    /// The configurations that read it.
    readers: BTreeSet<usize>,
}

impl Texts {
    /// The files that the configurations have read.
    pub(super) fn new(files: &dyn Files, checked: &[Arc<Checked>]) -> Self {
        let mut texts = Self::default();
        let mut known = HashMap::default();
        let mut folders = Folders::default();
        for (model, one) in checked.iter().enumerate() {
            let mut numbers = Vec::new();
            for (_, file) in one.model.sources().iter() {
                let path = folders.canonical(files, file.path());
                let number = *known.entry(path.clone()).or_insert_with(|| {
                    texts.files.push(Text { path, bytes: file.bytes().clone(), readers: BTreeSet::new() });
                    texts.files.len() - 1
                });
                texts.files[number].readers.insert(model);
                numbers.push(number);
            }
            texts.numbers.push(numbers);
        }
        texts
    }

    /// The edits of a fix of a configuration.
    pub(super) fn place(&self, model: usize, fix: &Fix) -> Vec<Change> {
        let number = |edit: &crate::fix::Edit| self.numbers[model][edit.span.file.0 as usize];
        let change = |edit| Change { file: number(edit), range: edit.span.range(), text: edit.text.clone() };
        fix.edits.iter().map(change).collect()
    }

    /// The number of a file of a configuration.
    pub(super) fn number(&self, model: usize, file: FileId) -> Option<usize> {
        self.numbers.get(model)?.get(file.0 as usize).copied()
    }

    /// The id that a configuration gives a file, if it reads it.
    pub(super) fn file_of(&self, model: usize, file: usize) -> Option<FileId> {
        self.numbers[model].iter().position(|&number| number == file).map(|id| FileId(id as u32))
    }

    /// Canonical path and text of a file.
    pub(super) fn get(&self, file: usize) -> (&Path, &Arc<[u8]>) {
        let text = &self.files[file];
        (&text.path, &text.bytes)
    }

    /// The configurations that read any of the files.
    pub(super) fn readers(&self, files: impl Iterator<Item = usize>) -> BTreeSet<usize> {
        files.flat_map(|file| self.files[file].readers.iter().copied()).collect()
    }

    /// The configurations besides `model` that read a changed file.
    pub(super) fn other_readers(&self, model: usize, changes: &[Change]) -> BTreeSet<usize> {
        let mut readers = self.readers(changes.iter().map(|change| change.file));
        readers.remove(&model);
        readers
    }

    /// The changes in files that both configurations read.
    pub(super) fn common<'c>(&self, a: usize, b: usize, changes: &'c [Change]) -> Vec<&'c Change> {
        let both = |file: usize| [a, b].iter().all(|model| self.files[file].readers.contains(model));
        changes.iter().filter(|change| both(change.file)).collect()
    }
}
