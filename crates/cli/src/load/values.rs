//! JSON values of the types that arrow-json reads otherwise than this command writes them, or not at
//! all: bytes in base64, UUIDs, maps as lists of pairs, periods, zones with names, dictionaries.

use std::sync::Arc;

use arrow_cast::{CastOptions, cast_with_options};
use arrow_json::reader::{ArrayDecoder, DecoderContext, DecoderFactory, Tape, TapeElement};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use herringbone_arrow::array::builder::BinaryBuilder;
use herringbone_arrow::array::types::{IntervalDayTime, IntervalMonthDayNano};
use herringbone_arrow::array::{
    Array as _, ArrayRef, Int64Array, IntervalDayTimeArray, IntervalMonthDayNanoArray,
    IntervalYearMonthArray, MapArray, StructArray, make_array,
};
use herringbone_arrow::buffer::{NullBuffer, OffsetBuffer};
use herringbone_arrow::schema::{
    ArrowError, DataType, Field, FieldRef, Fields, IntervalUnit, TimeUnit,
};

use super::interval::{Period, period};

type Result<T, E = ArrowError> = std::result::Result<T, E>;

/// Makes the decoders.
#[derive(Debug)]
pub(super) struct Values;

impl DecoderFactory for Values {
    fn make_default_decoder(
        &self,
        context: &DecoderContext,
        field: &FieldRef,
        nullable: bool,
    ) -> Result<Option<Box<dyn ArrayDecoder>>> {
        let data_type = field.data_type().clone();
        Ok(Some(match &data_type {
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Box::new(Bytes {
                uuid: field.extension_type_name() == Some("arrow.uuid"),
                data_type,
            }),
            DataType::Duration(_) | DataType::Interval(_) => Box::new(Periods { data_type }),
            DataType::Timestamp(unit, Some(zone)) if !zone.starts_with(['+', '-']) => {
                let utc = DataType::Timestamp(*unit, Some("+00:00".into()));
                Box::new(Zone {
                    instants: builtin(context, utc, nullable)?,
                    data_type,
                })
            }
            DataType::Dictionary(_, values) => {
                let values = Arc::new(Field::new(field.name(), values.as_ref().clone(), nullable));
                Box::new(Dictionary {
                    values: context.make_decoder(&values, nullable)?,
                    data_type,
                })
            }
            DataType::Map(entries, ordered) => Box::new(Map::new(context, entries, *ordered)?),
            _ => return Ok(None),
        }))
    }
}

fn builtin(
    context: &DecoderContext,
    data_type: DataType,
    nullable: bool,
) -> Result<Box<dyn ArrayDecoder>> {
    context.make_builtin_decoder(&Arc::new(Field::new("", data_type, nullable)), nullable)
}

/// The strings of a column.
fn strings<'t>(tape: &Tape<'t>, positions: &[u32], what: &str) -> Result<Vec<Option<&'t str>>> {
    let string = |position: &u32| match tape.get(*position) {
        TapeElement::Null => Ok(None),
        TapeElement::String(text) => Ok(Some(tape.get_string(text))),
        _ => Err(tape.error(*position, what)),
    };
    positions.iter().map(string).collect()
}

fn unreadable(text: &str, what: &str) -> ArrowError {
    ArrowError::JsonError(format!("\"{text}\" is no {what}"))
}

fn cast(array: ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    cast_with_options(&array, data_type, &options)
}

/// Bytes in base64, or a UUID in its usual form.
struct Bytes {
    data_type: DataType,
    uuid: bool,
}

impl ArrayDecoder for Bytes {
    fn decode(&mut self, tape: &Tape<'_>, positions: &[u32]) -> Result<ArrayRef> {
        let mut values = BinaryBuilder::new();
        for text in strings(tape, positions, "a string")? {
            let Some(text) = text else {
                values.append_null();
                continue;
            };
            let bytes = if self.uuid {
                uuid(text).ok_or_else(|| unreadable(text, "UUID"))?
            } else {
                let bytes = STANDARD.decode(text);
                bytes.map_err(|_| unreadable(text, "bytes in base64"))?
            };
            match self.data_type {
                DataType::FixedSizeBinary(length) if length.try_into() != Ok(bytes.len()) => {
                    return Err(unreadable(text, &format!("value of {length} bytes")));
                }
                _ => {}
            }
            values.append_value(bytes);
        }
        cast(Arc::new(values.finish()), &self.data_type)
    }
}

fn uuid(text: &str) -> Option<Vec<u8>> {
    let digits: String = text.split('-').collect();
    let dashes = [8, 13, 18, 23];
    let fits = text.len() == 36
        && dashes
            .iter()
            .all(|at| text.as_bytes().get(*at) == Some(&b'-'));
    if !fits || digits.len() != 32 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let byte = |at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..32).step_by(2).map(byte).collect()
}

/// Durations and intervals: `PT1.5S`.
struct Periods {
    data_type: DataType,
}

impl Periods {
    /// The number of a period in some unit, if it is nothing else.
    fn all<T>(
        texts: &[Option<&str>],
        what: &str,
        value: impl Fn(Period) -> Option<T>,
    ) -> Result<Vec<Option<T>>> {
        let one = |text: &Option<&str>| match text {
            None => Ok(None),
            Some(text) => match period(text).and_then(&value) {
                None => Err(unreadable(text, what)),
                some => Ok(some),
            },
        };
        texts.iter().map(one).collect()
    }
}

impl ArrayDecoder for Periods {
    fn decode(&mut self, tape: &Tape<'_>, positions: &[u32]) -> Result<ArrayRef> {
        let texts = strings(tape, positions, "a string such as \"PT1.5S\"")?;
        let what = self.data_type.to_string();
        Ok(match &self.data_type {
            DataType::Interval(IntervalUnit::YearMonth) => {
                let months = Self::all(&texts, &what, |it| {
                    (it.days == 0 && it.nanos == 0).then_some(it.months)
                })?;
                Arc::new(IntervalYearMonthArray::from(months))
            }
            DataType::Interval(IntervalUnit::DayTime) => {
                let values = Self::all(&texts, &what, |it| {
                    let exact = it.months == 0 && it.nanos % 1_000_000 == 0;
                    let millis = i32::try_from(it.nanos / 1_000_000).ok()?;
                    exact.then(|| IntervalDayTime::new(it.days, millis))
                })?;
                Arc::new(IntervalDayTimeArray::from(values))
            }
            DataType::Interval(IntervalUnit::MonthDayNano) => {
                let values = Self::all(&texts, &what, |it| {
                    let nanos = i64::try_from(it.nanos).ok()?;
                    Some(IntervalMonthDayNano::new(it.months, it.days, nanos))
                })?;
                Arc::new(IntervalMonthDayNanoArray::from(values))
            }
            other => {
                let tick = match other {
                    DataType::Duration(TimeUnit::Second) => 1_000_000_000,
                    DataType::Duration(TimeUnit::Millisecond) => 1_000_000,
                    DataType::Duration(TimeUnit::Microsecond) => 1000,
                    _ => 1,
                };
                let ticks = Self::all(&texts, &what, |it| {
                    let exact = it.months == 0 && it.days == 0 && it.nanos % tick == 0;
                    exact.then(|| i64::try_from(it.nanos / tick).ok()).flatten()
                })?;
                relabelled(Arc::new(Int64Array::from(ticks)), other)?
            }
        })
    }
}

/// The same values as another type of the same layout.
fn relabelled(array: ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let data = array.to_data().into_builder().data_type(data_type.clone());
    Ok(make_array(data.build()?))
}

/// Timestamps of a zone with a name. Their texts are instants: with `Z` or an offset, else in UTC.
struct Zone {
    instants: Box<dyn ArrayDecoder>,
    data_type: DataType,
}

impl ArrayDecoder for Zone {
    fn decode(&mut self, tape: &Tape<'_>, positions: &[u32]) -> Result<ArrayRef> {
        relabelled(self.instants.decode(tape, positions)?, &self.data_type)
    }
}

/// Values that become numbers of values.
struct Dictionary {
    values: Box<dyn ArrayDecoder>,
    data_type: DataType,
}

impl ArrayDecoder for Dictionary {
    fn decode(&mut self, tape: &Tape<'_>, positions: &[u32]) -> Result<ArrayRef> {
        cast(self.values.decode(tape, positions)?, &self.data_type)
    }
}

/// Maps: lists of `[key, value]`, or objects where keys are strings.
struct Map {
    entries: FieldRef,
    fields: Fields,
    ordered: bool,
    keys: Box<dyn ArrayDecoder>,
    values: Box<dyn ArrayDecoder>,
}

impl Map {
    fn new(context: &DecoderContext, entries: &FieldRef, ordered: bool) -> Result<Self> {
        let DataType::Struct(fields) = entries.data_type() else {
            return Err(ArrowError::SchemaError("a map has entries of pairs".into()));
        };
        let [key, value] = fields.as_ref() else {
            return Err(ArrowError::SchemaError("a map has entries of pairs".into()));
        };
        Ok(Self {
            keys: context.make_decoder(key, key.is_nullable())?,
            values: context.make_decoder(value, value.is_nullable())?,
            entries: entries.clone(),
            fields: fields.clone(),
            ordered,
        })
    }

    /// The positions of key and value in `[key, value]`.
    fn pair(tape: &Tape<'_>, position: u32) -> Result<(u32, u32)> {
        let wrong = || tape.error(position, "[key, value]");
        let TapeElement::StartList(end) = tape.get(position) else {
            return Err(wrong());
        };
        let key = position + 1;
        if key == end {
            return Err(wrong());
        }
        let value = tape.next(key, "a key")?;
        if value == end || tape.next(value, "a value")? != end {
            return Err(wrong());
        }
        Ok((key, value))
    }
}

impl ArrayDecoder for Map {
    fn decode(&mut self, tape: &Tape<'_>, positions: &[u32]) -> Result<ArrayRef> {
        let mut lengths = Vec::with_capacity(positions.len());
        let mut valid = Vec::with_capacity(positions.len());
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for &position in positions {
            let before = keys.len();
            let mut at = position + 1;
            match tape.get(position) {
                TapeElement::Null => {}
                TapeElement::StartObject(end) => {
                    while at < end {
                        keys.push(at);
                        let value = tape.next(at, "a key")?;
                        values.push(value);
                        at = tape.next(value, "a value")?;
                    }
                }
                TapeElement::StartList(end) => {
                    while at < end {
                        let (key, value) = Self::pair(tape, at)?;
                        keys.push(key);
                        values.push(value);
                        at = tape.next(at, "an entry")?;
                    }
                }
                _ => return Err(tape.error(position, "a list of [key, value]")),
            }
            lengths.push(keys.len() - before);
            valid.push(!matches!(tape.get(position), TapeElement::Null));
        }
        let columns = vec![
            self.keys.decode(tape, &keys)?,
            self.values.decode(tape, &values)?,
        ];
        let entries = StructArray::try_new(self.fields.clone(), columns, None)?;
        let offsets = OffsetBuffer::from_lengths(lengths);
        let nulls = Some(NullBuffer::from(valid)).filter(|nulls| nulls.null_count() > 0);
        let maps = MapArray::try_new(self.entries.clone(), offsets, entries, nulls, self.ordered)?;
        Ok(Arc::new(maps))
    }
}
