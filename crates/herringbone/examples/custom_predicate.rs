//! Filters rows by a function of the program, after a comparison that prunes.
//!
//! cargo run --example custom_predicate

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::{BooleanArray, RecordBatch};
use herringbone::arrow::schema::{DataType, SchemaRef};
use herringbone::filter::{Predicate, RowError, RowPredicate, RowTest, col};
use herringbone::{ParquetFile, ReadOptions, Result};

/// Selects rows whose name has an even number of characters.
#[derive(Debug)]
struct HasEvenLength;

impl RowPredicate for HasEvenLength {
    fn columns(&self) -> Vec<Vec<String>> {
        vec![vec!["name".to_owned()]]
    }

    fn bind(&self, columns: &SchemaRef) -> std::result::Result<RowTest, RowError> {
        if columns.field(0).data_type() != &DataType::Utf8 {
            return Err("`name` is not a Utf8 column".into());
        }
        Ok(Box::new(|batch: &RecordBatch| {
            let names = batch.column(0).as_string::<i32>();
            let is_even = |name: Option<&str>| name.map(|name| name.chars().count() % 2 == 0);
            Ok(names.iter().map(is_even).collect::<BooleanArray>())
        }))
    }
}

fn main() -> Result<()> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/example.parquet"
    );
    // The comparison runs first, so that `name` is decoded only for the rows that it selects.
    let filter = col("id").lt(12).and(Predicate::rows(HasEvenLength));
    let file = ParquetFile::open(path)?;
    let mut reader = file.read(ReadOptions::new().filter(filter).columns(["id", "name"]))?;
    let mut found = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        let names = batch.column(1).as_string::<i32>();
        found.extend(names.iter().flatten().map(str::to_owned));
    }
    println!("{found:?}");
    assert_eq!(found, ["dill", "fennel", "garlic", "iris"]);
    println!("{} rows were tested", reader.metrics().rows_tested);
    Ok(())
}
