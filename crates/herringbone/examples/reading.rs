//! Reads a file's columns, looks at its types and at an error, and reads it by another schema.
//!
//! cargo run --example reading

use std::error::Error;

fn open() -> Result<(), Box<dyn Error>> {
    // docs: open
    let mut rows = 0;
    for batch in herringbone::open("testdata/example.parquet")? {
        rows += batch?.num_rows();
    }
    assert_eq!(rows, 24);
    // docs: end
    Ok(())
}

fn columns() -> Result<(), Box<dyn Error>> {
    // docs: columns
    use herringbone::arrow::array::cast::AsArray;
    use herringbone::arrow::array::types::Int64Type;
    use herringbone::{ParquetFile, ReadOptions};

    let file = ParquetFile::open("testdata/example.parquet")?;
    assert_eq!(file.metadata().num_rows(), 24);
    let options = ReadOptions::new()
        .columns(["name", "id", "origin"])
        .offset(10)
        .limit(5);
    let batch = file.read(options)?.next_batch()?.ok_or("no rows")?;
    // Batches have the file's column order.
    let ids = batch.column(0).as_primitive::<Int64Type>();
    let names = batch.column(1).as_string::<i32>();
    let countries = batch.column(2).as_struct().column(0).as_string::<i32>();
    assert_eq!((ids.value(0), names.value(0)), (10, "amber"));
    assert_eq!(countries.value(0), "NO");
    // docs: end
    Ok(())
}

fn types() -> Result<(), Box<dyn Error>> {
    // docs: types
    use herringbone::arrow::schema::{DataType, TimeUnit};

    let reader = herringbone::open("testdata/example.parquet")?;
    let schema = reader.schema();
    let type_of = |name| schema.field_with_name(name).map(|field| field.data_type());
    assert_eq!(type_of("price")?, &DataType::Decimal128(9, 2));
    let harvested = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    assert_eq!(type_of("harvested")?, &harvested);
    // docs: end
    Ok(())
}

fn errors() -> Result<(), Box<dyn Error>> {
    // docs: errors
    use herringbone::{ErrorKind, ParquetFile, ReadOptions};

    let file = ParquetFile::open("testdata/example.parquet")?;
    let misspelt = ReadOptions::new().columns(["prize"]);
    if let Err(error) = file.read(misspelt) {
        assert_eq!(error.kind(), ErrorKind::Argument);
        eprintln!("{error}");
    }
    // docs: end
    let misspelt = ReadOptions::new().columns(["prize"]);
    assert!(file.read(misspelt).is_err());
    Ok(())
}

fn wanted_schema() -> Result<(), Box<dyn Error>> {
    let file = herringbone::ParquetFile::open("testdata/example.parquet")?;
    // docs: wanted_schema
    use std::sync::Arc;

    use herringbone::arrow::array::Array;
    use herringbone::arrow::schema::{DataType, Field, Schema};
    use herringbone::{ReadOptions, RowSelection, VirtualColumn, WantedSchema};

    let fields = ["name", "colour"].map(|name| Field::new(name, DataType::LargeUtf8, true));
    let wanted = WantedSchema::new(Arc::new(Schema::new(fields.to_vec())));
    let options = ReadOptions::new()
        .wanted_schema(wanted)
        .row_selection(RowSelection::delete_rows([0, 3]))
        .virtual_column(VirtualColumn::row_number("row"));
    let batch = file.read(options)?.next_batch()?.ok_or("no rows")?;
    assert_eq!(batch.num_columns(), 3);
    assert_eq!(batch.column(1).null_count(), batch.num_rows());
    // docs: end
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    open()?;
    columns()?;
    types()?;
    errors()?;
    wanted_schema()
}
