//! Several files' key-value metadata, combined and reduced to the pairs that describe the new file correctly. Some keys
//! repeat the column descriptions. Readers would be misled if these no longer fit, so we adapt such keys or leave them
//! out.
//!
//! ```text
//! collect.rs   pairs of all files, one file after the other
//! calendar.rs  keys that record the calendar in which days are counted
//! spark.rs, avro.rs, pandas.rs   keys that repeat the description of the columns, adapted to the written columns
//! ```

mod avro;
mod calendar;
mod collect;
mod pandas;
mod spark;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use herringbone::Result;
use herringbone::format::KeyValue;
use herringbone::schema::ParquetSchema;
use herringbone_arrow::schema::{Field, Fields, Schema, SchemaRef};
use herringbone_text::json::JsonValue;

use crate::Note;
use crate::columns::{Columns, fields};

pub(crate) use calendar::CalendarKeys;
pub(crate) use collect::KeyValues;

/// A file contributing its pairs.
#[derive(Debug)]
pub(crate) struct OriginalFile {
    /// The file's name in notes and errors.
    pub(crate) name: String,
    pub(crate) schema: ParquetSchema,
    /// True if all row groups are read, in file order.
    pub(crate) is_whole: bool,
    /// The keys recording the file's calendar.
    pub(crate) calendar: CalendarKeys,
}

/// The new file's properties, as far as metadata might describe them.
pub(crate) struct NewFile<'a> {
    pub(crate) arrow_schema: &'a Schema,
    pub(crate) schema: &'a ParquetSchema,
    /// True if the rows are sorted anew.
    pub(crate) is_sorted: bool,
}

/// The value's form, for a key that describes the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Spark,
    Avro,
    Pandas,
    /// Bytes or text that we do not parse.
    Opaque,
}

/// The keys describing a file's columns.
const DESCRIPTIONS: [(&str, Form); 8] = [
    ("org.apache.spark.sql.parquet.row.metadata", Form::Spark),
    ("spark.sql.parquet.row.metadata", Form::Spark),
    ("parquet.avro.schema", Form::Avro),
    ("avro.schema", Form::Avro),
    ("pandas", Form::Pandas),
    ("iceberg.schema", Form::Opaque),
    ("parquet.proto.descriptor", Form::Opaque),
    ("thrift.descriptor", Form::Opaque),
];

/// Returns the form of a key's value, if the key describes the columns.
fn form(key: &str) -> Option<Form> {
    let description = DESCRIPTIONS.iter().find(|(name, _)| *name == key);
    description.map(|(_, form)| *form)
}

/// The outcome of adapting a value.
enum Adapted {
    Same,
    Changed(JsonValue),
    /// The value would no longer describe the new file's columns.
    Untrue,
}

/// Adapts column descriptions to the new file.
pub(crate) struct Descriptions<'a> {
    files: &'a [OriginalFile],
    new: &'a NewFile<'a>,
    /// Each file's comparison with the new file, computed on first use.
    columns: Vec<OnceCell<Columns<'a>>>,
}

impl<'a> Descriptions<'a> {
    pub(crate) fn new(files: &'a [OriginalFile], new: &'a NewFile<'a>) -> Self {
        Self {
            files,
            new,
            columns: files.iter().map(|_| OnceCell::new()).collect(),
        }
    }

    /// Returns the pairs that are true for the new file, and the schema with the same metadata.
    pub(crate) fn adapt(
        &self,
        collected: &KeyValues,
        schema: &SchemaRef,
        notes: &mut Vec<Note>,
    ) -> (Vec<KeyValue>, SchemaRef) {
        let mut pairs = Vec::new();
        for (pair, file) in collected.pairs() {
            let form = match collected.repeats(&pair.key) {
                // We don't adapt repeated values, since readers might use any of them.
                true => form(&pair.key).map(|_| Form::Opaque),
                false => form(&pair.key),
            };
            pairs.extend(
                match self.value(&pair.key, form, pair.value.as_deref(), file, notes) {
                    Adapted::Same => Some(pair.clone()),
                    Adapted::Changed(value) => {
                        Some(KeyValue::new(pair.key.clone(), value.to_string()))
                    }
                    Adapted::Untrue => None,
                },
            );
        }
        let mut metadata = HashMap::new();
        for (key, value) in schema.metadata() {
            // All other keys are only in the Arrow schema, and that comes from the first file.
            if collected.has(key) {
                continue;
            }
            match self.value(key, form(key), Some(value.as_bytes()), 0, notes) {
                Adapted::Same => metadata.insert(key.clone(), value.clone()),
                Adapted::Changed(value) => metadata.insert(key.clone(), value.to_string()),
                Adapted::Untrue => None,
            };
        }
        for pair in &pairs {
            if let Some(text) = pair.text() {
                metadata.insert(pair.key.clone(), text.to_owned());
            }
        }
        let schema = Schema::new_with_metadata(schema.fields().clone(), metadata);
        (pairs, Arc::new(schema))
    }

    /// Adapts a key's value to the new file, adding a note if it cannot be kept.
    fn value(
        &self,
        key: &str,
        form: Option<Form>,
        value: Option<&[u8]>,
        file: usize,
        notes: &mut Vec<Note>,
    ) -> Adapted {
        let original = self.files.get(file).zip(self.columns.get(file));
        let (Some(form), Some((original, columns)), Some(value)) = (form, original, value) else {
            return Adapted::Same;
        };
        // Non-UTF-8 bytes become an empty text. It fails to parse, just like any text other than JSON.
        let text = str::from_utf8(value).unwrap_or_default();
        let compare = || Columns::compare(&original.schema, self.new.schema);
        let adapted = self.adapted(form, original, columns.get_or_init(compare), text, notes);
        if matches!(adapted, Adapted::Untrue) {
            let note = Note::KeyLeftOut {
                file: original.name.clone(),
                key: key.to_owned(),
            };
            if notes.last() != Some(&note) {
                notes.push(note);
            }
        }
        adapted
    }

    /// Returns the names of all columns missing from some file.
    fn with_gaps(&self) -> HashSet<&'a str> {
        let names = |schema| fields(schema).map(|field| field.name());
        let mut gaps = HashSet::new();
        for file in self.files {
            let here: HashSet<&str> = names(&file.schema).collect();
            gaps.extend(names(self.new.schema).filter(|name| !here.contains(name)));
        }
        gaps
    }

    fn adapted(
        &self,
        form: Form,
        original: &OriginalFile,
        columns: &Columns<'_>,
        text: &str,
        notes: &mut Vec<Note>,
    ) -> Adapted {
        if columns.are_same() && form != Form::Pandas {
            return Adapted::Same;
        }
        let Ok(value) = JsonValue::parse(text) else {
            // If the columns are the same, we keep any text we can't parse. Readers can't parse it either, so it
            // doesn't mislead them.
            return match columns.are_same() {
                true => Adapted::Same,
                false => Adapted::Untrue,
            };
        };
        let arrow = self.new.arrow_schema;
        let mut adapted = value.clone();
        let is_true = match form {
            Form::Spark => spark::adapt(&mut adapted, arrow, columns),
            Form::Avro => avro::adapt(&mut adapted, arrow, columns),
            Form::Pandas => {
                let keeps_rows = self.files.len() == 1 && original.is_whole && !self.new.is_sorted;
                let rows = (keeps_rows, &self.with_gaps());
                let told = pandas::adapt(&mut adapted, arrow, columns, rows);
                if told.loses_index {
                    notes.push(Note::PandasIndex {
                        file: original.name.clone(),
                    });
                }
                told.is_true
            }
            Form::Opaque => false,
        };
        match is_true {
            true if adapted == value => Adapted::Same,
            true => Adapted::Changed(adapted),
            false => Adapted::Untrue,
        }
    }
}

/// Returns an error if the keys would make readers count one file's days in another file's calendar.
///
/// # Errors
/// Fails with Unsupported. The error names the files and columns.
pub(crate) fn check_calendars(
    files: &[OriginalFile],
    pairs: &[KeyValue],
    new: &ParquetSchema,
) -> Result<()> {
    calendar::check(files, &CalendarKeys::of(pairs), new)
}

/// Returns the fields by name, or `None` if two fields have the same name.
fn by_name(fields: &Fields) -> Option<HashMap<&str, &Field>> {
    let pairs = fields
        .iter()
        .map(|field| (field.name().as_str(), field.as_ref()));
    let map: HashMap<_, _> = pairs.collect();
    (map.len() == fields.len()).then_some(map)
}

/// Returns a described field's name.
fn name(described: &JsonValue) -> Option<&str> {
    described.get("name")?.as_text()
}

/// Returns an object's array member, mutably.
fn array_mut<'j>(value: &'j mut JsonValue, key: &str) -> Option<&'j mut Vec<JsonValue>> {
    match member_mut(value, key)? {
        JsonValue::Array(items) => Some(items),
        _ => None,
    }
}

/// Returns an object's member, mutably.
fn member_mut<'j>(value: &'j mut JsonValue, key: &str) -> Option<&'j mut JsonValue> {
    match value {
        JsonValue::Object(object) => object.get_mut(key),
        _ => None,
    }
}
