//! `src/catalog/distros.tsv` as Rust source: one static slice, in the order of the file.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use crate::source::{Error, versions};
use crate::version::VersionSet;

/// Writes `distros.rs` into the output folder.
///
/// # Errors
/// Names the line that is wrong.
pub(crate) fn generate(root: &Path) -> Result<(), Error> {
    let table = "src/catalog/distros.tsv";
    println!("cargo::rerun-if-changed={table}");
    let mut out =
        "/// Every distribution and image known here.\npub static DISTRIBUTIONS: &[Distribution] = &[\n".to_owned();
    for (number, line) in fs::read_to_string(root.join(table))?.lines().enumerate() {
        if !line.starts_with('#') {
            row(&mut out, line).map_err(|e| format!("{table}:{}: {e}", number + 1))?;
        }
    }
    out.push_str("];\n");
    Ok(fs::write(Path::new(&env::var("OUT_DIR")?).join("distros.rs"), out)?)
}

fn row(out: &mut String, line: &str) -> Result<(), Error> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [server, name, others, version, package, backports, title] = cells[..] else {
        return Err(format!("a row has 7 cells, not {}", cells.len()).into());
    };
    let server = match server {
        "nginx" => "Nginx",
        "caddy" => "Caddy",
        other => return Err(format!("`{other}` is no server").into()),
    };
    let others: Vec<&str> = others.split(',').filter(|other| *other != "-").collect();
    let package = (package != "-").then_some(package);
    writeln!(
        out,
        "Distribution {{ server: Server::{server}, name: {name:?}, others: &{others:?}, versions: {}, \
         package: {package:?}, backports: {}, title: {title:?} }},",
        versions(&VersionSet::parse(version)?),
        backports == "backports",
    )?;
    Ok(())
}
