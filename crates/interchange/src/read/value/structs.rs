//! Builds structs from JSON objects with known names.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, StructArray};
use herringbone_arrow::buffer::NullBuffer;
use herringbone_arrow::schema::{ArrowError, Fields};
use herringbone_text::json::{JsonReader, JsonToken};

use super::{Column, ParseError, Result, Rules, Scalar, Slot};

/// A struct, also used for all columns of a file together.
pub(crate) struct Struct {
    fields: Fields,
    path: String,
    /// The index of each name.
    places: HashMap<String, usize>,
    slots: Vec<Slot>,
    valid: Vec<bool>,
    /// For each field, the number of the last object that contains it. We use this to detect
    /// duplicate and missing names.
    named: Vec<usize>,
    objects: usize,
}

impl Struct {
    /// Creates a struct from the fields below `path`.
    pub(crate) fn new(fields: &Fields, path: &str, rules: &Rules) -> Result<Self> {
        let slots = fields.iter().map(|field| Slot::new(field, path, rules));
        Ok(Self {
            path: path.to_owned(),
            ..Self::of(fields, slots.collect::<Result<_>>()?)
        })
    }

    /// Creates a struct from fields and their columns.
    pub(crate) fn of(fields: &Fields, slots: Vec<Slot>) -> Self {
        let places = fields.iter().enumerate().rev();
        Self {
            named: vec![0; slots.len()],
            path: String::new(),
            places: places
                .map(|(at, field)| (field.name().clone(), at))
                .collect(),
            fields: fields.clone(),
            slots,
            valid: Vec::new(),
            objects: 0,
        }
    }

    /// Returns the number of values so far.
    pub(crate) fn len(&self) -> usize {
        self.valid.len()
    }

    /// Returns the values so far, with one array per field.
    pub(crate) fn columns(&mut self) -> Result<Vec<ArrayRef>> {
        self.valid.clear();
        self.slots.iter_mut().map(Slot::finish).collect()
    }

    /// Returns a field's index. We try `expected` first, since fields tend to be in order.
    fn find(&self, name: &str, expected: usize) -> Option<usize> {
        match self.fields.get(expected) {
            Some(field) if field.name() == name => Some(expected),
            _ => self.places.get(name).copied(),
        }
    }
}

impl Column for Struct {
    fn null(&mut self) {
        self.valid.push(false);
        self.slots.iter_mut().for_each(Slot::fill);
    }

    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<()> {
        match scalar {
            Scalar::Cell(text) => whole(self, text),
            _ => Err(ParseError::invalid(scalar, &"object", "")),
        }
    }

    fn array(&mut self, _json: &mut JsonReader<'_>) -> Result<()> {
        Err(ParseError::new("expected an object, found an array"))
    }

    fn object(&mut self, json: &mut JsonReader<'_>) -> Result<()> {
        self.objects += 1;
        let mut expected = 0;
        while let Some(key) = json.key()? {
            let key = key.to_cow();
            let Some(at) = self.find(&key, expected) else {
                let dot = if self.path.is_empty() { "" } else { "." };
                let path = format!("{}{dot}{key}", self.path);
                return Err(ParseError::new("it is not in the schema").of(&path));
            };
            let (Some(named), Some(slot)) = (self.named.get_mut(at), self.slots.get_mut(at)) else {
                continue;
            };
            if std::mem::replace(named, self.objects) == self.objects {
                return Err(ParseError::key_twice(&key));
            }
            slot.json(json)?;
            expected = at + 1;
        }
        for (slot, named) in self.slots.iter_mut().zip(&self.named) {
            if *named != self.objects {
                slot.null()?;
            }
        }
        self.valid.push(true);
        Ok(())
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        let nulls = nulls(&mut self.valid);
        if self.slots.is_empty() {
            let length = nulls.1;
            return Ok(Arc::new(StructArray::new_empty_fields(length, nulls.0)));
        }
        let columns = self.slots.iter_mut().map(Slot::finish);
        let columns = columns.collect::<Result<_>>()?;
        let array = StructArray::try_new(self.fields.clone(), columns, nulls.0);
        Ok(Arc::new(array.map_err(arrow)?))
    }
}

/// Returns the nulls (if there are any) and the number of values.
pub(super) fn nulls(valid: &mut Vec<bool>) -> (Option<NullBuffer>, usize) {
    let valid = std::mem::take(valid);
    let length = valid.len();
    let nulls = NullBuffer::from(valid);
    (Some(nulls).filter(|nulls| nulls.null_count() > 0), length)
}

/// Converts an Arrow error about an array.
pub(super) fn arrow(error: ArrowError) -> ParseError {
    ParseError::new(error.to_string())
}

/// Appends a JSON array or object in a CSV field.
pub(super) fn whole(column: &mut dyn Column, text: &str) -> Result<()> {
    let mut json = JsonReader::new(text);
    match json.value()? {
        JsonToken::Array => column.array(&mut json)?,
        JsonToken::Object => column.object(&mut json)?,
        _ => {
            return Err(ParseError::invalid(
                Scalar::Cell(text),
                &"JSON array or object",
                "",
            ));
        }
    }
    Ok(json.end()?)
}
