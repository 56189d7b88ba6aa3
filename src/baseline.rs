//! Known findings that a run passes over.
//!
//! A finding is known again by its rule, its place (the blocks around it) and the text of its directive:
//! not by its line. A file may also be renamed: an entry whose file is gone stands for a finding elsewhere.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use foldhash::HashMap;
use serde::{Deserialize, Serialize};

use crate::files::{Files, Kind, normal, reason};
use crate::finding::Finding;
use crate::lint::comments::Places;
use crate::model::{Model, Node};
use crate::rule::RuleSet;
use crate::source::{FileId, Span};

/// The version of the file's form.
const VERSION: u32 = 1;

/// A longer text is cut, and told by a number.
const LONG: usize = 160;

/// Known findings.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// The folder that the paths are relative to, canonical.
    folder: PathBuf,
    entries: Vec<Entry>,
    by_key: HashMap<Key, Vec<usize>>,
}

/// A known finding; several alike are one entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The rule.
    pub rule: String,
    /// The file, relative to the folder of the baseline, with `/`.
    pub path: String,
    /// The blocks around it, the outermost first.
    pub place: String,
    /// Its directive.
    pub text: String,
    /// How often.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: usize,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    findings: Vec<Entry>,
}

/// A baseline that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the baseline `{}` {reason}", path.display())]
pub struct BaselineError {
    /// Its file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

/// How often each entry of a baseline was met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Met(BTreeMap<usize, usize>);

type Key = (String, String, String);

fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it")]
fn is_one(count: &usize) -> bool {
    *count == 1
}

impl Baseline {
    /// No known findings; paths will be relative to `folder`.
    pub fn new(files: &dyn Files, folder: &Path) -> Self {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let folder = files.canonical(folder).unwrap_or_else(|_| normal(folder));
        Self { folder, entries: Vec::new(), by_key: HashMap::default() }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or is no baseline.
    pub fn read(files: &dyn Files, path: &Path) -> Result<Self, BaselineError> {
        let wrong = |reason: String| BaselineError { path: path.to_owned(), reason };
        if files.kind(path) == Kind::Special {
            return Err(wrong("is not a regular file and is not read".to_owned()));
        }
        let bytes = files.read(path).map_err(|error| wrong(format!("cannot be read: {}", reason(&error))))?;
        let Document { version, findings } =
            serde_json::from_slice(&bytes).map_err(|error| wrong(format!("is none: {error}")))?;
        if version != VERSION {
            return Err(wrong(format!("is of version {version}, and this program reads version {VERSION}")));
        }
        let mut baseline = Self::new(files, path.parent().unwrap_or(Path::new("")));
        findings.into_iter().for_each(|entry| baseline.add(entry));
        Ok(baseline)
    }

    /// Adds what is found in a configuration.
    pub fn add_findings<'a>(
        &mut self,
        files: &dyn Files,
        model: &Model,
        findings: impl IntoIterator<Item = &'a Finding>,
    ) {
        let mut places = Places::new(model);
        for finding in findings {
            let (place, text) = place_and_text(model, &mut places, finding.span);
            let path = self.path_of(files, model.file(finding.span).path());
            self.add(Entry { rule: finding.rule.to_string(), path, place, text, count: 1 });
        }
    }

    fn add(&mut self, entry: Entry) {
        let key = (entry.rule.clone(), entry.place.clone(), entry.text.clone());
        let of_key = self.by_key.entry(key).or_default();
        match of_key.iter().find(|&&index| self.entries[index].path == entry.path) {
            Some(&index) => self.entries[index].count += entry.count,
            None => {
                of_key.push(self.entries.len());
                self.entries.push(entry);
            }
        }
    }

    /// Number of known findings.
    pub fn len(&self) -> usize {
        self.entries.iter().map(|entry| entry.count).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The file's text: sorted, so that a change of it is easy to review.
    pub fn to_json(&self) -> String {
        let mut findings = self.entries.clone();
        findings.sort_by(|a, b| (&a.path, &a.place, &a.text, &a.rule).cmp(&(&b.path, &b.place, &b.text, &b.rule)));
        let document = Document { version: VERSION, findings };
        serde_json::to_string_pretty(&document).expect("texts and numbers are JSON") + "\n"
    }

    /// Takes known findings out of those of a configuration; `keep` says which stay all the same.
    pub fn sift(
        &self,
        files: &dyn Files,
        rules: &RuleSet,
        model: &Model,
        findings: &mut Vec<Finding>,
        keep: impl Fn(&Finding) -> bool,
    ) -> Met {
        let mut met = Met::default();
        if self.is_empty() || findings.is_empty() {
            return met;
        }
        let mut places = Places::new(model);
        let mut paths: HashMap<FileId, String> = HashMap::default();
        // First those whose file has its name still, so that a renamed one does not take their entries.
        for renamed in [false, true] {
            findings.retain(|finding| {
                if keep(finding) {
                    return true;
                }
                let (place, text) = place_and_text(model, &mut places, finding.span);
                let path = paths.entry(finding.span.file);
                let path = path.or_insert_with(|| self.path_of(files, model.file(finding.span).path()));
                let entry = self.entry(files, rules, finding, (&place, &text, path), renamed, &met);
                entry.map(|index| *met.0.entry(index).or_default() += 1).is_none()
            });
        }
        met
    }

    fn entry(
        &self,
        files: &dyn Files,
        rules: &RuleSet,
        finding: &Finding,
        (place, text, path): (&String, &String, &String),
        renamed: bool,
        met: &Met,
    ) -> Option<usize> {
        // A rule may have had another name when the baseline was written.
        let aliases = rules.find(&finding.rule).map_or(&[][..], |active| &active.rule.aliases);
        let names = std::iter::once(finding.rule.as_ref()).chain(aliases.iter().map(AsRef::as_ref));
        let entries = names.filter_map(|name| self.by_key.get(&(name.to_owned(), place.clone(), text.clone())));
        entries.flatten().copied().find(|&index| {
            let entry = &self.entries[index];
            let fits = if renamed { self.is_gone(files, entry) } else { entry.path == *path };
            fits && met.0.get(&index).copied().unwrap_or(0) < entry.count
        })
    }

    fn is_gone(&self, files: &dyn Files, entry: &Entry) -> bool {
        files.kind(&self.folder.join(&entry.path)) == Kind::Missing
    }

    /// The entries that were not met, of rules that ran and files that were read or are no more.
    pub fn gone(&self, files: &dyn Files, met: &Met, ran: impl Fn(&str, &Path) -> bool) -> Vec<Entry> {
        let entries = self.entries.iter().enumerate().filter_map(|(index, entry)| {
            let count = entry.count.saturating_sub(met.0.get(&index).copied().unwrap_or(0));
            let path = self.folder.join(&entry.path);
            let judged = self.is_gone(files, entry) || ran(&entry.rule, &path);
            (count > 0 && judged).then(|| Entry { count, ..entry.clone() })
        });
        entries.collect()
    }

    fn path_of(&self, files: &dyn Files, path: &Path) -> String {
        let whole = files.canonical(path).unwrap_or_else(|_| normal(path));
        relative(&whole, &self.folder).to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
    }
}

impl Met {
    /// Takes over what another configuration met. A file that both read has the same findings in both.
    pub fn merge(&mut self, other: Self) {
        for (index, count) in other.0 {
            let known = self.0.entry(index).or_default();
            *known = count.max(*known);
        }
    }

    /// Number of findings.
    pub fn len(&self) -> usize {
        self.0.values().sum()
    }

    /// Whether nothing was met.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The path as seen from a folder; as it is, where they have nothing but the root in common.
fn relative(path: &Path, folder: &Path) -> PathBuf {
    let common = path.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    if common < 2 {
        return path.to_owned();
    }
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}

/// The blocks around a place in its file, and the directive there.
fn place_and_text(model: &Model, places: &mut Places<'_>, span: Span) -> (String, String) {
    let Some(node) = places.node(span.file, span.start) else {
        let file = model.file(span);
        return (String::new(), cut(words(file.line_bytes(file.line_of(span.start)))));
    };
    let in_file = |node: &Node<'_>| node.head().file == span.file;
    let mut around: Vec<String> = node.ancestors().take_while(in_file).map(head).collect();
    around.reverse();
    (around.join(" > "), head(node))
}

/// A directive without its block; a server is told by its name.
fn head(node: Node<'_>) -> String {
    let mut text = words(node.model().text(node.head()));
    if node.is("server") && node.args().len() == 0 {
        let name = node.own("server_name").next().and_then(|names| names.value(0));
        if let Some(name) = name {
            text = format!("{text} {}", String::from_utf8_lossy(name));
        }
    }
    cut(text)
}

fn words(text: &[u8]) -> String {
    String::from_utf8_lossy(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: String) -> String {
    if text.len() <= LONG {
        return text;
    }
    use std::hash::Hasher;
    let mut hasher = fnv::FnvHasher::default();
    hasher.write(text.as_bytes());
    let end = (0..=LONG).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    format!("{}… {:016x}", &text[..end], hasher.finish())
}
