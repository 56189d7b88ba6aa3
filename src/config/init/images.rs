//! Which servers the files of a repository name: images in Dockerfiles, compose files, Kubernetes manifests,
//! Helm values and CI files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::files::Files;
use crate::target::Versions;
use crate::version::Server;

/// A server that a file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    /// Which server.
    pub(super) server: Server,
    /// The image or distribution, as `nginx = "…"` takes it.
    pub(super) text: String,
    /// The file.
    pub(super) path: PathBuf,
    /// 1-based.
    pub(super) line: usize,
}

/// CI files, which lie in hidden folders.
const CI: [&str; 2] = [".github/workflows", ".forgejo/workflows"];
const CI_FILES: [&str; 3] = [".gitlab-ci.yml", ".gitlab-ci.yaml", ".woodpecker.yml"];

/// Everything below `root` that names a server with a version that is known here, by path and line.
pub(super) fn mentions(files: &dyn Files, root: &Path) -> Vec<Mention> {
    let mut paths: Vec<PathBuf> = files.walk(root).entries.into_iter().map(|(path, _)| path).collect();
    for folder in CI.map(|folder| root.join(folder)) {
        paths.extend(files.list(&folder).unwrap_or_default().into_iter().map(|name| folder.join(name)));
    }
    paths.extend(CI_FILES.map(|name| root.join(name)));
    paths.retain(|path| kind(path).is_some());
    paths.sort();
    paths.dedup();
    paths.iter().flat_map(|path| in_file(files, path)).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Docker,
    Yaml,
}

fn kind(path: &Path) -> Option<Kind> {
    let name = path.file_name()?.to_str()?;
    let docker = ["Dockerfile", "Containerfile"];
    if docker.iter().any(|it| name == *it || name.starts_with(&format!("{it}.")) || name.ends_with(&format!(".{it}"))) {
        return Some(Kind::Docker);
    }
    (name.ends_with(".yml") || name.ends_with(".yaml")).then_some(Kind::Yaml)
}

fn in_file(files: &dyn Files, path: &Path) -> Vec<Mention> {
    let Ok(bytes) = files.read(path) else { return Vec::new() };
    let text = String::from_utf8_lossy(&bytes);
    let images = match kind(path) {
        Some(Kind::Docker) => docker(&text),
        _ => yaml(&text),
    };
    let mention = |(line, image): (usize, String)| {
        let server =
            [Server::Nginx, Server::Caddy].into_iter().find(|&server| Versions::parse(server, &image).is_ok())?;
        Some(Mention { server, text: image, path: path.to_owned(), line })
    };
    images.into_iter().filter_map(mention).collect()
}

/// Images of a Dockerfile that have a server, or that it installs one in.
fn docker(text: &str) -> Vec<(usize, String)> {
    let mut args: BTreeMap<&str, &str> = BTreeMap::new();
    let mut found = Vec::new();
    let mut base: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next().map(str::to_ascii_uppercase).as_deref() {
            Some("ARG") => {
                args.extend(words.next().and_then(|pair| pair.split_once('=')));
            }
            Some("FROM") => {
                let image = words.find(|word| !word.starts_with("--")).map(|image| filled(image, &args));
                base = image.flatten().map(|image| (index + 1, image));
                found.extend(base.clone().filter(|(_, image)| names_server(image)));
            }
            _ if installs(line) => found.extend(base.clone()),
            _ => {}
        }
    }
    found.dedup();
    found
}

fn installs(line: &str) -> bool {
    let words: Vec<&str> = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).collect();
    let has = |word: &str| words.contains(&word);
    (has("install") || has("add")) && (has("nginx") || has("caddy") || has("nginx-core") || has("nginx-full"))
}

fn names_server(image: &str) -> bool {
    image.contains("nginx") || image.contains("caddy")
}

/// Images of YAML: `image: …`, and the `repository` and `tag` of Helm values.
fn yaml(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut repository: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        let Some((key, value)) = line.trim_start().trim_start_matches("- ").split_once(':') else { continue };
        let value = value.split(" #").next().unwrap_or(value).trim().trim_matches(['"', '\'']);
        let Some(value) = filled(value, &BTreeMap::new()) else { continue };
        match key.trim() {
            "image" if names_server(&value) => found.push((index + 1, value)),
            "repository" if names_server(&value) => repository = Some((index + 1, value)),
            "tag" if !value.is_empty() => {
                found.extend(repository.take().map(|(line, name)| (line, format!("{name}:{value}"))));
            }
            _ => {}
        }
    }
    found
}

/// The text with `${NAME}`, `$NAME` and `${NAME:-default}` replaced; `None` where a value is not known.
fn filled(text: &str, args: &BTreeMap<&str, &str>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (name, default, end) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some((inner, end)) => match inner.split_once(":-").or_else(|| inner.split_once('-')) {
                Some((name, default)) => (name, Some(default), end),
                None => (inner, None, end),
            },
            None => {
                let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
                (&after[..end], None, &after[end..])
            }
        };
        out.push_str(args.get(name).copied().or(default)?);
        rest = end;
    }
    Some(out + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_dockerfiles() {
        let text = "ARG V=1.28\nFROM --platform=linux/amd64 nginx:${V}-alpine AS web\nFROM ${REGISTRY}/nginx:latest\nFROM golang:1.22\nFROM debian:12\nRUN apt-get update && apt-get install -y nginx\n";
        assert_eq!(docker(text), [(2, "nginx:1.28-alpine".to_owned()), (5, "debian:12".to_owned())]);
    }

    #[test]
    fn images_of_yaml() {
        let text = "services:\n  web:\n    image: \"nginx:${TAG:-1.27}\" # the proxy\n  app:\n    image: app:1\nimage:\n  repository: caddy\n  tag: '2.8'\n";
        assert_eq!(yaml(text), [(3, "nginx:1.27".to_owned()), (7, "caddy:2.8".to_owned())]);
    }
}
