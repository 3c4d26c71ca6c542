//! Reads any JSON as variants.

use std::sync::Arc;

use herringbone::variant::json::JsonOptions;
use herringbone::variant::shredding::{Shredder, ShreddingType};
use herringbone::variant::{Value, VariantBuilder};
use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::schema::{DataType, Field};
use herringbone_text::json::{JsonReader, JsonToken};

use super::{Column, ParseError, Result, Scalar};

/// Returns the Arrow type for reading variants.
///
/// # Errors
/// Never fails, because the type is not shredded.
pub fn variant_type() -> herringbone::Result<DataType> {
    ShreddingType::Unshredded.storage_type()
}

/// A column of unshredded variants.
pub(super) struct Variants {
    builder: VariantBuilder,
    options: JsonOptions,
    values: Shredder,
    /// A deferred error, since appending a null can't fail. `finish` returns it.
    failed: Option<ParseError>,
}

fn parse_error(error: herringbone::Error) -> ParseError {
    ParseError::new(error.to_string())
}

impl Variants {
    /// Creates the column for a field annotated as variant.
    pub(super) fn new(field: &Field) -> Result<Self> {
        let data_type = variant_type().map_err(parse_error)?;
        if *field.data_type() != data_type {
            return Err(ParseError::new(format!(
                "variants must be read as {data_type}, not as {}",
                field.data_type()
            )));
        }
        Ok(Self {
            builder: VariantBuilder::new(),
            options: JsonOptions::default(),
            values: Shredder::new(ShreddingType::Unshredded).map_err(parse_error)?,
            failed: None,
        })
    }

    /// Appends the rest of an array or object to the unfinished value.
    fn inner(&mut self, json: &mut JsonReader<'_>, is_array: bool) -> Result<()> {
        if is_array {
            self.builder.begin_array().map_err(parse_error)?;
            while json.item()? {
                self.json(json)?;
            }
        } else {
            self.builder.begin_object().map_err(parse_error)?;
            while let Some(name) = json.key()? {
                self.builder.field(&name.to_cow()).map_err(parse_error)?;
                self.json(json)?;
            }
        }
        self.builder.end().map_err(parse_error)
    }

    /// Appends the next value. The recursion is bounded by the reader's depth limit.
    fn json(&mut self, json: &mut JsonReader<'_>) -> Result<()> {
        match json.value()? {
            JsonToken::Null => self.builder.push(Value::Null).map_err(parse_error),
            JsonToken::Boolean(value) => self.push(Scalar::Boolean(value)),
            JsonToken::Number(number) => self.push(Scalar::Number(number.text)),
            JsonToken::NonFinite(_) => Err(json.unexpected("a JSON value").into()),
            JsonToken::Text(text) => self.push(Scalar::Text(&text.to_cow())),
            JsonToken::Array => self.inner(json, true),
            JsonToken::Object => self.inner(json, false),
        }
    }

    fn push(&mut self, scalar: Scalar<'_>) -> Result<()> {
        match scalar {
            Scalar::Boolean(value) => self.builder.push(value),
            Scalar::Text(text) => self.builder.push(text),
            Scalar::Number(text) | Scalar::Cell(text) => {
                self.builder.push_json(text, &self.options)
            }
        }
        .map_err(parse_error)
    }

    fn append(&mut self) -> Result<()> {
        let value = self.builder.finish().map_err(parse_error)?;
        self.values.append(value.as_variant()).map_err(parse_error)
    }
}

impl Column for Variants {
    fn null(&mut self) {
        if let Err(error) = self.values.append_null() {
            self.failed.get_or_insert(parse_error(error));
        }
    }

    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<()> {
        self.push(scalar)?;
        self.append()
    }

    fn array(&mut self, json: &mut JsonReader<'_>) -> Result<()> {
        self.inner(json, true)?;
        self.append()
    }

    fn object(&mut self, json: &mut JsonReader<'_>) -> Result<()> {
        self.inner(json, false)?;
        self.append()
    }

    fn json_null(&mut self) -> Option<Result<()>> {
        let pushed = self.builder.push(Value::Null).map_err(parse_error);
        Some(pushed.and_then(|()| self.append()))
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let next = Shredder::new(ShreddingType::Unshredded).map_err(parse_error)?;
        let values = std::mem::replace(&mut self.values, next);
        Ok(Arc::new(values.finish().map_err(parse_error)?))
    }
}
