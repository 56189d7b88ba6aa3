//! What `caddy list-modules` says of a build.

use std::fmt;

use super::plugins::Provided;

/// The modules of a build of Caddy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// IDs: `http.handlers.rate_limit`.
    modules: Vec<String>,
    /// Go modules that they come from, where `--packages` told them.
    packages: Vec<String>,
}

/// The text is not what `caddy list-modules` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildError;

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "this is not what `caddy list-modules` prints: no line names a module such as `http.handlers.file_server`",
        )
    }
}

impl std::error::Error for BuildError {}

impl Build {
    /// Reads the output of `caddy list-modules`, also with `--packages` or `--versions`.
    ///
    /// # Errors
    /// If no line names a module that every Caddy has.
    pub fn parse(text: &str) -> Result<Self, BuildError> {
        let lines = text.lines().filter(|line| !line.contains(':')).map(|line| line.split_whitespace());
        let (mut modules, mut packages) = (Vec::new(), Vec::new());
        for mut words in lines {
            modules.extend(words.next().map(str::to_owned));
            packages.extend(words.filter(|word| word.contains('/')).map(str::to_owned));
        }
        if !modules.iter().any(|module| module == "http.handlers.file_server") {
            return Err(BuildError);
        }
        packages.sort_unstable();
        packages.dedup();
        Ok(Self { modules, packages })
    }

    /// Whether it has what provides a name.
    pub fn has(&self, provided: &Provided<'_>) -> bool {
        let id = provided.module.unwrap_or(provided.name);
        self.has_name(id) || self.packages.iter().any(|package| package.contains(provided.project))
    }

    /// Whether a module's ID is that name, or ends with it.
    pub fn has_name(&self, name: &str) -> bool {
        let ends =
            |module: &String| module.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        self.modules.iter().any(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::caddy::plugins::provider;

    const PLAIN: &str = "admin.api.load\nhttp.handlers.file_server\n\n  Standard modules: 2\n\n\
        dns.providers.cloudflare\nhttp.handlers.rate_limit\n\n  Non-standard modules: 2\n\n  Unknown modules: 0\n";

    #[test]
    fn modules_and_packages() {
        let has = |build: &Build, name: &str| build.has(&provider("directive", name).unwrap());
        let build = Build::parse(PLAIN).unwrap();
        assert!(has(&build, "rate_limit") && !has(&build, "replace") && build.has_name("cloudflare"));
        let build = Build::parse(
            "http.handlers.file_server github.com/caddyserver/caddy/v2\nhttp.handlers.replace_response \
             github.com/caddyserver/replace-response\nhttp.handlers.waf github.com/corazawaf/coraza-caddy/v2\n",
        )
        .unwrap();
        assert!(has(&build, "replace") && has(&build, "coraza_waf") && !has(&build, "rate_limit"));
    }

    #[test]
    fn other_text_is_refused() {
        assert_eq!(Build::parse("v2.8.4 h1:q3pe\n"), Err(BuildError));
        assert!(BuildError.to_string().contains("list-modules"));
    }
}
