//! Tests native encodings in lists. Rows are found by boxes, and row groups and pages are skipped by the bounds of
//! their ordinates.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone::ReadOptions;
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{
    Array, ArrayRef, Float64Array, Int64Array, ListArray, RecordBatch, StructArray,
};
use herringbone::arrow::buffer::{NullBuffer, OffsetBuffer};
use herringbone::arrow::schema::{DataType, Field, Fields, Schema};
use herringbone::filter::PruningSteps;
use herringbone::format::BoundingBox;
use herringbone::geospatial::geoparquet::Version;
use herringbone::geospatial::{GeoParquetOptions, GeometryColumn, Geospatial};

use super::boxes::{paged, pages_read, primary};
use super::pruning::Random;
use crate::noting::Noting;

const ROWS: usize = 1200;
const ROWS_OF_A_GROUP: usize = 100;
const ROWS_OF_PER_PAGE: usize = 10;

/// Returns the positions of each row. Every 17th row is null, and some rows are empty. Positions are clustered by row
/// group and more closely by page, and some ordinates are NaN.
fn places(random: &mut Random) -> Vec<Option<Vec<(f64, f64)>>> {
    let row = |row: usize| {
        let around = (row / ROWS_OF_PER_PAGE) as f64 * 2.0 - 100.0;
        let count = (random.next() * 6.0) as usize;
        let mut ordinate = |from: f64, size: f64| match random.next() < 0.03 {
            true => f64::NAN,
            false => from + random.next() * size,
        };
        let mut place = || (ordinate(around, 7.0), ordinate(-40.0, 80.0));
        let places = (0..count).map(|_| place()).collect();
        (!row.is_multiple_of(17)).then_some(places)
    };
    (0..ROWS).map(row).collect()
}

fn points(places: &[(f64, f64)]) -> StructArray {
    let fields: Fields = ["x", "y"]
        .map(|axis| Field::new(axis, DataType::Float64, false))
        .into_iter()
        .collect();
    let ordinates = |of: fn(&(f64, f64)) -> f64| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(places.iter().map(of)))
    };
    StructArray::new(
        fields,
        vec![ordinates(|it| it.0), ordinates(|it| it.1)],
        None,
    )
}

fn list(
    values: ArrayRef,
    lengths: impl Iterator<Item = usize>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let field = Field::new("element", values.data_type().clone(), false);
    let offsets = OffsetBuffer::from_lengths(lengths);
    Arc::new(ListArray::new(Arc::new(field), offsets, values, nulls))
}

/// Returns geometries in one, two or three levels of lists. If there is more than one level, each geometry has one part
/// of one ring.
fn geometries(kind: &str, rows: &[Option<Vec<(f64, f64)>>]) -> ArrayRef {
    let all: Vec<_> = rows.iter().flatten().flatten().copied().collect();
    let mut values: ArrayRef = Arc::new(points(&all));
    let nulls = Some(NullBuffer::from_iter(rows.iter().map(Option::is_some)));
    let mut lengths: Vec<_> = rows
        .iter()
        .map(|row| row.as_ref().map_or(0, Vec::len))
        .collect();
    let lists_within = match kind {
        "linestring" | "multipoint" => 0,
        "polygon" | "multilinestring" => 1,
        _ => 2,
    };
    for _ in 0..lists_within {
        // An empty geometry has no parts.
        values = list(
            values,
            lengths.iter().copied().filter(|length| *length > 0),
            None,
        );
        lengths
            .iter_mut()
            .for_each(|length| *length = (*length).min(1));
    }
    list(values, lengths.into_iter(), nulls)
}

/// Returns true if the box around the positions, in which NaN ordinates are ignored, touches `bbox`.
fn touches(bbox: &BoundingBox, places: &[(f64, f64)]) -> bool {
    let between = |of: fn(&(f64, f64)) -> f64, min: f64, max: f64| {
        let all = || places.iter().map(of).filter(|it| !it.is_nan());
        all().any(|it| it <= max) && all().any(|it| it >= min)
    };
    between(|it| it.0, bbox.xmin, bbox.xmax) && between(|it| it.1, bbox.ymin, bbox.ymax)
}

/// Returns row numbers, and geometries in a plane.
fn batch(kind: &str, array: ArrayRef) -> RecordBatch {
    let pairs = [
        ("ARROW:extension:name", format!("geoarrow.{kind}")),
        (
            "ARROW:extension:metadata",
            r#"{"crs": {"type": "ProjectedCRS", "name": "metres"}}"#.to_owned(),
        ),
    ];
    let pairs = HashMap::from(pairs.map(|(key, value)| (key.to_owned(), value)));
    let field = Field::new("g", array.data_type().clone(), true).with_metadata(pairs);
    let schema = Schema::new(vec![Field::new("row", DataType::Int64, false), field]);
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..array.len() as i64));
    RecordBatch::try_new(Arc::new(schema), vec![numbers, array]).unwrap()
}

/// Even a box between the ends of a line, which contains none of its positions, finds the line.
#[test]
fn pages_are_left_by_bounds_below_lists() {
    for kind in ["linestring", "polygon", "multipolygon"] {
        let line = |at: u32| Some(vec![(f64::from(at), 0.0), (f64::from(at) + 0.75, 1.0)]);
        let rows: Vec<_> = (0..5000).map(line).collect();
        let geospatial = Geospatial::new().geoparquet(GeoParquetOptions::new(Version::V1_1));
        let options = geospatial.write_options(paged(500));
        let (source, file) = Noting::new(&batch(kind, geometries(kind, &rows)), options);
        for (bbox, rows, pages) in [
            (BoundingBox::new(1700.25, 1700.5, 0.25, 0.5), 1, vec![3]),
            (BoundingBox::new(1499.5, 1500.0, -1.0, 0.0), 2, vec![2, 3]),
            (BoundingBox::new(1700.25, 1700.5, 1.5, 2.0), 0, vec![]),
        ] {
            let wanted = primary(&file).intersects(&bbox).unwrap();
            source.take();
            let reader = file
                .read(ReadOptions::new().filter(wanted).threads(1))
                .unwrap();
            let found: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
            let reads = source.take();
            assert_eq!(found, rows, "{kind} {bbox:?}");
            for leaf in [1, 2] {
                // Readers of lists also read the next page, because the last row could continue there.
                let read = pages_read(&file, leaf, &reads);
                let may = |page: &usize| pages.iter().any(|it| it == page || it + 1 == *page);
                assert!(read.iter().all(may), "{kind} {bbox:?}: {read:?}");
                assert!(pages.iter().all(|page| read.contains(page)));
            }
        }
    }
}

#[test]
fn lists_of_positions_lose_no_row_and_leave_row_groups() {
    for kind in [
        "linestring",
        "multipoint",
        "polygon",
        "multilinestring",
        "multipolygon",
    ] {
        let mut random = Random(23);
        let rows = places(&mut random);
        let array = geometries(kind, &rows);
        let batch = batch(kind, array);
        let options = paged(ROWS_OF_PER_PAGE).row_group_rows(ROWS_OF_A_GROUP);
        let geospatial = Geospatial::new().geoparquet(GeoParquetOptions::new(Version::V1_1));
        let (source, file) = Noting::new(&batch, geospatial.write_options(options));
        let columns = GeometryColumn::of_file(file.parquet_schema(), file.metadata()).unwrap();
        let column = &columns[0];
        let (mut found, mut left) = (0, 0);
        for _ in 0..100 {
            let (x, y) = (random.next() * 260.0 - 120.0, random.next() * 90.0 - 45.0);
            let bbox = BoundingBox::new(x, x + random.next() * 30.0, y, y + random.next() * 9.0);
            let wanted = column.intersects(&bbox).unwrap();
            let read = |options: ReadOptions| -> Vec<i64> {
                let options = options.filter(wanted.clone()).columns(["row"]).threads(1);
                let batches = file.read(options).unwrap().map(|batch| batch.unwrap());
                let rows = batches.map(|batch| batch.column(0).clone());
                rows.flat_map(|row| row.as_primitive::<Int64Type>().values().to_vec())
                    .collect()
            };
            let expected = rows.iter().enumerate().filter_map(|(at, row)| {
                let touches = row.as_ref().is_some_and(|row| touches(&bbox, row));
                touches.then_some(at as i64)
            });
            let expected: Vec<_> = expected.collect();
            source.take();
            assert_eq!(read(ReadOptions::new()), expected, "{kind} {bbox:?}");
            let reads = source.take();
            let all = ReadOptions::new().pruning(PruningSteps::none());
            assert_eq!(read(all), expected, "{kind} {bbox:?}");
            found += expected.len();
            // If a row group's bounds do not touch the box, none of its bytes is read.
            for group in 0..ROWS / ROWS_OF_A_GROUP {
                if column.may_intersect(file.metadata(), group, &bbox).unwrap() {
                    continue;
                }
                let x = file
                    .metadata()
                    .column_chunk(group, 1)
                    .unwrap()
                    .meta_data
                    .unwrap();
                let start = x.dictionary_page_offset.unwrap_or(x.data_page_offset) as u64;
                let end = start + x.total_compressed_size as u64;
                assert!(
                    !reads
                        .iter()
                        .any(|read| read.start < end && start < read.end)
                );
                left += 1;
            }
        }
        assert!(found > 200 && left > 800, "{kind}: {found} {left}");
    }
}
