//! Turns data that people edit into static tables.

#[path = "build/catalog.rs"]
mod catalog;
#[allow(dead_code, unreachable_pub)]
#[path = "src/catalog/nginx/context.rs"]
mod context;
#[allow(dead_code, unreachable_pub)]
#[path = "src/version.rs"]
mod version;

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/version.rs");
    catalog::generate(&root)
}
