//! Turns the tests in a condition into predicates, depending on the column types in a file.

use herringbone::filter::{Column, Like, Literal, Predicate};
use herringbone_arrow::array::Array as _;
use herringbone_arrow::schema::{DataType, FieldRef, Schema};
use herringbone_interchange::read::value_of;
use sqlparser::ast::BinaryOperator;

use super::super::operand::Operand;
use super::groups::{IsNull, OneOf};
use crate::base::type_name::type_name;

/// A test of a column's values.
#[derive(Debug, Clone)]
pub(super) enum Check {
    IsNull,
    IsNotNull,
    /// Equality with one of the two booleans. For a null, this test is false rather than unknown.
    IsKnown(bool),
    Compare(Comparison, Literal),
    /// The value of a boolean column, which is a condition by itself.
    Holds,
    /// Equality that is false for a null, instead of unknown.
    Same(Literal),
    Between(Literal, Literal),
    In(Vec<Literal>),
    Like(Like),
}

/// A comparison with a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// Returns the comparison of a column with a literal. `is_turned` means that the literal is on
    /// the left, so we have to flip the operator.
    pub(super) fn of(op: &BinaryOperator, is_turned: bool) -> Option<Self> {
        Some(match (op, is_turned) {
            (BinaryOperator::Eq, _) => Self::Equal,
            (BinaryOperator::NotEq, _) => Self::NotEqual,
            (BinaryOperator::Lt, false) | (BinaryOperator::Gt, true) => Self::Less,
            (BinaryOperator::LtEq, false) | (BinaryOperator::GtEq, true) => Self::LessOrEqual,
            (BinaryOperator::Gt, false) | (BinaryOperator::Lt, true) => Self::Greater,
            (BinaryOperator::GtEq, false) | (BinaryOperator::LtEq, true) => Self::GreaterOrEqual,
            _ => return None,
        })
    }

    fn with(self, column: Column, literal: Literal) -> Predicate {
        match self {
            Self::Equal => column.eq(literal),
            Self::NotEqual => column.ne(literal),
            Self::Less => column.lt(literal),
            Self::LessOrEqual => column.le(literal),
            Self::Greater => column.gt(literal),
            Self::GreaterOrEqual => column.ge(literal),
        }
    }
}

impl Check {
    /// Returns the predicate that tests an operand. If the columns are known, literals are parsed
    /// according to the column's type.
    ///
    /// # Errors
    /// Fails with a message if a literal is of another type than the column.
    pub(super) fn predicate(
        &self,
        mut operand: Operand,
        schema: Option<&Schema>,
    ) -> Result<Predicate, String> {
        let field = schema.and_then(|schema| found(operand.path_mut(), schema));
        let (Operand::Column(path), Some(field)) = (&operand, field) else {
            return Ok(self.clone().of(operand));
        };
        match field.data_type() {
            data_type if matches!(self, Self::Holds) && is_scalar(data_type) => Err(format!(
                "`{0}` is {1}, not a condition; compare it with a value, as in `{0} > 5`. Put conditions in quotes: \
                 the shell takes > for itself",
                path.join("."),
                type_name(&field)
            )),
            data_type if data_type.is_nested() => Ok(match self {
                Self::IsNull => Predicate::rows(IsNull::new(path.clone())),
                Self::IsNotNull => Predicate::rows(IsNull::new(path.clone())).not(),
                _ => self.clone().of(operand),
            }),
            DataType::Interval(_) => self.of_intervals(path, &field),
            DataType::Duration(_) => {
                let ticks = |literal: &Literal| ticks(literal, &field);
                Ok(self.with_literals(ticks)?.of(operand))
            }
            _ => Ok(self.clone().of(operand)),
        }
    }

    fn of(self, operand: Operand) -> Predicate {
        let is_known =
            |column: Column, literal: Literal| column.clone().eq(literal).and(column.is_not_null());
        match self {
            Self::IsNull => operand.test(Column::is_null),
            Self::IsNotNull => operand.test(Column::is_not_null),
            Self::Holds => operand.test(|operand| operand.eq(true)),
            Self::IsKnown(value) => operand.test(move |operand| is_known(operand, value.into())),
            Self::Compare(comparison, literal) => {
                operand.test(move |operand| comparison.with(operand, literal.clone()))
            }
            Self::Same(literal) => operand.test(move |operand| is_known(operand, literal.clone())),
            Self::Between(low, high) => {
                operand.test(move |operand| operand.between(low.clone(), high.clone()))
            }
            Self::In(values) => operand.test(move |operand| operand.is_in(values.clone())),
            Self::Like(like) => operand.test(move |operand| operand.like(like.clone())),
        }
    }

    /// Returns the test with each literal replaced by `changed`.
    fn with_literals(
        &self,
        changed: impl Fn(&Literal) -> Result<Literal, String>,
    ) -> Result<Self, String> {
        Ok(match self {
            Self::Compare(comparison, literal) => Self::Compare(*comparison, changed(literal)?),
            Self::Same(literal) => Self::Same(changed(literal)?),
            Self::Between(low, high) => Self::Between(changed(low)?, changed(high)?),
            Self::In(values) => Self::In(values.iter().map(changed).collect::<Result<_, _>>()?),
            other => other.clone(),
        })
    }

    /// Returns the test for a column of intervals. These are equal or not, but they have no order,
    /// because the specification leaves the sort order of INTERVAL undefined.
    fn of_intervals(&self, path: &[String], field: &FieldRef) -> Result<Predicate, String> {
        let one_of =
            |literals: &[Literal]| OneOf::new(path.to_vec(), field, literals).map(Predicate::rows);
        let is_null = || Self::IsNull.of(Operand::Column(path.to_vec()));
        match self {
            Self::IsNull => Ok(is_null()),
            Self::IsNotNull => Ok(is_null().not()),
            Self::Compare(Comparison::Equal, literal) => one_of(std::slice::from_ref(literal)),
            Self::Compare(Comparison::NotEqual, literal) => {
                Ok(one_of(std::slice::from_ref(literal))?.not())
            }
            Self::Same(literal) => Ok(one_of(std::slice::from_ref(literal))?.and(is_null().not())),
            Self::In(literals) => one_of(literals),
            _ => Err(format!(
                "intervals such as those of `{}` have no order; compare them by =, <> and in",
                path.join(".")
            )),
        }
    }
}

/// Returns true for numbers, text, dates and times.
fn is_scalar(data_type: &DataType) -> bool {
    let is_text = matches!(
        data_type,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    );
    data_type.is_numeric() || data_type.is_temporal() || is_text
}

/// Returns the number of time units in a duration such as 'PT1.5S'. Literals other than text stay
/// unchanged.
fn ticks(literal: &Literal, field: &FieldRef) -> Result<Literal, String> {
    let Literal::Text(text) = literal else {
        return Ok(literal.clone());
    };
    let value = value_of(field, text)?.to_data();
    let ticks = value
        .buffers()
        .first()
        .map(|buffer| buffer.typed_data::<i64>());
    let ticks = ticks.and_then(|ticks| ticks.first()).copied();
    Ok(ticks.map_or(Literal::Null, Literal::from))
}

/// Gives each name in a path the case that it has in the schema. Returns the field at the path's
/// end, if the path leads through structs only.
fn found(path: &mut [String], schema: &Schema) -> Option<FieldRef> {
    let mut fields = schema.fields();
    let mut last: Option<&FieldRef> = None;
    for (at, name) in path.iter_mut().enumerate() {
        if at > 0 {
            let DataType::Struct(inner) = last?.data_type() else {
                return None;
            };
            fields = inner;
        }
        let field = match fields.find(name) {
            Some((_, field)) => field,
            None => {
                let same = |field: &&FieldRef| field.name().to_lowercase() == name.to_lowercase();
                let mut alike = fields.iter().filter(same);
                // If several names only differ in case, we don't guess which one is meant.
                let (Some(field), None) = (alike.next(), alike.next()) else {
                    return None;
                };
                name.clone_from(field.name());
                field
            }
        };
        last = Some(field);
    }
    last.cloned()
}
