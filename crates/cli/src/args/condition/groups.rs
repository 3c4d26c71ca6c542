//! Tests of whole columns: whether a struct, list, map or variant is null, and whether an interval
//! is one of some values.

use std::collections::HashSet;

use herringbone::filter::{Literal, Predicate, RowError, RowPredicate, RowTest, col_at};
use herringbone::schema::ParquetSchema;
use herringbone_arrow::array::{Array as _, ArrayRef, BooleanArray};
use herringbone_arrow::schema::{Field, FieldRef, SchemaRef};

use herringbone_interchange::read::value_of;
use herringbone_interchange::write::value;

use crate::base::type_name::type_name;

/// Selects the rows in which a struct, list, map or variant is null.
#[derive(Debug)]
pub(super) struct IsNull {
    path: Vec<String>,
}

impl IsNull {
    pub(super) fn new(path: Vec<String>) -> Self {
        Self { path }
    }
}

impl RowPredicate for IsNull {
    fn columns(&self) -> Vec<Vec<String>> {
        vec![self.path.clone()]
    }

    fn bind(&self, _columns: &SchemaRef) -> Result<RowTest, RowError> {
        Ok(Box::new(|batch| {
            let array = batch.columns().first().ok_or("the column was not read")?;
            let is_null = |row| array.is_null(row);
            Ok((0..array.len()).map(|row| Some(is_null(row))).collect())
        }))
    }

    /// Returns a test of one leaf that can rule out row groups and pages. It may be used in place
    /// of the struct, because all fields of a null struct are null.
    fn implied(&self, schema: &ParquetSchema) -> Result<Option<Predicate>, RowError> {
        let node = schema.node_at(&self.path)?;
        let leaf = schema.nodes().get(node).map(|node| node.leaves.start);
        let leaf = leaf.and_then(|leaf| Some((leaf, schema.leaves().get(leaf)?)));
        Ok(leaf
            .filter(|(_, leaf)| leaf.max_rep_level == 0)
            .map(|(leaf, _)| {
                let path = schema.path(leaf);
                col_at(path).is_null()
            }))
    }
}

/// Selects the rows whose value has the same text as one of several values. Intervals are compared
/// in this way, because they are equal or not, but have no order.
#[derive(Debug)]
pub(super) struct OneOf {
    path: Vec<String>,
    texts: HashSet<String>,
    /// True if one of the values is null. Then the test is unknown for a row with any other value,
    /// as SQL asks.
    has_null: bool,
}

impl OneOf {
    /// Creates the test for a field's values.
    ///
    /// # Errors
    /// Fails with a message if a literal is of another type than the field.
    pub(super) fn new(
        path: Vec<String>,
        field: &FieldRef,
        literals: &[Literal],
    ) -> Result<Self, String> {
        let (mut texts, mut has_null) = (HashSet::new(), false);
        for literal in literals {
            match literal {
                Literal::Null => has_null = true,
                Literal::Text(text) => texts.extend(texts_of(field, &value_of(field, text)?)?),
                other => {
                    return Err(format!(
                        "cannot compare {} with {other}; write a period such as 'P1M2DT3S'",
                        type_name(field)
                    ));
                }
            }
        }
        Ok(Self {
            path,
            texts,
            has_null,
        })
    }
}

/// Returns the text of each value. A null becomes an empty text.
fn texts_of(field: &Field, array: &ArrayRef) -> Result<Vec<String>, String> {
    let values = value::of(field, array).map_err(|failure| failure.to_string())?;
    let text = |row| {
        let mut text = String::new();
        values.text(row, &mut text);
        text
    };
    Ok((0..array.len()).map(text).collect())
}

impl RowPredicate for OneOf {
    fn columns(&self) -> Vec<Vec<String>> {
        vec![self.path.clone()]
    }

    fn bind(&self, columns: &SchemaRef) -> Result<RowTest, RowError> {
        let field = columns
            .fields()
            .first()
            .ok_or("the column was not read")?
            .clone();
        let (texts, has_null) = (self.texts.clone(), self.has_null);
        Ok(Box::new(move |batch| {
            let array = batch.columns().first().ok_or("the column was not read")?;
            let found = texts_of(&field, array)?;
            let is_in = |(row, text): (usize, &String)| {
                let is_in = texts.contains(text);
                (array.is_valid(row) && (is_in || !has_null)).then_some(is_in)
            };
            Ok(found
                .iter()
                .enumerate()
                .map(is_in)
                .collect::<BooleanArray>())
        }))
    }
}
