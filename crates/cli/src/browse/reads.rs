//! Reads the file to answer the viewer's needs.

use std::ops::Range;
use std::sync::Arc;

use herringbone::geospatial::Geospatial;
use herringbone::variant::extension::VariantExtension;
use herringbone::variant::shredding::is_variant;
use herringbone::{
    Int96Overflow, ParquetFile, Projection, ReadOptions, Reader, SchemaOptions, VirtualColumn,
};
use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::Int64Type;
use herringbone_arrow::array::{ArrayRef, RecordBatch};
use herringbone_arrow::schema::{FieldRef, SchemaRef};
use herringbone_interchange::write::value;

use super::facts::Facts;
use super::need::{Answer, Cell, Cells, Need, Reply, Table, Window};
use super::text::indented;
use crate::args::{Chunks, Columns, Condition};
use crate::base::failure::{Failure, Result};
use crate::base::printable::{printable, printable_lines};
use crate::commands::{freq, pages, stats};
use crate::input::Input;
use crate::input::column_chunks::{self, Place};
use crate::profile::{Summary, leaves};
use crate::render::table::shown;

/// A read's connection to the waiting screen. Reads check it from time to time, so that the user
/// can cancel them.
pub(super) struct Watch<'a> {
    /// Returns false once the answer is no longer wanted.
    pub(super) is_wanted: &'a dyn Fn() -> bool,
    /// Reports progress as the number of rows done and the total.
    pub(super) progress: &'a dyn Fn(u64, u64),
}

/// An open file and the other files to switch to.
pub(super) struct Reads {
    input: Arc<Input>,
    inputs: Arc<[Arc<Input>]>,
    file: ParquetFile,
    schema: SchemaRef,
    starts: Vec<u64>,
}

/// The name of the row number column in searches.
const ROW: &str = "row";

impl Reads {
    /// Opens the first of some files. This reads its footer only.
    ///
    /// # Errors
    /// Fails if the file cannot be opened, or if its schema cannot be read as Arrow.
    pub(super) fn open(inputs: Vec<Input>) -> Result<(Self, Facts)> {
        Self::at(inputs.into_iter().map(Arc::new).collect(), 0)
    }

    /// Opens one of some files.
    fn at(inputs: Arc<[Arc<Input>]>, at: usize) -> Result<(Self, Facts)> {
        let input = inputs.get(at).cloned();
        let input = input.ok_or_else(|| Failure::Usage("there is no such file".into()))?;
        let file = input.open()?;
        let (mut reads, mut facts) = Self::of(input, file)?;
        (facts.file, facts.files) = (at, inputs.len());
        reads.inputs = inputs;
        Ok((reads, facts))
    }

    /// Creates the reads for a file that is already open.
    ///
    /// # Errors
    /// Fails if the schema cannot be read as Arrow.
    pub(super) fn of(input: Arc<Input>, file: ParquetFile) -> Result<(Self, Facts)> {
        let failure = |error: herringbone::Error| input.failure(&error);
        let mut schema = SchemaOptions::default();
        schema.int96_overflow = Int96Overflow::Wrap;
        let options = options().schema(schema);
        let schema = file.plan(&options).map_err(failure)?.schema().clone();
        let mut starts = vec![0_u64];
        let mut rows = 0_u64;
        for row_group in 0..file.metadata().num_row_groups() {
            let header = file
                .metadata()
                .row_group_header(row_group)
                .map_err(failure)?;
            rows = rows.saturating_add(u64::try_from(header.num_rows).unwrap_or(0));
            starts.push(rows);
        }
        let mut facts = Facts {
            name: printable(&input.name),
            files: 1,
            size: input.size,
            starts: starts.clone(),
            ..Facts::default()
        };
        facts.add(&schema);
        let reads = Self {
            inputs: Arc::from([input.clone()]),
            input,
            file,
            schema,
            starts,
        };
        Ok((reads, facts))
    }

    /// Answers a need. A read stops early once it's no longer wanted, and its answer then doesn't
    /// matter.
    pub(super) fn answer(&mut self, need: &Need, watch: &Watch<'_>) -> Reply {
        let answer = match need {
            Need::Rows(window) => Ok(Answer::Rows(self.rows(window))),
            Need::Cell { row, column } => self.cell(*row, *column).map(Answer::Text),
            Need::Copy { row, column } => self.copied(*row, *column).map(Answer::Copy),
            Need::File(at) => self.go_to(*at).map(|facts| Answer::File(Box::new(facts))),
            Need::Stats { path, reads } => self.stats(path, *reads, watch).map(Answer::Table),
            Need::Frequency { path } => self.frequency(path, watch).map(Answer::Table),
            Need::Pages { path, row_group } => {
                self.pages(path, *row_group, watch).map(Answer::Table)
            }
            Need::Match {
                condition,
                from,
                is_forward,
            } => self
                .nearest(condition, *from, *is_forward, watch)
                .map(Answer::Match),
        };
        answer.map_err(|failure| printable(&failure.to_string()))
    }

    /// Opens another file in place of this one. If that fails, this one stays open.
    fn go_to(&mut self, at: usize) -> Result<Facts> {
        let (reads, facts) = Self::at(self.inputs.clone(), at)?;
        *self = reads;
        Ok(facts)
    }

    fn rows_of_file(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    fn failure(&self, error: &herringbone::Error) -> Failure {
        self.input.failure(error)
    }

    fn read(&self, options: ReadOptions) -> Result<Reader> {
        let mut schema = SchemaOptions::default();
        schema.int96_overflow = Int96Overflow::CoarserUnit;
        let options = options.schema(schema).limits(self.input.limits().clone());
        self.file
            .read(options)
            .map_err(|error| self.failure(&error))
    }

    fn next(&self, reader: &mut Reader) -> Result<Option<RecordBatch>> {
        reader.next_batch().map_err(|error| self.failure(&error))
    }

    /// Reads a window's cells. If this fails, we retry column by column, so that one damaged column
    /// doesn't hide the others.
    fn rows(&self, window: &Window) -> Vec<Cells> {
        match self.cells(&window.rows, window.columns.clone()) {
            Ok(columns) => columns.into_iter().map(Ok).collect(),
            Err(_) if window.columns.len() > 1 => window
                .columns
                .clone()
                .map(|column| self.cells(&window.rows, column..column + 1))
                .map(|cells| cells.map(|mut cells| cells.pop().unwrap_or_default()))
                .map(|cells| cells.map_err(|failure| printable(&failure.to_string())))
                .collect(),
            Err(failure) => vec![Err(printable(&failure.to_string()))],
        }
    }

    fn options_of(&self, rows: &Range<u64>, columns: Range<usize>) -> ReadOptions {
        let fields = self.schema.fields().get(columns).unwrap_or_default();
        let paths = fields.iter().map(|field| vec![field.name().clone()]);
        let count = rows.end.saturating_sub(rows.start).max(1);
        options()
            .projection(Projection::Paths(paths.collect()))
            .row_ranges(vec![rows.clone()])
            .batch_size(usize::try_from(count).unwrap_or(usize::MAX))
            .threads(1_usize)
    }

    fn cells(&self, rows: &Range<u64>, columns: Range<usize>) -> Result<Vec<Vec<Cell>>> {
        let mut all = vec![Vec::new(); columns.len()];
        let mut reader = self.read(self.options_of(rows, columns))?;
        while let Some(batch) = self.next(&mut reader)? {
            if batch.num_columns() != all.len() {
                let message = "several columns have the same name";
                return Err(Failure::Data(message.into()).in_file(&self.input.name));
            }
            let schema = batch.schema();
            let fields = schema.fields().iter().zip(batch.columns());
            for (cells, (field, array)) in all.iter_mut().zip(fields) {
                let values = value::of(field, array)?;
                let mut text = String::new();
                cells.extend((0..batch.num_rows()).map(|row| {
                    text.clear();
                    let is_null = values.is_null(row);
                    match is_null {
                        true => text.push_str("null"),
                        false => values.cell(row, &mut text),
                    }
                    Cell {
                        text: shown(&text),
                        is_null,
                    }
                }));
            }
        }
        Ok(all)
    }

    /// Reads a cell's text for the clipboard, in CSV form. Returns the length in bytes if the text
    /// is too long.
    fn copied(&self, row: u64, column: usize) -> Result<std::result::Result<String, usize>> {
        /// The maximum number of bytes to copy. Most terminals accept 74,994 bytes of base64.
        const MOST: usize = 56_000;
        let (field, array) = self.value_at(row, column)?;
        let values = value::of(&field, &array)?;
        let mut text = String::new();
        if !values.is_null(0) {
            values.cell(0, &mut text);
        }
        Ok(match text.len() > MOST {
            true => Err(text.len()),
            false => Ok(text),
        })
    }

    /// Reads a cell, as an array of one value, with its field.
    fn value_at(&self, row: u64, column: usize) -> Result<(FieldRef, ArrayRef)> {
        let mut reader = self.read(self.options_of(&(row..row + 1), column..column + 1))?;
        let missing = || Failure::Data(format!("there is no row {row}")).in_file(&self.input.name);
        let batch = self.next(&mut reader)?.ok_or_else(missing)?;
        let schema = batch.schema();
        let field = schema.fields().first().cloned();
        let array = batch.columns().first().cloned();
        field.zip(array).ok_or_else(missing)
    }

    /// Reads the complete text of a cell.
    fn cell(&self, row: u64, column: usize) -> Result<String> {
        /// The maximum number of bytes to show on a cell's page.
        const MOST: usize = 1 << 20;
        let (field, array) = self.value_at(row, column)?;
        let values = value::of(&field, &array)?;
        if values.is_null(0) {
            return Ok("null".into());
        }
        let mut text = String::new();
        values.cell(0, &mut text);
        let is_json = is_variant(&field) || field.data_type().is_nested();
        let bytes = text.len();
        if bytes > MOST {
            let last = (0..=MOST).rev().find(|at| text.is_char_boundary(*at));
            text.truncate(last.unwrap_or(0));
        } else if is_json {
            text = indented(&text);
        }
        let mut text = printable_lines(&text);
        if bytes > MOST {
            text.push_str(&format!(
                "\n\nThese are the first {MOST} of {bytes} bytes; for all of them: herringbone cat \
                 --offset {row} -n 1 -c {} {}",
                printable(field.name()),
                printable(&self.input.name)
            ));
        }
        Ok(text)
    }

    fn chunks(path: &[String]) -> Chunks {
        let paths = vec![path.to_owned()];
        Chunks {
            columns: Some(Columns { paths }),
            row_groups: None,
        }
    }

    /// Passes the values below a path to `add`, batch by batch.
    fn values(
        &self,
        path: &[String],
        watch: &Watch<'_>,
        mut add: impl FnMut(&RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let options = options().projection(Projection::Paths(vec![path.to_owned()]));
        let mut reader = self.read(options)?;
        let (mut done, rows) = (0, self.rows_of_file());
        while let Some(batch) = self.next(&mut reader)? {
            add(&batch)?;
            done += batch.num_rows() as u64;
            (watch.progress)(done, rows);
            if !(watch.is_wanted)() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn stats(&self, path: &[String], reads: bool, watch: &Watch<'_>) -> Result<Table> {
        let chunks = Self::chunks(path);
        let facts = match reads {
            false => stats::of_footer(&self.input, &self.file, &chunks)?,
            true => {
                let mut summaries: Vec<Summary> = Vec::new();
                self.values(path, watch, |batch| {
                    let leaves = leaves(batch)?;
                    if summaries.is_empty() {
                        summaries = leaves.iter().map(Summary::new).collect::<Result<_>>()?;
                    }
                    let mut both = summaries.iter_mut().zip(&leaves);
                    both.try_for_each(|(summary, leaf)| summary.add(&leaf.array))
                })?;
                let sizes = stats::sizes(&self.file, &chunks, &self.input, &summaries)?;
                let both = summaries.iter().zip(sizes);
                let lines = both.map(|(summary, bytes)| stats::Line::of(summary, bytes));
                lines.collect::<Result<_>>()?
            }
        };
        let mut lines = Vec::new();
        for line in &facts {
            if !lines.is_empty() {
                lines.push(Vec::new());
            }
            let names = stats::HEADER.names.iter();
            let pairs = names.zip(line.cells(None));
            let pairs = pairs.filter(|(_, text)| !text.is_empty());
            lines.extend(pairs.map(|(name, text)| vec![(*name).to_owned(), text]));
        }
        Ok(Table {
            header: vec![String::new(), String::new()],
            lines,
            end: (!reads).then(|| "r reads all values".to_owned()),
            ..Table::default()
        })
    }

    fn frequency(&self, path: &[String], watch: &Watch<'_>) -> Result<Table> {
        /// The maximum number of values listed on the page.
        const MOST: usize = 10_000;
        let mut all: Vec<freq::Counts> = Vec::new();
        self.values(path, watch, |batch| {
            for (at, leaf) in leaves(batch)?.iter().enumerate() {
                if all.len() == at {
                    all.push(freq::Counts::new(leaf));
                }
                if let Some(counts) = all.get_mut(at) {
                    counts.add(leaf)?;
                }
            }
            Ok(())
        })?;
        let mut lines = Vec::new();
        for counts in &all {
            if all.len() > 1 {
                lines.push(vec![String::new(), String::new(), shown(&counts.path)]);
            }
            let (most, others) = counts.most(MOST);
            let share = |count: u64| format!("{:.1} %", counts.share(count) * 100.0);
            for value in most {
                let text = shown(&value.text());
                lines.push(vec![value.count.to_string(), share(value.count), text]);
            }
            if others.values > 0 {
                let text = format!("({} more)", others.values);
                lines.push(vec![others.count.to_string(), share(others.count), text]);
            }
        }
        Ok(Table {
            header: vec!["count".into(), "share".into(), "value".into()],
            numbers: vec![0, 1],
            lines,
            end: None,
        })
    }

    fn pages(&self, path: &[String], row_group: usize, watch: &Watch<'_>) -> Result<Table> {
        let (_, leaves) = column_chunks::of_file(&self.file, &Self::chunks(path), &self.input)?;
        let mut table = Table {
            header: pages::HEADER
                .names
                .iter()
                .map(|name| (*name).into())
                .collect(),
            numbers: pages::HEADER.numbers.to_vec(),
            ..Table::default()
        };
        for leaf in leaves {
            let place = Place {
                file: &self.file,
                row_group,
                leaf,
            };
            let listed = pages::each(&self.input, &place, |ordinal, page| {
                table.lines.push(pages::cells(&place, ordinal, page));
                Ok((watch.is_wanted)())
            });
            if let Err(failure) = listed {
                table.end = Some(printable(&failure.to_string()));
            }
        }
        Ok(table)
    }

    /// Returns the row nearest to `from` that matches a condition.
    ///
    /// We read rows in blocks of growing size, so a nearby match is found right away. We check for
    /// cancellation after each block.
    fn nearest(
        &self,
        condition: &str,
        from: u64,
        is_forward: bool,
        watch: &Watch<'_>,
    ) -> Result<Option<u64>> {
        const SMALLEST: u64 = 1 << 13;
        const LARGEST: u64 = 1 << 20;
        let rows = self.rows_of_file();
        let all = if is_forward {
            rows.saturating_sub(from)
        } else {
            from
        };
        let condition: Condition = condition.parse().map_err(Failure::Usage)?;
        let schema = self.file.arrow_schema(&SchemaOptions::default()).ok();
        let predicate = condition.predicate(false, schema.as_deref());
        let predicate = predicate.map_err(Failure::Usage)?;
        let (mut at, mut size) = (from.min(rows), SMALLEST);
        loop {
            let block = match is_forward {
                true => at..at.saturating_add(size).min(rows),
                false => at.saturating_sub(size)..at,
            };
            if block.is_empty() || !(watch.is_wanted)() {
                return Ok(None);
            }
            at = if is_forward { block.end } else { block.start };
            let mut options = options()
                .projection(Projection::Leaves(Vec::new()))
                .virtual_column(VirtualColumn::row_number(ROW))
                .row_ranges(vec![block])
                .filter(predicate.clone());
            if is_forward {
                options = options.limit(1_u64);
            }
            let mut reader = self.read(options)?;
            let mut found = None;
            while let Some(batch) = self.next(&mut reader)? {
                let numbers = batch.column_by_name(ROW);
                let numbers = numbers.and_then(|numbers| numbers.as_primitive_opt::<Int64Type>());
                let last = numbers.and_then(|numbers| numbers.values().last().copied());
                found = last.or(found);
            }
            if let Some(row) = found {
                return Ok(u64::try_from(row).ok());
            }
            (watch.progress)(at.abs_diff(from), all);
            size = (size * 4).min(LARGEST);
        }
    }
}

/// Returns the common options of all reads, that is, the command's extension types.
fn options() -> ReadOptions {
    ReadOptions::new()
        .extension(Geospatial::new())
        .extension(VariantExtension::new().unshred(Default::default()))
}
