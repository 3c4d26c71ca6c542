//! Reads the values at one path of a VARIANT group as a column.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::schema::extension::EXTENSION_TYPE_NAME_KEY;
use herringbone_arrow::schema::{DataType, Field};
use herringbone_core::extension::{
    AnnotatedField, ExtensionField, ExtensionMapping, ExtensionType, StoredField,
};
use herringbone_format::{ConvertedType, Error, LogicalType, Result};

use herringbone_schema::SchemaNode;

use super::{is_variant_group, named};
use crate::cast::PrimitiveType;
use crate::path::{PathPart, VariantPath};
use crate::shredding::{
    GetOptions, METADATA, ShreddingType, TYPED_VALUE, VALUE, VariantArray, check_path,
    metadata_type, values_type,
};

/// A column of the values at one path, for `ReadOptions::extension_column`.
///
/// The column contains variants (`arrow.parquet.variant`), unless you request a type. Missing
/// values are null.
///
/// We read only the columns on the path. For a shredded field, that's `typed_value` and `value`. We
/// skip `value` if statistics prove that it is all null, and we read `metadata` only if values
/// without a column of their own need names. As a consequence, a read doesn't notice values
/// elsewhere that break the shredding rules. A lenient read does, because it also inspects the
/// columns next to the path.
///
/// ```
/// # use std::sync::Arc;
/// # use herringbone::arrow::array::{Array, RecordBatch, cast::AsArray, types::Int64Type};
/// # use herringbone::arrow::schema::Schema;
/// # use herringbone::variant::VariantBuf;
/// # use herringbone::variant::shredding::{Shredder, ShreddingType, variant_field};
/// # let mut events = Shredder::new(ShreddingType::Unshredded)?;
/// # for json in [r#"{"user": {"id": 7}}"#, r#"{"user": {"id": 8}}"#, "null"] {
/// #     events.append(VariantBuf::from_json(json)?.as_variant())?;
/// # }
/// # let events = events.finish()?;
/// # let field = variant_field("event", events.data_type().clone(), true);
/// # let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(events)])?;
/// # let mut file = Vec::new();
/// # let options = herringbone::WriteOptions::new();
/// # let mut writer = herringbone::Writer::new(&mut file, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use herringbone::variant::PrimitiveType;
/// use herringbone::variant::extension::VariantGet;
/// use herringbone::{ParquetFile, ReadOptions};
///
/// // The file has the column `event` with JSON such as `{"user": {"id": 7}}`.
/// let file = ParquetFile::from_bytes(file)?;
/// let id = VariantGet::new("$.user.id".parse()?).as_type(PrimitiveType::Int64);
/// let options = ReadOptions::new().columns::<String>([]).extension_column("id", ["event"], id);
/// let ids = file.read(options)?.next_batch()?.ok_or("no rows")?;
/// let ids: Vec<_> = ids.column(0).as_primitive::<Int64Type>().iter().collect();
/// assert_eq!(ids, [Some(7), Some(8), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct VariantGet {
    pub(super) path: VariantPath,
    pub(super) wanted: Option<PrimitiveType>,
    pub(super) options: GetOptions,
}

impl VariantGet {
    /// Reads the values at `path`, as variants.
    #[must_use]
    pub fn new(path: VariantPath) -> Self {
        Self {
            path,
            wanted: None,
            options: GetOptions::default(),
        }
    }

    /// Reads the values as one type, into arrays of [`PrimitiveType::data_type`].
    #[must_use]
    pub fn as_type(mut self, wanted: PrimitiveType) -> Self {
        self.wanted = Some(wanted);
        self
    }

    /// Sets which values fit, and how the others are treated.
    #[must_use]
    pub fn options(mut self, options: GetOptions) -> Self {
        self.options = options;
        self
    }
}

impl ExtensionMapping for VariantGet {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        if !is_variant_group(stored) {
            return Ok(None);
        }
        let name = stored.storage.name();
        let field = match self.wanted {
            Some(wanted) => {
                let field = Field::new(name, wanted.data_type(), true);
                match wanted {
                    PrimitiveType::Uuid => {
                        let name = (EXTENSION_TYPE_NAME_KEY.to_owned(), "arrow.uuid".to_owned());
                        field.with_metadata(HashMap::from([name]))
                    }
                    _ => field,
                }
            }
            None => {
                let metadata = metadata_type(stored.storage.data_type());
                let value = values_type(&metadata).clone();
                let parts = vec![
                    Field::new(METADATA, metadata, false),
                    Field::new(VALUE, value, false),
                ];
                named(Field::new(name, DataType::Struct(parts.into()), true))
            }
        };
        Ok(Some(ExtensionField::of_arrays(field)))
    }

    fn leaves(&self, stored: &StoredField<'_>) -> Result<Vec<usize>> {
        if !is_variant_group(stored) {
            return Err(Error::argument(
                "the path leads into a variant, but the field is not a VARIANT",
            ));
        }
        check_path(&self.path)?;
        if let Some(wanted) = self.wanted {
            wanted.check()?;
        }
        ShreddingType::of_storage_type(stored.storage.data_type())?;
        let mut needed = Needed {
            stored,
            get: self,
            leaves: Vec::new(),
            names: false,
        };
        needed.at_path(stored.ordinal, self.path.parts());
        Ok(needed.leaves())
    }

    fn to_parquet(&self, _: &Field) -> Result<Option<AnnotatedField>> {
        Ok(None)
    }
}

impl ExtensionType for VariantGet {
    fn make_array(&self, storage: &ArrayRef, _: &Field) -> Result<ArrayRef> {
        let array = VariantArray::of_part(storage)?;
        match self.wanted {
            Some(wanted) => array.get_all_as(&self.path, wanted, &self.options),
            None => Ok(Arc::new(array.get_all(&self.path, &self.options)?)),
        }
    }
}

/// The columns to read for a path.
struct Needed<'a> {
    stored: &'a StoredField<'a>,
    get: &'a VariantGet,
    leaves: Vec<usize>,
    /// True if some values need the names in `metadata`.
    names: bool,
}

impl Needed<'_> {
    /// Adds the columns for the rest of a path. `group` is the ordinal of the group with `value`
    /// and `typed_value`.
    fn at_path(&mut self, group: usize, parts: &[PathPart]) {
        let (value, typed) = (self.child(group, VALUE), self.child(group, TYPED_VALUE));
        let Some((part, rest)) = parts.split_first() else {
            self.value(value);
            if let Some(typed) = typed {
                self.typed(typed);
            }
            return;
        };
        let next = typed.and_then(|typed| match (part, self.elements(typed)) {
            (PathPart::Field(name), None) => self.child(typed, name),
            (PathPart::Element(_), elements) => elements,
            _ => None,
        });
        let is_certain = matches!(part, PathPart::Field(_)) && !self.get.options.unshred.lenient;
        if next.is_none() || !is_certain {
            self.value(value);
        }
        if let Some(next) = next {
            self.at_path(next, rest);
        }
    }

    /// Adds a group's `value`, unless it is all null.
    fn value(&mut self, value: Option<usize>) {
        let value = value.and_then(|value| self.node(value));
        for leaf in value.map_or(0..0, |value| value.leaves.clone()) {
            if !self.stored.is_all_null(leaf) {
                self.leaves.push(leaf);
                self.names = true;
            }
        }
    }

    /// Adds `typed_value`, where the path ends.
    fn typed(&mut self, typed: usize) {
        let Some(node) = self.node(typed) else {
            return;
        };
        let mut leaves = node.leaves.clone();
        if self.get.wanted.is_none() {
            self.names |= node.is_group();
            self.leaves.extend(leaves);
        } else if !node.is_group()
            || self.get.options.on_cast_error == crate::shredding::OnCastError::Error
        {
            // For an object or array, any one of its columns shows whether it is null.
            self.leaves.extend(leaves.next());
        }
    }

    /// Returns the columns. There is always at least one, since we need some column to see which
    /// rows have a value at all.
    fn leaves(mut self) -> Vec<usize> {
        let group_leaves = self.stored.node().leaves.clone();
        let metadata = self.child(self.stored.ordinal, METADATA);
        let metadata = metadata.and_then(|node| Some(self.node(node)?.leaves.start));
        if self.names {
            self.leaves.extend(metadata);
        }
        if self.leaves.is_empty() {
            // An all-null column is the cheapest to read.
            let all_null = group_leaves
                .clone()
                .find(|leaf| self.stored.is_all_null(*leaf));
            let others = group_leaves
                .into_iter()
                .find(|leaf| Some(*leaf) != metadata);
            self.leaves.extend(all_null.or(others));
        }
        self.leaves.sort_unstable();
        self.leaves.dedup();
        self.leaves
    }

    fn child(&self, group: usize, name: &str) -> Option<usize> {
        let mut children = self.stored.schema.children(group);
        let is_named = |child: &usize| {
            self.node(*child)
                .is_some_and(|node| node.element.name == name)
        };
        children.find(is_named)
    }

    fn node(&self, ordinal: usize) -> Option<&'_ SchemaNode> {
        self.stored.schema.nodes().get(ordinal)
    }

    /// Returns the group of a list's elements, or `None` if the node is not a list.
    fn elements(&self, typed: usize) -> Option<usize> {
        let schema = self.stored.schema;
        let element = &self.node(typed)?.element;
        let is_list = element.logical_type == Some(LogicalType::List)
            || element.converted_type == Some(ConvertedType::List);
        let repeated = is_list.then(|| schema.children(typed).next()).flatten()?;
        schema.children(repeated).next()
    }
}
