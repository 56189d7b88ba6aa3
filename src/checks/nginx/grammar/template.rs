//! Marks of generators that fill a file before a server reads it.

use std::path::Path;

/// Whether a text has marks that a generator fills: `{{ … }}`, `{% … %}`, `<% … %>`, `%%NAME%%`, `@NAME@`, and in
/// files named as templates `${NAME}`.
pub(crate) fn has_marks(path: &Path, text: &[u8]) -> bool {
    let named = is_named_template(path);
    memchr::memchr3_iter(b'{', b'%', b'@', text).any(|at| {
        let before = at.checked_sub(1).map(|before| text[before]);
        let next = |offset: usize| text.get(at + offset).copied().unwrap_or_default();
        match text[at] {
            b'{' if before == Some(b'$') => named && next(1).is_ascii_uppercase(),
            b'{' if next(1) == b'{' => {
                next(2).is_ascii_alphabetic() || matches!(next(2), b' ' | b'-' | b'.' | b'#' | b'/')
            }
            b'%' if before == Some(b'{') => matches!(next(1), b' ' | b'-'),
            b'%' if before == Some(b'<') => matches!(next(1), b' ' | b'=' | b'-'),
            b'%' => next(1) == b'%' && enclosed(&text[at..], b"%%"),
            b'@' => enclosed(&text[at..], b"@"),
            _ => false,
        }
    })
}

/// `%%NAME%%`, `@NAME@`: a name in capitals between two marks, the first of which `text` begins with.
fn enclosed(text: &[u8], mark: &[u8]) -> bool {
    let rest = &text[mark.len()..];
    let name = rest.iter().take_while(|b| b.is_ascii_uppercase() || **b == b'_' || b.is_ascii_digit()).count();
    name > 1 && rest[name..].starts_with(mark)
}

fn is_named_template(path: &Path) -> bool {
    const ENDINGS: [&[u8]; 9] = [b"template", b"tmpl", b"tpl", b"j2", b"erb", b"gtpl", b"in", b"ctmpl", b"mustache"];
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.split(|&b| b == b'.').skip(1).any(|part| ENDINGS.iter().any(|ending| part.eq_ignore_ascii_case(ending)))
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
