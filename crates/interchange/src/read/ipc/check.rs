//! Checks the lengths in a record batch against the bytes of its message.

use herringbone::{Error, Limits, Result};
use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::{Int16Type, Int32Type, Int64Type};
use herringbone_arrow::array::{Array, OffsetSizeTrait, RecordBatch};
use herringbone_arrow::buffer::OffsetBuffer;
use herringbone_arrow::data::{BufferSpec, layout};
use herringbone_arrow::ipc::{self, CompressionType, FieldNode, MetadataVersion};
use herringbone_arrow::schema::{DataType, Field, Schema};

use super::messages::size;

/// The maximum expansion of LZ4, in bytes per compressed byte, plus an allowance per buffer. One
/// length byte can stand for 255 bytes.
const LZ4_RATIO: (u64, u64) = (255, 255);
/// The maximum expansion of ZSTD, in bytes per compressed byte, plus an allowance per buffer. A
/// block of four bytes can stand for 128 KiB.
const ZSTD_RATIO: (u64, u64) = (32 << 10, 128 << 10);

/// The bytes charged for a value with no bytes of its own in the message. Without this charge, a
/// tiny message could declare billions of rows.
const SLOT_BYTES: u64 = 16;

/// Checks that a batch needs no more bytes than its message has, and no more memory than the limits
/// allow.
pub(super) fn check_batch(
    batch: &ipc::RecordBatch<'_>,
    body: &[u8],
    schema: &Schema,
    version: MetadataVersion,
    limits: &Limits,
) -> Result<()> {
    let compression = batch.compression().map(|compression| compression.codec());
    let ratio = match compression {
        None | Some(CompressionType::LZ4_FRAME) => LZ4_RATIO,
        Some(CompressionType::ZSTD) => ZSTD_RATIO,
        Some(other) => {
            return Err(Error::unsupported(format!(
                "Arrow data compressed by {other:?}"
            )));
        }
    };
    size(batch.length())?;
    let mut check = Check {
        nodes: batch.nodes().into_iter().flatten(),
        buffers: batch.buffers().into_iter().flatten(),
        counts: batch.variadicBufferCounts().into_iter().flatten(),
        body,
        is_compressed: compression.is_some(),
        ratio,
        version,
        limits,
        named: 0,
        memory: 0,
    };
    for field in schema.fields() {
        let checked = check.field(field);
        checked.map_err(|error| in_column(error, field))?;
    }
    match check.nodes.next() {
        Some(_) => Err(Error::corrupt(
            "the message has more columns than the schema",
        )),
        None => Ok(()),
    }
}

/// Adds the column's name to an error about the bytes.
fn in_column(error: Error, field: &Field) -> Error {
    match error.kind() {
        herringbone::ErrorKind::Corrupt => {
            Error::corrupt(format!("column `{}`: {}", field.name(), error.message()))
        }
        _ => error,
    }
}

struct Check<'m, N, B, C> {
    nodes: N,
    buffers: B,
    counts: C,
    body: &'m [u8],
    is_compressed: bool,
    /// The maximum expansion in bytes per compressed byte, plus an allowance per buffer.
    ratio: (u64, u64),
    version: MetadataVersion,
    limits: &'m Limits,
    /// The byte count of all buffers so far.
    named: u64,
    /// The memory needed beyond the message, in bytes.
    memory: u64,
}

impl<'m, N, B, C> Check<'m, N, B, C>
where
    N: Iterator<Item = &'m FieldNode>,
    B: Iterator<Item = &'m ipc::Buffer>,
    C: Iterator<Item = i64>,
{
    fn field(&mut self, field: &Field) -> Result<()> {
        let data_type = field.data_type();
        let node = self.nodes.next();
        let node = node.ok_or_else(|| Error::corrupt("the message does not contain its values"))?;
        let (length, nulls) = (size(node.length())? as u64, size(node.null_count())? as u64);
        if nulls > length {
            return Err(Error::corrupt(format!("{nulls} nulls in {length} values")));
        }
        if self.has_validity(data_type) {
            let needed = if nulls > 0 { length.div_ceil(8) } else { 0 };
            self.buffer_of(needed, length, data_type)?;
        }
        let layout = layout(data_type);
        let mut has_bytes = false;
        for spec in layout.buffers {
            let (width, needed) = match spec {
                BufferSpec::FixedWidth {
                    byte_width: width,
                    alignment,
                } => {
                    let needed = length.saturating_mul(width as u64);
                    (if alignment > 1 { width } else { 1 }, needed)
                }
                BufferSpec::BitMap => (1, length.div_ceil(8)),
                BufferSpec::VariableWidth | BufferSpec::AlwaysNull => (1, 0),
            };
            has_bytes |= needed > 0;
            let found = self.buffer_of(needed, length, data_type)?;
            if found % width as u64 != 0 {
                return Err(Error::corrupt(format!(
                    "a buffer of {found} bytes, which is not a multiple of {width} bytes"
                )));
            }
        }
        if layout.variadic {
            let count = self.counts.next();
            let count =
                count.ok_or_else(|| Error::corrupt("the number of its buffers is missing"))?;
            for _ in 0..size(count)? {
                self.buffer_of(0, length, data_type)?;
            }
        }
        if !has_bytes {
            let bits = (self.body.len() as u64).saturating_mul(8);
            let slots = length.saturating_sub(bits);
            self.needs(slots.saturating_mul(SLOT_BYTES))?;
        }
        self.children(data_type)
    }

    fn children(&mut self, data_type: &DataType) -> Result<()> {
        match data_type {
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::ListView(item)
            | DataType::LargeListView(item)
            | DataType::FixedSizeList(item, _)
            | DataType::Map(item, _) => self.field(item),
            DataType::Struct(fields) => fields.iter().try_for_each(|field| self.field(field)),
            DataType::Union(fields, _) => {
                fields.iter().try_for_each(|(_, field)| self.field(field))
            }
            DataType::RunEndEncoded(ends, values) => {
                self.field(ends)?;
                self.field(values)
            }
            _ => Ok(()),
        }
    }

    fn has_validity(&self, data_type: &DataType) -> bool {
        match data_type {
            DataType::Null | DataType::RunEndEncoded(..) => false,
            DataType::Union(..) => self.version < MetadataVersion::V5,
            _ => true,
        }
    }

    /// Skips a buffer, checking that it has at least `needed` bytes. Returns its byte count.
    fn buffer_of(&mut self, needed: u64, length: u64, data_type: &DataType) -> Result<u64> {
        let found = self.buffer()?;
        match found < needed {
            true => Err(Error::corrupt(format!(
                "{length} values of {data_type} take {needed} bytes, but a buffer has {found}"
            ))),
            false => Ok(found),
        }
    }

    /// Skips a buffer, returning its decompressed byte count.
    fn buffer(&mut self) -> Result<u64> {
        let buffer = self.buffers.next();
        let buffer = buffer.ok_or_else(|| Error::corrupt("the message has too few buffers"))?;
        let (offset, length) = (size(buffer.offset())?, size(buffer.length())?);
        let bytes = offset
            .checked_add(length)
            .and_then(|end| self.body.get(offset..end));
        let bytes = bytes.ok_or_else(|| {
            let body = self.body.len();
            Error::corrupt(format!(
                "a buffer of {length} bytes at {offset} extends past the {body} bytes of its \
                 message"
            ))
        })?;
        self.named = self.named.saturating_add(length as u64);
        let most = (self.body.len() as u64).saturating_mul(self.limits.overlap_ratio as u64);
        if self.named > most {
            let ratio = self.limits.overlap_ratio as u64;
            let found = self.named.div_ceil((self.body.len() as u64).max(1));
            return Err(Error::limit("overlap_ratio", found, ratio));
        }
        match self.is_compressed && !bytes.is_empty() {
            true => self.decompressed(bytes),
            false => Ok(length as u64),
        }
    }

    /// Returns a buffer's decompressed byte count, stored in its first bytes.
    fn decompressed(&mut self, bytes: &[u8]) -> Result<u64> {
        let (length, compressed) = bytes.split_first_chunk().ok_or_else(|| {
            let found = bytes.len();
            Error::corrupt(format!(
                "a compressed buffer of {found} bytes, too few for its length"
            ))
        })?;
        let compressed = compressed.len() as u64;
        let length = match i64::from_le_bytes(*length) {
            // The buffer is stored uncompressed.
            -1 => return Ok(compressed),
            length => size(length)? as u64,
        };
        let (ratio, more) = self.ratio;
        if length > compressed.saturating_mul(ratio).saturating_add(more) {
            return Err(Error::corrupt(format!(
                "{compressed} compressed bytes cannot hold a buffer of {length} bytes"
            )));
        }
        self.needs(length)?;
        Ok(length)
    }

    fn needs(&mut self, bytes: u64) -> Result<()> {
        self.memory = self.memory.saturating_add(bytes);
        match self.memory > self.limits.memory_bytes {
            true => Err(Error::limit(
                "memory_bytes",
                self.memory,
                self.limits.memory_bytes,
            )),
            false => Ok(()),
        }
    }
}

/// Checks the size of lists with shared items. Rows in Parquet can't share anything, so a small
/// batch could blow up into a large file.
pub(super) fn check_repeats(batch: &RecordBatch, limits: &Limits) -> Result<()> {
    let most = limits.memory_bytes / SLOT_BYTES;
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        if let Err(items) = largest(column.as_ref(), most) {
            let bytes = items.saturating_mul(SLOT_BYTES);
            let error = Error::limit("memory_bytes", bytes, limits.memory_bytes);
            return Err(in_column(error, field));
        }
    }
    Ok(())
}

/// Returns the number of items in the largest value, including items of inner lists.
///
/// # Errors
/// Fails with the number of items in all values, if values share items and this number exceeds
/// `most`.
fn largest(array: &dyn Array, most: u64) -> Result<u64, u64> {
    let rows = array.len() as u64;
    let shared = |item: u64| match item > 1 && rows.saturating_mul(item) > most {
        true => Err(rows.saturating_mul(item)),
        false => Ok(item),
    };
    match array.data_type() {
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            Ok(longest(list.offsets()).saturating_mul(largest(list.values(), most)?))
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            Ok(longest(list.offsets()).saturating_mul(largest(list.values(), most)?))
        }
        DataType::Map(..) => {
            let map = array.as_map();
            Ok(longest(map.offsets()).saturating_mul(largest(map.entries(), most)?))
        }
        DataType::FixedSizeList(_, length) => {
            let item = largest(array.as_fixed_size_list().values(), most)?;
            Ok(item.saturating_mul(u64::try_from(*length).unwrap_or(0)))
        }
        DataType::ListView(_) => {
            let list = array.as_list_view::<i32>();
            views(list.sizes(), list.values(), most)
        }
        DataType::LargeListView(_) => {
            let list = array.as_list_view::<i64>();
            views(list.sizes(), list.values(), most)
        }
        DataType::Struct(_) => largest_of(array.as_struct().columns().iter(), most),
        DataType::Union(fields, _) => {
            let union = array.as_union();
            largest_of(fields.iter().map(|(id, _)| union.child(id)), most)
        }
        DataType::Dictionary(..) => {
            let values = array
                .as_any_dictionary_opt()
                .map(|dictionary| dictionary.values().clone());
            values.map_or(Ok(1), |values| shared(largest(&values, most)?))
        }
        DataType::RunEndEncoded(ends, _) => shared(match ends.data_type() {
            DataType::Int16 => largest(array.as_run::<Int16Type>().values(), most)?,
            DataType::Int32 => largest(array.as_run::<Int32Type>().values(), most)?,
            _ => largest(array.as_run::<Int64Type>().values(), most)?,
        }),
        _ => Ok(1),
    }
}

fn largest_of<'a>(
    mut arrays: impl Iterator<Item = &'a std::sync::Arc<dyn Array>>,
    most: u64,
) -> Result<u64, u64> {
    arrays.try_fold(
        1,
        |so_far: u64, array| Ok(so_far.max(largest(array, most)?)),
    )
}

fn longest<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> u64 {
    let lengths = offsets.lengths();
    lengths.max().unwrap_or(0) as u64
}

/// Returns the number of items in the largest list of a list view array.
///
/// # Errors
/// Fails with the number of items in all lists, if lists share items and this number exceeds
/// `most`.
fn views<O: OffsetSizeTrait>(sizes: &[O], items: &dyn Array, most: u64) -> Result<u64, u64> {
    let item = largest(items, most)?;
    let sizes = sizes.iter().map(|size| size.as_usize() as u64);
    let (mut sum, mut longest) = (0_u64, 0);
    for size in sizes {
        sum = sum.saturating_add(size);
        longest = size.max(longest);
    }
    let all = sum.saturating_mul(item);
    let is_shared = sum > items.len() as u64;
    match is_shared && all > most {
        true => Err(all),
        false => Ok(longest.saturating_mul(item)),
    }
}
