//! Reads with a wanted schema. Its fields are found, cast, made up or left out.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::builder::{Int32Builder, MapBuilder, StringBuilder};
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{
    Array, ArrayRef, FixedSizeListArray, Int32Array, Int64Array, ListArray, RecordBatch,
    StringArray, StructArray, TimestampMicrosecondArray, TimestampMillisecondArray,
};
use herringbone::arrow::buffer::{NullBuffer, OffsetBuffer};
use herringbone::arrow::schema::{DataType, Field, Fields, Schema, TimeUnit};
use herringbone::filter::{col, col_at};
use herringbone::{
    FieldMatching, FieldNames, Projection, ReadOptions, VirtualColumn, WantedSchema, WriteOptions,
};

use crate::table::{ROWS, compare, file, open, options, pushed, written};

const ID: &str = "PARQUET:field_id";

fn field(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

fn with_id(field: Field, id: i32) -> Field {
    field.with_metadata(HashMap::from([(ID.to_owned(), id.to_string())]))
}

fn schema(fields: Vec<Field>) -> WantedSchema {
    WantedSchema::new(Arc::new(Schema::new(fields)))
}

/// Returns a file of three rows with the columns `id`, `Name`, `at` and `place`. Their field ids are 1, 2, 3 and 4, and
/// the fields of `place` have the ids 5 and 6.
fn small() -> Bytes {
    let place = Fields::from(vec![
        with_id(field("x", DataType::Int32), 5),
        with_id(field("y", DataType::Int32), 6),
    ]);
    let fields = vec![
        with_id(field("id", DataType::Int32), 1),
        with_id(field("Name", DataType::Utf8), 2),
        with_id(
            field("at", DataType::Timestamp(TimeUnit::Microsecond, None)),
            3,
        ),
        with_id(field("place", DataType::Struct(place.clone())), 4),
    ];
    let x = Int32Array::from(vec![Some(10), None, None]);
    let y = Int32Array::from(vec![Some(11), Some(12), None]);
    let is_place = NullBuffer::from(vec![true, true, false]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])),
        Arc::new(StringArray::from(vec![Some("a"), Some("b"), None])),
        Arc::new(TimestampMicrosecondArray::from(vec![1_000, 2_000, -3_000])),
        Arc::new(StructArray::new(
            place,
            vec![Arc::new(x), Arc::new(y)],
            Some(is_place),
        )),
    ];
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    written(
        &batch,
        WriteOptions::new().compression(herringbone::Compression::Uncompressed),
    )
}

/// Reads a file's only batch under a wanted schema.
fn read(file: &Bytes, wanted: WantedSchema) -> Result<RecordBatch, String> {
    let options = ReadOptions::new().wanted_schema(wanted);
    open(file)
        .plan(&options)
        .map_err(|error| error.to_string())?;
    let [batch] = pushed(file, &options).try_into().unwrap();
    Ok(batch)
}

fn ints(values: [Option<i32>; 3]) -> ArrayRef {
    Arc::new(Int32Array::from(values.to_vec()))
}

#[test]
fn fields_are_found_by_the_rule() {
    let file = small();
    let ids = || ints([Some(1), None, Some(3)]);
    let none = || ints([None; 3]);
    let int = |name: &str| field(name, DataType::Int32);
    let found = |wanted: Field, matching| {
        read(&file, schema(vec![wanted]).matching(matching)).map(|batch| batch.column(0).clone())
    };
    use FieldMatching as M;
    assert_eq!(found(int("id"), M::Name), Ok(ids()));
    assert_eq!(found(int("ID"), M::Name), Ok(none()));
    assert_eq!(found(int("ID"), M::NameIgnoringCase), Ok(ids()));
    assert_eq!(found(int("id"), M::NameIgnoringCase), Ok(ids()));
    assert_eq!(
        found(with_id(int("new"), 1), M::FieldId(Vec::new())),
        Ok(ids())
    );
    assert_eq!(
        found(with_id(int("id"), 9), M::FieldId(Vec::new())),
        Ok(none())
    );
    assert!(
        found(int("id"), M::FieldId(Vec::new()))
            .unwrap_err()
            .contains(ID)
    );
    // The names only apply to fields of the file without an id.
    let names = || M::FieldId(vec![FieldNames::new(9, ["id"])]);
    assert_eq!(found(with_id(int("new"), 9), names()), Ok(none()));
    assert_eq!(found(with_id(int("new"), 1), M::FieldIdOrName), Ok(ids()));
    assert_eq!(found(int("id"), M::FieldIdOrName), Ok(ids()));
    assert!(
        found(with_id(int("id"), 9), M::FieldIdOrName)
            .unwrap_err()
            .contains("has the id 1")
    );
    assert_eq!(found(int("anything"), M::Position), Ok(ids()));
    let fields = vec![int("a"), field("b", DataType::Utf8), int("c")];
    let by_position = read(&file, schema(fields).matching(M::Position));
    assert!(by_position.is_err(), "timestamps are not 32-bit integers");
    let twice = vec![with_id(int("a"), 1), with_id(int("b"), 1)];
    let error = read(&file, schema(twice).matching(M::FieldIdOrName)).unwrap_err();
    assert!(
        error.contains("another wanted field has the field id 1"),
        "{error}"
    );
    // One wanted field has the id of a field in the file, and another one has its name.
    let both = vec![with_id(int("new"), 1), int("id")];
    let batch = read(&file, schema(both).matching(M::FieldIdOrName)).unwrap();
    assert_eq!((batch.column(0), batch.column(1)), (&ids(), &none()));
}

#[test]
fn names_without_ids_find_fields_unless_several_match() {
    let columns = [("a", ints([Some(1); 3])), ("b", ints([Some(2); 3]))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = written(&batch, options());
    let find = |names: &[&str]| {
        let names = FieldNames::new(7, names.iter().copied());
        let wanted = schema(vec![with_id(field("new", DataType::Int32), 7)]);
        read(
            &file,
            wanted.matching(FieldMatching::FieldId(vec![
                FieldNames::new(8, ["a"]),
                names,
            ])),
        )
        .map(|batch| batch.column(0).clone())
    };
    assert_eq!(find(&["b", "c"]), Ok(ints([Some(2); 3])));
    assert_eq!(find(&["c"]), Ok(ints([None; 3])));
    assert!(find(&["a", "b"]).unwrap_err().contains("several fields"));
    let columns = [("a", ints([Some(1); 3])), ("A", ints([Some(2); 3]))];
    let file = written(&RecordBatch::try_from_iter(columns).unwrap(), options());
    let find = |name: &str| {
        let wanted = schema(vec![field(name, DataType::Int32)]);
        read(&file, wanted.matching(FieldMatching::NameIgnoringCase)).map(|it| it.column(0).clone())
    };
    assert_eq!(find("A"), Ok(ints([Some(2); 3])));
}

/// The columns `a` have 1, 2 and 3 at the top, and those of the struct have 4 and 5.
#[test]
fn fields_of_one_name_are_found_in_order() {
    let struct_of = |columns: &[i32]| {
        let fields = columns.iter().map(|_| field("a", DataType::Int32));
        let arrays = columns.iter().map(|value| ints([Some(*value); 3]));
        StructArray::new(fields.collect(), arrays.collect(), None)
    };
    let stored = struct_of(&[4, 5]);
    let inner = stored.data_type().clone();
    let a = || field("a", DataType::Int32);
    let fields = vec![a(), field("s", inner.clone()), a(), a()];
    let columns: Vec<ArrayRef> = vec![
        ints([Some(1); 3]),
        Arc::new(stored),
        ints([Some(2); 3]),
        ints([Some(3); 3]),
    ];
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    let file = written(&batch, options());
    let in_order = |fields| schema(fields).matching(FieldMatching::NameInOrder);
    let find = |fields| read(&file, in_order(fields)).map(|batch| batch.columns().to_vec());
    assert_eq!(find(vec![a()]), Ok(vec![ints([Some(1); 3])]));
    let all = find(vec![a(), field("s", inner), a(), a(), a()]).unwrap();
    assert_eq!(&all[0], &ints([Some(1); 3]));
    assert_eq!(all[1].as_struct(), &struct_of(&[4, 5]));
    assert_eq!(&all[2], &ints([Some(2); 3]));
    assert_eq!(all[3..], [ints([Some(3); 3]), ints([None; 3])]);
    // A filter reads the first column alone, and then the others.
    let filtered = ReadOptions::new()
        .wanted_schema(in_order(vec![a(), a()]))
        .filter(col("a").eq(1));
    let rows = open(&file).read(filtered).unwrap().next_batch().unwrap();
    let rows = rows.unwrap();
    assert_eq!(rows.columns(), [ints([Some(1); 3]), ints([Some(2); 3])]);
    let error = read(&file, schema(vec![a()])).unwrap_err();
    assert!(error.contains("several fields"), "{error}");
}

#[test]
fn missing_fields_are_null_or_have_their_default() {
    let file = small();
    let seven = || Arc::new(Int32Array::from(vec![7])) as ArrayRef;
    let tax = || field("tax", DataType::Int32);
    let batch = read(&file, schema(vec![tax()]).default_value(["tax"], seven())).unwrap();
    assert_eq!(batch.column(0), &ints([Some(7); 3]));
    // A constant hides the file's column, but a default does not.
    let id = || schema(vec![field("id", DataType::Int32)]);
    let batch = read(&file, id().default_value(["id"], seven())).unwrap();
    assert_eq!(batch.column(0), &ints([Some(1), None, Some(3)]));
    let batch = read(&file, id().constant("id", seven())).unwrap();
    assert_eq!(batch.column(0), &ints([Some(7); 3]));
    // Within a struct, a default is null if the struct is null.
    let fields = vec![field("y", DataType::Int32), field("z", DataType::Int32)];
    let place = field("place", DataType::Struct(fields.into()));
    let batch = read(
        &file,
        schema(vec![place]).default_value(["place", "z"], seven()),
    )
    .unwrap();
    let place = batch.column(0).as_struct();
    assert_eq!(
        place.nulls().unwrap(),
        &NullBuffer::from(vec![true, true, false])
    );
    assert_eq!(
        place.column(0).slice(0, 2).as_ref(),
        &Int32Array::from(vec![11, 12]) as &dyn Array
    );
    assert_eq!(
        place.column(1).slice(0, 2).as_ref(),
        &Int32Array::from(vec![7, 7]) as &dyn Array
    );
    let required = || schema(vec![Field::new("tax", DataType::Int32, false)]);
    let fails = |wanted: WantedSchema, reason: &str| {
        let error = read(&file, wanted).unwrap_err();
        assert!(error.contains(reason), "{error}");
    };
    fails(required(), "`tax`, which is not nullable");
    assert!(read(&file, required().default_value(["tax"], seven())).is_ok());
    let null = Arc::new(Int32Array::from(vec![None]));
    fails(
        required().default_value(["tax"], null),
        "its default is null",
    );
    let two = Arc::new(Int32Array::from(vec![1, 2]));
    fails(
        schema(vec![tax()]).default_value(["tax"], two),
        "2 values instead of one",
    );
    let long = Arc::new(Int64Array::from(vec![1]));
    fails(
        schema(vec![tax()]).default_value(["tax"], long),
        "its default is Int64",
    );
    fails(
        schema(vec![tax()]).default_value(["toll"], seven()),
        "`toll`, which is not in",
    );
    // The file's column contains a null, but the wanted one is required.
    let wanted = schema(vec![Field::new("id", DataType::Int32, false)]);
    let options = ReadOptions::new().wanted_schema(wanted);
    let error = open(&file).read(options).unwrap().next_batch().unwrap_err();
    assert!(error.to_string().contains("id"), "{error}");
}

#[test]
fn values_are_cast_to_the_wanted_types() {
    let file = small();
    let millis =
        |zone: Option<&str>| DataType::Timestamp(TimeUnit::Millisecond, zone.map(Into::into));
    let wanted = schema(vec![
        field("id", DataType::Int64),
        field("Name", DataType::LargeUtf8),
        field("at", millis(None)),
    ]);
    let batch = read(&file, wanted).unwrap();
    let ids = Int64Array::from(vec![Some(1), None, Some(3)]);
    assert_eq!(batch.column(0).as_ref(), &ids as &dyn Array);
    assert_eq!(batch.column(1).data_type(), &DataType::LargeUtf8);
    let names: Vec<_> = batch.column(1).as_string::<i64>().iter().collect();
    assert_eq!(names, [Some("a"), Some("b"), None]);
    let times = TimestampMillisecondArray::from(vec![1, 2, -3]);
    assert_eq!(batch.column(2).as_ref(), &times as &dyn Array);
    let in_utc = || schema(vec![field("at", millis(Some("UTC")))]);
    assert!(read(&file, in_utc()).is_err());
    assert_eq!(
        read(&file, in_utc().loose_times(true)).unwrap().num_rows(),
        3
    );
    assert!(read(&file, in_utc().loose_times(false)).is_err());
    let seconds = schema(vec![field(
        "at",
        DataType::Timestamp(TimeUnit::Second, None),
    )]);
    let options = |wanted| ReadOptions::new().wanted_schema(wanted);
    let mut reader = open(&file).read(options(seconds.clone())).unwrap();
    assert!(
        reader.next_batch().is_err(),
        "a thousandth of a second would be lost"
    );
    assert!(read(&file, seconds.loose_times(true)).is_ok());
}

/// A value that does not fit is reported with its column and row group, wherever the column is among the wanted ones.
#[test]
fn a_value_that_does_not_fit_is_reported_with_its_place() {
    let file = small();
    let seconds = || field("at", DataType::Timestamp(TimeUnit::Second, None));
    for fields in [
        vec![seconds()],
        vec![seconds(), field("Name", DataType::Utf8)],
        vec![
            field("id", DataType::Int32),
            field("Name", DataType::Utf8),
            seconds(),
        ],
    ] {
        let options = ReadOptions::new().wanted_schema(schema(fields));
        let mut reader = open(&file).read(options).unwrap();
        let error = reader.next_batch().unwrap_err();
        let location = error.location();
        assert_eq!(location.column.as_deref(), Some("at"), "{error}");
        assert_eq!(location.row_group, Some(0), "{error}");
    }
}

#[test]
fn structs_without_wanted_fields_keep_their_place_or_are_null() {
    let file = small();
    let fields = Fields::from(vec![field("z", DataType::Int32)]);
    let wanted = || schema(vec![field("place", DataType::Struct(fields.clone()))]);
    let batch = read(&file, wanted()).unwrap();
    assert_eq!(
        batch.column(0).nulls().unwrap(),
        &NullBuffer::from(vec![true, true, false])
    );
    assert_eq!(batch.column(0).as_struct().column(0).null_count(), 3);
    let batch = read(&file, wanted().nulls_without_fields(true)).unwrap();
    assert_eq!(batch.column(0).null_count(), 3);
}

#[test]
fn lists_and_maps_are_found_by_position() {
    let file = file(options());
    let pair = Fields::from(vec![
        field("b", DataType::Utf8),
        field("c", DataType::Int32),
    ]);
    let list = |element: DataType| DataType::List(Arc::new(field("element", element)));
    let wanted = schema(vec![
        field(
            "tags",
            DataType::LargeList(Arc::new(field("any", DataType::Int64))),
        ),
        field("pairs", list(DataType::Struct(pair))),
    ]);
    let options = ReadOptions::new().wanted_schema(wanted).batch_size(200);
    let batches = pushed(&file, &options);
    let mut row = 0;
    for batch in &batches {
        for at in 0..batch.num_rows() {
            let lists = batch.column(0).as_list::<i64>();
            let tags = lists.is_valid(at).then(|| {
                lists
                    .value(at)
                    .as_primitive::<Int64Type>()
                    .values()
                    .to_vec()
            });
            let expected = crate::table::tags(row);
            let expected = expected.map(|tags| tags.into_iter().map(i64::from).collect());
            assert_eq!(tags, expected, "{row}");
            let pairs = batch.column(1).as_list::<i32>().value(at);
            assert_eq!(pairs.len(), row % 3);
            let texts = pairs.as_struct().column(0).as_string::<i32>();
            assert!(
                texts
                    .iter()
                    .all(|text| text.map(str::to_owned) == crate::table::text(row))
            );
            assert_eq!(pairs.as_struct().column(1).null_count(), row % 3);
            row += 1;
        }
    }
    assert_eq!(row, ROWS);
}

#[test]
fn maps_keep_keys_and_cast_values() {
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for row in 0..20 {
        // A missing map has no entries.
        for key in (0..row % 3).filter(|_| row % 7 > 0) {
            maps.keys().append_value(format!("key {key}"));
            maps.values().append_option((row % 5 > 0).then_some(row));
        }
        maps.append(row % 7 > 0).unwrap();
    }
    let maps = maps.finish();
    let batch = RecordBatch::try_from_iter([("map", Arc::new(maps.clone()) as ArrayRef)]).unwrap();
    let file = written(&batch, options());
    let read_as = |value: DataType, nulls: bool| {
        let entries = Fields::from(vec![
            Field::new("k", DataType::Utf8, false),
            field("v", value),
        ]);
        let entries = Field::new("e", DataType::Struct(entries), false);
        let wanted = schema(vec![field("map", DataType::Map(Arc::new(entries), false))]);
        read(&file, wanted.nulls_without_fields(nulls))
            .unwrap()
            .column(0)
            .clone()
    };
    let read = read_as(DataType::Int64, false);
    let read = read.as_map();
    assert_eq!(read.nulls(), maps.nulls());
    assert_eq!(read.keys().as_ref(), maps.keys().as_ref());
    let values: Vec<_> = read.values().as_primitive::<Int64Type>().iter().collect();
    let expected = maps
        .values()
        .as_primitive::<herringbone::arrow::array::types::Int32Type>();
    let expected: Vec<_> = expected.iter().map(|value| value.map(i64::from)).collect();
    assert_eq!(values, expected);
}

/// `Projection` and filters use the wanted names, and the additional columns stay after the file's columns.
#[test]
fn projections_and_filters_have_wanted_names() {
    let file = file(options());
    let place = Fields::from(vec![field("y", DataType::Int64)]);
    let wanted = schema(vec![
        field("kind", DataType::Utf8),
        field("place", DataType::Struct(place)),
        field("row", DataType::Int64),
    ]);
    let all = ReadOptions::new().wanted_schema(wanted).batch_size(128);
    let filtered = all
        .clone()
        .columns(["row"])
        .filter(col_at(["place", "y"]).le(-500).and(col("kind").eq("red")))
        .virtual_column(VirtualColumn::row_number("number"));
    let batches = pushed(&file, &filtered);
    let expected: Vec<usize> = (500..ROWS)
        .filter(|row| row % 11 > 0 && crate::table::kind(*row) == "red")
        .collect();
    assert_eq!(crate::table::rows_of(&batches), expected);
    assert_eq!(batches[0].num_columns(), 2);
    let names = all.clone().columns(["row", "kind"]);
    compare(
        &pushed(&file, &names),
        &(0..ROWS).collect::<Vec<_>>(),
        "two columns",
    );
    let paths = |paths: &[&[&str]]| {
        let path = |path: &&[&str]| path.iter().map(|name| (*name).to_owned()).collect();
        Projection::Paths(paths.iter().map(path).collect())
    };
    let by_path = all.clone().projection(paths(&[&["row"]]));
    assert_eq!(
        open(&file).plan(&by_path).unwrap().schema().fields().len(),
        1
    );
    let within = all.clone().projection(paths(&[&["place", "y"]]));
    assert!(open(&file).plan(&within).is_err());
    let unknown = all.columns(["text"]);
    let error = open(&file).plan(&unknown).unwrap_err();
    assert!(error.to_string().contains("`text`"), "{error}");
}

#[test]
fn a_plan_finds_the_stored_leaf_of_a_wanted_field() {
    let file = small();
    let place = Fields::from(vec![
        field("y", DataType::Int32),
        field("z", DataType::Int32),
    ]);
    let wanted = schema(vec![
        field("place", DataType::Struct(place)),
        field("id", DataType::Int32),
    ]);
    let plan = open(&file)
        .plan(&ReadOptions::new().wanted_schema(wanted))
        .unwrap();
    // The leaves are `id`, `Name`, `at`, `place.x` and `place.y`.
    assert_eq!(plan.stored_leaf(&["id"]), Some(0));
    assert_eq!(plan.stored_leaf(&["place", "y"]), Some(4));
    assert_eq!(plan.stored_leaf(&["place", "z"]), None);
    assert_eq!(plan.stored_leaf(&["place"]), None);
    assert_eq!(
        (plan.leaf_of_column(0), plan.leaf_of_column(1)),
        (None, Some(0))
    );
    assert_eq!(plan.leaf_of_column(2), None);
    let lists = ListArray::new(
        Arc::new(field("item", DataType::Int32)),
        OffsetBuffer::from_lengths([1, 2]),
        Arc::new(Int32Array::from(vec![1, 2, 3])),
        None,
    );
    let batch = RecordBatch::try_from_iter([("list", Arc::new(lists) as ArrayRef)]).unwrap();
    let plan = open(&written(&batch, options()))
        .plan(&ReadOptions::new())
        .unwrap();
    assert_eq!(plan.leaf_of_column(0), None);
    assert_eq!(plan.stored_leaf(&["list"]), None);
}

/// Each kind of list is wanted from a file whose hint has a list or a fixed-size list of two.
#[test]
fn lists_are_read_as_the_wanted_kind() {
    let element = || Arc::new(field("item", DataType::Int32));
    let values: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4]));
    let fixed = FixedSizeListArray::new(element(), 2, values.clone(), None);
    let offsets = OffsetBuffer::new(vec![0, 2, 4].into());
    let plain = ListArray::new(element(), offsets, values, None);
    let wide = || Arc::new(field("item", DataType::Int64));
    let kinds = [
        DataType::List(wide()),
        DataType::LargeList(wide()),
        DataType::ListView(wide()),
        DataType::LargeListView(wide()),
        DataType::FixedSizeList(wide(), 2),
    ];
    for stored in [Arc::new(fixed) as ArrayRef, Arc::new(plain)] {
        let batch = RecordBatch::try_from_iter([("l", stored.clone())]).unwrap();
        let file = written(&batch, WriteOptions::new());
        // Only a fixed-size list is known to have two elements in each row.
        let is_fixed = matches!(stored.data_type(), DataType::FixedSizeList(..));
        for kind in &kinds {
            let wanted = schema(vec![field("l", kind.clone())]);
            if matches!(kind, DataType::FixedSizeList(..)) && !is_fixed {
                assert!(read_rows(&file, wanted, 2).is_err());
                continue;
            }
            let about = format!("{} as {kind}", stored.data_type());
            let batch =
                read_rows(&file, wanted, 2).unwrap_or_else(|error| panic!("{about}: {error}"));
            let lists = batch.column(0);
            assert_eq!(lists.data_type(), kind, "{about}");
            let row = |row: usize| -> Vec<i64> {
                let list = match kind {
                    DataType::List(_) => lists.as_list::<i32>().value(row),
                    DataType::LargeList(_) => lists.as_list::<i64>().value(row),
                    DataType::ListView(_) => lists.as_list_view::<i32>().value(row),
                    DataType::LargeListView(_) => lists.as_list_view::<i64>().value(row),
                    _ => lists.as_fixed_size_list().value(row),
                };
                list.as_primitive::<Int64Type>().values().to_vec()
            };
            assert_eq!([row(0), row(1)], [[1, 2], [3, 4]], "{about}");
        }
        // No list in the file has three elements.
        let three = schema(vec![field("l", DataType::FixedSizeList(wide(), 3))]);
        assert!(read_rows(&file, three, 2).is_err());
    }
}

/// Reads a file's only batch, which has this many rows.
fn read_rows(file: &Bytes, wanted: WantedSchema, rows: usize) -> Result<RecordBatch, String> {
    let options = ReadOptions::new().wanted_schema(wanted);
    let file = herringbone::ParquetFile::from_bytes(file.clone()).map_err(|it| it.to_string())?;
    let mut reader = file.read(options).map_err(|error| error.to_string())?;
    let batch = reader.next_batch().map_err(|error| error.to_string())?;
    let batch = batch.ok_or("no rows")?;
    assert_eq!(batch.num_rows(), rows);
    Ok(batch)
}
