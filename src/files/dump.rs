//! The output of `nginx -T`: every file that nginx read, each behind a line with its name.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Files, Kind, Memory, Walk, to_path};

/// The files of a dump. What is not in it is unknown.
#[derive(Debug, Clone)]
pub struct Dump {
    files: Memory,
    main: PathBuf,
}

/// Text that is no dump of one nginx.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DumpError {
    /// nginx refused the configuration, so it printed none.
    #[error("nginx printed no configuration, as it refuses it: {0}")]
    Refused(String),
    /// A file is there twice.
    #[error("`{}` is in it twice: it is the output of several servers; give that of one", .0.display())]
    Twice(PathBuf),
}

const HEAD: &[u8] = b"# configuration file ";

impl Dump {
    /// Reads the output of `nginx -T`; messages in front of it, and the carriage returns of a terminal, do not
    /// matter. `None` where it is something else.
    ///
    /// # Errors
    /// When nginx said why there is no configuration, or there are several.
    pub fn parse(text: &[u8]) -> Result<Option<Self>, DumpError> {
        let heads = heads(text);
        let Some(first) = heads.first() else {
            return refusal(text).map_or(Ok(None), |why| Err(DumpError::Refused(why)));
        };
        let (main, from_terminal) = (first.path.clone(), first.from_terminal);
        let mut files = Memory::new();
        for (index, head) in heads.iter().enumerate() {
            let end = heads.get(index + 1).map_or(text.len(), |next| next.start);
            if files.kind(&head.path) == Kind::File {
                return Err(DumpError::Twice(head.path.clone()));
            }
            files.insert(&head.path, content(&text[head.end..end], from_terminal));
        }
        Ok(Some(Self { files, main }))
    }

    /// The file that nginx began with.
    pub fn main(&self) -> &Path {
        &self.main
    }
}

/// A line with the name of a file.
struct Head {
    start: usize,
    end: usize,
    path: PathBuf,
    /// Whether a carriage return stands in front of its line feed.
    from_terminal: bool,
}

fn heads(text: &[u8]) -> Vec<Head> {
    let mut heads = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let end = start + line.len();
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        let (bare, from_terminal) = bare.strip_suffix(b"\r").map_or((bare, false), |bare| (bare, true));
        if let Some(path) = bare.strip_prefix(HEAD).and_then(|rest| rest.strip_suffix(b":"))
            && path.starts_with(b"/")
        {
            heads.push(Head { start, end, path: to_path(path), from_terminal });
        }
        start = end;
    }
    heads
}

/// The file's own bytes: nginx puts one line feed behind them.
fn content(text: &[u8], from_terminal: bool) -> Vec<u8> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    if !from_terminal {
        return text.to_vec();
    }
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let mut out = Vec::with_capacity(text.len());
    for (index, &byte) in text.iter().enumerate() {
        if !(byte == b'\r' && text.get(index + 1) == Some(&b'\n')) {
            out.push(byte);
        }
    }
    out
}

/// nginx's own words, where it refused to print a configuration.
fn refusal(text: &[u8]) -> Option<String> {
    let line = text.split(|&byte| byte == b'\n').find(|line| line.starts_with(b"nginx: [emerg]"))?;
    Some(String::from_utf8_lossy(line.trim_ascii_end()).trim_start_matches("nginx: ").to_owned())
}

impl Files for Dump {
    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        self.files.read(path).map_err(|_| io::Error::other("it is not in the dump"))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        // nginx passes over a pattern that matches nothing: then no file of the folder is in the dump.
        Ok(self.files.list(folder).unwrap_or_default())
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.canonical(path)
    }

    fn kind(&self, path: &Path) -> Kind {
        match self.files.kind(path) {
            Kind::Missing => Kind::Unknown,
            known => known,
        }
    }

    fn walk(&self, folder: &Path) -> Walk {
        self.files.walk(folder)
    }

    fn is_link(&self, path: &Path) -> bool {
        self.files.is_link(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dump: &Dump, path: &str) -> String {
        String::from_utf8(dump.read(Path::new(path)).unwrap().to_vec()).unwrap()
    }

    #[test]
    fn files_are_what_they_are_on_the_server() {
        let text = b"nginx: the configuration file /etc/nginx/nginx.conf syntax is ok\n\
            nginx: configuration file /etc/nginx/nginx.conf test is successful\n\
            # configuration file /etc/nginx/nginx.conf:\nevents {}\nhttp { include conf.d/*.conf; }\n\n\
            # configuration file /etc/nginx/conf.d/a.conf:\nserver {}\n";
        let dump = Dump::parse(text).unwrap().unwrap();
        assert_eq!(dump.main(), Path::new("/etc/nginx/nginx.conf"));
        assert_eq!(file(&dump, "/etc/nginx/nginx.conf"), "events {}\nhttp { include conf.d/*.conf; }\n");
        assert_eq!(file(&dump, "/etc/nginx/conf.d/a.conf"), "server {}");
        assert_eq!(dump.list(Path::new("/etc/nginx/conf.d")).unwrap(), ["a.conf"]);
        assert_eq!(dump.list(Path::new("/etc/nginx/empty")).unwrap(), Vec::<OsString>::new());
        assert_eq!(dump.kind(Path::new("/etc/nginx/other.conf")), Kind::Unknown);
    }

    #[test]
    fn a_terminal_adds_one_carriage_return_to_each_line() {
        let text = b"\r\n# configuration file /n.conf:\r\nevents {}\r\r\nhttp {}\r\n\r\n";
        let dump = Dump::parse(text).unwrap().unwrap();
        assert_eq!(file(&dump, "/n.conf"), "events {}\r\nhttp {}\n");
    }

    #[test]
    fn what_is_no_dump_is_none() {
        assert!(Dump::parse(b"events {}\n# configuration file x:\n").unwrap().is_none());
        let refused = b"nginx: [emerg] unknown directive \"x\" in /etc/nginx/nginx.conf:1\nnginx: configuration file test failed\n";
        assert_eq!(
            Dump::parse(refused).unwrap_err().to_string(),
            "nginx printed no configuration, as it refuses it: [emerg] unknown directive \"x\" in /etc/nginx/nginx.conf:1"
        );
        let twice = b"# configuration file /a:\n\n# configuration file /a:\n";
        assert!(matches!(Dump::parse(twice), Err(DumpError::Twice(_))));
    }
}
