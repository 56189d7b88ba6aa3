//! The versions that will read a configuration: stated by the user, or assumed.

use crate::model::Model;
use crate::version::{Server, VersionError, VersionSet};

/// The versions of one server that will read a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions {
    /// Never empty.
    pub set: VersionSet,
    /// What the user stated, as written; `None` where nobody did.
    pub stated: Option<String>,
}

/// The versions that will read the configurations of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Of nginx.
    pub nginx: Versions,
    /// Of Caddy.
    pub caddy: Versions,
}

impl Versions {
    /// What is assumed where nobody states a version.
    pub fn assumed(server: Server) -> Self {
        Self { set: VersionSet::since(server.assumed_floor()), stated: None }
    }

    /// What the user states: `1.24`, `1.24.0`, `">=1.22, <1.30"`.
    ///
    /// # Errors
    /// When the text names no version.
    pub fn parse(_server: Server, text: &str) -> Result<Self, VersionError> {
        Ok(Self { set: VersionSet::parse(text)?, stated: Some(text.to_owned()) })
    }
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
            None => Versions { set: narrowed(model, &versions.set), stated: None },
        }
    }
}

/// The versions less those that refuse a directive or parameter of the configuration; all of them
/// where none would remain.
fn narrowed(model: &Model, assumed: &VersionSet) -> VersionSet {
    match model.server() {
        Server::Nginx => {
            let accepted = model.nginx().accepted_by(model, assumed);
            let one_remains = accepted.members(Server::Nginx).next().is_some();
            if one_remains { accepted } else { assumed.clone() }
        }
        Server::Caddy => assumed.clone(),
    }
}
