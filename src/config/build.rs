//! The rules of a run: the program's own, those of folders, with what file and command line say of them.

use super::{Error, File, Flags, RuleSetting};
use crate::files::Files;
use crate::rule::{Level, RuleError, RuleSet};

/// The rules with what a configuration file and the command line say of them.
///
/// # Errors
/// When a folder of rules is wrong, or a name is not known.
pub(super) fn rules(files: &dyn Files, file: Option<&File>, flags: &Flags) -> Result<RuleSet, Error> {
    let mut rules = RuleSet::builtin();
    if let Some(file) = file {
        for folder in file.rule_folders.iter().flat_map(|folders| &folders.value) {
            let line = file.rule_folders.as_ref().map(|folders| folders.line);
            rules.add_folder(files, folder).map_err(|error| wrong(file, line, &error))?;
        }
    }
    for folder in &flags.rule_folders {
        rules.add_folder(files, folder).map_err(|error| stated(&error))?;
    }
    if let Some(file) = file {
        for setting in &file.rules {
            set(&mut rules, setting).map_err(|error| wrong(file, Some(setting.line), &error))?;
        }
        for one in &file.overrides {
            for setting in &one.rules {
                let level = setting.level.unwrap_or(Level::On);
                let done = rules.set(&setting.name, level, Some(&one.paths));
                done.map_err(|error| wrong(file, Some(setting.line), &error))?;
            }
        }
    }
    rules.select(&flags.select, &flags.ignore).map_err(|error| stated(&error))?;
    for (name, level) in &flags.levels {
        rules.set(name, *level, None).map_err(|error| stated(&error))?;
    }
    Ok(rules)
}

fn set(rules: &mut RuleSet, setting: &RuleSetting) -> Result<(), RuleError> {
    if let Some(level) = setting.level {
        rules.set(&setting.name, level, None)?;
    }
    setting.params.iter().try_for_each(|(name, value)| rules.set_param(&setting.name, name, value.clone()))
}

fn wrong(file: &File, line: Option<usize>, error: &RuleError) -> Error {
    Error { path: file.shown.clone(), line, message: error.to_string() }
}

/// What the command line says of rules is wrong.
fn stated(error: &RuleError) -> Error {
    Error { path: String::new(), line: None, message: error.to_string() }
}
