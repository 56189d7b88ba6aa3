//! Every directive of the catalogue against real nginx: places where it may and may not stand, too few and too many
//! arguments, a block for a `;`, twice, values of the wrong kind. Both must accept, or both refuse at the same line.
//!
//! A sample of the directives is probed; `PROBES=all cargo test --test probes` probes them all, which takes minutes.
//! The servers come from `tests/servers`; where they are missing the test says so and passes, but with `CI=true` it fails.

#![allow(missing_docs)]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and tells its numbers")]

mod real_nginx;

use std::collections::BTreeMap;

use proxylint::catalog::nginx::{Context, Directive, Form, Value, directives};
use proxylint::version::Version;
use rayon::prelude::*;
use real_nginx::{Nginx, is_environment, servers};

/// One text and the line that is probed.
struct Probe {
    kind: &'static str,
    text: String,
    line: u32,
}

fn lint(nginx: &Nginx, probe: &Probe) -> (bool, String) {
    let errors = nginx.errors(&probe.text);
    let here: Vec<&str> =
        errors.iter().filter(|error| error.lines.contains(&probe.line)).map(|error| error.words.as_str()).collect();
    (!here.is_empty(), here.join("; "))
}

/// A configuration with a hole in some context.
fn skeleton(context: Context) -> Option<&'static str> {
    Some(match context {
        Context::Main => "@\nevents {}\n",
        Context::Events => "events {\n@\n}\n",
        Context::Http => "events {}\nhttp {\n@\n}\n",
        Context::Server => "events {}\nhttp {\nserver {\nlisten 127.0.0.1:18080;\n@\n}\n}\n",
        Context::Location => "events {}\nhttp {\nserver {\nlisten 127.0.0.1:18080;\nlocation / {\n@\n}\n}\n}\n",
        Context::ServerIf => "events {}\nhttp {\nserver {\nlisten 127.0.0.1:18080;\nif ($host) {\n@\n}\n}\n}\n",
        Context::LocationIf => {
            "events {}\nhttp {\nserver {\nlisten 127.0.0.1:18080;\nlocation / {\nif ($host) {\n@\n}\n}\n}\n}\n"
        }
        Context::LimitExcept => {
            "events {}\nhttp {\nserver {\nlisten 127.0.0.1:18080;\nlocation / {\nlimit_except GET {\n@\n}\n}\n}\n}\n"
        }
        Context::Upstream => "events {}\nhttp {\nupstream u {\nserver 127.0.0.1:1;\n@\n}\n}\n",
        Context::Stream => "events {}\nstream {\n@\n}\n",
        Context::StreamServer => "events {}\nstream {\nserver {\nlisten 127.0.0.1:18081;\nreturn x;\n@\n}\n}\n",
        Context::StreamUpstream => "events {}\nstream {\nupstream u {\nserver 127.0.0.1:1;\n@\n}\n}\n",
        Context::Mail => "events {}\nmail {\n@\n}\n",
        Context::MailServer => "events {}\nmail {\nserver {\nlisten 127.0.0.1:18082;\nprotocol imap;\n@\n}\n}\n",
        _ => return None,
    })
}

fn probe(kind: &'static str, context: Context, lines: &str) -> Option<Probe> {
    let text = skeleton(context)?.replace('@', lines);
    let hole = skeleton(context)?.split('@').next()?.matches('\n').count() as u32 + 1;
    Some(Probe { kind, text, line: hole + lines.matches('\n').count() as u32 })
}

/// A number of arguments that a version takes, and a value of the right kind for the first.
fn sample(directive: &Directive, version: Version) -> Vec<String> {
    let arity = directive.arity_at(version);
    let count = (0..9).find(|&count| arity.accepts(count)).unwrap_or(1);
    let keyword =
        || directive.params.iter().find(|p| !p.commercial && !p.name.starts_with('<') && p.versions.contains(version));
    let first = match directive.value {
        Value::Flag => "on".to_owned(),
        Value::Enum | Value::Bitmask => keyword().map_or("x".to_owned(), |param| param.name.to_owned()),
        Value::Number | Value::Buffers => "16".to_owned(),
        Value::Size | Value::SizeExpr | Value::LargeSize => "64k".to_owned(),
        Value::Milliseconds | Value::Seconds => "10s".to_owned(),
        _ => "x1".to_owned(),
    };
    let rest = |i: usize| if directive.value == Value::Buffers { "64k".to_owned() } else { format!("x{i}") };
    (0..count).map(|i| if i == 0 { first.clone() } else { rest(i) }).collect()
}

fn line(directive: &Directive, args: &[String], block: bool) -> String {
    let words = std::iter::once(directive.name.to_owned()).chain(args.iter().cloned()).collect::<Vec<_>>().join(" ");
    if block { format!("{words} {{ }}") } else { format!("{words};") }
}

fn probes(directive: &Directive, version: Version) -> Vec<Probe> {
    let args = sample(directive, version);
    let block = directive.form != Form::Line;
    let written = line(directive, &args, block);
    let mut all: Vec<Option<Probe>> = Context::ALL.iter().map(|&context| probe("context", context, &written)).collect();
    let mut allowed =
        directive.contexts.iter().filter(|&c| directive.allowed_in(c).contains(version) && skeleton(c).is_some());
    let Some(place) = allowed.next() else { return all.into_iter().flatten().collect() };
    for count in 0..=8 {
        let mut args: Vec<String> = args.iter().take(count).cloned().collect();
        args.extend((args.len()..count).map(|i| format!("x{i}")));
        all.push(probe("number of arguments", place, &line(directive, &args, block)));
    }
    all.push(probe("block", place, &line(directive, &args, !block)));
    all.push(probe("twice", place, &format!("{written}\n{written}")));
    for wrong in ["yes", "10MB", "5x", "-1", "1.5", "x$y"] {
        let args: Vec<String> = std::iter::once(wrong.to_owned()).chain(args.iter().skip(1).cloned()).collect();
        if !args.is_empty() && directive.arity_at(version).accepts(args.len()) {
            all.push(probe("value", place, &line(directive, &args, block)));
        }
    }
    all.into_iter().flatten().collect()
}

#[derive(Default)]
struct Count {
    agree: usize,
    differ: Vec<String>,
}

fn compare(nginx: &Nginx, directive: &Directive, probe: &Probe, counts: &mut BTreeMap<&'static str, Count>) {
    let said = nginx.test(&probe.text);
    let (refused, words) = lint(nginx, probe);
    let count = counts.entry(probe.kind).or_default();
    let agree = match &said {
        None => !refused,
        Some((_, server)) if is_environment(server) => return,
        Some((Some(line), _)) if *line == probe.line => refused,
        // Something else is wrong first, or the server names no line.
        Some(_) => return,
    };
    if agree {
        count.agree += 1;
    } else {
        let server = said.map_or("accepts".to_owned(), |(_, words)| words);
        let shown = probe.text.lines().nth(probe.line as usize - 1).unwrap_or_default();
        count.differ.push(format!(
            "{} {} `{shown}` ({}): {server} | {words}",
            nginx.version, directive.module.name, probe.kind
        ));
    }
}

#[test]
fn every_directive_is_refused_where_nginx_refuses_it() {
    const SAMPLE: usize = 17;
    let step = if std::env::var("PROBES").as_deref() == Ok("all") { 1 } else { SAMPLE };
    for nginx in servers(&[Version::new(1, 22, 1), Version::new(1, 31, 3)]) {
        let known: Vec<&Directive> = directives()
            .iter()
            .filter(|d| d.is_official() && d.available(nginx.version) && nginx.build.has_built_in(d.module))
            .filter(|d| d.platform.is_none_or(|platform| platform == "Linux"))
            .step_by(step)
            .collect();
        let counts = known.par_iter().map(|directive| {
            let mut counts = BTreeMap::new();
            for probe in probes(directive, nginx.version) {
                compare(&nginx, directive, &probe, &mut counts);
            }
            counts
        });
        let counts = counts.reduce(BTreeMap::new, |mut all, more| {
            for (kind, count) in more {
                let known: &mut Count = all.entry(kind).or_default();
                known.agree += count.agree;
                known.differ.extend(count.differ);
            }
            all
        });
        println!("nginx {}: {} directives", nginx.version, known.len());
        for (kind, count) in &counts {
            println!("  {kind}: {} agree, {} differ", count.agree, count.differ.len());
        }
        for text in counts.values().flat_map(|count| &count.differ) {
            println!("    {text}");
        }
        for (kind, count) in &counts {
            assert!(count.differ.is_empty() && count.agree > 0, "{kind}: {} differ", count.differ.len());
        }
    }
}
