//! Reads values from JSON text. This takes one pass, goes straight into a builder, and does not
//! recurse.

use herringbone_format::{Error, Result};
use herringbone_text::json::{JsonError, JsonReader, JsonText, JsonToken};

use super::{JsonOptions, number};
use crate::builder::VariantBuilder;
use crate::owned::VariantBuf;
use crate::value::Value;

impl VariantBuilder {
    /// Appends the value of a JSON text (RFC 8259). The module [`json`](crate::json) shows which
    /// values it becomes.
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument), and with the byte position,
    /// if the text is not JSON or has half a surrogate pair. Fails for numbers that cannot be
    /// represented, and for the reasons of [`VariantBuilder::push`] and [`VariantBuilder::field`].
    /// After an error the value is half built, so call [`VariantBuilder::clear`].
    pub fn push_json(&mut self, text: &str, options: &JsonOptions) -> Result<()> {
        // The reader needs no depth limit of its own, because it does not recurse, and the builder
        // limits the levels.
        let mut reader = Reader {
            json: JsonReader::new(text)
                .with_max_depth(usize::MAX)
                .allow_non_finite(options.non_finite),
            options,
            unescaped: String::new(),
        };
        reader.value(self)?;
        reader.json.end().map_err(not_json)
    }
}

impl VariantBuf {
    /// Reads the value of a JSON text (RFC 8259). The module [`json`](crate::json) shows which
    /// values it becomes.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`VariantBuilder::push_json`].
    pub fn from_json(text: &str) -> Result<Self> {
        let mut builder = VariantBuilder::new();
        builder.push_json(text, &JsonOptions::default())?;
        builder.finish()
    }
}

struct Reader<'a> {
    json: JsonReader<'a>,
    options: &'a JsonOptions,
    /// The last string that had escapes, with the escapes replaced.
    unescaped: String,
}

impl Reader<'_> {
    /// Reads one value with everything in it.
    fn value(&mut self, builder: &mut VariantBuilder) -> Result<()> {
        self.begin(builder)?;
        while self.json.depth() > 0 {
            let has_more = match self.json.is_in_object() {
                true => self.field(builder)?,
                false => self.json.item().map_err(not_json)?,
            };
            match has_more {
                true => self.begin(builder)?,
                false => builder.end()?,
            }
        }
        Ok(())
    }

    /// Reads a primitive value, or the beginning of an object or array.
    #[inline]
    fn begin(&mut self, builder: &mut VariantBuilder) -> Result<()> {
        match self.json.value().map_err(not_json)? {
            JsonToken::Null => builder.push(Value::Null),
            JsonToken::Boolean(value) => builder.push(value),
            JsonToken::Number(number) => number::push(&number, builder, self.options),
            JsonToken::NonFinite(value) => builder.push(value),
            JsonToken::Text(text) => builder.push(self.unescape(text)),
            JsonToken::Array => builder.begin_array(),
            JsonToken::Object => builder.begin_object(),
        }
    }

    /// Reads the name of the next field. Returns false if there is none.
    #[inline]
    fn field(&mut self, builder: &mut VariantBuilder) -> Result<bool> {
        match self.json.key().map_err(not_json)? {
            Some(name) => builder.field(self.unescape(name)).map(|()| true),
            None => Ok(false),
        }
    }

    #[inline]
    fn unescape<'s>(&'s mut self, text: JsonText<'s>) -> &'s str {
        text.plain().unwrap_or_else(|| {
            self.unescaped.clear();
            text.push_to(&mut self.unescaped);
            &self.unescaped
        })
    }
}

#[cold]
fn not_json(error: JsonError) -> Error {
    Error::argument(format!("byte {} of the JSON: {error}", error.position))
}
