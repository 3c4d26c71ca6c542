//! `pages`: the headers of pages.

use herringbone::schema::{Node, NodeKind, to_arrow};
use herringbone::{PageInfo, ParquetFile, Projection, SchemaOptions};
use serde_json::Value;

use crate::args::{Chunks, ListFormat, chosen};
use crate::context::Context;
use crate::describe::bound::Bounds;
use crate::describe::{Object, list, page};
use crate::failure::{Failure, Result};
use crate::input::Input;
use crate::output::Output;
use crate::progress::Progress;
use crate::render::printable::{json_line, printable};
use crate::render::table::{self, shown};

/// Pages of one table.
const BLOCK_PAGES: usize = 1000;
/// The columns of the table.
const HEADER: [&str; 10] = [
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
];

/// Those of them that hold numbers.
const NUMBERS: [usize; 6] = [0, 2, 3, 6, 7, 8];

/// What to list, and how.
pub(crate) struct Request<'a> {
    /// Of which column chunks.
    pub(crate) chunks: &'a Chunks,
    /// The format asked for.
    pub(crate) format: Option<ListFormat>,
}

/// Lists the pages of all chosen column chunks.
pub(crate) fn run(
    context: &Context,
    inputs: &[Input],
    request: &Request<'_>,
    output: &mut Output<'_>,
) -> Result<()> {
    let default = if output.is_terminal() {
        ListFormat::Table
    } else {
        ListFormat::Jsonl
    };
    let format = request.format.unwrap_or(default);
    for input in inputs {
        if format == ListFormat::Table && inputs.len() > 1 {
            output.line(&format!("{}:", printable(&input.name)))?;
        }
        let mut list = Listing {
            format,
            input,
            output,
            block: Vec::new(),
            begun: false,
        };
        file(context, request.chunks, &mut list)?;
        list.finish()?;
    }
    Ok(())
}

fn file(context: &Context, chunks: &Chunks, list: &mut Listing<'_, '_, '_>) -> Result<()> {
    let file = list.input.open()?;
    let count = file.metadata().num_row_groups();
    let row_groups = chosen(chunks.row_groups.as_ref(), count)
        .map_err(|failure| failure.in_file(&list.input.name))?;
    let leaves = leaves(&file, chunks.projection()).map_err(|error| list.input.failure(&error))?;
    let total = row_groups.len().saturating_mul(leaves.len()) as u64;
    let mut progress = Progress::new(!context.quiet, total, "column chunks");
    for &row_group in &row_groups {
        for &leaf in &leaves {
            let chunks = file.metadata().num_columns(row_group);
            if leaf >= chunks {
                let text = format!("row group {row_group} has {chunks} column chunks, too few");
                return Err(Failure::Data(text).in_file(&list.input.name));
            }
            let place = Place {
                file: &file,
                row_group,
                leaf,
            };
            let pages = file
                .pages(row_group, leaf)
                .map_err(|error| list.input.failure(&error))?;
            for (ordinal, page) in pages.enumerate() {
                let page = page.map_err(|error| {
                    let error = error
                        .in_row_group(row_group)
                        .in_column(place.path().join("."));
                    list.input.failure(&error)
                })?;
                list.page(&place, ordinal, &page)?;
            }
            progress.add(1);
        }
    }
    Ok(())
}

/// The ordinals of the chosen columns.
fn leaves(file: &ParquetFile, projection: Projection) -> herringbone::Result<Vec<usize>> {
    let schema = file.parquet_schema();
    if projection == Projection::All {
        return Ok((0..schema.leaves().len()).collect());
    }
    let key_values = file.metadata().key_value_metadata();
    let mapping = to_arrow(schema, key_values, &SchemaOptions::default())?.project(&projection)?;
    let mut leaves = Vec::new();
    mapping
        .fields
        .iter()
        .for_each(|node| collect(node, &mut leaves));
    Ok(leaves)
}

fn collect(node: &Node, leaves: &mut Vec<usize>) {
    match &node.kind {
        NodeKind::Leaf { leaf, .. } => leaves.push(*leaf),
        NodeKind::Struct(fields) => fields.iter().for_each(|field| collect(field, leaves)),
        NodeKind::List { child, .. } => collect(child, leaves),
        NodeKind::Map { entries, .. } => collect(entries, leaves),
    }
}

/// The column chunk of a page.
struct Place<'a> {
    file: &'a ParquetFile,
    row_group: usize,
    leaf: usize,
}

impl Place<'_> {
    fn path(&self) -> Vec<&str> {
        self.file.parquet_schema().path(self.leaf)
    }
}

/// Pages on their way to the output.
struct Listing<'a, 'o, 'w> {
    format: ListFormat,
    input: &'a Input,
    output: &'o mut Output<'w>,
    block: Vec<Vec<String>>,
    begun: bool,
}

impl Listing<'_, '_, '_> {
    fn page(&mut self, place: &Place<'_>, ordinal: usize, page: &PageInfo) -> Result<()> {
        match self.format {
            ListFormat::Jsonl => {
                let line = json(&self.input.name, place, ordinal, page)
                    .map_err(|error| self.input.failure(&error))?;
                self.output.line(&json_line(&line))
            }
            ListFormat::Table => {
                self.block.push(cells(place, ordinal, page));
                if self.block.len() == BLOCK_PAGES {
                    self.print()?;
                }
                Ok(())
            }
        }
    }

    fn finish(mut self) -> Result<()> {
        if self.format == ListFormat::Table && (!self.begun || !self.block.is_empty()) {
            self.print()?;
        }
        Ok(())
    }

    fn print(&mut self) -> Result<()> {
        let names = HEADER.into_iter().map(String::from);
        let mut table = table::new(names, self.output.width());
        table.add_rows(self.block.drain(..));
        table::align(&mut table, NUMBERS);
        self.begun = true;
        self.output.line(&table.trim_fmt())
    }
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

fn cells(place: &Place<'_>, ordinal: usize, info: &PageInfo) -> Vec<String> {
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
