//! Resolves wanted fields: the leaves to decode, their decoded types, and the conversions of the resulting arrays.

use std::sync::Arc;

use herringbone_arrow::array::StructArray;
use herringbone_arrow::schema::{DataType, Field, FieldRef, Schema};
use herringbone_format::{Error, KeyValue, Result};
use herringbone_schema::{
    ArrowMapping, ByteLayout, DictionaryOutput, ListLayout, Node, NodeKind, ParquetSchema,
    Projection, ReadExtensions, SchemaOptions, to_arrow_extended,
};

use super::conversion::FieldSource;
use super::matching::Group;
use super::search::{Below, FoundNode, Search, list_element};
use super::{ArrayConversion, WantedSchema};
use herringbone_core::cast::{Cast, Constant};
use herringbone_filter::{LeafSource, ResolvedLeaf};

/// The origin of a column in the batch.
#[derive(Debug)]
pub(crate) enum Root {
    /// A field of the mapping, to be converted.
    Field {
        ordinal: usize,
        conversion: ArrayConversion,
    },
    /// A constant, since the column is missing from the file.
    Constant(Constant),
}

/// The result of looking for a wanted schema in a file.
#[derive(Debug)]
pub(crate) struct Resolution {
    /// The file's fields to read. Their decoded types are as close to the wanted types as columns can get.
    pub(crate) mapping: ArrowMapping,
    /// One root per wanted column.
    pub(crate) roots: Vec<Root>,
    /// The wanted columns and fields that are a leaf or a constant, except for those below lists.
    pub(crate) leaves: Vec<ResolvedLeaf>,
}

/// Finds a wanted schema's fields in a file.
///
/// # Errors
/// Fails with `Argument` if a required field is missing, if several fields match a wanted field, or if the file's type
/// cannot become the wanted type.
pub(crate) fn resolve(
    wanted: &WantedSchema,
    schema: &ParquetSchema,
    key_values: &[KeyValue],
    options: &SchemaOptions,
    extensions: &ReadExtensions,
) -> Result<Resolution> {
    wanted.check_defaults()?;
    let all = Projection::All;
    let file = to_arrow_extended(schema, key_values, options, &all, extensions)?;
    let mut search = Search::new(wanted);
    let mut hints: Vec<FieldRef> = file.fields.iter().map(|node| node.field.clone()).collect();
    let mut found = Vec::new();
    let is_read = |field: &&FieldRef| !wanted.constants.contains(field.name());
    let wanted_fields = wanted.schema().fields();
    let read_fields = wanted_fields.iter().filter(is_read);
    let mut group = Group::new(&wanted.matching, &file.fields, read_fields);
    for (field, &place) in wanted_fields.iter().zip(&wanted.places) {
        let mut path = vec![field.name().clone()];
        let source = match is_read(&field) {
            false => None,
            true => search.field((&mut group, &file.fields), field, place, &mut path)?,
        };
        if let Some((ordinal, part)) = &source
            && let Some(hint) = hints.get_mut(*ordinal)
        {
            *hint = part.hint.clone();
        }
        found.push(source);
    }
    let mut leaves = search.leaves;
    leaves.sort_unstable();
    leaves.dedup();
    // If the layouts selected by these options are wanted, the hint already has them. So we reset the options.
    let mut hinted = options.clone();
    hinted.arrow_schema = Some(Arc::new(Schema::new(hints)));
    (hinted.strings, hinted.lists) = (ByteLayout::Offsets, ListLayout::Offsets);
    (hinted.dictionary, hinted.smallest_decimals) = (DictionaryOutput::Hinted, false);
    let leaves = Projection::Leaves(leaves);
    let mut mapping = to_arrow_extended(schema, key_values, &hinted, &leaves, extensions)?;
    mapping.warnings = file.warnings;

    let mut makers = Makers {
        wanted,
        leaves: Vec::new(),
    };
    let mut roots = Vec::new();
    for (field, source) in wanted.schema().fields().iter().zip(&found) {
        let mut path = vec![field.name().clone()];
        roots.push(match source {
            None => Root::Constant(makers.root_constant(field, path, false)?),
            Some((_, part)) if matches!(part.below, Below::Nothing) => {
                Root::Constant(makers.root_constant(field, path, true)?)
            }
            Some((_, part)) => {
                let is_it = |node: &Node| node.schema_node == part.schema_node;
                let ordinal = mapping.fields.iter().position(is_it);
                let node = ordinal.and_then(|ordinal| mapping.fields.get(ordinal));
                let (ordinal, node) = ordinal.zip(node).ok_or_else(|| lost(&path))?;
                let conversion = makers.conversion(node, part, field, &mut path, true)?;
                Root::Field {
                    ordinal,
                    conversion,
                }
            }
        });
    }
    Ok(Resolution {
        mapping,
        roots,
        leaves: makers.leaves,
    })
}

/// A builder for the conversions of decoded arrays.
struct Makers<'a> {
    wanted: &'a WantedSchema,
    leaves: Vec<ResolvedLeaf>,
}

impl Makers<'_> {
    /// Returns the conversion from the array of `node` to the wanted field. `is_single` is true if each row has exactly
    /// one slot in the array.
    fn conversion(
        &mut self,
        node: &Node,
        part: &FoundNode,
        wanted: &FieldRef,
        path: &mut Vec<String>,
        is_single: bool,
    ) -> Result<ArrayConversion> {
        let (is, wants) = (node.field.data_type(), wanted.data_type());
        if let (NodeKind::Leaf { leaf, .. }, true) = (&node.kind, is_single) {
            self.leaves.push(ResolvedLeaf {
                path: path.clone(),
                source: LeafSource::Leaf(*leaf),
                data_type: wants.clone(),
            });
        }
        let illegal = || illegal(is, wants).in_column(path.join("."));
        match (&part.below, &node.kind, wants) {
            (Below::Values, ..) if is == wants => Ok(ArrayConversion::Keep),
            (Below::Values, ..) => Cast::with(self.wanted.times, is, wants)
                .map(ArrayConversion::Cast)
                .ok_or_else(illegal),
            (Below::Fields(parts), NodeKind::Struct(fields), DataType::Struct(wanted_fields)) => {
                let mut sources = Vec::new();
                for (field, part) in wanted_fields.iter().zip(parts) {
                    path.push(field.name().clone());
                    sources.push(self.source(fields, part.as_ref(), field, path, is_single)?);
                    path.pop();
                }
                if is == wants && are_all_kept(&sources, fields.len()) {
                    return Ok(ArrayConversion::Keep);
                }
                Ok(ArrayConversion::Struct {
                    fields: wanted_fields.clone(),
                    sources,
                })
            }
            (Below::Elements(part), NodeKind::List { child, .. }, _)
                if is_same_layout(is, wants) =>
            {
                self.elements((node, child), part, wants, path)
            }
            // Only the file can declare that a map's keys are sorted.
            (Below::Elements(part), NodeKind::Map { entries, .. }, DataType::Map(_, is_sorted))
                if !is_sorted || matches!(is, DataType::Map(_, true)) =>
            {
                self.elements((node, entries), part, wants, path)
            }
            _ => Err(illegal()),
        }
    }

    fn source(
        &mut self,
        fields: &[Node],
        part: Option<&FoundNode>,
        wanted: &FieldRef,
        path: &mut Vec<String>,
        is_single: bool,
    ) -> Result<FieldSource> {
        let part = match part {
            None => return self.constant(wanted, path).map(FieldSource::Constant),
            Some(part) if matches!(part.below, Below::Nothing) => {
                return self.nothing(wanted, path).map(FieldSource::Constant);
            }
            Some(part) => part,
        };
        let ordinal = fields
            .iter()
            .position(|node| node.schema_node == part.schema_node);
        let node = ordinal.and_then(|ordinal| fields.get(ordinal));
        let (ordinal, node) = ordinal.zip(node).ok_or_else(|| lost(path))?;
        let conversion = self.conversion(node, part, wanted, path, is_single)?;
        Ok(FieldSource::Field(ordinal, conversion))
    }

    /// Returns a list or map's conversion, based on the conversion of its elements or entries.
    fn elements(
        &mut self,
        (node, child): (&Node, &Node),
        part: &FoundNode,
        wants: &DataType,
        path: &mut Vec<String>,
    ) -> Result<ArrayConversion> {
        let is = node.field.data_type();
        let (element, is_sorted) = match wants {
            DataType::Map(entries, is_sorted) => (entries, *is_sorted),
            _ => (
                list_element(wants).ok_or_else(|| illegal(is, wants))?,
                false,
            ),
        };
        let conversion = self.conversion(child, part, element, path, false)?;
        if is == wants && matches!(conversion, ArrayConversion::Keep) {
            return Ok(ArrayConversion::Keep);
        }
        Ok(ArrayConversion::List {
            element: element.clone(),
            is_sorted,
            conversion: Box::new(conversion),
        })
    }

    /// Returns the constant for a column missing from the file. We list it among the leaves so that predicates can test
    /// it, since nothing else makes nulls in it.
    fn root_constant(
        &mut self,
        field: &Field,
        path: Vec<String>,
        is_known: bool,
    ) -> Result<Constant> {
        let constant = match is_known {
            true => self.nothing(field, &path)?,
            false => self.constant(field, &path)?,
        };
        self.leaves.push(ResolvedLeaf {
            path,
            source: LeafSource::Constant(constant.clone()),
            data_type: field.data_type().clone(),
        });
        Ok(constant)
    }

    /// Returns the constant for a field with none of its wanted subfields in the file. For a non-nullable struct, the
    /// value is a struct of such constants.
    fn nothing(&self, field: &Field, path: &[String]) -> Result<Constant> {
        let DataType::Struct(fields) = field.data_type() else {
            return self.constant(field, path);
        };
        if field.is_nullable() || self.wanted.default_of(path, field)?.is_some() {
            return self.constant(field, path);
        }
        let field_of = |field: &FieldRef| {
            let path = [path, &[field.name().clone()]].concat();
            self.nothing(field, &path)?.array(1)
        };
        let columns = fields.iter().map(field_of).collect::<Result<_>>()?;
        let value = StructArray::try_new_with_length(fields.clone(), columns, None, 1);
        let value = value.map_err(|error| Error::argument(error.to_string()))?;
        Ok(Constant::Value(Arc::new(value)))
    }

    /// Returns the constant for a field missing from the file: its default, otherwise null.
    fn constant(&self, field: &Field, path: &[String]) -> Result<Constant> {
        if let Some(value) = self.wanted.default_of(path, field)? {
            return Ok(Constant::Value(value));
        }
        self.wanted.check_missing(path, field)?;
        Ok(Constant::Null(field.data_type().clone()))
    }
}

/// Returns true if a struct keeps all of its `fields` in order.
fn are_all_kept(sources: &[FieldSource], fields: usize) -> bool {
    let mut sources = sources.iter().enumerate();
    sources.len() == fields
        && sources.all(|(place, source)| {
            matches!(source, FieldSource::Field(from, ArrayConversion::Keep) if *from == place)
        })
}

/// Returns true if two list types have the same layout.
fn is_same_layout(a: &DataType, b: &DataType) -> bool {
    use DataType as T;
    match (a, b) {
        (T::FixedSizeList(_, a), T::FixedSizeList(_, b)) => a == b,
        (T::List(_), T::List(_))
        | (T::LargeList(_), T::LargeList(_))
        | (T::ListView(_), T::ListView(_))
        | (T::LargeListView(_), T::LargeListView(_)) => true,
        _ => false,
    }
}

fn illegal(file: &DataType, wanted: &DataType) -> Error {
    Error::argument(format!(
        "{file} in the file cannot be cast to the wanted {wanted}"
    ))
}

fn lost(path: &[String]) -> Error {
    Error::argument("a wanted field was found but not mapped").in_column(path.join("."))
}
