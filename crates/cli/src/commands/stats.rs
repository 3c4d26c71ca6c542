//! `stats` prints one line of facts per column.

use std::slice;

use herringbone::geospatial::Geospatial;
use herringbone::schema::DictionaryOutput;
use herringbone::{Int96Overflow, ParquetFile, ReadOptions, SchemaOptions};
use herringbone_arrow::array::{Array as _, ArrayRef, BooleanArray, RecordBatch};
use herringbone_arrow::row::{RowConverter, SortField};
use herringbone_arrow::schema::Field;
use herringbone_interchange::write::number::Float as _;
use herringbone_interchange::write::value;
use serde_json::Value;

use crate::args::{Chunks, Columns, ListFormat, Stats};
use crate::base::failure::{Failure, Result};
use crate::base::printable::printable;
use crate::base::type_name::type_name;
use crate::describe::nulls;
use crate::describe::{Object, list};
use crate::input::column_chunks::{self, Place};
use crate::input::context::Context;
use crate::input::{Input, by_table};
use crate::output::Output;
use crate::output::progress::Progress;
use crate::profile::{Leaf, Quantiles, Summary, leaves};
use crate::render::table::{cell_text, shown};
use crate::render::table_or_jsonl::{self, Header, Listing};
use crate::rows::{self, Batches, Window, survey};

/// The table's columns.
pub(crate) const HEADER: Header<'_> = Header {
    names: &[
        "column", "type", "nulls", "distinct", "min", "max", "values", "mean", "std dev", "p5",
        "median", "p95", "bytes", "share",
    ],
    keys: &[
        "path",
        "type",
        "null_count",
        "distinct_count",
        "min",
        "max",
        "num_values",
        "mean",
        "mean_bytes",
        "std_dev",
        "p5",
        "median",
        "p95",
        "compressed_size",
        "share",
    ],
    numbers: &[2, 3, 6, 7, 8, 9, 10, 11, 12, 13],
    spare: &[9, 11, 8, 12, 13, 10, 7, 6, 3, 2, 1],
};

/// The facts about a column. Unknown facts are `None`.
#[derive(Default)]
pub(crate) struct Line {
    path: Vec<String>,
    /// The type's name for people, and its name in Arrow.
    types: (String, String),
    values: Option<u64>,
    nulls: Option<u64>,
    /// The number of distinct values with a flag, true if it is exact.
    distinct: Option<(u64, bool)>,
    min: Option<(String, Value)>,
    max: Option<(String, Value)>,
    /// False if a bound might not be an actual value.
    is_exact: bool,
    mean: Option<f64>,
    deviation: Option<f64>,
    quantiles: Option<Quantiles>,
    is_length: bool,
    sorted: Option<&'static str>,
    bytes: Option<u64>,
}

/// Lists the columns of all files.
pub(crate) fn run(
    context: &Context,
    inputs: &[Input],
    request: &Stats,
    chunks: &Chunks,
    output: &mut Output<'_>,
) -> Result<()> {
    if request.fast && (request.leaves_out_rows() || request.merge.is_given()) {
        let message = "--fast reads no rows, so it can only be used with --row-groups";
        return Err(Failure::Usage(message.into()));
    }
    let format = table_or_jsonl::format(request.format.get(), output);
    let is_single = by_table(inputs).count() == 1;
    for table in by_table(inputs) {
        let name = table.first().map_or("", |input| input.table_name());
        if format == ListFormat::Table && !is_single {
            output.line(&format!("{}:", printable(name)))?;
        }
        let lines = match (request.fast, table) {
            (true, [input]) if input.folder().is_none() && input.is_parquet() => {
                of_footer(input, &input.open()?, chunks)?
            }
            (true, _) => {
                let message = "--fast is for single Parquet files; leave it out to read the rows";
                return Err(Failure::Usage(format!("{name}: {message}")));
            }
            (false, _) => of_rows(context, table, request, chunks)?,
        };
        let total: u64 = lines.iter().filter_map(|line| line.bytes).sum();
        let mut list = Listing::new(format, HEADER, output);
        for line in &lines {
            let share = line.bytes.map(|bytes| bytes as f64 / total.max(1) as f64);
            list.line(|| line.cells(share), || Ok(line.json(name, share)))?;
        }
        list.finish()?;
    }
    Ok(())
}

/// Summarises the values by reading them.
fn of_rows(
    context: &Context,
    inputs: &[Input],
    request: &Stats,
    chunks: &Chunks,
) -> Result<Vec<Line>> {
    let window = Window::of(&request.part);
    let mut schema = SchemaOptions::default();
    schema.int96_overflow = Int96Overflow::CoarserUnit;
    schema.dictionary = DictionaryOutput::Never;
    let options = ReadOptions::new()
        .projection(chunks.projection())
        .schema(schema)
        .extension(Geospatial::new());
    let mut read = rows::Request::all(options);
    read.row_groups = chunks.row_groups.as_ref();
    read.merge = request.merge.choice();
    read.wanted = Some(&request.wanted);
    read.sample = request.sampling.get();
    read.unshredding = request.wanted.variants.options();
    read.unshred();
    read.choose_int96_unit(inputs, window)?;
    let Some((schema, rows)) = survey(inputs, &mut read)? else {
        return Ok(Vec::new());
    };
    read.choose_sample(context, inputs)?;
    let rows = rows.map(|rows| window.rows(rows));
    let mut summaries = summaries(context, inputs, &read, window, rows)?;
    if summaries.is_empty() {
        summaries = of_leaves(&leaves(&RecordBatch::new_empty(schema))?)?;
    }
    let mut sums = vec![Some(0_u64); summaries.len()];
    for input in inputs {
        let sizes = sizes(&input.open()?, chunks, input, &summaries)?;
        for (sum, size) in sums.iter_mut().zip(sizes) {
            *sum = sum.zip(size).map(|(sum, size)| sum.saturating_add(size));
        }
    }
    let both = summaries.iter().zip(sums);
    both.map(|(summary, bytes)| Line::of(summary, bytes))
        .collect()
}

/// Returns a summary for each leaf that the request reads.
///
/// # Errors
/// Fails if the rows cannot be read.
pub(crate) fn summaries(
    context: &Context,
    inputs: &[Input],
    read: &rows::Request<'_>,
    window: Window,
    rows: Option<u64>,
) -> Result<Vec<Summary>> {
    let mut summaries: Vec<Summary> = Vec::new();
    let mut progress = Progress::of_file(!context.quiet, rows, "rows");
    for batch in Batches::new(context, inputs, read, window) {
        let batch = batch?;
        let leaves = leaves(&batch)?;
        if summaries.is_empty() {
            summaries = of_leaves(&leaves)?;
        }
        for (summary, leaf) in summaries.iter_mut().zip(&leaves) {
            summary.add(&leaf.array)?;
        }
        progress.add(batch.num_rows() as u64);
    }
    Ok(summaries)
}

/// Returns summaries for leaves, without any values yet.
fn of_leaves(leaves: &[Leaf]) -> Result<Vec<Summary>> {
    leaves.iter().map(Summary::new).collect()
}

/// Returns the compressed size of each summarized leaf. We only know a size if the column's leaves
/// are the same in the summaries and in the file.
pub(crate) fn sizes(
    file: &ParquetFile,
    chunks: &Chunks,
    input: &Input,
    summaries: &[Summary],
) -> Result<Vec<Option<u64>>> {
    if !input.is_parquet() {
        return Ok(vec![None; summaries.len()]);
    }
    let is_stored = |path: &Vec<String>| rows::is_stored(input, file, path);
    let paths = chunks.columns.iter().flat_map(|columns| &columns.paths);
    let paths = paths.filter(|path| is_stored(path)).cloned().collect();
    let chunks = Chunks {
        columns: chunks.columns.as_ref().map(|_| Columns { paths }),
        row_groups: chunks.row_groups.clone(),
    };
    let (row_groups, stored) = column_chunks::of_file(file, &chunks, input)?;
    let schema = file.parquet_schema();
    let mut sizes = Vec::with_capacity(summaries.len());
    for column in summaries.chunk_by(|a, b| a.path.first() == b.path.first()) {
        let name = column.first().and_then(|summary| summary.path.first());
        let mut leaf_sizes = Vec::new();
        for &leaf in &stored {
            if schema.path(leaf).first().copied() == name.map(String::as_str) {
                leaf_sizes.push(compressed(file, &row_groups, leaf, input)?);
            }
        }
        match column.len() {
            1 => sizes.push(Some(leaf_sizes.iter().sum())),
            count if count == leaf_sizes.len() => sizes.extend(leaf_sizes.into_iter().map(Some)),
            count => sizes.extend(std::iter::repeat_n(None, count)),
        }
    }
    Ok(sizes)
}

/// Returns a leaf's compressed size in some row groups.
fn compressed(file: &ParquetFile, row_groups: &[usize], leaf: usize, input: &Input) -> Result<u64> {
    let mut sum = 0_u64;
    for row_group in row_groups {
        let chunk = file.metadata().column_chunk(*row_group, leaf);
        let chunk = chunk.map_err(|error| input.failure(&error))?;
        let size = chunk.meta_data.map_or(0, |data| data.total_compressed_size);
        sum = sum.saturating_add(u64::try_from(size).unwrap_or(0));
    }
    Ok(sum)
}

/// Summarises the footer's statistics.
///
/// # Errors
/// Fails if the file does not have a chosen column or row group, or if metadata cannot be decoded.
pub(crate) fn of_footer(input: &Input, file: &ParquetFile, chunks: &Chunks) -> Result<Vec<Line>> {
    let failure = |error: herringbone::Error| input.failure(&error);
    let (row_groups, stored) = column_chunks::of_file(file, chunks, input)?;
    let mut lines = Vec::new();
    for leaf in stored {
        let place = Place {
            file,
            row_group: 0,
            leaf,
        };
        let field = place.value_field().map_err(failure)?;
        let bounds = file.row_group_bounds(leaf).map_err(failure)?;
        let is_whole = row_groups.len() == file.metadata().num_row_groups();
        let bound = |array: &ArrayRef, flags: &BooleanArray, is_min: bool| match is_whole {
            true => extreme(&field, array, flags, is_min),
            false => Ok((None, true)),
        };
        let (min, is_min_exact) = bound(&bounds.min, &bounds.is_min_exact, true)?;
        let (max, is_max_exact) = bound(&bounds.max, &bounds.is_max_exact, false)?;
        let (mut values, mut null_count) = (Some(0_u64), Some(0_u64));
        for row_group in &row_groups {
            let chunk = file
                .metadata()
                .column_chunk(*row_group, leaf)
                .map_err(failure)?;
            let Some(data) = chunk.meta_data else {
                (values, null_count) = (None, None);
                continue;
            };
            let found = nulls::of_chunk(file.parquet_schema(), leaf, &data);
            null_count = null_count
                .zip(found.nulls)
                .map(|(sum, more)| sum.saturating_add(more));
            values = values
                .zip(found.values)
                .map(|(sum, more)| sum.saturating_add(more));
        }
        lines.push(Line {
            path: place.path().into_iter().map(str::to_owned).collect(),
            types: types(&field),
            values,
            nulls: null_count,
            min,
            max,
            is_exact: is_min_exact && is_max_exact,
            bytes: Some(compressed(file, &row_groups, leaf, input)?),
            ..Line::default()
        });
    }
    Ok(lines)
}

/// Returns a column's type by its name for people and by its name in Arrow.
fn types(field: &Field) -> (String, String) {
    (type_name(field), field.data_type().to_string())
}

/// Returns the minimum or maximum over all row groups' bounds with a flag, true if the value
/// certainly occurs. If any row group lacks a bound, nothing is known about the file.
fn extreme(
    field: &Field,
    bounds: &ArrayRef,
    are_exact: &BooleanArray,
    is_min: bool,
) -> Result<(Option<(String, Value)>, bool)> {
    if bounds.is_empty() || bounds.logical_null_count() > 0 {
        return Ok((None, true));
    }
    let failed = |error: herringbone_arrow::schema::ArrowError| Failure::Data(error.to_string());
    let fields = vec![SortField::new(bounds.data_type().clone())];
    let order = RowConverter::new(fields).map_err(failed)?;
    let rows = order
        .convert_columns(slice::from_ref(bounds))
        .map_err(failed)?;
    let all = 0..bounds.len();
    let at = match is_min {
        true => all.min_by_key(|at| rows.row(*at)),
        false => all.max_by_key(|at| rows.row(*at)),
    };
    let Some(at) = at else {
        return Ok((None, true));
    };
    let is_exact = are_exact.is_valid(at) && are_exact.value(at);
    Ok((text(field, &bounds.slice(at, 1))?, is_exact))
}

/// Returns the only value of an array, as text and as JSON.
fn text(field: &Field, array: &ArrayRef) -> Result<Option<(String, Value)>> {
    let values = value::of(field, array)?;
    let text = cell_text(field, values.as_ref(), 0);
    let mut json = String::new();
    values.json(0, &mut json);
    Ok(serde_json::from_str(&json).ok().map(|json| (text, json)))
}

/// Formats a mean with at most six decimal places, or with all digits if it is too small or too
/// large for that.
fn mean_text(mean: f64) -> String {
    let mut text = String::new();
    if mean == 0.0 || (1e-3..1e15).contains(&mean.abs()) {
        // Adding zero turns -0 into 0.
        text = format!("{:.6}", mean + 0.0);
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    match mean.special() {
        Some(special) => text += special,
        None => mean.push_finite(&mut text),
    }
    text
}

impl Line {
    /// Takes the facts from a summary.
    ///
    /// # Errors
    /// Fails with [`Failure::Data`] if a bound cannot be printed.
    pub(crate) fn of(summary: &Summary, bytes: Option<u64>) -> Result<Self> {
        let bound = |array: Option<&ArrayRef>| match array {
            Some(array) => text(&summary.field, array),
            None => Ok(None),
        };
        Ok(Self {
            path: summary.path.clone(),
            types: types(&summary.field),
            values: Some(summary.values),
            nulls: Some(summary.nulls),
            distinct: Some(summary.distinct()),
            min: bound(summary.min())?,
            max: bound(summary.max())?,
            is_exact: true,
            mean: summary.mean(),
            deviation: summary.deviation(),
            quantiles: summary.quantiles(),
            is_length: summary.is_length(),
            sorted: summary.sorted(),
            bytes,
        })
    }

    /// Returns the facts as cells for the columns of [`HEADER`].
    pub(crate) fn cells(&self, share: Option<f64>) -> Vec<String> {
        let number =
            |number: Option<u64>| number.map_or_else(|| "?".into(), |number| number.to_string());
        let bound = |bound: &Option<(String, Value)>| {
            let text = bound.as_ref().map(|(text, _)| shown(text));
            let mark = if self.is_exact { "" } else { "~" };
            text.map_or_else(String::new, |text| format!("{mark}{text}"))
        };
        let mut name = shown(&self.path.join("."));
        if let Some(sorted) = self.sorted {
            name = format!("{name} ({sorted})");
        }
        let distinct = match self.distinct {
            Some((count, true)) => count.to_string(),
            Some((count, false)) => format!("~{count}"),
            None => "?".into(),
        };
        let mean = self
            .mean
            .map_or_else(String::new, |mean| match self.is_length {
                true => format!("{mean:.1} bytes"),
                false => mean_text(mean),
            });
        let deviation = self.deviation.map_or_else(String::new, mean_text);
        let quantile = |choose: fn(&Quantiles) -> f64| {
            let quantiles = self.quantiles.as_ref();
            quantiles.map_or_else(String::new, |quantiles| {
                let mark = if quantiles.are_exact { "" } else { "~" };
                format!("{mark}{}", mean_text(choose(quantiles)))
            })
        };
        vec![
            name,
            shown(&self.types.0),
            number(self.nulls),
            distinct,
            bound(&self.min),
            bound(&self.max),
            number(self.values),
            mean,
            deviation,
            quantile(|quantiles| quantiles.p5),
            quantile(|quantiles| quantiles.median),
            quantile(|quantiles| quantiles.p95),
            number(self.bytes),
            share.map_or_else(String::new, |share| format!("{:.1} %", share * 100.0)),
        ]
    }

    fn json(&self, file: &str, share: Option<f64>) -> Value {
        let json = |bound: &Option<(String, Value)>| bound.as_ref().map(|(_, json)| json.clone());
        let number = |number: f64| match number.special() {
            Some(text) => Value::from(text),
            None => Value::from(number),
        };
        let mean = self.mean.map(number);
        let quantiles = self.quantiles;
        let quantile = |choose: fn(Quantiles) -> f64| quantiles.map(|all| number(choose(all)));
        let (length, mean) = match self.is_length {
            true => (mean, None),
            false => (None, mean),
        };
        Object::new()
            .with("file", file)
            .with("path", list(&self.path, |name| Value::from(name.as_str())))
            .with("type", self.types.1.as_str())
            .some("num_values", self.values)
            .some("null_count", self.nulls)
            .some("distinct_count", self.distinct.map(|(count, _)| count))
            .some(
                "is_distinct_exact",
                self.distinct.map(|(_, is_exact)| is_exact),
            )
            .some("min", json(&self.min))
            .some("max", json(&self.max))
            .with("is_exact", self.is_exact)
            .some("mean", mean)
            .some("mean_bytes", length)
            .some("std_dev", self.deviation.map(number))
            .some("p5", quantile(|quantiles| quantiles.p5))
            .some("median", quantile(|quantiles| quantiles.median))
            .some("p95", quantile(|quantiles| quantiles.p95))
            .some("are_quantiles_exact", quantiles.map(|all| all.are_exact))
            .some("sorted", self.sorted)
            .some("compressed_size", self.bytes)
            .some("share", share)
            .into()
    }
}
