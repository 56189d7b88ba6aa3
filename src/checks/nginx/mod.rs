//! Checks of nginx configurations.

pub mod problems;
pub mod upstream_reuse;
