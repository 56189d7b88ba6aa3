//! `syslog:server=…,facility=…` of the logs.

use super::arguments::Wrong;
use super::{Line, names};
use crate::checks::nginx::address::{self, Form};

const FACILITIES: [&str; 24] = [
    "kern", "user", "mail", "daemon", "auth", "intern", "lpr", "news", "uucp", "clock", "authpriv", "ftp", "ntp",
    "audit", "alert", "cron", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
];
const SEVERITIES: [&str; 8] = ["emerg", "alert", "crit", "error", "warn", "notice", "info", "debug"];
const LONGEST_TAG: usize = 32;

/// What nginx refuses of the log's place, where it is a syslog server.
pub(super) fn judge(line: Line<'_>) -> Option<Wrong<'_>> {
    let word = line.args().next()?;
    let text = word.text();
    let parts = text.strip_prefix("syslog:").filter(|text| !text.contains('$'))?;
    let wrong = |message: String| Some(Wrong::new(word, message));
    let mut seen: Vec<&str> = Vec::new();
    for part in parts.split(',') {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        if seen.contains(&key) {
            return wrong(format!("`{key}` stands twice in the address of the syslog server"));
        }
        seen.push(key);
        match key {
            "server" => {
                if let Err(error) = address::parse(value.as_bytes(), Form::default()) {
                    return wrong(format!("the syslog server `{value}` cannot be read: {error}"));
                }
            }
            "facility" if !FACILITIES.contains(&value) => {
                return wrong(format!(
                    "there is no syslog facility `{value}`: nginx knows {}",
                    names::any_of(&FACILITIES)
                ));
            }
            "severity" if !SEVERITIES.contains(&value) => {
                return wrong(format!(
                    "there is no syslog severity `{value}`: nginx knows {}",
                    names::any_of(&SEVERITIES)
                ));
            }
            "tag" if value.len() > LONGEST_TAG => {
                return wrong(format!("a syslog tag has at most {LONGEST_TAG} characters: `{value}`"));
            }
            "tag" if !value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') => {
                return wrong(format!("a syslog tag has letters, digits and `_` only, not `{value}`"));
            }
            "facility" | "severity" | "tag" => {}
            "nohostname" if part == key => {}
            _ => return wrong(format!("nginx knows no syslog parameter `{part}`")),
        }
    }
    if seen.contains(&"server") {
        None
    } else {
        wrong("a syslog log needs `server=`: nginx refuses it without".to_owned())
    }
}
