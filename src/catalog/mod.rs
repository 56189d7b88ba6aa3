//! What each directive is: where it may stand, what it takes, since when and until when.
//!
//! The facts lie in text files beside this one (`refresh.py` writes them); `build/catalog.rs` turns
//! them into static tables, so that nothing is parsed at run time.

pub mod caddy;
pub mod distros;
pub mod nginx;
