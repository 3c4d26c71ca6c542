//! Formats of whole files.

use std::path::Path;

use clap::ValueEnum;

use crate::base::failure::{Failure, Result};
use crate::base::url::{name_of, path_part};
use crate::input::folder::is_folder;

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// Apache Parquet: .parquet, .parq, .pq
    Parquet,
    /// CSV: .csv
    Csv,
    /// CSV with tabs: .tsv, .tab
    Tsv,
    /// JSON lines, one object per row: .jsonl, .ndjson
    Jsonl,
    /// JSON, an array of objects: .json
    Json,
    /// GeoJSON, a FeatureCollection: .geojson
    Geojson,
    /// GeoJSON, one Feature per line: .geojsonl, .geojsons
    Geojsonl,
    /// An Arrow IPC file: .arrow, .ipc, .feather
    Arrow,
    /// An Arrow IPC stream: .arrows
    ArrowStream,
}

impl FileFormat {
    /// Returns the format given by `option`, or else the format for the name.
    ///
    /// # Errors
    /// Usage if the name does not determine the format.
    pub(crate) fn of(path: &Path, asked: Option<Self>, option: &str) -> Result<Self> {
        if let Some(format) = asked {
            return Ok(format);
        }
        if option == "--from" && is_folder(path) && path_part(path).extension().is_none() {
            return Ok(Self::Parquet);
        }
        let path_part = path_part(path);
        let extension = extension(path_part);
        let extension = match extension.as_str() {
            "gz" | "gzip" | "zst" | "zstd" if option == "--from" => {
                // Compressed files contain text, because Parquet and Arrow files compress their own parts.
                self::extension(Path::new(path_part.file_stem().unwrap_or_default()))
            }
            "gz" | "gzip" | "zst" | "zstd" => {
                return Err(Failure::Usage(format!(
                    "{}: this command does not compress text; write it to `-` with --to, and send that to gzip or zstd",
                    name_of(path)
                )));
            }
            _ => extension,
        };
        match extension.as_str() {
            "parquet" | "parq" | "pq" => Ok(Self::Parquet),
            "csv" => Ok(Self::Csv),
            "tsv" | "tab" => Ok(Self::Tsv),
            "jsonl" | "ndjson" => Ok(Self::Jsonl),
            "json" => Ok(Self::Json),
            "geojson" => Ok(Self::Geojson),
            "geojsonl" | "geojsons" => Ok(Self::Geojsonl),
            "arrow" | "ipc" | "feather" => Ok(Self::Arrow),
            "arrows" => Ok(Self::ArrowStream),
            "xlsx" | "xls" | "ods" => Err(Failure::Usage(format!(
                "{}: spreadsheets are not supported; save the sheet as CSV",
                name_of(path)
            ))),
            "shp" | "gpkg" | "gml" | "kml" => Err(Failure::Usage(format!(
                "{}: this format of geometries is not supported; `ogr2ogr -t_srs OGC:CRS84 OUT.geojson IN` makes \
                 GeoJSON of it, and back",
                name_of(path)
            ))),
            _ => Err(Failure::Usage(format!(
                "{}: cannot tell the format from the name; use {option} FORMAT",
                name_of(path)
            ))),
        }
    }

    /// Returns true for CSV, with any separator.
    pub(crate) fn is_csv(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv)
    }

    /// Returns true for JSON other than GeoJSON.
    pub(crate) fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl)
    }

    /// Returns true for GeoJSON.
    pub(crate) fn is_geojson(self) -> bool {
        matches!(self, Self::Geojson | Self::Geojsonl)
    }
}

/// Returns the extension of a name in lower case.
fn extension(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default();
    extension.to_string_lossy().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        let of = |name: &str| FileFormat::of(Path::new(name), None, "--from").ok();
        assert_eq!(of("a/b.PARQUET"), Some(FileFormat::Parquet));
        assert_eq!(of("a.b.csv"), Some(FileFormat::Csv));
        assert_eq!(of("x.ndjson"), Some(FileFormat::Jsonl));
        assert_eq!(of("x.geojsonl"), Some(FileFormat::Geojsonl));
        assert_eq!(of("x.geojson"), Some(FileFormat::Geojson));
        assert_eq!(of("x.tsv"), Some(FileFormat::Tsv));
        assert_eq!(of("a/x.csv.GZ"), Some(FileFormat::Csv));
        assert_eq!(of("x.jsonl.zst"), Some(FileFormat::Jsonl));
        assert_eq!(of("x.feather"), Some(FileFormat::Arrow));
        assert_eq!(of("x.arrows"), Some(FileFormat::ArrowStream));
        assert_eq!(of("https://host/a.CSV?b=c.d#e"), Some(FileFormat::Csv));
        for name in ["-", "csv", "x.txt", "x.", "x.gz", ".csv.gz"] {
            assert_eq!(of(name), None, "{name}");
        }
        let asked = Some(FileFormat::Csv);
        assert_eq!(FileFormat::of(Path::new("x.pq"), asked, "").ok(), asked);
    }
}
