//! Texts of a column as values of its type.
//!
//! Text stays as it is, numbers and the like have parsers. Everything else is read as JSON: as a
//! string, or, of nested types, as it is.

use std::sync::Arc;

use arrow_cast::parse::Parser;
use arrow_json::ReaderBuilder;
use herringbone_arrow::array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use herringbone_arrow::array::{
    ArrayRef, BooleanArray, LargeStringArray, PrimitiveArray, StringArray, StringViewArray,
};
use herringbone_arrow::schema::{ArrowError, DataType, FieldRef, TimeUnit};

use crate::load::json::message;
use crate::load::values::Values;
use crate::render::text::push_json_string;

/// The texts, `None` where there is a null, as values of `field`.
///
/// # Errors
/// A text that is no value of the type; it names the column.
pub(super) fn column(field: &FieldRef, texts: &[Option<&str>]) -> Result<ArrayRef, ArrowError> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    match field.data_type() {
        DataType::Utf8 => Ok(Arc::new(texts.iter().collect::<StringArray>())),
        DataType::LargeUtf8 => Ok(Arc::new(texts.iter().collect::<LargeStringArray>())),
        DataType::Utf8View => Ok(Arc::new(texts.iter().collect::<StringViewArray>())),
        DataType::Boolean => booleans(field, texts),
        DataType::Int8 => numbers::<Int8Type>(field, texts),
        DataType::Int16 => numbers::<Int16Type>(field, texts),
        DataType::Int32 => numbers::<Int32Type>(field, texts),
        DataType::Int64 => numbers::<Int64Type>(field, texts),
        DataType::UInt8 => numbers::<UInt8Type>(field, texts),
        DataType::UInt16 => numbers::<UInt16Type>(field, texts),
        DataType::UInt32 => numbers::<UInt32Type>(field, texts),
        DataType::UInt64 => numbers::<UInt64Type>(field, texts),
        DataType::Float32 => numbers::<Float32Type>(field, texts),
        DataType::Float64 => numbers::<Float64Type>(field, texts),
        DataType::Date32 => numbers::<Date32Type>(field, texts),
        DataType::Date64 => numbers::<Date64Type>(field, texts),
        DataType::Time32(Second) => numbers::<Time32SecondType>(field, texts),
        DataType::Time32(Millisecond) => numbers::<Time32MillisecondType>(field, texts),
        DataType::Time64(Microsecond) => numbers::<Time64MicrosecondType>(field, texts),
        DataType::Time64(Nanosecond) => numbers::<Time64NanosecondType>(field, texts),
        _ => json(field, texts),
    }
}

/// Whether there is a value of the type whose text is empty.
pub(super) fn may_be_empty(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        DataType::FixedSizeBinary(width) => *width == 0,
        DataType::Dictionary(_, values) => may_be_empty(values),
        DataType::RunEndEncoded(_, values) => may_be_empty(values.data_type()),
        _ => false,
    }
}

fn numbers<T: ArrowPrimitiveType + Parser>(
    field: &FieldRef,
    texts: &[Option<&str>],
) -> Result<ArrayRef, ArrowError> {
    let number = |text: &Option<&str>| {
        text.map(|text| T::parse(text).ok_or_else(|| wrong(field, text)))
            .transpose()
    };
    let numbers = texts.iter().map(number);
    Ok(Arc::new(numbers.collect::<Result<PrimitiveArray<T>, _>>()?))
}

fn booleans(field: &FieldRef, texts: &[Option<&str>]) -> Result<ArrayRef, ArrowError> {
    let boolean = |text: &Option<&str>| match *text {
        None => Ok(None),
        Some(text) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
        Some(text) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
        Some(text) => Err(wrong(field, text)),
    };
    let booleans = texts.iter().map(boolean);
    Ok(Arc::new(booleans.collect::<Result<BooleanArray, _>>()?))
}

fn wrong(field: &FieldRef, text: &str) -> ArrowError {
    ArrowError::CsvError(format!(
        "Error while parsing value '{text}' as type '{}' for column `{}`",
        field.data_type(),
        field.name()
    ))
}

fn json(field: &FieldRef, texts: &[Option<&str>]) -> Result<ArrayRef, ArrowError> {
    let mut json = String::new();
    for text in texts {
        match text {
            None => json.push_str("null"),
            Some(text) if field.data_type().is_nested() => json.push_str(text),
            Some(text) => push_json_string(&mut json, text),
        }
        json.push('\n');
    }
    let wrong = |error: ArrowError| {
        ArrowError::CsvError(format!("{} for column `{}`", message(error), field.name()))
    };
    let mut decoder = ReaderBuilder::new_with_field(field.clone())
        .with_batch_size(texts.len().max(1))
        .with_strict_mode(true)
        .with_decoder_factory(Arc::new(Values))
        .build_decoder()
        .map_err(wrong)?;
    let taken = decoder.decode(json.as_bytes()).map_err(wrong)?;
    let batch = decoder.flush().map_err(wrong)?;
    let rest = json.get(taken..).unwrap_or_default();
    match batch.map(|batch| batch.column(0).clone()) {
        Some(column) if column.len() == texts.len() && rest.trim().is_empty() => Ok(column),
        _ => Err(wrong(ArrowError::CsvError("no JSON".into()))),
    }
}
