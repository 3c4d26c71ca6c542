//! The normal form of values, which is one line of JSON per slot of an Arrow array.
//!
//! `testdata/scripts/canonical.py` writes the same text in Python, and describes its format.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::*;
use herringbone_arrow::array::{
    Array, ArrowPrimitiveType, OffsetSizeTrait, PrimitiveArray, RunArray,
};
use herringbone_arrow::schema::{DataType, Field, IntervalUnit, TimeUnit};

/// Returns an Arrow type in words, without the names of list elements and map entries.
pub fn type_text(data_type: &DataType) -> String {
    use DataType::*;
    match data_type {
        Boolean => "bool".into(),
        Null | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 | Float16
        | Float32 | Float64 | Utf8 | Binary | Date32 | Date64 => {
            format!("{data_type:?}").to_lowercase()
        }
        LargeUtf8 => "large_utf8".into(),
        Utf8View => "utf8_view".into(),
        LargeBinary => "large_binary".into(),
        BinaryView => "binary_view".into(),
        FixedSizeBinary(n) => format!("fixed_size_binary[{n}]"),
        Time32(unit) => format!("time32[{}]", unit_text(unit)),
        Time64(unit) => format!("time64[{}]", unit_text(unit)),
        Duration(unit) => format!("duration[{}]", unit_text(unit)),
        Timestamp(unit, None) => format!("timestamp[{}]", unit_text(unit)),
        Timestamp(unit, Some(zone)) => format!("timestamp[{}, {zone}]", unit_text(unit)),
        Interval(IntervalUnit::MonthDayNano) => "interval[month_day_nano]".into(),
        Interval(IntervalUnit::DayTime) => "interval[day_time]".into(),
        Interval(IntervalUnit::YearMonth) => "interval[year_month]".into(),
        Decimal32(p, s) => format!("decimal32({p}, {s})"),
        Decimal64(p, s) => format!("decimal64({p}, {s})"),
        Decimal128(p, s) => format!("decimal128({p}, {s})"),
        Decimal256(p, s) => format!("decimal256({p}, {s})"),
        List(field) => format!("list<{}>", slot_text(field)),
        LargeList(field) => format!("large_list<{}>", slot_text(field)),
        ListView(field) => format!("list_view<{}>", slot_text(field)),
        LargeListView(field) => format!("large_list_view<{}>", slot_text(field)),
        FixedSizeList(field, n) => format!("fixed_size_list<{}>[{n}]", slot_text(field)),
        Map(entries, _) => match entries.data_type() {
            Struct(fields) if fields.len() == 2 => {
                format!("map<{}, {}>", slot_text(&fields[0]), slot_text(&fields[1]))
            }
            other => format!("map of {other}"),
        },
        Struct(fields) => {
            let fields: Vec<_> = fields
                .iter()
                .map(|f| format!("{}: {}", f.name(), slot_text(f)))
                .collect();
            format!("struct<{}>", fields.join(", "))
        }
        Dictionary(keys, values) => {
            format!("dictionary<{}, {}>", type_text(keys), type_text(values))
        }
        other => format!("{other:?}"),
    }
}

/// Returns a field's type, with its extension and nullability.
pub fn slot_text(field: &Field) -> String {
    let storage = type_text(field.data_type());
    let text = match field.metadata().get("ARROW:extension:name") {
        Some(name) => format!("extension {name}({storage})"),
        None => storage,
    };
    if field.is_nullable() {
        text
    } else {
        text + " not null"
    }
}

fn unit_text(unit: &TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

fn digits(unit: &TimeUnit) -> usize {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

/// Returns one text per slot.
pub fn lines(array: &dyn Array) -> Vec<String> {
    let texts = unmasked(array);
    assert_eq!(texts.len(), array.len());
    let Some(nulls) = array.logical_nulls() else {
        return texts;
    };
    texts
        .into_iter()
        .zip(nulls.iter())
        .map(|(text, valid)| if valid { text } else { "null".to_owned() })
        .collect()
}

/// Returns the texts of all slots, where null slots may have any text.
fn unmasked(array: &dyn Array) -> Vec<String> {
    use DataType::*;
    match array.data_type() {
        Null => vec!["null".to_owned(); array.len()],
        Boolean => array
            .as_boolean()
            .values()
            .iter()
            .map(|v| v.to_string())
            .collect(),
        Int8 => numbers::<Int8Type>(array),
        Int16 => numbers::<Int16Type>(array),
        Int32 => numbers::<Int32Type>(array),
        Int64 => numbers::<Int64Type>(array),
        UInt8 => numbers::<UInt8Type>(array),
        UInt16 => numbers::<UInt16Type>(array),
        UInt32 => numbers::<UInt32Type>(array),
        UInt64 => numbers::<UInt64Type>(array),
        Float16 => each::<Float16Type>(array, |v| {
            float_text(f64::from(v), u64::from(v.to_bits()), 0x7e00, 4)
        }),
        Float32 => each::<Float32Type>(array, |v| {
            float_text(f64::from(v), u64::from(v.to_bits()), 0x7fc0_0000, 8)
        }),
        Float64 => each::<Float64Type>(array, |v| {
            float_text(v, v.to_bits(), 0x7ff8_0000_0000_0000, 16)
        }),
        Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => {
            byte_texts(array)
        }
        Decimal32(_, scale) => {
            each::<Decimal32Type>(array, |v| decimal_text(v.to_string(), *scale))
        }
        Decimal64(_, scale) => {
            each::<Decimal64Type>(array, |v| decimal_text(v.to_string(), *scale))
        }
        Decimal128(_, scale) => {
            each::<Decimal128Type>(array, |v| decimal_text(v.to_string(), *scale))
        }
        Decimal256(_, scale) => {
            each::<Decimal256Type>(array, |v| decimal_text(v.to_string(), *scale))
        }
        List(_) | LargeList(_) | ListView(_) | LargeListView(_) | FixedSizeList(..) | Map(..)
        | Struct(_) | Dictionary(..) => nested(array),
        RunEndEncoded(ends, _) => match ends.data_type() {
            Int16 => runs::<Int16Type>(array),
            Int32 => runs::<Int32Type>(array),
            _ => runs::<Int64Type>(array),
        },
        _ => temporal(array),
    }
}

fn each<T: ArrowPrimitiveType>(
    array: &dyn Array,
    text: impl Fn(T::Native) -> String,
) -> Vec<String> {
    array
        .as_primitive::<T>()
        .values()
        .iter()
        .map(|v| text(*v))
        .collect()
}

fn numbers<T: ArrowPrimitiveType>(array: &dyn Array) -> Vec<String>
where
    T::Native: ToString,
{
    each::<T>(array, |v| v.to_string())
}

fn float_text(value: f64, bits: u64, usual_nan: u64, hex: usize) -> String {
    if value.is_nan() {
        if bits == usual_nan {
            "\"NaN\"".into()
        } else {
            format!("\"NaN(0x{bits:0hex$x})\"")
        }
    } else if value.is_infinite() {
        format!("\"{}Infinity\"", if value < 0.0 { "-" } else { "" })
    } else {
        // We round half to even, to the digit count of the shortest text. If two shortest texts are
        // equally close, languages choose different ones.
        let shortest = format!("{value:e}");
        let digits = shortest
            .split('e')
            .next()
            .unwrap()
            .bytes()
            .filter(u8::is_ascii_digit)
            .count();
        format!("{value:.*e}", digits - 1)
    }
}

fn decimal_text(unscaled: String, scale: i8) -> String {
    let (sign, number) = match unscaled.strip_prefix('-') {
        Some(number) => ("-", number.to_owned()),
        None => ("", unscaled),
    };
    if scale <= 0 {
        return format!(
            "\"{sign}{number}{}\"",
            "0".repeat(usize::from(scale.unsigned_abs()))
        );
    }
    let scale = usize::from(scale.unsigned_abs());
    let number = format!("{number:0>width$}", width = scale + 1);
    let (whole, fraction) = number.split_at(number.len() - scale);
    format!("\"{sign}{whole}.{fraction}\"")
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn base64(bytes: &[u8]) -> String {
    format!("\"{}\"", STANDARD.encode(bytes))
}

fn byte_texts(array: &dyn Array) -> Vec<String> {
    let slots = 0..array.len();
    // A null slot of a view array may contain anything, so we only read valid slots.
    let at = |i: usize, text: &dyn Fn(usize) -> String| {
        if array.is_valid(i) {
            text(i)
        } else {
            String::new()
        }
    };
    let texts: Box<dyn Fn(usize) -> String> = match array.data_type() {
        DataType::Utf8 => Box::new(|i| quoted(array.as_string::<i32>().value(i))),
        DataType::LargeUtf8 => Box::new(|i| quoted(array.as_string::<i64>().value(i))),
        DataType::Utf8View => Box::new(|i| quoted(array.as_string_view().value(i))),
        DataType::Binary => Box::new(|i| base64(array.as_binary::<i32>().value(i))),
        DataType::LargeBinary => Box::new(|i| base64(array.as_binary::<i64>().value(i))),
        DataType::BinaryView => Box::new(|i| base64(array.as_binary_view().value(i))),
        _ => Box::new(|i| base64(array.as_fixed_size_binary().value(i))),
    };
    slots.map(|i| at(i, &*texts)).collect()
}

fn nested(array: &dyn Array) -> Vec<String> {
    match array.data_type() {
        DataType::List(_) => list::<i32>(array),
        DataType::LargeList(_) => list::<i64>(array),
        DataType::ListView(_) => list_view::<i32>(array),
        DataType::LargeListView(_) => list_view::<i64>(array),
        DataType::FixedSizeList(_, n) => {
            let n = usize::try_from(*n).unwrap();
            let elements = lines(array.as_fixed_size_list().values());
            (0..array.len())
                .map(|i| bracketed(&elements[i * n..(i + 1) * n]))
                .collect()
        }
        DataType::Map(..) => {
            let map = array.as_map();
            let (keys, values) = (lines(map.keys()), lines(map.values()));
            let pairs: Vec<_> = keys
                .iter()
                .zip(&values)
                .map(|(key, value)| format!("[{key},{value}]"))
                .collect();
            map.offsets()
                .windows(2)
                .map(|w| range(&pairs, w[0], w[1]))
                .collect()
        }
        DataType::Struct(fields) => {
            let names: Vec<_> = fields.iter().map(|f| quoted(f.name())).collect();
            let columns: Vec<_> = array
                .as_struct()
                .columns()
                .iter()
                .map(|child| lines(child))
                .collect();
            (0..array.len())
                .map(|i| {
                    let parts: Vec<_> = names
                        .iter()
                        .zip(&columns)
                        .map(|(name, column)| format!("{name}:{}", column[i]))
                        .collect();
                    format!("{{{}}}", parts.join(","))
                })
                .collect()
        }
        _ => {
            let dictionary = array.as_any_dictionary();
            let values = lines(dictionary.values());
            let keys = if values.is_empty() {
                vec![0; array.len()]
            } else {
                dictionary.normalized_keys()
            };
            keys.iter()
                .map(|key| values.get(*key).cloned().unwrap_or("null".into()))
                .collect()
        }
    }
}

fn runs<R: RunEndIndexType>(array: &dyn Array) -> Vec<String> {
    let array = array.as_any().downcast_ref::<RunArray<R>>().unwrap();
    let values = lines(array.values());
    (0..array.len())
        .map(|i| values[array.get_physical_index(i)].clone())
        .collect()
}

fn bracketed(elements: &[String]) -> String {
    format!("[{}]", elements.join(","))
}

fn range<O: OffsetSizeTrait>(elements: &[String], start: O, end: O) -> String {
    bracketed(&elements[start.as_usize()..end.as_usize()])
}

fn list<O: OffsetSizeTrait>(array: &dyn Array) -> Vec<String> {
    let list = array.as_list::<O>();
    let elements = lines(list.values());
    list.offsets()
        .windows(2)
        .map(|w| range(&elements, w[0], w[1]))
        .collect()
}

fn list_view<O: OffsetSizeTrait>(array: &dyn Array) -> Vec<String> {
    let list = array.as_list_view::<O>();
    let elements = lines(list.values());
    list.offsets()
        .iter()
        .zip(list.sizes())
        .map(|(o, n)| range(&elements, *o, *o + *n))
        .collect()
}

fn integers<T: ArrowPrimitiveType>(array: &dyn Array, text: impl Fn(i128) -> String) -> Vec<String>
where
    i128: From<T::Native>,
{
    let array: &PrimitiveArray<T> = array.as_primitive::<T>();
    array
        .values()
        .iter()
        .map(|v| format!("\"{}\"", text(i128::from(*v))))
        .collect()
}

fn temporal(array: &dyn Array) -> Vec<String> {
    use DataType::*;
    let data_type = array.data_type();
    match data_type {
        Date32 => integers::<Date32Type>(array, date_text),
        Date64 => integers::<Date64Type>(array, |v| {
            if v % 86_400_000 == 0 {
                date_text(v / 86_400_000)
            } else {
                timestamp_text(v, 3, false)
            }
        }),
        Time32(TimeUnit::Second) => integers::<Time32SecondType>(array, |v| time_text(v, 0)),
        Time32(_) => integers::<Time32MillisecondType>(array, |v| time_text(v, 3)),
        Time64(TimeUnit::Microsecond) => {
            integers::<Time64MicrosecondType>(array, |v| time_text(v, 6))
        }
        Time64(_) => integers::<Time64NanosecondType>(array, |v| time_text(v, 9)),
        Timestamp(unit, zone) => {
            let text = |v: i128| timestamp_text(v, digits(unit), zone.is_some());
            match unit {
                TimeUnit::Second => integers::<TimestampSecondType>(array, text),
                TimeUnit::Millisecond => integers::<TimestampMillisecondType>(array, text),
                TimeUnit::Microsecond => integers::<TimestampMicrosecondType>(array, text),
                TimeUnit::Nanosecond => integers::<TimestampNanosecondType>(array, text),
            }
        }
        Duration(unit) => {
            let text = |v: i128| {
                let sign = if v < 0 { "-" } else { "" };
                format!("{sign}PT{}S", seconds_text(v.abs(), digits(unit)))
            };
            match unit {
                TimeUnit::Second => integers::<DurationSecondType>(array, text),
                TimeUnit::Millisecond => integers::<DurationMillisecondType>(array, text),
                TimeUnit::Microsecond => integers::<DurationMicrosecondType>(array, text),
                TimeUnit::Nanosecond => integers::<DurationNanosecondType>(array, text),
            }
        }
        Interval(IntervalUnit::MonthDayNano) => each::<IntervalMonthDayNanoType>(array, |v| {
            interval_text(v.months, v.days, v.nanoseconds.into())
        }),
        Interval(IntervalUnit::DayTime) => each::<IntervalDayTimeType>(array, |v| {
            interval_text(0, v.days, i128::from(v.milliseconds) * 1_000_000)
        }),
        Interval(IntervalUnit::YearMonth) => {
            each::<IntervalYearMonthType>(array, |v| interval_text(v, 0, 0))
        }
        other => panic!("no normal form for {other:?}"),
    }
}

/// Returns the date in the proleptic Gregorian calendar for a day number since 1970-01-01, in any
/// year.
fn date_text(days: i128) -> String {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i128::from(month <= 2);
    if (0..=9999).contains(&year) {
        format!("{year:04}-{month:02}-{day:02}")
    } else {
        format!("{year:+05}-{month:02}-{day:02}")
    }
}

fn fraction_text(fraction: i128, digits: usize) -> String {
    if digits == 0 {
        String::new()
    } else {
        format!(".{fraction:0digits$}")
    }
}

fn split(value: i128, digits: usize) -> (i128, i128) {
    let unit = 10_i128.pow(u32::try_from(digits).unwrap());
    (value.div_euclid(unit), value.rem_euclid(unit))
}

fn seconds_text(value: i128, digits: usize) -> String {
    let (whole, fraction) = split(value, digits);
    format!("{whole}{}", fraction_text(fraction, digits))
}

fn time_text(value: i128, digits: usize) -> String {
    let (whole, fraction) = split(value, digits);
    if !(0..86_400).contains(&whole) {
        return format!("time:{value}");
    }
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    format!(
        "{hours:02}:{minutes:02}:{seconds:02}{}",
        fraction_text(fraction, digits)
    )
}

fn timestamp_text(value: i128, digits: usize, utc: bool) -> String {
    let day = split(86_400, 0).0 * 10_i128.pow(u32::try_from(digits).unwrap());
    let (days, rest) = (value.div_euclid(day), value.rem_euclid(day));
    format!(
        "{}T{}{}",
        date_text(days),
        time_text(rest, digits),
        if utc { "Z" } else { "" }
    )
}

fn interval_text(months: i32, days: i32, nanos: i128) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    format!(
        "\"P{months}M{days}DT{sign}{}S\"",
        seconds_text(nanos.abs(), 9)
    )
}

/// Python produces these texts for the same values.
#[test]
fn floats_are_as_python_has_them() {
    let texts = [
        (f64::from(3.482_124_3_f32), "3.4821243286132812e0"),
        (f64::from(-11.370_132_f32), "-1.1370132446289062e1"),
        (0.1, "1e-1"),
        (-0.0, "-0e0"),
        (100.0, "1e2"),
        (1e23, "1e23"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.7976931348623157e308"),
        (2.0_f64.powi(-44), "5.684341886080801e-14"),
        (9_007_199_254_740_993.0, "9.007199254740992e15"),
    ];
    for (value, text) in texts {
        assert_eq!(float_text(value, value.to_bits(), 0, 16), text);
    }
}
