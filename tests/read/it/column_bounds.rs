//! Tests bounds and counts as Arrow arrays, for row groups and for pages, nested or not.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{
    Array, ArrayRef, Float64Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray,
    TimestampMicrosecondArray,
};
use herringbone::arrow::schema::{DataType, Field, Fields};
use herringbone::pruning::ColumnBounds;
use herringbone::{
    ColumnOptions, DataPageVersion, ParquetFile, ReadOptions, StatisticsLevel, WantedSchema,
    WriteOptions, Writer,
};

use crate::canonical::lines;
use crate::damage::{ID, sound, with_statistics};
use crate::files;

fn written(batch: &RecordBatch, options: WriteOptions) -> ParquetFile {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    ParquetFile::from_bytes(Bytes::from(file)).unwrap()
}

/// Returns ten rows of a list that is null, empty or has values, and of a struct with text and floats.
fn batch() -> RecordBatch {
    let lists = ListArray::from_iter_primitive::<Int64Type, _, _>((0..10).map(|row| {
        (row != 3).then(|| (0..row % 3).map(move |at| (at != 1).then_some(row * 10 + at)))
    }));
    let text = StringArray::from_iter((0..10).map(|row| (row < 8).then(|| format!("t{row}"))));
    let floats = [
        0.0,
        1.0,
        -2.0,
        f64::NAN,
        4.0,
        -0.0,
        f64::NAN,
        f64::NAN,
        f64::NAN,
        f64::NAN,
    ];
    let fields = Fields::from(vec![
        Field::new("text", DataType::Utf8, true),
        Field::new("float", DataType::Float64, false),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(text),
        Arc::new(Float64Array::from(floats.to_vec())),
    ];
    let structs = StructArray::new(fields, columns, None);
    let times = TimestampMicrosecondArray::from_iter_values(0..10).with_timezone("UTC");
    RecordBatch::try_from_iter([
        ("list", Arc::new(lists) as ArrayRef),
        ("struct", Arc::new(structs)),
        ("time", Arc::new(times)),
    ])
    .unwrap()
}

fn check(bounds: &ColumnBounds, min: &[&str], max: &[&str], nulls: &[&str], rows: &[&str]) {
    assert_eq!(lines(&bounds.min), min);
    assert_eq!(lines(&bounds.max), max);
    assert_eq!(lines(&bounds.null_counts), nulls);
    assert_eq!(lines(&bounds.row_counts), rows);
}

#[test]
fn of_row_groups_and_pages_nested_or_not() {
    let mut options = WriteOptions::new().row_group_rows(6);
    options.columns = ColumnOptions::new().page_rows(2).dictionary(false);
    let file = written(&batch(), options);
    // We expect these lists: -, [10], [20, null], null, [40], [50, null] | -, [70], [80, null], -
    let list = file.row_group_bounds(0).unwrap();
    check(
        &list,
        &["10", "70"],
        &["50", "80"],
        &["4", "3"],
        &["6", "4"],
    );
    let pages = file.page_bounds(0, 0).unwrap().unwrap();
    check(
        &pages,
        &["10", "20", "40"],
        &["10", "20", "50"],
        &["1", "2", "1"],
        &["2", "2", "2"],
    );

    let text = file.row_group_bounds(1).unwrap();
    check(
        &text,
        &["\"t0\"", "\"t6\""],
        &["\"t5\"", "\"t7\""],
        &["0", "2"],
        &["6", "4"],
    );
    let pages = file.page_bounds(1, 1).unwrap().unwrap();
    check(
        &pages,
        &["\"t6\"", "null"],
        &["\"t7\"", "null"],
        &["0", "2"],
        &["2", "2"],
    );

    // NaNs are counted, but they are not part of the bounds. A bound of zero stands for both zeros.
    let floats = file.row_group_bounds(2).unwrap();
    assert_eq!(lines(&floats.nan_counts), ["1", "4"]);
    check(
        &floats,
        &["-2e0", "null"],
        &["4e0", "null"],
        &["0", "0"],
        &["6", "4"],
    );
    assert_eq!(
        floats.is_min_exact.iter().collect::<Vec<_>>(),
        [Some(true), None]
    );

    let times = file.row_group_bounds(3).unwrap();
    assert_eq!(times.min.data_type(), batch().column(2).data_type());
    assert_eq!(times.max.to_data().buffer::<i64>(0), &[5, 9]);
}

#[test]
fn zeros_have_the_sign_that_keeps_both_within() {
    let values = Float64Array::from(vec![0.0, -0.0, 0.0]);
    let batch = RecordBatch::try_from_iter([("f", Arc::new(values) as ArrayRef)]).unwrap();
    let bounds = written(&batch, WriteOptions::new())
        .row_group_bounds(0)
        .unwrap();
    let bits = |array: &ArrayRef| array.to_data().buffer::<f64>(0)[0].to_bits();
    assert_eq!(
        (bits(&bounds.min), bits(&bounds.max)),
        ((-0.0_f64).to_bits(), 0.0_f64.to_bits())
    );
}

#[test]
fn what_is_not_said_is_null() {
    let values: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let batch = RecordBatch::try_from_iter([("a", values)]).unwrap();
    let mut options = WriteOptions::new();
    options.columns = ColumnOptions::new().statistics(StatisticsLevel::Counts);
    let file = written(&batch, options);
    let bounds = file.row_group_bounds(0).unwrap();
    check(&bounds, &["null"], &["null"], &["0"], &["3"]);
    assert!(file.page_bounds(0, 0).unwrap().is_none());
    let error = file.row_group_bounds(1).unwrap_err();
    assert_eq!(error.kind(), herringbone::ErrorKind::Argument);
}

/// Reads files by other writers, in which some bounds are not usable.
#[test]
fn of_official_files() {
    let Some(official) = files::official() else {
        return;
    };
    let bounds = |name: &str, leaf| {
        let file = ParquetFile::open(official.join("data").join(name)).unwrap();
        file.row_group_bounds(leaf).unwrap()
    };
    // The upper bound in this file is NaN, because the values are 1 and NaN.
    let nan = bounds("nan_in_stats.parquet", 0);
    check(&nan, &["1e0"], &["null"], &["0"], &["2"]);
    // The bounds of 96-bit timestamps follow no order that was defined at the time.
    let int96 = bounds("alltypes_plain.parquet", 10);
    assert_eq!((int96.min.null_count(), int96.max.null_count()), (1, 1));
    // The older bounds of BYTE_ARRAY columns were compared as signed bytes.
    let strings = bounds("alltypes_tiny_pages.parquet", 8);
    assert_eq!((strings.min.len(), strings.row_counts.value(0)), (1, 7300));
}

/// The bounds have the Arrow type of the read. For most of these types, Parquet has no bounds of their own.
#[test]
fn of_a_plan_have_the_type_of_the_batches() {
    use herringbone::arrow::array::{
        Date64Array, Decimal32Array, DictionaryArray, DurationMillisecondArray, LargeStringArray,
        StringViewArray, TimestampSecondArray, types::Int8Type,
    };
    let texts = ["pear", "apple", "fig", "quince"];
    let dictionary: DictionaryArray<Int8Type> = texts.into_iter().collect();
    let decimals = Decimal32Array::from(vec![150, -25, 0, 7]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("dictionary", Arc::new(dictionary)),
        ("large", Arc::new(LargeStringArray::from(texts.to_vec()))),
        ("view", Arc::new(StringViewArray::from(texts.to_vec()))),
        (
            "oslo",
            Arc::new(TimestampSecondArray::from(vec![5, 1, 9, 2]).with_timezone("Europe/Oslo")),
        ),
        (
            "date",
            Arc::new(Date64Array::from(vec![86_400_000, 0, 172_800_000, 0])),
        ),
        (
            "decimal",
            Arc::new(decimals.with_precision_and_scale(6, 2).unwrap()),
        ),
        (
            "duration",
            Arc::new(DurationMillisecondArray::from(vec![4, 3, 8, 6])),
        ),
        (
            "float",
            Arc::new(Float64Array::from(vec![0.0, -1.0, 2.0, 3.0])),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut options = WriteOptions::new().row_group_rows(2);
    options.columns = ColumnOptions::new().page_rows(1).dictionary(false);
    let file = written(&batch, options);
    let plan = file.plan(&ReadOptions::new()).unwrap();
    let expected = [
        (["\"apple\"", "\"fig\""], ["\"pear\"", "\"quince\""]),
        (["\"apple\"", "\"fig\""], ["\"pear\"", "\"quince\""]),
        (["\"apple\"", "\"fig\""], ["\"pear\"", "\"quince\""]),
        (["1", "2"], ["5", "9"]),
        (["0", "0"], ["86400000", "172800000"]),
        (["-25", "0"], ["150", "7"]),
        (["3", "6"], ["4", "8"]),
        (["-1e0", "2e0"], ["0e0", "3e0"]),
    ];
    for (column, (min, max)) in expected.into_iter().enumerate() {
        let field = batch.schema_ref().field(column);
        let bounds = plan.row_group_bounds(column).unwrap();
        let cell = file.load_page_index(0, column).unwrap();
        let pages = plan.page_bounds(0, column, &cell).unwrap();
        let pages = pages.unwrap_or_else(|| panic!("{}: {cell:?}", field.name()));
        for array in [&bounds.min, &bounds.max, &pages.min, &pages.max] {
            assert_eq!(array.data_type(), field.data_type(), "{}", field.name());
        }
        let lines = |array: &ArrayRef| lines_of_values(array);
        assert_eq!(
            (lines(&bounds.min), lines(&bounds.max)),
            (texts_of(min), texts_of(max)),
            "{}",
            field.name()
        );
        assert_eq!(pages.min.len(), 2);
        assert_eq!(plan.leaf_of_column(column), Some(column));
    }
}

fn texts_of(values: [&str; 2]) -> Vec<String> {
    values.map(str::to_owned).to_vec()
}

/// Returns an array's values, without the units of their type.
fn lines_of_values(array: &ArrayRef) -> Vec<String> {
    let plain = match array.data_type() {
        DataType::Timestamp(..) | DataType::Date64 | DataType::Duration(_) => {
            let data = array.to_data().into_builder().data_type(DataType::Int64);
            herringbone::arrow::array::make_array(data.build().unwrap())
        }
        DataType::Decimal32(..) => {
            let data = array.to_data().into_builder().data_type(DataType::Int32);
            herringbone::arrow::array::make_array(data.build().unwrap())
        }
        _ => array.clone(),
    };
    lines(&plain)
}

#[test]
fn of_a_plan_follow_the_wanted_schema() {
    use herringbone::arrow::array::Int32Array;
    use herringbone::arrow::schema::Schema;
    let values: ArrayRef = Arc::new(Int32Array::from(vec![Some(3), None, Some(-7)]));
    let batch = RecordBatch::try_from_iter([("a", values)]).unwrap();
    let file = written(&batch, WriteOptions::new());
    let fields = vec![
        Field::new("a", DataType::Int64, true),
        Field::new("lacking", DataType::Utf8, true),
        Field::new("five", DataType::Float64, false),
    ];
    let wanted = WantedSchema::new(Arc::new(Schema::new(fields)))
        .default_value(["five"], Arc::new(Float64Array::from(vec![5.0])));
    let plan = file
        .plan(&ReadOptions::new().wanted_schema(wanted))
        .unwrap();
    let long = plan.row_group_bounds(0).unwrap();
    check(&long, &["-7"], &["3"], &["1"], &["3"]);
    assert_eq!(long.min.data_type(), &DataType::Int64);
    assert!(long.is_min_exact.value(0));
    let lacking = plan.row_group_bounds(1).unwrap();
    check(&lacking, &["null"], &["null"], &["3"], &["3"]);
    assert_eq!(lacking.min.data_type(), &DataType::Utf8);
    let five = plan.row_group_bounds(2).unwrap();
    check(&five, &["5e0"], &["5e0"], &["0"], &["3"]);
    assert_eq!(lines(&five.nan_counts), ["0"]);
    assert_eq!(
        (plan.leaf_of_column(0), plan.leaf_of_column(1)),
        (Some(0), None)
    );
    let cell = file.load_page_index(0, 0).unwrap();
    assert!(plan.page_bounds(0, 1, &cell).unwrap().is_none());
    let error = plan.row_group_bounds(3).unwrap_err();
    assert_eq!(error.kind(), herringbone::ErrorKind::Argument);
}

/// Compares the bounds in other writers' files with the ones that the `parquet` crate decodes.
#[test]
fn of_a_plan_equal_those_of_the_parquet_crate() {
    use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
    use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
    let Some(official) = files::official() else {
        return;
    };
    let mut compared = 0;
    for entry in std::fs::read_dir(official.join("data")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(file) = ParquetFile::open(&path) else {
            continue;
        };
        let peer = std::fs::File::open(&path).unwrap();
        let Ok(peer) = ArrowReaderMetadata::load(&peer, ArrowReaderOptions::new()) else {
            continue;
        };
        let Ok(plan) = file.plan(&ReadOptions::new()) else {
            continue;
        };
        let groups = plan.row_groups().len();
        for (column, field) in plan.schema().fields().iter().enumerate() {
            let peers = peer.schema().field_with_name(field.name());
            if groups < file.metadata().num_row_groups()
                || peers.is_ok_and(|peer| peer.data_type() != field.data_type())
                || plan.leaf_of_column(column).is_none()
            {
                continue;
            }
            let bounds = plan.row_group_bounds(column).unwrap();
            assert_eq!(
                bounds.min.data_type(),
                field.data_type(),
                "{path:?} {column}"
            );
            let schema = peer.metadata().file_metadata().schema_descr();
            let converter = StatisticsConverter::try_new(field.name(), peer.schema(), schema);
            let Ok(converter) = converter else {
                continue;
            };
            let all = peer.metadata().row_groups();
            let (min, max) = (
                converter.row_group_mins(all),
                converter.row_group_maxes(all),
            );
            let (Ok(min), Ok(max)) = (min, max) else {
                continue;
            };
            for (ours, theirs) in [(&bounds.min, &min), (&bounds.max, &max)] {
                let (ours, theirs) = (lines(ours), lines(theirs));
                for (ours, theirs) in ours.iter().zip(&theirs) {
                    // We return null for unusable bounds, and a zero has the sign that includes both zeros.
                    if ours != "null" && ours.trim_start_matches('-') != "0e0" {
                        assert_eq!(ours, theirs, "{path:?} {}", field.name());
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 400, "{compared}");
}

/// We change the footer by hand, because few writers count distinct values.
#[test]
fn of_distinct_values_are_those_of_the_statistics() {
    let changed = with_statistics(&sound(DataPageVersion::V1), ID, |it| {
        it.distinct_count = Some(7)
    });
    let file = ParquetFile::from_bytes(changed).unwrap();
    let plan = file.plan(&ReadOptions::new()).unwrap();
    for bounds in [file.row_group_bounds(ID), plan.row_group_bounds(0)] {
        assert_eq!(bounds.unwrap().distinct_counts.iter().next(), Some(Some(7)));
    }
}
