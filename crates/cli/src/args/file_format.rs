//! The file formats that the command reads and writes, recognized by their names or first bytes.

use std::path::Path;

use clap::ValueEnum;
use herringbone_interchange::read;
use herringbone_interchange::read::foreign::{TextKind, foreign, text_kind};

use crate::base::failure::{Failure, Result};
use crate::base::url::{name_of, path_part};

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
    /// Returns the format that the user asked for, or else the one that the output's name stands
    /// for.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if the name does not determine the format.
    pub(crate) fn of_output(path: &Path, asked: Option<Self>) -> Result<Self> {
        if let Some(format) = asked {
            return Ok(format);
        }
        if is_compressed(&extension(path_part(path))) {
            return Err(Failure::Usage(format!(
                "{}: this command does not compress text; write it to `-` with --to, and send that to gzip or zstd",
                name_of(path)
            )));
        }
        Self::of_name(path)?.ok_or_else(|| {
            Failure::Usage(format!(
                "{}: cannot tell the format from the name; use --to FORMAT",
                name_of(path)
            ))
        })
    }

    /// Returns the format that a name stands for, if there is one. For `.csv.gz`, the inner
    /// extension decides. A compressed file always contains text, since Parquet and Arrow files
    /// have their own compression.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if the name belongs to a format that we do not read.
    pub(crate) fn of_name(path: &Path) -> Result<Option<Self>> {
        let path_part = path_part(path);
        let extension = match extension(path_part) {
            outer if is_compressed(&outer) => {
                extension(Path::new(path_part.file_stem().unwrap_or_default()))
            }
            extension => extension,
        };
        match extension.as_str() {
            "parquet" | "parq" | "pq" => Ok(Some(Self::Parquet)),
            "csv" => Ok(Some(Self::Csv)),
            "tsv" | "tab" => Ok(Some(Self::Tsv)),
            "jsonl" | "ndjson" => Ok(Some(Self::Jsonl)),
            "json" => Ok(Some(Self::Json)),
            "geojson" => Ok(Some(Self::Geojson)),
            "geojsonl" | "geojsons" => Ok(Some(Self::Geojsonl)),
            "arrow" | "ipc" | "feather" => Ok(Some(Self::Arrow)),
            "arrows" => Ok(Some(Self::ArrowStream)),
            "xlsx" | "xls" | "ods" => Err(Failure::Usage(format!(
                "{}: spreadsheets are not supported; save the sheet as CSV",
                name_of(path)
            ))),
            "shp" | "gpkg" | "gml" | "kml" => Err(Failure::Usage(format!(
                "{}: this format of geometries is not supported; `ogr2ogr -t_srs OGC:CRS84 OUT.geojson IN` makes \
                 GeoJSON of it, and back",
                name_of(path)
            ))),
            _ => Ok(None),
        }
    }

    /// Detects the format by a file's first bytes. Any text other than JSON counts as CSV.
    pub(crate) fn of_beginning(beginning: &[u8]) -> Option<Self> {
        if beginning.starts_with(read::MAGIC) {
            return Some(Self::Arrow);
        }
        if beginning.starts_with(read::STREAM_MARK) {
            return Some(Self::ArrowStream);
        }
        if foreign(beginning).is_some() {
            return None;
        }
        let is_collection = String::from_utf8_lossy(beginning).contains("\"FeatureCollection\"");
        match text_kind(beginning)? {
            TextKind::Json if is_collection => Some(Self::Geojson),
            TextKind::Json => Some(Self::Jsonl),
            TextKind::Other => Some(Self::Csv),
        }
    }

    /// Returns the format's name for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Parquet => "Parquet",
            Self::Csv => "CSV",
            Self::Tsv => "CSV with tabs",
            Self::Jsonl | Self::Json => "JSON",
            Self::Geojson | Self::Geojsonl => "GeoJSON",
            Self::Arrow | Self::ArrowStream => "Arrow",
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

/// Returns true for extensions of compressed text.
fn is_compressed(extension: &str) -> bool {
    matches!(extension, "gz" | "gzip" | "zst" | "zstd")
}

/// Returns a file name's extension in lower case.
fn extension(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default();
    extension.to_string_lossy().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_show_formats() {
        for (beginning, format) in [
            (&b"a,b\n1,2\n"[..], Some(FileFormat::Csv)),
            (b"{\"a\":1}\n", Some(FileFormat::Jsonl)),
            (b"[{\"a\":1}]", Some(FileFormat::Jsonl)),
            (
                b"{\"type\": \"FeatureCollection\"",
                Some(FileFormat::Geojson),
            ),
            (b"ARROW1\0\0", Some(FileFormat::Arrow)),
            (b"\xff\xff\xff\xff\x10\0\0\0", Some(FileFormat::ArrowStream)),
            (b"PAR1", None),
            (b"\x1f\x8b\x08", None),
            (b"a\0b", None),
            (b"", None),
        ] {
            assert_eq!(FileFormat::of_beginning(beginning), format, "{beginning:?}");
        }
    }

    #[test]
    fn names_show_formats() {
        let of = |name: &str| FileFormat::of_name(Path::new(name)).unwrap();
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
        assert_eq!(FileFormat::of_output(Path::new("x.pq"), asked).ok(), asked);
    }
}
