//! The programs of nginx that `tests/servers` fetches, and what they and proxylint say of a text.

#![allow(dead_code, unreachable_pub)] // every test takes what it needs

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use proxylint::catalog::nginx::{Build, Context};
use proxylint::checks::Settings;
use proxylint::files::Memory;
use proxylint::finding::Severity;
use proxylint::lint;
use proxylint::model::include::{Loader, PathMap, Root};
use proxylint::rule::RuleSet;
use proxylint::source::Span;
use proxylint::target::Versions;
use proxylint::version::{Server, Version};

/// A server, what it is built of, and its version.
pub struct Nginx {
    program: PathBuf,
    pub build: Build,
    pub version: Version,
}

/// What a server says of a text: `None` where it accepts it, else the line that it names and its words.
pub type Said = Option<(Option<u32>, String)>;

/// A finding of severity error.
pub struct Error {
    /// The lines of its place and of its labels.
    pub lines: Vec<u32>,
    /// Rule and message.
    pub words: String,
}

/// Those of these versions that are here; a notice for each that is not, with `CI=true` a failure.
pub fn servers(versions: &[Version]) -> Vec<Nginx> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(".cache/servers");
    let root = std::env::var_os("PROXYLINT_SERVERS").map_or(root, PathBuf::from);
    let mut found = Vec::new();
    for &version in versions {
        let program = root.join(format!("nginx-{version}")).join("nginx");
        if !program.exists() {
            assert!(
                std::env::var("CI").as_deref() != Ok("true"),
                "{} is missing: run tests/servers",
                program.display()
            );
            // Written past the test runner, which hides what a passing test prints.
            writeln!(std::io::stderr(), "\nskipped: {} is missing, run tests/servers", program.display())
                .expect("stderr can be written to");
            continue;
        }
        let said = Command::new(&program).arg("-V").output().unwrap().stderr;
        let build = Build::parse(&String::from_utf8_lossy(&said)).unwrap();
        found.push(Nginx { program, build, version });
    }
    found
}

impl Nginx {
    /// What `nginx -t` says of a text as nginx.conf.
    pub fn test(&self, text: &str) -> Said {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("logs")).unwrap();
        let path = folder.path().join("nginx.conf");
        std::fs::write(&path, text).unwrap();
        let mut command = Command::new(&self.program);
        command.args(["-t", "-e", "stderr", "-p"]).arg(folder.path()).arg("-c").arg(&path);
        let output = command.output().unwrap();
        if output.status.success() {
            return None;
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let first = said.lines().find(|line| line.contains("[emerg]")).unwrap_or_default();
        let line = first.rsplit_once("nginx.conf:").and_then(|(_, line)| line.trim().parse().ok());
        let words = first.split("[emerg] ").nth(1).unwrap_or(&said);
        let words = words.split_once(": ").filter(|(pid, _)| pid.contains('#')).map_or(words, |(_, words)| words);
        Some((line, words.split(" in /").next().unwrap_or(words).to_owned()))
    }

    /// The errors that proxylint has of it, for this very server.
    pub fn errors(&self, text: &str) -> Vec<Error> {
        let mut files = Memory::new();
        files.insert("nginx.conf", text.as_bytes());
        let root = Root::Context(Context::Main);
        let model = Loader::new("nginx.conf", root, PathMap::default()).load(&files).unwrap();
        let versions = Versions::parse(Server::Nginx, &self.version.to_string()).unwrap();
        let settings = Settings { nginx_build: Some(self.build.clone()), ..Settings::default() };
        let findings = lint::run(&model, &RuleSet::builtin(), &versions, &settings);
        let lines = |span: Span| model.file(span).line_of(span.start)..=model.file(span).line_of(span.end);
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
        let error = |finding: &proxylint::finding::Finding| Error {
            lines: lines(finding.span).chain(finding.labels.iter().flat_map(|label| lines(label.span))).collect(),
            words: format!("{}: {}", finding.rule, finding.message),
        };
        errors.map(error).collect()
    }
}

/// Whether a refusal is about the machine: files, hosts, what the operating system says.
pub fn is_environment(words: &str) -> bool {
    ["failed (", "host not found", "failed", "cannot load", "not supported on this platform", "is not owned"]
        .iter()
        .any(|mark| words.contains(mark))
}
