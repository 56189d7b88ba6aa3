//! Entries of `geo` and `split_clients`.

use std::net::Ipv4Addr;

use super::arguments::Wrong;
use super::{Fault, Finder, Line, Unreadable};
use crate::catalog::nginx::Context;
use crate::checks::nginx::address::is_network;
use crate::model::{Node, Word};

/// What nginx refuses of an entry by itself.
pub(super) fn judge(line: Line<'_>) -> Option<Wrong<'_>> {
    match line.context {
        Context::Geo => network(line),
        Context::SplitClients => {
            let share = line.node.words().next()?;
            let message = || {
                let text = share.text();
                format!("a share of `split_clients` is `*` or a percentage with at most two decimals, not `{text}`")
            };
            (!share.is("*") && hundredths(share.value()).is_none()).then(|| Wrong::new(share, message()))
        }
        _ => None,
    }
}

/// The network of an entry of `geo`; after `ranges` it is two addresses.
fn network(line: Line<'_>) -> Option<Wrong<'_>> {
    let name = line.node.words().next()?;
    let ranges = || line.node.parent().is_some_and(|block| block.own("ranges").len() > 0);
    let word = match name.value() {
        b"default" | b"include" | b"volatile" | b"proxy_recursive" => return None,
        b"ranges" if line.args().len() == 0 => return misplaced_ranges(line, name),
        b"proxy" => {
            let word = line.args().next()?;
            return (!is_network(word.value()))
                .then(|| Wrong::new(word, format!("`proxy` takes an address or a network, not `{}`", word.text())));
        }
        b"delete" => line.args().next()?,
        _ => name,
    };
    let text = word.text();
    match ranges() {
        true if !is_range(word.value()) => {
            let message =
                format!("with `ranges` an entry of `geo` is a range such as `10.0.0.1-10.0.0.9`, not `{text}`");
            Some(Wrong::new(word, message))
        }
        false if !is_network(word.value()) => Some(Wrong::new(
            word,
            format!("an entry of `geo` is an address or a network such as `10.0.0.0/8`, not `{text}`"),
        )),
        _ => None,
    }
}

fn misplaced_ranges<'m>(line: Line<'m>, word: Word<'m>) -> Option<Wrong<'m>> {
    let settings: [&[u8]; 6] = [b"default", b"include", b"volatile", b"proxy", b"proxy_recursive", b"ranges"];
    let before = line.node.parent()?.children().take_while(|other| other.id() < line.node.id());
    let late = before.into_iter().any(|other| !settings.contains(&other.name()));
    late.then(|| Wrong::new(word, "`ranges` stands behind an address: nginx wants it first in `geo`"))
}

fn is_range(text: &[u8]) -> bool {
    let address = |part: &str| part.parse::<Ipv4Addr>().ok();
    let range = std::str::from_utf8(text).ok().and_then(|text| text.split_once('-'));
    range.and_then(|(from, to)| Some(address(from)? <= address(to)?)).unwrap_or(false)
}

/// `12.5%` as 1250; nothing for what is no share.
fn hundredths(text: &[u8]) -> Option<u32> {
    let number = text.strip_suffix(b"%")?;
    let (whole, decimals) = match memchr::memchr(b'.', number) {
        Some(point) => (&number[..point], &number[point + 1..]),
        None => (number, &b""[..]),
    };
    let digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    if !digits(whole) || !digits(decimals) || decimals.len() > 2 || whole.len() > 6 || number.is_empty() {
        return None;
    }
    let value = |text: &[u8]| text.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
    let share = value(whole) * 100 + value(decimals) * if decimals.len() == 1 { 10 } else { 1 };
    (share > 0).then_some(share)
}

impl<'m> Finder<'_, 'm> {
    /// Shares of `split_clients` that are more than everything.
    pub(super) fn shares(&mut self, unreadable: &Unreadable) {
        /// One hundred percent.
        const ALL: u32 = 10_000;
        let blocks: Vec<Node<'m>> = self.cx.model.named("split_clients").filter(|n| !unreadable.holds(*n)).collect();
        for block in blocks {
            let mut sum = 0_u32;
            let shares = block.children().filter_map(|entry| Some((entry, hundredths(entry.name())?)));
            let over = shares.into_iter().find(|(_, share)| {
                sum = sum.saturating_add(*share);
                sum > ALL
            });
            // nginx notices at the end of the block.
            if let (Some((entry, _)), crate::syntax::tree::Body::Block { close, .. }) = (over, block.body()) {
                let message = "the shares of this `split_clients` are more than 100%: nginx refuses the file";
                self.add(Fault::InvalidArguments, entry, entry.head(), message).label(close, "the block ends here");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_ranges() {
        let of = |text: &str| hundredths(text.as_bytes());
        assert_eq!((of("12.5%"), of("100%"), of(".05%"), of("5.%")), (Some(1250), Some(10000), Some(5), Some(500)));
        for wrong in ["0%", "50", "-1%", "0.555%", "%", "a%", "%5"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert!(is_range(b"10.0.0.1-10.0.0.1") && !is_range(b"10.0.0.2-10.0.0.1") && !is_range(b"::1-::2"));
    }
}
