//! Making directory names from a partition column's values.
//!
//! Making a name costs more than finding equal values. So we first find equal values by their bytes
//! or dictionary keys, and then only make one name per value.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use herringbone::arrow::array::{Array as _, ArrayRef, cast::AsArray as _, types};
use herringbone::arrow::schema::{DataType, TimeUnit};
use herringbone::{Error, Result};
use herringbone_text::iso8601;

use crate::partition::NULL;

/// The characters to escape, because some systems, shells or readers do not accept them in names.
const ESCAPED: &str = "\"#%'*/:=?\\{}[]^<>|";

/// A directory name, such as `year=2024`.
pub(crate) type Name = Arc<str>;

/// The directory names for a column's values.
#[derive(Debug)]
pub(crate) struct Names {
    /// The distinct names, ordered by their first row.
    names: Vec<Name>,
    /// Each row's name, as an ordinal in `names`.
    row_keys: Vec<u32>,
}

impl Names {
    /// Returns a row's name.
    pub(crate) fn get(&self, row: usize) -> Option<&Name> {
        let ordinal = *self.row_keys.get(row)?;
        self.names.get(ordinal as usize)
    }

    /// Returns one number per row. Rows with the same name share a number.
    pub(crate) fn ordinals(&self) -> &[u32] {
        &self.row_keys
    }
}

/// Returns the directory names for all of a column's values, formatting each distinct value only
/// once.
///
/// # Errors
/// Fails with Unsupported if the type's values cannot be written as text and read back, and with
/// Argument if a value's text is the name for null.
pub(crate) fn names(column: &str, values: &ArrayRef) -> Result<Names> {
    let text = text_of(values).map_err(|error| error.in_column(column))?;
    let mut prefix = String::new();
    escape(&mut prefix, column);
    if prefix.starts_with('.') {
        prefix.replace_range(..1, "%2E");
    }
    prefix.push('=');
    let mut names: Vec<Name> = Vec::new();
    // We look up names by their text, because a dictionary can have distinct values with the same
    // text.
    let mut known: HashMap<Name, u32> = HashMap::new();
    let row_keys = ordinals(values, |row| {
        let mut name = prefix.clone();
        match text(row) {
            Some(value) if value == NULL => {
                let message =
                    format!("the text `{NULL}` stands for null in the names of directories");
                return Err(Error::argument(message).in_column(column));
            }
            Some(value) => escape(&mut name, &value),
            None => name.push_str(NULL),
        }
        let name: Name = name.into();
        // This can't overflow, because a batch has fewer than 2^32 rows: its offsets and keys have
        // 32 bits.
        let next = u32::try_from(names.len()).unwrap_or(u32::MAX);
        Ok(*known.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            next
        }))
    })?;
    Ok(Names { names, row_keys })
}

/// Returns one ordinal per row, the same for equal values. `ordinal` is called with each value's
/// first row to get the value's ordinal.
///
/// # Errors
/// Returns the errors of `ordinal`.
fn ordinals(values: &ArrayRef, mut ordinal: impl FnMut(usize) -> Result<u32>) -> Result<Vec<u32>> {
    let mut row_keys = Vec::with_capacity(values.len());
    let mut null_key = None;
    let mut null = |row: usize, ordinal: &mut dyn FnMut(usize) -> Result<u32>| match null_key {
        Some(known) => Ok(known),
        None => ordinal(row).inspect(|found| null_key = Some(*found)),
    };
    if let Some(dictionary) = values.as_any_dictionary_opt() {
        let keys = match dictionary.values().is_empty() {
            true => Vec::new(),
            false => dictionary.normalized_keys(),
        };
        let mut key_ordinals: Vec<Option<u32>> = vec![None; dictionary.values().len()];
        for row in 0..values.len() {
            let key = keys.get(row).filter(|_| values.is_valid(row));
            row_keys.push(match key.and_then(|key| key_ordinals.get_mut(*key)) {
                None => null(row, &mut ordinal)?,
                Some(Some(known)) => *known,
                Some(unknown) => *unknown.insert(ordinal(row)?),
            });
        }
        return Ok(row_keys);
    }
    let data = values.to_data();
    let fixed = data
        .buffers()
        .first()
        .map_or(&[][..], |buffer| buffer.as_slice());
    let bytes = bytes_of(values, fixed, data.offset());
    let mut value_ordinals: HashMap<&[u8], u32> = HashMap::new();
    let mut last: Option<(&[u8], u32)> = None;
    for row in 0..values.len() {
        if values.is_null(row) {
            row_keys.push(null(row, &mut ordinal)?);
            continue;
        }
        let value = bytes(row);
        let found = match (last, value_ordinals.get(value)) {
            (Some((same, known)), _) if same == value => known,
            (_, Some(known)) => *known,
            (_, None) => *value_ordinals.entry(value).or_insert(ordinal(row)?),
        };
        last = Some((value, found));
        row_keys.push(found);
    }
    Ok(row_keys)
}

/// Returns a function from a non-null row to its value's bytes, the same for equal values. For a
/// fixed-width type, `fixed` has the values, and the array's own values begin at `first`, since the
/// array can be a slice.
fn bytes_of<'a>(
    values: &'a ArrayRef,
    fixed: &'a [u8],
    first: usize,
) -> Box<dyn Fn(usize) -> &'a [u8] + 'a> {
    match values.data_type() {
        DataType::Utf8 => {
            let values = values.as_string::<i32>();
            Box::new(|row| values.value(row).as_bytes())
        }
        DataType::LargeUtf8 => {
            let values = values.as_string::<i64>();
            Box::new(|row| values.value(row).as_bytes())
        }
        DataType::Utf8View => {
            let values = values.as_string_view();
            Box::new(|row| values.value(row).as_bytes())
        }
        DataType::Boolean => {
            let values = values.as_boolean();
            Box::new(|row| if values.value(row) { b"1" } else { b"0" })
        }
        other => {
            let width = other.primitive_width().unwrap_or_default();
            Box::new(move |row| {
                let start = (first + row) * width;
                fixed.get(start..start + width).unwrap_or_default()
            })
        }
    }
}

/// Appends a text, replacing unsuitable characters with percent escapes.
fn escape(out: &mut String, text: &str) {
    for character in text.chars() {
        match character.is_ascii_control() || ESCAPED.contains(character) {
            // Writing to a string can't fail, so we ignore the result.
            true => _ = write!(out, "%{:02X}", u32::from(character)),
            false => out.push(character),
        }
    }
}

/// Returns a function from a row to its value's text, or `None` for null.
fn text_of(values: &ArrayRef) -> Result<Box<dyn Fn(usize) -> Option<String> + '_>> {
    let Some(dictionary) = values.as_any_dictionary_opt() else {
        let text = text_of_valid(values)?;
        return Ok(Box::new(move |row| values.is_valid(row).then(|| text(row))));
    };
    let text = text_of(dictionary.values())?;
    let keys = match dictionary.values().is_empty() {
        true => Vec::new(),
        false => dictionary.normalized_keys(),
    };
    let key = move |row: usize| keys.get(row).copied().filter(|_| values.is_valid(row));
    Ok(Box::new(move |row| text(key(row)?)))
}

/// Returns a function from a non-null row to its value's text.
fn text_of_valid(values: &ArrayRef) -> Result<Box<dyn Fn(usize) -> String + '_>> {
    macro_rules! numbers {
        ($type:ident) => {{
            let values = values.as_primitive::<types::$type>();
            Box::new(move |row| values.value(row).to_string())
        }};
    }
    macro_rules! decimals {
        ($type:ident, $scale:expr) => {{
            let (values, scale) = (values.as_primitive::<types::$type>(), $scale);
            Box::new(move |row| decimal(&values.value(row).to_string(), scale))
        }};
    }
    macro_rules! texts {
        ($values:expr) => {{
            let values = $values;
            Box::new(move |row| values.value(row).to_owned())
        }};
    }
    Ok(match values.data_type() {
        DataType::Utf8 => texts!(values.as_string::<i32>()),
        DataType::LargeUtf8 => texts!(values.as_string::<i64>()),
        DataType::Utf8View => texts!(values.as_string_view()),
        DataType::Boolean => {
            let values = values.as_boolean();
            Box::new(move |row| values.value(row).to_string())
        }
        DataType::Int8 => numbers!(Int8Type),
        DataType::Int16 => numbers!(Int16Type),
        DataType::Int32 => numbers!(Int32Type),
        DataType::Int64 => numbers!(Int64Type),
        DataType::UInt8 => numbers!(UInt8Type),
        DataType::UInt16 => numbers!(UInt16Type),
        DataType::UInt32 => numbers!(UInt32Type),
        DataType::UInt64 => numbers!(UInt64Type),
        DataType::Date32 => {
            let values = values.as_primitive::<types::Date32Type>();
            Box::new(move |row| {
                let mut text = String::new();
                iso8601::push_date(&mut text, values.value(row).into());
                text
            })
        }
        DataType::Timestamp(unit, zone) => {
            macro_rules! ticks {
                ($type:ident, $digits:literal) => {
                    (values.as_primitive::<types::$type>().values(), $digits)
                };
            }
            let (ticks, digits) = match unit {
                TimeUnit::Second => ticks!(TimestampSecondType, 0),
                TimeUnit::Millisecond => ticks!(TimestampMillisecondType, 3),
                TimeUnit::Microsecond => ticks!(TimestampMicrosecondType, 6),
                TimeUnit::Nanosecond => ticks!(TimestampNanosecondType, 9),
            };
            let offset = zone.is_some().then_some(0);
            Box::new(move |row| {
                let mut text = String::new();
                let ticks = ticks.get(row).copied().unwrap_or_default();
                iso8601::push_timestamp(&mut text, ticks, digits, offset);
                // Like SQL and other writers, we put a blank between date and time.
                text.replacen('T', " ", 1)
            })
        }
        DataType::Decimal32(_, scale) => decimals!(Decimal32Type, *scale),
        DataType::Decimal64(_, scale) => decimals!(Decimal64Type, *scale),
        DataType::Decimal128(_, scale) => decimals!(Decimal128Type, *scale),
        DataType::Decimal256(_, scale) => decimals!(Decimal256Type, *scale),
        other => {
            return Err(Error::unsupported(format!(
                "partitions by values of {other}; choose text, an integer, a decimal, a boolean, Date32, a timestamp or a \
                 dictionary of these"
            )));
        }
    })
}

/// Returns a decimal's text. `digits` is the unscaled integer.
fn decimal(digits: &str, scale: i8) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    let places = usize::from(scale.unsigned_abs());
    if scale <= 0 {
        let zeros = if digits == "0" { 0 } else { places };
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    }
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    format!("{sign}{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use herringbone::arrow::array::{
        BooleanArray, Decimal128Array, DictionaryArray, Int8Array, Int32Array, Int64Array,
        StringArray, TimestampMicrosecondArray, TimestampSecondArray,
    };

    use super::*;

    fn of(values: ArrayRef) -> Vec<String> {
        let names = names("p", &values).unwrap();
        let rows = 0..values.len();
        rows.map(|row| names.get(row).unwrap().to_string())
            .collect()
    }

    /// The expected names are pyarrow's, except for the blank, which pyarrow escapes.
    #[test]
    fn timestamps_and_decimals_have_all_digits_of_their_type() {
        let micros = vec![Some(1_704_164_645_600_000), Some(-1), None];
        let array = TimestampMicrosecondArray::from(micros.clone());
        let expected = [
            "p=2024-01-02 03%3A04%3A05.600000",
            "p=1969-12-31 23%3A59%3A59.999999",
            "p=__HIVE_DEFAULT_PARTITION__",
        ];
        assert_eq!(of(Arc::new(array)), expected);
        let array = TimestampMicrosecondArray::from(micros).with_timezone("Europe/Oslo");
        assert_eq!(of(Arc::new(array))[0], "p=2024-01-02 03%3A04%3A05.600000Z");
        let array = TimestampSecondArray::from(vec![1_704_153_600]);
        assert_eq!(of(Arc::new(array)), ["p=2024-01-02 00%3A00%3A00"]);
        let array = Decimal128Array::from(vec![150, -5, 0, 1_234_567_890]);
        let array = array.with_precision_and_scale(10, 2).unwrap();
        assert_eq!(
            of(Arc::new(array)),
            ["p=1.50", "p=-0.05", "p=0.00", "p=12345678.90"]
        );
        assert_eq!(
            ["-15", "0"].map(|digits| decimal(digits, -2)),
            ["-1500", "0"]
        );
        assert_eq!(["-15", "0"].map(|digits| decimal(digits, 0)), ["-15", "0"]);
    }

    #[test]
    fn a_name_is_made_once() {
        let numbers = [7, 3, 7, 7, 3, 5].map(Some).into_iter();
        let numbers: ArrayRef = Arc::new(numbers.chain([None, Some(3)]).collect::<Int64Array>());
        let found = names("p", &numbers.slice(1, 7)).unwrap();
        assert_eq!(found.ordinals(), [0, 1, 1, 0, 2, 3, 0]);
        assert_eq!(found.names.len(), 4);
        assert_eq!(&**found.get(4).unwrap(), "p=5");
        let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, true]));
        assert_eq!(of(flags), ["p=true", "p=false", "p=true"]);
        // Two values of this dictionary have the same text.
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "a"]));
        let array = DictionaryArray::new(Int8Array::from(vec![0, 1, 2]), texts);
        let found = names("p", &(Arc::new(array) as ArrayRef)).unwrap();
        assert_eq!(found.ordinals(), [0, 1, 0]);
    }

    #[test]
    fn dictionaries_have_the_names_of_their_values() {
        let null = "p=__HIVE_DEFAULT_PARTITION__";
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b/c")]));
        let keys = Int8Array::from(vec![Some(2), Some(1), None, Some(0), Some(2)]);
        let array = DictionaryArray::new(keys, texts);
        assert_eq!(
            of(Arc::new(array)),
            ["p=b%2Fc", null, null, "p=a", "p=b%2Fc"]
        );
        let none: ArrayRef = Arc::new(StringArray::new_null(0));
        let array = DictionaryArray::new(Int32Array::new_null(2), none);
        assert_eq!(of(Arc::new(array)), [null, null]);
    }
}
