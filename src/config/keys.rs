//! The keys of `proxylint.toml`: what each is, for the schema and for `proxylint init`.

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Any text.
    Text,
    /// A version, distribution or image; the word names the server.
    Version(&'static str),
    /// A whole number from 1 on.
    Count,
    /// `true` or `false`.
    Flag,
    /// `info`, `warning` or `error`.
    Severity,
    /// Texts.
    Texts,
    /// Names and texts.
    Pairs,
    /// Rules and their levels; with parameters or without.
    Rules {
        /// Whether a rule may have parameters there.
        params: bool,
    },
    /// Tables.
    Tables(&'static [Key]),
}

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value looks like.
    pub shape: Shape,
    /// What it says, in a sentence or two.
    pub about: &'static str,
    /// A value, as TOML.
    pub example: &'static str,
    /// Whether its table must have it.
    pub needed: bool,
}

const fn key(name: &'static str, shape: Shape, about: &'static str, example: &'static str) -> Key {
    Key { name, shape, about, example, needed: false }
}

const NGINX: Key = key(
    "nginx",
    Shape::Version("nginx"),
    "The nginx that will read the files: `1.28` (the branch), `1.28.0`, `>=1.22, <1.30`, `debian-12`, `nginx:1.28-alpine`, or `auto` for the installed one.",
    "\"1.28\"",
);
const CADDY: Key =
    key("caddy", Shape::Version("Caddy"), "The Caddy that will read the files, written like `nginx`.", "\"2.10\"");
const NGINX_BUILD: Key = key(
    "nginx-build",
    Shape::Text,
    "A file with the output of `nginx -V`, relative to this file: which modules nginx has, and its version where `nginx` does not say.",
    "\"nginx-V.txt\"",
);
const CADDY_BUILD: Key = key(
    "caddy-build",
    Shape::Text,
    "A file with the output of `caddy list-modules`, relative to this file: which plugins Caddy has.",
    "\"caddy-modules.txt\"",
);
const PEAK: Key = key(
    "peak-concurrency",
    Shape::Count,
    "Most requests at once to one backend: pools of connections are judged by it.",
    "200",
);
const MODULES: Key = key(
    "modules",
    Shape::Texts,
    "Modules that nginx has besides its own, and plugins of Caddy: their directives are known.",
    "[\"headers-more\"]",
);
const DIRECTIVES: Key = key(
    "directives",
    Shape::Texts,
    "Directives that the server knows besides those of known modules and plugins: they are not judged.",
    "[\"my_directive\"]",
);
const MAP: Key = key(
    "map",
    Shape::Pairs,
    "Where folders of the server lie here, relative to this file.",
    "{ \"/etc/nginx\" = \"deploy/nginx\" }",
);
const ENV: Key = key(
    "env",
    Shape::Pairs,
    "What Caddy's environment holds: the values of `{$NAME}`.",
    "{ DOMAIN = \"example.org\" }",
);
const ENV_FILES: Key = key(
    "env-files",
    Shape::Texts,
    "Files of `NAME=VALUE` lines with Caddy's environment, relative to this file; `env` wins.",
    "[\".env\"]",
);

/// The keys at the top.
pub const TOP: &[Key] = &[
    key(
        "$schema",
        Shape::Text,
        "Where editors find the schema of this file.",
        "\"https://raw.githubusercontent.com/proxylint/proxylint/main/docs/proxylint.schema.json\"",
    ),
    key(
        "required-version",
        Shape::Text,
        "The versions of proxylint that may check this project; another one stops with an error.",
        "\">=0.1\"",
    ),
    NGINX,
    NGINX_BUILD,
    CADDY,
    CADDY_BUILD,
    PEAK,
    MODULES,
    DIRECTIVES,
    MAP,
    ENV,
    ENV_FILES,
    key(
        "exclude",
        Shape::Texts,
        "What is left out where a folder is looked through: names, or paths relative to this file. A file that is named on the command line is checked all the same, unless `--force-exclude` says otherwise.",
        "[\"vendor\", \"examples/**\"]",
    ),
    key("all", Shape::Flag, "Whether to check also files that no main file includes.", "true"),
    key("rule-folders", Shape::Texts, "Folders with rules of your own, relative to this file.", "[\"lint-rules\"]"),
    key("min-severity", Shape::Severity, "Findings below are left out.", "\"info\""),
    key("fail-on", Shape::Severity, "Findings from here on end in exit status 1.", "\"warning\""),
    key(
        "baseline",
        Shape::Text,
        "The file with the known findings that are passed over, relative to this file; `--write-baseline` writes it.",
        "\"proxylint-baseline.json\"",
    ),
    key(
        "rules",
        Shape::Rules { params: true },
        "Levels of rules: `off`, `on`, `info`, `warning`, `error`; also of a server (`nginx`, `caddy`), a category or `all`. The narrower name wins.",
        "{ style = \"off\" }",
    ),
    key(
        "target",
        Shape::Tables(TARGET),
        "Versions and surroundings for some configurations; of several that match, the later one wins key by key.",
        "[{ paths = [\"staging/**\"], nginx = \"1.29\" }]",
    ),
    key(
        "override",
        Shape::Tables(OVERRIDE),
        "Levels of rules for findings in some files; of several that match, the later one wins.",
        "[{ paths = [\"legacy/**\"], rules = { performance = \"off\" } }]",
    ),
];

/// The keys of a `[[target]]`.
pub const TARGET: &[Key] = &[
    Key {
        needed: true,
        ..key(
            "paths",
            Shape::Texts,
            "Main files that this is for: names, or paths relative to this file; a folder stands for all in it.",
            "[\"staging/**\"]",
        )
    },
    NGINX,
    NGINX_BUILD,
    CADDY,
    CADDY_BUILD,
    PEAK,
    MODULES,
    DIRECTIVES,
    MAP,
    ENV,
    ENV_FILES,
];

/// The keys of an `[[override]]`.
pub const OVERRIDE: &[Key] = &[
    Key {
        needed: true,
        ..key(
            "paths",
            Shape::Texts,
            "Files that this is for: names, or paths relative to this file; a folder stands for all in it.",
            "[\"legacy/**\"]",
        )
    },
    Key {
        needed: true,
        ..key(
            "rules",
            Shape::Rules { params: false },
            "Levels of rules for findings there.",
            "{ performance = \"off\" }",
        )
    },
];
