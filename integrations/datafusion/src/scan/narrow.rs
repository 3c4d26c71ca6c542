//! Narrower structs: only the fields that expressions look at are read.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use datafusion_physical_expr_common::physical_expr::PhysicalExpr;

use super::translate::path;

/// The parts of a column that expressions look at.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Use {
    /// The whole value.
    Whole,
    /// Fields of a struct.
    Fields(BTreeMap<String, Self>),
}

impl Use {
    fn add_all(&mut self, expr: &dyn PhysicalExpr) {
        match path(expr) {
            Some(path) => self.add(&path),
            None => expr
                .children()
                .into_iter()
                .for_each(|child| self.add_all(child.as_ref())),
        }
    }

    fn add(&mut self, path: &[String]) {
        let Self::Fields(fields) = self else {
            return;
        };
        let Some((first, rest)) = path.split_first() else {
            *self = Self::Whole;
            return;
        };
        let inner = fields
            .entry(first.clone())
            .or_insert(Self::Fields(BTreeMap::new()));
        inner.add(rest);
    }
}

/// Returns the columns of a schema that expressions look at, in its order, with the fields of structs that they look at.
pub(crate) fn narrow<'a>(
    schema: &Schema,
    exprs: impl IntoIterator<Item = &'a Arc<dyn PhysicalExpr>>,
) -> SchemaRef {
    let mut uses = Use::Fields(BTreeMap::new());
    for expr in exprs {
        uses.add_all(expr.as_ref());
    }
    let Use::Fields(uses) = &uses else {
        return Arc::new(schema.clone());
    };
    let field = |field: &FieldRef| Some(narrow_field(field, uses.get(field.name())?));
    let fields: Fields = schema.fields().iter().filter_map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn narrow_field(field: &FieldRef, of: &Use) -> FieldRef {
    let (DataType::Struct(fields), Use::Fields(uses)) = (field.data_type(), of) else {
        return field.clone();
    };
    let inner = |field: &FieldRef| Some(narrow_field(field, uses.get(field.name())?));
    let narrowed: Fields = fields.iter().filter_map(inner).collect();
    // A name that the struct lacks: the expression reports it.
    if narrowed.is_empty() || narrowed.len() < uses.len() {
        return field.clone();
    }
    Arc::new(Field::clone(field).with_data_type(DataType::Struct(narrowed)))
}
