//! Detects text columns in another country's notation and suggests the option to read them.

/// The notations that fit all values so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hint {
    /// True for each of [`NOTATIONS`] that fits all values.
    fits: [bool; NOTATIONS.len()],
    /// True if some number has other than three digits after its comma. This proves a fraction,
    /// since three digits could also be a thousands group.
    has_fraction: bool,
    has_comma: bool,
    is_empty: bool,
}

/// A test for values and the note for columns that pass it.
type Notation = (fn(&str) -> bool, &'static str);

const NOTATIONS: [Notation; 6] = [
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
    (
        has_thousands,
        "has numbers such as 1,234.50, which stay text; --thousands reads them",
    ),
    (
        is_amount,
        "has amounts with a currency, which stay text; in `herringbone sql`, cast(regexp_replace(COLUMN, \
         '[^0-9.-]', '', 'g') as double) makes 1234.5 of $1,234.50",
    ),
    (
        is_percentage,
        "has percentages, which stay text; in `herringbone sql`, cast(rtrim(COLUMN, ' %') as double) / 100 makes \
         numbers of them",
    ),
];

impl Default for Hint {
    fn default() -> Self {
        Self {
            fits: [true; NOTATIONS.len()],
            has_fraction: false,
            has_comma: false,
            is_empty: true,
        }
    }
}

impl Hint {
    /// Adds a non-null value.
    pub(super) fn add(&mut self, text: &str) {
        self.is_empty = false;
        for (fits, (is_so, _)) in self.fits.iter_mut().zip(NOTATIONS) {
            *fits = *fits && is_so(text);
        }
        let fraction = text.rsplit_once(',').map_or(3, |(_, digits)| digits.len());
        self.has_fraction |= fraction != 3;
        self.has_comma |= text.contains(',');
    }

    /// Returns the note about the column.
    pub(super) fn note(&self) -> Option<&'static str> {
        let [has_decimal_comma, _, _, has_thousands, ..] = self.fits;
        if self.is_empty || has_thousands && !self.has_comma {
            return None;
        }
        if has_decimal_comma && has_thousands {
            return Some(
                "has numbers with commas, which stay text; --thousands reads 1,234 as 1234, and --decimal-comma as 1.234",
            );
        }
        if has_decimal_comma && !self.has_fraction {
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

/// Returns true for a number such as 1,234.50 or 0.5.
fn has_thousands(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let has_groups = whole.contains(',');
    are_digits(first)
        && are_digits(fraction)
        && (!has_groups || first.len() <= 3)
        && groups.all(|group| group.len() == 3 && are_digits(group))
}

/// Returns true for an amount such as $1,234.50, 12 EUR or ($5.00).
fn is_amount(text: &str) -> bool {
    const CURRENCIES: [&str; 10] = ["$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "CHF", "JPY"];
    let inner = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    let text = inner.unwrap_or(text);
    let text = text.strip_prefix('-').unwrap_or(text);
    let cut = |currency: &&str| {
        text.strip_prefix(*currency)
            .or(text.strip_suffix(*currency))
    };
    let number = CURRENCIES.iter().find_map(cut).map(str::trim);
    number.is_some_and(|number| has_thousands(number) || has_decimal_comma(number))
}

/// Returns true for a percentage such as 12% or 12.5 %.
fn is_percentage(text: &str) -> bool {
    let number = text.strip_suffix('%').map(str::trim_end);
    number.is_some_and(|number| has_thousands(number) || has_decimal_comma(number))
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
        assert_eq!(option(&["1,234.50", "7"]), Some("--thousands"));
        assert_eq!(option(&["1,234,567", "0.5"]), Some("--thousands"));
        for values in [
            &["$1,234.50", "-$7"][..],
            &["12 EUR"],
            &["($5.00)"],
            &["1.234,50 €"],
            &["12%", "0.5 %"],
        ] {
            assert_eq!(option(values), Some("in"), "{values:?}");
        }
        // A comma is either a decimal mark or a thousands separator.
        assert_eq!(option(&["1,234", "5,678"]), Some("--thousands"));
        for values in [
            &["1.23,4"][..],
            &["$"],
            &["$x"],
            &["12", "5%"],
            &["%"],
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
