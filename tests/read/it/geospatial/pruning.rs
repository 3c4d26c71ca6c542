//! Checks the boxes of row groups and rows against each of their positions.

use std::sync::Arc;

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Float32Type;
use herringbone::arrow::array::{Array, ArrayRef, BinaryArray, RecordBatch};
use herringbone::arrow::schema::Schema;
use herringbone::format::BoundingBox;
use herringbone::geospatial::geoparquet::Version;
use herringbone::geospatial::{GeoParquetOptions, GeometryColumn, Geospatial, wkt};
use herringbone::{ReadOptions, WriteOptions};

use super::{geometry, write};

const ROWS: usize = 600;
const ROWS_OF_A_GROUP: usize = 20;

/// A generator of pseudo-random numbers from 0 to 1.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns positions close to each other, which sometimes lie across the antimeridian.
    pub(super) fn places(&mut self) -> Vec<(f64, f64)> {
        let (x, y) = (self.next() * 360.0 - 180.0, self.next() * 160.0 - 80.0);
        let count = 1 + (self.next() * 4.0) as usize;
        let mut place = || {
            let x = x + self.next() * 20.0 - 10.0;
            let x = if x > 180.0 {
                x - 360.0
            } else if x < -180.0 {
                x + 360.0
            } else {
                x
            };
            (x, (y + self.next() * 16.0 - 8.0).clamp(-90.0, 90.0))
        };
        (0..count).map(|_| place()).collect()
    }

    /// Returns a box, which sometimes lies across the antimeridian.
    pub(super) fn bbox(&mut self) -> BoundingBox {
        let (xmin, width) = (self.next() * 360.0 - 180.0, self.next() * 30.0);
        let (ymin, height) = (self.next() * 180.0 - 90.0, self.next() * 20.0);
        let xmax = if xmin + width > 180.0 {
            xmin + width - 360.0
        } else {
            xmin + width
        };
        BoundingBox::new(xmin, xmax, ymin, (ymin + height).min(90.0))
    }
}

pub(super) fn is_in(bbox: &BoundingBox, (x, y): (f64, f64)) -> bool {
    let is_x = match bbox.xmin > bbox.xmax {
        true => x >= bbox.xmin || x <= bbox.xmax,
        false => bbox.xmin <= x && x <= bbox.xmax,
    };
    is_x && bbox.ymin <= y && y <= bbox.ymax
}

/// Returns the midpoint of a great-circle arc.
pub(super) fn middle((ax, ay): (f64, f64), (bx, by): (f64, f64)) -> (f64, f64) {
    let vector = |x: f64, y: f64| {
        let ((sin, cos), (up, out)) = (x.to_radians().sin_cos(), y.to_radians().sin_cos());
        [out * cos, out * sin, up]
    };
    let (a, b) = (vector(ax, ay), vector(bx, by));
    let [x, y, z] = [0, 1, 2].map(|axis| a[axis] + b[axis]);
    (y.atan2(x).to_degrees(), z.atan2(x.hypot(y)).to_degrees())
}

fn no_row_is_lost(edges: &str) {
    let mut random = Random(7);
    let rows: Vec<_> = (0..ROWS).map(|_| random.places()).collect();
    let value = |places: &Vec<(f64, f64)>| {
        let text: Vec<_> = places.iter().map(|(x, y)| format!("{x} {y}")).collect();
        let kind = if text.len() == 1 {
            "POINT"
        } else {
            "LINESTRING"
        };
        let mut value = Vec::new();
        wkt::read(&format!("{kind} ({})", text.join(", ")), &mut value).unwrap();
        value
    };
    let array: ArrayRef = Arc::new(BinaryArray::from_iter_values(rows.iter().map(value)));
    let metadata = format!(r#"{{"crs": "OGC:CRS84", "edges": "{edges}"}}"#);
    let schema = Arc::new(Schema::new(vec![geometry("g", &metadata)]));
    let batch = RecordBatch::try_new(schema, vec![array]).unwrap();
    let geoparquet = GeoParquetOptions::new(Version::V2_0).covering(true);
    let options = WriteOptions::new().row_group_rows(ROWS_OF_A_GROUP);
    let options = Geospatial::new()
        .geoparquet(geoparquet)
        .write_options(options);
    let file = write(&batch, options).unwrap();
    // These are positions on a row's edges, including their ends.
    let seen = |places: &[(f64, f64)]| {
        let middles = places.windows(2).map(|pair| middle(pair[0], pair[1]));
        let middles = middles.filter(|_| edges == "spherical");
        places.iter().copied().chain(middles).collect::<Vec<_>>()
    };
    let rows: Vec<_> = rows.iter().map(|places| seen(places)).collect();

    let boxes: Vec<_> = file
        .read(ReadOptions::new().columns(["bbox"]))
        .unwrap()
        .collect();
    let boxes = boxes.into_iter().flat_map(|batch| {
        let batch = batch.unwrap();
        let boxes = batch.column(0).as_struct();
        assert_eq!(boxes.null_count(), 0);
        let of = |axis: usize, row| {
            f64::from(boxes.column(axis).as_primitive::<Float32Type>().value(row))
        };
        let of = |row| BoundingBox::new(of(0, row), of(2, row), of(1, row), of(3, row));
        (0..boxes.len()).map(of).collect::<Vec<_>>()
    });
    for (bbox, places) in boxes.zip(&rows) {
        assert!(bbox.xmin <= bbox.xmax, "{bbox:?}");
        assert!(
            places.iter().all(|place| is_in(&bbox, *place)),
            "{bbox:?} {places:?}"
        );
    }

    let (schema, metadata) = (file.parquet_schema(), file.metadata());
    let column = &GeometryColumn::of_file(schema, metadata).unwrap()[0];
    let (mut excluded, mut needed) = (0, 0);
    for _ in 0..500 {
        let bbox = random.bbox();
        for (row_group, rows) in rows.chunks(ROWS_OF_A_GROUP).enumerate() {
            let may = column.may_intersect(metadata, row_group, &bbox).unwrap();
            let does = rows.iter().flatten().any(|place| is_in(&bbox, *place));
            assert!(may || !does, "{bbox:?} in row group {row_group}");
            excluded += usize::from(!may);
            needed += usize::from(does);
        }
    }
    assert!(needed > 500 && excluded > 100, "{needed} {excluded}");
}

#[test]
fn planar_boxes_lose_no_row() {
    no_row_is_lost("planar");
}

#[test]
fn spherical_boxes_lose_no_row() {
    no_row_is_lost("spherical");
}
