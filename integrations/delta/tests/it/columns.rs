use delta_kernel::arrow::array::AsArray;
use delta_kernel::arrow::datatypes::Int64Type;
use delta_kernel::schema::{DataType, MetadataColumnSpec, StructField};
use delta_kernel::{ParquetHandler, reserved_field_ids};

use crate::support::{Handlers, batches, data, nullable, read, read_as_default, schema, with_id};

fn row_index() -> StructField {
    StructField::create_metadata_column("_row", MetadataColumnSpec::RowIndex)
}

fn file_path() -> StructField {
    StructField::create_metadata_column("_file", MetadataColumnSpec::FilePath)
}

#[test]
fn row_indexes_and_file_names_have_their_places() {
    let files = [
        data("nested.parquet"),
        data("sorted.parquet"),
        data("nested.parquet"),
    ];
    let wanted = schema([
        file_path(),
        nullable("id", DataType::LONG),
        row_index(),
        nullable("n2", DataType::LONG),
    ]);
    let rows = read_as_default(&files, &wanted);
    let indexes = rows.column(2).as_primitive::<Int64Type>().values();
    let expected: Vec<i64> = (0..30).chain(0..2000).chain(0..30).collect();
    assert_eq!(indexes, &expected[..]);
    let names = rows.column(0).as_string::<i32>();
    assert_eq!(names.value(29), files[0].location.as_str());
    assert_eq!(names.value(30), files[1].location.as_str());
}

#[test]
fn metadata_columns_need_no_column_of_the_file() {
    let wanted = schema([row_index(), file_path()]);
    assert_eq!(
        read_as_default(&[data("types.parquet")], &wanted).num_rows(),
        30
    );
}

#[test]
fn the_reserved_field_id_is_the_file_name() {
    let field = StructField::not_null("_file", DataType::STRING);
    let wanted = schema([with_id(field, reserved_field_ids::FILE_NAME)]);
    let file = data("types.parquet");
    let rows = read(
        &Handlers::new().ours,
        std::slice::from_ref(&file),
        &wanted,
        None,
    )
    .unwrap();
    assert_eq!(
        rows.column(0).as_string::<i32>().value(17),
        file.location.as_str()
    );
}

#[test]
fn other_metadata_columns_are_errors() {
    let handlers = Handlers::new();
    let wanted = schema([StructField::create_metadata_column(
        "r",
        MetadataColumnSpec::RowId,
    )]);
    let error = read(&handlers.ours, &[data("types.parquet")], &wanted, None).unwrap_err();
    assert!(error.to_string().contains("row_id"), "{error}");
}

#[test]
fn batches_do_not_cross_files_and_sizes_may_be_unknown() {
    let handlers = Handlers::new();
    let mut files = vec![data("nested.parquet"); 9];
    for file in files.iter_mut().step_by(2) {
        file.size = 0;
    }
    let wanted = schema([row_index()]);
    let read = handlers
        .ours
        .read_parquet_files(&files, wanted.clone(), None)
        .unwrap();
    let mut files_begun = 0;
    for batch in batches(read).unwrap() {
        let indexes = batch.column(0).as_primitive::<Int64Type>().values();
        files_begun += usize::from(indexes[0] == 0);
        assert!(indexes.windows(2).all(|pair| pair[1] == pair[0] + 1));
    }
    assert_eq!(files_begun, 9);
    assert!(
        handlers
            .ours
            .read_parquet_files(&[], wanted, None)
            .unwrap()
            .next()
            .is_none()
    );
}

#[test]
fn an_early_end_of_the_caller_ends_the_read() {
    let handlers = Handlers::new();
    let files = vec![data("sorted.parquet"); 50];
    let wanted = schema([nullable("payload", DataType::STRING)]);
    for _ in 0..20 {
        let mut read = handlers
            .ours
            .read_parquet_files(&files, wanted.clone(), None)
            .unwrap();
        assert!(read.next().unwrap().is_ok());
    }
    // You may drop the engine before its iterators.
    let mut read = handlers
        .ours
        .read_parquet_files(&files, wanted, None)
        .unwrap();
    drop(handlers);
    assert!(read.next().unwrap().is_ok());
    drop(read);
}
