//! `stats --by row-group` prints column chunks' usable bounds and counts.

use herringbone::pruning::{ColumnBounds, ColumnBoundsDecoder};
use herringbone_arrow::array::{Array, ArrayRef, BooleanArray, UInt64Array};
use herringbone_arrow::schema::Field;
use herringbone_interchange::write::value;
use serde_json::Value;

use crate::args::{Chunks, ListFormat};
use crate::base::failure::Result;
use crate::describe::{Object, list};
use crate::input::Input;
use crate::input::column_chunks::{self, Place};
use crate::input::context::Context;
use crate::output::Output;
use crate::render::table::shown;
use crate::render::table_or_jsonl::{self, Header, Listing};

/// The table's columns.
const HEADER: Header<'_> = Header {
    names: &["row group", "column", "rows", "nulls", "NaNs", "min", "max"],
    keys: &[
        "row_group",
        "path",
        "num_rows",
        "null_count",
        "nan_count",
        "min",
        "max",
    ],
    numbers: &[0, 2, 3, 4],
    spare: &[4, 2],
};

/// Lists the chosen column chunks of all files.
pub(crate) fn run(
    context: &Context,
    inputs: &[Input],
    chunks: &Chunks,
    format: Option<ListFormat>,
    output: &mut Output<'_>,
) -> Result<()> {
    table_or_jsonl::by_file(inputs, (format, HEADER), output, |input, list| {
        file(context, input, chunks, list)
    })
}

fn file(
    context: &Context,
    input: &Input,
    chunks: &Chunks,
    list: &mut Listing<'_, '_>,
) -> Result<()> {
    let file = input.open()?;
    let (row_groups, leaves) = column_chunks::of_file(&file, chunks, input)?;
    column_chunks::each(&file, (&row_groups, &leaves), |place| {
        context.after_damage(chunk(input, place, list))
    })
}

/// Lists one column chunk.
fn chunk(input: &Input, place: &Place<'_>, list: &mut Listing<'_, '_>) -> Result<()> {
    let failure = |error: herringbone::Error| input.failure(&error);
    let (file, row_group) = (place.file, place.row_group);
    let metadata = file.metadata();
    let decoder = ColumnBoundsDecoder::new(metadata, file.parquet_schema(), place.leaf);
    let bounds = decoder.and_then(|decoder| decoder.row_groups(metadata, [row_group]));
    let bounds = bounds.map_err(failure)?;
    let texts = Texts::of(&place.value_field().map_err(failure)?, &bounds)?;
    list.line(
        || {
            [
                vec![row_group.to_string(), shown(&place.path().join("."))],
                texts.cells(0),
            ]
            .concat()
        },
        || Ok(texts.json(object(&input.name, place), 0).into()),
    )
}

/// Returns an object that identifies a column chunk.
pub(super) fn object(file: &str, place: &Place<'_>) -> Object {
    Object::new()
        .with("file", file)
        .with("row_group", place.row_group)
        .with("column", place.leaf)
        .with("path", list(place.path(), Value::from))
}

/// Bounds and counts, as text and as JSON.
pub(super) struct Texts<'a> {
    bounds: &'a ColumnBounds,
    min: Vec<Bound>,
    max: Vec<Bound>,
}

/// A bound as text and as JSON, if there is one.
type Bound = Option<(String, Value)>;

impl<'a> Texts<'a> {
    /// Converts bounds to text, in the form of `field`'s values.
    ///
    /// # Errors
    /// Fails if values of the type cannot be written as text.
    pub(super) fn of(field: &Field, bounds: &'a ColumnBounds) -> Result<Self> {
        Ok(Self {
            min: texts(field, &bounds.min)?,
            max: texts(field, &bounds.max)?,
            bounds,
        })
    }

    /// Returns cells for the row, null and NaN counts and the bounds. Unknown values are empty.
    pub(super) fn cells(&self, at: usize) -> Vec<String> {
        let number = |counts: &UInt64Array| {
            number(counts, at).map_or_else(String::new, |number| number.to_string())
        };
        let text = |bounds: &[Bound]| match bounds.get(at) {
            Some(Some((text, _))) => shown(text),
            _ => String::new(),
        };
        vec![
            number(&self.bounds.row_counts),
            number(&self.bounds.null_counts),
            number(&self.bounds.nan_counts),
            text(&self.min),
            text(&self.max),
        ]
    }

    /// Adds the row, null and NaN counts and the bounds to an object. Unknown values are left out.
    pub(super) fn json(&self, object: Object, at: usize) -> Object {
        let value = |bounds: &[Bound]| bounds.get(at)?.as_ref().map(|(_, value)| value.clone());
        let flag = |flags: &BooleanArray| flags.is_valid(at).then(|| flags.value(at));
        object
            .some("num_rows", number(&self.bounds.row_counts, at))
            .some("null_count", number(&self.bounds.null_counts, at))
            .some("nan_count", number(&self.bounds.nan_counts, at))
            .some("min", value(&self.min))
            .some("max", value(&self.max))
            .some("is_min_exact", flag(&self.bounds.is_min_exact))
            .some("is_max_exact", flag(&self.bounds.is_max_exact))
    }
}

fn number(counts: &UInt64Array, at: usize) -> Option<u64> {
    counts.is_valid(at).then(|| counts.value(at))
}

/// Converts each bound to text and to JSON.
fn texts(field: &Field, bounds: &ArrayRef) -> Result<Vec<Bound>> {
    let values = value::of(field, bounds)?;
    let text = |at: usize| {
        let (mut text, mut json) = (String::new(), String::new());
        values.text(at, &mut text);
        values.json(at, &mut json);
        Some((text, serde_json::from_str(&json).ok()?))
    };
    let bound = |at| bounds.is_valid(at).then(|| text(at)).flatten();
    Ok((0..bounds.len()).map(bound).collect())
}
