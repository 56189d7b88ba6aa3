use super::*;

fn words(text: &[u8]) -> Vec<Vec<u8>> {
    let parsed = parse(FileId(0), text);
    assert_eq!(parsed.errors, []);
    let value = |word: &WordData| match (&word.value, word.quote) {
        (Some(value), _) => value.to_vec(),
        (None, Quote::Bare) => text[word.span.range()].to_vec(),
        (None, _) => text[word.span.start as usize + 1..word.span.end as usize - 1].to_vec(),
    };
    parsed.tree.words.iter().map(value).collect()
}

#[test]
fn words_end_where_nginx_ends_them() {
    assert_eq!(words(b"a ${b}c}d#e \\; f\\;g;"), [&b"a"[..], b"${b}c}d#e", b"\\;", b"f\\;g"]);
    assert_eq!(words(b"if ($x = \"a b\"){}"), [&b"if"[..], b"($x", b"=", b"a b", b")"]);
    assert_eq!(words(b"a '{;\\'' \"\\\"\\\\\\t\\d\";"), [&b"a"[..], b"{;'", b"\"\\\t\\d"]);
    assert_eq!(words(b"a \"\" \"\n\";"), [&b"a"[..], b"", b"\n"]);
}

#[test]
fn blocks_hold_what_stands_in_them() {
    let tree = parse(FileId(0), b"a{b;c{d;}}e;").tree;
    let ends: Vec<_> = tree.nodes.iter().map(|node| (node.parent, node.end)).collect();
    assert_eq!(ends, [(u32::MAX, 4), (0, 2), (0, 4), (2, 4), (u32::MAX, 5)]);
}
