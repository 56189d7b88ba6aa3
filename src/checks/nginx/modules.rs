//! Which optional modules the server that reads a configuration has.

use foldhash::HashMap;

use crate::catalog::nginx::{Kind, Module};
use crate::checks::Settings;
use crate::model::Model;

/// The modules of OpenResty's bundle.
const OPENRESTY: [&str; 14] = [
    "array-var-nginx-module",
    "drizzle-nginx-module",
    "echo-nginx-module",
    "encrypted-session-nginx-module",
    "form-input-nginx-module",
    "headers-more-nginx-module",
    "iconv-nginx-module",
    "lua-nginx-module",
    "memc-nginx-module",
    "rds-json-nginx-module",
    "redis2-nginx-module",
    "set-misc-nginx-module",
    "srcache-nginx-module",
    "stream-lua-nginx-module",
];

/// What `load_module` lines, the stated build and the user's own list provide.
#[derive(Debug, Default)]
pub(super) struct Provided {
    /// Names of loaded files, without folder and `.so`.
    loaded: Vec<String>,
    /// What the user named.
    named: Vec<String>,
    /// What `nginx -V` said.
    build: Option<crate::catalog::nginx::Build>,
    /// Whether every `load_module` was seen.
    closed: bool,
    /// What was asked before, by the name and the project of the module.
    known: HashMap<(&'static str, Option<&'static str>), bool>,
}

impl Provided {
    /// `closed`: whether every `load_module` of the configuration was seen.
    pub(super) fn new(model: &Model, settings: &Settings, closed: bool) -> Self {
        let stem = |path: &[u8]| {
            let path = String::from_utf8_lossy(path);
            let file = path.rsplit('/').next().unwrap_or_default();
            file.trim_end_matches(".so").to_owned()
        };
        Self {
            loaded: model.named("load_module").filter_map(|node| node.value(0)).map(stem).collect(),
            named: settings.modules.iter().map(|name| normal(name)).collect(),
            build: settings.nginx_build.clone(),
            closed,
            known: HashMap::default(),
        }
    }

    /// Whether it is NGINX Plus.
    pub(super) fn has_plus(&self) -> bool {
        self.named.iter().any(|word| matches!(word.as_str(), "plus" | "nginx-plus"))
            || self.build.as_ref().is_some_and(|build| build.vendor.as_deref() == Some("nginx-plus"))
    }

    /// Whether the server has a module, as far as anyone said.
    pub(super) fn has(&mut self, module: &'static Module) -> bool {
        let key = (module.name, module.project);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let has = self.provides(module);
        self.known.insert(key, has);
        has
    }

    /// Whether the stated build has a module in a file that must be loaded.
    pub(super) fn is_apart(&self, module: &Module) -> bool {
        self.build.as_ref().is_some_and(|build| build.has(module) && !build.has_built_in(module))
    }

    fn provides(&self, module: &Module) -> bool {
        let loaded = self.loaded.iter().any(|file| file == module.name || normal(file) == normal(module.name));
        let area = ["mail", "stream"].iter().any(|area| {
            module.kind == Kind::Official
                && module.name.starts_with(&format!("ngx_{area}_"))
                && self.loaded.iter().any(|file| *file == format!("ngx_{area}_module"))
        });
        loaded
            || area
            || self.named.iter().any(|name| named(name, module))
            || self.build.as_ref().is_some_and(|build| build.has(module) && !(self.closed && self.is_apart(module)))
    }
}

/// Whether a user's word means a module: `headers-more`, `ngx_brotli`, `angie`, `openresty`, `plus`.
fn named(word: &str, module: &Module) -> bool {
    let project = module.project.unwrap_or_default();
    let in_bundle = || OPENRESTY.iter().any(|name| project.ends_with(name));
    match word {
        "openresty" => in_bundle(),
        "plus" | "nginx-plus" => module.kind == Kind::Commercial,
        _ => module.vendor == Some(word) || normal(module.name) == *word || normal(project).contains(word),
    }
}

/// Small letters, `-` for `_`, without what every module's name has.
fn normal(name: &str) -> String {
    let name = name.to_ascii_lowercase().replace('_', "-");
    let name = name.strip_prefix("ngx-").unwrap_or(&name);
    name.strip_suffix("-module").unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::nginx::lookup;

    #[test]
    fn words_of_users_name_modules() {
        let has = |word: &str, directive: &str| {
            let mut provided = Provided { named: vec![normal(word)], ..Provided::default() };
            lookup(directive.as_bytes()).iter().any(|d| provided.has(d.module))
        };
        for (word, directive) in [
            ("headers-more", "more_set_headers"),
            ("openresty", "content_by_lua_block"),
            ("openresty", "echo"),
            ("ngx_brotli", "brotli"),
            ("brotli", "brotli_static"),
            ("angie", "acme_client"),
            ("njs", "js_import"),
            ("nginx-plus", "status_zone"),
            ("ngx_http_geoip2_module", "geoip2"),
            ("rtmp", "rtmp"),
        ] {
            assert!(has(word, directive), "{word} {directive}");
        }
        assert!(!has("openresty", "brotli") && !has("headers-more", "echo"));
    }
}
