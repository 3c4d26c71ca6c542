//! Translates engine expressions into the library's predicates.
//!
//! A translation is *exact* if both select the same rows, and reject the same rows if they are
//! negated. It is *implied* if it selects at least the rows that the expression selects. We only
//! use implied predicates to rule out data.
//!
//! Comparisons of floating-point numbers are never exact, because the engine orders negative NaNs
//! below all numbers and positive NaNs above, while the library has one NaN above all numbers.

use arrow::datatypes::i256;
use arrow::datatypes::{DataType, Schema, TimeUnit};
use datafusion_common::ScalarValue;
use datafusion_expr::Operator;
use datafusion_functions::core::getfield::GetFieldFunc;
use datafusion_physical_expr::ScalarFunctionExpr;
use datafusion_physical_expr::expressions::{
    BinaryExpr, Column, DynamicFilterPhysicalExpr, InListExpr, IsNotNullExpr, IsNullExpr, LikeExpr,
    Literal as LiteralExpr, NotExpr,
};
use datafusion_physical_expr_common::physical_expr::PhysicalExpr;
use herringbone::filter::{Literal, Predicate, col_at};

/// The depth of the deepest expression that we translate, beyond which the engine evaluates the
/// expression.
const DEEPEST: usize = 256;

/// Returns the predicate that selects the same rows as an expression over the columns of `schema`.
pub(crate) fn exact(expr: &dyn PhysicalExpr, schema: &Schema) -> Option<Predicate> {
    Translation {
        schema,
        stored: schema,
        is_implied: false,
    }
    .predicate(expr, 0)
}

/// Returns a predicate that selects at least the rows that an expression selects. It tests columns
/// of the file, whose schema is `stored`. Structs in `schema` may have more fields than the file's.
pub(crate) fn implied(
    expr: &dyn PhysicalExpr,
    schema: &Schema,
    stored: &Schema,
) -> Option<Predicate> {
    Translation {
        schema,
        stored,
        is_implied: true,
    }
    .predicate(expr, 0)
}

/// Returns the field that an expression names, as its path from the schema root.
pub(crate) fn path(expr: &dyn PhysicalExpr) -> Option<Vec<String>> {
    if let Some(column) = expr.downcast_ref::<Column>() {
        return Some(vec![column.name().to_owned()]);
    }
    let (of, names) = fields_of(expr)?;
    let mut path = path(of.as_ref())?;
    path.extend(names);
    Some(path)
}

/// Returns the argument that an expression takes a field of, and the field path within it.
pub(crate) fn fields_of(
    expr: &dyn PhysicalExpr,
) -> Option<(&std::sync::Arc<dyn PhysicalExpr>, Vec<String>)> {
    let function = ScalarFunctionExpr::try_downcast_func::<GetFieldFunc>(expr)?;
    let (of, names) = function.args().split_first()?;
    let name = |name: &std::sync::Arc<dyn PhysicalExpr>| {
        let name = name.downcast_ref::<LiteralExpr>()?.value().try_as_str()??;
        Some(name.to_owned())
    };
    Some((of, names.iter().map(name).collect::<Option<_>>()?))
}

/// Returns a field's type, if its path only leads through structs.
fn type_of<'a>(path: &[String], schema: &'a Schema) -> Option<&'a DataType> {
    let (root, names) = path.split_first()?;
    let mut data_type = schema.field_with_name(root).ok()?.data_type();
    for name in names {
        let DataType::Struct(fields) = data_type else {
            return None;
        };
        data_type = fields
            .iter()
            .find(|field| field.name() == name)?
            .data_type();
    }
    Some(data_type)
}

struct Translation<'a> {
    schema: &'a Schema,
    /// The schema that has the tested columns.
    stored: &'a Schema,
    is_implied: bool,
}

impl Translation<'_> {
    fn predicate(&self, expr: &dyn PhysicalExpr, depth: usize) -> Option<Predicate> {
        if depth > DEEPEST {
            return None;
        }
        if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
            return self.binary(binary, depth);
        }
        if let Some(not) = expr.downcast_ref::<NotExpr>() {
            // Below a negation, the translation must be exact, because the negation of a weaker
            // test would be a stronger one.
            let exact = Translation {
                is_implied: false,
                ..*self
            };
            return Some(exact.predicate(not.arg().as_ref(), depth + 1)?.not());
        }
        if let Some(is_null) = expr.downcast_ref::<IsNullExpr>() {
            return Some(self.tested(is_null.arg().as_ref())?.0.is_null());
        }
        if let Some(is_not_null) = expr.downcast_ref::<IsNotNullExpr>() {
            return Some(self.tested(is_not_null.arg().as_ref())?.0.is_not_null());
        }
        if let Some(list) = expr.downcast_ref::<InListExpr>() {
            return self.list(list);
        }
        if let Some(like) = expr.downcast_ref::<LikeExpr>() {
            return self.like(like);
        }
        if let Some(dynamic) = expr.downcast_ref::<DynamicFilterPhysicalExpr>() {
            // We may take the current value, because dynamic filters only become stricter, so a
            // later value selects no other rows.
            let current = self.is_implied.then(|| dynamic.current().ok())??;
            return self.predicate(current.as_ref(), depth + 1);
        }
        match self.tested(expr)? {
            (column, DataType::Boolean) => Some(column.eq(true)),
            _ => None,
        }
    }

    fn binary(&self, binary: &BinaryExpr, depth: usize) -> Option<Predicate> {
        let side =
            |side: &std::sync::Arc<dyn PhysicalExpr>| self.predicate(side.as_ref(), depth + 1);
        match binary.op() {
            Operator::And => match (side(binary.left()), side(binary.right())) {
                (Some(left), Some(right)) => Some(left.and(right)),
                (left, right) if self.is_implied => left.or(right),
                _ => None,
            },
            Operator::Or => Some(side(binary.left())?.or(side(binary.right())?)),
            operator => self.comparison(binary, *operator),
        }
    }

    fn comparison(&self, binary: &BinaryExpr, operator: Operator) -> Option<Predicate> {
        let value =
            |expr: &dyn PhysicalExpr| Some(expr.downcast_ref::<LiteralExpr>()?.value().clone());
        let (left, right) = (binary.left().as_ref(), binary.right().as_ref());
        let (column, value, operator) = match value(right) {
            Some(value) => (left, value, operator),
            None => (right, value(left)?, operator.swap()?),
        };
        let (column, data_type) = self.tested(column)?;
        if data_type.is_floating() {
            return self.floating_comparison(column, float(&value)?, operator);
        }
        let value = literal(&value, data_type)?;
        match operator {
            Operator::Eq => Some(column.eq(value)),
            Operator::NotEq => Some(column.ne(value)),
            Operator::Lt => Some(column.lt(value)),
            Operator::LtEq => Some(column.le(value)),
            Operator::Gt => Some(column.gt(value)),
            Operator::GtEq => Some(column.ge(value)),
            _ => None,
        }
    }

    /// Returns a predicate that also selects each NaN, because the NaN's sign decides whether the
    /// engine selects it.
    fn floating_comparison(
        &self,
        column: herringbone::filter::Column,
        value: f64,
        operator: Operator,
    ) -> Option<Predicate> {
        if !self.is_implied {
            return None;
        }
        let nan = column.clone().is_nan();
        if value.is_nan() {
            return (operator == Operator::Eq).then_some(nan);
        }
        // We also select values that equal the literal, because the engine may order zeros of both
        // signs.
        match operator {
            Operator::Eq => Some(column.eq(value)),
            Operator::Lt | Operator::LtEq => Some(column.le(value).or(nan)),
            Operator::Gt | Operator::GtEq => Some(column.ge(value).or(nan)),
            _ => None,
        }
    }

    fn list(&self, list: &InListExpr) -> Option<Predicate> {
        let (column, data_type) = self.tested(list.expr().as_ref())?;
        let values = list
            .list()
            .iter()
            .map(|list| Some(list.downcast_ref::<LiteralExpr>()?.value()));
        let values: Vec<&ScalarValue> = values.collect::<Option<_>>()?;
        if data_type.is_floating() {
            if !self.is_implied || list.negated() {
                return None;
            }
            let values = values
                .into_iter()
                .filter(|value| !value.is_null())
                .map(float);
            let values = values.collect::<Option<Vec<f64>>>()?;
            let nan = column.clone().is_nan();
            let has_nan = values.iter().any(|value| value.is_nan());
            let found = column.is_in(values.into_iter().filter(|value| !value.is_nan()));
            return Some(if has_nan { found.or(nan) } else { found });
        }
        // We do not translate a list that has a null, because its answer is never false.
        let values = values.into_iter().map(|value| literal(value, data_type));
        let found = column.is_in(values.collect::<Option<Vec<_>>>()?);
        Some(if list.negated() { found.not() } else { found })
    }

    fn like(&self, like: &LikeExpr) -> Option<Predicate> {
        let (column, data_type) = self.tested(like.expr().as_ref())?;
        let pattern = like
            .pattern()
            .downcast_ref::<LiteralExpr>()?
            .value()
            .try_as_str()??;
        // We cannot translate a backslash, which escapes the next character, because the library
        // knows no escapes.
        if like.case_insensitive() || pattern.contains('\\') || !is_text(data_type) {
            return None;
        }
        let found = column.like(pattern);
        Some(if like.negated() { found.not() } else { found })
    }

    /// Returns the column that a test looks at, if the library can test it.
    fn tested(&self, expr: &dyn PhysicalExpr) -> Option<(herringbone::filter::Column, &DataType)> {
        let path = path(expr)?;
        let data_type = type_of(&path, self.schema)?;
        type_of(&path, self.stored)?;
        let is_flat = !data_type.is_nested() && !matches!(data_type, DataType::Dictionary(..));
        is_flat.then(|| (col_at(path), data_type))
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

fn float(value: &ScalarValue) -> Option<f64> {
    match value {
        ScalarValue::Float64(value) => *value,
        ScalarValue::Float32(value) => value.map(f64::from),
        _ => None,
    }
}

/// Returns the literal for a comparison with a column of this type, or `None` for nulls and for
/// other types.
fn literal(value: &ScalarValue, data_type: &DataType) -> Option<Literal> {
    if value.data_type() != *data_type && !(is_text(data_type) && is_text(&value.data_type())) {
        return None;
    }
    let decimal = |unscaled: i256, scale: i8| Literal::Decimal {
        unscaled,
        scale: i32::from(scale),
    };
    Some(match value {
        ScalarValue::Boolean(Some(value)) => (*value).into(),
        ScalarValue::Int8(Some(value)) => (*value).into(),
        ScalarValue::Int16(Some(value)) => (*value).into(),
        ScalarValue::Int32(Some(value)) => (*value).into(),
        ScalarValue::Int64(Some(value)) => (*value).into(),
        ScalarValue::UInt8(Some(value)) => (*value).into(),
        ScalarValue::UInt16(Some(value)) => (*value).into(),
        ScalarValue::UInt32(Some(value)) => (*value).into(),
        ScalarValue::UInt64(Some(value)) => (*value).into(),
        ScalarValue::Utf8(Some(value))
        | ScalarValue::LargeUtf8(Some(value))
        | ScalarValue::Utf8View(Some(value)) => value.as_str().into(),
        ScalarValue::Binary(Some(value))
        | ScalarValue::LargeBinary(Some(value))
        | ScalarValue::BinaryView(Some(value)) => value.clone().into(),
        ScalarValue::Date32(Some(value)) => Literal::Date(*value),
        ScalarValue::Decimal32(Some(value), _, scale) => decimal((*value).into(), *scale),
        ScalarValue::Decimal64(Some(value), _, scale) => decimal((*value).into(), *scale),
        ScalarValue::Decimal128(Some(value), _, scale) => decimal((*value).into(), *scale),
        ScalarValue::Decimal256(Some(value), _, scale) => decimal(*value, *scale),
        ScalarValue::TimestampSecond(Some(value), _)
        | ScalarValue::TimestampMillisecond(Some(value), _)
        | ScalarValue::TimestampMicrosecond(Some(value), _)
        | ScalarValue::TimestampNanosecond(Some(value), _) => timestamp(*value, data_type)?,
        _ => return None,
    })
}

fn timestamp(value: i64, data_type: &DataType) -> Option<Literal> {
    let DataType::Timestamp(unit, zone) = data_type else {
        return None;
    };
    let nanos_per_unit = match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    Some(Literal::Timestamp {
        nanos: i128::from(value) * nanos_per_unit,
        is_utc: zone.is_some(),
    })
}
