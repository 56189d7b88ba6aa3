//! Marks of generators that fill a file before a server reads it.

use std::path::Path;

use memchr::memmem;

/// Whether a text has marks that a generator fills: `{{ … }}`, `{% … %}`, `<% … %>`, `%%NAME%%`, `@NAME@`, and in
/// files named as templates `${NAME}`.
pub(crate) fn has_marks(path: &Path, text: &[u8]) -> bool {
    let opens = |mark: &[u8], inside: fn(u8) -> bool| {
        memmem::find_iter(text, mark).any(|at| text.get(at + mark.len()).is_some_and(|&b| inside(b)))
    };
    let spaced = |b: u8| b == b' ' || b == b'-' || b == b'.' || b == b'#' || b == b'/' || b.is_ascii_alphabetic();
    opens(b"{{", spaced)
        || opens(b"{%", |b| b == b' ' || b == b'-')
        || opens(b"<%", |b| matches!(b, b' ' | b'=' | b'-'))
        || enclosed(text, b"%%")
        || enclosed(text, b"@")
        || (is_named_template(path) && opens(b"${", |b| b.is_ascii_uppercase()))
}

/// `%%NAME%%`, `@NAME@`: a name in capitals between two marks.
fn enclosed(text: &[u8], mark: &[u8]) -> bool {
    memmem::find_iter(text, mark).any(|at| {
        let rest = &text[at + mark.len()..];
        let name = rest.iter().take_while(|b| b.is_ascii_uppercase() || **b == b'_' || b.is_ascii_digit()).count();
        name > 1 && rest[name..].starts_with(mark)
    })
}

fn is_named_template(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    ["template", "tmpl", "tpl", "j2", "erb", "gtpl", "in", "ctmpl", "mustache"]
        .iter()
        .any(|end| name.ends_with(&format!(".{end}")) || name.contains(&format!(".{end}.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_seen_and_nginx_is_not_taken_for_them() {
        let marked = |text: &str| has_marks(Path::new("nginx.conf"), text.as_bytes());
        for text in [
            "listen {{ port }};",
            "{{#if a}}",
            "{% if a %}",
            "root <%= @root %>;",
            "root %%ROOT%%;",
            "root @ROOT_DIR@;",
        ] {
            assert!(marked(text), "{text}");
        }
        for text in [
            "log_format j '{\"a\":{\"b\":1}}';",
            "location ~ ^/a{2}$ { }",
            "error_page 404 @fallback;",
            "listen ${PORT};",
            "return 200 a@b@c;",
            "rewrite \"^/x{{2}}\" /;",
        ] {
            assert!(!marked(text), "{text}");
        }
        assert!(has_marks(Path::new("default.conf.template"), b"listen ${PORT};"));
        assert!(!has_marks(Path::new("default.conf.template"), b"listen 80; set $a ${host};"));
    }
}
