//! Selects rows by their bounding boxes. No row is lost, and we do not read pages that cannot contain a match.

use std::ops::Range;
use std::sync::Arc;

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{
    Array as _, ArrayRef, BinaryArray, Float64Array, Int64Array, RecordBatch, StructArray,
};
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::filter::{Predicate, PruningSteps};
use herringbone::format::BoundingBox;
use herringbone::geospatial::geoparquet::Version;
use herringbone::geospatial::{GeoParquetOptions, GeometryColumn, Geospatial, wkt};
use herringbone::{
    ColumnOptions, ColumnSelector, Compression, ParquetFile, ReadOptions, WriteOptions,
};

use super::pruning::{Random, is_in, middle};
use super::{geometry, official, open, point, write};
use crate::noting::{Noting, total};

const CRS84: &str = r#"{"crs": "OGC:CRS84"}"#;

/// Returns options for pages of `rows` rows, without dictionaries.
pub(super) fn paged(rows: usize) -> WriteOptions {
    let columns = ColumnOptions::new().compression(Compression::Uncompressed);
    WriteOptions::new().columns(columns.page_rows(rows).dictionary(false))
}

pub(super) fn primary(file: &ParquetFile) -> GeometryColumn {
    let columns = GeometryColumn::of_file(file.parquet_schema(), file.metadata()).unwrap();
    columns
        .into_iter()
        .find(|column| column.is_primary)
        .unwrap()
}

/// Returns the numbers of the rows that match a predicate, after finding them both with and without pruning.
fn rows(file: &ParquetFile, wanted: &Predicate) -> Vec<i64> {
    let read = |options: ReadOptions| {
        let reader = file.read(options.columns(["row"]).threads(1)).unwrap();
        let batches = reader.map(|batch| batch.unwrap().column(0).clone());
        let rows = batches.flat_map(|row| row.as_primitive::<Int64Type>().values().to_vec());
        rows.collect::<Vec<_>>()
    };
    let options = ReadOptions::new().filter(wanted.clone());
    let found = read(options.clone());
    assert_eq!(
        found,
        read(options.pruning(PruningSteps::none())),
        "{wanted}"
    );
    found
}

fn wkb(text: &str) -> Vec<u8> {
    let mut value = Vec::new();
    wkt::read(text, &mut value).unwrap();
    value
}

/// Returns a batch of numbered geometries.
fn batch(field: Field, values: Vec<Option<Vec<u8>>>) -> RecordBatch {
    let numbers = Int64Array::from_iter_values(0..values.len() as i64);
    let schema = Schema::new(vec![Field::new("row", DataType::Int64, false), field]);
    let values: ArrayRef = Arc::new(BinaryArray::from_iter(values));
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(numbers), values]).unwrap()
}

/// The geometry in a row of a random file.
enum Row {
    Null,
    Empty,
    /// A geometry of an unsupported kind, which we do not parse.
    Opaque,
    At(Vec<(f64, f64)>),
}

fn random_rows(random: &mut Random) -> Vec<(Row, Option<Vec<u8>>)> {
    let value = |random: &mut Random| {
        let mut places = random.places();
        if random.next() < 0.1 {
            // This position is a pole.
            places[0].1 = if random.next() < 0.5 { 90.0 } else { -90.0 };
        }
        let (tag, more) = match (random.next() * 4.0) as usize {
            0 => ("", ""),
            1 => ("Z ", " NaN"),
            2 => ("M ", " 7"),
            _ => ("ZM ", " 1 NaN"),
        };
        let mut text: Vec<_> = places
            .iter()
            .map(|(x, y)| format!("{x} {y}{more}"))
            .collect();
        let value = match places.len() {
            1 => format!("POINT {tag}({})", text[0]),
            2 => format!("MULTIPOINT {tag}(({}), ({}))", text[0], text[1]),
            3 => format!("LINESTRING {tag}({})", text.join(", ")),
            _ => {
                text.push(text[0].clone());
                format!("POLYGON {tag}(({}))", text.join(", "))
            }
        };
        (Row::At(places), Some(wkb(&value)))
    };
    let row = |at: usize| match at % 40 {
        3 => (Row::Null, None),
        9 => (Row::Empty, Some(wkb("POINT EMPTY"))),
        21 => (Row::Empty, Some(wkb("GEOMETRYCOLLECTION EMPTY"))),
        39 if at == 79 => {
            // This is a CIRCULARSTRING without positions.
            (Row::Opaque, Some(vec![1, 8, 0, 0, 0, 0, 0, 0, 0]))
        }
        _ => value(random),
    };
    let mut rows: Vec<_> = (0..600).map(row).collect();
    // Some pages have clustered values, as in sorted files.
    rows[200..].sort_by(|a, b| {
        let key = |row: &Row| match row {
            Row::At(places) => places[0].0,
            _ => 0.0,
        };
        key(&a.0).total_cmp(&key(&b.0))
    });
    rows
}

/// Returns true if the box around some positions in the plane touches another box.
fn planar_touches(bbox: &BoundingBox, places: &[(f64, f64)]) -> bool {
    let bounds = |of: fn(&(f64, f64)) -> f64| {
        let all = || places.iter().map(of);
        (
            all().fold(f64::INFINITY, f64::min),
            all().fold(f64::NEG_INFINITY, f64::max),
        )
    };
    let ((west, east), (south, north)) = (bounds(|it| it.0), bounds(|it| it.1));
    let is_x = match bbox.xmin > bbox.xmax {
        true => east >= bbox.xmin || west <= bbox.xmax,
        false => west <= bbox.xmax && bbox.xmin <= east,
    };
    is_x && south <= bbox.ymax && bbox.ymin <= north
}

fn no_row_is_lost(edges: &str, geoparquet: Option<GeoParquetOptions>) {
    let mut random = Random(11);
    let (expected, values): (Vec<_>, Vec<_>) = random_rows(&mut random).into_iter().unzip();
    let field = geometry(
        "g",
        &format!(r#"{{"crs": "OGC:CRS84", "edges": "{edges}"}}"#),
    );
    let mut options = paged(10);
    options.row_group_rows = 150;
    let geospatial = match geoparquet {
        Some(geoparquet) => Geospatial::new().geoparquet(geoparquet),
        None => Geospatial::new(),
    };
    let file = write(&batch(field, values), geospatial.write_options(options)).unwrap();
    let column = primary(&file);
    let mut found = 0;
    for _ in 0..120 {
        let bbox = random.bbox();
        let touching = rows(&file, &column.intersects(&bbox).unwrap());
        let within = rows(&file, &column.within(&bbox).unwrap());
        for (row, expected) in expected.iter().enumerate() {
            let is_found = touching.contains(&(row as i64));
            let is_within = within.contains(&(row as i64));
            assert!(is_found || !is_within, "row {row} in {bbox:?}");
            match expected {
                Row::Null | Row::Empty => assert!(!is_found, "row {row} in {bbox:?}"),
                Row::Opaque => assert!(is_found && is_within, "row {row} in {bbox:?}"),
                Row::At(places) if edges == "planar" => {
                    assert_eq!(
                        is_found,
                        planar_touches(&bbox, places),
                        "row {row} in {bbox:?}"
                    );
                    let all = places.iter().all(|place| is_in(&bbox, *place));
                    // A box around the whole Earth is not within a box across the antimeridian.
                    assert!(
                        is_within == all || bbox.xmin > bbox.xmax && all,
                        "row {row} in {bbox:?}"
                    );
                }
                Row::At(places) => {
                    let middles = places.windows(2).map(|pair| middle(pair[0], pair[1]));
                    let middles = middles.filter(|_| places.len() > 2);
                    let mut all = places.iter().copied().chain(middles);
                    assert!(
                        is_found || !all.any(|place| is_in(&bbox, place)),
                        "row {row} in {bbox:?}"
                    );
                }
            }
            found += usize::from(is_found);
        }
    }
    assert!(found > 500, "{found}");
}

#[test]
fn no_row_of_a_geometry_is_lost() {
    no_row_is_lost("planar", None);
    no_row_is_lost(
        "planar",
        Some(GeoParquetOptions::new(Version::V1_1).covering(true)),
    );
    no_row_is_lost(
        "planar",
        Some(GeoParquetOptions::new(Version::V2_0).covering(true)),
    );
}

#[test]
fn no_row_of_a_geography_is_lost() {
    no_row_is_lost("spherical", None);
    no_row_is_lost(
        "spherical",
        Some(GeoParquetOptions::new(Version::V1_1).covering(true)),
    );
    no_row_is_lost(
        "spherical",
        Some(GeoParquetOptions::new(Version::V2_0).covering(true)),
    );
}

/// Returns the ordinals of the leaf's pages that were read to their ends. In addition, the first page's header may be
/// read to check the offset index.
pub(super) fn pages_read(file: &ParquetFile, leaf: usize, reads: &[Range<u64>]) -> Vec<usize> {
    let index = file.offset_index(0, leaf).unwrap().unwrap();
    let pages = index.page_locations.iter().enumerate();
    pages
        .filter(|(_, page)| {
            let last = page.offset as u64 + page.compressed_page_size as u64 - 1;
            reads.iter().any(|read| read.contains(&last))
        })
        .map(|(at, _)| at)
        .collect()
}

#[test]
fn a_covering_leaves_the_pages_that_a_box_can_be_in() {
    let values = (0..20_000).map(|at| Some(point(f64::from(at) / 200.0, 1.5)));
    let batch = batch(geometry("g", CRS84), values.collect());
    for version in [Version::V1_1, Version::V2_0] {
        let geoparquet = GeoParquetOptions::new(version).covering(true);
        let options = Geospatial::new()
            .geoparquet(geoparquet)
            .write_options(paged(1000));
        let (source, file) = Noting::new(&batch, options);
        // The first box has the rows 7,100 to 7,102, and the second box is in no page.
        for (bbox, expected, pages) in [
            (
                BoundingBox::new(35.5, 35.51, 1.0, 2.0),
                vec![7100, 7101, 7102],
                vec![7],
            ),
            (BoundingBox::new(35.5, 35.51, 2.0, 3.0), vec![], vec![]),
            // This box lies across the antimeridian, so only the first row matches.
            (BoundingBox::new(170.0, 0.0, 0.0, 9.0), vec![0], vec![0]),
        ] {
            let wanted = primary(&file).intersects(&bbox).unwrap();
            source.take();
            let options = ReadOptions::new().filter(wanted.clone()).columns(["row"]);
            let reader = file.read(options.threads(1)).unwrap();
            let found: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
            let reads = source.take();
            assert_eq!(found, expected.len(), "{bbox:?}");
            assert_eq!(pages_read(&file, 0, &reads), pages, "{bbox:?}");
            assert_eq!(pages_read(&file, 1, &reads), pages, "{bbox:?}");
            // Only the covering's indexes are read.
            for leaf in 2..6 {
                assert_eq!(pages_read(&file, leaf, &reads), [] as [usize; 0]);
            }
            assert!(total(&reads) < 64_000, "{}", total(&reads));
            assert_eq!(rows(&file, &wanted), expected);
        }
    }
}

/// In one page of four, lines alternate between west and east. That page's bounds match the first box, but none of its
/// rows does, so no geometry is read.
#[test]
fn rows_are_tested_by_their_covering_before_geometries_are_read() {
    let line = |x: f64, y: f64| Some(wkb(&format!("LINESTRING ({x} {y}, {} {y})", x + 0.5)));
    let x = |row: usize| match row / 1000 {
        2 if row.is_multiple_of(2) => -100.0,
        2 => 100.0,
        _ => 50.0,
    };
    let values = (0..4000).map(|row| line(x(row), row as f64 / 100.0));
    let batch = batch(geometry("g", CRS84), values.collect());
    let geoparquet = GeoParquetOptions::new(Version::V1_1).covering(true);
    let options = Geospatial::new()
        .geoparquet(geoparquet)
        .write_options(paged(1000));
    let (source, file) = Noting::new(&batch, options);
    for (bbox, expected, pages) in [
        (BoundingBox::new(-1.0, 1.0, 0.0, 90.0), 0, vec![]),
        (BoundingBox::new(99.0, 101.0, 0.0, 20.105), 5, vec![2]),
    ] {
        let wanted = primary(&file).intersects(&bbox).unwrap();
        source.take();
        let options = ReadOptions::new().filter(wanted).threads(1);
        let reader = file.read(options.columns(["row"])).unwrap();
        let found: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
        let reads = source.take();
        assert_eq!(found, expected, "{bbox:?}");
        for leaf in 0..2 {
            assert_eq!(pages_read(&file, leaf, &reads), pages, "{bbox:?}");
        }
        for leaf in 2..6 {
            assert!(pages_read(&file, leaf, &reads).contains(&2), "{bbox:?}");
        }
    }
}

#[test]
fn pages_of_a_covering_are_small_unless_pages_are_asked_for() {
    let values = (0..10_000).map(|at| Some(point(f64::from(at) / 200.0, 1.5)));
    let batch = batch(geometry("g", CRS84), values.collect());
    let pages = |options: WriteOptions| -> Vec<usize> {
        let geoparquet = GeoParquetOptions::new(Version::V2_0).covering(true);
        let geospatial = Geospatial::new().geoparquet(geoparquet);
        let (_, file) = Noting::new(&batch, geospatial.write_options(options));
        let pages = |leaf: usize| {
            file.offset_index(0, leaf)
                .unwrap()
                .unwrap()
                .page_locations
                .len()
        };
        (0..6).map(pages).collect()
    };
    // The row and its geometry have large pages, but the covering has pages of 2,048 rows at most.
    let found = pages(WriteOptions::new());
    assert!(found[..2].iter().all(|pages| *pages <= 2), "{found:?}");
    assert!(found[2..].iter().all(|pages| *pages >= 5), "{found:?}");
    assert_eq!(pages(paged(1000)), [10; 6]);
    let column_options = ColumnOptions::new().page_rows(1 << 15);
    let path = ["bbox", "xmin"].map(str::to_owned).to_vec();
    let options = WriteOptions::new().column_override(ColumnSelector::Path(path), column_options);
    let found = pages(options);
    assert!(found[2] <= 2 && found[3] >= 5, "{found:?}");
}

/// Writes points in pages of 3,000 rows, with a covering of DOUBLE columns as another writer would make it.
fn foreign(rows: &[(&str, [f64; 4])], geo: &str) -> (Noting, ParquetFile) {
    let batch = batch(
        geometry("g", CRS84),
        rows.iter().map(|(text, _)| Some(wkb(text))).collect(),
    );
    let fields: Vec<_> = ["xmin", "ymin", "xmax", "ymax"]
        .map(|name| Field::new(name, DataType::Float64, false))
        .into();
    let ordinate = |axis: usize| -> ArrayRef {
        let values = rows.iter().map(|(_, bbox)| bbox[axis]);
        Arc::new(Float64Array::from_iter_values(values))
    };
    let boxes = StructArray::new(fields.into(), (0..4).map(ordinate).collect(), None);
    let mut schema = Schema::clone(&batch.schema());
    schema.metadata.insert("geo", geo);
    let mut all = schema.fields().to_vec();
    all.push(Arc::new(Field::new(
        "boxes",
        boxes.data_type().clone(),
        false,
    )));
    let schema = Schema::new_with_metadata(all, schema.metadata);
    let mut columns = batch.columns().to_vec();
    columns.push(Arc::new(boxes));
    let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    Noting::new(&batch, paged(3000))
}

fn geo(more: &str) -> String {
    let path = |axis: &str| format!(r#""{axis}": ["boxes", "{axis}"]"#);
    let paths = ["xmin", "ymin", "xmax", "ymax"].map(path).join(", ");
    format!(
        r#"{{"version": "1.1.0", "primary_column": "g", "columns": {{"g": {{"encoding": "WKB",
        "geometry_types": [], "covering": {{"bbox": {{{paths}}}}}{more}}}}}}}"#
    )
}

#[test]
fn coverings_of_others_lose_no_row_that_crosses() {
    // The planar box of these points spans the Earth, while the covering crosses the antimeridian.
    let mut table = vec![("MULTIPOINT ((175 1), (-175 1))", [175.0, 1.0, -175.0, 1.0]); 3000];
    table.extend(vec![("POINT (20 50)", [20.0, 50.0, 20.0, 50.0]); 3000]);
    let (source, file) = foreign(&table, &geo(""));
    let column = primary(&file);
    for (xmin, xmax, expected) in [
        (170.0, 172.0, 3000),
        (-5.0, 5.0, 3000),
        (176.0, 178.0, 0),
        (176.0, -178.0, 0),
    ] {
        let bbox = BoundingBox::new(xmin, xmax, 0.0, 2.0);
        let wanted = column.intersects(&bbox).unwrap();
        source.take();
        assert_eq!(rows(&file, &wanted).len(), expected);
        // Latitudes can still rule out pages.
        let options = ReadOptions::new()
            .filter(wanted)
            .columns(["row"])
            .threads(1);
        source.take();
        file.read(options)
            .unwrap()
            .for_each(|batch| drop(batch.unwrap()));
        assert_eq!(pages_read(&file, 1, &source.take()), [0]);
    }
}

#[test]
fn coverings_of_others_tell_of_x_where_nothing_crosses() {
    let mut table = vec![("POINT (5 1)", [5.0, 1.0, 5.0, 1.0]); 3000];
    // Some writers cover empty geometries with NaN.
    table[50] = ("POINT EMPTY", [f64::NAN; 4]);
    table.extend(vec![("POINT (20 1)", [20.0, 1.0, 20.0, 1.0]); 3000]);
    let pages = |more: &str| {
        let (source, file) = foreign(&table, &geo(more));
        let bbox = BoundingBox::new(15.0, 25.0, 0.0, 2.0);
        let wanted = primary(&file).intersects(&bbox).unwrap();
        assert_eq!(rows(&file, &wanted), (3000..6000).collect::<Vec<_>>());
        source.take();
        let options = ReadOptions::new()
            .filter(wanted)
            .columns(["row"])
            .threads(1);
        file.read(options)
            .unwrap()
            .for_each(|batch| drop(batch.unwrap()));
        pages_read(&file, 1, &source.take())
    };
    assert_eq!(pages(""), [0, 1]);
    // The whole file lies on one side of the antimeridian.
    assert_eq!(pages(r#", "bbox": [5, 1, 20, 1]"#), [1]);
    assert_eq!(pages(r#", "bbox": [-180, 1, 180, 1]"#), [0, 1]);
    // A system in metres has no antimeridian.
    let projected = r#", "crs": {"type": "ProjectedCRS", "name": "metres"}"#;
    assert_eq!(pages(projected), [1]);
    // We do not know how the writer bounded spherical edges.
    assert_eq!(
        pages(r#", "bbox": [5, 1, 20, 1], "edges": "spherical""#),
        [0, 1]
    );
}

#[test]
fn native_points_are_found_by_their_own_bounds() {
    let fields = vec![
        Field::new("x", DataType::Float64, false),
        Field::new("y", DataType::Float64, false),
    ];
    let ordinate = |of: fn(i32) -> f64| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values((0..5000).map(of)))
    };
    let columns = vec![ordinate(f64::from), ordinate(|at| f64::from(at % 2))];
    let points = StructArray::new(fields.clone().into(), columns, None);
    let pairs = [
        ("ARROW:extension:name", "geoarrow.point"),
        (
            "ARROW:extension:metadata",
            r#"{"crs": {"type": "ProjectedCRS", "name": "metres"}}"#,
        ),
    ];
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let field = Field::new("p", DataType::Struct(fields.into()), true).with_metadata(pairs);
    let numbers = Int64Array::from_iter_values(0..5000);
    let schema = Schema::new(vec![Field::new("row", DataType::Int64, false), field]);
    let columns: Vec<ArrayRef> = vec![Arc::new(numbers), Arc::new(points)];
    let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    let geoparquet = GeoParquetOptions::new(Version::V1_1);
    let options = Geospatial::new()
        .geoparquet(geoparquet)
        .write_options(paged(500));
    let (source, file) = Noting::new(&batch, options);
    let column = primary(&file);
    let wanted = column
        .intersects(&BoundingBox::new(1700.0, 1703.5, 0.5, 9.0))
        .unwrap();
    assert_eq!(rows(&file, &wanted), [1701, 1703]);
    source.take();
    let options = ReadOptions::new().filter(wanted).threads(1);
    file.read(options)
        .unwrap()
        .for_each(|batch| drop(batch.unwrap()));
    assert_eq!(pages_read(&file, 1, &source.take()), [3]);
    // In a system without an antimeridian, a box cannot cross it.
    let error = column
        .intersects(&BoundingBox::new(5.0, 1.0, 0.0, 1.0))
        .unwrap_err();
    assert!(
        error.to_string().contains("does not have an antimeridian"),
        "{error}"
    );
}

/// Compares with counts that shapely found, by comparing the `bounds` of each non-empty geometry with the box.
#[test]
fn official_files_give_the_rows_of_shapely() {
    let Some(folder) = official() else { return };
    for (name, [xmin, ymin, xmax, ymax], expected) in [
        ("geospatial", [0.0, 0.0, 15.0, 15.0], 76),
        ("geospatial", [35.0, 15.0, 36.0, 16.0], 76),
        ("geospatial", [170.0, -90.0, 180.0, 90.0], 0),
        ("crs-default", [-110.0, 41.0, -108.0, 42.0], 1),
        ("crs-default", [0.0, 0.0, 15.0, 15.0], 0),
        ("geography-points", [0.0, 0.0, 15.0, 15.0], 3),
        ("geography-points", [170.0, -90.0, 180.0, 90.0], 14),
    ] {
        let file = open(&folder, &format!("{name}.parquet"));
        let wanted = primary(&file).intersects(&BoundingBox::new(xmin, xmax, ymin, ymax));
        let reader = file
            .read(ReadOptions::new().filter(wanted.unwrap()))
            .unwrap();
        let found: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(found, expected, "{name} {xmin} {ymin} {xmax} {ymax}");
    }
}
