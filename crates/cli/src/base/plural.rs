//! Counts with a noun.

/// Formats a count, such as `1 row` or `2 rows`. The plural of the noun must be formed with an `s`.
pub(crate) fn counted(count: impl Into<i128>, noun: &str) -> String {
    match count.into() {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

/// Formats a size, such as `1.5 MiB`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_alone_is_singular() {
        let counts = [0, 1, 2].map(|count| counted(count, "row"));
        assert_eq!(counts, ["0 rows", "1 row", "2 rows"]);
    }
}
