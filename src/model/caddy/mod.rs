//! Caddy's view of a model.

pub mod load;
