//! `split` writes rows to several files.

mod pattern;

use std::collections::HashSet;
use std::sync::Arc;

use herringbone::WriteOptions;
use herringbone_arrow::array::{ArrayRef, RecordBatch};
use herringbone_arrow::row::{OwnedRow, RowConverter, SortField};
use herringbone_arrow::schema::{ArrowError, Field, SchemaRef};
use herringbone_interchange::read::Work;
use herringbone_interchange::write::value;
use herringbone_rewrite::encryption::Protection;
use serde_json::{Map, Value};

use crate::args::{Split, SplitBy};
use crate::base::failure::{Failure, Result};
use crate::base::plural::counted;
use crate::base::printable::json_line;
use crate::base::url::name_of;
use crate::describe::Object;
use crate::encryption::encrypted_leaves;
use crate::input::context::Context;
use crate::input::import::Import;
use crate::input::{self, Input, Opening};
use crate::output::Output;
use crate::profile::one_per_number;
use crate::rows::{
    Request, Rows, Shape, Source, Window, arranged, row_groups, schema_of_sorted, sorted, survey,
    windowed,
};
use crate::save;
use crate::save::carry_over;
use crate::save::parts::Parts;

use pattern::{NULL, Pattern, escaped};

/// Splits the rows, and writes the parts.
pub(crate) fn run(context: &Context, split: &Split, output: &mut Output<'_>) -> Result<()> {
    let by = split.by()?;
    let pattern = Pattern::new(&split.output, &by)?;
    let opening = Opening {
        wanted: Some(&split.rewriting.choice.wanted),
        import: Some(Import::of(
            context,
            &split.other_files,
            Some(&split.rewriting.damage),
        )?),
        ..Opening::default()
    };
    let inputs = input::tables(&split.files.files, &opening, context)?;
    let choice = &split.rewriting.choice;
    let options = split.rewriting.read_options();
    let mut request = Request::new(&inputs, options, choice, split.merge.choice())?;
    request.is_written = true;
    let window = Window::of(&choice.part);
    request.choose_int96_unit(&inputs, window)?;
    let Some((schema, _)) = survey(&inputs, &mut request)? else {
        return Ok(());
    };
    request.choose_sample(context, &inputs)?;
    let shape = Shape::new(request.columns, &schema)?;
    let unsorted = schema_of_sorted(shape.schema(), request.sort);
    let origins = shape.renamed();
    if let (SplitBy::Columns(columns), false) = (&by, split.plaintext_names) {
        for column in columns {
            check_names(&inputs, shape.path_of(column).unwrap_or_default())?;
        }
    }
    let sort = match &by {
        SplitBy::Columns(columns) => Some(choice.sort.after(columns)),
        SplitBy::Rows(_) | SplitBy::Bytes(_) => None,
    };
    let all = schema_of_sorted(&unsorted, sort.as_ref());
    let rule = Rule::new(&by, &all, &inputs)?;
    let (rows, _) = arranged(context, &inputs, &request, shape, window)?;
    let rows = match &sort {
        Some(sort) => sorted(windowed(rows, Window::default()), &unsorted, sort)?,
        None => rows,
    };
    let kept_columns = kept_columns(&all, &rule, &pattern);
    let schema = match &kept_columns {
        Some(columns) => Arc::new(all.project(columns).map_err(|error| failed(&error))?),
        None => all,
    };
    let cutter = Cutter::new(rows, rule, kept_columns);
    let mut kept = carry_over::start(&split.rewriting.write, Protection::Keep, origins);
    for input in &inputs {
        let file = input.open()?;
        if !input.is_parquet() {
            continue;
        }
        let row_groups = row_groups(input, &file, &request)?;
        carry_over::add(&mut kept, input, &file, &row_groups)?;
    }
    let mut options = split.rewriting.write_options();
    let first = inputs
        .first()
        .ok_or_else(|| Failure::Usage("no file is named".into()))?;
    let place = (first, &split.destination(pattern.path(&[])));
    let (schema, material) = carry_over::apply(context, kept, &schema, place, &mut options)?;
    if material.is_some() {
        let message = "the key material of the file is in a file next to it, and cannot be split";
        return Err(Failure::Usage(message.into()));
    }
    let parts = Parts::new(inputs.iter().filter_map(Input::path));
    write(
        context,
        (split, &pattern, parts),
        (&schema, &options),
        cutter,
        output,
    )
}

/// Refuses encrypted columns whose values go into file names, because the names would reveal them.
///
/// # Errors
/// Fails with [`Failure::Data`] if it is encrypted.
fn check_names(inputs: &[Input], path: &[String]) -> Result<()> {
    for input in inputs {
        let leaves = encrypted_leaves(&input.open()?).map_err(|error| input.failure(&error))?;
        if !path.is_empty() && leaves.iter().any(|leaf| leaf.starts_with(path)) {
            return Err(Failure::Data(format!(
                "{}: the column `{}` is encrypted, but the names of the parts would have its values in plaintext; \
                 --plaintext-names allows that",
                input.name,
                path.join(".")
            )));
        }
    }
    Ok(())
}

/// Writes the parts, and reports them once all of them are complete.
fn write(
    context: &Context,
    (split, pattern, mut files): (&Split, &Pattern, Parts),
    (schema, options): (&SchemaRef, &WriteOptions),
    mut cutter: Cutter<'_>,
    output: &mut Output<'_>,
) -> Result<()> {
    let (mut parts, mut paths) = (0_u64, HashSet::new());
    let mut lines = Vec::new();
    while let Some(part) = cutter.start()? {
        let before = cutter.rows_taken;
        let (value, names) = match part {
            Some(part) => (Some(part.value), part.names),
            None => (None, vec![format!("{parts:05}")]),
        };
        let destination = split.destination(pattern.path(&names));
        if !paths.insert(destination.path.clone()) {
            return Err(Failure::Data(format!(
                "--output: several values have the path {}; leave all but one of them out with --where",
                name_of(&destination.path)
            )));
        }
        let target = files.start(&destination)?;
        let rows = Rows {
            schema: schema.clone(),
            batches: Box::new(&mut cutter),
            work: Work::Unknown,
        };
        save::parquet_to(context, (&destination, target), options.clone(), rows)?;
        parts += 1;
        if split.json.json {
            let object = Object::new()
                .with("file", name_of(&destination.path))
                .some("value", value)
                .with("num_rows", cutter.rows_taken - before);
            lines.push(json_line(&object.into()));
        }
    }
    files.publish()?;
    lines.iter().try_for_each(|line| output.line(line))?;
    if !split.json.json {
        context.note(&format!(
            "{} in {}",
            counted(i128::from(cutter.rows_taken), "row"),
            counted(i128::from(parts), "file")
        ));
    }
    Ok(())
}

/// Returns the parts' columns, or `None` for all of them. Columns already in the path are left out.
fn kept_columns(schema: &SchemaRef, rule: &Rule, pattern: &Pattern) -> Option<Vec<usize>> {
    let Rule::Values(by, _) = rule else {
        return None;
    };
    let named: Vec<usize> = by
        .iter()
        .zip(&pattern.names_columns)
        .filter_map(|(at, is_named)| is_named.then_some(*at))
        .collect();
    let all = 0..schema.fields().len();
    (!named.is_empty()).then(|| all.filter(|at| !named.contains(at)).collect())
}

fn failed(error: &ArrowError) -> Failure {
    Failure::Data(error.to_string())
}

/// The rule for where to cut.
enum Rule {
    /// The part has this many rows.
    Rows(u64),
    /// A part ends when the value changes in one of these columns.
    Values(Vec<usize>, Box<RowConverter>),
}

impl Rule {
    fn new(by: &SplitBy, schema: &SchemaRef, inputs: &[Input]) -> Result<Self> {
        match by {
            SplitBy::Rows(rows) => Ok(Self::Rows(*rows)),
            SplitBy::Bytes(bytes) => {
                let (mut rows, mut size) = (0_u128, 0_u128);
                for input in inputs {
                    rows += u128::from(input.open()?.metadata().num_rows_of_row_groups());
                    size += u128::from(input.size);
                }
                let rows = rows * *bytes as u128 / size.max(1);
                Ok(Self::Rows(u64::try_from(rows).unwrap_or(u64::MAX).max(1)))
            }
            SplitBy::Columns(names) => {
                let (mut places, mut fields) = (Vec::new(), Vec::new());
                for name in names {
                    let (at, field) = schema.fields().find(name).ok_or_else(|| {
                        Failure::Usage(format!("--by: there is no column `{name}` in the output"))
                    })?;
                    if field.data_type().is_nested() {
                        return Err(Failure::Usage(format!(
                            "--by: `{name}` is not a column of single values; take a field with a name of its \
                             own, as in -c '*, zip=addr.zip'"
                        )));
                    }
                    places.push(at);
                    fields.push(SortField::new(field.data_type().clone()));
                }
                let order = RowConverter::new(fields).map_err(|error| failed(&error))?;
                Ok(Self::Values(places, Box::new(order)))
            }
        }
    }
}

/// Cuts rows into parts. The iterator yields the rows of the current part only.
struct Cutter<'a> {
    source: Source<'a>,
    rule: Rule,
    /// The parts' columns, or `None` for all of them.
    kept_columns: Option<Vec<usize>>,
    /// Rows not yet assigned to a part.
    pending: Option<RecordBatch>,
    /// The number of rows left in the current part.
    left: u64,
    /// The values of the current part, one per column of `--by`.
    values: Option<OwnedRow>,
    rows_taken: u64,
}

impl<'a> Cutter<'a> {
    fn new(source: Source<'a>, rule: Rule, kept_columns: Option<Vec<usize>>) -> Self {
        Self {
            source,
            rule,
            kept_columns,
            pending: None,
            left: 0,
            values: None,
            rows_taken: 0,
        }
    }

    /// Reads until there are pending rows. Returns true at the end.
    fn is_at_end(&mut self) -> Result<bool> {
        while self
            .pending
            .as_ref()
            .is_none_or(|batch| batch.num_rows() == 0)
        {
            match self.source.next() {
                Some(batch) => self.pending = Some(batch?),
                None => return Ok(true),
            }
        }
        Ok(false)
    }

    /// Starts the next part, if there are more rows. Returns the part's values, or an inner `None`
    /// for numbered parts.
    fn start(&mut self) -> Result<Option<Option<Part>>> {
        if self.is_at_end()? {
            return Ok(None);
        }
        let (Rule::Values(places, order), Some(batch)) = (&self.rule, &self.pending) else {
            if let Rule::Rows(rows) = &self.rule {
                self.left = *rows;
            }
            return Ok(Some(None));
        };
        let first = batch.slice(0, 1);
        let arrays = values(&first, places)?;
        let rows = order
            .convert_columns(&arrays)
            .map_err(|error| failed(&error))?;
        self.values = Some(rows.row(0).owned());
        let schema = batch.schema();
        let fields = places.iter().map(|at| schema.field(*at));
        Ok(Some(Some(Part::of(fields.zip(&arrays))?)))
    }

    /// Returns how many of the pending rows belong to the current part.
    fn matching(&self, batch: &RecordBatch) -> Result<usize> {
        let (Rule::Values(places, order), Some(current)) = (&self.rule, &self.values) else {
            let left = usize::try_from(self.left).unwrap_or(usize::MAX);
            return Ok(left.min(batch.num_rows()));
        };
        let rows = order
            .convert_columns(&values(batch, places)?)
            .map_err(|error| failed(&error))?;
        Ok(rows.iter().take_while(|row| *row == current.row()).count())
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.is_at_end()? {
            return Ok(None);
        }
        let Some(batch) = self.pending.take() else {
            return Ok(None);
        };
        let rows = self.matching(&batch)?;
        self.pending = Some(batch.slice(rows, batch.num_rows() - rows));
        if rows == 0 {
            return Ok(None);
        }
        self.left = self.left.saturating_sub(rows as u64);
        self.rows_taken += rows as u64;
        let batch = batch.slice(0, rows);
        match &self.kept_columns {
            Some(columns) => batch.project(columns).map_err(|error| failed(&error)),
            None => Ok(batch),
        }
        .map(Some)
    }
}

impl Iterator for Cutter<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

/// Returns the columns' values, treating -0 and 0 as equal, and likewise all NaNs.
fn values(batch: &RecordBatch, places: &[usize]) -> Result<Vec<ArrayRef>> {
    let missing = || Failure::Data("a column is missing in a batch".into());
    let column = |at: &usize| batch.columns().get(*at).map(one_per_number);
    places
        .iter()
        .map(|at| column(at).ok_or_else(missing))
        .collect()
}

/// The common values of a part's rows in the columns of `--by`.
struct Part {
    /// The value in JSON. Values of several columns are an object.
    value: Value,
    /// The text of each value in paths.
    names: Vec<String>,
}

impl Part {
    /// Creates a part from the first value of each column.
    fn of<'a>(columns: impl Iterator<Item = (&'a Field, &'a ArrayRef)>) -> Result<Self> {
        let (mut object, mut names) = (Map::new(), Vec::new());
        for (field, array) in columns {
            let values = value::of(field, array)?;
            let mut json = String::new();
            values.json(0, &mut json);
            let json =
                serde_json::from_str(&json).map_err(|error| Failure::Data(error.to_string()))?;
            object.insert(field.name().clone(), json);
            let mut text = String::new();
            names.push(match values.is_null(0) {
                true => NULL.into(),
                false => {
                    values.text(0, &mut text);
                    escaped(&text)
                }
            });
        }
        let value = match object.len() {
            1 => object
                .into_iter()
                .next()
                .map_or(Value::Null, |(_, json)| json),
            _ => Value::Object(object),
        };
        Ok(Self { value, names })
    }
}
