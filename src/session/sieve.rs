//! What is found and not shown: known findings, those that a revision had already, those of files that
//! nobody named.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::policy::Policy;
use super::{Error, Outcome, Passed, Request, scope};
use crate::baseline::Baseline;
use crate::files::Files;
use crate::finding::Finding;
use crate::fix::diff;
use crate::model::Model;
use crate::source::FileId;

/// What a repository held at a revision.
#[derive(Clone)]
pub struct Since {
    /// The revision, as written.
    pub revision: String,
    /// Its files.
    pub files: Arc<dyn Files + Send>,
}

impl std::fmt::Debug for Since {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Since").field("revision", &self.revision).finish_non_exhaustive()
    }
}

/// Decides which findings are shown.
pub(super) struct Sieve<'a> {
    files: &'a dyn Files,
    /// By the path of their files.
    pub(super) baselines: BTreeMap<PathBuf, Baseline>,
    before: Option<(Baseline, &'a Since)>,
}

impl<'a> Sieve<'a> {
    pub(super) fn new(
        files: &'a dyn Files,
        request: &'a Request,
        configs: &[scope::Config],
    ) -> Result<Self, Vec<Error>> {
        let mut baselines = BTreeMap::new();
        for path in configs.iter().filter_map(|config| config.policy.baseline.as_ref()).filter(|_| !request.all_known) {
            if !baselines.contains_key(path) {
                let baseline = Baseline::read(files, path).map_err(|error| vec![error.into()])?;
                baselines.insert(path.clone(), baseline);
            }
        }
        let before = request.since.as_ref().map(|since| (before(since, request), since));
        Ok(Self { files, baselines, before })
    }

    /// Takes out of the findings of a configuration what is not shown. `named` are the files that somebody
    /// named, where only they matter.
    pub(super) fn sift(
        &self,
        policy: &Policy,
        named: Option<&HashSet<PathBuf>>,
        model: &Model,
        findings: &mut Vec<Finding>,
    ) -> Passed {
        let mut passed = Passed::default();
        if let Some(named) = named {
            let all = findings.len();
            findings.retain(|finding| self.concerns(named, model, finding));
            passed.elsewhere = all - findings.len();
        }
        if let Some((before, since)) = &self.before {
            let changed = self.changed(since, model, findings);
            let keep = |finding: &Finding| {
                let line = model.file(finding.span).line_of(finding.span.start);
                changed[&finding.span.file].iter().any(|lines| lines.contains(&line))
            };
            passed.before = before.sift(self.files, &policy.rules, model, findings, keep).len();
        }
        if let Some((path, baseline)) = policy.baseline.as_ref().and_then(|path| self.baselines.get_key_value(path)) {
            let met = baseline.sift(self.files, &policy.rules, model, findings, |_| false);
            passed.known.insert(path.clone(), met);
        }
        passed
    }

    /// Whether a finding is about one of the files, or has to do with it.
    fn concerns(&self, named: &HashSet<PathBuf>, model: &Model, finding: &Finding) -> bool {
        let spans = std::iter::once(finding.span).chain(finding.labels.iter().map(|label| label.span));
        spans.into_iter().any(|span| {
            let path = model.file(span).path();
            self.files.canonical(path).is_ok_and(|path| named.contains(&path))
        })
    }

    /// The lines that were changed since the revision, in the files of findings.
    fn changed(&self, since: &Since, model: &Model, findings: &[Finding]) -> HashMap<FileId, Vec<Range<u32>>> {
        let files: HashSet<FileId> = findings.iter().map(|finding| finding.span.file).collect();
        let lines = |id: FileId| {
            let file = model.sources().get(id);
            let old = since.files.read(file.path()).unwrap_or_else(|_| [].into());
            (id, diff::changed_lines(&old, file.bytes()))
        };
        files.into_iter().map(lines).collect()
    }
}

/// What was found at the revision. A path that could not be checked then had no findings.
fn before(since: &Since, request: &Request) -> Baseline {
    let request = Request { since: None, fixes: None, all_known: true, ..request.clone() };
    let mut baseline = Baseline::new(&*since.files, std::path::Path::new("."));
    let run = |request: &Request| super::run(&*since.files, request, None).ok();
    let outcomes: Vec<Outcome> = match run(&request) {
        Some(outcome) => vec![outcome],
        None => {
            let single = |path: &PathBuf| run(&Request { paths: vec![path.clone()], ..request.clone() });
            request.paths.iter().filter_map(single).collect()
        }
    };
    outcomes.iter().for_each(|outcome| outcome.add_to(&mut baseline, &*since.files));
    baseline
}
