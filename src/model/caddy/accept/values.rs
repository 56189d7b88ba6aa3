//! Values as Go and Caddy read them.

/// A duration: `1h30m`, `1d`, `0`.
pub(super) fn is_duration(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    if text == "0" {
        return true;
    }
    let mut rest = text;
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        if number == 0 || rest[..number].parse::<f64>().is_err() {
            return false;
        }
        rest = &rest[number..];
        let unit = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        if !matches!(&rest[..unit], "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h" | "d") {
            return false;
        }
        rest = &rest[unit..];
    }
    !text.is_empty()
}

/// A size: `10`, `10MB`, `1.5 GiB`.
pub(super) fn is_size(text: &str) -> bool {
    let number = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(text.len());
    if text[..number].replace(',', "").parse::<f64>().is_err() {
        return false;
    }
    let unit = text[number..].trim().to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let unit = unit.strip_suffix('i').unwrap_or(unit);
    matches!(unit, "" | "k" | "m" | "g" | "t" | "p" | "e")
}

/// A whole number.
pub(super) fn is_int(text: &str) -> bool {
    text.strip_prefix('+').unwrap_or(text).parse::<i64>().is_ok()
}

/// A status code of three digits, or a class such as `5xx`.
pub(super) fn is_status(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 3 && bytes[0].is_ascii_digit() && (&bytes[1..] == b"xx" || bytes.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_sizes_and_codes() {
        for text in ["5s", "1h30m", "1d", "1.5h", "0", "-1s", "100ms"] {
            assert!(is_duration(text), "{text}");
        }
        for text in ["5", "", "s", "1w", "1 s", "{d}"] {
            assert!(!is_duration(text), "{text}");
        }
        for text in ["10", "10mb", "1.5GiB", "10 kB", "1k"] {
            assert!(is_size(text), "{text}");
        }
        for text in ["", "mb", "10x", "unlimited"] {
            assert!(!is_size(text), "{text}");
        }
        assert!(is_status("404") && is_status("5xx") && !is_status("40") && !is_status("x04"));
    }
}
