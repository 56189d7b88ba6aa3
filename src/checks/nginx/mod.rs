//! Checks of nginx configurations.

pub mod problems;
