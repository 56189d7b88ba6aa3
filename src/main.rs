//! The command line program: arguments to [`proxylint::cli::run`] to an exit code.

use std::process::ExitCode;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    proxylint::cli::run(std::env::args_os()).into()
}
