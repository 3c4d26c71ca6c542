//! Columns that an extension type adds next to its own: their pages, and who learns of them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use herringbone_arrow::array::types::Float64Type;
use herringbone_arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, cast::AsArray};
use herringbone_arrow::schema::{DataType, Field, FieldRef, Schema};
use herringbone_core::extension::{
    AnnotatedField, ExtensionField, ExtensionMapping, ExtensionType, StorageWriter, StoredField,
    WrittenField,
};
use herringbone_format::Result;
use herringbone_format::modular_encryption::{Encryption, FileEncryption, SiblingField};
use herringbone_write::{ColumnOptions, StorageBatches, WriteOptions, WritePlan};

/// An extension type that adds the squares of its numbers, if it is asked to.
#[derive(Debug)]
struct Squared {
    adds_squares: bool,
}

impl ExtensionMapping for Squared {
    fn to_arrow(&self, _: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        Ok(None)
    }

    fn to_parquet(&self, _: &Field) -> Result<Option<AnnotatedField>> {
        Ok(None)
    }
}

impl ExtensionType for Squared {
    fn storage_writer(&self, written: &WrittenField<'_>) -> Result<Option<Box<dyn StorageWriter>>> {
        let mut fields = vec![Arc::new(written.field.clone())];
        if self.adds_squares {
            let squares = Field::new("squares", DataType::Float64, true);
            fields.push(Arc::new(squares));
        }
        Ok(Some(Box::new(Fields(fields))))
    }
}

/// The field itself, and the one of the squares, if there is one.
struct Fields(Vec<FieldRef>);

impl StorageWriter for Fields {
    fn fields(&mut self, _: &ArrayRef) -> Result<Vec<FieldRef>> {
        Ok(self.0.clone())
    }

    fn arrays(&mut self, array: &ArrayRef) -> Result<Vec<ArrayRef>> {
        let numbers = array.as_primitive::<Float64Type>();
        let squares: Float64Array = numbers.unary(|number| number * number);
        let all: [ArrayRef; 2] = [array.clone(), Arc::new(squares)];
        Ok(all[..self.0.len()].to_vec())
    }
}

/// Notes the siblings of each file that it opens, or `None` if it was not told of any.
#[derive(Debug, Default)]
struct Noting(Mutex<Vec<Option<Vec<SiblingField>>>>);

impl Encryption for Noting {
    fn open(&self, _: Option<&Path>, _: &[Vec<String>]) -> Result<Option<Arc<dyn FileEncryption>>> {
        self.0.lock().unwrap().push(None);
        Ok(None)
    }

    fn open_siblings(
        &self,
        _: Option<&Path>,
        _: &[Vec<String>],
        siblings: &[SiblingField],
    ) -> Result<Option<Arc<dyn FileEncryption>>> {
        self.0.lock().unwrap().push(Some(siblings.to_vec()));
        Ok(None)
    }
}

/// Returns a batch with numbers of the extension type.
fn batch() -> RecordBatch {
    let name = ("ARROW:extension:name".to_owned(), "test.squared".to_owned());
    let number = Field::new("number", DataType::Float64, true).with_metadata(HashMap::from([name]));
    let fields = vec![number, Field::new("row", DataType::Int64, false)];
    let arrays: [ArrayRef; 2] = [
        Arc::new(Float64Array::from(vec![Some(1.5), None, Some(-2.0)])),
        Arc::new(Int64Array::from(vec![0, 1, 2])),
    ];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays.to_vec()).unwrap()
}

/// Returns the storage of the batch, and the options for its file.
fn stored(adds_squares: bool, options: WriteOptions) -> (RecordBatch, WriteOptions) {
    let options = options.extension(Squared { adds_squares });
    let batch = batch();
    let batches = StorageBatches::new(&batch.schema(), &options).unwrap();
    let mut batches = batches.unwrap();
    batches.choose(&batch).unwrap();
    (batches.storage(&batch).unwrap(), batches.options(&options))
}

#[test]
fn siblings_follow_their_field() {
    let (storage, _) = stored(true, WriteOptions::new());
    let schema = storage.schema();
    let names: Vec<_> = schema.fields().iter().map(|field| field.name()).collect();
    assert_eq!(names, ["number", "squares", "row"]);
    let squares = storage.column(1).as_primitive::<Float64Type>();
    assert_eq!(
        squares.iter().collect::<Vec<_>>(),
        [Some(2.25), None, Some(4.0)]
    );
    let (storage, _) = stored(false, WriteOptions::new());
    assert_eq!(storage.num_columns(), 2);
}

/// Encryption learns of siblings, which are encrypted like the field that they reveal. Without any, it is the caller's.
#[test]
fn encryption_learns_of_siblings() {
    let opened = |adds_squares| {
        let noting = Arc::new(Noting::default());
        let mut options = WriteOptions::new();
        options.encryption = Some(noting.clone());
        let (storage, options) = stored(adds_squares, options);
        WritePlan::new(storage.schema(), &options, None).unwrap();
        let mut opened = noting.0.lock().unwrap();
        assert_eq!(opened.len(), 1);
        opened.remove(0)
    };
    let path = |name: &str| vec![name.to_owned()];
    let expected = SiblingField::new(path("squares"), path("number"));
    assert_eq!(opened(true), Some(vec![expected]));
    assert_eq!(opened(false), None);
    let (_, options) = stored(true, WriteOptions::new());
    assert!(options.encryption.is_none());
}

/// Pages of siblings are small, so that readers can skip most values by them, unless the caller chose the size.
#[test]
fn pages_of_siblings_are_small_unless_another_size_is_requested() {
    let rows = |options: WriteOptions| -> Vec<Option<usize>> {
        let (_, options) = stored(true, options);
        let overrides = options.overrides.iter();
        overrides.map(|(_, columns)| columns.page_rows).collect()
    };
    assert_eq!(rows(WriteOptions::new()), [Some(2_048)]);
    let chosen = ColumnOptions::new().page_rows(500);
    assert_eq!(rows(WriteOptions::new().columns(chosen.clone())), []);
    // Of several options of a column, the last ones win.
    let of_column = WriteOptions::new().column("squares", chosen);
    assert_eq!(rows(of_column), [Some(2_048), Some(500)]);
}
