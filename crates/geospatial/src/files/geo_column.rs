//! Writes one geometry column at the root of a GeoParquet file.

use std::sync::Arc;

use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_arrow::schema::{Field, FieldRef};
use herringbone_core::extension::StorageWriter;
use herringbone_format::{Error, KeyValue, Result};

use super::covering::{Boxes, covering_field};
use super::each::for_each;
use super::geo_file::Shared;
use super::iso::iso;
use crate::{Edges, StatisticsBuilder};

/// A writer for the column and its covering.
pub(super) struct GeoColumnWriter {
    field: FieldRef,
    name: String,
    /// Statistics on the values, or `None` for a native encoding.
    values: Option<StatisticsBuilder>,
    edges: Edges,
    covering: Option<FieldRef>,
    /// True if values are converted to ISO.
    pub(super) writes_iso: bool,
    /// True if malformed values are an error. If false, they only prevent a box.
    pub(super) is_strict: bool,
    /// The CRS definition for the annotation to refer to.
    pub(super) definition: Option<KeyValue>,
    /// The column's covering in the source file, if there was one.
    pub(super) former_covering: Option<String>,
    /// True if the metadata must not reveal anything about the values.
    is_hidden: bool,
    rows: u64,
    shared: Shared,
}

impl GeoColumnWriter {
    /// Creates a writer for well-known binary.
    pub(super) fn new(
        field: FieldRef,
        edges: Edges,
        covering: Option<&str>,
        shared: &Shared,
    ) -> Self {
        Self {
            name: field.name().clone(),
            field,
            values: Some(StatisticsBuilder::new(edges)),
            edges,
            covering: covering.map(covering_field),
            writes_iso: false,
            is_strict: true,
            definition: None,
            former_covering: None,
            is_hidden: false,
            rows: 0,
            shared: shared.clone(),
        }
    }

    /// Creates a writer for a native encoding. Its ordinates have their own statistics, so this
    /// writer collects none.
    pub(super) fn native(field: &Field, shared: &Shared) -> Self {
        Self {
            field: Arc::new(field.clone()),
            name: field.name().clone(),
            values: None,
            edges: Edges::Planar,
            covering: None,
            writes_iso: false,
            is_strict: true,
            definition: None,
            former_covering: None,
            is_hidden: false,
            rows: 0,
            shared: shared.clone(),
        }
    }
}

impl StorageWriter for GeoColumnWriter {
    fn fields(&mut self, _: &ArrayRef) -> Result<Vec<FieldRef>> {
        let own = std::iter::once(self.field.clone());
        Ok(own.chain(self.covering.clone()).collect())
    }

    fn arrays(&mut self, array: &ArrayRef) -> Result<Vec<ArrayRef>> {
        let Some(values) = &mut self.values else {
            return Ok(vec![array.clone()]);
        };
        let array = match self.writes_iso {
            true => iso(array)?,
            false => array.clone(),
        };
        let mut boxes = self
            .covering
            .as_ref()
            .map(|_| Boxes::new(self.edges, array.len()));
        let (edges, is_strict, mut row) = (self.edges, self.is_strict, self.rows);
        for_each(&array, &mut |value| {
            let mut row_encoding = None;
            if let Some(value) = value {
                let refused = |error| match is_strict {
                    true => Err(Error::argument(format!(
                        "row {row} is not a geometry: {error}"
                    ))),
                    false => Ok(()),
                };
                if boxes.is_some() {
                    let mut only = StatisticsBuilder::new(edges);
                    only.add(value).map(drop).or_else(refused)?;
                    values.merge(&only);
                    row_encoding = Some(only.extent());
                } else {
                    values.add(value).map(drop).or_else(refused)?;
                }
            }
            if let Some(boxes) = &mut boxes {
                boxes.push(row_encoding.as_ref());
            }
            row += 1;
            Ok(())
        })?;
        self.rows = row;
        let covering = boxes.map(Boxes::finish).transpose()?;
        Ok(std::iter::once(array).chain(covering).collect())
    }

    fn derived_columns(&self) -> Vec<String> {
        self.former_covering.iter().cloned().collect()
    }

    fn redact_values(&mut self) {
        self.is_hidden = true;
    }

    fn key_values(&mut self) -> Result<Vec<KeyValue>> {
        let values = self.values.as_ref().filter(|_| !self.is_hidden);
        let mut pairs = self.shared.finish(&self.name, values)?;
        pairs.extend(self.definition.take());
        Ok(pairs)
    }
}
