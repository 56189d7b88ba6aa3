//! Checks of Caddyfiles.

pub mod idle_pool;
mod pool_fix;
pub mod refused;
