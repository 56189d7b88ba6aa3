//! What is in effect on a level of a Caddyfile, as data that can be compared and printed. Nothing is
//! inherited there: the lines of the level itself, and the pools that its options come to.

use super::pool::Pool;
use crate::model::Level;
use crate::model::nginx::effect::{Effect, Key, text};
use crate::version::Version;

/// The option that says how many idle connections are kept for each address.
pub const POOL: &[u8] = b"keepalive_idle_conns_per_host";

/// Everything that stands on a level, and what each version makes of the pools of its backends.
pub fn effect(level: Level<'_>, version: Version) -> Effect {
    let mut effect = Effect::new();
    for line in level.children() {
        let value = effect.entry(Key::new(line.name(), b"")).or_default();
        if !value.is_empty() {
            value.extend_from_slice(b"; ");
        }
        value.extend_from_slice(&text(line.args()));
    }
    let model = level.model();
    for proxy in model.caddy().proxies() {
        let node = model.node(proxy.node);
        let is_here = node.level() == level || level.node() == Some(node);
        if let Some(value) = shown(proxy.pool(version)).filter(|_| is_here) {
            effect.insert(Key::new(POOL, &text(node.args())), value);
        }
    }
    effect
}

/// A pool as its option is written; nothing where no number of idle connections matters.
pub fn shown(pool: Pool) -> Option<Vec<u8>> {
    match pool {
        Pool::Keeps(count) => Some(count.to_string().into_bytes()),
        Pool::Off => Some(b"off".to_vec()),
        Pool::NoMatter | Pool::Unknown => None,
    }
}
