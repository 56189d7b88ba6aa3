//! `--review`: shows one fix at a time and asks.

use std::io::{self, BufRead, IsTerminal, Write};

use super::Trouble;
use super::terminal::Terminal;
use crate::files::{Disk, Files};
use crate::fix::Safety;
use crate::fix::diff::{self, FileDiff};
use crate::lint::guard::Difference;
use crate::lint::rounds::{Decision, Proposal, Reviewer};
use crate::report::{self, plain};

/// Differences that are listed; more are counted.
const MOST_DIFFERENCES: usize = 8;

/// Asks on the terminal.
pub(super) struct Asking<'a> {
    terminal: &'a Terminal,
}

impl<'a> Asking<'a> {
    /// # Errors
    /// When nobody is there to ask.
    pub(super) fn new(terminal: &'a Terminal) -> Result<Self, Trouble> {
        if io::stdin().is_terminal() && io::stdout().is_terminal() {
            return Ok(Self { terminal });
        }
        Err(Trouble::new("`--review` asks about each fix, and there is no terminal to ask on")
            .help("leave --review out, or look at the patch that `--diff` prints"))
    }

    fn show(&self, proposal: &Proposal<'_>, out: &mut dyn Write) -> io::Result<()> {
        let look = self.terminal.look();
        let fix = &proposal.fix;
        let place = format!("{}:{}:{}", fix.path.display(), fix.position.line, fix.position.column);
        writeln!(out, "{}: {} [{}]", plain::line(&place), plain::line(proposal.message), plain::line(&fix.rule))?;
        let safety = if fix.safety == Safety::Safe { "safe" } else { "UNSAFE" };
        writeln!(out, "fix: {} ({safety})", plain::line(&fix.title))?;
        for change in &fix.changes {
            writeln!(out, "  also changes: {}", plain::line(change))?;
        }
        for Difference { key, before, after, place, .. } in proposal.effect.iter().take(MOST_DIFFERENCES) {
            let value = |value: &Option<Vec<u8>>| match value {
                Some(value) => format!("`{}`", String::from_utf8_lossy(value)),
                None => "nothing".to_owned(),
            };
            let line = format!("in {place}: {key}: {} becomes {}", value(before), value(after));
            writeln!(out, "  {}", plain::line(&line))?;
        }
        if let Some(more) = proposal.effect.len().checked_sub(MOST_DIFFERENCES).filter(|more| *more > 0) {
            writeln!(out, "  and {more} more")?;
        }
        let here = Disk.canonical(look.base).unwrap_or_else(|_| look.base.to_owned());
        let files: Vec<_> = proposal.files.iter().map(|&(path, old, new)| FileDiff { path, old, new }).collect();
        report::patch::write(&diff::patch(&files, &here).0, look, out)
    }

    fn ask(&self, proposal: &Proposal<'_>) -> Decision {
        let behind = match proposal.behind {
            0 => String::new(),
            count => format!(" ({count} more)"),
        };
        let question = format!("apply? [y]es, [n]o, [a]ll of {}, [q]uit{behind}: ", plain::line(&proposal.fix.rule));
        loop {
            let asked = self.terminal.out(|out| write!(out, "{question}"));
            let mut answer = String::new();
            if asked.is_err() || io::stdin().lock().read_line(&mut answer).unwrap_or(0) == 0 {
                return Decision::Quit;
            }
            match answer.trim().to_ascii_lowercase().as_str() {
                "y" | "yes" => return Decision::Yes,
                "n" | "no" => return Decision::No,
                "a" | "all" => return Decision::Rule,
                "q" | "quit" => return Decision::Quit,
                _ => {}
            }
        }
    }
}

impl Reviewer for Asking<'_> {
    fn decide(&mut self, proposal: &Proposal<'_>) -> Decision {
        match self.terminal.out(|out| self.show(proposal, out)) {
            Ok(()) => self.ask(proposal),
            Err(_) => Decision::Quit,
        }
    }
}
