//! `--nginx auto`, `--caddy auto`: the version of the server that is installed here.

use std::process::{Command, Stdio};

use super::Trouble;
use crate::target::Versions;
use crate::version::Server;

/// Asks the server on PATH for its version.
pub(super) fn versions(server: Server) -> Result<Versions, Trouble> {
    let (program, argument) = match server {
        Server::Nginx => ("nginx", "-v"),
        Server::Caddy => ("caddy", "version"),
    };
    let flag = server.name().to_lowercase();
    let help = format!("install it, or state the version: --{flag} {}", server.assumed_floor());
    let output = Command::new(program)
        .arg(argument)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Trouble::new(format!("cannot run `{program} {argument}`: {error}")).help(&help))?;
    // nginx says it on standard error.
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    Versions::reported(server, &said).map_err(|error| Trouble::new(error.to_string()).help(help))
}
