//! Converts batches with extension types to their storage, before a write is planned.
//!
//! ```text
//! a: my.point, b: Int64      the schema of the batches
//! a: Struct<x, y>, a_norm: Double, b: Int64      the schema of the storage, chosen with the first batch
//! ```
//!
//! Extension types can be nested anywhere in structs, lists and maps, so we rebuild all arrays around them.

mod nested;

use std::path::Path;
use std::sync::Arc;

use herringbone_arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use herringbone_arrow::schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use herringbone_format::modular_encryption::{Encryption, FileEncryption, SiblingField};
use herringbone_format::{Error, KeyValue, Result};

use nested::{elements, list_type, struct_of, with_columns, with_elements, with_type};

use super::options::{ColumnOptions, WriteOptions};
use super::plan::check_schema;
use super::selector::ColumnSelector;
use herringbone_core::extension::{ExtensionType, StorageWriter, WrittenField};

/// A converter from batches to their storage. Create one before the [`WritePlan`](super::WritePlan) if the options have
/// extension types.
pub struct StorageBatches {
    schema: SchemaRef,
    fields: Vec<StorageField>,
    /// The storage schema, once chosen.
    storage: Option<SchemaRef>,
}

/// The rows per page in sibling columns that describe other columns. With such small pages, readers can skip most
/// values of the described columns.
const PAGE_ROWS_BESIDE: usize = 1 << 11;

/// An encryption that takes sibling columns into account.
#[derive(Debug)]
struct WithSiblings {
    encryption: Arc<dyn Encryption>,
    siblings: Vec<SiblingField>,
}

impl Encryption for WithSiblings {
    fn open(
        &self,
        path: Option<&Path>,
        leaves: &[Vec<String>],
    ) -> Result<Option<Arc<dyn FileEncryption>>> {
        self.encryption.open_siblings(path, leaves, &self.siblings)
    }
}

/// A field of the batches, with its storage.
struct StorageField {
    /// The names from the top level down to the field.
    path: Vec<String>,
    field: FieldRef,
    kind: Kind,
    /// The stored fields. Empty until they are chosen.
    stored: Vec<FieldRef>,
}

enum Kind {
    /// A field stored unchanged.
    Same,
    Extension(Box<dyn StorageWriter>),
    /// The fields of a struct. At least one of them is not stored unchanged.
    Struct(Vec<StorageField>),
    /// A list's elements or a map's entries.
    Elements(Box<StorageField>),
}

impl StorageBatches {
    /// Creates a converter for batches with this schema, or returns `None` if they are stored unchanged.
    ///
    /// # Errors
    /// Returns extension type errors. Fails with [`Unsupported`](herringbone_format::ErrorKind::Unsupported) if an
    /// extension type is in a dictionary or in runs of groups.
    pub fn new(schema: &SchemaRef, options: &WriteOptions) -> Result<Option<Self>> {
        if options.extensions.is_empty() {
            return Ok(None);
        }
        let of_file = |extension: &Arc<dyn ExtensionType>| {
            let of_file = extension.for_file(schema)?;
            Ok(of_file.unwrap_or_else(|| Arc::clone(extension)))
        };
        let extensions: Vec<_> = options
            .extensions
            .iter()
            .map(of_file)
            .collect::<Result<_>>()?;
        let fields = storage_fields(&[], schema.fields(), &extensions)?;
        let changes = fields.iter().any(|field| !matches!(field.kind, Kind::Same));
        Ok(changes.then(|| Self {
            schema: schema.clone(),
            fields,
            storage: None,
        }))
    }

    /// Returns the schema required of batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Checks that a batch has the schema.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if it does not. The message names the
    /// difference.
    pub fn check(&self, batch: &RecordBatch) -> Result<()> {
        check_schema(self.schema.fields(), batch.schema_ref().fields())
    }

    /// Chooses the storage based on the first non-empty batch, or on an empty batch if there is none. Returns the
    /// storage schema, for a [`WritePlan`](super::WritePlan).
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the batch does not have the schema, or if
    /// sibling columns have the same name. Errors from extension types are returned too.
    pub fn choose(&mut self, first: &RecordBatch) -> Result<SchemaRef> {
        self.check(first)?;
        let stored = choose_all(&mut self.fields, first.columns())?;
        let schema = Schema::new_with_metadata(stored, self.schema.metadata().clone());
        let schema = Arc::new(schema);
        self.storage = Some(schema.clone());
        Ok(schema)
    }

    /// Converts a batch to its storage. The storage must already have been [chosen](Self::choose).
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the batch does not have the schema, or if a
    /// value cannot be stored.
    pub fn storage(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let not_chosen =
            || Error::argument("the storage of the extension types has not been chosen");
        let schema = self.storage.clone().ok_or_else(not_chosen)?;
        self.check(batch)?;
        let arrays = arrays_of_all(&mut self.fields, batch.columns())?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(schema, arrays, &options).map_err(invalid)
    }

    /// Returns the options for a file with the storage. The storage must already have been [chosen](Self::choose).
    /// Sibling columns are encrypted like the columns they describe. Their pages are small, unless another size is
    /// requested.
    #[must_use]
    pub fn options(&self, options: &WriteOptions) -> WriteOptions {
        let mut siblings = Vec::new();
        for field in &self.fields {
            field.siblings(&mut siblings);
        }
        let mut options = options.clone();
        if options.columns.page_rows.is_none() {
            let small = |field: &SiblingField| {
                let selector = ColumnSelector::Path(field.path.clone());
                (selector, ColumnOptions::new().page_rows(PAGE_ROWS_BESIDE))
            };
            // We put these first, so that the caller's overrides win.
            let others = std::mem::take(&mut options.overrides);
            options.overrides = siblings.iter().map(small).chain(others).collect();
        }
        if let Some(encryption) = options.encryption.take_if(|_| !siblings.is_empty()) {
            options.encryption = Some(Arc::new(WithSiblings {
                encryption,
                siblings,
            }));
        }
        options
    }

    /// Tells the extension types which leaves' keys a footer reader might lack. `leaves` are the leaf paths.
    pub fn hide(&mut self, leaves: &[Vec<String>]) {
        for field in &mut self.fields {
            field.hide(leaves);
        }
    }

    /// Returns the pairs that extension types add to the file's key-value metadata. Call this after the last batch.
    ///
    /// # Errors
    /// Returns extension type errors.
    pub fn key_values(&mut self) -> Result<Vec<KeyValue>> {
        let mut pairs = Vec::new();
        for field in &mut self.fields {
            field.key_values(&mut pairs)?;
        }
        Ok(pairs)
    }
}

fn storage_fields(
    parent: &[String],
    fields: &Fields,
    extensions: &[Arc<dyn ExtensionType>],
) -> Result<Vec<StorageField>> {
    let fields = fields.iter();
    fields
        .map(|field| StorageField::new(parent, field, extensions))
        .collect()
}

impl StorageField {
    /// Creates a field below the field at `parent`. The path is empty at the top level.
    fn new(
        parent: &[String],
        field: &FieldRef,
        extensions: &[Arc<dyn ExtensionType>],
    ) -> Result<Self> {
        let path = [parent, &[field.name().clone()]].concat();
        Ok(Self {
            kind: kind(&path, field, extensions)
                .map_err(|error| error.in_column(path.join(".")))?,
            path,
            field: field.clone(),
            stored: Vec::new(),
        })
    }

    /// Chooses the stored fields based on the first array.
    fn choose(&mut self, first: &ArrayRef) -> Result<Vec<FieldRef>> {
        let fields = self.choose_by(first);
        self.stored = fields.map_err(|error| error.in_column(self.path.join(".")))?;
        Ok(self.stored.clone())
    }

    fn choose_by(&mut self, first: &ArrayRef) -> Result<Vec<FieldRef>> {
        let renamed = |field: &FieldRef| match field.name() == self.field.name() {
            true => field.clone(),
            false => Arc::new(Field::clone(field).with_name(self.field.name())),
        };
        Ok(match &mut self.kind {
            Kind::Same => vec![self.field.clone()],
            Kind::Extension(writer) => {
                let mut fields = writer.fields(first)?;
                let own = fields.first_mut();
                let own = own.ok_or_else(|| {
                    Error::argument("an extension type did not return a storage array")
                })?;
                *own = renamed(own);
                fields
            }
            Kind::Struct(fields) => {
                let arrays = struct_of(first)?.columns();
                let data_type = DataType::Struct(choose_all(fields, arrays)?.into());
                vec![with_type(&self.field, data_type)]
            }
            Kind::Elements(child) => {
                let stored = child.choose(&elements(first)?)?;
                let [stored] = stored.as_slice() else {
                    return Err(Error::unsupported(
                        "sibling columns of list elements, which a list cannot hold",
                    ));
                };
                let data_type = list_type(self.field.data_type(), stored.clone());
                vec![with_type(&self.field, data_type)]
            }
        })
    }

    /// Returns the arrays of the stored fields.
    fn arrays(&mut self, array: &ArrayRef) -> Result<Vec<ArrayRef>> {
        let arrays = self.arrays_of(array);
        arrays.map_err(|error| error.in_column(self.path.join(".")))
    }

    fn arrays_of(&mut self, array: &ArrayRef) -> Result<Vec<ArrayRef>> {
        let arrays = match &mut self.kind {
            Kind::Same => return Ok(vec![array.clone()]),
            Kind::Extension(writer) => {
                let arrays = writer.arrays(array)?;
                check_arrays(&self.stored, &arrays, array.len())?;
                return Ok(arrays);
            }
            Kind::Struct(fields) => {
                let whole = struct_of(array)?;
                let columns = arrays_of_all(fields, whole.columns())?;
                self.stored
                    .first()
                    .map(|field| with_columns(field.data_type(), whole, columns))
            }
            Kind::Elements(child) => {
                let children = child.arrays(&elements(array)?)?;
                let field = self.stored.first().zip(children.into_iter().next());
                field.map(|(field, child)| with_elements(field.data_type(), array, child))
            }
        };
        arrays.into_iter().collect()
    }

    /// Collects the sibling fields that describe fields of extension types.
    fn siblings(&self, out: &mut Vec<SiblingField>) {
        match &self.kind {
            Kind::Same => {}
            Kind::Extension(writer) => {
                let parent = self.path.split_last().map_or(&[][..], |(_, parent)| parent);
                let added = self.stored.iter().skip(1).map(|field| field.name().clone());
                out.extend(
                    added.chain(writer.derived_columns()).map(|name| {
                        SiblingField::new([parent, &[name]].concat(), self.path.clone())
                    }),
                );
            }
            Kind::Struct(fields) => fields.iter().for_each(|field| field.siblings(out)),
            // A list can't hold siblings of its elements.
            Kind::Elements(_) => {}
        }
    }

    fn hide(&mut self, leaves: &[Vec<String>]) {
        match &mut self.kind {
            Kind::Same => {}
            Kind::Extension(writer) => {
                if leaves.iter().any(|leaf| leaf.starts_with(&self.path)) {
                    writer.redact_values();
                }
            }
            Kind::Struct(fields) => fields.iter_mut().for_each(|field| field.hide(leaves)),
            Kind::Elements(child) => child.hide(leaves),
        }
    }

    fn key_values(&mut self, out: &mut Vec<KeyValue>) -> Result<()> {
        match &mut self.kind {
            Kind::Same => {}
            Kind::Extension(writer) => out.extend(writer.key_values()?),
            Kind::Struct(fields) => {
                for field in fields {
                    field.key_values(out)?;
                }
            }
            Kind::Elements(child) => child.key_values(out)?,
        }
        Ok(())
    }
}

/// Returns a field's storage.
fn kind(path: &[String], field: &FieldRef, extensions: &[Arc<dyn ExtensionType>]) -> Result<Kind> {
    if field.extension_type_name().is_some() {
        let written = WrittenField::new(field, path);
        for extension in extensions {
            if let Some(writer) = extension.storage_writer(&written)? {
                return Ok(Kind::Extension(writer));
            }
        }
    }
    let is_same = |field: &StorageField| matches!(field.kind, Kind::Same);
    Ok(match field.data_type() {
        DataType::Struct(fields) => {
            let fields = storage_fields(path, fields, extensions)?;
            match fields.iter().all(is_same) {
                true => Kind::Same,
                false => Kind::Struct(fields),
            }
        }
        DataType::List(child)
        | DataType::LargeList(child)
        | DataType::ListView(child)
        | DataType::LargeListView(child)
        | DataType::FixedSizeList(child, _)
        | DataType::Map(child, _) => {
            let child = StorageField::new(path, child, extensions)?;
            match is_same(&child) {
                true => Kind::Same,
                false => Kind::Elements(Box::new(child)),
            }
        }
        DataType::Dictionary(_, values) if values.is_nested() => {
            let values = Arc::new(Field::new("values", values.as_ref().clone(), true));
            in_encoding(&StorageField::new(path, &values, extensions)?)?
        }
        DataType::RunEndEncoded(_, values) => {
            in_encoding(&StorageField::new(path, values, extensions)?)?
        }
        _ => Kind::Same,
    })
}

/// Returns an error if a field in a dictionary or in runs is not stored unchanged.
fn in_encoding(values: &StorageField) -> Result<Kind> {
    match values.kind {
        Kind::Same => Ok(Kind::Same),
        _ => Err(Error::unsupported(
            "an extension type with a storage of its own, in a dictionary or in runs",
        )),
    }
}

fn choose_all(fields: &mut [StorageField], arrays: &[ArrayRef]) -> Result<Vec<FieldRef>> {
    let mut stored: Vec<FieldRef> = Vec::with_capacity(fields.len());
    let mut siblings = Vec::new();
    for (field, array) in fields.iter_mut().zip(arrays) {
        let field_choice = field.choose(array)?;
        siblings.extend(
            field_choice
                .iter()
                .skip(1)
                .map(|field| field.name().clone()),
        );
        stored.extend(field_choice);
    }
    for name in siblings {
        if stored.iter().filter(|field| *field.name() == name).count() > 1 {
            return Err(Error::argument(format!(
                "an extension type adds the column `{name}`, but a column of this name already \
                 exists"
            )));
        }
    }
    Ok(stored)
}

fn arrays_of_all(fields: &mut [StorageField], arrays: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
    let mut stored = Vec::with_capacity(arrays.len());
    for (field, array) in fields.iter_mut().zip(arrays) {
        stored.extend(field.arrays(array)?);
    }
    Ok(stored)
}

/// Returns an error if arrays do not match the chosen fields.
fn check_arrays(fields: &[FieldRef], arrays: &[ArrayRef], len: usize) -> Result<()> {
    let fits = |(field, array): (&FieldRef, &ArrayRef)| {
        array.len() == len && array.data_type() == field.data_type()
    };
    if fields.len() == arrays.len() && fields.iter().zip(arrays).all(fits) {
        return Ok(());
    }
    Err(Error::argument(
        "an extension type stores arrays that do not match the fields that it chose",
    ))
}

fn invalid(error: ArrowError) -> Error {
    Error::argument(error.to_string())
}
