//! Numbers, sizes and times as nginx reads them (`ngx_atoi`, `ngx_parse_size`, `ngx_parse_time`).

/// A whole number of decimal digits.
pub fn number(text: &[u8]) -> Option<i64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A size in bytes: `512`, `8k`, `1M`; with `large` also `2g`.
pub fn size(text: &[u8], large: bool) -> Option<i64> {
    let (&unit, digits) = text.split_last()?;
    let (digits, scale) = match unit {
        b'k' | b'K' => (digits, 1 << 10),
        b'm' | b'M' => (digits, 1 << 20),
        b'g' | b'G' if large => (digits, 1 << 30),
        _ => (text, 1),
    };
    number(digits)?.checked_mul(scale)
}

/// The unit without which a time is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Times with a resolution of milliseconds; `ms` is allowed, `y` and `M` are not.
    Milliseconds,
    /// Times with a resolution of seconds; `y` and `M` are allowed, `ms` is not.
    Seconds,
}

/// A time in milliseconds: `30`, `30s`, `1h30m`, `"1d 12h"`. A number without a unit is seconds.
pub fn time(text: &[u8], unit: TimeUnit) -> Option<i64> {
    // Larger units come first, each at most once.
    const UNITS: [(&[u8], i64); 8] = [
        (b"y", 365 * 86_400_000),
        (b"M", 30 * 86_400_000),
        (b"w", 7 * 86_400_000),
        (b"d", 86_400_000),
        (b"h", 3_600_000),
        (b"m", 60_000),
        (b"s", 1000),
        (b"ms", 1),
    ];
    let seconds = unit == TimeUnit::Seconds;
    let allowed = if seconds { 0..7 } else { 2..8 };
    let (mut next, mut total, mut rest, mut valid) = (allowed.start, 0i64, text, false);
    while !rest.is_empty() {
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let value = if digits == 0 { 0 } else { number(&rest[..digits])? };
        valid |= digits > 0;
        rest = &rest[digits..];
        let letters = if rest.starts_with(b"ms") { 2 } else { 1.min(rest.len()) };
        let (place, scale) = match &rest[..letters] {
            b"" => (8, 1000),
            // A number, then a space: seconds, and nothing may follow.
            b" " if next <= 6 => (8, 1000),
            b" " => return None,
            unit => {
                let place = UNITS.iter().position(|(name, _)| *name == unit)?;
                (allowed.contains(&place) && place >= next).then_some((place, UNITS[place].1))?
            }
        };
        next = place + 1;
        total = total.checked_add(value.checked_mul(scale)?)?;
        rest = &rest[letters..];
        rest = &rest[rest.iter().take_while(|b| **b == b' ').count()..];
    }
    valid.then_some(total)
}

/// What someone most likely meant by a size or time with a unit that nginx does not know, where there
/// is one answer: `10MB` is `10m`, `30sec` is `30s`.
pub fn meant(text: &[u8], is_time: bool) -> Option<String> {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (count, unit) = (std::str::from_utf8(&text[..digits]).ok()?, std::str::from_utf8(&text[digits..]).ok()?);
    if count.is_empty() {
        return None;
    }
    let unit = unit.trim().to_ascii_lowercase();
    let unit = match (is_time, unit.as_str()) {
        (false, "b" | "byte" | "bytes") => "",
        (false, "kb" | "kib") => "k",
        (false, "mb" | "mib") => "m",
        (true, "sec" | "secs" | "second" | "seconds") => "s",
        (true, "min" | "mins" | "minute" | "minutes") => "m",
        (true, "hr" | "hrs" | "hour" | "hours") => "h",
        (true, "day" | "days") => "d",
        _ => return None,
    };
    Some(format!("{count}{unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size(b"8k", false), Some(8192));
        assert_eq!(size(b"1M", false), Some(1 << 20));
        assert_eq!(size(b"1g", true), Some(1 << 30));
        for bad in ["", "k", "1g", "10MB", "1.5m", "-1", " 1", "99999999999999999999"] {
            assert_eq!(size(bad.as_bytes(), false), None, "{bad}");
        }
    }

    #[test]
    fn times() {
        let ms = |text: &str| time(text.as_bytes(), TimeUnit::Milliseconds);
        let s = |text: &str| time(text.as_bytes(), TimeUnit::Seconds);
        assert_eq!((ms("60"), ms("60s"), ms("500ms")), (Some(60_000), Some(60_000), Some(500)));
        assert_eq!((ms("1h30m"), ms("1h 30m"), ms("1m30")), (Some(5_400_000), Some(5_400_000), Some(90_000)));
        assert_eq!((s("1y"), s("1M"), s("500ms")), (Some(31_536_000_000), Some(2_592_000_000), None));
        for bad in ["", "s1m", "1m1h", "1s1s", "1y", "1M", "1.5s", "30sec", "-1s", "1 s", "ms"] {
            assert_eq!(ms(bad), None, "{bad}");
        }
        assert_eq!(ms("1s30"), Some(31_000));
        assert_eq!(ms("1s 30"), Some(31_000));
    }

    #[test]
    fn what_was_meant() {
        assert_eq!(meant(b"10MB", false).as_deref(), Some("10m"));
        assert_eq!(meant(b"30sec", true).as_deref(), Some("30s"));
        assert_eq!(meant(b"10x", true), None);
        assert_eq!(meant(b"1gb", false), None);
    }
}
