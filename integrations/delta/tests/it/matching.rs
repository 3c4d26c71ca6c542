use delta_kernel::arrow::array::{Array, AsArray, Int64Array};
use delta_kernel::arrow::datatypes::Int32Type;
use delta_kernel::schema::{ArrayType, DataType, MapType, StructField, StructType};

use crate::support::{Handlers, data, nullable, read, read_as_default, schema, with_id};

fn of(fields: impl IntoIterator<Item = StructField>) -> StructType {
    StructType::try_new(fields).unwrap()
}

#[test]
fn an_id_counts_more_than_a_name() {
    let file = [data("nested.parquet")];
    // `other` has the id that `id` has in the file, so the file's column named `other` is not
    // meant.
    let wanted = schema([
        with_id(nullable("other", DataType::LONG), 1),
        with_id(nullable("renamed", DataType::STRING), 3),
    ]);
    let rows = read_as_default(&file, &wanted);
    assert_eq!(rows.column(1).as_string::<i32>().value(29), "o29");
    // If the file's column has no id, it is found by its name.
    let numbers = ArrayType::new(
        DataType::from(ArrayType::new(DataType::INTEGER, true)),
        true,
    );
    let wanted = schema([with_id(nullable("n", numbers), 99)]);
    assert_eq!(read_as_default(&file, &wanted).column(0).null_count(), 0);
    // The file's column `other` is taken by its id, so its name finds nothing.
    let wanted = schema([
        nullable("other", DataType::STRING),
        with_id(nullable("renamed", DataType::STRING), 3),
    ]);
    assert_eq!(read_as_default(&file, &wanted).column(0).null_count(), 30);
}

#[test]
fn a_name_with_another_id_is_an_error() {
    let file = [data("nested.parquet")];
    let handlers = Handlers::new();
    let wanted = schema([with_id(nullable("other", DataType::STRING), 99)]);
    let error = read(&handlers.ours, &file, &wanted, None)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("column other") && error.contains("99") && error.contains("id 3"),
        "{error}"
    );
    assert!(read(&handlers.default, &file, &wanted, None).is_err());
}

#[test]
fn fields_of_structs_lists_and_maps_are_matched_at_each_level() {
    let file = [data("nested.parquet")];
    let point = of([
        with_id(nullable("y", DataType::DOUBLE), 12),
        nullable("missing", DataType::STRING),
        with_id(nullable("x", DataType::LONG), 11),
    ]);
    let element = of([
        with_id(nullable("word", DataType::STRING), 22),
        with_id(nullable("key", DataType::LONG), 21),
        nullable("missing", DataType::LONG),
    ]);
    let wanted = schema([
        with_id(
            nullable("list", ArrayType::new(DataType::from(element), true)),
            20,
        ),
        with_id(nullable("point", point), 10),
        with_id(nullable("number", DataType::LONG), 1),
    ]);
    let rows = read_as_default(&file, &wanted);
    assert_eq!(rows.column(0).null_count(), 6);
    assert_eq!(rows.column(1).as_struct().column(1).null_count(), 30);
    assert_eq!(rows.column(2).null_count(), 0);
}

/// The default engine refuses such a map if one is null.
#[test]
fn values_of_maps_are_matched_too() {
    let file = [data("nested.parquet")];
    let value = of([
        nullable("none", DataType::DATE),
        with_id(nullable("m", DataType::LONG), 31),
    ]);
    let map = MapType::new(DataType::STRING, DataType::from(value), true);
    let wanted = schema([with_id(nullable("map", map), 30)]);
    let rows = read(&Handlers::new().ours, &file, &wanted, None).unwrap();
    let maps = rows.column(0).as_map();
    let nulls = (0..30).filter(|row| maps.is_null(*row));
    assert_eq!(nulls.collect::<Vec<_>>(), [4, 10, 16, 22, 28]);
    let numbers = maps.values().as_struct().column(1);
    // Entry j of row i has the value i * j.
    let expected = (0..30)
        .filter(|row| row % 6 != 4)
        .flat_map(|row| (0..row % 3).map(move |j| row * j));
    assert_eq!(
        numbers.as_ref(),
        &Int64Array::from_iter_values(expected) as &dyn Array
    );
    // If the values do not change, both engines read them.
    let value = of([
        nullable("m", DataType::INTEGER),
        nullable("o", DataType::STRING),
    ]);
    let map = MapType::new(DataType::STRING, DataType::from(value), true);
    assert_eq!(
        read_as_default(&file, &schema([nullable("t", map)]))
            .column(0)
            .null_count(),
        5
    );
}

#[test]
fn lists_of_lists_keep_their_nulls() {
    let file = [data("nested.parquet")];
    let inner = ArrayType::new(DataType::INTEGER, true);
    let wanted = schema([nullable("n", ArrayType::new(DataType::from(inner), true))]);
    read_as_default(&file, &wanted);
}

/// The kernel only looks at leaves, and not at the structs around them.
#[test]
fn fields_of_null_structs_are_null() {
    let file = [data("nested.parquet")];
    let point = of([StructField::not_null("px", DataType::INTEGER)]);
    let rows = read_as_default(&file, &schema([nullable("p", point)]));
    let points = rows.column(0).as_struct();
    assert_eq!(points.null_count(), 8);
    let x = points.column(0).as_primitive::<Int32Type>();
    assert!(x.is_null(1) && x.is_null(29));
    assert_eq!((x.null_count(), x.value(28)), (8, 28));
}

#[test]
fn a_struct_without_wanted_fields_in_the_file_is_missing() {
    let file = [data("nested.parquet")];
    let empty = || of([nullable("none", DataType::LONG)]);
    let wanted = schema([
        nullable("p", empty()),
        nullable("l", ArrayType::new(DataType::from(empty()), true)),
        StructField::not_null("id", DataType::INTEGER),
    ]);
    let rows = read_as_default(&file, &wanted);
    assert_eq!(
        (rows.column(0).null_count(), rows.column(1).null_count()),
        (30, 30)
    );
    let required = schema([
        StructField::not_null("p", empty()),
        nullable("id", DataType::LONG),
    ]);
    let rows = read_as_default(&file, &required);
    assert_eq!(rows.column(0).as_struct().column(0).null_count(), 30);
}

#[test]
fn a_map_keeps_its_keys_if_the_file_lacks_the_wanted_values() {
    let file = [data("nested.parquet")];
    let value = of([nullable("none", DataType::LONG)]);
    let map = MapType::new(DataType::STRING, DataType::from(value), true);
    let rows = read(
        &Handlers::new().ours,
        &file,
        &schema([nullable("t", map)]),
        None,
    )
    .unwrap();
    let maps = rows.column(0).as_map();
    // Rows 2, 5, … have two entries. Rows 1, 7, 13, … have one entry, and the rows between them are
    // null.
    assert_eq!(maps.entries().len(), 25);
    assert_eq!(maps.keys().as_string::<i32>().value(2), "k1");
    assert_eq!(maps.values().null_count(), 25);
}

#[test]
fn a_missing_column_is_null_if_it_may_be() {
    let file = [data("nested.parquet")];
    let handlers = Handlers::new();
    let wanted = schema([
        nullable("none", DataType::STRING),
        nullable("id", DataType::INTEGER),
    ]);
    assert_eq!(read_as_default(&file, &wanted).column(0).null_count(), 30);
    // Nothing is decoded here, but the rows are there.
    let wanted = schema([nullable("none", DataType::STRING)]);
    assert_eq!(read_as_default(&file, &wanted).num_rows(), 30);
    let inner = of([StructField::not_null("none", DataType::STRING)]);
    for wanted in [
        schema([StructField::not_null("none", DataType::STRING)]),
        schema([nullable("p", inner)]),
    ] {
        let error = read(&handlers.ours, &file, &wanted, None)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("the file does not contain") && error.contains("none`"),
            "{error}"
        );
        assert!(read(&handlers.default, &file, &wanted, None).is_err());
    }
}

#[test]
fn a_null_in_a_required_column_is_an_error() {
    let file = [data("nested.parquet")];
    let handlers = Handlers::new();
    let required = |field: StructField| StructField {
        nullable: false,
        ..field
    };
    let point = of([nullable("px", DataType::INTEGER)]);
    let inner = of([StructField::not_null("py", DataType::FLOAT)]);
    let list = ArrayType::new(
        DataType::from(of([nullable("k", DataType::INTEGER)])),
        false,
    );
    // The struct is null in row 1. All other structs have the field. In row 3, an element is null.
    assert!(read(&handlers.ours, &file, &schema([nullable("p", inner)]), None).is_ok());
    for wanted in [
        schema([required(nullable("p", point))]),
        schema([nullable("l", list)]),
    ] {
        let error = read(&handlers.ours, &file, &wanted, None)
            .unwrap_err()
            .to_string();
        assert!(error.contains("nested.parquet"), "{error}");
        assert!(read(&handlers.default, &file, &wanted, None).is_err());
    }
}

#[test]
fn two_columns_with_one_id_are_an_error() {
    let wanted = schema([
        with_id(nullable("a", DataType::INTEGER), 1),
        with_id(nullable("b", DataType::LONG), 1),
    ]);
    let error = read(
        &Handlers::new().ours,
        &[data("nested.parquet")],
        &wanted,
        None,
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("column b") && error.contains("field id 1"),
        "{error}"
    );
}
