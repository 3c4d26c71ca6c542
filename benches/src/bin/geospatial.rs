//! Times geometries: `geospatial [--seconds S] [PART_OF_A_NAME ...]`. It reads no files, because it
//! generates the rows itself.
//!
//! `write` writes columns of well-known binary, with and without bounding boxes and geometry types.
//! `read` reads the rows in a box of 1 % of the area from a file with a covering, and then all rows
//! of that file.

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray};
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::filter::Predicate;
use herringbone::format::BoundingBox;
use herringbone::geospatial::geoparquet::Version;
use herringbone::geospatial::{GeoParquetOptions, GeometryColumn, Geospatial, wkt};
use herringbone::{
    ColumnOptions, Compression, ParquetFile, ReadOptions, WriteOptions, Writer, ZstdLevel,
};
use herringbone_benches::arguments::Arguments;
use herringbone_benches::workload::Work;
use herringbone_benches::{Result, measure};

/// The most that boxes and types may cost, as a share of the time to write.
const DEAR: f64 = 0.2;
/// The least speedup that we expect from reading the rows in the box, compared with all rows.
const FASTER: f64 = 5.0;

/// Kinds of geometries, each as its name, the number of positions per value, and the number of
/// values.
const KINDS: [(&str, usize, usize); 7] = [
    ("points", 1, 400_000),
    ("lines of 8", 8, 100_000),
    ("lines of 100", 100, 10_000),
    ("polygons of 5", 5, 150_000),
    ("polygons of 60", 60, 15_000),
    ("multipolygons of 2 × 12", 12, 30_000),
    ("points with z", 1, 400_000),
];

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let mut faults = 0;
    println!("| write | edges | codec | without ms | with boxes and types ms | more |");
    println!("|---|---|---|---:|---:|---:|");
    for (kind, positions, values) in KINDS {
        if !arguments.wants(kind) {
            continue;
        }
        for edges in ["planar", "spherical"] {
            let batch = batch(kind, positions, values, edges)?;
            for codec in [
                Compression::Zstd(ZstdLevel::default()),
                Compression::Snappy,
                Compression::Uncompressed,
            ] {
                faults += usize::from(!write(&batch, kind, edges, codec, arguments.seconds)?);
            }
        }
    }
    if arguments.wants("read") {
        println!("\n| read | all rows ms | rows of the box ms | times as fast |");
        println!("|---|---:|---:|---:|");
        for codec in [
            Compression::Zstd(ZstdLevel::default()),
            Compression::Snappy,
            Compression::Uncompressed,
        ] {
            faults += usize::from(!read(codec, arguments.seconds)?);
        }
    }
    println!("\n{faults} dearer than {DEAR} or not {FASTER} times as fast");
    Ok(ExitCode::from(u8::from(faults > 0)))
}

/// A generator of pseudo-random numbers from 0 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns positions around a place, on a circle of about a hundredth of a degree.
    fn around(&mut self, x: f64, y: f64, positions: usize, z: &str) -> Vec<String> {
        let at = |at: usize, random: &mut Self| {
            let angle = at as f64 / positions as f64 * std::f64::consts::TAU;
            let radius = 0.005 + random.next() * 0.005;
            let (sin, cos) = angle.sin_cos();
            format!("{:.7} {:.7}{z}", x + radius * cos, y + radius * sin)
        };
        (0..positions).map(|i| at(i, self)).collect()
    }
}

/// Returns a value of some kind around a place.
fn value(random: &mut Random, kind: &str, positions: usize, (x, y): (f64, f64)) -> Result<Vec<u8>> {
    let mut ring = |x: f64| {
        let mut ring = random.around(x, y, positions, "");
        ring.push(ring[0].clone());
        ring.join(", ")
    };
    let text = match kind.split(' ').next().unwrap_or_default() {
        "polygons" => format!("POLYGON (({}))", ring(x)),
        "multipolygons" => format!("MULTIPOLYGON ((({})), (({})))", ring(x), ring(x + 0.03)),
        "lines" => format!(
            "LINESTRING ({})",
            random.around(x, y, positions, "").join(", ")
        ),
        _ if kind == "points with z" => {
            format!("POINT Z ({})", random.around(x, y, 1, " 12.5").join(", "))
        }
        _ => format!("POINT ({})", random.around(x, y, 1, "").join(", ")),
    };
    let mut value = Vec::new();
    wkt::read(&text, &mut value)?;
    Ok(value)
}

fn geometry(edges: &str) -> Field {
    let metadata = format!(r#"{{"crs": "OGC:CRS84", "edges": "{edges}"}}"#);
    let pairs = [
        ("ARROW:extension:name", "geoarrow.wkb".to_owned()),
        ("ARROW:extension:metadata", metadata),
    ];
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value));
    Field::new("geometry", DataType::Binary, true).with_metadata(HashMap::from(pairs))
}

/// Returns a column of places all over the Earth.
fn batch(kind: &str, positions: usize, values: usize, edges: &str) -> Result<RecordBatch> {
    let mut random = Random(7);
    let mut column = Vec::with_capacity(values);
    for _ in 0..values {
        let place = (random.next() * 350.0 - 175.0, random.next() * 160.0 - 80.0);
        column.push(value(&mut random, kind, positions, place)?);
    }
    let array: ArrayRef = Arc::new(BinaryArray::from_iter_values(column));
    let schema = Arc::new(Schema::new(vec![geometry(edges)]));
    Ok(RecordBatch::try_new(schema, vec![array])?)
}

fn bytes(batch: &RecordBatch, options: WriteOptions) -> Result<Bytes> {
    let mut file = Vec::with_capacity(batch.get_array_memory_size());
    let mut writer = Writer::new(&mut file, batch.schema(), options.threads(1))?;
    writer.write(batch)?;
    writer.finish()?;
    Ok(file.into())
}

/// Times writes, and returns true if boxes and types are cheap.
fn write(
    batch: &RecordBatch,
    kind: &str,
    edges: &str,
    codec: Compression,
    seconds: f64,
) -> Result<bool> {
    let rows = batch.num_rows() as u64;
    let side = |with: bool| -> Work {
        let batch = batch.clone();
        Box::new(move || {
            let options = WriteOptions::new().columns(ColumnOptions::new().compression(codec));
            let options = match with {
                true => Geospatial::new().write_options(options),
                // This side has the same logical type and the same values.
                false => options.extension(Geospatial::new()),
            };
            bytes(&batch, options).map(|_| rows)
        })
    };
    let (without, with) = (side(false), side(true));
    let times = measure::in_turns(&[&without, &with], seconds)?;
    let more = times[1].median_above(&times[0]) / times[0].median();
    let is_cheap = more <= DEAR;
    println!(
        "| {kind} | {edges} | {codec} | {:.2} | {:.2} | {:.0} %{} |",
        times[0].median(),
        times[1].median(),
        more * 100.0,
        if is_cheap { "" } else { " **dear**" }
    );
    Ok(is_cheap)
}

/// Splits a number into two and gives every other bit to each. In this order, places that are near
/// each other are also near each other in the file.
fn from_z_order(number: usize) -> (usize, usize) {
    let every_other =
        |number: usize| (0..8).fold(0, |sum, bit| sum | (number >> (2 * bit) & 1) << bit);
    (every_other(number), every_other(number >> 1))
}

/// Reads all rows, or the selected ones.
fn rows(file: &Bytes, wanted: Option<&Predicate>) -> Result<u64> {
    let options = ReadOptions::new().columns(["id", "name", "geometry"]);
    let options = options.extension(Geospatial::new()).threads(1);
    let options = match wanted {
        Some(wanted) => options.filter(wanted.clone()),
        None => options,
    };
    let mut rows = 0;
    for batch in ParquetFile::from_bytes(file.clone())?.read(options)? {
        rows += batch?.num_rows() as u64;
    }
    Ok(rows)
}

/// Times reads and returns true if the rows in a box are found [`FASTER`] times as fast as all
/// rows.
fn read(codec: Compression, seconds: f64) -> Result<bool> {
    /// The number of squares along each side of the area.
    const SIDE: usize = 256;
    const POLYGONS_OF_A_SQUARE: usize = 8;
    let mut random = Random(5);
    let (mut names, mut polygons) = (Vec::new(), Vec::new());
    for square in 0..SIDE * SIDE {
        let (column, row) = from_z_order(square);
        for _ in 0..POLYGONS_OF_A_SQUARE {
            let x = (column as f64 + random.next()) / 10.0;
            let y = (row as f64 + random.next()) / 10.0;
            names.push(format!("building {square} of {column} and {row}"));
            polygons.push(value(&mut random, "polygons", 5, (x, y))?);
        }
    }
    let schema = Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("name", DataType::Utf8, false),
        geometry("planar"),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(0..names.len() as i64)),
        Arc::new(StringArray::from_iter_values(&names)),
        Arc::new(BinaryArray::from_iter_values(&polygons)),
    ];
    let batch = RecordBatch::try_new(Arc::new(schema), columns)?;
    let options = WriteOptions::new().columns(ColumnOptions::new().compression(codec));
    let geoparquet = GeoParquetOptions::new(Version::V1_1).covering(true);
    let geospatial = Geospatial::new().geoparquet(geoparquet);
    let file = bytes(&batch, geospatial.write_options(options))?;

    let opened = ParquetFile::from_bytes(file.clone())?;
    let columns = GeometryColumn::of_file(opened.parquet_schema(), opened.metadata())?;
    // The box has a tenth of each side, near the middle.
    let (from, to) = (9.0, 9.0 + SIDE as f64 / 100.0);
    let wanted = BoundingBox::new(from, to, from, to);
    let wanted = columns
        .first()
        .ok_or("no geometries")?
        .intersects(&wanted)?;
    let found = rows(&file, Some(&wanted))?;
    let share = found as f64 / batch.num_rows() as f64;
    if !(0.005..0.02).contains(&share) {
        return Err(format!("the box has {share} of the rows").into());
    }
    let side = |wanted: Option<Predicate>| -> Work {
        let file = file.clone();
        Box::new(move || rows(&file, wanted.as_ref()).map(|_| 0))
    };
    let (all, of_box) = (side(None), side(Some(wanted)));
    let times = measure::in_turns(&[&all, &of_box], seconds)?;
    let ratio = times[0].median() / times[1].median();
    println!(
        "| {} polygons, {codec}, {found} in the box | {:.2} | {:.2} | {ratio:.1}{} |",
        batch.num_rows(),
        times[0].median(),
        times[1].median(),
        if ratio >= FASTER { "" } else { " **slow**" }
    );
    Ok(ratio >= FASTER)
}
