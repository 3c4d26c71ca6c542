//! `pages` lists page headers.

use herringbone::PageInfo;
use serde_json::Value;

use crate::args::{Chunks, ListFormat};
use crate::base::failure::{Failure, Result};
use crate::describe::bound::Bounds;
use crate::describe::{Object, list, page};
use crate::input::Input;
use crate::input::column_chunks::{self, Place};
use crate::input::context::Context;
use crate::output::Output;
use crate::output::progress::Progress;
use crate::render::table::shown;
use crate::render::table_or_jsonl::{self, Header, Listing};

/// The table's columns.
pub(crate) const HEADER: Header<'_> = Header {
    names: &[
        "row group",
        "column",
        "page",
        "offset",
        "type",
        "encoding",
        "values",
        "compressed",
        "uncompressed",
        "crc",
    ],
    keys: &[
        "row_group",
        "path",
        "page",
        "offset",
        "type",
        "encoding",
        "num_values",
        "compressed_size",
        "uncompressed_size",
        "crc",
    ],
    numbers: &[0, 2, 3, 6, 7, 8],
    spare: &[9, 3, 8],
};

/// The pages to list, and the output format.
pub(crate) struct Request<'a> {
    /// The column chunks.
    pub(crate) chunks: &'a Chunks,
    /// The format that the user asked for, if there is one.
    pub(crate) format: Option<ListFormat>,
}

/// Lists the pages of all chosen column chunks.
pub(crate) fn run(
    context: &Context,
    inputs: &[Input],
    request: &Request<'_>,
    output: &mut Output<'_>,
) -> Result<()> {
    table_or_jsonl::by_file(inputs, (request.format, HEADER), output, |input, list| {
        file(context, request.chunks, input, list)
    })
}

fn file(
    context: &Context,
    chunks: &Chunks,
    input: &Input,
    list: &mut Listing<'_, '_>,
) -> Result<()> {
    let file = input.open()?;
    let (row_groups, leaves) = column_chunks::of_file(&file, chunks, input)?;
    let total = row_groups.len().saturating_mul(leaves.len()) as u64;
    let mut progress = Progress::new(!context.quiet, total, "column chunks");
    column_chunks::each(&file, (&row_groups, &leaves), |place| {
        progress.add(1);
        context.after_damage(chunk(input, place, list))
    })
}

/// Lists a column chunk's pages, up to the first undecodable header.
fn chunk(input: &Input, place: &Place<'_>, list: &mut Listing<'_, '_>) -> Result<()> {
    each(input, place, |ordinal, page| {
        list.line(
            || cells(place, ordinal, page),
            || {
                json(&input.name, place, ordinal, page)
                    .map_err(|error| failure(input, place, error))
            },
        )?;
        Ok(true)
    })
}

/// Calls `take` with each page of one column chunk and its ordinal, until it returns false or a
/// header cannot be decoded.
pub(crate) fn each(
    input: &Input,
    place: &Place<'_>,
    mut take: impl FnMut(usize, &PageInfo) -> Result<bool>,
) -> Result<()> {
    let failure = |error| failure(input, place, error);
    let pages = place.file.pages(place.row_group, place.leaf);
    for (ordinal, page) in pages.map_err(failure)?.enumerate() {
        if !take(ordinal, &page.map_err(failure)?)? {
            break;
        }
    }
    Ok(())
}

fn failure(input: &Input, place: &Place<'_>, error: herringbone::Error) -> Failure {
    let error = error
        .in_row_group(place.row_group)
        .in_column(place.path().join("."));
    input.failure(&error)
}

fn json(
    file: &str,
    place: &Place<'_>,
    ordinal: usize,
    info: &PageInfo,
) -> herringbone::Result<Value> {
    let object = Object::new()
        .with("file", file)
        .with("row_group", place.row_group)
        .with("column", place.leaf)
        .with("path", list(place.path(), Value::from))
        .with("page", ordinal);
    let bounds = Bounds::of(place.file.parquet_schema(), place.leaf);
    page::page(object, &bounds, info, place.file.limits()).map(Into::into)
}

/// Returns a page's cells for the columns of [`HEADER`].
pub(crate) fn cells(place: &Place<'_>, ordinal: usize, info: &PageInfo) -> Vec<String> {
    let header = &info.header;
    let or_empty = |text: Option<String>| text.unwrap_or_default();
    vec![
        place.row_group.to_string(),
        shown(&place.path().join(".")),
        ordinal.to_string(),
        info.start.offset.to_string(),
        header.type_.to_string(),
        or_empty(header.encoding().map(|encoding| encoding.to_string())),
        or_empty(header.num_values().map(|values| values.to_string())),
        header.compressed_page_size.to_string(),
        header.uncompressed_page_size.to_string(),
        or_empty(header.crc.map(|crc| format!("{crc:08x}"))),
    ]
}
