//! Checks of Caddyfiles.

pub mod grammar;
pub mod idle_pool;
mod pool_fix;
pub mod references;
pub mod refused;
