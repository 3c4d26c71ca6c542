//! Collects geospatial statistics of written column chunks.

use herringbone_format::{Result, Type};
use herringbone_write::{
    ChunkStatistics, ColumnStatistics, ColumnStatisticsFactory, ColumnValues, StatisticsColumn,
};

use super::Geospatial;
use crate::{Edges, StatisticsBuilder};

impl ColumnStatisticsFactory for Geospatial {
    fn column(&self, column: &StatisticsColumn<'_>) -> Result<Option<Box<dyn ColumnStatistics>>> {
        if column.leaf.physical_type != Type::ByteArray {
            return Ok(None);
        }
        let logical_type = column.element.logical_type.as_ref();
        let edges = logical_type.map(Edges::of).transpose()?.flatten();
        Ok(edges.map(|edges| -> Box<dyn ColumnStatistics> {
            Box::new(ChunkGeometries(StatisticsBuilder::new(edges)))
        }))
    }
}

struct ChunkGeometries(StatisticsBuilder);

impl ColumnStatistics for ChunkGeometries {
    fn update(&mut self, values: ColumnValues<'_>) {
        if let ColumnValues::ByteArray(values) = values {
            self.0.add_all(values);
        }
    }

    fn finish(self: Box<Self>) -> ChunkStatistics {
        // Geometries have no order, so there are neither bounds nor a column index.
        let statistics = ChunkStatistics::new().without_bounds(true);
        match self.0.finish() {
            Some(geospatial) => statistics.geospatial(geospatial),
            None => statistics,
        }
    }
}
