//! Every fix of every rule over public configurations: what it changes is what it says it changes.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic and print")]

mod corpus;

use std::io;
use std::path::Path;

use proxylint::checks::Settings;
use proxylint::files::{Disk, Files};
use proxylint::fix::Safety;
use proxylint::lint;
use proxylint::lint::rounds::{self, Checked, Linter};
use proxylint::model::Model;
use proxylint::model::include::{Loader, PathMap, Root};
use proxylint::rule::set::RuleSet;
use proxylint::target::{Target, Versions};
use proxylint::version::Server;

const TARGETS: [&str; 5] = ["1.22", "1.24", "1.28", "1.31", ""];

struct Bench {
    loader: Loader,
    rules: RuleSet,
    versions: Versions,
}

impl Bench {
    fn new(main: &Path, target: &str) -> Self {
        let mut rules = RuleSet::builtin();
        rules.select(&["all".to_owned()], &[]).unwrap();
        let mut versions = Versions::assumed(Server::Nginx);
        if !target.is_empty() {
            versions = Versions::parse(Server::Nginx, target).unwrap();
        }
        Self { loader: Loader::new(main, Root::Implied, PathMap::default()), rules, versions }
    }

    fn first(&mut self) -> io::Result<Checked> {
        let model = self.loader.load(&Disk)?;
        if self.versions.stated.is_none() {
            self.versions = Target::assumed().of(&model);
        }
        Ok(self.findings(model))
    }

    fn findings(&self, model: Model) -> Checked {
        let findings = lint::run(&model, &self.rules, &self.versions, &Settings::default());
        let stated = self.versions.stated.is_some();
        Checked { model: model.into(), target: self.versions.set.clone(), stated, findings }
    }
}

impl Linter for Bench {
    type Error = io::Error;

    fn load(&mut self, _: usize, _: &Checked, files: &dyn Files) -> io::Result<Model> {
        self.loader.load(files)
    }

    fn check(&mut self, _: &Checked, model: Model) -> Checked {
        self.findings(model)
    }
}

#[test]
fn no_safe_fix_changes_anything_else() {
    let mut strays = Vec::new();
    let (mut fixes, mut safe) = (0, 0);
    for case in corpus::nginx().iter().filter(|case| !case.template) {
        for target in TARGETS {
            let mut bench = Bench::new(&case.path, target);
            let Ok(first) = bench.first() else { continue };
            let claimed: Vec<Vec<Safety>> =
                first.findings.iter().map(|finding| finding.fixes.iter().map(|fix| fix.safety).collect()).collect();
            let outcome = rounds::judge(&mut bench, &Disk, vec![first]).unwrap();
            for (finding, claimed) in outcome.checked[0].findings.iter().zip(&claimed) {
                for (fix, claimed) in finding.fixes.iter().zip(claimed) {
                    fixes += 1;
                    safe += usize::from(*claimed == Safety::Safe);
                    if fix.safety != *claimed {
                        strays.push(format!(
                            "{} for {target:?}: {} \"{}\": {:?}",
                            case.name, finding.rule, fix.title, fix.changes
                        ));
                    }
                }
            }
            strays.extend(
                outcome
                    .held
                    .iter()
                    .filter(|held| held.reason.is_bug())
                    .map(|held| format!("{} for {target:?}: {}", case.name, held.reason)),
            );
        }
    }
    println!("{fixes} fixes, {safe} claimed safe, {} not", strays.len());
    assert!(strays.is_empty(), "{} safe fixes change something else:\n{}", strays.len(), strays.join("\n"));
}
