//! Filters rows by the values at a path.
//!
//! ```text
//! test of the value at $.a.b, as a type
//!     ─► the same test of typed_value.a.typed_value.b.typed_value, if that type compares as its own does,
//!        or `value` next to it has something other than a variant null          ─► row groups, pages
//!     ─► VariantGet: the columns of the path alone                              ─► rows
//! ```

use std::fmt;
use std::sync::Arc;

use herringbone_arrow::schema::SchemaRef;
use herringbone_core::extension::ExtensionColumnOption;
use herringbone_filter::{Column, Predicate, RowError, RowPredicate, RowTest, col_at};
use herringbone_format::Repetition;
use herringbone_schema::{ParquetSchema, SchemaOptions};

use super::VariantGet;
use crate::cast::PrimitiveType;
use crate::path::PathPart;
use crate::shredding::{GetOptions, TYPED_VALUE, VALUE};

/// A test on the values at one path of a column.
struct PathPredicate {
    column: Vec<String>,
    get: VariantGet,
    test: Arc<dyn Fn(Column) -> Predicate + Send + Sync>,
}

impl VariantGet {
    /// Returns a predicate on the values at the path in a column of variants. We compare them as
    /// the [requested type](Self::as_type). A value that does not fit this type is null, like a
    /// missing value, and no comparison with null is true. If you request no type, `is_null` and
    /// `is_not_null` test whether there is a value at the path.
    ///
    /// `test` gets the column of these values and returns the predicate, which must test this
    /// column alone.
    ///
    /// Only the columns on the path are decoded. A shredded field's statistics can prune row groups
    /// and pages, on two conditions. First, all values of the field must be in its own column, and
    /// none in the `value` next to it. Second, the field's type must compare like the requested
    /// type. That is, both are the same, or both are integers or decimals.
    ///
    /// ```
    /// use herringbone::ReadOptions;
    /// use herringbone::variant::PrimitiveType;
    /// use herringbone::variant::extension::VariantGet;
    ///
    /// let age = VariantGet::new("$.user.age".parse()?).as_type(PrimitiveType::Int64);
    /// let options = ReadOptions::new().filter(age.filter(["event"], |age| age.ge(18)));
    /// # Ok::<(), herringbone::Error>(())
    /// ```
    #[must_use]
    pub fn filter<S: Into<String>>(
        self,
        column: impl IntoIterator<Item = S>,
        test: impl Fn(Column) -> Predicate + Send + Sync + 'static,
    ) -> Predicate {
        Predicate::rows(PathPredicate {
            column: column.into_iter().map(Into::into).collect(),
            get: self,
            test: Arc::new(test),
        })
    }
}

impl fmt::Debug for PathPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (self.test)(col_at([self.call()])))
    }
}

impl PathPredicate {
    /// Returns the tested value in the syntax that the command's conditions use.
    fn call(&self) -> String {
        let part = |part: &String| match part.contains(['.', '"']) {
            true => format!("\"{}\"", part.replace('"', "\"\"")),
            false => part.clone(),
        };
        let column: Vec<String> = self.column.iter().map(part).collect();
        let (column, path) = (column.join("."), &self.get.path);
        match self.get.wanted {
            Some(wanted) => format!("variant_get({column}, '{path}', '{wanted}')"),
            None => format!("variant_get({column}, '{path}')"),
        }
    }

    /// Returns a name for the column of values. The name contains everything that affects the
    /// values, so that only equal columns share a name.
    fn name(&self) -> String {
        let options = &self.get.options;
        let mut usual = GetOptions::default();
        usual.unshred.lenient = options.unshred.lenient;
        let lenient = match options.unshred.lenient {
            true => " of lenient variants",
            false => "",
        };
        match *options == usual {
            true => format!("{}{lenient}", self.call()),
            false => format!("{} with {options:?}", self.call()),
        }
    }
}

impl RowPredicate for PathPredicate {
    fn columns(&self) -> Vec<Vec<String>> {
        Vec::new()
    }

    fn extension_columns(&self) -> Vec<ExtensionColumnOption> {
        vec![ExtensionColumnOption {
            name: self.name(),
            path: self.column.clone(),
            extension: Arc::new(self.get.clone()),
        }]
    }

    fn bind(&self, _columns: &SchemaRef) -> Result<RowTest, RowError> {
        let predicate = (self.test)(col_at([self.name()]));
        Ok(Box::new(move |batch| Ok(predicate.evaluate(batch)?)))
    }

    fn implied(&self, schema: &ParquetSchema) -> Result<Option<Predicate>, RowError> {
        // A lenient read also inspects columns next to the path, and any value can match as text.
        // In both cases, the column at the path proves nothing on its own.
        if self.get.options.unshred.lenient || self.get.options.cast.format_strings {
            return Ok(None);
        }
        let mut nodes = 0..schema.nodes().len();
        let is_own = |node: &usize| schema.node_path(*node).iter().eq(self.column.iter());
        let place = nodes
            .find(is_own)
            .map(|group| ShreddedGroup { schema, group });
        Ok(place.and_then(|place| place.implied(self, self.get.path.parts())))
    }
}

/// A group of `value` and `typed_value`.
#[derive(Clone, Copy)]
struct ShreddedGroup<'a> {
    schema: &'a ParquetSchema,
    group: usize,
}

impl ShreddedGroup<'_> {
    /// Returns a predicate that is true for every row that the path predicate matches. `parts` is
    /// the rest of the path from here on.
    fn implied(mut self, predicate: &PathPredicate, mut parts: &[PathPart]) -> Option<Predicate> {
        while let Some((part, rest)) = parts.split_first() {
            let PathPart::Field(name) = part else {
                return None;
            };
            let field = self.child(TYPED_VALUE).and_then(|child| child.child(name));
            let Some(field) = field else {
                // The field is not shredded, so if there is a value at all, it is inside `value`.
                return self.has_other_values(predicate);
            };
            (self, parts) = (field, rest);
        }
        let Some(typed) = self.child(TYPED_VALUE) else {
            return self.has_other_values(predicate);
        };
        let wanted = predicate.get.wanted?;
        let stored = typed.primitive()?;
        let is_exact = stored.is_exact_number() && wanted.is_exact_number();
        let column = || col_at(typed.path());
        let column_test = match (stored == wanted, is_exact) {
            (true, _) => (predicate.test)(column()),
            // A number that doesn't fit the wanted type becomes null, but we can't see that in this
            // column. So we only use tests that reject nulls.
            (false, true) => Some((predicate.test)(column())).filter(Predicate::rejects_nulls)?,
            _ => return None,
        };
        Some(match self.other_values()? {
            Some(others) => column_test.or(others),
            None => column_test,
        })
    }

    /// Returns a predicate that a value exists, if all values are in `value`.
    fn has_other_values(self, predicate: &PathPredicate) -> Option<Predicate> {
        let wants_values = (predicate.test)(col_at(["value"])).rejects_nulls();
        // If no type is requested, a variant null is a value like any other.
        let is_of_values = predicate.get.wanted.is_some() && wants_values;
        self.other_values()?.filter(|_| is_of_values)
    }

    /// Returns a predicate that `value` has something other than a variant null, which is null as
    /// any type. Returns `Some(None)` if there is no such column, and `None` if the column cannot
    /// be tested.
    #[allow(clippy::option_option, reason = "no column is not an unknown one")]
    fn other_values(self) -> Option<Option<Predicate>> {
        let Some(value) = self.child(VALUE) else {
            return Some(None);
        };
        value.leaf()?;
        Some(Some(col_at(value.path()).ne([0_u8].as_slice())))
    }

    /// Returns a column's type, if its values are primitive.
    fn primitive(self) -> Option<PrimitiveType> {
        let field = self
            .schema
            .leaf_field(self.leaf()?, &SchemaOptions::default());
        PrimitiveType::of_data_type(field?.data_type()).ok()
    }

    /// Returns the ordinal of this column, if it is a column and has one value per row.
    fn leaf(self) -> Option<usize> {
        let node = self.schema.nodes().get(self.group)?;
        let ordinal = node.leaves.start;
        let leaf = self.schema.leaves().get(ordinal)?;
        (!node.is_group() && leaf.max_rep_level == 0).then_some(ordinal)
    }

    fn path(self) -> Vec<String> {
        let path = self.schema.node_path(self.group).into_iter();
        path.map(str::to_owned).collect()
    }

    fn child(self, name: &str) -> Option<Self> {
        let mut children = self.schema.children(self.group);
        let is_named = |child: &usize| {
            let node = self.schema.nodes().get(*child);
            node.is_some_and(|node| {
                node.element.name == name && node.repetition() != Repetition::Repeated
            })
        };
        let group = children.find(is_named)?;
        Some(Self { group, ..self })
    }
}

impl PrimitiveType {
    /// Returns true for number types with exact comparison. Casts between them are exact or fail.
    fn is_exact_number(self) -> bool {
        matches!(
            self,
            Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64 | Self::Decimal { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use herringbone_arrow::array::{Int64Array, RecordBatch};
    use herringbone_arrow::schema::{DataType, Field, Schema};

    use super::*;

    #[test]
    fn the_test_gets_the_column_that_it_asks_for() {
        let predicate = PathPredicate {
            column: vec!["event".into(), "body".into()],
            get: VariantGet::new("$.age".parse().unwrap()).as_type(PrimitiveType::Int64),
            test: Arc::new(|age| age.ge(18)),
        };
        assert!(predicate.columns().is_empty());
        let [column] = &predicate.extension_columns()[..] else {
            panic!("not one column");
        };
        assert_eq!(column.path, ["event", "body"]);
        let field = Field::new(&column.name, DataType::Int64, true);
        let schema = Arc::new(Schema::new(vec![field]));
        let ages = Int64Array::from(vec![Some(17), Some(18), None, Some(19)]);
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(ages)]).unwrap();
        let selected = predicate.bind(&schema).unwrap()(&batch).unwrap();
        let selected: Vec<usize> = selected.values().set_indices().collect();
        assert_eq!(selected, [1, 3]);
    }
}
