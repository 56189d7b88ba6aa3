//! Names that Caddy gave up, or is about to, and what stands in their place.
//!
//! Facts from the deprecation warnings in Caddy's source, and from the versions that refuse a name.

use crate::version::Version;

/// A name with a successor.
#[derive(Debug, Clone, Copy)]
pub struct Rename {
    /// The blocks it stands in, by name; `directive` for a site, `option` for the global options.
    pub blocks: &'static [&'static str],
    /// The old name.
    pub name: &'static str,
    /// The first version that warns of it and knows its successor.
    pub since: Version,
    /// What to write, for people.
    pub instead: &'static str,
    /// The new name, where nothing but the name changes.
    pub new: Option<&'static str>,
}

const fn renamed(
    blocks: &'static [&'static str],
    name: &'static str,
    since: (u16, u16, u16),
    instead: &'static str,
    new: Option<&'static str>,
) -> Rename {
    let (major, minor, patch) = since;
    Rename { blocks, name, since: Version::new(major, minor, patch), instead, new }
}

const SITE: &[&str] = &["directive"];
const GLOBAL: &[&str] = &["option"];
const PROXY: &[&str] = &["reverse_proxy", "php_fastcgi", "forward_auth"];
const HTTP: &[&str] = &["http"];
const CLIENT_AUTH: &[&str] = &["client_auth"];
const PROTOCOL: &[&str] = &["protocol"];

/// All of them.
pub static RENAMES: &[Rename] = &[
    renamed(SITE, "basicauth", (2, 8, 0), "`basic_auth`", Some("basic_auth")),
    renamed(SITE, "skip_log", (2, 8, 0), "`log_skip`", Some("log_skip")),
    renamed(PROXY, "health_path", (2, 4, 0), "`health_uri`", Some("health_uri")),
    renamed(PROXY, "buffer_requests", (2, 6, 4), "`request_buffers` with a size", None),
    renamed(PROXY, "buffer_responses", (2, 6, 4), "`response_buffers` with a size", None),
    renamed(PROXY, "max_buffer_size", (2, 6, 4), "the size behind `request_buffers` and `response_buffers`", None),
    renamed(HTTP, "tls_trusted_ca_certs", (2, 8, 0), "`tls_trust_pool file` with the files", None),
    renamed(HTTP, "forward_proxy_url", (2, 10, 0), "`network_proxy url` with the URL", None),
    renamed(CLIENT_AUTH, "trusted_ca_cert", (2, 8, 0), "`trust_pool inline { trust_der … }`", None),
    renamed(CLIENT_AUTH, "trusted_ca_cert_file", (2, 8, 0), "`trust_pool file` with the files", None),
    renamed(&["request_body"], "read_timeout", (2, 11, 6), "the directive `timeouts { read_timeout … }`", None),
    renamed(&["request_body"], "write_timeout", (2, 11, 6), "the directive `timeouts { write_timeout … }`", None),
    renamed(&["servers"], "metrics", (2, 9, 0), "the global option `metrics`", None),
    renamed(&["servers"], "protocol", (2, 6, 0), "`protocols h1 h2 h2c h3`, and `strict_sni_host`", None),
    renamed(PROTOCOL, "allow_h2c", (2, 6, 0), "`protocols h1 h2 h2c h3` in `servers`", None),
    renamed(PROTOCOL, "experimental_http3", (2, 6, 0), "nothing, HTTP/3 is on by default", None),
    renamed(PROTOCOL, "strict_sni_host", (2, 6, 0), "`strict_sni_host` in `servers`", None),
    renamed(GLOBAL, "experimental_http3", (2, 4, 0), "nothing, HTTP/3 is on by default", None),
    renamed(&["on_demand_tls"], "interval", (2, 8, 0), "nothing, it did not limit what it seemed to", None),
    renamed(&["on_demand_tls"], "burst", (2, 8, 0), "nothing, it did not limit what it seemed to", None),
    renamed(&["log_format"], "single_field", (2, 4, 0), "`console` or `json`", None),
];

/// What to write instead of a name, for people.
pub fn replacement(block: &str, name: &str) -> Option<&'static str> {
    RENAMES.iter().find(|rename| rename.name == name && rename.blocks.contains(&block)).map(|rename| rename.instead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::caddy::{Entry, directive, global_options, named};

    fn entry(block: &str, name: &str) -> Option<&'static Entry> {
        let sections = ["directive", "option", "transport", "log_format"];
        let nested = ["client_auth", "protocol", "request_body"];
        match block {
            "directive" => directive(name.as_bytes()),
            "option" => global_options().below(name.as_bytes()),
            "log_format" => named("log_format", name.as_bytes()),
            _ if nested.contains(&block) => sections.iter().find_map(|section| {
                let outer = crate::catalog::caddy::section(section);
                let direct = outer.iter().find(|entry| entry.name == block);
                let deeper = || outer.iter().find_map(|entry| entry.below(block.as_bytes()));
                direct.or_else(deeper)?.below(name.as_bytes())
            }),
            _ => sections.iter().find_map(|section| named(section, block.as_bytes())?.below(name.as_bytes())),
        }
    }

    #[test]
    fn old_and_new_names_are_in_the_catalogue() {
        for rename in RENAMES {
            for block in rename.blocks {
                assert!(entry(block, rename.name).is_some(), "{block} {}", rename.name);
                if let Some(new) = rename.new {
                    let new = entry(block, new).unwrap();
                    assert!(new.known_to(rename.since), "{block} {}", new.name);
                }
            }
        }
    }
}
