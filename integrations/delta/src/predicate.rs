//! Translates the kernel's predicates into the library's predicates.
//!
//! A translation is *exact* if both select the same rows, and reject the same rows if they are
//! negated. It is *implied* if it selects at least the rows that the kernel's predicate selects.
//! That is enough, because the kernel tests all returned rows again.
//!
//! If the file lacks a column, its values may come from the kernel, so we do not translate
//! predicates about it. We also do not compare floating-point numbers, because the kernel does not
//! define the order of NaNs.

use delta_kernel::arrow::datatypes::{DataType, Schema};
use delta_kernel::expressions::{
    BinaryPredicate, BinaryPredicateOp, ColumnName, Expression, JunctionPredicateOp,
    Predicate as KernelPredicate, Scalar, UnaryPredicateOp,
};
use herringbone::ReadPlan;
use herringbone::filter::{Column, Literal, Predicate, col_at};

/// The depth of the deepest predicate that we translate, beyond which a predicate rules out
/// nothing.
const DEEPEST: usize = 256;

/// Returns a predicate over the wanted columns that selects at least the rows of the kernel's
/// predicate. `plan` has the file's columns.
pub(crate) fn implied(
    predicate: &KernelPredicate,
    schema: &Schema,
    plan: &ReadPlan,
) -> Option<Predicate> {
    Translation {
        schema,
        plan,
        is_implied: true,
    }
    .predicate(predicate, 0)
}

struct Translation<'a> {
    schema: &'a Schema,
    plan: &'a ReadPlan,
    is_implied: bool,
}

impl<'a> Translation<'a> {
    fn predicate(&self, predicate: &KernelPredicate, depth: usize) -> Option<Predicate> {
        if depth > DEEPEST {
            return None;
        }
        match predicate {
            KernelPredicate::BooleanExpression(Expression::Predicate(inner)) => {
                self.predicate(inner, depth + 1)
            }
            KernelPredicate::BooleanExpression(Expression::Column(name)) => {
                let (column, data_type) = self.leaf(name)?;
                (data_type == &DataType::Boolean).then(|| column.eq(true))
            }
            KernelPredicate::Not(inner) => {
                // Below a negation, the translation must be exact, because the negation of a weaker
                // test would be a stronger one.
                let exact = Translation {
                    schema: self.schema,
                    plan: self.plan,
                    is_implied: false,
                };
                Some(exact.predicate(inner, depth + 1)?.not())
            }
            KernelPredicate::Unary(unary) => match (unary.op, unary.expr.as_ref()) {
                (UnaryPredicateOp::IsNull, Expression::Column(name)) => {
                    Some(self.leaf(name)?.0.is_null())
                }
                _ => None,
            },
            KernelPredicate::Binary(binary) => self.comparison(binary),
            KernelPredicate::Junction(junction) => {
                let mut parts = Vec::with_capacity(junction.preds.len());
                for part in &junction.preds {
                    let part = self.predicate(part, depth + 1);
                    match (part, junction.op) {
                        (Some(part), _) => parts.push(part),
                        (None, JunctionPredicateOp::And) if self.is_implied => {}
                        (None, _) => return None,
                    }
                }
                parts.into_iter().reduce(|left, right| match junction.op {
                    JunctionPredicateOp::And => left.and(right),
                    JunctionPredicateOp::Or => left.or(right),
                })
            }
            _ => None,
        }
    }

    fn comparison(&self, binary: &BinaryPredicate) -> Option<Predicate> {
        let (name, value, is_swapped) = match (binary.left.as_ref(), binary.right.as_ref()) {
            (Expression::Column(name), Expression::Literal(value)) => (name, value, false),
            (Expression::Literal(value), Expression::Column(name)) => (name, value, true),
            _ => return None,
        };
        let (column, data_type) = self.leaf(name)?;
        let value = literal(value, data_type)?;
        let is_ordered = data_type != &DataType::Boolean;
        match (binary.op, is_swapped) {
            (BinaryPredicateOp::Equal, _) => Some(column.eq(value)),
            (BinaryPredicateOp::Distinct, _) => Some(column.clone().ne(value).or(column.is_null())),
            (BinaryPredicateOp::LessThan, false) | (BinaryPredicateOp::GreaterThan, true) => {
                is_ordered.then(|| column.lt(value))
            }
            (BinaryPredicateOp::GreaterThan, false) | (BinaryPredicateOp::LessThan, true) => {
                is_ordered.then(|| column.gt(value))
            }
            (BinaryPredicateOp::In, _) => None,
        }
    }

    /// Returns the file's leaf that a path of names leads to through structs, with its wanted type.
    fn leaf(&self, name: &ColumnName) -> Option<(Column, &'a DataType)> {
        self.plan.stored_leaf(name.path())?;
        let (mut fields, mut found) = (Some(self.schema.fields()), None);
        for name in name.path() {
            let (_, field) = fields?.find(name)?;
            fields = match field.data_type() {
                DataType::Struct(fields) => Some(fields),
                _ => None,
            };
            found = Some(field.data_type()).filter(|it| !it.is_nested());
        }
        Some((col_at(name.path().iter().cloned()), found?))
    }
}

/// Returns the value as a literal, if it has the column type.
fn literal(value: &Scalar, data_type: &DataType) -> Option<Literal> {
    use DataType as T;
    Some(match (value, data_type) {
        (Scalar::Boolean(value), T::Boolean) => (*value).into(),
        (Scalar::Byte(value), T::Int8) => (*value).into(),
        (Scalar::Short(value), T::Int16) => (*value).into(),
        (Scalar::Integer(value), T::Int32) => (*value).into(),
        (Scalar::Long(value), T::Int64) => (*value).into(),
        (Scalar::String(value), T::Utf8) => value.as_str().into(),
        (Scalar::Binary(value), T::Binary) => value.clone().into(),
        (Scalar::Date(value), T::Date32) => Literal::Date(*value),
        (Scalar::Timestamp(value), T::Timestamp(_, Some(_))) => timestamp(*value, true),
        (Scalar::TimestampNtz(value), T::Timestamp(_, None)) => timestamp(*value, false),
        (Scalar::Decimal(value), T::Decimal128(_, scale))
            if i16::from(value.scale()) == i16::from(*scale) =>
        {
            Literal::Decimal {
                unscaled: value.bits().into(),
                scale: i32::from(*scale),
            }
        }
        _ => return None,
    })
}

fn timestamp(micros: i64, is_utc: bool) -> Literal {
    Literal::Timestamp {
        nanos: i128::from(micros) * 1000,
        is_utc,
    }
}
