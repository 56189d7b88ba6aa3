//! Small odd configurations against real nginx 1.22.1, 1.28.3 and 1.31.3: where the server refuses one, an error
//! stands at the line that it names; where it accepts one, none does.

#![allow(missing_docs)]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and tells its numbers")]

mod real_nginx;

use proxylint::version::Version;
use rayon::prelude::*;
use real_nginx::{Nginx, is_environment, servers};

/// Rules whose errors nginx starts with: requests of some kind are broken, though.
const NOT_REFUSED: [&str; 1] = ["nginx/undefined-reference"];

/// Refusals that are reported as warnings, as they hang on the names of other servers.
const AS_WARNINGS: [&str; 2] = ["invalid server name or wildcard", "could not build server_names_hash"];

/// What differs, in words; nothing where both agree or the refusal is about the machine.
fn difference(nginx: &Nginx, text: &str) -> Option<String> {
    let said = nginx.test(text);
    let errors = nginx.errors(text);
    let words: Vec<&str> = errors.iter().map(|error| error.words.as_str()).collect();
    let agree = match &said {
        None => words.iter().all(|words| NOT_REFUSED.iter().any(|rule| words.starts_with(rule))),
        Some((_, server)) if is_environment(server) => true,
        Some((_, server)) if AS_WARNINGS.iter().any(|words| server.starts_with(words)) => true,
        Some((Some(line), _)) => errors.iter().any(|error| error.lines.contains(line)),
        Some((None, _)) => !errors.is_empty(),
    };
    (!agree).then(|| format!("nginx {}: {said:?}\n  {}\n{text}\n", nginx.version, words.join("\n  ")))
}

#[test]
fn odd_configurations_are_refused_where_nginx_refuses_them() {
    let file = include_str!("odd/configurations.txt");
    let texts: Vec<&str> = file.split("\n----\n").skip(1).collect();
    assert!(texts.len() > 300, "{}", texts.len());
    for nginx in servers(&[Version::new(1, 22, 1), Version::new(1, 28, 3), Version::new(1, 31, 3)]) {
        let differences: Vec<String> = texts.par_iter().filter_map(|text| difference(&nginx, text)).collect();
        println!("nginx {}: {} of {} agree", nginx.version, texts.len() - differences.len(), texts.len());
        assert!(differences.is_empty(), "\n{}", differences.join("\n"));
    }
}
