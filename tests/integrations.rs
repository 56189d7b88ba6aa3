//! What `docs/integrations.md` shows: the script of the GitHub Action, the inputs of both CI files, the
//! commands.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "cli/run.rs"]
mod run;

use std::path::Path;
use std::process::Command;

use run::{Folder, Said};

const BROKEN: &str = "events {}\nhttp {\n    gzip on\n}\n";

/// The script of the action as GitHub runs it.
fn action(folder: &Folder, variables: &[(&str, &str)]) -> Said {
    let program = Path::new(env!("CARGO_BIN_EXE_proxylint")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("ci/action");
    let mut command = Command::new("bash");
    command.arg(script).current_dir(folder.path()).env("PATH", path).envs(variables.iter().copied());
    command.env("GITHUB_STEP_SUMMARY", folder.join("summary")).env("GITHUB_OUTPUT", folder.join("output"));
    Said::from(command.output().unwrap())
}

#[test]
fn the_action_annotates_summarizes_and_fails() {
    let folder = Folder::new(&[("a b/nginx.conf", BROKEN), ("summary", "before\n"), ("output", "")]);
    let args = "--select nginx/syntax --nginx '>=1.22, <1.30' 'a b/nginx.conf'";
    let said = action(&folder, &[("ARGS", args), ("SARIF", "out.sarif")]).exit(1);
    assert!(said.out.starts_with("::error file=a b/nginx.conf,line=3,"), "{}", said.out);
    assert!(folder.read("summary").starts_with("before\n## proxylint: 1 error\n"), "{}", folder.read("summary"));
    assert_eq!(folder.read("output"), "status=1\n");
    assert!(folder.read("out.sarif").contains("\"2.1.0\""));
}

#[test]
fn arguments_of_the_action_run_nothing() {
    let folder = Folder::new(&[("nginx.conf", "events {}\nhttp {}\n"), ("summary", ""), ("output", "")]);
    action(&folder, &[("ARGS", "nginx.conf $(touch ran) `touch ran`; touch ran")]).exit(2);
    assert!(!folder.join("ran").exists());
    action(&folder, &[("ARGS", "nginx.conf 'open")]).exit(2).says("is not a list of words");
    action(&folder, &[("ARGS", "nginx.conf"), ("ANNOTATIONS", "false"), ("SUMMARY", "false")]).exit(0);
    assert_eq!((folder.read("summary").as_str(), folder.read("output").as_str()), ("", "status=2\nstatus=0\n"));
}

#[test]
fn ci_files_use_the_inputs_that_they_declare() {
    let declared = |text: &str, section: &str, indent: &str| -> Vec<String> {
        let lines = text.lines().skip_while(|line| line.trim() != section).skip(1);
        let lines = lines.take_while(|line| line.is_empty() || line.starts_with(indent));
        let names = lines.filter_map(|line| line.strip_prefix(indent)?.strip_suffix(':'));
        names.filter(|name| !name.starts_with(' ')).map(str::to_owned).collect()
    };
    let used = |text: &str, open: &str| -> Vec<String> {
        let names = text.split(open).skip(1).filter_map(|rest| rest.trim_start().strip_prefix("inputs."));
        let names = names.map(|rest| rest.chars().take_while(char::is_ascii_lowercase).collect());
        let names: std::collections::BTreeSet<String> = names.collect();
        names.into_iter().collect()
    };
    for (text, indent, open) in
        [(include_str!("../action.yml"), "  ", "${{"), (include_str!("../ci/gitlab.yml"), "    ", "$[[")]
    {
        let mut declared = declared(text, "inputs:", indent);
        declared.sort();
        assert_eq!(declared, used(text, open));
        assert!(declared.len() > 2);
    }
}

#[test]
fn commands_of_the_page_are_understood() {
    let folder = Folder::new(&[("deploy/nginx/nginx.conf", "events {}\nhttp {}\n")]);
    let page = include_str!("../docs/integrations.md");
    let lines = page.lines().map(|line| line.trim_start_matches("docker run --rm -v \"$PWD:/work:ro\" ").trim());
    let commands: Vec<&str> = lines.filter_map(|line| line.strip_prefix("proxylint ")).collect();
    assert!(commands.len() >= 6, "{commands:?}");
    for command in commands {
        let command = command.split(" | ").next().unwrap().replace("/etc/nginx", "deploy/nginx");
        Said::from(folder.command(command.split(' ')).output().unwrap()).exit(0);
    }
}
