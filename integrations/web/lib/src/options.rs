//! Options of JavaScript, which arrive as JSON.

use std::ops::Range;
use std::sync::Arc;

use herringbone::arrow::schema::TimeUnit;
use herringbone::encryption::keys_file::KeysFile;
use herringbone::geospatial::Geospatial;
use herringbone::variant::extension::VariantExtension;
use herringbone::{OnError, OpenOptions, Projection, ReadOptions, VirtualColumn};
use serde_json::{Map, Value};

use crate::error::{Result, argument, thrown};

/// Returns the members of an object.
fn members(json: &str) -> Result<Map<String, Value>> {
    match serde_json::from_str(json) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(other) => Err(argument(format!("options are an object, not {other}"))),
        Err(error) => Err(argument(format!("options: {error}"))),
    }
}

fn wrong(name: &str, value: &Value, expected: &str) -> wasm_bindgen::JsValue {
    argument(format!(
        "the option `{name}` is {expected}, but found {value}"
    ))
}

fn whole(name: &str, value: &Value) -> Result<u64> {
    // JavaScript has no integers, and writes large numbers with an exponent.
    let number = value.as_f64().filter(|number| {
        number.fract() == 0.0 && *number >= 0.0 && *number <= 9_007_199_254_740_991.0
    });
    number.map_or_else(
        || Err(wrong(name, value, "a number from 0 on")),
        |number| Ok(number as u64),
    )
}

fn text<'v>(name: &str, value: &'v Value) -> Result<&'v str> {
    value.as_str().ok_or_else(|| wrong(name, value, "a text"))
}

fn list<'v>(name: &str, value: &'v Value) -> Result<&'v Vec<Value>> {
    value
        .as_array()
        .ok_or_else(|| wrong(name, value, "an array"))
}

/// Returns the options of a file.
pub(crate) fn of_open(json: &str) -> Result<OpenOptions> {
    let mut options = OpenOptions::new();
    for (name, value) in &members(json)? {
        match name.as_str() {
            "memoryBytes" => options.limits.memory_bytes = whole(name, value)?,
            "keys" => {
                let keys = match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let keys = KeysFile::parse(&keys, &herringbone_cli::column_paths);
                let properties = keys.and_then(|mut keys| {
                    keys.allow_plaintext = true;
                    keys.decryption_properties(None)
                });
                let properties = properties.map_err(|error| argument(error.message()))?;
                options.decryption = Some(Arc::new(properties));
            }
            _ => return Err(unknown(name, "memoryBytes, keys")),
        }
    }
    Ok(options)
}

fn unknown(name: &str, names: &str) -> wasm_bindgen::JsValue {
    argument(format!("unknown option `{name}`; the options are {names}"))
}

/// Returns the options of a read.
pub(crate) fn of_read(json: &str) -> Result<ReadOptions> {
    let mut options = ReadOptions::new()
        .threads(1)
        .extension(Geospatial::new())
        .extension(VariantExtension::new());
    for (name, value) in &members(json)? {
        match name.as_str() {
            "columns" => {
                let paths = list(name, value)?.iter().map(|path| path_of(name, path));
                options.projection = Projection::Paths(paths.collect::<Result<_>>()?);
            }
            "where" => {
                let condition = herringbone_cli::condition(text(name, value)?);
                options.filter = Some(condition.map_err(argument)?);
            }
            "limit" => options.limit = Some(whole(name, value)?),
            "offset" => options.offset = whole(name, value)?,
            "batchRows" => {
                let rows = usize::try_from(whole(name, value)?);
                options.batch_size = rows.map_err(|_| wrong(name, value, "smaller"))?;
            }
            "rowGroups" => {
                let row_groups = list(name, value)?.iter().map(|ordinal| {
                    usize::try_from(whole(name, ordinal)?)
                        .map_err(|_| wrong(name, ordinal, "smaller"))
                });
                options.row_groups = Some(row_groups.collect::<Result<_>>()?);
            }
            "rowRanges" => {
                let ranges = list(name, value)?.iter().map(|range| range_of(name, range));
                options.row_ranges = Some(ranges.collect::<Result<_>>()?);
            }
            "rowNumbers" => {
                let column = VirtualColumn::row_number(text(name, value)?);
                options.virtual_columns.push(column);
            }
            "onError" => {
                options.on_error = match text(name, value)? {
                    "fail" => OnError::Fail,
                    "nullPage" => OnError::NullPage,
                    "skipRowGroup" => OnError::SkipRowGroup,
                    _ => return Err(wrong(name, value, "fail, nullPage or skipRowGroup")),
                }
            }
            "int96Unit" => {
                options.schema.int96_unit = match text(name, value)? {
                    "s" => TimeUnit::Second,
                    "ms" => TimeUnit::Millisecond,
                    "us" => TimeUnit::Microsecond,
                    "ns" => TimeUnit::Nanosecond,
                    _ => return Err(wrong(name, value, "s, ms, us or ns")),
                }
            }
            _ => {
                let names = "columns, where, limit, offset, batchRows, rowGroups, rowRanges, rowNumbers, onError, int96Unit";
                return Err(unknown(name, names));
            }
        }
    }
    Ok(options)
}

/// Returns the path of a column: a text is the name of a column, and an array has the names of nested fields.
fn path_of(name: &str, value: &Value) -> Result<Vec<String>> {
    match value {
        Value::String(column) => Ok(vec![column.clone()]),
        Value::Array(parts) => {
            let parts = parts.iter().map(|part| Ok(text(name, part)?.to_owned()));
            parts.collect()
        }
        _ => Err(wrong(name, value, "an array of names and paths")),
    }
}

fn range_of(name: &str, value: &Value) -> Result<Range<u64>> {
    match value.as_array().map(Vec::as_slice) {
        Some([start, end]) => Ok(whole(name, start)?..whole(name, end)?),
        _ => Err(wrong(name, value, "an array of pairs [start, end]")),
    }
}

/// Returns an error of the library's for JavaScript.
pub(crate) fn checked<T>(result: herringbone::Result<T>) -> Result<T> {
    result.map_err(|error| thrown(&error))
}
