//! `diff` prints the differences between two files.

mod files;
mod form;
mod number;
mod pairs;
mod schemas;

use herringbone::geospatial::Geospatial;
use herringbone::schema::DictionaryOutput;
use herringbone::{Int96Overflow, Projection, ReadOptions, SchemaOptions};
use herringbone_arrow::array::RecordBatch;
use herringbone_interchange::write::value;
use serde_json::Value;

use crate::args::{Diff, ListFormat};
use crate::base::failure::{Failure, Result};
use crate::base::plural::{counted, size};
use crate::base::printable::{json_line, printable};
use crate::describe::{Object, list};
use crate::input::context::Context;
use crate::input::import::Import;
use crate::input::{self, Input, Opening, by_table};
use crate::output::Output;
use crate::render::table::shown;
use crate::render::table_or_jsonl;
use crate::rows::{Batches, Request, Source, Window, schema_of_sorted, sorted, survey};
use pairs::{Pair, Pairs, key_columns};

use schemas::{changes, columns};

/// Compares the files. The exit code is 1 if their schemas or rows differ.
pub(crate) fn run(context: &Context, diff: &Diff, output: &mut Output<'_>) -> Result<()> {
    let format = table_or_jsonl::format(diff.format.get(), output);
    if format == ListFormat::Csv {
        let message = "the lines of `diff` have several forms, which CSV does not have; use --json";
        return Err(Failure::Usage(message.into()));
    }
    let opening = Opening {
        wanted: Some(&diff.wanted),
        import: Some(Import::of(context, &diff.other_files, None)?),
        ..Opening::default()
    };
    let inputs = input::each_table(&diff.files, &opening, context)?;
    let tables: Vec<&[Input]> = by_table(&inputs).collect();
    let [a, b] = match tables.as_slice() {
        _ if diff.schemas => return files::compare(&inputs, format == ListFormat::Jsonl, output),
        [a, b] => [a, b],
        [_, _, ..] if diff.key.is_none() && !diff.wanted.is_given() => {
            return files::compare(&inputs, format == ListFormat::Jsonl, output);
        }
        tables => {
            return Err(Failure::Usage(format!(
                "`diff` compares the rows of two files or directories, but {} named",
                match tables.len() {
                    1 => "one is".to_owned(),
                    count => format!("{count} are"),
                }
            )));
        }
    };
    let storages = (storage(a)?, storage(b)?);
    let (request_a, request_b) = (request(a, diff)?, request(b, diff)?);
    let (columns_a, columns_b) = (columns(&request_a.1), columns(&request_b.1));
    let schema_changes = changes(&columns_a, &columns_b);
    let key = diff.key.as_ref();
    let key = key.map(|key| key_columns(&request_a.1, &request_b.1, &key.paths));
    let key = key.transpose()?;
    let mut printer = Printer {
        format,
        output,
        left: diff.limit,
    };
    printer.schema(&schema_changes)?;
    printer.storage(storages)?;
    let mut counts = Counts::default();
    let (rows_a, schema_a) = rows(context, a, &request_a, diff)?;
    let (rows_b, schema_b) = rows(context, b, &request_b, diff)?;
    let mut pairs = Pairs::new((rows_a, &schema_a), (rows_b, &schema_b), key.as_deref())?;
    while let Some(pair) = pairs.next()? {
        counts.add(&pair, &mut printer)?;
    }
    for (table, repeats) in tables.iter().zip(pairs.repeats()) {
        if repeats.rows > 0 {
            context.note(&format!(
                "{}: {} the --key of another, such as {}; rows of one key are compared in their order",
                table.first().map_or("", |input| input.table_name()),
                match repeats.rows {
                    1 => "1 row has".to_owned(),
                    rows => format!("{rows} rows have"),
                },
                repeats.key
            ));
        }
    }
    printer.rows(&counts)?;
    match schema_changes.is_empty() && counts.are_equal() {
        true => Ok(()),
        false => Err(Failure::Told(Failure::FINDINGS)),
    }
}

type Schema = herringbone_arrow::schema::SchemaRef;

/// Returns the request for all rows of a table, and their schema.
fn request<'a>(inputs: &'a [Input], diff: &'a Diff) -> Result<(Request<'a>, Schema)> {
    let mut schema = SchemaOptions::default();
    schema.int96_overflow = Int96Overflow::CoarserUnit;
    schema.dictionary = DictionaryOutput::Never;
    let options = ReadOptions::new()
        .schema(schema)
        .extension(Geospatial::new());
    let mut request = Request::all(options);
    request.merge = diff.merge.choice();
    // If a directory's files have different columns, we fill in nulls for missing columns.
    // Otherwise, such a column would be left out of the whole table.
    request.merge.by_name = inputs.iter().any(|input| input.member.is_some());
    if let Some(selection) = &diff.columns {
        request.options.projection = Projection::Paths(request.paths(inputs, selection)?);
    }
    request.wanted = Some(&diff.wanted);
    request.unshredding = diff.wanted.variants.options();
    request.unshred();
    request.choose_int96_unit(inputs, Window::default())?;
    let surveyed = survey(inputs, &mut request)?;
    let schema = surveyed.map(|(schema, _)| schema);
    Ok((
        request,
        schema.ok_or_else(|| Failure::Usage("no file is named".into()))?,
    ))
}

/// Returns a table's rows and their schema. The rows are sorted by the key if there is one.
fn rows<'a>(
    context: &'a Context,
    inputs: &'a [Input],
    (request, schema): &'a (Request<'a>, Schema),
    diff: &Diff,
) -> Result<(Source<'a>, Schema)> {
    let batches = Box::new(Batches::new(context, inputs, request, Window::default()));
    let Some(key) = &diff.key else {
        return Ok((batches, schema.clone()));
    };
    let sort = diff.sort(key);
    let name = inputs.first().map_or("", |input| input.table_name());
    let sorted = sorted(batches, schema, &sort).map_err(|failure| failure.in_file(name))?;
    Ok((sorted, schema_of_sorted(schema, Some(&sort))))
}

/// Describes how a table is stored. A single file is described by its row group count, size and
/// writer, and several files by their number and size.
fn storage(table: &[Input]) -> Result<String> {
    let bytes: i128 = table.iter().map(|input| i128::from(input.size)).sum();
    if let [input] = table
        && input.folder().is_none()
    {
        if !input.is_parquet() {
            return Ok(format!("{}, {}", input.format().name(), size(bytes)));
        }
        let file = input.open()?;
        let groups = counted(file.metadata().num_row_groups() as i128, "row group");
        let written = file.metadata().created_by().map(shown).unwrap_or_default();
        return Ok(format!("{groups}, {}, by {written}", size(bytes)));
    }
    let files = counted(table.len() as i128, "file");
    Ok(format!("{files}, {}", size(bytes)))
}

/// The counts of rows and differences.
#[derive(Default)]
struct Counts {
    a: u64,
    b: u64,
    only_a: u64,
    only_b: u64,
    changed: u64,
    /// The differing columns, each with the number of differing rows.
    columns: Vec<(String, u64)>,
}

impl Counts {
    fn are_equal(&self) -> bool {
        (self.only_a, self.only_b, self.changed) == (0, 0, 0)
    }

    fn add(&mut self, pair: &Pair<'_>, printer: &mut Printer<'_, '_>) -> Result<()> {
        match pair {
            Pair::OnlyA(batch, row, name) => {
                self.a += 1;
                self.only_a += 1;
                printer.only("only_in_a", batch, *row, name)
            }
            Pair::OnlyB(batch, row, name) => {
                self.b += 1;
                self.only_b += 1;
                printer.only("only_in_b", batch, *row, name)
            }
            Pair::Equal(rows) => {
                self.a += *rows;
                self.b += *rows;
                Ok(())
            }
            Pair::Changed(name, values) => {
                self.a += 1;
                self.b += 1;
                self.changed += 1;
                for (column, ..) in values {
                    match self.columns.iter_mut().find(|(name, _)| name == column) {
                        Some((_, count)) => *count += 1,
                        None => self.columns.push((column.clone(), 1)),
                    }
                }
                printer.changed(name, values)
            }
        }
    }
}

/// Prints the differences as they are found.
struct Printer<'o, 'w> {
    format: ListFormat,
    output: &'o mut Output<'w>,
    /// The number of rows left to print.
    left: u64,
}

impl Printer<'_, '_> {
    fn json(&mut self, object: Object) -> Result<()> {
        self.output.line(&json_line(&object.into()))
    }

    fn schema(&mut self, changes: &[String]) -> Result<()> {
        if self.format == ListFormat::Jsonl {
            let changes = list(changes, |change| Value::from(change.as_str()));
            return self.json(
                Object::new()
                    .with("kind", "schema")
                    .with("changes", changes),
            );
        }
        if changes.is_empty() {
            return self.output.line("schema    equal");
        }
        for (at, change) in changes.iter().enumerate() {
            let name = if at == 0 { "schema" } else { "" };
            self.output
                .line(&format!("{name:<10}{}", printable(change)))?;
        }
        Ok(())
    }

    fn storage(&mut self, (a, b): (String, String)) -> Result<()> {
        match (self.format, a == b) {
            (ListFormat::Jsonl, _) => {
                let object = Object::new().with("kind", "storage");
                self.json(object.with("a", a).with("b", b))
            }
            (_, true) => self.output.line(&format!("storage   {a}")),
            (_, false) => self.output.line(&format!("storage   {a} → {b}")),
        }
    }

    /// Counts a row, returning true as long as the limit allows printing it.
    fn takes(&mut self) -> bool {
        let takes = self.left > 0;
        self.left = self.left.saturating_sub(1);
        takes
    }

    fn only(&mut self, kind: &str, batch: &RecordBatch, row: usize, name: &str) -> Result<()> {
        if !self.takes() {
            return Ok(());
        }
        if self.format == ListFormat::Jsonl {
            // We print a list rather than an object, since column names can be duplicates or clash
            // with our own keys.
            let mut values = Vec::new();
            for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
                let mut json = String::new();
                value::of(field, &column.slice(row, 1))?.json(0, &mut json);
                let json: Value = serde_json::from_str(&json).unwrap_or_default();
                let object = Object::new().with("column", field.name().as_str());
                values.push(Value::from(object.with("value", json)));
            }
            let object = Object::new().with("kind", kind).with("row", name);
            return self.json(object.with("values", values));
        }
        let kind = if kind == "only_in_a" {
            "only in A"
        } else {
            "only in B"
        };
        self.output.line(&format!("  {}  {kind}", shown(name)))
    }

    fn changed(&mut self, name: &str, values: &[(String, String, String)]) -> Result<()> {
        if !self.takes() {
            return Ok(());
        }
        for (column, a, b) in values {
            if self.format == ListFormat::Jsonl {
                let json = |text: &str| -> Value { serde_json::from_str(text).unwrap_or_default() };
                let object = Object::new().with("kind", "changed").with("row", name);
                let object = object.with("column", column.as_str());
                self.json(object.with("a", json(a)).with("b", json(b)))?;
            } else {
                let (name, column) = (shown(name), shown(column));
                let line = format!("  {name}  {column}  {} → {}", shown(a), shown(b));
                self.output.line(&line)?;
            }
        }
        Ok(())
    }

    fn rows(&mut self, counts: &Counts) -> Result<()> {
        if self.format == ListFormat::Jsonl {
            let columns = counts.columns.iter();
            let columns = columns.fold(Object::new(), |object, (name, count)| {
                object.with(name, *count)
            });
            return self.json(
                Object::new()
                    .with("kind", "rows")
                    .with("a", counts.a)
                    .with("b", counts.b)
                    .with("only_in_a", counts.only_a)
                    .with("only_in_b", counts.only_b)
                    .with("changed", counts.changed)
                    .with("columns", columns),
            );
        }
        let sign = if counts.a == counts.b { "=" } else { "→" };
        let mut line = format!("rows      {} {sign} {}", counts.a, counts.b);
        if counts.are_equal() {
            return self.output.line(&format!("{line}, equal"));
        }
        if counts.changed > 0 {
            let columns = counts.columns.iter();
            let columns = columns.map(|(name, count)| format!("{} {count}", shown(name)));
            let columns = columns.collect::<Vec<_>>().join(", ");
            line += &format!("; {} changed ({columns})", counts.changed);
        }
        for (count, name) in [(counts.only_a, "A"), (counts.only_b, "B")] {
            if count > 0 {
                line += &format!("; {count} only in {name}");
            }
        }
        self.output.line(&line)
    }
}
