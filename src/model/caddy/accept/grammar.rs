//! Arguments and blocks against the catalogue.

use foldhash::HashSet;

use super::{Cause, Judge, Place, Task, any_unknown, has_block, values};
use crate::catalog::caddy::{self as catalog, Block, Entry, Kind};
use crate::model::caddy::options::{Setting, lines, settings};
use crate::model::{Node, Word};

impl<'m> Judge<'m> {
    /// Judges a directive: its matcher, its arguments, its block.
    pub(super) fn take(&mut self, node: Node<'m>, entry: &'static Entry, scope: usize) {
        let mut args: Vec<Word<'m>> = node.args().collect();
        if entry.matcher && !self.counts_arguments(entry, args.len()) && !any_unknown(&args) {
            self.take_matcher(node, &mut args, scope);
        }
        self.count(node, entry, &args);
        self.kinds(node, entry, &args);
        self.special(node, entry, &args, scope);
        self.block(node, entry, has_block(node), scope);
    }

    /// `root` and `rewrite` with one argument have no matcher, since 2.8.0.
    fn counts_arguments(&self, entry: &Entry, count: usize) -> bool {
        matches!(entry.name, "root" | "rewrite") && count == 1 && self.since(2, 8, 0)
    }

    fn take_matcher(&mut self, node: Node<'m>, args: &mut Vec<Word<'m>>, scope: usize) {
        let Some(first) = args.first().copied() else { return };
        let value = first.value();
        if value.starts_with(b"@") {
            self.matcher_use(node, first, scope);
        } else if value != b"*" && !value.starts_with(b"/") {
            return;
        }
        args.remove(0);
    }

    fn count(&mut self, node: Node<'m>, entry: &Entry, args: &[Word<'m>]) {
        if any_unknown(args) {
            return;
        }
        // `root` and `rewrite` count a matcher too: two words at most, whatever the first one is.
        let both = matches!(entry.name, "root" | "rewrite") && self.since(2, 8, 0);
        let taken = node.args().len() - args.len();
        let most = if both { 2 - taken.min(2) } else { usize::from(entry.max) };
        let swallows = entry.more && !matches!(entry.name, "root" | "rewrite");
        let shown = entry.name;
        if args.len() < usize::from(entry.min) {
            self.refuse(Cause::Arguments, node, node.head(), format!("`{shown}` needs {}", counted(entry.min)));
        } else if entry.max < u8::MAX && args.len() > most && !swallows {
            let message = format!("`{shown}` takes no more than {}, here are {}", counted(entry.max), args.len());
            self.refuse(Cause::Arguments, node, args[most].span(), message);
        }
    }

    fn kinds(&mut self, node: Node<'m>, entry: &Entry, args: &[Word<'m>]) {
        for word in args.iter().take(usize::from(entry.max)).filter(|word| !any_unknown(&[**word])) {
            let text = word.text();
            let (fits, what) = match entry.kind {
                Kind::Text => (entry.of.is_empty(), ""),
                Kind::Duration => (values::is_duration(&text), "a duration such as 30s"),
                Kind::Size => (values::is_size(&text), "a size such as 10MB"),
                Kind::Int => (values::is_int(&text), "a whole number"),
                Kind::Status => (values::is_int(&text) || values::is_status(&text), "a status such as 200 or 2xx"),
                Kind::Interval => (values::is_int(&text) || values::is_duration(&text), "a duration such as 30s"),
            };
            if !fits && !entry.of.contains(&&*text) {
                let what = Some(what).filter(|what| !what.is_empty()).into_iter();
                let what: Vec<&str> = what.chain(entry.of.iter().copied()).collect();
                let message = format!("`{}` wants {}, not `{text}`", entry.name, what.join(" or "));
                self.refuse(Cause::Arguments, node, word.span(), message);
            }
        }
    }

    /// Judges the block of a line that the catalogue knows as `entry`.
    fn block(&mut self, line: Node<'m>, entry: &'static Entry, has_block: bool, scope: usize) {
        let shown = entry.name;
        match entry.block {
            Block::None if has_block => {
                self.refuse(Cause::Arguments, line, line.head(), format!("`{shown}` takes no block"));
            }
            Block::Empty if has_block && lines(line).next().is_some() => {
                self.refuse(Cause::Arguments, line, line.head(), format!("`{shown}` takes no block"));
            }
            Block::Must if !has_block => {
                self.refuse(Cause::Arguments, line, line.head(), format!("`{shown}` needs a block"));
            }
            Block::Handlers if has_block => self.enter(line, Some(scope), false),
            Block::Loose | Block::Strict | Block::Must if has_block => {
                self.todo.push(Task::Settings { line, entry, scope });
            }
            _ => {}
        }
    }

    /// Judges the options in the block of a line.
    pub(super) fn settings(&mut self, line: Node<'m>, entry: &'static Entry, scope: usize) {
        let settings = settings(line, entry);
        let mut seen: HashSet<&str> = HashSet::default();
        let mut responses = self.response_matchers(entry, &settings);
        for setting in &settings {
            if any_unknown(&[setting.name]) {
                continue;
            }
            if setting.name.value().starts_with(b"@") && responses.takes(setting.name) {
                continue;
            }
            match setting.entry.filter(|known| self.knows(known)) {
                Some(known) => {
                    if !seen.insert(known.name) && known.once.is_some_and(|since| self.is_from(since)) {
                        let message = format!("`{}` stands twice in one block", known.name);
                        self.refuse(Cause::Arguments, setting.line, setting.name.span(), message);
                    }
                    self.setting(setting, known, scope);
                    self.special_setting(setting, entry, &responses);
                }
                None if self.is_loose(entry) => {}
                None => self.unknown_setting(setting, entry),
            }
        }
        self.special_block(line, entry, &settings);
    }

    fn is_loose(&self, entry: &Entry) -> bool {
        // Before that version, fields stand in a block of their own.
        if entry.name == "filter" && !self.since(2, 8, 0) {
            return false;
        }
        entry.block == Block::Loose || entry.loose_before.is_some_and(|since| !self.is_from(since))
    }

    fn unknown_setting(&mut self, setting: &Setting<'m>, entry: &'static Entry) {
        if entry.name.is_empty() {
            return self.refuse_name(
                setting.line,
                setting.name,
                setting.entry,
                &Place::section("option", "global option"),
            );
        }
        let also = entry.also.and_then(|name| catalog::directive(name.as_bytes()));
        let what = format!("option of `{}`", entry.name);
        let place = Place {
            what: &what,
            block: entry.name,
            section: "",
            known: entry.below,
            also: also.map_or(&[], |other| other.below),
        };
        self.refuse_name(setting.line, setting.name, setting.entry, &place);
    }

    fn setting(&mut self, setting: &Setting<'m>, known: &'static Entry, scope: usize) {
        let mut args = &setting.args[..];
        self.count_setting(setting, known);
        self.kinds(setting.line, known, args);
        let mut block = known;
        if let (Some(section), Some((name, rest))) = (known.module, args.split_first())
            && !any_unknown(&[*name])
        {
            match self.module(setting, section, *name) {
                Some(module) => block = module,
                None => return,
            }
            args = rest;
            let taken = usize::from(block.max).min(args.len());
            self.kinds(setting.line, block, &args[..taken]);
            self.count_module(setting, block, args);
        }
        self.block(setting.line, block, setting.has_block(), scope);
    }

    fn count_setting(&mut self, setting: &Setting<'m>, known: &Entry) {
        if setting.args.len() < usize::from(known.min) && !any_unknown(&setting.args) {
            let message = format!("`{}` needs {}", known.name, counted(known.min));
            self.refuse(Cause::Arguments, setting.line, setting.name.span(), message);
        }
    }

    fn count_module(&mut self, setting: &Setting<'m>, module: &Entry, args: &[Word<'m>]) {
        if any_unknown(args) {
            return;
        }
        let too_many = module.max < u8::MAX && args.len() > usize::from(module.max) && !module.more;
        let lenient = module.name == "zerossl" && !self.since(2, 8, 0);
        if (args.len() < usize::from(module.min) && !lenient) || too_many {
            let most = if module.max == u8::MAX { "or more".to_owned() } else { format!("to {}", module.max) };
            let message = format!("`{}` takes {} {most} arguments, here are {}", module.name, module.min, args.len());
            self.refuse(Cause::Arguments, setting.line, setting.name.span(), message);
        }
    }

    /// The entry of a module, if the section has entries at all.
    fn module(&mut self, setting: &Setting<'m>, section: &'static str, name: Word<'m>) -> Option<&'static Entry> {
        // Of DNS providers Caddy brings none; of other kinds the catalogue does not know them all.
        if catalog::section(section).is_empty() && section != "dns" {
            return None;
        }
        let known = catalog::named(section, name.value());
        let found = known.filter(|module| self.knows(module));
        if found.is_none() {
            let what = format!("module for `{}`", setting.name.text());
            let place = Place { what: &what, block: section, section, known: catalog::section(section), also: &[] };
            self.refuse_name(setting.line, name, known, &place);
        }
        found
    }
}

fn counted(number: u8) -> String {
    match number {
        0 => "no argument".to_owned(),
        1 => "one argument".to_owned(),
        n => format!("{n} arguments"),
    }
}
