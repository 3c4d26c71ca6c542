//! A small extension type for text, which is stored as integers if the first rows are integers.
//!
//! ```text
//! Arrow: Utf8, `test.cell`           optional group c (annotation 99) {
//!                                      optional int64 typed;   if all of the first batch are integers
//!                                      optional binary text (STRING);   for all other values
//!                                    }
//!                                    optional int32 c_length;   characters
//! ```

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{
    Array, ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, StructArray,
};
use herringbone::arrow::schema::extension::EXTENSION_TYPE_NAME_KEY;
use herringbone::arrow::schema::{DataType, Field, FieldRef, Fields, Schema};
use herringbone::extension::{
    AnnotatedField, ExtensionField, ExtensionMapping, ExtensionType, StorageWriter, StoredField,
    WrittenField,
};
use herringbone::format::{KeyValue, LogicalType};
use herringbone::{Error, ParquetFile, Result, WriteOptions, Writer};

pub(super) const NAME: &str = "test.cell";

/// Returns an annotation that the format may define one day.
pub(super) fn annotation() -> LogicalType {
    LogicalType::Unrecognized {
        field_id: 99,
        parameters: vec![0],
    }
}

/// Adds the extension type's name to a field.
pub(super) fn named(field: Field) -> Field {
    let pair = (EXTENSION_TYPE_NAME_KEY.to_owned(), NAME.to_owned());
    field.with_metadata(HashMap::from([pair]))
}

pub(super) fn field(name: &str) -> Field {
    named(Field::new(name, DataType::Utf8, true))
}

/// The extension type for whole cells, which are read as text.
#[derive(Debug, Default)]
pub(super) struct Cell {
    /// True if there is a column with the cells' lengths.
    pub(super) has_lengths: bool,
    /// The types of the storage from which arrays were built.
    pub(super) seen: Arc<Mutex<Vec<DataType>>>,
}

impl ExtensionMapping for Cell {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        let is_cell = stored.logical_type() == Some(&annotation());
        let field = || named(stored.storage.clone().with_data_type(DataType::Utf8));
        Ok(is_cell.then(|| ExtensionField::of_arrays(field())))
    }

    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>> {
        let is_cell = field.extension_type_name() == Some(NAME);
        Ok(is_cell.then(|| AnnotatedField::new(field.clone(), annotation())))
    }
}

impl ExtensionType for Cell {
    fn make_array(&self, storage: &ArrayRef, field: &Field) -> Result<ArrayRef> {
        assert_eq!(*field, named(field.clone()));
        self.seen.lock().unwrap().push(storage.data_type().clone());
        let cells = storage.as_struct();
        let typed = cells.column_by_name("typed");
        let typed = typed.map(|typed| typed.as_primitive::<Int64Type>());
        let text = cells
            .column_by_name("text")
            .ok_or_else(|| Error::corrupt("a cell without text"))?
            .as_string::<i32>();
        let cell = |row: usize| match typed.filter(|typed| typed.is_valid(row)) {
            _ if cells.is_null(row) => None,
            Some(typed) => Some(typed.value(row).to_string()),
            None => Some(text.value(row).to_owned()),
        };
        let cells: StringArray = (0..cells.len()).map(cell).collect();
        Ok(Arc::new(cells))
    }

    fn storage_writer(&self, written: &WrittenField<'_>) -> Result<Option<Box<dyn StorageWriter>>> {
        let field = written.field;
        let is_cell = field.extension_type_name() == Some(NAME);
        Ok(is_cell.then(|| -> Box<dyn StorageWriter> {
            Box::new(CellWriter {
                field: field.clone(),
                has_lengths: self.has_lengths,
                is_typed: false,
                rows: 0,
            })
        }))
    }
}

struct CellWriter {
    field: Field,
    has_lengths: bool,
    is_typed: bool,
    rows: usize,
}

impl CellWriter {
    fn parts(&self) -> Fields {
        let typed = Field::new("typed", DataType::Int64, true);
        let text = Field::new("text", DataType::Utf8, true);
        let typed = self.is_typed.then_some(typed);
        typed.into_iter().chain([text]).collect()
    }
}

impl StorageWriter for CellWriter {
    fn fields(&mut self, first: &ArrayRef) -> Result<Vec<FieldRef>> {
        let mut cells = first.as_string::<i32>().iter().flatten();
        self.is_typed = !first.is_empty() && cells.all(|cell| cell.parse::<i64>().is_ok());
        let own = self.field.clone().with_name("any name");
        let own = own.with_data_type(DataType::Struct(self.parts()));
        let mut fields = vec![Arc::new(own)];
        if self.has_lengths {
            let name = format!("{}_length", self.field.name());
            fields.push(Arc::new(Field::new(name, DataType::Int32, true)));
        }
        Ok(fields)
    }

    fn arrays(&mut self, array: &ArrayRef) -> Result<Vec<ArrayRef>> {
        let cells = array.as_string::<i32>();
        if cells.iter().flatten().any(|cell| cell == "bad") {
            return Err(Error::argument("a bad cell"));
        }
        self.rows += cells.len();
        let typed = |cell: Option<&str>| cell?.parse().ok().filter(|_| self.is_typed);
        let numbers: Int64Array = cells.iter().map(typed).collect();
        let texts = cells
            .iter()
            .map(|cell| cell.filter(|_| typed(cell).is_none()));
        let texts: StringArray = texts.collect();
        let numbers = self.is_typed.then(|| -> ArrayRef { Arc::new(numbers) });
        let parts = numbers.into_iter().chain([Arc::new(texts) as ArrayRef]);
        let nulls = cells.nulls().cloned();
        let own = StructArray::new(self.parts(), parts.collect(), nulls);
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(own)];
        if self.has_lengths {
            let length = |cell: Option<&str>| cell.map(|cell| cell.chars().count() as i32);
            let lengths: Int32Array = cells.iter().map(length).collect();
            arrays.push(Arc::new(lengths));
        }
        Ok(arrays)
    }

    fn key_values(&mut self) -> Result<Vec<KeyValue>> {
        Ok(vec![KeyValue::new(
            "cells",
            format!("{} of {}", self.rows, self.field.name()),
        )])
    }
}

/// An extension type that reads only the integers of cells, as a type that the reader chooses.
#[derive(Debug)]
pub(super) struct Integers(pub(super) DataType);

impl ExtensionMapping for Integers {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        let is_cell = stored.logical_type() == Some(&annotation());
        let field = || Field::new("", self.0.clone(), true);
        Ok(is_cell.then(|| ExtensionField::of_arrays(field())))
    }

    fn leaves(&self, stored: &StoredField<'_>) -> Result<Vec<usize>> {
        let mut fields = stored.schema.children(stored.ordinal);
        let nodes = stored.schema.nodes();
        let typed = fields.find(|field| nodes[*field].element.name == "typed");
        Ok(typed.map_or_else(Vec::new, |typed| vec![nodes[typed].leaves.start]))
    }

    fn to_parquet(&self, _: &Field) -> Result<Option<AnnotatedField>> {
        Ok(None)
    }
}

impl ExtensionType for Integers {
    fn make_array(&self, storage: &ArrayRef, _: &Field) -> Result<ArrayRef> {
        let cells = storage.as_struct();
        let typed = cells.column_by_name("typed").unwrap();
        let typed = typed.as_primitive::<Int64Type>();
        Ok(match self.0 {
            DataType::Float64 => {
                let floats = typed.iter().map(|value| value.map(|value| value as f64));
                Arc::new(floats.collect::<Float64Array>())
            }
            _ => Arc::new(typed.clone()),
        })
    }
}

/// An extension type that reads any field in its stored form, and annotates it as a cell when it is written.
#[derive(Debug)]
pub(super) struct AsStored;

impl ExtensionMapping for AsStored {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        Ok(Some(ExtensionField::of_storage(stored.storage.clone())))
    }

    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>> {
        Ok(Some(AnnotatedField::new(field.clone(), annotation())))
    }
}

impl ExtensionType for AsStored {}

/// Returns the cell of a row, which is mostly the row's number.
pub(super) fn cell(row: usize) -> Option<String> {
    match row {
        _ if row.is_multiple_of(5) => None,
        // The first batch has none of these.
        1000.. if row.is_multiple_of(7) => Some(format!("wörd {row}")),
        _ => Some(row.to_string()),
    }
}

/// Returns rows of a table that has cells between two other columns.
pub(super) fn batch(rows: std::ops::Range<usize>) -> RecordBatch {
    let cells: StringArray = rows.clone().map(cell).collect();
    let ids: Int64Array = rows.clone().map(|row| row as i64).collect();
    let last: StringArray = rows.map(|row| Some(format!("{}", row % 10))).collect();
    let schema = Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        field("c"),
        Field::new("last", DataType::Utf8, true),
    ]);
    let columns: Vec<ArrayRef> = vec![Arc::new(ids), Arc::new(cells), Arc::new(last)];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

/// Writes a file of these batches.
pub(super) fn written(batches: &[RecordBatch], options: WriteOptions) -> ParquetFile {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batches[0].schema(), options).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    ParquetFile::from_bytes(file).unwrap()
}

/// Writes a file of `rows` rows with the lengths of cells. The first batch has a thousand rows.
pub(super) fn file(rows: usize) -> ParquetFile {
    let options = WriteOptions::new().extension(Cell {
        has_lengths: true,
        ..Cell::default()
    });
    written(&[batch(0..1000), batch(1000..rows)], options)
}
