//! Rules over a model.

pub mod rounds;
