//! Well-known plugins of Caddy, and the names that they provide.

/// A name that a plugin provides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provided<'a> {
    /// The section of the catalogue it would stand in.
    pub section: &'a str,
    /// The name.
    pub name: &'a str,
    /// The plugin's Go module, without its version: what `xcaddy build --with` takes.
    pub project: &'a str,
    /// The ID of a module that comes with it, where the name is not the end of one.
    pub module: Option<&'a str>,
}

/// All names. They are read on the way: nobody asks for them but for a name that is unknown.
pub fn all() -> impl Iterator<Item = Provided<'static>> {
    include_str!("plugins.txt").lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut words = line.split(' ');
        let (section, name, project) = (words.next()?, words.next()?, words.next()?);
        Some(Provided { section, name, project, module: words.next() })
    })
}

/// What provides a name of a section; for the options of one block, give an empty section.
pub fn provider(section: &str, name: &str) -> Option<Provided<'static>> {
    let place = |known: &str| known == section || (section.is_empty() && matches!(known, "encoder"));
    all().find(|provided| provided.name == name && place(provided.section))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::caddy::named;

    #[test]
    fn each_line_is_one_name_that_caddy_itself_lacks() {
        let lines = include_str!("plugins.txt").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(all().count(), lines);
        for provided in all() {
            assert!(named(provided.section, provided.name.as_bytes()).is_none(), "{provided:?}");
            assert!(provided.project.starts_with("github.com/"), "{provided:?}");
        }
        assert_eq!(provider("directive", "rate_limit").unwrap().project, "github.com/mholt/caddy-ratelimit");
        assert_eq!(provider("option", "rate_limit"), None);
    }
}
