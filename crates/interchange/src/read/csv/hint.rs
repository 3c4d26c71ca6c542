//! Columns of text whose values have the notation of another country, and the option that reads them.

/// The notations that all values have so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hint {
    /// True for each of [`NOTATIONS`] that all values have.
    fits: [bool; NOTATIONS.len()],
    /// True if a number has other than three digits after its comma, which may otherwise stand between thousands.
    has_fraction: bool,
    is_empty: bool,
}

/// A test of values, and the note about columns of such values.
type Notation = (fn(&str) -> bool, &'static str);

const NOTATIONS: [Notation; 3] = [
    (
        has_decimal_comma,
        "has numbers with a decimal comma, which stay text; --decimal-comma reads them",
    ),
    (
        |text| is_date(text, '.'),
        "has dates such as 31.12.2024, which stay text; --date-format %d.%m.%Y reads them",
    ),
    (
        |text| is_date(text, '/'),
        "has dates with slashes, which stay text; --date-format %d/%m/%Y or %m/%d/%Y reads them",
    ),
];

impl Default for Hint {
    fn default() -> Self {
        Self {
            fits: [true; NOTATIONS.len()],
            has_fraction: false,
            is_empty: true,
        }
    }
}

impl Hint {
    /// Adds a value other than null.
    pub(super) fn add(&mut self, text: &str) {
        self.is_empty = false;
        for (fits, (is_so, _)) in self.fits.iter_mut().zip(NOTATIONS) {
            *fits = *fits && is_so(text);
        }
        let fraction = text.rsplit_once(',').map_or(3, |(_, digits)| digits.len());
        self.has_fraction |= fraction != 3;
    }

    /// Returns the note about the column.
    pub(super) fn note(&self) -> Option<&'static str> {
        let [is_number, ..] = self.fits;
        if self.is_empty || is_number && !self.has_fraction {
            return None;
        }
        let mut notes = self.fits.iter().zip(NOTATIONS);
        let note = notes.find(|(fits, _)| **fits);
        note.map(|(_, (_, note))| note)
    }
}

/// Returns true for a number such as 1.234,50 or 0,5.
fn has_decimal_comma(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let Some((whole, fraction)) = text.split_once(',') else {
        return false;
    };
    let mut groups = whole.split('.');
    let first = groups.next().unwrap_or_default();
    let are_groups = groups.clone().count() == 0 || first.len() <= 3;
    are_digits(first)
        && are_digits(fraction)
        && are_groups
        && groups.all(|group| group.len() == 3 && are_digits(group))
}

/// Returns true for a date such as 31.12.2024 or 4/25/2024.
fn is_date(text: &str, separator: char) -> bool {
    let parts: Vec<&str> = text.splitn(4, separator).collect();
    let [first, second, year] = parts.as_slice() else {
        return false;
    };
    let is_short = |part: &str| part.len() <= 2 && are_digits(part);
    is_short(first) && is_short(second) && year.len() == 4 && are_digits(year)
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(values: &[&str]) -> Option<&'static str> {
        let mut hint = Hint::default();
        values.iter().for_each(|value| hint.add(value));
        hint.note()
            .and_then(|note| note.split_once("; "))?
            .1
            .split(' ')
            .next()
    }

    #[test]
    fn notations_of_other_countries_have_options() {
        assert_eq!(
            option(&["1.234,50", "-0,5", "7,125"]),
            Some("--decimal-comma")
        );
        assert_eq!(option(&["31.12.2024", "1.2.2024"]), Some("--date-format"));
        assert_eq!(option(&["04/25/2024"]), Some("--date-format"));
        for values in [
            // A comma may stand between thousands.
            &["1,234", "5,678"][..],
            &["1.23,4"],
            &["1234.567,8"],
            &["31.12.2024", "soon"],
            &["31.12.24"],
            &["1.2.3.2024"],
            &["192.168.1.1"],
            &["5", "6,5"],
            &[],
        ] {
            assert_eq!(option(values), None, "{values:?}");
        }
    }
}
