//! `pages --bounds` lists what page indexes contain.

use herringbone::format::OffsetIndex;

use super::chunk_stats::{Texts, object};
use super::pages::Request;
use crate::args::Chunks;
use crate::base::failure::Result;
use crate::input::Input;
use crate::input::column_chunks::{self, Place};
use crate::input::context::Context;
use crate::output::Output;
use crate::render::table::shown;
use crate::render::table_or_jsonl::{self, Header, Listing};

/// The table's columns.
const HEADER: Header<'_> = Header {
    names: &[
        "row group",
        "column",
        "page",
        "first row",
        "offset",
        "compressed",
        "rows",
        "nulls",
        "NaNs",
        "min",
        "max",
    ],
    keys: &[
        "row_group",
        "path",
        "page",
        "first_row",
        "offset",
        "compressed_size",
        "num_rows",
        "null_count",
        "nan_count",
        "min",
        "max",
    ],
    numbers: &[0, 2, 3, 4, 5, 6, 7, 8],
    spare: &[4, 8, 5, 3],
};

/// Lists the pages in the chosen column chunks' indexes.
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
    let mut without = 0u64;
    column_chunks::each(&file, (&row_groups, &leaves), |place| {
        let listed = chunk(input, place, list);
        context.after_damage(listed.map(|has_both| without += u64::from(!has_both)))
    })?;
    if without > 0 {
        let chunks = row_groups.len() * leaves.len();
        context.note(&format!(
            "{}: {without} of {chunks} column chunks lack a column index or offset index",
            input.name
        ));
    }
    Ok(())
}

/// Lists the pages of one column chunk. Returns false if a column index or offset index is missing,
/// so that there is nothing to list.
fn chunk(input: &Input, place: &Place<'_>, list: &mut Listing<'_, '_>) -> Result<bool> {
    let Place {
        file,
        row_group,
        leaf,
    } = *place;
    let failure = |error: herringbone::Error| input.failure(&error);
    let bounds = file.page_bounds(row_group, leaf).map_err(failure)?;
    let offsets = file.offset_index(row_group, leaf).map_err(failure)?;
    let Some((bounds, offsets)) = bounds.zip(offsets) else {
        return Ok(false);
    };
    let texts = Texts::of(&place.value_field().map_err(failure)?, &bounds)?;
    let OffsetIndex { page_locations, .. } = &offsets;
    for (ordinal, page) in page_locations.iter().enumerate() {
        let first = page.first_row_index;
        list.line(
            || {
                let mut cells = vec![row_group.to_string(), shown(&place.path().join("."))];
                cells.extend([
                    ordinal.to_string(),
                    first.to_string(),
                    page.offset.to_string(),
                    page.compressed_page_size.to_string(),
                ]);
                cells.extend(texts.cells(ordinal));
                cells
            },
            || {
                let object = object(&input.name, place)
                    .with("page", ordinal)
                    .with("first_row", first)
                    .with("offset", page.offset)
                    .with("compressed_size", page.compressed_page_size);
                Ok(texts.json(object, ordinal).into())
            },
        )?;
    }
    Ok(true)
}
