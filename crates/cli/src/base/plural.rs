//! Formats counts and sizes for people.

/// Formats a count with its noun, such as `1 row` or `2 rows`. The noun must form its plural with
/// an `s`.
pub(crate) fn counted(count: impl Into<i128>, noun: &str) -> String {
    match count.into() {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

/// Formats a byte count as a size, such as `1.5 MiB`.
pub(crate) fn size(bytes: i128) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64;
    let mut unit = None;
    for name in UNITS {
        if value.abs() < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = Some(name);
    }
    match unit {
        None => counted(bytes, "byte"),
        Some(unit) => format!("{value:.1} {unit}"),
    }
}

/// Adds thousands separators to a whole number. Other texts stay unchanged.
pub(crate) fn grouped(text: &str) -> String {
    let is_whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_whole {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() * 4 / 3);
    for (at, digit) in text.char_indices() {
        if at > 0 && (text.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_have_commas() {
        for (text, expected) in [
            ("0", "0"),
            ("999", "999"),
            ("1000", "1,000"),
            ("12345678", "12,345,678"),
            ("1234.5", "1234.5"),
            ("", ""),
            ("-1000", "-1000"),
        ] {
            assert_eq!(grouped(text), expected);
        }
    }

    #[test]
    fn one_alone_is_singular() {
        let counts = [0, 1, 2].map(|count| counted(count, "row"));
        assert_eq!(counts, ["0 rows", "1 row", "2 rows"]);
    }
}
