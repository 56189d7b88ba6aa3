//! The command line program: arguments to [`proxylint::cli::run`] to an exit code.

fn main() {}
