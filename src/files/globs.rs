//! Patterns of paths, as people write them in a configuration file.

use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};

use super::normal;

/// Patterns of paths below a folder. A pattern without `/` is a name at any depth; one that matches a
/// folder covers what lies in it; `**` stands for any number of folders.
#[derive(Debug, Clone, Default)]
pub struct Globs {
    /// What relative paths are relative to.
    base: PathBuf,
    /// What the patterns are relative to.
    folder: PathBuf,
    patterns: Vec<Glob>,
}

#[derive(Debug, Clone)]
struct Glob {
    pattern: Pattern,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `*.bak`: one name.
    Name,
    /// `a/*.conf`: from the folder on.
    Below,
    /// `/etc/nginx/*`: from the root on.
    Absolute,
}

const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: false };

impl Globs {
    /// No patterns yet. `folder` is what they are relative to, `base` the working directory; both absolute.
    pub fn new(folder: impl Into<PathBuf>, base: impl Into<PathBuf>) -> Self {
        Self { base: base.into(), folder: normal(&folder.into()), patterns: Vec::new() }
    }

    /// Adds a pattern.
    ///
    /// # Errors
    /// When it is none, in words.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let trimmed = text.trim_start_matches("./").trim_end_matches('/');
        if trimmed.is_empty() || trimmed == "." {
            return Err(format!("`{text}` matches no path; `**` matches all"));
        }
        if trimmed.starts_with('!') {
            return Err(format!("`{text}`: a pattern cannot be negated"));
        }
        if trimmed.split('/').any(|name| name == "..") {
            return Err(format!("`{text}` leads out of the folder; write a pattern below it, or one from `/` on"));
        }
        let kind = match trimmed {
            _ if trimmed.starts_with('/') => Kind::Absolute,
            _ if trimmed.contains('/') || trimmed == "**" => Kind::Below,
            _ => Kind::Name,
        };
        let pattern = Pattern::new(trimmed).map_err(|error| format!("`{text}` is no pattern: {}", error.msg))?;
        self.patterns.push(Glob { pattern, kind });
        Ok(())
    }

    /// Whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether a pattern matches the path, or a folder that it lies in.
    pub fn matches(&self, path: &Path) -> bool {
        if self.patterns.is_empty() {
            return false;
        }
        let whole = normal(&self.base.join(path));
        let below = whole.strip_prefix(&self.folder).ok();
        self.patterns.iter().any(|glob| match glob.kind {
            Kind::Absolute => glob.matches_part(&whole),
            Kind::Below => below.is_some_and(|path| glob.matches_part(path)),
            Kind::Name => {
                below.is_some_and(|path| path.iter().any(|name| glob.pattern.matches(&name.to_string_lossy())))
            }
        })
    }
}

impl Glob {
    /// Whether it matches a path or one of the folders around it.
    fn matches_part(&self, path: &Path) -> bool {
        let matches = |part: &&Path| self.pattern.matches_with(&part.to_string_lossy().replace('\\', "/"), OPTIONS);
        path.ancestors().any(|part| matches(&part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let mut globs = Globs::new("/repo/deploy", "/repo");
        globs.add(pattern).unwrap();
        globs.matches(Path::new(path))
    }

    #[test]
    fn patterns_match_files_names_and_folders() {
        for (pattern, path, expected) in [
            ("vendor", "deploy/vendor/a.conf", true),
            ("vendor/", "deploy/x/vendor/a.conf", true),
            ("vendor", "vendor/a.conf", false),
            ("*.bak", "deploy/a/b.bak", true),
            ("a/*.conf", "deploy/a/x.conf", true),
            ("a/*.conf", "deploy/a/b/x.conf", false),
            ("a/**", "deploy/a/b/x.conf", true),
            ("a", "deploy/b/../a/x.conf", true),
            ("./a/b", "/repo/deploy/a/b/c.conf", true),
            ("**/b", "deploy/a/b/c.conf", true),
            ("**", "deploy/x", true),
            ("**", "other/x", false),
            ("/etc/nginx/**", "/etc/nginx/nginx.conf", true),
            ("/etc/nginx", "/etc/nginx/nginx.conf", true),
            ("/etc/nginx", "/etc/nginx2/nginx.conf", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        let mut globs = Globs::new("/", "/");
        for (text, part) in [
            ("", "matches no path"),
            (".", "matches no path"),
            ("!a", "negated"),
            ("../a", "leads out"),
            ("a[", "is no pattern"),
        ] {
            assert!(globs.add(text).unwrap_err().contains(part), "{text}");
        }
        assert!(globs.is_empty() && !globs.matches(Path::new("/a")));
    }
}
