//! Tests geometries in text, GeoJSON and GeoParquet.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone::{WriteOptions, Writer};
use herringbone_arrow::array::{ArrayRef, BinaryArray, RecordBatch};
use herringbone_arrow::schema::{DataType, Field, Schema};
use serde_json::Value;

use crate::common::{EXAMPLE, Folder, herringbone};

/// Two Features. Only the first one has a geometry.
const FEATURES: &str = "\
{\"type\":\"Feature\",\"id\":7,\"properties\":{\"n\":1,\"s\":\"a\"},\"geometry\":{\"type\":\"LineString\",\"coordinates\":[[10.5,-1,3],[20,2,4]]}}
{\"type\":\"Feature\",\"id\":8,\"properties\":{\"n\":2,\"s\":null},\"geometry\":null}
";

/// Writes the Features as a Parquet file with these options, and returns its path.
fn parquet(folder: &Folder, options: &[&str]) -> String {
    let (features, out) = (folder.file("in.geojsonl"), folder.file("out.parquet"));
    std::fs::write(&features, FEATURES).unwrap();
    herringbone(&[&["convert", "-f", &features, &out], options].concat()).ok("");
    out
}

fn geo(file: &str) -> Value {
    let meta: Value = serde_json::from_str(&herringbone(&["meta", file]).stdout).unwrap();
    let pairs = meta["key_value_metadata"].as_array().unwrap();
    let geo = pairs.iter().find(|pair| pair["key"] == "geo");
    geo.map_or(Value::Null, |pair| {
        serde_json::from_str(pair["value"].as_str().unwrap()).unwrap()
    })
}

#[test]
fn features_become_rows_and_rows_features() {
    let folder = Folder::new();
    let out = parquet(&folder, &[]);
    herringbone(&["schema", &out]).ok(
        "message schema {\n  optional int64 id;\n  optional int64 n;\n  \
         optional binary s (STRING);\n  optional binary geometry (GEOMETRY);\n}\n",
    );
    herringbone(&["cat", &out]).ok(
        "{\"id\":7,\"n\":1,\"s\":\"a\",\"geometry\":\"LINESTRING Z (10.5 -1 3, 20 2 4)\"}\n\
         {\"id\":8,\"n\":2,\"s\":null,\"geometry\":null}\n",
    );
    herringbone(&["cat", "--format", "csv", &out])
        .ok("id,n,s,geometry\n7,1,a,\"LINESTRING Z (10.5 -1 3, 20 2 4)\"\n8,2,,\n");
    herringbone(&["cat", "--format", "geojsonl", &out]).ok(
        "{\"type\":\"Feature\",\"geometry\":{\"type\":\"LineString\",\"coordinates\":[[10.5,-1,3],[20,2,4]]},\
         \"properties\":{\"id\":7,\"n\":1,\"s\":\"a\"}}\n\
         {\"type\":\"Feature\",\"geometry\":null,\"properties\":{\"id\":8,\"n\":2,\"s\":null}}\n",
    );
    let info = herringbone(&["info", &out]).stdout;
    let line =
        "geometries   geometry: OGC:CRS84, x 10.5 to 20, y -1 to 2, z 3 to 4, LINESTRING Z\n";
    assert!(info.contains(line), "{info}");
    herringbone(&["verify", "-q", &out]).code(&[0]);
}

/// If written text is read with a printed schema, it gives the same geometries.
#[test]
fn text_comes_back() {
    let folder = Folder::new();
    let out = parquet(&folder, &[]);
    let schema = herringbone(&["schema", "--format", "arrow", &out]).stdout;
    assert!(
        schema.ends_with("geometry: Binary (geoarrow.wkb, OGC:CRS84)\n"),
        "{schema}"
    );
    let (types, again) = (folder.file("types.txt"), folder.file("again.parquet"));
    std::fs::write(&types, schema).unwrap();
    for format in ["rows.jsonl", "rows.csv"] {
        let rows = folder.file(format);
        herringbone(&["convert", "-f", &out, &rows]).ok("");
        herringbone(&["convert", "-f", "--schema", &types, &rows, &again]).ok("");
        let schema = |file: &str| herringbone(&["schema", file]).stdout;
        assert_eq!(schema(&again), schema(&out));
        assert_eq!(
            herringbone(&["cat", &again]).stdout,
            herringbone(&["cat", &out]).stdout
        );
    }
    std::fs::write(&types, "g: Binary (geoarrow.wkb, EPSG:3857, loxodrome)\n").unwrap();
    herringbone(&[
        "convert",
        "-f",
        "--schema",
        &types,
        &folder.file("rows.csv"),
        &again,
    ])
    .fails(3, "loxodrome");
    std::fs::write(&types, "geometry: Binary (geoarrow.wkb, EPSG:3857)\n").unwrap();
    herringbone(&[
        "convert",
        "-f",
        "--schema",
        &types,
        &folder.file("in.geojsonl"),
        &again,
    ])
    .fails(2, "GeoJSON contains longitudes and latitudes");
}

#[test]
fn what_geojson_cannot_say() {
    let folder = Folder::new();
    let (rows, types) = (folder.file("rows.jsonl"), folder.file("types.txt"));
    let out = folder.file("out.geojson");
    let convert = |crs: &str, text: &str| {
        std::fs::write(&types, format!("g: Binary (geoarrow.wkb, {crs})\n")).unwrap();
        std::fs::write(&rows, format!("{{\"g\":\"{text}\"}}\n")).unwrap();
        herringbone(&["convert", "-f", "--schema", &types, &rows, &out])
    };
    convert("EPSG:4326", "POINT (1 2)").ok("");
    convert("EPSG:3857", "POINT (1 2)").fails(3, "column `g` is in EPSG:3857");
    convert("srid:0", "POINT (1 2)").fails(3, "column `g` is in srid:0");
    convert("EPSG:4326", "POINT M (1 2 3)").fails(3, "row 0: the geometry at byte 0 is a POINT M");
    convert("EPSG:4326", "POINT (1)").fails(3, "line 1: column `g`");
    herringbone(&["convert", "-f", "testdata/example.parquet", &out])
        .fails(3, "needs a geometry column");
}

#[test]
fn geoparquet_is_written_on_request_and_kept() {
    let folder = Folder::new();
    let out = parquet(&folder, &["--geoparquet", "1.1", "--covering"]);
    let column = |file: &str| geo(file)["columns"]["geometry"].clone();
    assert_eq!(geo(&out)["version"], "1.1.0");
    assert_eq!(
        column(&out)["bbox"],
        serde_json::json!([10.5, -1.0, 3.0, 20.0, 2.0, 4.0])
    );
    assert_eq!(
        column(&out)["covering"]["bbox"]["ymax"],
        serde_json::json!(["bbox", "ymax"])
    );
    let again = folder.file("again.parquet");
    let rewrite = |options: &[&str]| {
        herringbone(&[&["rewrite", "-q", "-f", &out, &again], options].concat()).ok("");
        herringbone(&["verify", &again]).code(&[0]);
    };
    rewrite(&[]);
    assert_eq!(geo(&again), geo(&out));
    rewrite(&["--geoparquet", "2.0"]);
    assert_eq!(geo(&again)["version"], "2.0.0");
    let schema = herringbone(&["schema", &again]).stdout;
    assert!(
        schema.contains("optional binary geometry (GEOMETRY);"),
        "{schema}"
    );
    // Without the geometry column, there is no GeoParquet metadata.
    rewrite(&["--columns", "n"]);
    assert_eq!(geo(&again), Value::Null);
    herringbone(&["rewrite", "-f", &out, &again, "--covering"]).fails(2, "--geoparquet");
}

/// The box of one file would be wrong for the rows of both.
#[test]
fn files_that_are_put_together_have_one_box() {
    let folder = Folder::new();
    let first = parquet(&folder, &["--geoparquet", "1.1"]);
    let (features, second) = (folder.file("in.geojsonl"), folder.file("second.parquet"));
    std::fs::write(&features, FEATURES.replace("10.5,-1,3", "-9,-1,3")).unwrap();
    herringbone(&["convert", &features, &second, "--geoparquet", "1.1"]).ok("");
    let both = folder.file("both.parquet");
    herringbone(&["concat", &first, &second, "-o", &both]).ok("");
    let bbox = &geo(&both)["columns"]["geometry"]["bbox"];
    assert_eq!(*bbox, serde_json::json!([-9.0, -1.0, 3.0, 20.0, 2.0, 4.0]));
    // Coordinates of different systems are not combined.
    let (types, rows, third) = (
        folder.file("t"),
        folder.file("r.jsonl"),
        folder.file("3.parquet"),
    );
    let schema = herringbone(&["schema", "--format", "arrow", &first]).stdout;
    std::fs::write(&types, schema.replace("OGC:CRS84", "EPSG:3857")).unwrap();
    herringbone(&["convert", &first, &rows]).ok("");
    herringbone(&["convert", "--schema", &types, &rows, &third]).ok("");
    herringbone(&["concat", "-f", &first, &third, "-o", &both])
        .fails(3, "the geometries of `geometry` are GEOMETRY in");
}

/// Only one of the two Features has a geometry, which reaches from 10.5 -1 to 20 2.
#[test]
fn rows_by_their_boxes() {
    let folder = Folder::new();
    let out = parquet(&folder, &[]);
    let count = |options: &[&str]| {
        let run = herringbone(&[&["count"], options, &[&out]].concat());
        run.code(&[0]);
        run.stdout
    };
    for (bbox, expected) in [
        ("20,2,30,3", "1\n"),
        ("20.1,2,30,3", "0\n"),
        ("-180,-90,180,90", "1\n"),
        ("geometry=0,0,15,1", "1\n"),
        // These boxes cross the antimeridian. One reaches 11, and the other only 10.
        ("170,-1,11,1", "1\n"),
        ("170,-1,10,1", "0\n"),
    ] {
        assert_eq!(count(&["--bbox", bbox]), expected, "{bbox}");
    }
    assert_eq!(count(&["--bbox", "0,0,15,1", "--where", "n = 2"]), "0\n");
    assert_eq!(count(&["--bbox=-20,-9,15,1", "--where", "n = 1"]), "1\n");
    let line = "{\"id\":7}\n";
    herringbone(&["cat", "--columns", "id", "--bbox", "0,0,15,1", &out, &out]).ok(&line.repeat(2));
    herringbone(&[
        "head",
        "-n",
        "1",
        "--columns",
        "id",
        "--bbox",
        "0,0,15,1",
        &out,
        &out,
    ])
    .ok(line);
    for (bbox, message) in [
        (
            "n=0,0,1,1",
            "`n` is not a geometry column; the geometry columns are: geometry",
        ),
        ("0,0,1", "four numbers"),
        ("0,1,1,0", "above ymax"),
        ("400,0,1,1", "both must be longitudes"),
    ] {
        herringbone(&["cat", "--bbox", bbox, &out]).fails(2, message);
    }
    herringbone(&["count", "--bbox", "0,0,1,1", EXAMPLE])
        .fails(2, "the file does not have a geometry column");
}

#[test]
fn a_box_is_explained_in_words() {
    let folder = Folder::new();
    let out = parquet(&folder, &["--geoparquet", "1.1", "--covering"]);
    let run = herringbone(&["count", "--bbox", "0,-5,15.5,25", "--explain", &out]);
    let wanted = "where bbox(geometry) intersects (0, -5, 15.5, 25)\n";
    assert!(run.stdout.contains(wanted), "{}", run.stdout);
}

/// Projected systems such as national grids do not have an antimeridian. This holds whether the
/// file contains the system's definition or only a code.
#[test]
fn projected_systems_have_no_antimeridian() {
    let folder = Folder::new();
    let rows = folder.with("rows.jsonl", "{\"geometry\": \"POINT (1 2)\"}\n");
    let types = folder.file("types.txt");
    let out = folder.file("out.parquet");
    for (crs, is_projected) in [("EPSG:5070", true), ("EPSG:4326", false)] {
        std::fs::write(&types, format!("geometry: Binary (geoarrow.wkb, {crs})\n")).unwrap();
        herringbone(&["convert", "-f", "--schema", &types, &rows, &out]).ok("");
        let run = herringbone(&["cat", "--bbox", "178,0,-178,30", &out]);
        assert_eq!(run.code != 0, is_projected, "{}", run.stderr);
        assert_eq!(
            run.stderr.contains("not have an antimeridian"),
            is_projected
        );
    }
}

/// geopandas reads the same properties and geometries, but it does not have a column for a numeric
/// `id`.
#[test]
fn feature_collections_are_read_feature_by_feature() {
    let folder = Folder::new();
    let features = r#"{"type":"Feature","id":7,"properties":{"n":1},"geometry":{"type":"Point","coordinates":[1,2]}},
  {"properties":{"n":null},"type":"Feature","id":8,"geometry":null}"#;
    let rows = "{\"id\":7,\"n\":1,\"geometry\":\"POINT (1 2)\"}\n\
                {\"id\":8,\"n\":null,\"geometry\":null}\n";
    let crs = r#"{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}}"#;
    let out = folder.file("out.parquet");
    for (text, note) in [
        (format!("[{features}]"), ""),
        (
            format!("{{\"type\":\"FeatureCollection\",\"features\":[{features}]}}\n"),
            "",
        ),
        (
            format!(
                "{{\n \"features\" : [\n{features}\n],\"crs\":{crs},\"bbox\":[0],\"type\":\"FeatureCollection\"}}"
            ),
            "",
        ),
        (
            format!(
                "{{\"type\":\"FeatureCollection\",\"name\":\"x\",\"features\":[{features}],\"links\":[]}}"
            ),
            "members of a FeatureCollection are left out: `name`, `links`",
        ),
    ] {
        let file = folder.with("in.geojson", &text);
        let run = herringbone(&["convert", "-f", &file, &out]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(
            run.stderr.contains(note) && run.stderr.is_empty() == note.is_empty(),
            "{}",
            run.stderr
        );
        herringbone(&["cat", &out]).ok(rows);
    }
    for (text, message) in [
        (
            "{\"type\":\"FeatureCollection\",\"features\":[{\n}]}",
            "line 1: expected a Feature, found an object without `type`",
        ),
        (
            "{\"features\":[],\n\"type\":\"Topology\"}",
            "line 1: a Topology has an array `features`",
        ),
        (
            "{\"type\":\"FeatureCollection\",\"features\":[\n",
            "line 2: the file ends within an array",
        ),
        (
            "{\"type\":\"FeatureCollection\"}",
            "line 1: a FeatureCollection does not have an array `features`",
        ),
    ] {
        let file = folder.with("in.geojson", text);
        herringbone(&["convert", "-f", &file, &out]).fails(3, message);
    }
}

#[test]
fn every_member_of_a_feature_has_a_column() {
    let folder = Folder::new();
    let file = folder.with(
        "in.geojsonl",
        "{\"type\":\"Feature\",\"stac_version\":\"1.0.0\",\"id\":\"a\",\"assets\":{\"x\":{\"href\":\"h\"}},\
         \"properties\":{\"id\":5,\"geometry\":\"clash\"},\"geometry\":null}\n",
    );
    let out = folder.file("out.parquet");
    let run = herringbone(&["convert", "-f", &file, &out]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for renamed in [
        "`geometry` becomes the column `geometry_1`",
        "`id` becomes the column `id_1`",
    ] {
        assert!(run.stderr.contains(renamed), "{}", run.stderr);
    }
    herringbone(&["cat", &out]).ok(
        "{\"stac_version\":\"1.0.0\",\"id\":\"a\",\"assets\":{\"x\":{\"href\":\"h\"}},\
         \"id_1\":5,\"geometry_1\":\"clash\",\"geometry\":null}\n",
    );
}

/// Only the file's `geo` metadata shows that the bytes are geometries.
#[test]
fn rows_of_geoparquet_come_back_by_its_schema() {
    let folder = Folder::new();
    let first = parquet(&folder, &["--geoparquet", "1.1"]);
    let lines = herringbone(&["cat", &first]).stdout;
    let (json, second) = (
        folder.with("rows.jsonl", &lines),
        folder.file("second.parquet"),
    );
    herringbone(&["convert", "--schema", &first, &json, &second]).ok("");
    herringbone(&["cat", &second]).ok(&lines);
    assert_eq!(
        herringbone(&["schema", "--format", "arrow", &second]).stdout,
        herringbone(&["schema", "--format", "arrow", &first]).stdout
    );
}

/// Returns a file with the points (1 2), (100 50), a null and (-170 10) in a column of bytes, and
/// with this metadata.
fn points(folder: &Folder, geo: Option<&str>, field: Field) -> String {
    let point = |x: f64, y: f64| {
        let ordinates = [x, y].map(f64::to_le_bytes).concat();
        Some([&[1, 1, 0, 0, 0][..], &ordinates].concat())
    };
    let values: BinaryArray = [
        point(1.0, 2.0),
        point(100.0, 50.0),
        None,
        point(-170.0, 10.0),
    ]
    .into_iter()
    .collect();
    let metadata = geo.map(|geo| ("geo".to_owned(), geo.to_owned()));
    let metadata: HashMap<_, _> = metadata.into_iter().collect();
    let other = Field::new("other", DataType::Binary, true);
    let schema = Schema::new_with_metadata(vec![field, other], metadata);
    let columns: Vec<ArrayRef> = vec![Arc::new(values.clone()), Arc::new(values)];
    let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    let path = folder.file("points.parquet");
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = Writer::new(file, batch.schema(), WriteOptions::new()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    path
}

/// These defects of the `geo` metadata do not concern the values. geopandas and GDAL read such
/// files.
#[test]
fn columns_survive_defects_of_the_metadata() {
    let folder = Folder::new();
    let plain = || Field::new("geometry", DataType::Binary, true);
    let column = |version: &str, members: &str, others: &str| {
        format!(
            r#"{{"version": "{version}", "primary_column": "geometry", "columns": {{"geometry":
                {{"encoding": "WKB", {members}}}{others}}}}}"#
        )
    };
    let types = r#""geometry_types": []"#;
    let with = |member: &str| column("1.1.0", &format!("{types}, {member}"), "");
    for geo in [
        column("1.1.0", types, ""),
        with(r#""crs": "EPSG:4326""#),
        column("1.0.0", r#""geometry_types": null"#, ""),
        column("0.4.0", r#""geometry_type": "Point""#, ""),
        column("1.1.0", types, r#", "other": {"encoding": "WKB"}"#),
        column(
            "1.1.0",
            types,
            r#", "other": {"encoding": "WKT", "geometry_types": []}"#,
        ),
        with(r#""covering": {"bbox": {"xmin": ["bbox", "nope"]}}"#),
        with(
            r#""covering": {"bbox": {"xmin": ["gone", "xmin"], "ymin": ["gone", "ymin"],
                "xmax": ["gone", "xmax"], "ymax": ["gone", "ymax"]}}"#,
        ),
    ] {
        let file = points(&folder, Some(&geo), plain());
        herringbone(&["count", "--bbox", "90,40,110,60", &file]).ok("1\n");
        let columns = ["-c", "geometry", "-n", "1"];
        herringbone(&[&["cat", &file], &columns[..]].concat())
            .ok("{\"geometry\":\"POINT (1 2)\"}\n");
        let out = folder.file("out.parquet");
        herringbone(&["rewrite", "-q", "--force", &file, &out]).code(&[0]);
        herringbone(&["count", "--bbox", "90,40,110,60", &out]).ok("1\n");
    }
    // Only the Arrow schema declares that this column has geometries.
    let name = ("ARROW:extension:name".to_owned(), "geoarrow.wkb".to_owned());
    let hinted = plain().with_metadata(HashMap::from([name]));
    let file = points(&folder, None, hinted);
    herringbone(&["count", "--bbox", "90,40,110,60", &file]).ok("1\n");
    herringbone(&["count", "--bbox", "geometry=0,0,5,5", &file]).ok("1\n");
    // If no column can be used, the message names the defect.
    let geo = column("1.1.0", types, "").replace("WKB", "WKT");
    let file = points(&folder, Some(&geo), plain());
    let message = "columns.geometry.encoding of the GeoParquet metadata is \"WKT\"";
    herringbone(&["count", "--bbox", "90,40,110,60", &file]).fails(2, message);
    herringbone(&["cat", "--format", "geojson", &file]).fails(3, message);
    let file = points(&folder, Some("{not json"), plain());
    herringbone(&["count", "--bbox", "90,40,110,60", &file]).fails(2, "is not JSON");
}

/// `-q` does not hide this note, because the new file lacks a part of the old metadata.
#[test]
fn a_note_names_metadata_that_is_not_kept() {
    let folder = Folder::new();
    let column = |encoding: &str| format!(r#"{{"encoding": "{encoding}", "geometry_types": []}}"#);
    let both = |first: &str, second: &str| {
        let columns = format!(
            r#"{{"geometry": {}, "other": {}}}"#,
            column(first),
            column(second)
        );
        format!(r#"{{"version": "1.1.0", "primary_column": "geometry", "columns": {columns}}}"#)
    };
    let member = |name: &str| {
        format!("columns.{name}.encoding of the GeoParquet metadata is \"WKT\", which is unknown")
    };
    for (geo, defect) in [
        (both("WKT", "WKT"), member("geometry")),
        (both("WKB", "WKT"), member("other")),
        (both("WKT", "WKB"), member("geometry")),
        ("{not json".to_owned(), "is not JSON".to_owned()),
        ("[]".to_owned(), "is not a JSON object".to_owned()),
    ] {
        let plain = Field::new("geometry", DataType::Binary, true);
        let file = points(&folder, Some(&geo), plain);
        let out = folder.file("out.parquet");
        let run = herringbone(&["rewrite", "-q", "--force", &file, &out]);
        assert_eq!(run.code, 0);
        let (is_note, is_named) = (run.stderr.contains("note: "), run.stderr.contains(&defect));
        assert!(is_note && is_named, "{geo}: {}", run.stderr);
        // The chosen column is complete without the one that has a defect.
        let run = herringbone(&["rewrite", "-q", "--force", "-c", "geometry", &file, &out]);
        assert_eq!(
            run.stderr.is_empty(),
            defect == member("other"),
            "{geo}: {}",
            run.stderr
        );
    }
}
