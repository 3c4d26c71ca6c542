//! Bounds of a read's columns, in the types of its batches.

use herringbone_arrow::array::{Array as _, ArrayRef};
use herringbone_core::cast::null_bytes;
use herringbone_core::column::ColumnPlan;
use herringbone_filter::pruning::{ColumnBounds, ColumnBoundsDecoder, PageIndexCell};
use herringbone_format::{Error, Result};

use super::{ArrayNode, ReadPlan};
use crate::wanted_schema::ArrayConversion;
use crate::wrappers::put_around;

/// An order-preserving conversion of bounds, so that converted bounds are still bounds.
type Convert<'a> = dyn Fn(&ArrayRef) -> Result<ArrayRef> + 'a;

impl ReadPlan {
    /// Returns the bounds and counts of a [batch](Self::schema) column, with one slot per [row group](Self::row_groups)
    /// of the read. The bounds have the column's Arrow type, including its dictionary, time zone and casts. If the
    /// column is missing from the file, both bounds are its default value, or null if there is none.
    ///
    /// A bound is null if the type cannot represent it. If a cast fails for one lower bound, all lower bounds are null,
    /// and likewise for upper bounds.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the read has no such column, or if the
    /// column is a list, a struct or an extension type. Use [`ColumnBoundsDecoder`] for the leaves of nested columns.
    /// Fails with [`Corrupt`](herringbone_format::ErrorKind::Corrupt) if metadata cannot be decoded, and with
    /// [`Limit`](herringbone_format::ErrorKind::Limit) if the bounds take more bytes than
    /// [`batch_column_bytes`](herringbone_format::Limits::batch_column_bytes).
    pub fn row_group_bounds(&self, column: usize) -> Result<ColumnBounds> {
        let rows: Vec<u64> = self
            .row_groups
            .iter()
            .map(|row_group| row_group.num_rows)
            .collect();
        let ordinals = || self.row_groups.iter().map(super::RowGroupPlan::ordinal);
        let decode = |decoder: &ColumnBoundsDecoder| decoder.row_groups(&self.metadata, ordinals());
        self.bounds(self.root(column)?, &rows, &decode)
    }

    /// Returns the bounds and counts of a [batch](Self::schema) column, with one slot per page of a file's row group.
    /// [`Self::row_group_bounds`] describes the bounds. Returns `None` if a page index is missing, or if the column is
    /// missing from the file.
    ///
    /// # Errors
    /// Fails for the reasons that [`Self::row_group_bounds`] lists. Also fails with
    /// [`Argument`](herringbone_format::ErrorKind::Argument) if there is no such row group, and with
    /// [`Corrupt`](herringbone_format::ErrorKind::Corrupt) if the indexes contradict each other.
    pub fn page_bounds(
        &self,
        row_group: usize,
        column: usize,
        index: &PageIndexCell,
    ) -> Result<Option<ColumnBounds>> {
        let root = self.root(column)?;
        let (Some(columns), Some(offsets)) = (&index.columns, &index.offsets) else {
            return Ok(None);
        };
        if root.first_column().is_none() {
            return Ok(None);
        }
        let rows = self.metadata.row_group_header(row_group)?.num_rows;
        // The count is never negative, since the plan has checked the metadata.
        let rows = u64::try_from(rows).unwrap_or_default();
        let slots = vec![0; columns.null_pages.len()];
        let decode = |decoder: &ColumnBoundsDecoder| decoder.pages(columns, offsets, rows);
        self.bounds(root, &slots, &decode).map(Some)
    }

    /// Returns the file's leaf behind a [batch](Self::schema) column, or `None` if the column is nested or missing from
    /// the file.
    #[must_use]
    pub fn leaf_of_column(&self, column: usize) -> Option<usize> {
        let mut node = self.tree.roots.get(column)?;
        loop {
            node = match node {
                ArrayNode::Leaf { column } => return Some(self.columns().get(*column)?.leaf),
                ArrayNode::Converted { inner, .. }
                | ArrayNode::Wrapped { inner, .. }
                | ArrayNode::Storage { inner, .. } => inner,
                _ => return None,
            };
        }
    }

    fn root(&self, column: usize) -> Result<&ArrayNode> {
        let node = self.tree.roots.get(column);
        node.ok_or_else(|| {
            Error::argument(format!(
                "there is no column {column}: the read has {} columns of the file",
                self.tree.roots.len()
            ))
        })
    }

    fn bounds(
        &self,
        node: &ArrayNode,
        rows: &[u64],
        decode: &dyn Fn(&ColumnBoundsDecoder) -> Result<ColumnBounds>,
    ) -> Result<ColumnBounds> {
        let (inner, convert): (_, &Convert<'_>) = match node {
            ArrayNode::Leaf { column } => {
                let column = self.columns().get(*column).ok_or_else(nested)?;
                self.check_bytes(rows.len(), null_bytes(&column.leaf_type.data_type))?;
                let bounds = decode(&self.decoder(column)?);
                return bounds.map_err(|error| error.in_column(column.path()));
            }
            ArrayNode::Constant(constant) => {
                self.check_bytes(1, constant.bytes(rows.len()))?;
                return ColumnBounds::of_constant(&constant.array(rows.len())?, rows);
            }
            ArrayNode::Storage { inner, .. } => (inner, &|bounds| Ok(bounds.clone())),
            ArrayNode::Converted {
                conversion: ArrayConversion::Cast(cast),
                inner,
            } => (inner, &|bounds| cast.apply(bounds)),
            ArrayNode::Wrapped { wrappers, inner }
                if wrappers.iter().all(|wrapper| !wrapper.is_extension()) =>
            {
                (inner, &|bounds| put_around(bounds.clone(), wrappers))
            }
            _ => return Err(nested()),
        };
        let bounds = self.bounds(inner, rows, decode)?;
        self.check_bytes(2, bounds.min.get_array_memory_size())?;
        bounds.converted(convert)
    }

    fn decoder(&self, column: &ColumnPlan) -> Result<ColumnBoundsDecoder> {
        let decoder = ColumnBoundsDecoder::new(&self.metadata, &column.schema, column.leaf)?;
        Ok(decoder.as_read(column.leaf_type.clone()))
    }

    /// Checks an array's size before it is allocated, since the number of slots follows from the file's own claims.
    fn check_bytes(&self, slots: usize, slot_bytes: usize) -> Result<()> {
        let limit = self.limits().batch_column_bytes;
        let bytes = slots.saturating_mul(slot_bytes);
        if bytes > limit {
            let (bytes, limit) = (bytes as u64, limit as u64);
            return Err(Error::limit("batch_column_bytes", bytes, limit));
        }
        Ok(())
    }
}

#[cold]
fn nested() -> Error {
    Error::argument(
        "the column is a list, a struct or an extension type, which has no bounds of its own; \
         use `ParquetFile::row_group_bounds` with one of its leaves",
    )
}
