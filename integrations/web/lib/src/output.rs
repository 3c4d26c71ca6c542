//! The forms in which rows leave.

use std::str::FromStr;

use arrow_ipc::writer::StreamWriter;
use herringbone::arrow::array::RecordBatch;
use herringbone::arrow::schema::SchemaRef;
use herringbone::{Error, Result, WriteOptions, Writer};
use herringbone_interchange::write::csv::{self, CsvStyle};
use herringbone_interchange::write::json;

/// The form of rows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Format {
    /// A JSON array of objects.
    Json,
    Csv,
    /// An Arrow IPC stream.
    Arrow,
    Parquet,
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "json" => Self::Json,
            "csv" => Self::Csv,
            "arrow" => Self::Arrow,
            "parquet" => Self::Parquet,
            _ => {
                return Err(Error::argument(format!(
                    "unknown format `{name}`; the formats are json, csv, arrow and parquet"
                )));
            }
        })
    }
}

/// A writer, whose bytes are taken after each batch.
pub(crate) enum Output {
    Json(json::Rows, Vec<u8>),
    Csv(csv::Rows, Vec<u8>),
    Arrow(Box<StreamWriter<Vec<u8>>>),
    Parquet(Box<Writer<Vec<u8>>>),
}

impl Output {
    pub(crate) fn new(format: Format, schema: &SchemaRef) -> Result<Self> {
        Ok(match format {
            Format::Json => {
                let mut bytes = Vec::new();
                let rows = json::Rows::array(&mut bytes).map_err(failed)?;
                Self::Json(rows, bytes)
            }
            Format::Csv => {
                let (rows, mut bytes) = (csv::Rows::new(CsvStyle::default()), Vec::new());
                rows.write_header(schema, &mut bytes).map_err(failed)?;
                Self::Csv(rows, bytes)
            }
            Format::Arrow => Self::Arrow(Box::new(StreamWriter::try_new(Vec::new(), schema)?)),
            Format::Parquet => {
                let options = WriteOptions::new().threads(1);
                Self::Parquet(Box::new(Writer::new(Vec::new(), schema.clone(), options)?))
            }
        })
    }

    /// Writes rows, and returns the bytes that are ready.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<Vec<u8>> {
        let bytes = match self {
            Self::Json(rows, bytes) => {
                rows.write(batch, bytes).map_err(failed)?;
                Some(bytes)
            }
            Self::Csv(rows, bytes) => {
                rows.write(batch, bytes).map_err(failed)?;
                Some(bytes)
            }
            Self::Arrow(writer) => {
                writer.write(batch)?;
                Some(writer.get_mut())
            }
            Self::Parquet(writer) => {
                writer.write(batch)?;
                writer.get_mut()
            }
        };
        Ok(bytes.map(std::mem::take).unwrap_or_default())
    }

    /// Returns the bytes that end the file.
    pub(crate) fn finish(self) -> Result<Vec<u8>> {
        Ok(match self {
            Self::Json(rows, mut bytes) => {
                rows.finish(&mut bytes).map_err(failed)?;
                bytes
            }
            Self::Csv(_, bytes) => bytes,
            Self::Arrow(mut writer) => {
                writer.finish()?;
                std::mem::take(writer.get_mut())
            }
            Self::Parquet(writer) => writer.finish_into()?.1,
        })
    }
}

/// Returns an error of a text format.
fn failed(error: herringbone_interchange::Error) -> Error {
    Error::unsupported(error.to_string())
}
