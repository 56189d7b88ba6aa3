//! Loading a configuration of either server.

use std::io;
use std::path::PathBuf;

use super::include::{PathMap, Root};
use super::{Model, caddy, include};
use crate::files::Files;
use crate::syntax::caddy::Env;
use crate::version::{Server, VersionSet};

/// Loads one configuration, again and again as it is being fixed: file ids stay the same.
#[derive(Debug)]
pub enum Loader {
    /// Of nginx.
    Nginx(include::Loader),
    /// Of Caddy.
    Caddy(caddy::load::Loader),
}

impl Loader {
    /// For an nginx configuration that begins with `main`.
    pub fn nginx(main: impl Into<PathBuf>, root: Root, maps: PathMap) -> Self {
        Self::Nginx(include::Loader::new(main, root, maps))
    }

    /// For a Caddyfile that versions of `target` will read in the environment `env`.
    pub fn caddy(main: impl Into<PathBuf>, env: Env, maps: PathMap, target: VersionSet) -> Self {
        Self::Caddy(caddy::load::Loader::new(main, env, maps, target))
    }

    /// Whose configuration it is.
    pub fn server(&self) -> Server {
        match self {
            Self::Nginx(_) => Server::Nginx,
            Self::Caddy(_) => Server::Caddy,
        }
    }

    /// The canonical paths of the files read, the main file first.
    pub fn paths(&self) -> Vec<PathBuf> {
        match self {
            Self::Nginx(loader) => loader.paths(),
            Self::Caddy(loader) => loader.paths(),
        }
    }

    /// Reads the configuration.
    ///
    /// # Errors
    /// When the main file itself cannot be read. Trouble with other files is in the model.
    pub fn load(&mut self, files: &dyn Files) -> io::Result<Model> {
        match self {
            Self::Nginx(loader) => loader.load(files),
            Self::Caddy(loader) => loader.load(files),
        }
    }
}
