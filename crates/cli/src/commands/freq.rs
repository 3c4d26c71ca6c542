//! `freq` prints the most frequent values of columns.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone::geospatial::Geospatial;
use herringbone::{Int96Overflow, Projection, ReadOptions, SchemaOptions};
use herringbone_arrow::array::{Array as _, ArrayRef, RecordBatch, StructArray};
use herringbone_arrow::schema::{DataType, Field, FieldRef};
use herringbone_interchange::write::value;
use serde_json::Value;

use crate::args::{Columns, Freq};
use crate::base::failure::{Failure, Result};
use crate::base::plural::counted;
use crate::describe::Object;
use crate::input::context::Context;
use crate::input::import::Import;
use crate::input::{self, Input, Opening};
use crate::output::Output;
use crate::output::progress::Progress;
use crate::profile::{Leaf, Tally, leaves, one_per_number};
use crate::render::table::shown;
use crate::render::table_or_jsonl::{self, Header, Listing};
use crate::rows::{self, Batches, Window, survey};

/// The table's columns.
const HEADER: Header<'_> = Header {
    names: &["column", "value", "count", "share"],
    keys: &["column", "value", "others", "count", "share"],
    numbers: &[2, 3],
    spare: &[],
};

/// The memory limit for a column's distinct values, in bytes.
const MEMORY: usize = 1 << 30;

/// Counts how often each value of a column occurs. We key the values by their JSON, since distinct
/// values have distinct JSON.
pub(crate) struct Counts {
    pub(crate) path: String,
    names: Vec<String>,
    tally: Tally,
    /// The values' texts in tables, only kept if they differ from the JSON.
    cells: HashMap<usize, String>,
    cell_bytes: usize,
    total: u64,
    /// True if each value combines several columns.
    are_combinations: bool,
}

/// A value that occurs in a column, with its count.
pub(crate) struct Counted<'c> {
    json: &'c str,
    pub(crate) count: u64,
    /// The value's text in tables, if it differs from the plain text.
    cell: Option<&'c str>,
}

/// All values except for the most frequent ones.
pub(crate) struct Others {
    /// The number of distinct values.
    pub(crate) values: usize,
    /// Their total count.
    pub(crate) count: u64,
}

impl Counted<'_> {
    /// Returns the value's text for tables.
    pub(crate) fn text(&self) -> String {
        self.cell.map_or_else(|| text(self.json), str::to_owned)
    }
}

/// Prints each column's most frequent values, counted over all files together.
pub(crate) fn run(context: &Context, request: &Freq, output: &mut Output<'_>) -> Result<()> {
    let format = table_or_jsonl::format(request.format.get(), output);
    let opening = Opening {
        wanted: Some(&request.wanted),
        footers: request.footers.get(),
        import: Some(Import::of(context, &request.other_files, None)?),
    };
    let (columns, files) = request.columns_and_files()?;
    let inputs = input::tables(files, &opening, context)?;
    let all = count(context, &inputs, (request, &columns))?;
    let mut list = Listing::new(format, HEADER, output);
    for counts in all {
        print(context, &counts, request.top, &mut list)?;
    }
    list.finish()
}

fn count(
    context: &Context,
    inputs: &[Input],
    (request, columns): (&Freq, &Columns),
) -> Result<Vec<Counts>> {
    let mut schema = SchemaOptions::default();
    schema.int96_overflow = Int96Overflow::CoarserUnit;
    let options = ReadOptions::new()
        .projection(Projection::Paths(columns.paths.clone()))
        .schema(schema)
        .extension(Geospatial::new());
    let mut read = rows::Request::all(options);
    read.wanted = Some(&request.wanted);
    read.merge = request.merge.choice();
    read.row_groups = request.row_groups.as_ref();
    read.sample = request.sampling.get();
    read.unshredding = request.wanted.variants.options();
    read.unshred();
    read.choose_int96_unit(inputs, Window::default())?;
    let Some((_, rows)) = survey(inputs, &mut read)? else {
        return Ok(Vec::new());
    };
    read.choose_sample(context, inputs)?;
    let mut progress = Progress::of_file(!context.quiet, rows, "rows");
    let mut all: Vec<Counts> = Vec::new();
    for batch in Batches::new(context, inputs, &read, Window::default()) {
        let batch = batch?;
        let leaves = match request.together {
            true => vec![combination(&batch, &columns.paths)?],
            false => leaves(&batch)?,
        };
        for (at, leaf) in leaves.iter().enumerate() {
            if all.len() == at {
                all.push(Counts {
                    are_combinations: request.together,
                    ..Counts::new(leaf)
                });
            }
            if let Some(counts) = all.get_mut(at) {
                counts.add(leaf)?;
            }
        }
        progress.add(batch.num_rows() as u64);
    }
    // The user sees the columns in the order of the command line rather than the file's order.
    let paths = &columns.paths;
    let position = |names: &[String], depth: usize| {
        let mut parts = paths.iter().map(|path| path.iter().zip(names).take(depth));
        parts.position(|mut pairs| pairs.all(|(part, name)| part == name))
    };
    // The path of a list's elements can have more parts than the user wrote, so we fall back to
    // comparing only the first part.
    all.sort_by_key(|counts| {
        let names = &counts.names;
        position(names, names.len()).or_else(|| position(names, 1))
    });
    Ok(all)
}

/// Returns several columns as one leaf of structs, in the order of the command line.
///
/// # Errors
/// Fails with [`Failure::Data`] if Arrow cannot combine the columns to a struct.
fn combination(batch: &RecordBatch, paths: &[Vec<String>]) -> Result<Leaf> {
    let schema = batch.schema_ref();
    let mut columns: Vec<(FieldRef, ArrayRef)> = Vec::new();
    for name in paths.iter().filter_map(|path| path.first()) {
        let is_new = columns.iter().all(|(field, _)| field.name() != name);
        if let (true, Some((at, field))) = (is_new, schema.fields().find(name)) {
            columns.push((field.clone(), one_per_number(batch.column(at))));
        }
    }
    let names: Vec<&str> = columns
        .iter()
        .map(|(field, _)| field.name().as_str())
        .collect();
    let path = vec![names.join(",")];
    let (fields, arrays): (Vec<FieldRef>, Vec<ArrayRef>) = columns.into_iter().unzip();
    let rows = batch.num_rows();
    let array = StructArray::try_new_with_length(fields.into(), arrays, None, rows)
        .map_err(|error| Failure::Data(error.to_string()))?;
    Ok(Leaf {
        path,
        field: Arc::new(Field::new("", array.data_type().clone(), false)),
        array: Arc::new(array),
        is_in_list: false,
    })
}

impl Counts {
    /// Creates a leaf's counts, without any values yet.
    pub(crate) fn new(leaf: &Leaf) -> Self {
        Self {
            path: leaf.path.join("."),
            names: leaf.path.clone(),
            tally: Tally::default(),
            cells: HashMap::new(),
            cell_bytes: 0,
            total: 0,
            are_combinations: false,
        }
    }

    /// Counts a leaf's values.
    ///
    /// # Errors
    /// Fails with [`Failure::Data`] if the distinct values take too much memory.
    pub(crate) fn add(&mut self, leaf: &Leaf) -> Result<()> {
        let array = one_per_number(&leaf.array);
        let values = value::of(&leaf.field, &array)?;
        let has_cells = are_bytes(leaf.field.data_type());
        let mut text = String::new();
        for row in 0..leaf.array.len() {
            text.clear();
            values.json(row, &mut text);
            self.total += 1;
            let Some(place) = self.tally.add(&text) else {
                continue;
            };
            if has_cells {
                text.clear();
                values.cell(row, &mut text);
                self.cell_bytes += text.len();
                self.cells.insert(place, text.clone());
            }
            if self.tally.heap_bytes() + self.cell_bytes > MEMORY {
                return Err(Failure::Data(format!(
                    "column `{}` has more than {} different values, which take more than {} MiB; count \
                     a part of them with --where, or see `herringbone stats`",
                    self.path,
                    self.tally.len(),
                    MEMORY >> 20
                )));
            }
        }
        Ok(())
    }

    /// Returns the most frequent values, and the counts of all others.
    pub(crate) fn most(&self, limit: usize) -> (Vec<Counted<'_>>, Others) {
        let places = self.tally.most(limit);
        let counted = |place: usize| {
            let (json, count) = self.tally.get(place);
            let cell = self.cells.get(&place).map(String::as_str);
            Counted { json, count, cell }
        };
        let most: Vec<Counted<'_>> = places.into_iter().map(counted).collect();
        let shown: u64 = most.iter().map(|counted| counted.count).sum();
        let others = Others {
            values: self.tally.len() - most.len(),
            count: self.total - shown,
        };
        (most, others)
    }

    /// Returns a count's share of all values.
    pub(crate) fn share(&self, count: u64) -> f64 {
        count as f64 / self.total.max(1) as f64
    }
}

/// Returns true for bytes, which tables show differently from their base64 in JSON.
fn are_bytes(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => are_bytes(values),
        DataType::RunEndEncoded(_, values) => are_bytes(values.data_type()),
        DataType::FixedSizeBinary(_) => true,
        other => other.is_binary(),
    }
}

/// Returns the plain text of a JSON value. This is a string's contents, and anything else
/// unchanged.
fn text(json: &str) -> String {
    match serde_json::from_str(json) {
        Ok(Value::String(text)) => text,
        _ => json.to_owned(),
    }
}

/// Prints the most frequent values, and the count of all others.
fn print(
    context: &Context,
    counts: &Counts,
    limit: usize,
    list: &mut Listing<'_, '_>,
) -> Result<()> {
    let (most, others) = counts.most(limit);
    let share = |count: u64| counts.share(count);
    let line = |value: String, count: u64| {
        let share = format!("{:.1} %", share(count) * 100.0);
        vec![shown(&counts.path), value, count.to_string(), share]
    };
    for value in most {
        let json: Value = serde_json::from_str(value.json).unwrap_or_default();
        let count = value.count;
        if let (true, true, Value::Object(object)) = (list.is_csv(), counts.are_combinations, &json)
        {
            let names = object.keys().map(String::as_str).chain(["count", "share"]);
            let names: Vec<&str> = names.collect();
            let numbers = [Value::from(count), Value::from(share(count))];
            let values = object.values().chain(&numbers).map(Some);
            let fields: Vec<String> = values.map(table_or_jsonl::field).collect();
            list.fields(&fields, &names)?;
            continue;
        }
        list.line(
            || line(shown(&value.text()), count),
            || {
                let object = Object::new().with("column", counts.path.as_str());
                let object = object.with("value", json.clone()).with("count", count);
                Ok(object.with("share", share(count)).into())
            },
        )?;
    }
    if others.values == 0 {
        return Ok(());
    }
    if list.is_csv() && counts.are_combinations {
        let more = counted(others.values as i128, "combination");
        context.note(&format!("{more} more; --top N prints more of them"));
        return Ok(());
    }
    let count = others.count;
    list.line(
        || line(format!("({} more)", others.values), count),
        || {
            let object = Object::new().with("column", counts.path.as_str());
            let object = object.with("others", others.values).with("count", count);
            Ok(object.with("share", share(count)).into())
        },
    )
}
