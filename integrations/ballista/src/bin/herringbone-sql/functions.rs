//! The table functions `parquet_metadata` and `parquet_pages`, which list a local file's column
//! chunks and pages.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Builder, RecordBatch, StringArray, StringBuilder};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::catalog::{MemTable, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{DataFusionError, Result, ScalarValue, plan_datafusion_err};
use datafusion::logical_expr::Expr;
use datafusion::prelude::SessionContext;
use herringbone_ballista::herringbone_datafusion::herringbone::format::ColumnMetaData;
use herringbone_ballista::herringbone_datafusion::herringbone::pruning::ColumnBounds;
use herringbone_ballista::herringbone_datafusion::herringbone::{Error, ParquetFile};

/// Adds the functions to a session.
pub(crate) fn register(session: &SessionContext) {
    let functions: [(&'static str, Rows); 2] =
        [("parquet_metadata", chunks), ("parquet_pages", pages)];
    for (name, rows) in functions {
        session.register_udtf(name, Arc::new(FileFunction { name, rows }));
    }
}

/// The function that appends a file's rows to a table.
type Rows = fn(&ParquetFile, &mut Table) -> Result<()>;

/// A table function that takes a file's path.
#[derive(Debug)]
struct FileFunction {
    name: &'static str,
    rows: Rows,
}

impl TableFunctionImpl for FileFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let path = match args.exprs() {
            [Expr::Literal(ScalarValue::Utf8(Some(path)), _)] => path.as_str(),
            // The path may also be a name in double quotes.
            [Expr::Column(column)] => column.name.as_str(),
            _ => {
                let name = self.name;
                return Err(plan_datafusion_err!("call {name}('FILE') with one path"));
            }
        };
        let file = ParquetFile::open(path).map_err(from_library)?;
        let mut table = Table::default();
        (self.rows)(&file, &mut table)?;
        let batch = table.finish(path)?;
        Ok(Arc::new(MemTable::try_new(
            batch.schema(),
            vec![vec![batch]],
        )?))
    }
}

fn from_library(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// A function's rows, column by column.
#[derive(Debug, Default)]
struct Table {
    rows: usize,
    columns: Vec<(&'static str, Cells)>,
    /// The number of columns that the current row has so far.
    cells: usize,
}

#[derive(Debug)]
enum Cells {
    Numbers(Int64Builder),
    Texts(StringBuilder),
}

impl Table {
    fn number(&mut self, name: &'static str, value: impl Into<Option<i64>>) {
        let new = || Cells::Numbers(Int64Builder::new());
        if let Cells::Numbers(cells) = self.next(name, new) {
            cells.append_option(value.into());
        }
    }

    fn count(&mut self, name: &'static str, value: u64) {
        self.number(name, i64::try_from(value).ok());
    }

    fn text(&mut self, name: &'static str, value: Option<String>) {
        let new = || Cells::Texts(StringBuilder::new());
        if let Cells::Texts(cells) = self.next(name, new) {
            cells.append_option(value);
        }
    }

    /// Returns the next column of the current row and creates it if this is the first row.
    fn next(&mut self, name: &'static str, new: fn() -> Cells) -> &mut Cells {
        if self.cells == self.columns.len() {
            self.columns.push((name, new()));
        }
        self.cells += 1;
        let column = self.cells - 1;
        #[allow(clippy::indexing_slicing, reason = "the column was added above")]
        &mut self.columns[column].1
    }

    fn end_row(&mut self) {
        self.rows += 1;
        self.cells = 0;
    }

    fn finish(self, path: &str) -> Result<RecordBatch, ArrowError> {
        let paths: ArrayRef = Arc::new(StringArray::from(vec![path; self.rows]));
        let columns = self.columns.into_iter().map(|(name, cells)| {
            let array: ArrayRef = match cells {
                Cells::Numbers(mut cells) => Arc::new(cells.finish()),
                Cells::Texts(mut cells) => Arc::new(cells.finish()),
            };
            (name, array)
        });
        RecordBatch::try_from_iter([("filename", paths)].into_iter().chain(columns))
    }
}

/// Calls `row` for each column chunk, with its row group, its leaf and its metadata.
fn each_chunk(
    file: &ParquetFile,
    mut row: impl FnMut(usize, usize, &ColumnMetaData) -> Result<()>,
) -> Result<()> {
    let metadata = file.metadata();
    for row_group in 0..metadata.num_row_groups() {
        for leaf in 0..file.parquet_schema().leaves().len() {
            let chunk = metadata.column_chunk(row_group, leaf);
            if let Some(chunk) = chunk.map_err(from_library)?.meta_data {
                row(row_group, leaf, &chunk)?;
            }
        }
    }
    Ok(())
}

/// Lists the column chunks, with the columns that the function of `datafusion-cli` has.
fn chunks(file: &ParquetFile, table: &mut Table) -> Result<()> {
    let leaves = 0..file.parquet_schema().leaves().len();
    // If a column's bounds cannot be decoded, it has none.
    let bounds: Vec<Option<ColumnBounds>> = leaves
        .map(|leaf| file.row_group_bounds(leaf).ok())
        .collect();
    let metadata = file.metadata();
    each_chunk(file, |row_group, leaf, chunk| {
        let header = metadata.row_group_header(row_group).map_err(from_library)?;
        let bounds = bounds.get(leaf).and_then(Option::as_ref);
        let bound = |of: fn(&ColumnBounds) -> &ArrayRef| {
            let array = of(bounds?);
            let is_known = row_group < array.len() && array.is_valid(row_group);
            is_known.then(|| array_value_to_string(array, row_group).ok())?
        };
        let statistics = chunk.statistics.as_ref();
        table.count("row_group_id", row_group as u64);
        table.number("row_group_num_rows", header.num_rows);
        table.count(
            "row_group_num_columns",
            metadata.num_columns(row_group) as u64,
        );
        table.number("row_group_bytes", header.total_byte_size);
        table.count("column_id", leaf as u64);
        table.number("num_values", chunk.num_values);
        table.text("path_in_schema", Some(chunk.path_in_schema.join(".")));
        table.text("type", Some(chunk.type_.to_string()));
        table.text("stats_min_value", bound(|bounds| &bounds.min));
        table.text("stats_max_value", bound(|bounds| &bounds.max));
        table.number("stats_null_count", statistics.and_then(|it| it.null_count));
        table.number(
            "stats_distinct_count",
            statistics.and_then(|it| it.distinct_count),
        );
        table.text("compression", Some(chunk.codec.to_string()));
        let encodings = chunk.encodings.iter().map(ToString::to_string);
        table.text("encodings", Some(encodings.collect::<Vec<_>>().join(", ")));
        table.number("index_page_offset", chunk.index_page_offset);
        table.number("dictionary_page_offset", chunk.dictionary_page_offset);
        table.number("data_page_offset", chunk.data_page_offset);
        table.number("total_compressed_size", chunk.total_compressed_size);
        table.number("total_uncompressed_size", chunk.total_uncompressed_size);
        table.end_row();
        Ok(())
    })
}

/// Lists the page headers.
fn pages(file: &ParquetFile, table: &mut Table) -> Result<()> {
    each_chunk(file, |row_group, leaf, chunk| {
        let pages = file.pages(row_group, leaf).map_err(from_library)?;
        for (ordinal, page) in pages.enumerate() {
            let page = page.map_err(from_library)?;
            table.count("row_group_id", row_group as u64);
            table.count("column_id", leaf as u64);
            table.text("path_in_schema", Some(chunk.path_in_schema.join(".")));
            table.count("page_id", ordinal as u64);
            table.text("page_type", Some(page.header.type_.to_string()));
            table.count("page_offset", page.start.offset);
            table.count("header_bytes", page.header_bytes as u64);
            table.count("compressed_size", page.body_bytes);
            table.number(
                "uncompressed_size",
                i64::from(page.header.uncompressed_page_size),
            );
            table.end_row();
        }
        Ok(())
    })
}
