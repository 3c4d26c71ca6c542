//! Makes columns narrower, so that only those fields of structs are read that expressions look at,
//! even in lists and maps.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use datafusion_expr::ScalarUDF;
use datafusion_functions_nested::extract::{array_element_udf, array_slice_udf};
use datafusion_functions_nested::map_extract::map_extract_udf;
use datafusion_functions_nested::map_values::map_values_udf;
use datafusion_physical_expr::ScalarFunctionExpr;
use datafusion_physical_expr::expressions::Column;
use datafusion_physical_expr_common::physical_expr::PhysicalExpr;

use super::translate::fields_of;

/// A step from a nested value to one of its parts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// The column, the struct field, or the value of a key with this name.
    Name(String),
    /// A list's element, or a map's value.
    Element,
}

/// The parts of a column that expressions look at.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Use {
    /// The whole value.
    Whole,
    /// Some of its parts.
    Parts(BTreeMap<Step, Self>),
}

impl Use {
    fn nothing() -> Self {
        Self::Parts(BTreeMap::new())
    }

    /// Adds the use of a part of an expression's value. `steps` lead from the value to the part,
    /// with the last one first.
    fn add_all(&mut self, expr: &dyn PhysicalExpr, mut steps: Vec<Step>) {
        if let Some(column) = expr.downcast_ref::<Column>() {
            steps.push(Step::Name(column.name().to_owned()));
            return self.add(&steps);
        }
        let Some((of, parts)) = part_of(expr) else {
            let children = expr.children().into_iter();
            return children.for_each(|child| self.add_all(child.as_ref(), Vec::new()));
        };
        steps.extend(parts.into_iter().rev());
        self.add_all(of.as_ref(), steps);
        // The remaining arguments are an element's index, or a value's key.
        let others = expr.children().into_iter().skip(1);
        others.for_each(|other| self.add_all(other.as_ref(), Vec::new()));
    }

    fn add(&mut self, steps: &[Step]) {
        let Self::Parts(parts) = self else {
            return;
        };
        let Some((first, rest)) = steps.split_last() else {
            *self = Self::Whole;
            return;
        };
        let part = parts.entry(first.clone()).or_insert_with(Self::nothing);
        part.add(rest);
    }

    /// Returns the use of all parts, merged into one.
    fn of_any_part(parts: &BTreeMap<Step, Self>) -> Self {
        let mut any = Self::nothing();
        parts.values().for_each(|part| any.merge(part));
        any
    }

    fn merge(&mut self, other: &Self) {
        match (&mut *self, other) {
            (Self::Parts(parts), Self::Parts(others)) => {
                for (step, other) in others {
                    let part = parts.entry(step.clone()).or_insert_with(Self::nothing);
                    part.merge(other);
                }
            }
            _ => *self = Self::Whole,
        }
    }
}

/// Returns the argument that an expression takes a part of, and the steps that lead to this part.
fn part_of(expr: &dyn PhysicalExpr) -> Option<(&Arc<dyn PhysicalExpr>, Vec<Step>)> {
    if let Some((of, names)) = fields_of(expr) {
        return Some((of, names.into_iter().map(Step::Name).collect()));
    }
    let function = expr.downcast_ref::<ScalarFunctionExpr>()?;
    // We compare functions and not their names, because a user may have functions of these names.
    let is = |engine_function: &ScalarUDF| function.fun() == engine_function;
    let steps = if is(&array_element_udf()) {
        vec![Step::Element]
    } else if is(&array_slice_udf()) || is(&map_extract_udf()) || is(&map_values_udf()) {
        // The result is a list of elements or values, so it adds no step.
        Vec::new()
    } else {
        return None;
    };
    Some((function.args().first()?, steps))
}

/// Returns those columns of a schema that expressions look at, in the schema's order. Nested
/// columns only have the parts that expressions look at.
pub(crate) fn narrow<'a>(
    schema: &Schema,
    exprs: impl IntoIterator<Item = &'a Arc<dyn PhysicalExpr>>,
) -> SchemaRef {
    let mut uses = Use::nothing();
    for expr in exprs {
        uses.add_all(expr.as_ref(), Vec::new());
    }
    let Use::Parts(uses) = &uses else {
        return Arc::new(schema.clone());
    };
    let of = |field: &FieldRef| uses.get(&Step::Name(field.name().clone()));
    let field = |field: &FieldRef| Some(narrow_field(field, of(field)?));
    let fields: Fields = schema.fields().iter().filter_map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn narrow_field(field: &FieldRef, of: &Use) -> FieldRef {
    let Use::Parts(parts) = of else {
        return field.clone();
    };
    let any = || Use::of_any_part(parts);
    let data_type = match field.data_type() {
        DataType::Struct(fields) => narrow_fields(fields, parts).map(DataType::Struct),
        DataType::List(inner) => Some(DataType::List(narrow_field(inner, &any()))),
        DataType::LargeList(inner) => Some(DataType::LargeList(narrow_field(inner, &any()))),
        DataType::Map(entries, is_sorted) => narrow_entries(entries, &any())
            .map(|entries| DataType::Map(Arc::new(entries), *is_sorted)),
        _ => None,
    };
    match data_type {
        Some(data_type) => Arc::new(Field::clone(field).with_data_type(data_type)),
        None => field.clone(),
    }
}

/// Returns the used fields of a struct, or `None` if the struct lacks one, because the expression
/// itself reports that.
fn narrow_fields(fields: &Fields, parts: &BTreeMap<Step, Use>) -> Option<Fields> {
    let of = |field: &FieldRef| parts.get(&Step::Name(field.name().clone()));
    let used = fields.iter().filter_map(|field| Some((field, of(field)?)));
    let narrowed: Fields = used.map(|(field, of)| narrow_field(field, of)).collect();
    (!narrowed.is_empty() && narrowed.len() == parts.len()).then_some(narrowed)
}

/// Returns a map's entries with only the used parts of its values.
fn narrow_entries(entries: &Field, value_use: &Use) -> Option<Field> {
    let DataType::Struct(fields) = entries.data_type() else {
        return None;
    };
    let [key, value] = &**fields else {
        return None;
    };
    let fields = Fields::from(vec![key.clone(), narrow_field(value, value_use)]);
    Some(entries.clone().with_data_type(DataType::Struct(fields)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(paths: &[&[Step]]) -> Use {
        let mut uses = Use::nothing();
        for path in paths {
            let reversed: Vec<Step> = path.iter().rev().cloned().collect();
            uses.add(&reversed);
        }
        uses
    }

    fn name(name: &str) -> Step {
        Step::Name(name.to_owned())
    }

    #[test]
    fn elements_and_values_are_narrowed_and_keys_are_not() {
        let leaf = |name: &str| Arc::new(Field::new(name, DataType::Int64, true));
        let leaf_paths = |names: &[&str]| {
            let fields = names.iter().map(|name| leaf(name)).collect();
            DataType::Struct(fields)
        };
        let list = |names: &[&str]| {
            let element = Field::new_list_field(leaf_paths(names), true);
            Arc::new(Field::new("l", DataType::List(Arc::new(element)), true))
        };
        let map = |names: &[&str]| {
            let key = Field::new("key", leaf_paths(&["k", "j"]), false);
            let value = Field::new("value", leaf_paths(names), true);
            let entries = DataType::Struct(vec![key, value].into());
            let entries = Arc::new(Field::new("entries", entries, false));
            Arc::new(Field::new("m", DataType::Map(entries, false), true))
        };
        let a = [Step::Element, name("a")];
        let c = [Step::Element, name("c")];
        let all = ["a", "b", "c"];
        let narrowed = narrow_field(&list(&all), &parts(&[&c, &a]));
        assert_eq!(narrowed, list(&["a", "c"]));
        // If the whole element is used once, all of its fields are needed.
        let whole = parts(&[&a, &[Step::Element]]);
        assert_eq!(narrow_field(&list(&all), &whole), list(&all));
        // If a field is unknown, it is left to the expression.
        let unknown = parts(&[&a, &[Step::Element, name("x")]]);
        assert_eq!(narrow_field(&list(&all), &unknown), list(&all));
        let key_parts = parts(&[&[name("one"), name("b")], &[name("two"), name("c")], &a]);
        assert_eq!(narrow_field(&map(&all), &key_parts), map(&all));
        let key_parts = parts(&[&[name("one"), name("b")], &c]);
        assert_eq!(narrow_field(&map(&all), &key_parts), map(&["b", "c"]));
    }
}
