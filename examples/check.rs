//! Checks paths for nginx 1.24, prints the findings one a line, and says what safe fixes would change:
//!
//! ```sh
//! cargo run --example check -- /etc/nginx
//! ```

#![allow(clippy::print_stdout, reason = "that is what the example does")]

use std::error::Error;
use std::io;

use proxylint::Options;
use proxylint::fix::Safety;
use proxylint::report::Format;
use proxylint::version::Server;

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let options = Options::new().target(Server::Nginx, "1.24")?;
    let report = proxylint::check(paths.clone(), &options)?;
    report.write(Format::Concise, &std::env::current_dir()?, &mut io::stdout().lock())?;
    println!("{} findings", report.findings().len());

    let fixed = proxylint::check(paths, &options.fix(Safety::Safe))?;
    for file in fixed.changed() {
        println!("{}: {} bytes become {}", file.path.display(), file.old.len(), file.new.len());
    }
    Ok(())
}
