//! `freq`: the most frequent values of columns.

use std::collections::HashMap;

use herringbone::geospatial::Geospatial;
use herringbone::{Int96Overflow, Projection, ReadOptions, SchemaOptions};
use herringbone_arrow::array::Array as _;
use serde_json::Value;

use crate::args::Freq;
use crate::context::Context;
use crate::describe::Object;
use crate::failure::{Failure, Result};
use crate::folder::Footers;
use crate::input::{self, Input};
use crate::output::Output;
use crate::profile::{Leaf, leaves};
use crate::progress::Progress;
use crate::render::table::shown;
use crate::render::value;
use crate::rows::{self, Batches, Window, survey};
use crate::table_or_jsonl::{self, Header, Listing};

/// The columns of the table.
const HEADER: Header<'_> = Header {
    names: &["column", "value", "count", "share"],
    numbers: &[2, 3],
    spare: &[],
};

/// The memory for different values in bytes.
const MEMORY: usize = 1 << 30;

/// The memory of an entry in addition to its text, in bytes.
const ENTRY: usize = 64;

/// The counts of the values of a column. The values are JSON.
pub(crate) struct Counts {
    pub(crate) path: String,
    of_values: HashMap<Box<str>, u64>,
    bytes: usize,
    total: u64,
}

/// Prints the most frequent values of each column, in all files together.
pub(crate) fn run(context: &Context, request: &Freq, output: &mut Output<'_>) -> Result<()> {
    let format = table_or_jsonl::format(request.format.get(), output);
    let inputs = input::tables(
        &request.files,
        Some(&request.wanted),
        Footers::Shared,
        context,
    )?;
    let all = count(context, &inputs, request)?;
    let mut list = Listing::new(format, HEADER, output);
    for counts in all {
        print(&counts, request.limit, &mut list)?;
    }
    list.finish()
}

fn count(context: &Context, inputs: &[Input], request: &Freq) -> Result<Vec<Counts>> {
    let mut schema = SchemaOptions::default();
    schema.int96_overflow = Int96Overflow::CoarserUnit;
    let options = ReadOptions::new()
        .projection(Projection::Paths(request.columns.paths.clone()))
        .schema(schema)
        .extension(Geospatial::new());
    let mut read = rows::Request::all(options);
    read.wanted = Some(&request.wanted);
    read.unshred();
    read.choose_int96_unit(inputs, Window::default())?;
    let Some((_, rows)) = survey(inputs, &mut read)? else {
        return Ok(Vec::new());
    };
    let mut progress = Progress::of_file(!context.quiet, rows, "rows");
    let mut all: Vec<Counts> = Vec::new();
    for batch in Batches::new(context, inputs, &read, Window::default()) {
        let batch = batch?;
        for (at, leaf) in leaves(&batch)?.iter().enumerate() {
            if all.len() == at {
                all.push(Counts::new(leaf));
            }
            if let Some(counts) = all.get_mut(at) {
                counts.add(leaf)?;
            }
        }
        progress.add(batch.num_rows() as u64);
    }
    // The order of the command line, in place of that of the file.
    let paths: Vec<String> = request
        .columns
        .paths
        .iter()
        .map(|path| path.join("."))
        .collect();
    all.sort_by_key(|counts| paths.iter().position(|path| counts.path.starts_with(path)));
    Ok(all)
}

impl Counts {
    /// Creates the counts of a leaf without values.
    pub(crate) fn new(leaf: &Leaf) -> Self {
        Self {
            path: leaf.path.join("."),
            of_values: HashMap::new(),
            bytes: 0,
            total: 0,
        }
    }

    /// Counts the values of a leaf.
    ///
    /// # Errors
    /// Data if the different values take too much memory.
    pub(crate) fn add(&mut self, leaf: &Leaf) -> Result<()> {
        let values = value::of(&leaf.field, &leaf.array)?;
        let mut text = String::new();
        for row in 0..leaf.array.len() {
            text.clear();
            values.json(row, &mut text);
            self.total += 1;
            if let Some(count) = self.of_values.get_mut(text.as_str()) {
                *count += 1;
                continue;
            }
            self.bytes += text.len() + ENTRY;
            if self.bytes > MEMORY {
                return Err(Failure::Data(format!(
                    "column `{}` has more than {} different values, which take more than {} MiB; count \
                     a part of them with --where, or see `herringbone stats`",
                    self.path,
                    self.of_values.len(),
                    MEMORY >> 20
                )));
            }
            self.of_values.insert(text.as_str().into(), 1);
        }
        Ok(())
    }

    /// Returns the values as JSON, and their counts, the most frequent ones first.
    pub(crate) fn most(&self) -> Vec<(&str, u64)> {
        let values = self.of_values.iter();
        let mut values: Vec<(&str, u64)> =
            values.map(|(value, count)| (&**value, *count)).collect();
        values.sort_unstable_by(|(a, more), (b, less)| less.cmp(more).then(a.cmp(b)));
        values
    }

    /// Returns the share of a count in all values.
    pub(crate) fn share(&self, count: u64) -> f64 {
        count as f64 / self.total.max(1) as f64
    }
}

/// Returns a value of JSON as plain text: the contents of strings, and everything else as it is.
pub(crate) fn text(json: &str) -> String {
    match serde_json::from_str(json) {
        Ok(Value::String(text)) => text,
        _ => json.to_owned(),
    }
}

/// Prints the most frequent values, and the number of others.
fn print(counts: &Counts, limit: usize, list: &mut Listing<'_, '_>) -> Result<()> {
    let values = counts.most();
    let share = |count: u64| counts.share(count);
    let line = |value: String, count: u64| {
        let share = format!("{:.1} %", share(count) * 100.0);
        vec![shown(&counts.path), value, count.to_string(), share]
    };
    for (value, count) in values.iter().take(limit) {
        let json: Value = serde_json::from_str(value).unwrap_or_default();
        list.line(
            || line(shown(&text(value)), *count),
            || {
                let object = Object::new().with("column", counts.path.as_str());
                let object = object.with("value", json.clone()).with("count", *count);
                Ok(object.with("share", share(*count)).into())
            },
        )?;
    }
    let others = values.get(limit..).unwrap_or_default();
    if !others.is_empty() {
        let count = others.iter().map(|(_, count)| count).sum();
        list.line(
            || line(format!("({} more)", others.len()), count),
            || {
                let object = Object::new().with("column", counts.path.as_str());
                let object = object.with("others", others.len()).with("count", count);
                Ok(object.with("share", share(count)).into())
            },
        )?;
    }
    Ok(())
}
