//! The examples of a rule's page: what its `bad`, `fixed` and `good` fences say. A leaf: `build.rs`
//! takes it in too.

use crate::suggest;
use crate::table::TableError;
use crate::version::Server;

/// A fenced block of a page.
#[derive(Debug, Clone, Default)]
pub struct Fence {
    /// Offset of the fence in the page.
    pub at: usize,
    /// What stands behind the backquotes.
    pub info: String,
    /// The text in it.
    pub text: String,
    /// Offset of that text in the page.
    pub text_at: usize,
}

/// A file of an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleFile {
    /// Its path, where the example has several files.
    pub path: Option<String>,
    /// Its content.
    pub text: String,
}

/// A configuration and what the rule says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// Offset of its first fence in the page.
    pub at: usize,
    /// Whose configuration it is.
    pub server: Server,
    /// What follows `@`: the target, as on the command line.
    pub target: Option<String>,
    /// Peak concurrent requests that the user states: `peak-concurrency=200`.
    pub peak_concurrency: Option<u32>,
    /// Its files, the main one first.
    pub files: Vec<ExampleFile>,
    /// What the rule says of it.
    pub verdict: Verdict,
}

/// What a rule says of an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Good,
    /// At least one finding. Without `fixed`, no fix.
    Bad {
        /// What the fixes make of it.
        fixed: Option<Fixed>,
    },
}

/// What a rule's fixes make of an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// Whether the fixes must be safe (or must not), where the page says so.
    pub safe: Option<bool>,
    /// The files that change.
    pub files: Vec<ExampleFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Bad,
    Fixed,
    Good,
}

/// What a fence says of itself: `nginx bad @1.24 conf.d/app.conf`.
struct Info {
    server: Server,
    role: Role,
    target: Option<String>,
    peak_concurrency: Option<u32>,
    safe: Option<bool>,
    path: Option<String>,
}

/// The examples among the fences of a page: those with a server's language and a role.
///
/// # Errors
/// When a fence has a role, option or place that means nothing.
pub fn group(fences: &[Fence]) -> Result<Vec<Example>, TableError> {
    let mut examples: Vec<Example> = Vec::new();
    let mut last = None;
    for fence in fences {
        let Some(info) = Info::read(fence)? else {
            last = None;
            continue;
        };
        let file = ExampleFile { path: info.path.clone(), text: fence.text.clone() };
        let continues = last == Some(info.role);
        last = Some(info.role);
        match (info.role, examples.last_mut()) {
            (Role::Fixed, Some(example)) => add_fixed(example, &info, file, fence.at)?,
            (Role::Fixed, None) => return Err(TableError::new(fence.at, "`fixed` follows no `bad`")),
            (_, Some(example)) if continues && example.takes(&info) => example.files.push(file),
            _ => examples.push(Example::new(fence.at, info, file)),
        }
    }
    Ok(examples)
}

fn add_fixed(example: &mut Example, info: &Info, file: ExampleFile, at: usize) -> Result<(), TableError> {
    let error = |message: &str| Err(TableError::new(at, message));
    if info.target.is_some() || info.peak_concurrency.is_some() {
        return error("`fixed` has the target of its `bad`; state it there");
    }
    if file.path.is_some() != example.files[0].path.is_some() {
        return error("either all files of an example have a path or none");
    }
    let Verdict::Bad { fixed } = &mut example.verdict else { return error("`fixed` follows no `bad`") };
    match fixed {
        None => *fixed = Some(Fixed { safe: info.safe, files: vec![file] }),
        Some(fixed) if file.path.is_some() => fixed.files.push(file),
        Some(_) => return error("a second `fixed` for one `bad`"),
    }
    Ok(())
}

impl Example {
    fn new(at: usize, info: Info, file: ExampleFile) -> Self {
        let verdict = if info.role == Role::Bad { Verdict::Bad { fixed: None } } else { Verdict::Good };
        let Info { server, target, peak_concurrency, .. } = info;
        Self { at, server, target, peak_concurrency, files: vec![file], verdict }
    }

    /// Whether the next fence of the same role is one more file of this example.
    fn takes(&self, info: &Info) -> bool {
        let all_have_paths = info.path.is_some() && self.files[0].path.is_some();
        all_have_paths
            && info.server == self.server
            && (info.target.is_none() || info.target == self.target)
            && self.files.iter().all(|file| file.path != info.path)
    }
}

impl Info {
    /// What the fence says, if its language is a server's and it has a role.
    fn read(fence: &Fence) -> Result<Option<Self>, TableError> {
        let error = |message: String| TableError::new(fence.at, message);
        let mut words = fence.info.split_whitespace();
        let server = match words.next() {
            Some("nginx") => Server::Nginx,
            Some("caddy" | "caddyfile") => Server::Caddy,
            _ => return Ok(None),
        };
        let role = match words.next() {
            None => return Ok(None),
            Some("bad") => Role::Bad,
            Some("fixed") => Role::Fixed,
            Some("good") => Role::Good,
            Some(other) => {
                let hint = suggest::did_you_mean(other, ["bad", "fixed", "good"]);
                return Err(error(format!("an example is `bad`, `fixed` or `good`, not `{other}`{hint}")));
            }
        };
        let mut info = Self { server, role, target: None, peak_concurrency: None, safe: None, path: None };
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            if let Some(target) = word.strip_prefix('@') {
                let mut target = target.to_owned();
                while words.peek().is_some_and(|next| goes_on(&target, next)) {
                    target.extend([" ", words.next().unwrap_or_default()]);
                }
                info.target = Some(target);
            } else if let Some(number) = word.strip_prefix("peak-concurrency=") {
                let number = number.parse().map_err(|_| error(format!("`{number}` is not a number of requests")))?;
                info.peak_concurrency = Some(number);
            } else if role == Role::Fixed && matches!(word, "safe" | "unsafe") {
                info.safe = Some(word == "safe");
            } else if info.path.is_none() {
                info.path = Some(word.to_owned());
            } else {
                return Err(error(format!("`{word}` is one word too many; a path has no spaces")));
            }
        }
        Ok(Some(info))
    }
}

/// Whether a range with spaces in it goes on: `>=1.22, <1.30`.
fn goes_on(target: &str, next: &str) -> bool {
    target.ends_with([',', '|']) || next.starts_with(['<', '>', '=', '|', ','])
}
