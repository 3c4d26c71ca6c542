//! Tests the geospatial files of apache/parquet-testing.

use herringbone::arrow::array::cast::AsArray;
use herringbone::format::{GeospatialStatistics, LogicalType};
use herringbone::geospatial::bounds::contains;
use herringbone::geospatial::{Edges, Geospatial};
use herringbone::{ParquetFile, ReadOptions, WriteOptions, Writer};

use super::{chunk, official, open, read, value_of};
use crate::files::parquet_files;

/// Checks extension types and their metadata against the descriptions next to the files.
#[test]
fn reference_systems_are_those_of_the_files() {
    let Some(folder) = official() else { return };
    let field = |name: &str| {
        let schema = read(&open(&folder, name)).unwrap().schema();
        let mut fields = schema.fields().iter();
        let field = fields.find(|field| field.extension_type_name() == Some("geoarrow.wkb"));
        let text = field.unwrap_or_else(|| panic!("{name}: {schema}"));
        let text = text.extension_type_metadata().unwrap();
        serde_json::from_str::<serde_json::Value>(text).unwrap()
    };
    let default = serde_json::json!({"crs": "OGC:CRS84", "crs_type": "authority_code"});
    assert_eq!(field("crs-default.parquet"), default);
    assert_eq!(field("geospatial.parquet"), default);
    let srid = serde_json::json!({"crs": "5070", "crs_type": "srid"});
    assert_eq!(field("crs-srid.parquet"), srid);
    let mut geography = default;
    geography["edges"] = "spherical".into();
    assert_eq!(field("crs-geography.parquet"), geography);
    assert_eq!(field("geography-lines.parquet"), geography);
    let file = open(&folder, "crs-projjson.parquet");
    let definition = value_of(&file, "projjson_epsg_5070").unwrap();
    let definition: serde_json::Value = serde_json::from_str(definition).unwrap();
    for name in ["crs-projjson.parquet", "crs-arbitrary-value.parquet"] {
        let said = field(name);
        assert_eq!(said["crs_type"], "projjson", "{name}");
        assert_eq!(said["crs"]["id"], definition["id"], "{name}");
    }
}

/// Rewrites a file row group by row group.
fn again(file: &ParquetFile) -> ParquetFile {
    let options = || ReadOptions::new().extension(Geospatial::new());
    let schema = file.read(options()).unwrap().schema();
    let mut bytes = Vec::new();
    let write = Geospatial::new().write_options(WriteOptions::new());
    let mut writer = Writer::new(&mut bytes, schema, write).unwrap();
    for row_group in 0..file.metadata().num_row_groups() {
        let mut reader = file.read(options().row_groups(vec![row_group])).unwrap();
        while let Some(batch) = reader.next_batch().unwrap() {
            writer.write(&batch).unwrap();
        }
        writer.flush().unwrap();
    }
    writer.finish().unwrap();
    ParquetFile::from_bytes(bytes).unwrap()
}

/// Returns the difference between a column chunk's statistics in the file and the ones that this library writes, if
/// there is any.
fn difference(
    edges: Edges,
    theirs: &GeospatialStatistics,
    ours: &GeospatialStatistics,
) -> Option<String> {
    // We treat missing types and an empty list of types as equal.
    let types = |it: &GeospatialStatistics| it.geospatial_types.clone().unwrap_or_default();
    if types(theirs) != types(ours) {
        return Some(format!(
            "types {:?}, not {:?}",
            ours.geospatial_types, theirs.geospatial_types
        ));
    }
    // S2 widens its results by some of the last bits, while in a plane, nothing is calculated.
    let wider = |bbox: &herringbone::format::BoundingBox| {
        let mut wider = bbox.clone();
        (wider.ymin, wider.ymax) = (wider.ymin - 1e-9, wider.ymax + 1e-9);
        (wider.xmin, wider.xmax) = (wider.xmin - 1e-9, wider.xmax + 1e-9);
        wider
    };
    let fits = match (&theirs.bbox, &ours.bbox) {
        (None, None) => true,
        (Some(theirs), Some(ours)) if !edges.is_geography() => theirs == ours,
        (Some(theirs), Some(ours)) => contains(&wider(ours), theirs, edges),
        _ => false,
    };
    (!fits).then(|| format!("box {:?}, not {:?}", ours.bbox, theirs.bbox))
}

#[test]
fn statistics_are_those_of_the_files_and_nothing_else_changes() {
    let Some(folder) = official() else { return };
    let mut compared = 0;
    for path in parquet_files(&folder) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let file = ParquetFile::open(&path).unwrap();
        let copy = again(&file);
        let leaves = file.parquet_schema().leaves().len();
        for leaf in 0..leaves {
            let logical_type = &file.parquet_schema().element(leaf).logical_type;
            assert_eq!(
                *logical_type,
                copy.parquet_schema().element(leaf).logical_type,
                "{name}"
            );
            let Some(edges) = logical_type
                .as_ref()
                .and_then(|logical_type| Edges::of(logical_type).unwrap())
            else {
                continue;
            };
            for row_group in 0..file.metadata().num_row_groups() {
                let (theirs, ours) = (chunk(&file, row_group, leaf), chunk(&copy, row_group, leaf));
                let place = format!("{name}, row group {row_group}, column {leaf}");
                let statistics = ours.statistics.as_ref().unwrap();
                assert!(statistics.min_value.is_none() && statistics.max_value.is_none());
                assert!(statistics.min.is_none() && statistics.max.is_none());
                assert!(statistics.null_count.is_some(), "{place}");
                let index = copy.metadata().column_chunk(row_group, leaf).unwrap();
                assert_eq!(index.column_index_offset, None, "{place}");
                let Some(theirs) = &theirs.geospatial_statistics else {
                    continue;
                };
                let ours = ours.geospatial_statistics.unwrap_or_default();
                compared += 1;
                if (name.as_str(), row_group) == ("geography-polygons.parquet", 28) {
                    // These are ten polygons around 170°E 30°S. None of them contains the North Pole, but the box in
                    // the file does.
                    let bbox = |it: &GeospatialStatistics| it.bbox.clone().unwrap();
                    assert!(contains(&bbox(theirs), &bbox(&ours), edges), "{place}");
                    continue;
                }
                let wrong = difference(edges, theirs, &ours);
                assert_eq!(wrong, None, "{place}");
            }
        }
        let values = |file: &ParquetFile| {
            let batches = file.read(ReadOptions::new()).unwrap();
            let batches = batches.map(|batch| batch.unwrap());
            let columns = batches.flat_map(|batch| batch.columns().to_vec());
            let bytes = columns.filter_map(|column| column.as_binary_opt::<i32>().cloned());
            let all = bytes.flat_map(|it| {
                it.iter()
                    .map(|it| it.map(<[u8]>::to_vec))
                    .collect::<Vec<_>>()
            });
            all.collect::<Vec<_>>()
        };
        assert_eq!(values(&file), values(&copy), "{name}");
    }
    // `geospatial` has 31 row groups, and one only has nulls. The files of geographies have 50 each.
    assert!(compared >= 180, "{compared}");
}

#[test]
fn definitions_in_the_metadata_of_the_file_come_along() {
    let Some(folder) = official() else { return };
    let file = open(&folder, "crs-projjson.parquet");
    let copy = again(&file);
    let key = "projjson_epsg_5070";
    let definition = |file: &ParquetFile| -> serde_json::Value {
        serde_json::from_str(value_of(file, key).unwrap()).unwrap()
    };
    assert_eq!(definition(&file), definition(&copy));
    let crs = Some(format!("projjson:{key}"));
    let leaf = copy.parquet_schema().leaves().len() - 1;
    let logical_type = copy.parquet_schema().element(leaf).logical_type.clone();
    assert_eq!(logical_type, Some(LogicalType::Geometry { crs }));
}
