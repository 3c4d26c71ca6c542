//! Converts text to values of Arrow types, exactly. A value that doesn't fit is an error and never
//! approximated.
//!
//! ```text
//! field of CSV ──► Scalar ─┐
//! JSON ──► Json ─► Scalar ─┴─► Slot ─► Column, one per Arrow layout ─► array
//!               └► arrays, objects ─► Slot ─► …
//! ```

mod bytes;
mod encoded;
mod list;
mod make;
pub(super) mod number;
mod period;
mod primitive;
mod structs;
mod temporal;
mod text;
mod usual;
mod variant;

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::schema::Field;
use herringbone_text::json::{JsonError, JsonProblem, JsonReader, JsonToken};

pub use bytes::hex;
pub(super) use make::may_be_empty;
pub(super) use primitive::is_special;
pub(super) use structs::Struct;
pub(super) use temporal::per_second;
pub use variant::variant_type;

/// A scalar value from JSON or CSV, not yet parsed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scalar<'t> {
    /// `true` or `false` in JSON.
    Boolean(bool),
    /// A JSON number, as written.
    Number(&'t str),
    /// The contents of a JSON string.
    Text(&'t str),
    /// A CSV field, which can stand for any of the above.
    Cell(&'t str),
}

impl<'t> Scalar<'t> {
    /// Returns the value's text.
    pub(super) fn text(self) -> &'t str {
        match self {
            Self::Boolean(true) => "true",
            Self::Boolean(false) => "false",
            Self::Number(text) | Self::Text(text) | Self::Cell(text) => text,
        }
    }
}

/// An error about a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ParseError {
    /// The path of the column, and of the fields inside it.
    pub(super) path: Option<String>,
    pub(super) message: String,
    /// True if the column was inferred as dates but this text isn't a date.
    pub(super) is_no_date: bool,
}

/// The result type for values.
pub(super) type Result<T, E = ParseError> = std::result::Result<T, E>;

impl ParseError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            path: None,
            message: message.into(),
            is_no_date: false,
        }
    }

    /// Marks the error as a wrong guess of dates.
    pub(super) fn about_a_date(self) -> Self {
        Self {
            is_no_date: true,
            ..self
        }
    }

    /// Returns the error for a duplicate key in an object. We can't read such an object without
    /// losing a value.
    pub(super) fn key_twice(name: &str) -> Self {
        Self::new(format!("the key `{name}` occurs twice"))
    }

    /// Returns the error that `value` is not a valid `what`, with the reason.
    pub(super) fn invalid(value: Scalar<'_>, what: &impl std::fmt::Display, why: &str) -> Self {
        const SHOWN: usize = 80;
        let text = value.text();
        let mut shown: String = text.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        let quote = match value {
            Scalar::Boolean(_) | Scalar::Number(_) => "",
            Scalar::Text(_) | Scalar::Cell(_) => "\"",
        };
        let colon = if why.is_empty() { "" } else { ": " };
        Self::new(format!(
            "{quote}{shown}{quote} is not a valid {what}{colon}{why}"
        ))
    }

    /// Adds `path`, unless the error already has a more precise path.
    fn of(mut self, path: &str) -> Self {
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// Returns the complete message.
    pub(super) fn into_text(self) -> String {
        match self.path {
            Some(path) => format!("column `{path}`: {}", self.message),
            None => self.message,
        }
    }
}

impl From<JsonError> for ParseError {
    fn from(error: JsonError) -> Self {
        match error.problem {
            JsonProblem::Unexpected { .. } => Self::new(format!("this is not JSON: {error}")),
            _ => Self::new(error.to_string()),
        }
    }
}

/// The rules that decide which values a type accepts.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    /// True for inferred types. In that case, a column only accepts values from which we would
    /// infer the same type. Otherwise, it accepts anything that expresses a value of the given
    /// type.
    pub(super) inferred: bool,
    /// The columns inferred as text even though they also have numbers or booleans.
    pub(super) mixed: Vec<String>,
    /// True if dates were inferred from texts that round-trip. Date columns then reject all other
    /// texts.
    pub(super) has_exact_dates: bool,
}

/// Returns an array with one value of a field, from its text. Bytes can also be given as a literal,
/// such as `x'00ff'`.
///
/// # Errors
/// Fails with a message about the text.
pub fn value_of(field: &Field, text: &str) -> Result<ArrayRef, String> {
    if let Some(array) = bytes::of_hex_literal(field, text) {
        return array;
    }
    let make = || {
        let mut slot = Slot::new(field, "", &Rules::default())?;
        slot.scalar(Scalar::Cell(text))?;
        slot.finish()
    };
    make().map_err(ParseError::into_text)
}

/// A column while it is being built.
pub(super) trait Column {
    /// Appends a null.
    fn null(&mut self);

    /// Appends a value without parts.
    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<()>;

    /// Fast path that appends a CSV field in the type's usual form. For any other text, this
    /// appends nothing and returns false, but [`scalar`](Self::scalar) might still accept the text.
    ///
    /// The usual form is unambiguous, so inference would give the same type.
    fn usual(&mut self, _text: &str) -> bool {
        false
    }

    /// Fast path that appends a whole JSON number in a numeric type's usual form. This takes a
    /// single pass over the digits, unlike [`scalar`](Self::scalar). For any other text or type,
    /// this appends nothing and returns false.
    fn usual_number(&mut self, _text: &str) -> bool {
        false
    }

    /// Appends a JSON array, starting after its opening bracket.
    fn array(&mut self, _json: &mut JsonReader<'_>) -> Result<()> {
        Err(ParseError::new("expected a single value, found an array"))
    }

    /// Appends a JSON object, starting after its opening brace.
    fn object(&mut self, _json: &mut JsonReader<'_>) -> Result<()> {
        Err(ParseError::new("expected a single value, found an object"))
    }

    /// Appends a JSON `null`, if the column has such a value in addition to a row's null.
    fn json_null(&mut self) -> Option<Result<()>> {
        None
    }

    /// Returns the values so far. Later values begin a new array.
    fn finish(&mut self) -> Result<ArrayRef>;
}

/// A column with its name, or a field inside a column.
pub(super) struct Slot {
    path: String,
    nullable: bool,
    column: Box<dyn Column>,
}

impl Slot {
    /// Creates the slot for a field below `parent`, which is empty for a column.
    ///
    /// # Errors
    /// Fails if text cannot be read as the field's type.
    pub(super) fn new(field: &Field, parent: &str, rules: &Rules) -> Result<Self> {
        let dot = if parent.is_empty() { "" } else { "." };
        let path = format!("{parent}{dot}{}", field.name());
        let column = make::column(field, &path, rules).map_err(|error| error.of(&path))?;
        Ok(Self {
            path,
            nullable: field.is_nullable(),
            column,
        })
    }

    /// Returns true if the slot has this name.
    pub(super) fn is_called(&self, path: &str) -> bool {
        self.path == path
    }

    /// Adds the slot's name to an error.
    pub(super) fn locate(&self, error: ParseError) -> ParseError {
        error.of(&self.path)
    }

    /// Appends a null. Fails if the field is not nullable.
    pub(super) fn null(&mut self) -> Result<()> {
        if !self.nullable {
            return Err(
                ParseError::new("found a null, but the column is `not null`").of(&self.path),
            );
        }
        self.column.null();
        Ok(())
    }

    /// Returns true if the field is nullable.
    pub(super) fn is_nullable(&self) -> bool {
        self.nullable
    }

    /// Appends a placeholder below a null.
    pub(super) fn fill(&mut self) {
        self.column.null();
    }

    /// Appends a value without parts.
    pub(super) fn scalar(&mut self, scalar: Scalar<'_>) -> Result<()> {
        let appended = self.column.scalar(scalar);
        appended.map_err(|error| error.of(&self.path))
    }

    /// Appends a CSV field in the type's usual form. Returns false for any other text.
    pub(super) fn usual(&mut self, text: &str) -> bool {
        self.column.usual(text)
    }

    /// Appends the next value of a JSON text.
    pub(super) fn json(&mut self, json: &mut JsonReader<'_>) -> Result<()> {
        let appended = match json.value()? {
            JsonToken::Null if self.nullable => return self.null(),
            JsonToken::Null => match self.column.json_null() {
                Some(appended) => appended,
                None => return self.null(),
            },
            JsonToken::Boolean(value) => self.column.scalar(Scalar::Boolean(value)),
            JsonToken::Number(number)
                if number.fraction.is_empty() && self.column.usual_number(number.text) =>
            {
                Ok(())
            }
            JsonToken::Number(number) => self.column.scalar(Scalar::Number(number.text)),
            JsonToken::NonFinite(_) => return Err(json.unexpected("a JSON value").into()),
            JsonToken::Text(text) => self.column.scalar(Scalar::Text(&text.to_cow())),
            JsonToken::Array => self.column.array(json),
            JsonToken::Object => self.column.object(json),
        };
        appended.map_err(|error| error.of(&self.path))
    }

    /// Returns the values so far.
    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        self.column.finish().map_err(|error| error.of(&self.path))
    }
}
