//! Tests additional columns that extension types build, from a path into a group and as another type.

use std::sync::Arc;

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::{Float64Type, Int32Type, Int64Type};
use herringbone::arrow::array::{
    Array, ArrayRef, Int32Array, Int64Array, RecordBatch, RunArray, StringArray, StructArray,
};
use herringbone::arrow::buffer::NullBuffer;
use herringbone::arrow::schema::{DataType, Field, Fields, Schema};
use herringbone::{ErrorKind, ReadOptions, WriteOptions};

use super::cell::{AsStored, Cell, Integers, batch, cell, field, file, named, written};
use super::whole::by_all;

fn integer(row: usize) -> Option<i64> {
    cell(row)?.parse().ok()
}

/// Returns the paths of the columns that a plan reads.
fn leaves(file: &herringbone::ParquetFile, options: &ReadOptions) -> Vec<String> {
    let plan = file.plan(options).unwrap();
    let path = |leaf| file.parquet_schema().column_path(leaf);
    plan.leaves().map(path).collect()
}

#[test]
fn a_column_reads_what_it_names_alone() {
    let file = file(60_000);
    let options = || {
        let options = ReadOptions::new().columns(["id"]);
        options.extension_column("n", ["c"], Integers(DataType::Int64))
    };
    assert_eq!(leaves(&file, &options()), ["id", "c.typed"]);
    let mut row = 0;
    for batch in by_all(&file, options) {
        let schema = batch.schema_ref();
        let names: Vec<_> = schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        assert_eq!(names, ["id", "n"]);
        let ids = batch.column(0).as_primitive::<Int64Type>();
        let integers = batch.column(1).as_primitive::<Int64Type>();
        for (id, value) in ids.values().iter().zip(integers) {
            assert_eq!(value, integer(*id as usize));
        }
        row += batch.num_rows();
    }
    assert_eq!(row, 60_000);
    // This read only has the additional column.
    let alone = || {
        let options = ReadOptions::new().columns::<String>([]).batch_size(999);
        options.extension_column("n", ["c"], Integers(DataType::Int64))
    };
    assert_eq!(leaves(&file, &alone()), ["c.typed"]);
    let batches = by_all(&file, alone);
    let values = batches
        .iter()
        .flat_map(|batch| batch.column(0).as_primitive::<Int64Type>());
    assert!(values.eq((0..60_000).map(integer)));
}

#[test]
fn a_group_is_wanted_whole_and_by_path_and_read_once() {
    let file = file(60_000);
    let options = || {
        ReadOptions::new()
            .columns(["c"])
            .extension(Cell::default())
            .extension_column("n", ["c"], Integers(DataType::Int64))
            .extension_column("f", ["c"], Integers(DataType::Float64))
            .extension_column("again", ["c"], Cell::default())
    };
    assert_eq!(leaves(&file, &options()), ["c.typed", "c.text"]);
    let mut row = 0;
    for batch in by_all(&file, options) {
        let cells = batch.column(0).as_string::<i32>();
        assert_eq!(batch.column(3).as_string::<i32>(), cells);
        let integers = batch.column(1).as_primitive::<Int64Type>();
        let floats = batch.column(2).as_primitive::<Float64Type>();
        for slot in 0..batch.num_rows() {
            let (value, float) = (integer(row), integer(row).map(|value| value as f64));
            assert_eq!(
                cells.is_valid(slot).then(|| cells.value(slot).to_owned()),
                cell(row)
            );
            assert_eq!(integers.is_valid(slot).then(|| integers.value(slot)), value);
            assert_eq!(floats.is_valid(slot).then(|| floats.value(slot)), float);
            row += 1;
        }
    }
    assert_eq!(row, 60_000);
}

#[test]
fn columns_of_one_group_share_what_they_read() {
    let file = file(3000);
    let seen = Arc::default();
    let cell = || Cell {
        has_lengths: false,
        seen: Arc::clone(&seen),
    };
    let options = || {
        let options = ReadOptions::new().columns(["last"]);
        let options = options.extension_column("n", ["c"], Integers(DataType::Int64));
        options.extension_column("c", ["c"], cell())
    };
    assert_eq!(leaves(&file, &options()), ["last", "c.typed", "c.text"]);
    let batch = &by_all(&file, options)[0];
    assert_eq!(batch.num_columns(), 3);
    let part = |name, data_type| Field::new(name, data_type, true);
    let parts = vec![part("typed", DataType::Int64), part("text", DataType::Utf8)];
    let storage = DataType::Struct(parts.into());
    assert!(seen.lock().unwrap().iter().all(|seen| *seen == storage));
    // If the projection selects another part of the group, we read that part separately.
    let paths = vec![vec!["c".to_owned(), "text".to_owned()]];
    let partial = ReadOptions::new().projection(herringbone::Projection::Paths(paths));
    let options = || {
        let options = partial.clone();
        options.extension_column("n", ["c"], Integers(DataType::Int64))
    };
    assert_eq!(leaves(&file, &options()), ["c.text", "c.typed"]);
    let batch = &by_all(&file, options)[0];
    let fields = batch.column(0).as_struct().fields();
    assert_eq!(fields.len(), 1);
    assert_eq!(batch.column(1).as_primitive::<Int64Type>().value(1), 1);
}

/// Returns a batch with a struct `s` of cells `c` and numbers `x`. The struct is null in the given rows.
fn in_structs(is_null: fn(usize) -> bool, cell: fn(usize) -> Option<String>) -> RecordBatch {
    let cells: StringArray = (0..300).map(cell).collect();
    let numbers: Int64Array = (0..300).map(Some).collect();
    let inner = Fields::from(vec![
        field("c").with_nullable(cells.null_count() > 0),
        Field::new("x", DataType::Int64, false),
    ]);
    let valid: Vec<bool> = (0..300).map(|row| !is_null(row)).collect();
    let nulls = NullBuffer::from(valid);
    let nulls = (nulls.null_count() > 0).then_some(nulls);
    let field = Field::new("s", DataType::Struct(inner.clone()), nulls.is_some());
    let columns: Vec<ArrayRef> = vec![Arc::new(cells), Arc::new(numbers)];
    let array = StructArray::new(inner, columns, nulls);
    let schema = Arc::new(Schema::new(vec![field]));
    RecordBatch::try_new(schema, vec![Arc::new(array)]).unwrap()
}

#[test]
fn columns_of_fields_in_structs_are_null_where_these_are() {
    let never: fn(usize) -> bool = |_| false;
    let each: fn(usize) -> Option<String> = |row| Some(row.to_string());
    for (is_null, cell) in [
        (never, each),
        (|row| row % 4 == 1, each),
        (never, cell),
        (|row| row % 4 == 1, cell),
    ] {
        let options = WriteOptions::new().extension(Cell::default());
        let file = written(&[in_structs(is_null, cell)], options);
        for projected in [&["s"][..], &[]] {
            let options = || {
                let options = ReadOptions::new().columns(projected.iter().copied());
                let options = options.extension(Cell::default());
                let options = options.extension_column("c", ["s", "c"], Cell::default());
                let options = options.extension_column("x", ["s", "x"], AsStored);
                options.extension_column("n", ["s", "c"], Integers(DataType::Int64))
            };
            let batch = &by_all(&file, options)[0];
            let cells = batch.column_by_name("c").unwrap().as_string::<i32>();
            let numbers = |name: &str| -> Vec<_> {
                let column = batch.column_by_name(name).unwrap();
                column.as_primitive::<Int64Type>().iter().collect()
            };
            let (integers, stored) = (numbers("n"), numbers("x"));
            for row in 0..300 {
                let cell = cell(row).filter(|_| !is_null(row));
                assert_eq!(
                    integers[row],
                    cell.as_ref().and_then(|cell| cell.parse().ok())
                );
                assert_eq!(
                    cells.is_valid(row).then(|| cells.value(row).to_owned()),
                    cell
                );
                assert_eq!(stored[row], (!is_null(row)).then_some(row as i64));
            }
        }
    }
}

#[test]
fn what_is_read_anyway_and_what_is_read_for_columns_stay_apart() {
    let file = file(1000);
    let options = || {
        ReadOptions::new()
            .columns(["c"])
            .extension_column("last", ["last"], AsStored)
            .extension_column("n", ["c"], Integers(DataType::Int64))
            .extension_column("id", ["id"], AsStored)
    };
    assert_eq!(
        leaves(&file, &options()),
        ["c.typed", "c.text", "last", "id"]
    );
    let batch = &by_all(&file, options)[0];
    let last = batch.column(1).as_string::<i32>();
    let (integers, ids) = (batch.column(2), batch.column(3));
    for row in 0..1000 {
        assert_eq!(last.value(row), (row % 10).to_string());
        assert_eq!(ids.as_primitive::<Int64Type>().value(row), row as i64);
        let integers = integers.as_primitive::<Int64Type>();
        assert_eq!(
            integers.is_valid(row).then(|| integers.value(row)),
            integer(row)
        );
    }
}

/// Run-end encoded groups are read back as runs, but extension columns that are built from these groups are not runs.
#[test]
fn what_was_in_runs_comes_back_in_runs() {
    let parts = Fields::from(vec![
        Field::new("typed", DataType::Int64, true),
        Field::new("text", DataType::Utf8, true),
    ]);
    let typed: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None, None]));
    let text: ArrayRef = Arc::new(StringArray::from(vec![None, Some("x"), None]));
    let nulls = NullBuffer::from(vec![true, true, false]);
    let cells = StructArray::new(parts, vec![typed, text], Some(nulls));
    let ends = Int32Array::from(vec![2, 3, 5]);
    let runs = RunArray::<Int32Type>::try_new(&ends, &cells).unwrap();
    let field = named(Field::new("c", runs.data_type().clone(), true));
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema, vec![Arc::new(runs)]).unwrap();
    let file = written(&[batch], WriteOptions::new().extension(AsStored));
    for projected in [&["c"][..], &[]] {
        let options = || {
            let options = ReadOptions::new().columns(projected.iter().copied());
            let options = options.extension(Cell::default());
            options.extension_column("n", ["c"], Integers(DataType::Int64))
        };
        let batch = &by_all(&file, options)[0];
        let integers = batch.column_by_name("n").unwrap();
        let integers: Vec<_> = integers.as_primitive::<Int64Type>().iter().collect();
        assert_eq!(integers, [Some(7), Some(7), None, None, None]);
        let Some(runs) = batch.column_by_name("c") else {
            assert!(projected.is_empty());
            continue;
        };
        let runs = runs.as_any().downcast_ref::<RunArray<Int32Type>>().unwrap();
        assert_eq!(runs.run_ends().values(), [2, 3, 5]);
        let values = runs.values().as_string::<i32>();
        let expected = StringArray::from(vec![Some("7"), Some("x"), None]);
        assert_eq!(*values, expected);
    }
}

#[test]
fn what_columns_cannot_be_made_from() {
    let file = file(1000);
    let message = |path: &[&str], of: Integers| {
        let options = ReadOptions::new().extension_column("n", path.iter().copied(), of);
        let error = file.plan(&options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        error.to_string()
    };
    let integers = || Integers(DataType::Int64);
    assert!(message(&["d"], integers()).contains("there is no column `d`"));
    let text = message(&["last"], integers());
    assert!(
        text.contains("does not need any column") && text.contains("last"),
        "{text}"
    );

    let words = written(
        &[batch(1001..1002)],
        WriteOptions::new().extension(Cell::default()),
    );
    let options = ReadOptions::new().extension_column("n", ["c"], integers());
    let error = words.plan(&options).unwrap_err().to_string();
    assert!(error.contains("does not need any column"), "{error}");
}
