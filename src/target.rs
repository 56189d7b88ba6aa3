//! The versions that will read a configuration: stated by the user, or assumed.

use crate::catalog::distros::{self, Distribution};
use crate::model::Model;
use crate::model::caddy::accept;
use crate::suggest;
use crate::version::{Server, Version, VersionError, VersionSet};

/// The versions of one server that will read a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions {
    /// At least one released version, or one that is newer than this program.
    pub set: VersionSet,
    /// What the user stated, as written; `None` where nobody did.
    pub stated: Option<String>,
    /// The distribution or image that was stated.
    pub distribution: Option<&'static Distribution>,
}

/// The versions that will read the configurations of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Of nginx.
    pub nginx: Versions,
    /// Of Caddy.
    pub caddy: Versions,
}

/// A text that states no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It looks like a version and is none.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// It looks like a version, and there never was such a release.
    #[error("there is no {} {text}: {reason}", server.name())]
    NoRelease {
        /// Of which server.
        server: Server,
        /// What was given.
        text: String,
        /// Why.
        reason: String,
    },
    /// Nothing is stated.
    #[error("no version of {} is named; write a version (1.24), a range (\">=1.22, <1.30\"), a distribution or an image", .0.name())]
    Empty(Server),
    /// Its conditions exclude each other.
    #[error("no version of {} is in `{text}`: its parts exclude each other", server.name())]
    NoneLeft {
        /// Of which server.
        server: Server,
        /// What was given.
        text: String,
    },
    /// It is no version, and no distribution or image of that name is known.
    #[error("`{text}` is neither a version nor a distribution or image that is known here{hint}")]
    Unknown {
        /// What was given.
        text: String,
        /// Names near it, or what a name looks like.
        hint: String,
    },
    /// It is an image of the other server.
    #[error("`{text}` is an image of {}, not of {}", image.name(), wanted.name())]
    OtherServer {
        /// What was given.
        text: String,
        /// Whose image it is.
        image: Server,
        /// Whose versions were asked for.
        wanted: Server,
    },
    /// A server's own words name no version.
    #[error("the installed {} does not say its version: `{text}`", server.name())]
    Unreadable {
        /// Which server.
        server: Server,
        /// What it said.
        text: String,
    },
}

impl Versions {
    /// What is assumed where nobody states a version.
    pub fn assumed(server: Server) -> Self {
        Self { set: VersionSet::since(server.assumed_floor()), stated: None, distribution: None }
    }

    /// What the user states: `1.24` (every release of the branch), `1.24.0`, `">=1.22, <1.30"`, a
    /// distribution (`debian-12`) or an image (`nginx:1.28-alpine`).
    ///
    /// # Errors
    /// When the text is none of these, or there never was such a release.
    pub fn parse(server: Server, text: &str) -> Result<Self, TargetError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(TargetError::Empty(server));
        }
        if text.starts_with(|c: char| c.is_ascii_digit() || "<>=~^".contains(c)) {
            let set = VersionSet::parse(text).map_err(|error| match error.is_empty_range() {
                true => TargetError::NoneLeft { server, text: text.to_owned() },
                false => error.into(),
            })?;
            let set = released(server, text, set)?;
            return Ok(Self { set, stated: Some(text.to_owned()), distribution: None });
        }
        if let Some(known) = distros::find(server, text) {
            return Ok(Self::of_distribution(known, text));
        }
        if text.contains([':', '/']) { Self::of_image(server, text) } else { Err(unknown(server, text)) }
    }

    /// What a server says of itself: `nginx -v`, `caddy version`.
    ///
    /// # Errors
    /// When no version is in it.
    pub fn reported(server: Server, words: &str) -> Result<Self, TargetError> {
        let version = words.split(|c: char| c.is_whitespace() || c == '/').find_map(|word| {
            let number = word.strip_prefix('v').unwrap_or(word);
            number.starts_with(|c: char| c.is_ascii_digit()).then(|| leading_version(number).0)
        });
        let unreadable = || TargetError::Unreadable { server, text: words.trim().to_owned() };
        let version = version.filter(|version| version.matches('.').count() == 2).ok_or_else(unreadable)?;
        Self::parse(server, version)
    }

    fn of_distribution(known: &'static Distribution, text: &str) -> Self {
        Self { set: known.versions.clone(), stated: Some(text.to_owned()), distribution: Some(known) }
    }

    /// `nginx:1.28-alpine`, `docker.io/library/nginx:stable`, `caddy:2.8`; also `debian:12`, for the
    /// server that it has.
    fn of_image(server: Server, text: &str) -> Result<Self, TargetError> {
        let name = text.rsplit('/').next().unwrap_or(text);
        let name = name.split('@').next().unwrap_or(name);
        let (repository, tag) = name.split_once(':').unwrap_or((name, "latest"));
        let other = if server == Server::Nginx { Server::Caddy } else { Server::Nginx };
        if repository.contains(image_name(other)) {
            return Err(TargetError::OtherServer { text: text.to_owned(), image: other, wanted: server });
        }
        if !repository.contains(image_name(server)) {
            let known = distros::find(server, &format!("{repository}-{tag}")).ok_or_else(|| unknown(server, text))?;
            return Ok(Self::of_distribution(known, text));
        }
        let (version, variant) = leading_version(tag.strip_prefix('v').unwrap_or(tag));
        if version.contains('.') {
            let set = released(server, version, VersionSet::parse(version)?)?;
            return Ok(Self { set, stated: Some(text.to_owned()), distribution: None });
        }
        let branch = if version.is_empty() { variant.split('-').next().unwrap_or(variant) } else { version };
        let is_variant = version.is_empty() && VARIANTS.iter().any(|known| branch.starts_with(known));
        let official = format!("{}:{}", image_name(server), if is_variant { "latest" } else { branch });
        let known = distros::find(server, &official).ok_or_else(|| unknown(server, text))?;
        Ok(Self::of_distribution(known, text))
    }
}

/// Images of the newest version that differ in what else is in them.
const VARIANTS: [&str; 8] = ["alpine", "bookworm", "builder", "otel", "perl", "slim", "trixie", "windowsservercore"];

fn image_name(server: Server) -> &'static str {
    match server {
        Server::Nginx => "nginx",
        Server::Caddy => "caddy",
    }
}

/// The numbers and dots that a text begins with, at most three numbers, and the rest without `-`.
fn leading_version(text: &str) -> (&str, &str) {
    let mut dots = 0;
    let end = text.find(|c: char| {
        dots += usize::from(c == '.');
        !(c.is_ascii_digit() || c == '.') || dots > 2
    });
    let (version, rest) = text.split_at(end.unwrap_or(text.len()));
    (version.trim_end_matches('.'), rest.trim_start_matches('-'))
}

/// The versions, if there is a release among them. One version that is newer than this program
/// counts: whoever names it has it.
fn released(server: Server, text: &str, set: VersionSet) -> Result<VersionSet, TargetError> {
    let releases = server.releases();
    let (Some(oldest), Some(newest)) = (releases.first(), releases.last()) else { return Ok(set) };
    let first = set.members(server).next();
    let reason = match first {
        Some(version) if version < *oldest => below(server, *oldest),
        Some(version) => match skipped(server, version).filter(|_| set == VersionSet::exactly(version)) {
            Some(reason) => reason,
            None => return Ok(set),
        },
        None if set.ranges().iter().all(|range| range.end <= *oldest) => below(server, *oldest),
        None => format!("the newest known here is {newest}; a newer one is stated with all three numbers"),
    };
    Err(TargetError::NoRelease { server, text: text.to_owned(), reason })
}

/// Why a version that is not known here cannot be a release that is newer than this program. Only
/// branches that are still served get new ones: the newest, and with nginx the last stable one.
fn skipped(server: Server, version: Version) -> Option<String> {
    let releases = server.releases();
    let next = releases.partition_point(|&known| known < version);
    if releases.get(next) == Some(&version) || next == releases.len() {
        return None;
    }
    let branch = |it: &Version| (it.major, it.minor);
    let of_branch = releases.iter().rfind(|known| branch(known) == branch(&version));
    let stable = |it: &&Version| server == Server::Nginx && it.minor.is_multiple_of(2);
    let is_served = releases.iter().rfind(stable).is_some_and(|last| branch(last) == branch(&version));
    match of_branch {
        Some(last) if version < *last => Some(format!("{} was followed by {}", releases[next - 1], releases[next])),
        Some(_) if is_served => None,
        Some(last) => Some(format!("the last release of {}.{} is {last}", last.major, last.minor)),
        None => Some(format!("the branch {}.{} does not exist", version.major, version.minor)),
    }
}

fn below(server: Server, oldest: Version) -> String {
    match server {
        Server::Nginx => format!("the oldest known here is {oldest}"),
        Server::Caddy => format!("the oldest known here is {oldest} (Caddy 1 has another language)"),
    }
}

fn unknown(server: Server, text: &str) -> TargetError {
    let names: Vec<&str> = distros::of(server).flat_map(Distribution::names).collect();
    let family = |name: &&&str| {
        let of = |text: &str| text.split(['-', ':']).next().map(str::to_lowercase);
        of(name) == of(text)
    };
    let mut near = suggest::near(text, names.iter().copied());
    near.extend(names.iter().filter(family).filter(|name| !near.contains(name)).copied().collect::<Vec<_>>());
    let hint = match near.as_slice() {
        [] => {
            let image = image_name(server);
            format!("; write a version (1.24), debian-12, ubuntu-24.04, {image}:latest or `auto` for the installed one")
        }
        names => format!("; known are {}", names[..names.len().min(6)].join(", ")),
    };
    TargetError::Unknown { text: text.to_owned(), hint }
}

impl Target {
    /// What is assumed where nobody states a version.
    pub fn assumed() -> Self {
        Self { nginx: Versions::assumed(Server::Nginx), caddy: Versions::assumed(Server::Caddy) }
    }

    /// Those of one server.
    pub fn get(&self, server: Server) -> &Versions {
        match server {
            Server::Nginx => &self.nginx,
            Server::Caddy => &self.caddy,
        }
    }

    /// Sets those of one server.
    pub fn set(&mut self, server: Server, versions: Versions) {
        match server {
            Server::Nginx => self.nginx = versions,
            Server::Caddy => self.caddy = versions,
        }
    }

    /// The versions that will read this very configuration: what is stated, or what is assumed less
    /// those that refuse a directive or parameter of the configuration.
    pub fn of(&self, model: &Model) -> Versions {
        let versions = self.get(model.server());
        match versions.stated {
            Some(_) => versions.clone(),
            None => Versions { set: narrowed(model, &versions.set), ..versions.clone() },
        }
    }
}

/// The versions less those that refuse a directive or parameter of the configuration; all of them
/// where none would remain.
fn narrowed(model: &Model, assumed: &VersionSet) -> VersionSet {
    let accepted = match model.server() {
        Server::Nginx => model.nginx().accepted_by(model, assumed),
        Server::Caddy => accept::plausible(model, assumed),
    };
    let one_remains = accepted.members(model.server()).next().is_some();
    if one_remains { accepted } else { assumed.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nginx(text: &str) -> String {
        match Versions::parse(Server::Nginx, text) {
            Ok(versions) => {
                assert_eq!(versions.stated.as_deref(), Some(text));
                versions.set.describe(Server::Nginx)
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_target_is_stated_in_many_ways() {
        for (text, versions) in [
            ("1.24", "1.24.0"),
            ("1.22", "1.22.0 - 1.22.1"),
            ("1.24.0", "1.24.0"),
            ("1.99.0", "1.99.0"),
            (">=1.22, <1.30", "1.22.0 - 1.29.8"),
            ("debian-12", "1.22.1"),
            ("Debian-12", "1.22.1"),
            ("bookworm", "1.22.1"),
            ("ubuntu-24.04", "1.24.0"),
            ("rhel-9-nginx-1.24", "1.24.0"),
            ("debian:12", "1.22.1"),
            ("nginx:1.28-alpine", "1.28.0 - 1.28.3"),
            ("nginx:1.28.0-bookworm", "1.28.0"),
            ("nginx:stable", "1.30.7"),
            ("nginx:stable-alpine3.23-slim", "1.30.7"),
            ("nginx:mainline", "1.31.9"),
            ("nginx:latest", "1.31.9"),
            ("nginx:alpine", "1.31.9"),
            ("nginx:1-alpine", "1.31.9"),
            ("docker.io/library/nginx:1.26.3", "1.26.3"),
            ("localhost:5000/web/nginx", "1.31.9"),
            ("nginxinc/nginx-unprivileged:1.27", "1.27.0 - 1.27.5"),
            ("bitnami/nginx:1.25.3-debian-11-r0", "1.25.3"),
            ("nginx:1.29@sha256:0123", "1.29.0 - 1.29.8"),
        ] {
            assert_eq!(nginx(text), versions, "{text}");
        }
        let caddy = |text| Versions::parse(Server::Caddy, text).unwrap().set.describe(Server::Caddy);
        assert_eq!(caddy("caddy:2.8"), "2.8.0 - 2.8.4");
        assert_eq!(caddy("caddy:2-builder-alpine"), "2.11.9");
        assert_eq!(caddy("caddy:builder"), "2.11.9");
        assert_eq!(caddy("debian-12"), "2.6.2");
        assert_eq!(
            Versions::parse(Server::Nginx, "debian-12").unwrap().distribution.unwrap().title,
            "Debian 12 bookworm"
        );
    }

    #[test]
    fn what_states_nothing_is_told_with_names_near_it() {
        for (text, message) in [
            ("0.8.54", "there is no nginx 0.8.54: the oldest known here is 1.0.0"),
            ("<1.0", "there is no nginx <1.0: the oldest known here is 1.0.0"),
            (
                "1.99",
                "there is no nginx 1.99: the newest known here is 1.31.9; a newer one is stated with all three numbers",
            ),
            (
                ">=1.40",
                "there is no nginx >=1.40: the newest known here is 1.31.9; a newer one is stated with all three numbers",
            ),
            (
                "1",
                "`1` is not a version: expected two or three numbers with dots between them; write 1.24, 1.24.0 or \">=1.22, <1.30\"",
            ),
            (
                "debain-12",
                "`debain-12` is neither a version nor a distribution or image that is known here; known are debian-12, debian-10, debian-11, debian-13",
            ),
            (
                "debian-9",
                "`debian-9` is neither a version nor a distribution or image that is known here; known are debian-10, debian-11, debian-12, debian-13, debian-sid, debian-testing",
            ),
            (
                "nginx:satble",
                "`nginx:satble` is neither a version nor a distribution or image that is known here; known are nginx:stable, nginx:mainline, nginx:latest, nginx:1",
            ),
            ("caddy:2.8", "`caddy:2.8` is an image of Caddy, not of nginx"),
            (
                "openresty:1.25",
                "`openresty:1.25` is neither a version nor a distribution or image that is known here; write a version (1.24), debian-12, ubuntu-24.04, nginx:latest or `auto` for the installed one",
            ),
        ] {
            assert_eq!(nginx(text), message, "{text}");
        }
        for text in ["", "  "] {
            assert!(nginx(text).starts_with("no version of nginx is named; write a version (1.24)"), "{}", nginx(text));
        }
        for text in [">=1.30, <1.22", "<1.22, >1.22"] {
            assert_eq!(nginx(text), format!("no version of nginx is in `{text}`: its parts exclude each other"));
        }
        let error = Versions::parse(Server::Caddy, "1.0.5").unwrap_err().to_string();
        assert_eq!(error, "there is no Caddy 1.0.5: the oldest known here is 2.0.0 (Caddy 1 has another language)");
    }

    #[test]
    fn releases_that_never_were_are_told_from_those_to_come() {
        assert_eq!(nginx("1.24.99"), "there is no nginx 1.24.99: the last release of 1.24 is 1.24.0");
        assert_eq!(nginx("nginx:1.24.99-alpine"), "there is no nginx 1.24.99: the last release of 1.24 is 1.24.0");
        let newest = *Server::Nginx.releases().last().unwrap();
        let stable = *Server::Nginx.releases().iter().rfind(|it| it.minor.is_multiple_of(2)).unwrap();
        for version in [newest, stable] {
            let next = format!("{}.{}.{}", version.major, version.minor, version.patch + 1);
            assert_eq!(nginx(&next), next);
        }
        let caddy = |text: &str| Versions::parse(Server::Caddy, text).map(|it| it.set.describe(Server::Caddy));
        assert_eq!(
            caddy("2.6.99").unwrap_err().to_string(),
            "there is no Caddy 2.6.99: the last release of 2.6 is 2.6.4"
        );
        let newest = *Server::Caddy.releases().last().unwrap();
        let next = format!("{}.{}.{}", newest.major, newest.minor, newest.patch + 1);
        assert_eq!(caddy(&next).unwrap(), next);
    }

    #[test]
    fn servers_say_their_version() {
        let said = |server, words| Versions::reported(server, words).map(|v| v.set.describe(server));
        assert_eq!(said(Server::Nginx, "nginx version: nginx/1.22.1\n").unwrap(), "1.22.1");
        assert_eq!(said(Server::Nginx, "nginx version: openresty/1.25.3.1").unwrap(), "1.25.3");
        assert_eq!(said(Server::Caddy, "v2.8.4 h1:q3pe0wpBj1OcHFZ3n/1nl4V4bxBrYoSoab7rL9BMYNk=\n").unwrap(), "2.8.4");
        assert_eq!(said(Server::Caddy, "2.6.2").unwrap(), "2.6.2");
        assert!(said(Server::Nginx, "nginx: command not found").is_err());
    }
}
