//! Native encodings in lists: their rows by boxes, and row groups by the bounds of their ordinates.

use std::collections::HashMap;
use std::sync::Arc;

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
use herringbone::{ReadOptions, WriteOptions};

use super::pruning::Random;
use crate::skipping::Noting;

const ROWS: usize = 1200;
const ROWS_OF_A_GROUP: usize = 100;

/// The positions of a row: none of every 17th, which is null; empty ones; those of a row group lie close together.
fn places(random: &mut Random) -> Vec<Option<Vec<(f64, f64)>>> {
    let row = |row: usize| {
        let around = (row / ROWS_OF_A_GROUP) as f64 * 20.0 - 100.0;
        let count = (random.next() * 6.0) as usize;
        let mut place = || (around + random.next() * 25.0, random.next() * 80.0 - 40.0);
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

/// Lines, or polygons of one ring each.
fn geometries(kind: &str, rows: &[Option<Vec<(f64, f64)>>]) -> ArrayRef {
    let all: Vec<_> = rows.iter().flatten().flatten().copied().collect();
    let points: ArrayRef = Arc::new(points(&all));
    let nulls = Some(NullBuffer::from_iter(rows.iter().map(Option::is_some)));
    let lengths = rows.iter().map(|row| row.as_ref().map_or(0, Vec::len));
    match kind {
        "polygon" => {
            // An empty polygon has no ring.
            let rings = list(points, lengths.clone().filter(|it| *it > 0), None);
            list(rings, lengths.map(|it| usize::from(it > 0)), nulls)
        }
        _ => list(points, lengths, nulls),
    }
}

fn touches(bbox: &BoundingBox, places: &[(f64, f64)]) -> bool {
    let outside = |beyond: &dyn Fn(&(f64, f64)) -> bool| places.iter().all(beyond);
    !(places.is_empty()
        || outside(&|it| it.0 < bbox.xmin)
        || outside(&|it| it.0 > bbox.xmax)
        || outside(&|it| it.1 < bbox.ymin)
        || outside(&|it| it.1 > bbox.ymax))
}

#[test]
fn lists_of_positions_lose_no_row_and_leave_row_groups() {
    for kind in ["linestring", "multipoint", "polygon"] {
        let mut random = Random(23);
        let rows = places(&mut random);
        let array = geometries(kind, &rows);
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
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..ROWS as i64));
        let batch = RecordBatch::try_new(Arc::new(schema), vec![numbers, array]).unwrap();
        let options = WriteOptions::new().row_group_rows(ROWS_OF_A_GROUP);
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
                rows.flat_map(|it| it.as_primitive::<Int64Type>().values().to_vec())
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
            // No byte of a row group whose bounds are elsewhere.
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
                assert!(!reads.iter().any(|it| it.start < end && start < it.end));
                left += 1;
            }
        }
        assert!(found > 200 && left > 800, "{kind}: {found} {left}");
    }
}
