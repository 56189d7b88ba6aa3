//! Rules over a model.
