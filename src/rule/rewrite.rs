//! How a declarative rule mends what it found.

use crate::fix::{Edit, Fix, Safety};
use crate::model::{Node, Word, layout};
use crate::rule::definition::Rewrite;
use crate::rule::pattern::text;
use crate::syntax::tree::Origin;

/// Mends the matches of one block.
pub(crate) struct Mender<'r> {
    rewrite: &'r Rewrite,
    rule: &'r str,
    /// What becomes of the line that the block should have.
    beside: Option<Beside>,
}

impl<'r> Mender<'r> {
    /// For a block whose first match is `first`: behind it goes what the block lacks.
    pub(crate) fn new(rewrite: &'r Rewrite, rule: &'r str, first: Node<'_>) -> Self {
        let beside = rewrite.beside.as_ref().map(|line| beside(&text(line, first), first));
        Self { rewrite, rule, beside }
    }

    /// Whether all that the rule misses is a line that the block has.
    pub(crate) fn is_satisfied(&self) -> bool {
        let Rewrite { replace, drop, remove, .. } = self.rewrite;
        let misses_a_line = replace.is_none() && drop.is_empty() && !remove;
        misses_a_line && !matches!(self.beside, Some(Beside::Add(_)))
    }

    /// The fix for some of the matches. `None` where the text is not written there, or where what
    /// would be added is there with another value.
    pub(crate) fn fix(&self, matches: &[Node<'_>]) -> Option<Fix> {
        let written = |node: &Node<'_>| node.words().all(|word| word.origin() == Origin::Written);
        if !matches.iter().all(written) {
            return None;
        }
        let mut edits: Vec<Edit> = matches.iter().flat_map(|&node| own_edits(self.rewrite, node)).collect();
        match &self.beside {
            Some(Beside::Add(edit)) => edits.push(edit.clone()),
            Some(Beside::Other) => return None,
            Some(Beside::There) | None => {}
        }
        Some(Fix {
            title: title(self.rewrite, *matches.first()?),
            safety: if self.rewrite.safe { Safety::Safe } else { Safety::Unsafe },
            edits,
            changes: changes(self.rewrite, self.rule),
            needs: self.rewrite.needs.clone(),
        })
    }
}

/// The edits of one matched directive.
fn own_edits(rewrite: &Rewrite, node: Node<'_>) -> Vec<Edit> {
    if rewrite.remove {
        return vec![layout::removal(node)];
    }
    if let Some(new) = &rewrite.replace {
        return vec![Edit::replace(node.head(), text(new, node))];
    }
    let goes = |word: &Word<'_>| rewrite.drop.iter().any(|dropped| word.is(dropped));
    node.words()
        .zip(node.args())
        .filter(|(_, arg)| goes(arg))
        .map(|(before, arg)| Edit::replace(before.span().after().to(arg.span()), ""))
        .collect()
}

/// What becomes of a line that a block should have.
enum Beside {
    /// It is added.
    Add(Edit),
    /// The block has it.
    There,
    /// The block has it with another value.
    Other,
}

/// A line behind the first match of a block. Whether the block has it is told by its name and, for
/// lines of more than one argument (`proxy_set_header Connection ""`), by its first argument.
fn beside(line: &[u8], first: Node<'_>) -> Beside {
    let line_words = line.strip_suffix(b";").unwrap_or(line).split(u8::is_ascii_whitespace);
    let words: Vec<&[u8]> = line_words.filter(|word| !word.is_empty()).map(unquoted).collect();
    let key = if words.len() > 2 { 2 } else { 1 };
    let begins =
        |node: &Node<'_>, count: usize| node.words().map(Word::value).take(count).eq(words[..count].iter().copied());
    let name = words.first().copied().unwrap_or_default();
    let there: Vec<Node<'_>> = first.level().own_bytes(name).filter(|node| begins(node, key)).collect();
    if there.is_empty() {
        return Beside::Add(layout::beside(first, &[line]));
    }
    let same = |node: &Node<'_>| node.words().len() == words.len() && begins(node, words.len());
    if there.iter().any(same) { Beside::There } else { Beside::Other }
}

fn unquoted(word: &[u8]) -> &[u8] {
    match word {
        [first @ (b'"' | b'\''), inner @ .., last] if first == last => inner,
        _ => word,
    }
}

fn title(rewrite: &Rewrite, node: Node<'_>) -> String {
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let own = if rewrite.remove {
        Some(format!("remove `{}`", shown(node.name())))
    } else if let Some(new) = &rewrite.replace {
        Some(format!("write `{}`", shown(&text(new, node))))
    } else if !rewrite.drop.is_empty() {
        Some(format!("drop `{}`", rewrite.drop.join("`, `")))
    } else {
        None
    };
    let beside = rewrite.beside.as_ref().map(|line| format!("add `{}`", shown(&text(line, node))));
    own.into_iter().chain(beside).collect::<Vec<_>>().join(" and ")
}

/// What an unsafe fix changes; where the page does not say it in its definition, it does in its text.
fn changes(rewrite: &Rewrite, rule: &str) -> Vec<String> {
    if rewrite.safe || !rewrite.changes.is_empty() {
        return rewrite.changes.iter().map(|change| change.clone().into_owned()).collect();
    }
    vec![format!("the server behaves differently: `proxylint explain {rule}` says what to look at")]
}
