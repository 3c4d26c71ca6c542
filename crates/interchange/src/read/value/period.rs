//! Parses ISO 8601 periods such as `P1Y2M3W4DT5H6M7.8S`. Each part can have its own sign.

/// A period in Arrow's units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Period {
    pub(super) months: i32,
    pub(super) days: i32,
    pub(super) nanos: i128,
}

/// Parses a period, or returns `None` if the text is not a period.
pub(super) fn period(text: &str) -> Option<Period> {
    let (date, time) = text
        .strip_prefix('P')?
        .split_once('T')
        .unwrap_or((text.get(1..)?, ""));
    if date.is_empty() && time.is_empty() {
        return None;
    }
    let mut period = Period::default();
    for (number, unit) in parts(date)? {
        let number: i32 = number.parse().ok()?;
        let (months, days) = match unit {
            'Y' => (12, 0),
            'M' => (1, 0),
            'W' => (0, 7),
            'D' => (0, 1),
            _ => return None,
        };
        period.months = period.months.checked_add(number.checked_mul(months)?)?;
        period.days = period.days.checked_add(number.checked_mul(days)?)?;
    }
    for (number, unit) in parts(time)? {
        let seconds = match unit {
            'H' => 3600,
            'M' => 60,
            'S' => 1,
            _ => return None,
        };
        period.nanos = period
            .nanos
            .checked_add(nanos(number)?.checked_mul(seconds)?)?;
    }
    Some(period)
}

/// Splits the text into pairs of number and unit.
fn parts(text: &str) -> Option<Vec<(&str, char)>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|character: char| character.is_ascii_alphabetic())?;
        let (number, tail) = rest.split_at(end);
        let unit = tail.chars().next()?;
        parts.push((number, unit));
        rest = tail.get(1..)?;
    }
    Some(parts)
}

/// Parses a number with up to nine digits after the point, in billionths.
fn nanos(number: &str) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if fraction.len() > 9 || !digits(fraction) || (number.contains('.') && fraction.is_empty()) {
        return None;
    }
    let billionths: i128 = format!("{fraction:0<9}").parse().ok()?;
    let sign = if whole.starts_with('-') { -1 } else { 1 };
    let whole: i128 = whole.parse().ok()?;
    whole
        .checked_mul(1_000_000_000)?
        .checked_add(sign * billionths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts_of(text: &str) -> Option<(i32, i32, i128)> {
        period(text).map(|period| (period.months, period.days, period.nanos))
    }

    #[test]
    fn periods_have_parts() {
        assert_eq!(parts_of("P1M2DT3.000000004S"), Some((1, 2, 3_000_000_004)));
        assert_eq!(parts_of("PT0S"), Some((0, 0, 0)));
        assert_eq!(parts_of("P-1M2DT-0.5S"), Some((-1, 2, -500_000_000)));
        assert_eq!(parts_of("P1Y2M3W4D"), Some((14, 25, 0)));
        assert_eq!(parts_of("PT1H1M1S"), Some((0, 0, 3_661_000_000_000)));
        let least = i128::from(i64::MIN);
        assert_eq!(parts_of("PT-9223372036.854775808S"), Some((0, 0, least)));
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in [
            "",
            "P",
            "PT",
            "1M",
            "P1",
            "PM",
            "P1S",
            "PT1D",
            "P1.5M",
            "PT1.S",
            "PT.5S",
            "PTxS",
            "PT1.0000000001S",
            "P99999999999M",
        ] {
            assert_eq!(parts_of(text), None, "{text}");
        }
    }
}
