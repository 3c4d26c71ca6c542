//! Tests mistakes of extension types. Each causes a descriptive error, but never a panic or a wrong file.

use std::sync::Arc;

use herringbone::arrow::array::{Array, ArrayRef, Int32Array, ListArray, RecordBatch, StringArray};
use herringbone::arrow::buffer::OffsetBuffer;
use herringbone::arrow::schema::{DataType, Field, FieldRef, Schema};
use herringbone::extension::{
    AnnotatedField, ExtensionField, ExtensionMapping, ExtensionType, StorageWriter, StoredField,
    WrittenField,
};
use herringbone::format::LogicalType;
use herringbone::{Error, ErrorKind, ReadOptions, Result, WriteOptions, Writer};

use super::cell::{Cell, annotation, batch, field, file};

/// The mistake that the extension type makes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wrong {
    /// It declares the storage arrays as its own, but with another type. When it writes, it requests an annotation that
    /// its storage cannot have.
    Type,
    /// It builds no arrays.
    NoArrays,
    TooShort,
    OtherType,
    Fails,
}

#[derive(Debug)]
struct Liar(Wrong);

impl ExtensionMapping for Liar {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        if stored.logical_type() != Some(&annotation()) {
            return Ok(None);
        }
        let field = stored.storage.clone().with_data_type(DataType::Int32);
        Ok(Some(match self.0 {
            Wrong::Type => ExtensionField::of_storage(field),
            _ => ExtensionField::of_arrays(field),
        }))
    }

    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>> {
        let field = AnnotatedField::new(field.clone(), LogicalType::Uuid);
        Ok((self.0 == Wrong::Type).then_some(field))
    }
}

impl ExtensionType for Liar {
    fn make_array(&self, storage: &ArrayRef, _: &Field) -> Result<ArrayRef> {
        let numbers = |n| Arc::new(Int32Array::from(vec![1; n])) as ArrayRef;
        match self.0 {
            Wrong::TooShort => Ok(numbers(storage.len() - 1)),
            Wrong::OtherType => Ok(storage.clone()),
            Wrong::Fails => Err(Error::corrupt("a cell is broken")),
            Wrong::Type | Wrong::NoArrays => Err(Error::argument("never called")),
        }
    }

    fn storage_writer(&self, _: &WrittenField<'_>) -> Result<Option<Box<dyn StorageWriter>>> {
        Ok(Some(Box::new(Self(self.0))))
    }
}

impl StorageWriter for Liar {
    fn fields(&mut self, _: &ArrayRef) -> Result<Vec<FieldRef>> {
        Ok(match self.0 {
            Wrong::NoArrays => Vec::new(),
            _ => vec![Arc::new(field("c").with_data_type(DataType::Int32))],
        })
    }

    fn arrays(&mut self, array: &ArrayRef) -> Result<Vec<ArrayRef>> {
        ExtensionType::make_array(&*self, array, &field("c")).map(|array| vec![array])
    }
}

#[test]
fn arrays_are_checked_when_they_are_read() {
    let file = file(1000);
    for (wrong, kind, message) in [
        (
            Wrong::Type,
            ErrorKind::Argument,
            "but does not convert them",
        ),
        (
            Wrong::TooShort,
            ErrorKind::Argument,
            "created 999 values of Int32; expected 1000",
        ),
        (Wrong::OtherType, ErrorKind::Argument, "values of Struct"),
        (Wrong::Fails, ErrorKind::Corrupt, "a cell is broken"),
    ] {
        let options = ReadOptions::new().extension(Liar(wrong));
        let error = file
            .read(options)
            .and_then(|mut reader| reader.next_batch());
        let error = error.unwrap_err();
        let text = error.to_string();
        assert_eq!(error.kind(), kind, "{text}");
        assert!(
            text.contains(message) && text.contains("column c"),
            "{text}"
        );
    }
}

#[test]
fn arrays_are_checked_when_they_are_written() {
    for (wrong, message) in [
        (Wrong::Type, "which does not fit Int32"),
        (Wrong::NoArrays, "did not return a storage array"),
        (Wrong::TooShort, "arrays that do not match"),
        (Wrong::OtherType, "arrays that do not match"),
        (Wrong::Fails, "a cell is broken"),
    ] {
        let options = WriteOptions::new().extension(Liar(wrong));
        let batch = batch(0..10);
        let mut writer = Writer::new(Vec::new(), batch.schema(), options).unwrap();
        let error = writer.write(&batch).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        let error = writer.finish().unwrap_err().to_string();
        assert!(error.contains("failed earlier"), "{error}");
    }
}

fn written(schema: Schema, columns: Vec<ArrayRef>, has_lengths: bool) -> Result<()> {
    let cell = Cell {
        has_lengths,
        ..Cell::default()
    };
    let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    let options = WriteOptions::new().extension(cell);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options)?;
    writer.write(&batch)?;
    writer.finish().map(drop)
}

fn cells() -> ArrayRef {
    Arc::new(StringArray::from(vec!["1", "2"]))
}

#[test]
fn columns_beside_them_need_a_place_and_a_name() {
    let list = ListArray::new(
        Arc::new(field("element")),
        OffsetBuffer::from_lengths([2, 0]),
        cells(),
        None,
    );
    let list_field = || Field::new("a", list.data_type().clone(), true);
    let in_list = |has_lengths| {
        let columns: Vec<ArrayRef> = vec![Arc::new(list.clone())];
        written(Schema::new(vec![list_field()]), columns, has_lengths)
    };
    in_list(false).unwrap();
    let error = in_list(true).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        error.to_string().contains("which a list cannot hold"),
        "{error}"
    );
    assert_eq!(error.location().column.as_deref(), Some("a"));

    let named = |name| Field::new(name, DataType::Utf8, true);
    let beside = |name| {
        let schema = Schema::new(vec![field("c"), named(name)]);
        written(schema, vec![cells(), cells()], true)
    };
    beside("d_length").unwrap();
    let error = beside("c_length").unwrap_err().to_string();
    assert!(error.contains("adds the column `c_length`"), "{error}");
}

#[test]
fn a_value_that_cannot_be_stored_ends_the_file() {
    let columns: Vec<ArrayRef> = vec![Arc::new(StringArray::from(vec!["bad"]))];
    let error = written(Schema::new(vec![field("c")]), columns, false).unwrap_err();
    assert!(error.to_string().contains("a bad cell"), "{error}");
    assert!(error.to_string().contains("column c"), "{error}");
    let bad: ArrayRef = Arc::new(StringArray::from(vec!["bad"]));
    let lists = OffsetBuffer::from_lengths([1]);
    let list = ListArray::new(Arc::new(field("element")), lists, bad, None);
    let schema = Schema::new(vec![Field::new("a", list.data_type().clone(), true)]);
    let error = written(schema, vec![Arc::new(list)], false).unwrap_err();
    assert_eq!(error.location().column.as_deref(), Some("a.element"));
}

/// An extension type that annotates a field of another layout, which would not match the written arrays.
#[derive(Debug)]
struct OtherLayout;

impl ExtensionMapping for OtherLayout {
    fn to_arrow(&self, _: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        Ok(None)
    }

    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>> {
        let field = field.clone().with_data_type(DataType::Binary);
        Ok(Some(AnnotatedField::new(field, LogicalType::Bson)))
    }
}

impl ExtensionType for OtherLayout {}

#[test]
fn a_field_is_annotated_as_what_it_is() {
    let schema = Arc::new(Schema::new(vec![field("c")]));
    let options = WriteOptions::new().extension(OtherLayout);
    let error = Writer::new(Vec::new(), schema, options)
        .map(drop)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(
        error.to_string().contains("stores Utf8 as Binary"),
        "{error}"
    );
}

/// Such groups are refused, because no step builds the storage inside dictionaries and runs of groups.
#[test]
fn what_has_a_storage_of_its_own_is_refused_in_dictionaries() {
    let group = DataType::Struct(vec![field("c")].into());
    let ends = Arc::new(Field::new("run_ends", DataType::Int32, false));
    let values = Arc::new(Field::new("values", group.clone(), true));
    for data_type in [
        DataType::Dictionary(Box::new(DataType::Int32), Box::new(group)),
        DataType::RunEndEncoded(ends, values),
    ] {
        let schema = Arc::new(Schema::new(vec![Field::new("a", data_type, true)]));
        let options = WriteOptions::new().extension(Cell::default());
        let error = Writer::new(Vec::new(), schema, options)
            .map(drop)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}
