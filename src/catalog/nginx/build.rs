//! What a build of nginx has in it, as `nginx -V` tells.

use super::{Kind, Module};
use crate::version::Version;

/// The text of `nginx -V`, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// The nginx version it says; `None` where a fork says only its own.
    pub version: Option<Version>,
    /// The fork: `openresty`, `angie`, `tengine`, `nginx-plus`; `None` for nginx itself.
    pub vendor: Option<String>,
    arguments: Vec<String>,
}

/// A text that `nginx -V` did not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no line `configure arguments:` in it, as `nginx -V` writes it")]
pub struct BuildError;

impl Build {
    /// Reads the output of `nginx -V`.
    ///
    /// # Errors
    /// When no line names the configure arguments.
    pub fn parse(text: &str) -> Result<Self, BuildError> {
        let after = |head: &str| text.lines().find_map(|line| line.trim().strip_prefix(head)).map(str::trim);
        let arguments = after("configure arguments:").ok_or(BuildError)?;
        let products: Vec<&str> =
            text.lines().filter_map(|line| line.split_once(" version: ")).map(|(_, product)| product.trim()).collect();
        Ok(Self {
            version: products.iter().find_map(|product| version(product)),
            vendor: products.iter().find_map(|product| vendor(product)),
            arguments: words(arguments),
        })
    }

    /// Whether a module is in it, or was built beside it to be loaded.
    pub fn has(&self, module: &Module) -> bool {
        if module.vendor.is_some() && module.vendor == self.vendor.as_deref() {
            return true;
        }
        match module.kind {
            Kind::Commercial => self.vendor.as_deref() == Some("nginx-plus"),
            Kind::Official if module.project.is_none() => self.has_official(module),
            _ => self.arguments.iter().any(|argument| adds(argument, module)),
        }
    }

    /// Whether a module is in the program, not in a file to be loaded.
    pub fn has_built_in(&self, module: &Module) -> bool {
        let short = module.name.trim_start_matches("ngx_");
        let area = short.split('_').next().unwrap_or_default();
        let dynamic = |option: &str| {
            self.arguments.iter().any(|argument| argument.strip_prefix(option).is_some_and(|rest| rest == "=dynamic"))
        };
        let added = |argument: &String| argument.starts_with("--add-dynamic-module=") && adds(argument, module);
        let official = module.kind == Kind::Official && module.project.is_none();
        let apart = !official && self.arguments.iter().any(added);
        self.has(module) && !apart && !module.build.is_some_and(dynamic) && !dynamic(&format!("--with-{area}"))
    }

    fn has_official(&self, module: &Module) -> bool {
        let short = module.name.trim_start_matches("ngx_");
        if self.option("--without-http") && short.starts_with("http_") || self.option(&format!("--without-{short}")) {
            return false;
        }
        module.build.is_none_or(|option| self.option(option))
    }

    /// Whether an option is given, alone or as `=dynamic`.
    fn option(&self, option: &str) -> bool {
        self.arguments.iter().any(|argument| argument.split('=').next() == Some(option))
    }
}

/// The nginx version in `nginx/1.22.1 (Ubuntu)`; OpenResty puts a fourth number behind it. Other forks have a
/// numbering of their own, and name their nginx on a second line.
fn version(product: &str) -> Option<Version> {
    let (name, number) = product.split_once('/')?;
    let number = number.split([' ', '(', '-']).next()?;
    let number: Vec<u16> = number.split('.').filter_map(|n| n.parse().ok()).collect();
    match (name.to_ascii_lowercase().as_str(), number.as_slice()) {
        ("nginx" | "openresty", [major, minor, patch, ..]) => Some(Version::new(*major, *minor, *patch)),
        _ => None,
    }
}

fn vendor(product: &str) -> Option<String> {
    let name = product.split_once('/')?.0.to_ascii_lowercase();
    match name.as_str() {
        "nginx" => product.contains("nginx-plus").then(|| "nginx-plus".to_owned()),
        _ => Some(name),
    }
}

/// Whether an `--add-module` or `--add-dynamic-module` adds a module.
fn adds(argument: &str, module: &Module) -> bool {
    let Some(path) = argument.strip_prefix("--add-module=").or(argument.strip_prefix("--add-dynamic-module=")) else {
        return false;
    };
    let path = path.to_ascii_lowercase().replace('_', "-");
    let folder = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let repository = module.project.and_then(|p| p.rsplit('/').next()).unwrap_or_default().to_ascii_lowercase();
    let name = module.name.to_ascii_lowercase().replace('_', "-");
    let name = name.trim_start_matches("ngx-").trim_end_matches("-module");
    let repository = repository.replace('_', "-");
    (!repository.is_empty() && path.contains(&repository))
        || folder.contains(name)
        || name.strip_prefix("http-").is_some_and(|bare| folder.starts_with(&format!("ngx-{bare}")))
}

/// Splits at spaces outside quotes.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, ' ') => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            _ => word.push(c),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::nginx::lookup;

    const DEBIAN: &str = "nginx version: nginx/1.22.1\nbuilt with OpenSSL 3.0.15 3 Sep 2024\nTLS SNI support enabled\n\
        configure arguments: --with-cc-opt='-g -O2 -fPIC' --prefix=/usr/share/nginx --with-http_ssl_module \
        --with-http_v2_module --with-stream=dynamic --without-http_grpc_module \
        --add-dynamic-module=/build/reproducible-path/nginx-1.22.1/debian/modules/http-headers-more-filter\n";

    fn has(build: &Build, directive: &str) -> bool {
        lookup(directive.as_bytes()).iter().any(|d| build.has(d.module))
    }

    #[test]
    fn a_debian_build() {
        let build = Build::parse(DEBIAN).unwrap();
        assert_eq!((build.version, build.vendor.as_deref()), (Some(Version::new(1, 22, 1)), None));
        for present in ["ssl_certificate", "http2", "gzip", "ssl_preread", "more_set_headers", "proxy_pass"] {
            // `ssl_preread` is a module of its own that this build lacks.
            assert_eq!(has(&build, present), present != "ssl_preread", "{present}");
        }
        for absent in ["stub_status", "mail", "grpc_pass", "brotli", "status_zone", "acme_client"] {
            assert!(!has(&build, absent), "{absent}");
        }
    }

    #[test]
    fn an_openresty_build() {
        let text = "nginx version: openresty/1.25.3.1\nconfigure arguments: --prefix=/usr/local/openresty/nginx \
            --add-module=../ngx_devel_kit-0.3.3 --add-module=../echo-nginx-module-0.63 --add-module=../ngx_lua-0.10.26\n";
        let build = Build::parse(text).unwrap();
        assert_eq!(build.version, Some(Version::new(1, 25, 3)));
        assert_eq!(build.vendor.as_deref(), Some("openresty"));
        assert!(has(&build, "echo") && has(&build, "content_by_lua_block") && !has(&build, "brotli"));
    }

    #[test]
    fn other_text_is_refused() {
        assert_eq!(Build::parse("nginx version: nginx/1.22.1\n"), Err(BuildError));
        assert!(BuildError.to_string().contains("nginx -V"));
    }

    #[test]
    fn builds_of_forks() {
        let build =
            |name: &str| Build::parse(&format!("{name}\nconfigure arguments: --with-http_ssl_module\n")).unwrap();
        let angie = build("Angie version: Angie/1.7.0");
        assert_eq!((angie.version, angie.vendor.as_deref()), (None, Some("angie")));
        assert!(has(&angie, "acme_client"), "{angie:?}");
        let tengine = build("Tengine version: Tengine/3.1.0\nnginx version: nginx/1.24.0");
        let version = Some(Version::new(1, 24, 0));
        assert_eq!((tengine.version, tengine.vendor.as_deref()), (version, Some("tengine")));
        assert!(has(&tengine, "footer") && !has(&tengine, "acme_client"), "{tengine:?}");
        let plus = build("nginx version: nginx/1.27.4 (nginx-plus-r34)");
        assert_eq!((plus.version, plus.vendor.as_deref()), (Some(Version::new(1, 27, 4)), Some("nginx-plus")));
        assert!(has(&plus, "status_zone"), "{plus:?}");
    }

    #[test]
    fn a_build_without_a_module() {
        let text = "nginx version: nginx/1.28.0\nconfigure arguments: --without-http_gzip_module\n";
        let build = Build::parse(text).unwrap();
        assert!(has(&build, "proxy_pass") && !has(&build, "gzip") && !has(&build, "ssl_certificate"));
    }
}
