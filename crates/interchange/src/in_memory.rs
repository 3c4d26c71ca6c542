//! Converts text to record batches and back, in memory. This is only meant for tests and fuzzing.

use herringbone::Limits;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::SchemaRef;

use crate::error::{Error, Result};
use crate::read::{self, Stream, TextOptions};
use crate::write::csv::{self, CsvStyle};
use crate::write::{json, keys};

/// The format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// CSV with commas and a header. A null is empty.
    Csv,
    /// JSON lines, with one object per row.
    JsonLines,
}

/// Reads the schema and the rows of a text. Without a `schema`, infers it from the first
/// `infer_rows` rows.
///
/// # Errors
/// Fails with the message that the command would print.
pub fn read(
    format: Format,
    text: Vec<u8>,
    schema: Option<&SchemaRef>,
    infer_rows: usize,
) -> Result<(SchemaRef, Vec<RecordBatch>), String> {
    let options = TextOptions {
        schema: schema.cloned(),
        infer_rows,
        types: Vec::new(),
        note: &|_| {},
        header: true,
        delimiter: Some(b','),
        null: String::new(),
        skip_lines: 0,
        comment: None,
        json_path: None,
        json_dates: read::JsonDates::default(),
        lenient: None,
        dialect: read::Dialect::default(),
        limits: &Limits::default(),
    };
    let stream = Stream::of_bytes("text", text);
    let rows = match format {
        Format::Csv => read::csv(stream, &options),
        Format::JsonLines => read::jsonl(stream, &options),
    };
    let words = |error: Error| error.to_string();
    let rows = rows.map_err(words)?;
    let batches = rows.batches.collect::<Result<_>>().map_err(words)?;
    Ok((rows.schema, batches))
}

/// Writes rows as text.
///
/// # Errors
/// Fails with the message that the command would print.
pub fn write(
    format: Format,
    schema: &SchemaRef,
    batches: &[RecordBatch],
) -> Result<Vec<u8>, String> {
    let words = |error: Error| error.to_string();
    let mut text = Vec::new();
    match format {
        Format::Csv => {
            let rows = csv::Rows::new(CsvStyle::default());
            rows.write_header(schema, &mut text).map_err(words)?;
            for batch in batches {
                rows.write(batch, &mut text).map_err(words)?;
            }
        }
        Format::JsonLines => {
            keys::check(schema).map_err(words)?;
            let mut rows = json::Rows::lines();
            for batch in batches {
                rows.write(batch, &mut text).map_err(words)?;
            }
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use herringbone_arrow::schema::{DataType, Field, Schema};

    use super::*;

    /// Round-trips JSON lines through a column `a` of this type.
    fn come_back(data_type: DataType, lines: &str) {
        let schema: SchemaRef = Arc::new(Schema::new(vec![Field::new("a", data_type, true)]));
        let text = lines
            .split(' ')
            .map(|value| format!("{{\"a\":{value}}}\n"))
            .collect::<String>();
        for format in [Format::JsonLines, Format::Csv] {
            let json = text.clone().into_bytes();
            let (_, rows) = read(Format::JsonLines, json, Some(&schema), 0).unwrap();
            let middle = write(format, &schema, &rows).unwrap();
            let (_, rows) = read(format, middle, Some(&schema), 0).unwrap();
            let found = write(Format::JsonLines, &schema, &rows).unwrap();
            assert_eq!(String::from_utf8(found).unwrap(), text, "{format:?}");
        }
    }

    #[test]
    fn every_layout_comes_back() {
        let item = || Arc::new(Field::new("item", DataType::Int8, true));
        let lists = "[1,null] null [] [-3]";
        come_back(DataType::List(item()), lists);
        come_back(DataType::LargeList(item()), lists);
        come_back(DataType::ListView(item()), lists);
        come_back(DataType::LargeListView(item()), lists);
        come_back(DataType::FixedSizeList(item(), 2), "[1,null] null [3,4]");
        come_back(DataType::FixedSizeList(item(), 0), "[] null []");
        come_back(
            DataType::Struct([item()].into_iter().collect()),
            r#"{"item":1} null {"item":null}"#,
        );
        come_back(DataType::Struct(Vec::<Field>::new().into()), "{} null {}");
        let texts = r#""x" null "" "x" "x" "y" null null"#;
        for values in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
            let key = Box::new(DataType::Int8);
            come_back(DataType::Dictionary(key, Box::new(values.clone())), texts);
            let ends = Arc::new(Field::new("run_ends", DataType::Int16, false));
            let run = Arc::new(Field::new("values", values.clone(), true));
            come_back(DataType::RunEndEncoded(ends, run), texts);
            come_back(values, texts);
        }
        for bytes in [
            DataType::Binary,
            DataType::LargeBinary,
            DataType::BinaryView,
        ] {
            come_back(bytes, r#""Zg==" null "" "1234""#);
        }
        for float in [DataType::Float16, DataType::Float32, DataType::Float64] {
            come_back(float, r#"0.1 -0.0 null "NaN" "-Infinity" 1.0"#);
        }
        let key = Field::new("key", DataType::Int64, false);
        let entry = DataType::Struct(vec![key, Field::new("value", DataType::Date32, true)].into());
        let map = DataType::Map(Arc::new(Field::new("entries", entry, false)), false);
        come_back(map, r#"[[1,"2024-02-29"],[1,null]] null []"#);
    }

    #[test]
    fn what_a_layout_cannot_hold_is_an_error() {
        let read = |data_type, text: &str| {
            let schema: SchemaRef = Arc::new(Schema::new(vec![Field::new("a", data_type, true)]));
            read(Format::JsonLines, text.into(), Some(&schema), 0).map(|_| ())
        };
        let item = Arc::new(Field::new("item", DataType::Int8, false));
        let fixed = DataType::FixedSizeList(item.clone(), 2);
        let error = read(fixed, "{\"a\":[1,2]}\n{\"a\":[1]}").unwrap_err();
        assert!(
            error.starts_with(
                "text: line 2: column `a`: expected an array of 2 items, found 1; --on-error skip"
            ),
            "{error}"
        );
        let error = read(DataType::List(item), "{\"a\":[null]}").unwrap_err();
        assert!(
            error.starts_with("text: line 1: column `a.item`: found a null, but the column is `not null`; --on-error"),
            "{error}"
        );
        let many: String = (0..129).map(|at| format!("{{\"a\":\"{at}\"}}\n")).collect();
        let dictionary = |key| DataType::Dictionary(Box::new(key), Box::new(DataType::Utf8));
        let error = read(dictionary(DataType::Int8), &many).unwrap_err();
        assert!(
            error.starts_with("text: line 129: column `a`: more than 128 different"),
            "{error}"
        );
        assert_eq!(read(dictionary(DataType::UInt8), &many), Ok(()));
        let no_text = DataType::Union(
            herringbone_arrow::schema::UnionFields::empty(),
            herringbone_arrow::schema::UnionMode::Sparse,
        );
        let error = read(no_text, "{\"a\":1}").unwrap_err();
        assert!(
            error.contains("column `a`: text cannot be read as Union"),
            "{error}"
        );
    }
}
