//! Finds a file's geometry columns, and the extents of their geometries.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::ops::Range;

use herringbone_format::{
    BoundingBox, ColumnMetaData, FileMetadata, GeospatialStatistics, KeyValue, Repetition, Result,
    Type,
};
use herringbone_schema::{Node, NodeKind, ParquetSchema, SchemaOptions, to_arrow};

use super::read::is_binary;
use crate::bounds::{Extent, intersects};
use crate::crs::Crs;
use crate::geoarrow::{EXTENSION_NAME, ExtensionMetadata, FORMER_EXTENSION_NAME};
use crate::geoparquet::{Encoding, GeoColumn, GeoMetadata, KEY};
use crate::{ColumnMeaning, Edges, StatisticsBuilder};

/// A file's geometry column, combining everything the file says about it. You rarely need to look
/// at the logical type or the metadata yourself.
///
/// ```
/// # use std::{collections::HashMap, sync::Arc};
/// # use herringbone::arrow::array::{ArrayRef, BinaryArray, RecordBatch};
/// # use herringbone::arrow::schema::{DataType, Field, Schema};
/// # use herringbone::geospatial::wkt;
/// # let mut points = vec![Vec::new(), Vec::new()];
/// # wkt::read("POINT (12.5 41.9)", &mut points[0])?;
/// # wkt::read("POINT (2.3 48.9)", &mut points[1])?;
/// # let name = ("ARROW:extension:name".to_owned(), "geoarrow.wkb".to_owned());
/// # let field = Field::new("place", DataType::Binary, true).with_metadata(HashMap::from([name]));
/// # let points: ArrayRef = Arc::new(BinaryArray::from_iter_values(points));
/// # let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![points])?;
/// # let mut file = Vec::new();
/// # let options = Geospatial::new().write_options(herringbone::WriteOptions::new());
/// # let mut writer = herringbone::Writer::new(&mut file, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use herringbone::format::BoundingBox;
/// use herringbone::geospatial::{GeometryColumn, Geospatial};
/// use herringbone::{ParquetFile, ReadOptions};
///
/// // The file has the column `place` with two points, one of them in Rome.
/// let file = ParquetFile::from_bytes(file)?;
/// let columns = GeometryColumn::of_file(file.parquet_schema(), file.metadata())?;
/// let place = columns.iter().find(|column| column.is_primary).ok_or("no geometries")?;
/// assert_eq!(place.path, ["place"]);
/// let rome = place.intersects(&BoundingBox::new(12.2, 12.8, 41.7, 42.1))?;
/// let options = ReadOptions::new().extension(Geospatial::new()).filter(rome);
/// assert_eq!(file.read(options)?.next_batch()?.ok_or("no rows")?.num_rows(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GeometryColumn {
    /// The column's path in the Parquet schema.
    pub path: Vec<String>,
    /// The ordinals of the column's leaves. Well-known binary has one leaf, and a native encoding
    /// has two to four.
    pub leaves: Range<usize>,
    /// The encoding of the geometries.
    pub encoding: Encoding,
    /// The reference system and the edges. The reference system is already resolved if the file has
    /// its definition.
    pub meaning: ColumnMeaning,
    /// The column's entry in the GeoParquet metadata.
    pub geoparquet: Option<GeoColumn>,
    /// True if this is the default column. That is the primary column of the GeoParquet metadata,
    /// or else the only column.
    pub is_primary: bool,
    /// The ordinals of the leaves with x, y, z and m, for a native encoding.
    pub(super) ordinates: [Option<usize>; 4],
    /// True if a row can have several geometries.
    pub(super) is_repeated: bool,
}

impl GeometryColumn {
    /// Returns a file's geometry columns, in the order of its schema. We find them by their logical
    /// types, the GeoParquet metadata, or the extension types of the Arrow schema. If the
    /// GeoParquet metadata has defects, its [usable part](GeoMetadata::parse_usable) counts.
    ///
    /// # Errors
    ///
    /// Fails with [Unsupported](herringbone_format::ErrorKind::Unsupported) if the interpolation of
    /// edges is not known.
    pub fn of_file(schema: &ParquetSchema, metadata: &FileMetadata) -> Result<Vec<Self>> {
        let mut values = HashMap::new();
        for pair in metadata.key_value_metadata() {
            values.entry(pair.key.as_str()).or_insert(pair.text());
        }
        let value_of = |key: &str| values.get(key).copied().flatten();
        let geo = value_of(KEY).and_then(|text| GeoMetadata::parse_usable(text).ok());
        let geo = geo.map(|(geo, _)| geo);
        let hints = LazyCell::new(|| Hints::new(schema, metadata.key_value_metadata()));
        let mut columns = Vec::new();
        for (ordinal, node) in schema.nodes().iter().enumerate().skip(1) {
            let is_root = node.parent == 0 && node.repetition() != Repetition::Repeated;
            let geo = geo.as_ref().filter(|_| is_root);
            let geoparquet = geo.and_then(|geo| geo.column(&node.element.name));
            let is_bytes = node.element.type_ == Some(Type::ByteArray);
            let encoding = match geoparquet.map(|geoparquet| geoparquet.encoding) {
                Some(native @ Encoding::Native(_)) if node.is_group() => native,
                _ if is_bytes => Encoding::Wkb,
                _ => continue,
            };
            let geoparquet = geoparquet.filter(|geoparquet| geoparquet.encoding == encoding);
            let logical_type = node.element.logical_type.as_ref();
            let is_open = logical_type.is_none() && geoparquet.is_none();
            let hint = match is_open {
                true => hints.of_leaf(node.leaves.start),
                false => None,
            };
            let meaning = ColumnMeaning::new(logical_type, geoparquet, hint)?;
            let Some(mut meaning) = meaning else { continue };
            if let Ok(crs) = meaning.crs.resolve(value_of) {
                meaning.crs = crs;
            }
            let is_primary = geo.is_some_and(|geo| geo.primary_column == node.element.name);
            let leaf = schema.leaves().get(node.leaves.start);
            let is_below_list = leaf.is_some_and(|leaf| leaf.max_rep_level > 0);
            columns.push(Self {
                path: schema
                    .node_path(ordinal)
                    .into_iter()
                    .map(str::to_owned)
                    .collect(),
                leaves: node.leaves.clone(),
                encoding,
                meaning,
                geoparquet: geoparquet.cloned(),
                is_primary,
                ordinates: ordinates(schema, node.leaves.clone()),
                is_repeated: encoding == Encoding::Wkb && is_below_list,
            });
        }
        let has_primary = geo.is_some_and(|geo| !geo.primary_column.is_empty());
        if let ([only], false) = (columns.as_mut_slice(), has_primary) {
            only.is_primary = true;
        }
        Ok(columns)
    }

    /// Returns the extent and types of the geometries in some row groups, as far as statistics have
    /// them. For a native encoding, the extent follows from the ordinates' bounds, otherwise from
    /// the geospatial statistics. The extents of the row groups are merged, across the antimeridian
    /// too.
    ///
    /// # Errors
    ///
    /// Fails if a column chunk's metadata cannot be decoded.
    pub fn statistics(
        &self,
        metadata: &FileMetadata,
        row_groups: Range<usize>,
    ) -> Result<StatisticsBuilder> {
        let mut all = StatisticsBuilder::new(self.meaning.edges);
        for row_group in row_groups {
            match self.encoding {
                Encoding::Wkb => self.add_binary(metadata, row_group, &mut all)?,
                Encoding::Native(_) => self.add_native(metadata, row_group, &mut all)?,
            }
        }
        Ok(all)
    }

    /// Returns true if geometries in a row group might touch a box in the column's reference
    /// system. A box with `xmin > xmax` crosses the antimeridian. Returns false only if statistics
    /// exclude it.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`statistics`](Self::statistics).
    pub fn may_intersect(
        &self,
        metadata: &FileMetadata,
        row_group: usize,
        bbox: &BoundingBox,
    ) -> Result<bool> {
        let statistics = self.statistics(metadata, row_group..row_group + 1)?;
        Ok(match statistics.extent() {
            Extent::Empty => false,
            Extent::Box(extent) => intersects(&extent, bbox, self.meaning.edges),
            Extent::Unknown(_) => true,
        })
    }

    fn add_binary(
        &self,
        metadata: &FileMetadata,
        row_group: usize,
        all: &mut StatisticsBuilder,
    ) -> Result<()> {
        let chunk = metadata.column_chunk(row_group, self.leaves.start)?;
        let Some(chunk) = chunk.meta_data else {
            all.add_statistics(None);
            return Ok(());
        };
        if !has_nulls_alone(&chunk) {
            all.add_statistics(chunk.geospatial_statistics.as_ref());
        }
        Ok(())
    }

    /// Adds the bounds of x, y, z and m. They bound the whole geometries, because edges are
    /// straight.
    fn add_native(
        &self,
        metadata: &FileMetadata,
        row_group: usize,
        all: &mut StatisticsBuilder,
    ) -> Result<()> {
        let mut axis_bounds = [None; 4];
        for (bounds, leaf) in axis_bounds.iter_mut().zip(self.ordinates) {
            let Some(leaf) = leaf else { continue };
            let chunk = metadata.column_chunk(row_group, leaf)?.meta_data;
            if chunk.as_ref().is_some_and(has_nulls_alone) {
                return Ok(());
            }
            *bounds = chunk.as_ref().and_then(bounds_of_doubles);
        }
        let [x, y, z, m] = axis_bounds;
        let bbox = x.zip(y).filter(|_| self.meaning.edges == Edges::Planar);
        let bbox = bbox.map(|((xmin, xmax), (ymin, ymax))| {
            BoundingBox::new(xmin, xmax, ymin, ymax)
                .zmin(z.map(|it| it.0))
                .zmax(z.map(|it| it.1))
                .mmin(m.map(|it| it.0))
                .mmax(m.map(|it| it.1))
        });
        all.add_statistics(Some(&GeospatialStatistics::new().bbox(bbox)));
        Ok(())
    }

    /// Returns the reference system.
    #[must_use]
    pub fn crs(&self) -> &Crs {
        &self.meaning.crs
    }
}

/// The extension types of byte columns in a file's Arrow schema, keyed by leaf ordinal.
struct Hints(HashMap<usize, ExtensionMetadata>);

impl Hints {
    /// Finds the extension types. We ignore an unusable Arrow schema, as we do when reading rows.
    fn new(schema: &ParquetSchema, key_values: &[KeyValue]) -> Self {
        let mut found = HashMap::new();
        if let Ok(mapping) = to_arrow(schema, key_values, &SchemaOptions::default()) {
            mapping
                .fields
                .iter()
                .for_each(|node| Self::add(node, &mut found));
        }
        Self(found)
    }

    fn add(node: &Node, found: &mut HashMap<usize, ExtensionMetadata>) {
        match &node.kind {
            NodeKind::Leaf { leaf, .. } => {
                let name = node.field.extension_type_name();
                let text = node.field.extension_type_metadata().unwrap_or_default();
                let is_own = |name| [EXTENSION_NAME, FORMER_EXTENSION_NAME].contains(&name);
                if name.is_some_and(is_own)
                    && is_binary(node.field.data_type())
                    && let Ok(hint) = ExtensionMetadata::parse(text)
                {
                    found.insert(*leaf, hint);
                }
            }
            NodeKind::Struct(fields) => fields.iter().for_each(|field| Self::add(field, found)),
            NodeKind::List { child, .. } => Self::add(child, found),
            NodeKind::Map { entries, .. } => Self::add(entries, found),
        }
    }

    fn of_leaf(&self, leaf: usize) -> Option<&ExtensionMetadata> {
        self.0.get(&leaf)
    }
}

/// Finds the leaves with x, y, z and m in a range of leaves.
fn ordinates(schema: &ParquetSchema, leaves: Range<usize>) -> [Option<usize>; 4] {
    ["x", "y", "z", "m"].map(|axis| {
        let mut leaves = leaves.clone();
        leaves.find(|leaf| schema.path(*leaf).last() == Some(&axis))
    })
}

fn has_nulls_alone(chunk: &ColumnMetaData) -> bool {
    let nulls = chunk
        .statistics
        .as_ref()
        .and_then(|statistics| statistics.null_count);
    nulls == Some(chunk.num_values)
}

fn bounds_of_doubles(chunk: &ColumnMetaData) -> Option<(f64, f64)> {
    let statistics = chunk.statistics.as_ref()?;
    let double = |bytes: &Option<Vec<u8>>| {
        let bytes = bytes.as_deref()?.try_into().ok()?;
        Some(f64::from_le_bytes(bytes))
    };
    let bounds = double(&statistics.min_value).zip(double(&statistics.max_value))?;
    (chunk.type_ == Type::Double && bounds.0 <= bounds.1).then_some(bounds)
}

#[cfg(test)]
mod tests {
    use herringbone_format::{CompressionCodec, Statistics};

    use super::*;

    /// Bounds need a lower and an upper value of eight bytes each, in order, and the type DOUBLE.
    #[test]
    fn bounds_are_those_of_doubles_in_order() {
        let bytes = |value: f64| value.to_le_bytes().to_vec();
        let bounds = |type_, min: Option<Vec<u8>>, max: Option<Vec<u8>>| {
            let mut statistics = Statistics::default();
            (statistics.min_value, statistics.max_value) = (min, max);
            let codec = CompressionCodec::Uncompressed;
            let mut chunk = ColumnMetaData::new(type_, vec![], codec, 2, 0, 0, 4);
            chunk.statistics = Some(statistics);
            bounds_of_doubles(&chunk)
        };
        let (low, high) = (Some(bytes(-1.5)), Some(bytes(2.0)));
        let double = |min: &Option<Vec<u8>>, max: &Option<Vec<u8>>| {
            bounds(Type::Double, min.clone(), max.clone())
        };
        assert_eq!(double(&low, &high), Some((-1.5, 2.0)));
        assert_eq!(double(&low, &low), Some((-1.5, -1.5)));
        assert_eq!(double(&high, &low), None);
        assert_eq!(double(&low, &None), None);
        assert_eq!(double(&None, &high), None);
        assert_eq!(double(&low, &Some(bytes(f64::NAN))), None);
        assert_eq!(double(&low, &Some(vec![0; 4])), None);
        assert_eq!(bounds(Type::Int64, low, high), None);
    }
}
