//! From base64 text to hints.
//!
//! ```text
//! base64( [0xFFFFFFFF]  i32 length  flatbuffer Message { Schema } )
//!          absent in files of old writers
//! ```
//!
//! The flatbuffer is verified first: offsets and depth are sound then, and accessors do not panic.
//! What verification does not exclude is one table that many others refer to, so that few bytes
//! unfold to a huge tree. A budget that the length of the message justifies stops that.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use herringbone_arrow::ipc;
use herringbone_arrow::schema::{DataType, IntervalUnit, TimeUnit};

use super::{Hint, HintKind, ListKind, SchemaHint};

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decodes the value of `ARROW:schema`.
///
/// **Errors**: why the whole hint is of no use. A single field that is not known is
/// [`HintKind::Foreign`] instead.
///
/// **Limits**: a field for each eight bytes of the message, and at least four times its length in
/// names and metadata.
pub(crate) fn decode(text: &str) -> Result<SchemaHint, String> {
    let bytes = BASE64
        .decode(text.trim())
        .map_err(|_| "it is not base64".to_owned())?;
    let message = message(&bytes).ok_or("its length is wrong")?;
    let root = ipc::root_as_message(message).map_err(|_| "it is not a valid flatbuffer")?;
    let schema = root.header_as_schema().ok_or("it holds no schema")?;
    let mut decoder = Decoder::new(message.len());
    let metadata = decoder.metadata(schema.custom_metadata())?;
    let fields = schema.fields().ok_or("its schema has no fields")?;
    let fields = fields
        .iter()
        .map(|field| decoder.field(field, 0))
        .collect::<Result<_, _>>()?;
    Ok(SchemaHint { fields, metadata })
}

/// The flatbuffer, without the marker and the length before it.
fn message(bytes: &[u8]) -> Option<&[u8]> {
    const CONTINUATION: [u8; 4] = [0xFF; 4];
    let bytes = bytes.strip_prefix(&CONTINUATION).unwrap_or(bytes);
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.get(..usize::try_from(i32::from_le_bytes(*length)).ok()?)
}

struct Decoder {
    fields_left: usize,
    text_left: usize,
}

impl Decoder {
    /// Deeper fields than the verifier lets pass.
    const MAX_DEPTH: usize = 128;
    /// Names and metadata that need no justification: writers may share strings.
    const TEXT_FLOOR: usize = 1 << 20;

    fn new(message_bytes: usize) -> Self {
        Self {
            fields_left: message_bytes / 8,
            text_left: message_bytes.saturating_mul(4).max(Self::TEXT_FLOOR),
        }
    }

    fn text(&mut self, text: &str) -> Result<String, String> {
        self.text_left = self
            .text_left
            .checked_sub(text.len())
            .ok_or("its names and metadata unfold to more than it holds")?;
        Ok(text.to_owned())
    }

    fn metadata<'a, I>(&mut self, pairs: Option<I>) -> Result<Vec<(String, String)>, String>
    where
        I: IntoIterator<Item = ipc::KeyValue<'a>>,
    {
        let mut metadata = Vec::new();
        for pair in pairs.into_iter().flatten() {
            if let (Some(key), Some(value)) = (pair.key(), pair.value()) {
                metadata.push((self.text(key)?, self.text(value)?));
            }
        }
        Ok(metadata)
    }

    fn field(&mut self, field: ipc::Field<'_>, depth: usize) -> Result<Hint, String> {
        self.fields_left = self
            .fields_left
            .checked_sub(1)
            .ok_or("its fields unfold to more than it holds")?;
        if depth > Self::MAX_DEPTH {
            return Err("its fields are nested too deeply".to_owned());
        }
        let name = field.name().map(|name| self.text(name)).transpose()?;
        let metadata = self.metadata(field.custom_metadata())?;
        let mut kind = self.kind(field, depth)?;
        let dictionary_key = match field.dictionary() {
            None => None,
            Some(dictionary) => {
                let key = match dictionary.indexType() {
                    // 32 bits where the writer did not say.
                    None => Some(DataType::Int32),
                    Some(int) => integer(int.bitWidth(), int.is_signed()),
                };
                if key.is_none() {
                    kind = HintKind::Foreign("a dictionary with unknown keys".to_owned());
                }
                key
            }
        };
        Ok(Hint {
            name,
            nullable: field.nullable(),
            metadata,
            kind,
            dictionary_key,
        })
    }

    fn kind(&mut self, field: ipc::Field<'_>, depth: usize) -> Result<HintKind, String> {
        let list_kind = match field.type_type() {
            ipc::Type::List => Some(ListKind::List),
            ipc::Type::LargeList => Some(ListKind::LargeList),
            ipc::Type::ListView => Some(ListKind::ListView),
            ipc::Type::LargeListView => Some(ListKind::LargeListView),
            ipc::Type::FixedSizeList => field
                .type_as_fixed_size_list()
                .map(|list| list.listSize())
                .filter(|&size| size >= 0)
                .map(ListKind::FixedSize),
            _ => None,
        };
        let children = self.children(field, depth)?;
        let kind = match (field.type_type(), list_kind) {
            (_, Some(kind)) => only(children).map(|child| HintKind::List(kind, child)),
            (ipc::Type::Struct_, _) => Some(HintKind::Struct(children)),
            (ipc::Type::Map, _) => only(children).map(|entries| HintKind::Map {
                entries,
                sorted: field.type_as_map().is_some_and(|map| map.keysSorted()),
            }),
            (ipc::Type::RunEndEncoded, _) => runs(children),
            _ => leaf(field).map(HintKind::Leaf),
        };
        Ok(kind.unwrap_or_else(|| HintKind::Foreign(describe(field))))
    }

    fn children(&mut self, field: ipc::Field<'_>, depth: usize) -> Result<Vec<Hint>, String> {
        match field.children() {
            None => Ok(Vec::new()),
            Some(children) => children
                .iter()
                .map(|child| self.field(child, depth + 1))
                .collect(),
        }
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

fn describe(field: ipc::Field<'_>) -> String {
    field.type_type().variant_name().map_or_else(
        || "a type that is not known".to_owned(),
        |name| format!("an unknown form of {name}"),
    )
}

/// The type of a field without fields of its own, if it is known.
fn leaf(field: ipc::Field<'_>) -> Option<DataType> {
    Some(match field.type_type() {
        ipc::Type::Null => DataType::Null,
        ipc::Type::Bool => DataType::Boolean,
        ipc::Type::Int => {
            let int = field.type_as_int()?;
            integer(int.bitWidth(), int.is_signed())?
        }
        ipc::Type::FloatingPoint => match field.type_as_floating_point()?.precision() {
            ipc::Precision::HALF => DataType::Float16,
            ipc::Precision::SINGLE => DataType::Float32,
            ipc::Precision::DOUBLE => DataType::Float64,
            _ => return None,
        },
        ipc::Type::Binary => DataType::Binary,
        ipc::Type::LargeBinary => DataType::LargeBinary,
        ipc::Type::BinaryView => DataType::BinaryView,
        ipc::Type::Utf8 => DataType::Utf8,
        ipc::Type::LargeUtf8 => DataType::LargeUtf8,
        ipc::Type::Utf8View => DataType::Utf8View,
        ipc::Type::FixedSizeBinary => {
            DataType::FixedSizeBinary(field.type_as_fixed_size_binary()?.byteWidth())
        }
        ipc::Type::Decimal => {
            let decimal = field.type_as_decimal()?;
            let precision = u8::try_from(decimal.precision()).ok()?;
            let scale = i8::try_from(decimal.scale()).ok()?;
            match decimal.bitWidth() {
                32 => DataType::Decimal32(precision, scale),
                64 => DataType::Decimal64(precision, scale),
                128 => DataType::Decimal128(precision, scale),
                256 => DataType::Decimal256(precision, scale),
                _ => return None,
            }
        }
        _ => return temporal(field),
    })
}

fn temporal(field: ipc::Field<'_>) -> Option<DataType> {
    Some(match field.type_type() {
        ipc::Type::Date => match field.type_as_date()?.unit() {
            ipc::DateUnit::DAY => DataType::Date32,
            ipc::DateUnit::MILLISECOND => DataType::Date64,
            _ => return None,
        },
        ipc::Type::Time => {
            let time = field.type_as_time()?;
            match (time.bitWidth(), unit(time.unit())?) {
                (32, unit @ (TimeUnit::Second | TimeUnit::Millisecond)) => DataType::Time32(unit),
                (64, unit @ (TimeUnit::Microsecond | TimeUnit::Nanosecond)) => {
                    DataType::Time64(unit)
                }
                _ => return None,
            }
        }
        ipc::Type::Timestamp => {
            let timestamp = field.type_as_timestamp()?;
            // No zone and an empty one are the same.
            let zone = timestamp.timezone().filter(|zone| !zone.is_empty());
            DataType::Timestamp(unit(timestamp.unit())?, zone.map(Into::into))
        }
        ipc::Type::Duration => DataType::Duration(unit(field.type_as_duration()?.unit())?),
        ipc::Type::Interval => DataType::Interval(match field.type_as_interval()?.unit() {
            ipc::IntervalUnit::YEAR_MONTH => IntervalUnit::YearMonth,
            ipc::IntervalUnit::DAY_TIME => IntervalUnit::DayTime,
            ipc::IntervalUnit::MONTH_DAY_NANO => IntervalUnit::MonthDayNano,
            _ => return None,
        }),
        _ => return None,
    })
}

fn unit(unit: ipc::TimeUnit) -> Option<TimeUnit> {
    match unit {
        ipc::TimeUnit::SECOND => Some(TimeUnit::Second),
        ipc::TimeUnit::MILLISECOND => Some(TimeUnit::Millisecond),
        ipc::TimeUnit::MICROSECOND => Some(TimeUnit::Microsecond),
        ipc::TimeUnit::NANOSECOND => Some(TimeUnit::Nanosecond),
        _ => None,
    }
}

fn integer(bit_width: i32, is_signed: bool) -> Option<DataType> {
    Some(match (bit_width, is_signed) {
        (8, true) => DataType::Int8,
        (8, false) => DataType::UInt8,
        (16, true) => DataType::Int16,
        (16, false) => DataType::UInt16,
        (32, true) => DataType::Int32,
        (32, false) => DataType::UInt32,
        (64, true) => DataType::Int64,
        (64, false) => DataType::UInt64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use herringbone_arrow::ipc::convert::IpcSchemaEncoder;
    use herringbone_arrow::schema::{Field, Schema};

    use super::*;

    /// What comes of a list of structs of three columns, seven letters of names, under a budget.
    fn under(fields_left: usize, text_left: usize) -> Result<Hint, String> {
        let columns = ["x", "y", "z"].map(|name| Field::new(name, DataType::Int32, true));
        let item = Field::new("item", DataType::Struct(Vec::from(columns).into()), true);
        let list = Field::new("", DataType::List(Arc::new(item)), true);
        let buffer = IpcSchemaEncoder::new().schema_to_fb(&Schema::new(vec![list]));
        let schema = ipc::root_as_schema(buffer.finished_data()).unwrap();
        let mut decoder = Decoder {
            fields_left,
            text_left,
        };
        decoder.field(schema.fields().unwrap().get(0), 0)
    }

    #[test]
    fn few_bytes_do_not_unfold_to_many_fields() {
        assert!(under(5, 7).is_ok());
        assert!(under(4, 7).is_err());
        assert!(under(5, 6).is_err());
    }
}
