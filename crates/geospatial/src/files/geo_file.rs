//! Writes GeoParquet metadata. The fields of a file share state, since the metadata covers all of
//! them and is only complete after the last one.
//!
//! ```text
//! schema ──► columns of geometries at the root ──► GeoFile
//! values of each ──► its box and types, and the covering column ─┐
//! end of the last column ──► the `geo` metadata ◄────────────────┘
//! ```

use std::sync::{Arc, Mutex, PoisonError};

use herringbone_arrow::schema::{Field, Schema};
use herringbone_core::extension::{
    AnnotatedField, ExtensionField, ExtensionMapping, ExtensionType, StorageWriter, StoredField,
    WrittenField,
};
use herringbone_format::{Error, KeyValue, Result};

use super::Geospatial;
use super::covering::covering_name;
use super::geo_column::GeoColumnWriter;
use super::options::GeoParquetOptions;
use super::read::is_binary;
use super::write::{Geometries, as_bytes, by_extension_type, has_annotation, is_geometry, meaning};
use crate::crs::{Crs, CrsForm};
use crate::geoarrow::ExtensionMetadata;
use crate::geoparquet::{Covering, Encoding, GeoColumn, GeoMetadata, KEY, Version};
use crate::{Edges, StatisticsBuilder, native};

/// [`Geospatial`] for one file that gets GeoParquet metadata.
#[derive(Debug)]
pub(super) struct GeoFile {
    inner: Geospatial,
    version: Version,
    /// True if the caller requested GeoParquet. Otherwise, we recreate the source's metadata as far
    /// as possible.
    is_asked: bool,
    /// The names of covered columns, each with its new covering's name.
    coverings: Vec<(String, String)>,
    shared: Shared,
}

/// The metadata known so far, and the number of unfinished columns.
#[derive(Debug, Clone)]
pub(super) struct Shared(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    metadata: GeoMetadata,
    /// The number of unfinished columns.
    waiting: usize,
}

/// The plan for one field in the schema.
struct Planned {
    name: String,
    column: GeoColumn,
}

impl GeoFile {
    /// Plans a file. Returns `None` if it has no geometry columns at its root. `former` is the
    /// source file's metadata. We keep a column's properties from there, unless they depend on the
    /// values.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the version cannot
    /// represent the columns, or if the primary column does not exist.
    pub(super) fn new(
        inner: Geospatial,
        schema: &Schema,
        options: &GeoParquetOptions,
        former: Option<&GeoMetadata>,
    ) -> Result<Option<Self>> {
        let mut planned = Vec::new();
        for field in schema.fields() {
            let column = column(field, options.version)
                .map_err(|error| error.in_column(field.name().clone()))?;
            if let Some(mut column) = column {
                column.keep(field.name(), (former, schema), inner.geoparquet.is_some());
                let name = field.name().clone();
                planned.push(Planned { name, column });
            }
        }
        let Some(first) = planned.first() else {
            return Ok(None);
        };
        let asked = options.primary_column.as_deref();
        let former_name = former.map(|former| former.primary_column.as_str());
        let is_there = |name: &&str| planned.iter().any(|planned| planned.name == *name);
        let primary = match asked {
            Some(asked) if !is_there(&asked) => {
                let message = format!("the primary column {asked:?} is not a geometry column");
                return Err(Error::argument(message));
            }
            Some(asked) => asked,
            None => former_name.filter(is_there).unwrap_or(&first.name),
        };
        let primary_column = primary.to_owned();
        let waiting = planned.len();
        let mut coverings = Vec::new();
        if options.covering {
            for at in 0..planned.len() {
                coverings.extend(plan_covering(&mut planned, at, &primary_column, schema));
            }
        }
        let columns = planned
            .into_iter()
            .map(|planned| (planned.name, planned.column))
            .collect();
        let metadata = GeoMetadata {
            version: options.version,
            primary_column,
            columns,
            others: former
                .map(|former| former.others.clone())
                .unwrap_or_default(),
        };
        // Try the conversion now, so that unsupported properties are reported before any rows are
        // written.
        metadata.to_json()?;
        let state = State { metadata, waiting };
        Ok(Some(Self {
            is_asked: inner.geoparquet.is_some(),
            inner,
            version: options.version,
            coverings,
            shared: Shared(Arc::new(Mutex::new(state))),
        }))
    }
}

/// Returns a field's properties, as far as they don't depend on its values. Returns `None` if it
/// has no geometries.
fn column(field: &Field, version: Version) -> Result<Option<GeoColumn>> {
    if is_geometry(field) && !is_binary(field.data_type()) {
        let message = format!(
            "GeoParquet of geometries in arrays of {}",
            field.data_type()
        );
        return Err(Error::unsupported(message));
    }
    let (encoding, meaning) = match meaning(field)? {
        Some(meaning) => (Encoding::Wkb, meaning),
        None => match native::kind_of(field).filter(|_| version == Version::V1_1) {
            Some(kind) => {
                let text = field.extension_type_metadata().unwrap_or_default();
                (Encoding::Native(kind), ExtensionMetadata::parse(text)?)
            }
            None => return Ok(None),
        },
    };
    Ok(Some(GeoColumn {
        encoding,
        crs: Crs::of(&meaning.logical_type()),
        edges: meaning.edges,
        ..GeoColumn::default()
    }))
}

impl GeoColumn {
    /// Keeps former properties that follow neither from the values nor from the Arrow type. Unless
    /// GeoParquet was requested (`is_asked`), we also keep former properties that the format can't
    /// represent.
    fn keep(
        &mut self,
        name: &str,
        (former, schema): (Option<&GeoMetadata>, &Schema),
        is_asked: bool,
    ) {
        let Some((version, former)) =
            former.and_then(|former| Some((former.version, former.column(name)?)))
        else {
            return;
        };
        // GeoParquet can't represent a CRS code, so the former definition is our best choice.
        let is_code = !matches!(
            self.crs.form(),
            CrsForm::Default | CrsForm::Undefined | CrsForm::Projjson(_)
        );
        let is_ellipsoidal = !matches!(self.edges, Edges::Planar | Edges::Spherical);
        if is_ellipsoidal && version < Version::V2_0 && !is_asked {
            self.edges = former.edges;
        }
        // An extension type without a CRS doesn't contradict the metadata, where a missing CRS
        // means longitude and latitude.
        let is_open = matches!(self.crs.form(), CrsForm::Undefined);
        if is_code && !is_asked || is_open || former.crs.is_same(&self.crs) {
            self.crs = former.crs.clone();
            self.epoch = former.epoch;
        }
        self.is_counterclockwise = former.is_counterclockwise;
        self.others = former.others.clone();
        if !is_asked {
            self.keep_crs_text();
        }
        let has_covering = |it: &&Covering| schema.field_with_name(&it.column).is_ok();
        self.covering = former.covering.as_ref().filter(has_covering).cloned();
    }
}

impl GeoColumn {
    /// Keeps a CRS as text, although the specification forbids it, because its definition is not
    /// known.
    fn keep_crs_text(&mut self) {
        let is_code = !matches!(
            self.crs.form(),
            CrsForm::Default | CrsForm::Undefined | CrsForm::Projjson(_)
        );
        if let Some(text) = self.crs.text().filter(|_| is_code) {
            self.others.keep("crs", text);
            self.crs = Crs::default();
        }
    }
}

/// Plans a covering for a column of well-known binary, unless it already has one. Returns the names
/// of the column and its covering.
fn plan_covering(
    planned: &mut [Planned],
    at: usize,
    primary: &str,
    schema: &Schema,
) -> Option<(String, String)> {
    let is_taken = |name: &str| {
        let other_coverings = planned
            .iter()
            .filter_map(|planned| planned.column.covering.as_ref());
        let mut other_coverings = other_coverings.map(|it| it.column.as_str());
        schema.field_with_name(name).is_ok() || other_coverings.any(|it| it == name)
    };
    let it = planned.get(at)?;
    if it.column.encoding != Encoding::Wkb || it.column.covering.is_some() {
        return None;
    }
    let column = covering_name(&it.name, it.name == primary, is_taken);
    let names = (it.name.clone(), column.clone());
    planned.get_mut(at)?.column.covering = Some(Covering {
        column,
        has_z: false,
        never_wraps: true,
    });
    Some(names)
}

impl Shared {
    /// Finishes a column. When the last column is finished, this returns the metadata.
    pub(super) fn finish(
        &self,
        name: &str,
        values: Option<&StatisticsBuilder>,
    ) -> Result<Vec<KeyValue>> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let version = state.metadata.version;
        let mut columns = state.metadata.columns.iter_mut();
        if let Some((_, column)) = columns.find(|(it, _)| it == name)
            && let Some(values) = values
        {
            let types = values.types().types();
            column.geometry_types = types.map(Iterator::collect).unwrap_or_default();
            column.bbox = values.extent().bbox();
            if version < Version::V2_0 {
                column.leave_out_m();
            }
        }
        state.waiting = state.waiting.saturating_sub(1);
        if state.waiting > 0 {
            return Ok(Vec::new());
        }
        Ok(vec![KeyValue::new(KEY, state.metadata.to_json()?)])
    }
}

impl GeoColumn {
    /// Removes all types if any of them has M, since versions before 2.0 can't represent M. An
    /// empty list means that the types are unknown.
    fn leave_out_m(&mut self) {
        if self
            .geometry_types
            .iter()
            .any(|geometry_type| geometry_type.dimensions.has_m())
        {
            self.geometry_types.clear();
        }
    }
}

impl ExtensionMapping for GeoFile {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        self.inner.to_arrow(stored)
    }

    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>> {
        self.inner.to_parquet(field)
    }
}

impl ExtensionType for GeoFile {
    fn storage_writer(&self, written: &WrittenField<'_>) -> Result<Option<Box<dyn StorageWriter>>> {
        let field = written.field;
        let [name] = written.path else {
            // GeoParquet only supports columns at the root.
            return self.inner.storage_writer(written);
        };
        let column = {
            let state = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
            state.metadata.column(name).cloned()
        };
        let Some(column) = column else {
            return self.inner.storage_writer(written);
        };
        if column.encoding != Encoding::Wkb {
            return Ok(Some(Box::new(GeoColumnWriter::native(field, &self.shared))));
        }
        let mut definition = None;
        let stored = match (self.version, meaning(field)?) {
            // The source file already had the annotation next to metadata of this version, so we
            // can keep it.
            (_, Some(meaning)) if !self.is_asked && has_annotation(field)? => {
                let kept = Geometries::new(field, &meaning, false)?;
                definition = kept.definition;
                kept.field
            }
            // The annotation would hide the column from readers that do not support it.
            (Version::V1_0 | Version::V1_1, _) => as_bytes(field),
            (_, Some(meaning)) if !self.is_asked => {
                let kept = Geometries::new(field, &meaning, false)?;
                definition = kept.definition;
                kept.field
            }
            _ => by_extension_type(field),
        };
        let mut coverings = self.coverings.iter();
        let covering = coverings.find(|(covered, _)| covered == name);
        let covering = covering.map(|(_, covering)| covering.as_str());
        let mut writer = GeoColumnWriter::new(stored, column.edges, covering, &self.shared);
        writer.writes_iso = self.inner.writes_iso;
        writer.is_strict = self.is_asked;
        writer.definition = definition;
        let former = column.covering.filter(|_| covering.is_none());
        writer.former_covering = former.map(|former| former.column);
        Ok(Some(Box::new(writer)))
    }
}
