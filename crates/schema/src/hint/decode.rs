//! Decoding base64 text to hints.
//!
//! ```text
//! base64( [0xFFFFFFFF]  i32 length  flatbuffer Message { Schema } )
//!          absent in files of old writers
//! ```
//!
//! A file can have many more columns than a caller reads, so we decode top-level fields lazily.
//! That way, damage in one field doesn't affect the others either.
//!
//! Bounds checks alone are not enough, because many tables can refer to the same one, so that a few
//! bytes unfold to a huge tree. To prevent this, we derive a budget from the message's length.

use std::collections::HashMap;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use herringbone_arrow::ipc;
use herringbone_arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use herringbone_arrow::schema::{DataType, IntervalUnit, TimeUnit};

use super::flatbuffer::{Invalid, Table, Tables};
use super::{Hint, HintKind, ListKind};

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decodes the base64 text of `ARROW:schema`.
pub(crate) fn bytes_of(text: &str) -> Result<Vec<u8>, String> {
    BASE64
        .decode(text.trim())
        .map_err(|_| "it is not base64".to_owned())
}

/// A file's Arrow schema, with its fields still encoded.
pub(crate) struct ArrowSchemaHint<'a> {
    pub(crate) metadata: Vec<(String, String)>,
    fields: Tables<'a>,
    decoder: Decoder,
}

impl<'a> ArrowSchemaHint<'a> {
    /// Finds the schema in the bytes of `ARROW:schema`.
    ///
    /// Fails with the reason why the whole hint is unusable. An unknown field type is not an error,
    /// but becomes [`HintKind::Foreign`].
    ///
    /// The budget is one field per eight bytes of the message, and at least four times its length
    /// in names and metadata.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, String> {
        let message = message(bytes).ok_or("its length is wrong")?;
        let root = Table::root(message)?;
        let header_type = ipc::MessageHeader(root.u8(ipc::Message::VT_HEADER_TYPE)?);
        let schema = match root.table(ipc::Message::VT_HEADER)? {
            Some(schema) if header_type == ipc::MessageHeader::Schema => schema,
            _ => return Err("it does not contain a schema".to_owned()),
        };
        let mut decoder = Decoder::new(message.len());
        // We skip the metadata's other pairs, since the file's own metadata has them.
        let (metadata, _) = decoder.metadata(schema.tables(ipc::Schema::VT_CUSTOM_METADATA)?)?;
        Ok(Self {
            metadata,
            fields: schema.tables(ipc::Schema::VT_FIELDS)?,
            decoder,
        })
    }

    /// Returns true if the field at `place` exists and has this name.
    ///
    /// Fails with the reason why the field is unusable.
    pub(crate) fn has_name(&self, place: usize, name: &str) -> Result<bool, String> {
        Ok(place < self.fields.len() && self.name(place)? == Some(name.as_bytes()))
    }

    /// Returns the field names. A name is `None` if it is invalid, or if the names unfold to more
    /// bytes than the message's length justifies.
    pub(crate) fn names(&self) -> Vec<Option<&'a [u8]>> {
        let mut decoder = self.decoder.clone();
        let names = (0..self.fields.len()).map(|place| {
            let name = self.name(place).ok().flatten()?;
            decoder.spend(name).ok().map(|()| name)
        });
        names.collect()
    }

    /// Decodes the field at `place`.
    ///
    /// Fails with the reason why the field is unusable.
    pub(crate) fn field(&mut self, place: usize) -> Result<Hint, String> {
        self.decoder.field(self.fields.get(place)?, 0)
    }

    fn name(&self, place: usize) -> Result<Option<&'a [u8]>, Invalid> {
        self.fields.get(place)?.text(ipc::Field::VT_NAME)
    }
}

/// Overwrites the values of these keys in a schema message's metadata. Each new value must be as
/// long as the old one.
///
/// Fails with the reason why a value cannot be replaced.
pub(crate) fn put_values(
    message: &mut [u8],
    values: &HashMap<String, Vec<u8>>,
) -> Result<(), String> {
    let mut places = Vec::new();
    let schema = Table::root(message)?.table(ipc::Message::VT_HEADER)?;
    let pairs = schema
        .ok_or(Invalid)?
        .tables(ipc::Schema::VT_CUSTOM_METADATA)?;
    for pair in pairs.iter() {
        let pair = pair?;
        let key = pair.text(ipc::KeyValue::VT_KEY)?.unwrap_or_default();
        let value = str::from_utf8(key).ok().and_then(|key| values.get(key));
        if let (Some(value), Some(place)) = (value, pair.place_of_text(ipc::KeyValue::VT_VALUE)?) {
            places.push((place, value));
        }
    }
    for (place, value) in places {
        let place = message
            .get_mut(place)
            .filter(|message| message.len() == value.len());
        place.ok_or(Invalid)?.copy_from_slice(value);
    }
    Ok(())
}

/// Returns the flatbuffer without its leading marker and length.
fn message(bytes: &[u8]) -> Option<&[u8]> {
    const CONTINUATION: [u8; 4] = [0xFF; 4];
    let bytes = bytes.strip_prefix(&CONTINUATION).unwrap_or(bytes);
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.get(..usize::try_from(i32::from_le_bytes(*length)).ok()?)
}

#[derive(Clone)]
struct Decoder {
    fields_left: usize,
    text_left: usize,
}

impl Decoder {
    /// The maximum nesting depth of fields. Other flatbuffer readers allow less.
    const MAX_DEPTH: usize = 64;
    /// The number of name and metadata bytes always allowed, because writers can share strings.
    const TEXT_FLOOR: usize = 1 << 20;

    fn new(message_bytes: usize) -> Self {
        Self {
            fields_left: message_bytes / 8,
            text_left: message_bytes.saturating_mul(4).max(Self::TEXT_FLOOR),
        }
    }

    fn spend(&mut self, text: &[u8]) -> Result<(), String> {
        self.text_left = self
            .text_left
            .checked_sub(text.len())
            .ok_or("its names and metadata expand beyond its size")?;
        Ok(())
    }

    fn text(&mut self, text: &[u8]) -> Result<String, String> {
        self.spend(text)?;
        let text = str::from_utf8(text).map_err(|_| Invalid)?;
        Ok(text.to_owned())
    }

    /// Returns the text pairs and the number of other pairs. The latter exist because other
    /// libraries write arbitrary bytes.
    fn metadata(&mut self, pairs: Tables<'_>) -> Result<(Vec<(String, String)>, usize), String> {
        let (mut metadata, mut left_out) = (Vec::new(), 0);
        let mut has_extension_metadata = true;
        for pair in pairs.iter() {
            let pair = pair?;
            let key = pair.text(ipc::KeyValue::VT_KEY)?;
            let (Some(key), Some(value)) = (key, pair.text(ipc::KeyValue::VT_VALUE)?) else {
                continue;
            };
            self.spend(key)?;
            self.spend(value)?;
            match (str::from_utf8(key), str::from_utf8(value)) {
                (Ok(key), Ok(value)) => metadata.push((key.to_owned(), value.to_owned())),
                (key, _) => {
                    left_out += 1;
                    has_extension_metadata &= key != Ok(EXTENSION_TYPE_METADATA_KEY);
                }
            }
        }
        if !has_extension_metadata {
            // The extension type would be meaningless without its parameters, so we drop its name
            // too.
            metadata.retain(|(key, _)| key != EXTENSION_TYPE_NAME_KEY);
        }
        Ok((metadata, left_out))
    }

    fn field(&mut self, field: Table<'_>, depth: usize) -> Result<Hint, String> {
        self.fields_left = self
            .fields_left
            .checked_sub(1)
            .ok_or("its fields expand beyond its size")?;
        if depth > Self::MAX_DEPTH {
            return Err("its fields are nested too deeply".to_owned());
        }
        let name = field.text(ipc::Field::VT_NAME)?;
        let name = name.map(|name| self.text(name)).transpose()?;
        let (metadata, left_out) = self.metadata(field.tables(ipc::Field::VT_CUSTOM_METADATA)?)?;
        let mut kind = self.kind(field, depth)?;
        let mut is_ordered = false;
        let dictionary_key = match field.table(ipc::Field::VT_DICTIONARY)? {
            None => None,
            Some(dictionary) => {
                let key = match dictionary.table(ipc::DictionaryEncoding::VT_INDEXTYPE)? {
                    // A missing type means 32 bits.
                    None => Some(DataType::Int32),
                    Some(int) => integer(int)?,
                };
                is_ordered = dictionary.bool(ipc::DictionaryEncoding::VT_ISORDERED)?;
                if key.is_none() {
                    kind = HintKind::Foreign("a dictionary with unknown keys".to_owned());
                }
                key
            }
        };
        Ok(Hint {
            name,
            nullable: field.bool(ipc::Field::VT_NULLABLE)?,
            metadata,
            left_out,
            kind,
            dictionary_key,
            is_ordered,
        })
    }

    fn kind(&mut self, field: Table<'_>, depth: usize) -> Result<HintKind, String> {
        let name = ipc::Type(field.u8(ipc::Field::VT_TYPE_TYPE)?);
        let children = self.children(field, depth)?;
        // These are the type's parameters.
        let Some(details) = field.table(ipc::Field::VT_TYPE_)? else {
            return Ok(HintKind::Foreign(type_name(name)));
        };
        let list_kind = match name {
            ipc::Type::List => Some(ListKind::List),
            ipc::Type::LargeList => Some(ListKind::LargeList),
            ipc::Type::ListView => Some(ListKind::ListView),
            ipc::Type::LargeListView => Some(ListKind::LargeListView),
            ipc::Type::FixedSizeList => {
                let size = details.i32_or(ipc::FixedSizeList::VT_LISTSIZE, 0)?;
                (size >= 0).then_some(ListKind::FixedSize(size))
            }
            _ => None,
        };
        let kind = match (name, list_kind) {
            (_, Some(kind)) => only(children).map(|child| HintKind::List(kind, child)),
            (ipc::Type::Struct_, _) => Some(HintKind::Struct(children)),
            (ipc::Type::Map, _) => {
                let sorted = details.bool(ipc::Map::VT_KEYSSORTED)?;
                only(children).map(|entries| HintKind::Map { entries, sorted })
            }
            (ipc::Type::RunEndEncoded, _) => runs(children),
            (ipc::Type::Timestamp, _) => {
                self.spend(
                    details
                        .text(ipc::Timestamp::VT_TIMEZONE)?
                        .unwrap_or_default(),
                )?;
                leaf(name, details)?.map(HintKind::Leaf)
            }
            _ => leaf(name, details)?.map(HintKind::Leaf),
        };
        match kind {
            Some(kind) => Ok(kind),
            None => Ok(HintKind::Foreign(describe(name, details)?)),
        }
    }

    fn children(&mut self, field: Table<'_>, depth: usize) -> Result<Vec<Hint>, String> {
        let children = field.tables(ipc::Field::VT_CHILDREN)?;
        children
            .iter()
            .map(|child| self.field(child?, depth + 1))
            .collect()
    }
}

fn only(mut children: Vec<Hint>) -> Option<Box<Hint>> {
    let child = children.pop()?;
    children.is_empty().then(|| Box::new(child))
}

fn runs(children: Vec<Hint>) -> Option<HintKind> {
    let [run_ends, values] = <[Hint; 2]>::try_from(children).ok()?;
    let is_type_of_ends = matches!(
        run_ends.kind,
        HintKind::Leaf(DataType::Int16 | DataType::Int32 | DataType::Int64)
    );
    (is_type_of_ends && run_ends.dictionary_key.is_none()).then(|| HintKind::RunEndEncoded {
        run_ends: Box::new(run_ends),
        values: Box::new(values),
    })
}

/// Returns a name for a type unknown to Arrow.
fn describe(name: ipc::Type, details: Table<'_>) -> Result<String, Invalid> {
    if name == ipc::Type::Int {
        // For example, Polars has 128-bit integers.
        let bit_width = details.i32_or(ipc::Int::VT_BITWIDTH, 0)?;
        let sign = match details.bool(ipc::Int::VT_IS_SIGNED)? {
            true => "",
            false => "U",
        };
        return Ok(format!("{sign}Int{bit_width}"));
    }
    Ok(type_name(name))
}

fn type_name(name: ipc::Type) -> String {
    name.variant_name().map_or_else(
        || "an unknown type".to_owned(),
        |name| format!("an unknown form of {name}"),
    )
}

/// Returns the type of a field without children, or `None` if it is unknown.
fn leaf(name: ipc::Type, details: Table<'_>) -> Result<Option<DataType>, Invalid> {
    Ok(Some(match name {
        ipc::Type::Null => DataType::Null,
        ipc::Type::Bool => DataType::Boolean,
        ipc::Type::Int => return integer(details),
        ipc::Type::FloatingPoint => {
            match ipc::Precision(details.i16_or(ipc::FloatingPoint::VT_PRECISION, 0)?) {
                ipc::Precision::HALF => DataType::Float16,
                ipc::Precision::SINGLE => DataType::Float32,
                ipc::Precision::DOUBLE => DataType::Float64,
                _ => return Ok(None),
            }
        }
        ipc::Type::Binary => DataType::Binary,
        ipc::Type::LargeBinary => DataType::LargeBinary,
        ipc::Type::BinaryView => DataType::BinaryView,
        ipc::Type::Utf8 => DataType::Utf8,
        ipc::Type::LargeUtf8 => DataType::LargeUtf8,
        ipc::Type::Utf8View => DataType::Utf8View,
        ipc::Type::FixedSizeBinary => {
            DataType::FixedSizeBinary(details.i32_or(ipc::FixedSizeBinary::VT_BYTEWIDTH, 0)?)
        }
        ipc::Type::Decimal => return decimal(details),
        _ => return temporal(name, details),
    }))
}

fn decimal(details: Table<'_>) -> Result<Option<DataType>, Invalid> {
    let precision = details.i32_or(ipc::Decimal::VT_PRECISION, 0)?;
    let scale = details.i32_or(ipc::Decimal::VT_SCALE, 0)?;
    let bit_width = details.i32_or(ipc::Decimal::VT_BITWIDTH, 128)?;
    let (Ok(precision), Ok(scale)) = (u8::try_from(precision), i8::try_from(scale)) else {
        return Ok(None);
    };
    Ok(match bit_width {
        32 => Some(DataType::Decimal32(precision, scale)),
        64 => Some(DataType::Decimal64(precision, scale)),
        128 => Some(DataType::Decimal128(precision, scale)),
        256 => Some(DataType::Decimal256(precision, scale)),
        _ => None,
    })
}

fn temporal(name: ipc::Type, details: Table<'_>) -> Result<Option<DataType>, Invalid> {
    let unit_at = |slot, absent: ipc::TimeUnit| details.i16_or(slot, absent.0).map(unit);
    Ok(match name {
        ipc::Type::Date => {
            let absent = ipc::DateUnit::MILLISECOND.0;
            match ipc::DateUnit(details.i16_or(ipc::Date::VT_UNIT, absent)?) {
                ipc::DateUnit::DAY => Some(DataType::Date32),
                ipc::DateUnit::MILLISECOND => Some(DataType::Date64),
                _ => None,
            }
        }
        ipc::Type::Time => {
            let unit = unit_at(ipc::Time::VT_UNIT, ipc::TimeUnit::MILLISECOND)?;
            match (details.i32_or(ipc::Time::VT_BITWIDTH, 32)?, unit) {
                (32, Some(unit @ (TimeUnit::Second | TimeUnit::Millisecond))) => {
                    Some(DataType::Time32(unit))
                }
                (64, Some(unit @ (TimeUnit::Microsecond | TimeUnit::Nanosecond))) => {
                    Some(DataType::Time64(unit))
                }
                _ => None,
            }
        }
        ipc::Type::Timestamp => {
            let unit = unit_at(ipc::Timestamp::VT_UNIT, ipc::TimeUnit::SECOND)?;
            let zone = details.text(ipc::Timestamp::VT_TIMEZONE)?;
            let zone = zone.map(str::from_utf8).transpose().map_err(|_| Invalid)?;
            // An empty zone means no zone.
            let zone = zone.filter(|zone| !zone.is_empty());
            unit.map(|unit| DataType::Timestamp(unit, zone.map(Into::into)))
        }
        ipc::Type::Duration => {
            unit_at(ipc::Duration::VT_UNIT, ipc::TimeUnit::MILLISECOND)?.map(DataType::Duration)
        }
        ipc::Type::Interval => {
            match ipc::IntervalUnit(details.i16_or(ipc::Interval::VT_UNIT, 0)?) {
                ipc::IntervalUnit::YEAR_MONTH => Some(IntervalUnit::YearMonth),
                ipc::IntervalUnit::DAY_TIME => Some(IntervalUnit::DayTime),
                ipc::IntervalUnit::MONTH_DAY_NANO => Some(IntervalUnit::MonthDayNano),
                _ => None,
            }
            .map(DataType::Interval)
        }
        _ => None,
    })
}

fn unit(unit: i16) -> Option<TimeUnit> {
    match ipc::TimeUnit(unit) {
        ipc::TimeUnit::SECOND => Some(TimeUnit::Second),
        ipc::TimeUnit::MILLISECOND => Some(TimeUnit::Millisecond),
        ipc::TimeUnit::MICROSECOND => Some(TimeUnit::Microsecond),
        ipc::TimeUnit::NANOSECOND => Some(TimeUnit::Nanosecond),
        _ => None,
    }
}

fn integer(details: Table<'_>) -> Result<Option<DataType>, Invalid> {
    let bit_width = details.i32_or(ipc::Int::VT_BITWIDTH, 0)?;
    Ok(Some(
        match (bit_width, details.bool(ipc::Int::VT_IS_SIGNED)?) {
            (8, true) => DataType::Int8,
            (8, false) => DataType::UInt8,
            (16, true) => DataType::Int16,
            (16, false) => DataType::UInt16,
            (32, true) => DataType::Int32,
            (32, false) => DataType::UInt32,
            (64, true) => DataType::Int64,
            (64, false) => DataType::UInt64,
            _ => return Ok(None),
        },
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use herringbone_arrow::ipc::convert::IpcSchemaEncoder;
    use herringbone_arrow::schema::{Field, Schema};

    use super::*;

    /// Decodes a list of structs under a budget. Each struct has three columns, and the names have
    /// seven letters in all.
    fn under(fields_left: usize, text_left: usize) -> Result<Hint, String> {
        let columns = ["x", "y", "z"].map(|name| Field::new(name, DataType::Int32, true));
        let item = Field::new("item", DataType::Struct(Vec::from(columns).into()), true);
        let list = Field::new("", DataType::List(Arc::new(item)), true);
        let buffer = IpcSchemaEncoder::new().schema_to_fb(&Schema::new(vec![list]));
        let schema = Table::root(buffer.finished_data()).unwrap();
        let fields = schema.tables(ipc::Schema::VT_FIELDS).unwrap();
        let mut decoder = Decoder {
            fields_left,
            text_left,
        };
        decoder.field(fields.get(0).unwrap(), 0)
    }

    #[test]
    fn few_bytes_do_not_unfold_to_many_fields() {
        assert!(under(5, 7).is_ok());
        assert!(under(4, 7).is_err());
        assert!(under(5, 6).is_err());
    }
}
