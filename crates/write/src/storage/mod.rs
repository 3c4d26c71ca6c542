//! Batches with extension types become those of their storage, before anything is planned.
//!
//! ```text
//! a: my.point, b: Int64      the schema of the batches
//! a: Struct<x, y>, a_norm: Double, b: Int64      that of the storage, chosen with the first batch
//! ```
//!
//! An extension type may be anywhere in structs, lists and maps; all around it is made again.

mod nested;

use std::path::Path;
use std::sync::Arc;

use herringbone_arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use herringbone_arrow::schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use herringbone_format::modular_encryption::{Encryption, FieldBeside, FileEncryption};
use herringbone_format::{Error, KeyValue, Result};

use nested::{elements, list_type, struct_of, with_columns, with_elements, with_type};

use super::options::{ColumnOptions, WriteOptions};
use super::plan::check_schema;
use super::selector::ColumnSelector;
use herringbone_core::extension::{ExtensionType, StorageWriter, WrittenField};

/// Turns batches into those of their storage.
pub struct StorageBatches {
    schema: SchemaRef,
    fields: Vec<StorageField>,
    /// The schema of the storage, once it is chosen.
    storage: Option<SchemaRef>,
}

/// Rows of a page of columns that tell of others beside them: few enough to pass over most of the others' values.
const PAGE_ROWS_BESIDE: usize = 1 << 11;

/// Encryption that knows of columns beside others.
#[derive(Debug)]
struct Beside {
    encryption: Arc<dyn Encryption>,
    beside: Vec<FieldBeside>,
}

impl Encryption for Beside {
    fn open(
        &self,
        path: Option<&Path>,
        leaves: &[Vec<String>],
    ) -> Result<Option<Arc<dyn FileEncryption>>> {
        self.encryption.open_beside(path, leaves, &self.beside)
    }
}

/// A field of the batches.
struct StorageField {
    /// The names from the top.
    path: Vec<String>,
    field: FieldRef,
    kind: Kind,
    /// What is stored of it; empty until that is chosen.
    stored: Vec<FieldRef>,
}

enum Kind {
    /// It is stored as it is.
    Same,
    Extension(Box<dyn StorageWriter>),
    /// Fields of a struct, some of which change.
    Struct(Vec<StorageField>),
    /// The elements of a list, or the entries of a map.
    Elements(Box<StorageField>),
}

impl StorageBatches {
    /// What turns batches of this schema into those of their storage; none where they are.
    ///
    /// # Errors
    /// What the extension types say; Unsupported where one of them is in a dictionary or in runs of groups.
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

    /// The schema that batches have to have.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Whether a batch has the schema.
    ///
    /// # Errors
    /// Argument that says what differs.
    pub fn check(&self, batch: &RecordBatch) -> Result<()> {
        check_schema(self.schema.fields(), batch.schema_ref().fields())
    }

    /// Chooses the storage by the first batch with rows, or by an empty one where there is none, and
    /// gives its schema: that of a [`WritePlan`](super::WritePlan).
    ///
    /// # Errors
    /// Argument where the batch does not have the schema, or where columns beside one another have the
    /// same name; what the extension types say.
    pub fn choose(&mut self, first: &RecordBatch) -> Result<SchemaRef> {
        self.check(first)?;
        let stored = choose_all(&mut self.fields, first.columns())?;
        let schema = Schema::new_with_metadata(stored, self.schema.metadata().clone());
        let schema = Arc::new(schema);
        self.storage = Some(schema.clone());
        Ok(schema)
    }

    /// A batch of the storage. The storage has to be [chosen](Self::choose).
    ///
    /// # Errors
    /// Argument where the batch does not have the schema, or a value cannot be stored.
    pub fn storage(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let not_chosen = || Error::argument("the storage of the extension types is not chosen");
        let schema = self.storage.clone().ok_or_else(not_chosen)?;
        self.check(batch)?;
        let arrays = arrays_of_all(&mut self.fields, batch.columns())?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(schema, arrays, &options).map_err(invalid)
    }

    /// The options for a file of the storage, which has to be [chosen](Self::choose): columns that stand beside others
    /// to tell of them are encrypted as those, and have small pages unless something else is asked for.
    #[must_use]
    pub fn options(&self, options: &WriteOptions) -> WriteOptions {
        let mut beside = Vec::new();
        for field in &self.fields {
            field.beside(&mut beside);
        }
        let mut options = options.clone();
        if options.columns.page_rows.is_none() {
            let small = |field: &FieldBeside| {
                let selector = ColumnSelector::Path(field.path.clone());
                (selector, ColumnOptions::new().page_rows(PAGE_ROWS_BESIDE))
            };
            // In front, so that what the caller says of a column wins.
            let others = std::mem::take(&mut options.overrides);
            options.overrides = beside.iter().map(small).chain(others).collect();
        }
        if let Some(encryption) = options.encryption.take_if(|_| !beside.is_empty()) {
            options.encryption = Some(Arc::new(Beside { encryption, beside }));
        }
        options
    }

    /// Says to the extension types which columns readers of the footer may be without the keys of, by the
    /// paths of leaves.
    pub fn hide(&mut self, leaves: &[Vec<String>]) {
        for field in &mut self.fields {
            field.hide(leaves);
        }
    }

    /// What the extension types add to the key-value metadata of the file, behind the last batch.
    ///
    /// # Errors
    /// What the extension types say.
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
    /// A field below the one with the path `parent`, which is empty at the top.
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

    /// The fields that are stored of it.
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
                let own = own.ok_or_else(|| Error::argument("an extension type stores nothing"))?;
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
                        "columns beside the elements of a list: it has no place for them",
                    ));
                };
                let data_type = list_type(self.field.data_type(), stored.clone());
                vec![with_type(&self.field, data_type)]
            }
        })
    }

    /// The arrays of these fields.
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

    /// The fields that tell of those of extension types.
    fn beside(&self, out: &mut Vec<FieldBeside>) {
        match &self.kind {
            Kind::Same => {}
            Kind::Extension(writer) => {
                let parent = self.path.split_last().map_or(&[][..], |(_, parent)| parent);
                let added = self.stored.iter().skip(1).map(|field| field.name().clone());
                out.extend(
                    added.chain(writer.told_by()).map(|name| {
                        FieldBeside::new([parent, &[name]].concat(), self.path.clone())
                    }),
                );
            }
            Kind::Struct(fields) => fields.iter().for_each(|field| field.beside(out)),
            // Elements have nothing beside them.
            Kind::Elements(_) => {}
        }
    }

    fn hide(&mut self, leaves: &[Vec<String>]) {
        match &mut self.kind {
            Kind::Same => {}
            Kind::Extension(writer) => {
                if leaves.iter().any(|leaf| leaf.starts_with(&self.path)) {
                    writer.hide_values();
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

/// How a field is stored.
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

/// What is in dictionaries and runs has to be its own storage.
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
    let mut beside = Vec::new();
    for (field, array) in fields.iter_mut().zip(arrays) {
        let of_field = field.choose(array)?;
        beside.extend(of_field.iter().skip(1).map(|field| field.name().clone()));
        stored.extend(of_field);
    }
    for name in beside {
        if stored.iter().filter(|field| *field.name() == name).count() > 1 {
            return Err(Error::argument(format!(
                "an extension type adds the column `{name}`, and there is one of this name"
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

/// Refuses arrays that are not those of the fields that were chosen.
fn check_arrays(fields: &[FieldRef], arrays: &[ArrayRef], len: usize) -> Result<()> {
    let fits = |(field, array): (&FieldRef, &ArrayRef)| {
        array.len() == len && array.data_type() == field.data_type()
    };
    if fields.len() == arrays.len() && fields.iter().zip(arrays).all(fits) {
        return Ok(());
    }
    Err(Error::argument(
        "an extension type stores other arrays than those of the fields that it chose",
    ))
}

fn invalid(error: ArrowError) -> Error {
    Error::argument(error.to_string())
}
