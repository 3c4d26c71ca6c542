//! Formats of whole files.

use std::path::Path;

use clap::ValueEnum;

use crate::failure::{Failure, Result};
use crate::folder::is_folder;
use crate::url::{name_of, path_part};

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// Apache Parquet: .parquet, .parq, .pq
    Parquet,
    /// CSV: .csv
    Csv,
    /// JSON lines, one object per row, or arrays of objects: .jsonl, .ndjson, .json
    Jsonl,
    /// GeoJSON, Features or FeatureCollections: .geojsonl, .geojsons, .geojson
    Geojson,
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
        let extension = path_part(path)
            .extension()
            .unwrap_or_default()
            .to_string_lossy();
        let extension = extension.to_ascii_lowercase();
        match extension.as_str() {
            "parquet" | "parq" | "pq" => Ok(Self::Parquet),
            "csv" => Ok(Self::Csv),
            "jsonl" | "ndjson" | "json" => Ok(Self::Jsonl),
            "geojson" | "geojsonl" | "geojsons" => Ok(Self::Geojson),
            "arrow" | "ipc" | "feather" => Ok(Self::Arrow),
            "arrows" => Ok(Self::ArrowStream),
            _ => {
                let format = match extension == "tsv" && option == "--from" {
                    true => "csv --delimiter tab",
                    false => "FORMAT",
                };
                Err(Failure::Usage(format!(
                    "{}: cannot tell the format from the name; use {option} {format}",
                    name_of(path)
                )))
            }
        }
    }
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
        assert_eq!(of("x.geojsonl"), Some(FileFormat::Geojson));
        assert_eq!(of("x.feather"), Some(FileFormat::Arrow));
        assert_eq!(of("x.arrows"), Some(FileFormat::ArrowStream));
        assert_eq!(of("https://host/a.CSV?b=c.d#e"), Some(FileFormat::Csv));
        for name in ["-", "csv", "x.txt", "x."] {
            assert_eq!(of(name), None, "{name}");
        }
        let asked = Some(FileFormat::Csv);
        assert_eq!(FileFormat::of(Path::new("x.pq"), asked, "").ok(), asked);
    }
}
