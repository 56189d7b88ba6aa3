//! Checks of nginx configurations.

pub mod upstream_reuse;
