//! Gathers the facts for a report about a file.

use std::collections::BTreeSet;

use herringbone::format::{ColumnMetaData, LogicalType, Type};
use herringbone::pruning::ColumnBounds;
use herringbone::{ParquetFile, Projection, ReadOptions, SchemaOptions};
use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{Array as _, ArrayRef};
use herringbone_arrow::row::{RowConverter, SortField};
use herringbone_arrow::schema::Field;
use herringbone_inspect::verify::{Severity, Verify};
use herringbone_interchange::write::value;
use herringbone_schema::ColumnOrderKind;

use crate::base::failure::Result;
use crate::base::type_name::type_name;
use crate::describe::chunk::dictionary_pages;
use crate::describe::nulls;
use crate::describe::schema::type_of;
use crate::input::Input;
use crate::input::column_chunks::Place;
use crate::input::context::Context;
use crate::output::progress::Progress;
use crate::render::table::cell_text;

/// The maximum number of pages shown with bounds.
pub(super) const PAGES: usize = 20_000;

/// The maximum number of `verify`'s findings in a report.
const FAULTS: usize = 200;

/// The maximum number of column chunks reported with bounds.
const BOUNDS: usize = 100_000;

/// The facts about a file.
pub(crate) struct Facts {
    pub(crate) name: String,
    pub(super) size: u64,
    pub(super) created_by: Option<String>,
    pub(super) version: i32,
    pub(super) footer: u64,
    pub(super) groups: Vec<Group>,
    pub(super) columns: Vec<Column>,
    pub(super) schema: String,
    /// The metadata keys, with the byte counts of their values.
    pub(super) keys: Vec<(String, usize)>,
    /// The findings of `verify`, up to a limit.
    pub(super) faults: Vec<String>,
    pub(super) more_faults: usize,
    /// The number of errors that `verify` found.
    pub(crate) errors: u64,
    /// The number of warnings that `verify` found.
    pub(crate) warnings: u64,
    /// The number of pages without a checksum and the total.
    pub(super) unchecked_pages: (u64, u64),
    /// True to keep the file's values out of the report.
    pub(super) hides_values: bool,
    /// True if all bytes were read and verified.
    pub(super) is_verified: bool,
}

/// A row group.
#[derive(Default)]
pub(super) struct Group {
    pub(super) rows: u64,
    pub(super) compressed: u64,
    pub(super) sorted_by: Vec<String>,
}

/// A leaf, with sums over all row groups.
#[derive(Default)]
pub(super) struct Column {
    pub(super) path: String,
    /// The parts of the path.
    pub(super) names: Vec<String>,
    pub(super) type_: String,
    /// True if the values have an order. Otherwise, bounds don't help.
    pub(super) has_order: bool,
    pub(super) is_int96: bool,
    /// True if every value is text in digits that would round-trip through a BIGINT.
    pub(super) is_digits: bool,
    pub(super) is_in_list: bool,
    pub(super) codecs: BTreeSet<String>,
    pub(super) encodings: BTreeSet<String>,
    pub(super) values: Option<u64>,
    pub(super) nulls: Option<u64>,
    pub(super) uncompressed: u64,
    pub(super) dictionary: u64,
    pub(super) data: u64,
    pub(super) index: u64,
    pub(super) bloom: u64,
    /// The number of data pages, in total and with dictionary keys.
    pub(super) pages: Option<(u64, u64)>,
    pub(super) chunks: u64,
    pub(super) chunks_with_index: u64,
    pub(super) chunks_with_bounds: u64,
    pub(super) min: Option<String>,
    pub(super) max: Option<String>,
    /// True if there are several pages with ascending bounds that don't overlap.
    pub(super) ascends: bool,
    /// The bounds of each row group.
    pub(super) bounds: Vec<(Option<String>, Option<String>)>,
    pub(super) boxes: Vec<PageBox>,
}

impl Column {
    /// Returns the column's total size in the file, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.dictionary + self.data + self.index + self.bloom
    }
}

/// A page with its position along the file's rows.
pub(super) struct PageBox {
    pub(super) first_row: u64,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) nulls: Option<u64>,
    pub(super) min: Option<String>,
    pub(super) max: Option<String>,
    /// The share of the column's range covered by the page's bounds, if known.
    pub(super) span: Option<f64>,
}

impl Facts {
    /// Gathers the facts about a command's file. This decodes the whole file, because it runs
    /// `verify`.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub(crate) fn of(context: &Context, input: &Input, hides_values: bool) -> Result<Self> {
        let file = input.open()?;
        let facts = Self::of_metadata(&input.name, &file, hides_values);
        let mut facts = facts.map_err(|error| input.failure(&error))?;
        // Text that was imported has another size than its rows in Parquet.
        facts.size = input.size;
        let mut progress = Progress::of_check(!context.quiet, &file, input.size);
        let verified = facts.verify(&file, herringbone_inspect::verify(&file), |chunks| {
            progress.advance_to(chunks);
        });
        verified.map_err(|error| input.failure(&error))?;
        Ok(facts)
    }

    /// Gathers the facts in a file's metadata and page indexes.
    ///
    /// # Errors
    /// Fails if the metadata cannot be used.
    pub(crate) fn of_metadata(
        name: &str,
        file: &ParquetFile,
        hides_values: bool,
    ) -> herringbone::Result<Self> {
        let metadata = file.metadata();
        let mut facts = Self {
            name: name.to_owned(),
            size: file.source().len(),
            created_by: metadata.created_by().map(str::to_owned),
            version: metadata.version(),
            footer: metadata.encoded_len() as u64,
            groups: Vec::new(),
            columns: Vec::new(),
            schema: file.parquet_schema().to_string(),
            keys: Vec::new(),
            faults: Vec::new(),
            more_faults: 0,
            errors: 0,
            warnings: 0,
            unchecked_pages: (0, 0),
            hides_values,
            is_verified: false,
        };
        let keys = metadata.key_value_metadata().iter();
        facts.keys = keys
            .map(|pair| (pair.key.clone(), pair.value.as_ref().map_or(0, Vec::len)))
            .collect();
        facts.gather(file)?;
        Ok(facts)
    }

    fn gather(&mut self, file: &ParquetFile) -> herringbone::Result<()> {
        let (metadata, schema) = (file.metadata(), file.parquet_schema());
        for row_group in 0..metadata.num_row_groups() {
            let header = metadata.row_group_header(row_group)?;
            let sorting = header.sorting_columns.as_deref().unwrap_or_default();
            let leaf = |index: i32| usize::try_from(index).ok();
            let known = |leaf: &usize| *leaf < schema.leaves().len();
            let columns = sorting
                .iter()
                .filter_map(|sorting| leaf(sorting.column_idx).filter(known));
            self.groups.push(Group {
                rows: u64::try_from(header.num_rows).unwrap_or(0),
                compressed: 0,
                sorted_by: columns.map(|leaf| schema.column_path(leaf)).collect(),
            });
        }
        let mut pages_left = PAGES;
        for leaf in 0..schema.leaves().len() {
            let column = self.column(file, leaf, &mut pages_left)?;
            self.columns.push(column);
        }
        Ok(())
    }

    fn column(
        &mut self,
        file: &ParquetFile,
        leaf: usize,
        pages_left: &mut usize,
    ) -> herringbone::Result<Column> {
        let (metadata, schema) = (file.metadata(), file.parquet_schema());
        let element = schema.element(leaf);
        let mut column = Column {
            path: schema.column_path(leaf),
            names: schema.path(leaf).into_iter().map(str::to_owned).collect(),
            type_: sql_type(file, leaf),
            has_order: schema.order(leaf) != ColumnOrderKind::Undefined,
            is_int96: element.type_ == Some(Type::Int96),
            is_in_list: schema
                .leaves()
                .get(leaf)
                .is_some_and(|leave| leave.max_rep_level > 0),
            values: Some(0),
            nulls: Some(0),
            pages: Some((0, 0)),
            ..Column::default()
        };
        for row_group in 0..metadata.num_row_groups() {
            if leaf >= metadata.num_columns(row_group) {
                continue;
            }
            let chunk = metadata.column_chunk(row_group, leaf)?;
            column.chunks += 1;
            let length = |length: Option<i32>| length.and_then(|length| u64::try_from(length).ok());
            column.index += length(chunk.column_index_length).unwrap_or(0)
                + length(chunk.offset_index_length).unwrap_or(0);
            let has_index =
                chunk.offset_index_offset.is_some() && chunk.column_index_offset.is_some();
            // An index for a single page would only repeat the footer's bounds, so such a chunk
            // doesn't need one.
            let pages = chunk.meta_data.as_ref().and_then(dictionary_pages);
            let is_one = pages.is_some_and(|(pages, _)| pages <= 1);
            column.chunks_with_index += u64::from(has_index || is_one);
            let Some(data) = &chunk.meta_data else {
                (column.values, column.nulls, column.pages) = (None, None, None);
                continue;
            };
            column.add(data, nulls::of_chunk(schema, leaf, data));
            let compressed = u64::try_from(data.total_compressed_size).unwrap_or(0);
            if let Some(group) = self.groups.get_mut(row_group) {
                group.compressed = group.compressed.saturating_add(compressed);
            }
        }
        self.bounds(file, leaf, &mut column, pages_left)?;
        Ok(column)
    }

    /// Adds the bounds of row groups and pages. We skip undecodable bounds, since `verify` reports
    /// them.
    fn bounds(
        &self,
        file: &ParquetFile,
        leaf: usize,
        column: &mut Column,
        pages_left: &mut usize,
    ) -> herringbone::Result<()> {
        let place = Place {
            file,
            row_group: 0,
            leaf,
        };
        let field = place.value_field()?;
        let Ok(of_groups) = file.row_group_bounds(leaf) else {
            return Ok(());
        };
        let order = Order::of(&of_groups);
        column.ascends = !self.groups.is_empty() && order.as_ref().is_some_and(Order::ascends);
        if let Some(order) = order.as_ref().filter(|_| !self.hides_values) {
            column.min = order.least().and_then(|array| text(&field, &array));
            column.max = order.greatest().and_then(|array| text(&field, &array));
        }
        for at in 0..of_groups
            .min
            .len()
            .min(BOUNDS / file.parquet_schema().leaves().len().max(1))
        {
            let bound = |array: &ArrayRef| text(&field, &array.slice(at, 1));
            column.bounds.push(match self.hides_values {
                true => (None, None),
                false => (bound(&of_groups.min), bound(&of_groups.max)),
            });
        }
        let (mut first_row, mut pages_ascending) = (0, 0);
        for (row_group, group) in self.groups.iter().enumerate() {
            let bounds = file.page_bounds(row_group, leaf).ok().flatten();
            if column.ascends {
                let order = bounds.as_ref().and_then(Order::of);
                column.ascends = order.as_ref().is_some_and(Order::is_ordered);
                pages_ascending += order.map_or(0, |order| order.least.len());
            }
            if let (Some(pages), Ok(Some(offsets))) = (bounds, file.offset_index(row_group, leaf)) {
                let starts = offsets
                    .page_locations
                    .iter()
                    .map(|page| page.first_row_index);
                let sizes = offsets
                    .page_locations
                    .iter()
                    .map(|page| page.compressed_page_size);
                for (at, (start, bytes)) in starts.zip(sizes).enumerate().take(*pages_left) {
                    let next = offsets.page_locations.get(at + 1);
                    let end = next.and_then(|next| u64::try_from(next.first_row_index).ok());
                    let start = u64::try_from(start).unwrap_or(0);
                    let end = end.unwrap_or(group.rows);
                    column.boxes.push(PageBox {
                        first_row: first_row + start,
                        rows: end.saturating_sub(start),
                        bytes: u64::try_from(bytes).unwrap_or(0),
                        nulls: number(&pages, at),
                        min: self.bound(&field, &pages.min, at),
                        max: self.bound(&field, &pages.max, at),
                        span: order.as_ref().and_then(|order| order.span(&pages, at)),
                    });
                }
                *pages_left = pages_left.saturating_sub(offsets.page_locations.len());
            }
            first_row += group.rows;
        }
        column.ascends &= pages_ascending > 1;
        Ok(())
    }

    fn bound(&self, field: &Field, bounds: &ArrayRef, at: usize) -> Option<String> {
        match self.hides_values || at >= bounds.len() {
            true => None,
            false => text(field, &bounds.slice(at, 1)),
        }
    }

    /// Adds the facts that need all bytes of the file. `advance` gets the number of chunks done.
    ///
    /// # Errors
    /// Returns errors of the source.
    pub(crate) fn verify(
        &mut self,
        file: &ParquetFile,
        mut verify: Verify,
        mut advance: impl FnMut(u64),
    ) -> herringbone::Result<()> {
        for (leaf, column) in self.columns.iter_mut().enumerate() {
            // This finding would leak something about the values.
            column.is_digits = !self.hides_values && !column.is_in_list && is_digits(file, leaf);
        }
        while let Some(findings) = verify.next_part()? {
            for finding in &findings {
                match finding.severity {
                    Severity::Error => self.errors += 1,
                    Severity::Warning => self.warnings += 1,
                    Severity::Note => {}
                }
                match self.faults.len() < FAULTS {
                    // A message can contain values, so we only show the kind and the location.
                    true if self.hides_values => {
                        let location = finding.location.to_string();
                        self.faults
                            .push(format!("{} {} {location}", finding.severity, finding.kind));
                    }
                    true => self.faults.push(finding.to_string()),
                    false => self.more_faults += 1,
                }
            }
            advance(verify.chunks_done());
        }
        self.unchecked_pages = (verify.pages_without_checksum(), verify.num_pages());
        self.is_verified = true;
        Ok(())
    }

    /// Returns the file's row count.
    pub(super) fn rows(&self) -> u64 {
        self.groups.iter().map(|group| group.rows).sum()
    }
}

/// Returns the type's name as in tables of rows, falling back to the Parquet type if Arrow has no
/// such type.
pub(crate) fn sql_type(file: &ParquetFile, leaf: usize) -> String {
    let place = Place {
        file,
        row_group: 0,
        leaf,
    };
    let element = file.parquet_schema().element(leaf);
    // Bounds are plain bytes, so their field doesn't reveal geometries or JSON.
    match (&element.logical_type, place.value_field()) {
        (Some(LogicalType::Geometry { .. }), _) => "geometry".to_owned(),
        (Some(LogicalType::Geography { .. }), _) => "geography".to_owned(),
        (Some(LogicalType::Json), _) => "json".to_owned(),
        (_, Ok(field)) => type_name(&field),
        (_, Err(_)) => type_of(element),
    }
}

/// Returns true if a text column has values, and all of them are digits. This reads the column up
/// to the first other value. Returns false for an unreadable column, since `verify` reports the
/// reason.
fn is_digits(file: &ParquetFile, leaf: usize) -> bool {
    if !file.parquet_schema().is_text(leaf) {
        return false;
    }
    let mut schema = SchemaOptions::default();
    schema.use_arrow_schema = false;
    let options = ReadOptions::new()
        .limits(file.limits().clone())
        .schema(schema)
        .projection(Projection::Leaves(vec![leaf]));
    let Ok(mut reader) = file.read(options) else {
        return false;
    };
    let mut has_values = false;
    loop {
        let batch = match reader.next_batch() {
            Ok(Some(batch)) => batch,
            Ok(None) => return has_values,
            Err(_) => return false,
        };
        let mut array = batch.columns().first().cloned();
        // Reading text inside structs gives structs.
        while let Some(fields) = array.as_ref().and_then(|array| array.as_struct_opt()) {
            array = fields.columns().first().cloned();
        }
        let Some(texts) = array
            .as_ref()
            .and_then(|array| array.as_string_opt::<i32>())
        else {
            return false;
        };
        for text in texts.iter().flatten() {
            has_values = true;
            if !is_number(text) {
                return false;
            }
        }
    }
}

/// Returns true if a text is a number of up to 18 digits without leading zeros. Such text
/// round-trips through a BIGINT.
fn is_number(text: &str) -> bool {
    let are_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    are_digits && (1..19).contains(&text.len()) && (text == "0" || !text.starts_with('0'))
}

impl Column {
    fn add(&mut self, data: &ColumnMetaData, counts: nulls::Counts) {
        self.codecs.insert(data.codec.to_string());
        self.encodings
            .extend(data.encodings.iter().map(ToString::to_string));
        self.values = self
            .values
            .zip(counts.values)
            .map(|(sum, more)| sum.saturating_add(more));
        self.nulls = self
            .nulls
            .zip(counts.nulls)
            .map(|(sum, more)| sum.saturating_add(more));
        let pages = dictionary_pages(data);
        self.pages = self.pages.zip(pages).map(|((all, keyed), (pages, more))| {
            (all.saturating_add(pages), keyed.saturating_add(more))
        });
        let size = |size: i64| u64::try_from(size).unwrap_or(0);
        let dictionary = match data.dictionary_page_offset {
            Some(offset) => size(data.data_page_offset.saturating_sub(offset)),
            None => 0,
        };
        let compressed = size(data.total_compressed_size);
        let dictionary = dictionary.min(compressed);
        self.dictionary = self.dictionary.saturating_add(dictionary);
        self.data = self.data.saturating_add(compressed - dictionary);
        self.uncompressed = self
            .uncompressed
            .saturating_add(size(data.total_uncompressed_size));
        self.bloom = self
            .bloom
            .saturating_add(size(data.bloom_filter_length.unwrap_or(0).into()));
        let statistics = data.statistics.as_ref();
        let has_bounds = statistics.is_some_and(|statistics| {
            statistics.min_value.is_some()
                || statistics.min.is_some()
                || statistics.null_count == Some(data.num_values)
        });
        self.chunks_with_bounds += u64::from(has_bounds);
    }
}

fn number(bounds: &ColumnBounds, at: usize) -> Option<u64> {
    let nulls = &bounds.null_counts;
    (at < nulls.len() && nulls.is_valid(at)).then(|| nulls.value(at))
}

/// Returns the only value of an array as text, unless it is null.
fn text(field: &Field, array: &ArrayRef) -> Option<String> {
    let values = value::of(field, array).ok()?;
    (!values.is_null(0)).then(|| cell_text(field, values.as_ref(), 0))
}

/// The bounds of all row groups, or of all pages in a column chunk, in file order.
struct Order {
    min: ArrayRef,
    max: ArrayRef,
    converter: RowConverter,
    /// The lower bounds, encoded as bytes with the same sort order.
    least: Vec<Vec<u8>>,
    greatest: Vec<Vec<u8>>,
}

impl Order {
    /// Returns the bounds if none is missing.
    fn of(bounds: &ColumnBounds) -> Option<Self> {
        let (min, max) = (bounds.min.clone(), bounds.max.clone());
        if min.is_empty() || min.logical_null_count() + max.logical_null_count() > 0 {
            return None;
        }
        let fields = vec![SortField::new(min.data_type().clone())];
        let converter = RowConverter::new(fields).ok()?;
        let bytes = |array: &ArrayRef| {
            let rows = converter
                .convert_columns(std::slice::from_ref(array))
                .ok()?;
            Some(
                rows.iter()
                    .map(|row| row.as_ref().to_vec())
                    .collect::<Vec<_>>(),
            )
        };
        let (least, greatest) = (bytes(&min)?, bytes(&max)?);
        Some(Self {
            min,
            max,
            converter,
            least,
            greatest,
        })
    }

    /// Returns true if each lower bound is at or after the previous upper bound.
    fn is_ordered(&self) -> bool {
        let next = self.least.iter().skip(1);
        let mut pairs = self.greatest.iter().zip(next);
        pairs.all(|(end, start)| end <= start)
    }

    /// Returns true if the bounds are ordered, and there is more than one value.
    fn ascends(&self) -> bool {
        self.is_ordered() && self.least.first() != self.greatest.last()
    }

    fn least(&self) -> Option<ArrayRef> {
        let (at, _) = self
            .least
            .iter()
            .enumerate()
            .min_by_key(|(_, bytes)| *bytes)?;
        Some(self.min.slice(at, 1))
    }

    fn greatest(&self) -> Option<ArrayRef> {
        let (at, _) = self
            .greatest
            .iter()
            .enumerate()
            .max_by_key(|(_, bytes)| *bytes)?;
        Some(self.max.slice(at, 1))
    }

    /// Returns the share of the column's range covered by a page's bounds. This is an estimate from
    /// the first differing bytes, which works for any type because the encoded bytes have the same
    /// sort order.
    fn span(&self, pages: &ColumnBounds, at: usize) -> Option<f64> {
        let bytes = |array: &ArrayRef| {
            let one = (at < array.len() && array.is_valid(at)).then(|| array.slice(at, 1))?;
            let rows = self.converter.convert_columns(&[one]).ok()?;
            Some(rows.row(0).as_ref().to_vec())
        };
        let (low, high) = (bytes(&pages.min)?, bytes(&pages.max)?);
        let (least, greatest) = (self.least.iter().min()?, self.greatest.iter().max()?);
        let shared = least
            .iter()
            .zip(greatest)
            .take_while(|(a, b)| a == b)
            .count();
        let number = |bytes: &[u8]| {
            let bytes = bytes
                .iter()
                .skip(shared)
                .copied()
                .chain(std::iter::repeat(0))
                .take(6);
            bytes.fold(0.0, |sum, byte| sum * 256.0 + f64::from(byte))
        };
        let whole = number(greatest) - number(least);
        (whole > 0.0).then(|| ((number(&high) - number(&low)) / whole).clamp(0.0, 1.0))
    }
}
