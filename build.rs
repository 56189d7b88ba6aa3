//! Turns what people edit into static tables, so that start-up parses nothing: the pages of `rules/`,
//! read by the reader that reads users' rules at run time, and the catalogue's data.

#![allow(clippy::print_stdout, reason = "that is how cargo is spoken to")]
#![allow(dead_code, unreachable_pub, reason = "the program needs more of the shared modules")]

#[path = "build/caddy.rs"]
mod caddy;
#[path = "build/catalog.rs"]
mod catalog;
#[path = "src/catalog/nginx/context.rs"]
mod context;
#[path = "build/distros.rs"]
mod distros;
#[path = "build/rules.rs"]
mod rules;
#[path = "build/source.rs"]
mod source;
#[path = "src/suggest.rs"]
mod suggest;
#[path = "src/table.rs"]
mod table;
#[path = "src/version.rs"]
mod version;

#[path = "src/rule"]
mod rule {
    pub mod definition;
    pub mod example;
    pub mod file;
    pub mod level;
    pub mod template;
}

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    for input in ["build.rs", "build", "src/rule", "src/suggest.rs", "src/table.rs", "src/version.rs"] {
        println!("cargo::rerun-if-changed={input}");
    }
    rules::generate(&root)?;
    distros::generate(&root)?;
    caddy::generate(&root)?;
    catalog::generate(&root)
}
