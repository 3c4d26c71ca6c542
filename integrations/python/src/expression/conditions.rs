//! Translates the parts of an expression.

use std::collections::VecDeque;

use herringbone::arrow::array::Array;
use herringbone::arrow::array::cast::AsArray as _;
use herringbone::arrow::array::types::UInt32Type;
use herringbone::arrow::schema::{DataType, Field, SchemaRef};
use herringbone::filter::{Column, Literal, Predicate, col_at};

use super::comparable::is_comparable;
use super::not_understood;
use super::parts::{Part, Parts, damaged};
use crate::error::Result;
use crate::literal::literal_at;

/// The largest depth of a condition, because conditions are processed recursively. Chains of one
/// operation do not add depth.
const MAX_DEPTH: usize = 200;

/// A call whose end we have not seen yet.
struct Open<'a> {
    name: &'a str,
    arguments: Vec<Value>,
    options: Option<usize>,
}

/// A part that has been translated.
enum Value {
    Column(Operand),
    /// The number of the column that has the literal.
    Literal(usize),
    Condition(Joined),
    /// A test that a column is not null.
    IsValid(Operand),
    /// A test for one of several values.
    IsIn(IsIn),
}

/// A column, or a field of structs, that is tested.
#[derive(Clone, PartialEq)]
struct Operand {
    path: Vec<String>,
    /// The type of the column values.
    data_type: DataType,
}

impl Operand {
    fn column(&self) -> Column {
        col_at(self.path.iter().cloned())
    }

    fn is_float(&self) -> bool {
        matches!(self.data_type, DataType::Float32 | DataType::Float64)
    }
}

struct IsIn {
    operand: Operand,
    /// The test, which is unknown for a null.
    found: Predicate,
    /// The result for a null, which is true, false or unknown.
    for_null: Option<bool>,
}

/// A single condition, or several with the operation between them.
struct Joined {
    parts: VecDeque<Predicate>,
    is_and: Option<bool>,
    depth: usize,
}

impl Joined {
    fn one(predicate: Predicate) -> Self {
        Self {
            parts: [predicate].into(),
            is_and: None,
            depth: 0,
        }
    }

    /// Joins two conditions in time proportional to the shorter one, so that long chains stay
    /// cheap.
    fn join(self, other: Self, is_and: bool) -> Result<Self> {
        let (mut left, mut right) = (self.into_parts_of(is_and)?, other.into_parts_of(is_and)?);
        let depth = left.depth.max(right.depth);
        let parts = if left.parts.len() < right.parts.len() {
            while let Some(part) = left.parts.pop_back() {
                right.parts.push_front(part);
            }
            right.parts
        } else {
            left.parts.append(&mut right.parts);
            left.parts
        };
        Ok(Self {
            parts,
            is_and: Some(is_and),
            depth,
        })
    }

    fn into_parts_of(self, is_and: bool) -> Result<Self> {
        match self.is_and {
            Some(own) if own != is_and => self.nested(|condition| condition),
            _ => Ok(self),
        }
    }

    /// Returns a single condition that is one level deeper.
    fn nested(self, change: fn(Predicate) -> Predicate) -> Result<Self> {
        let depth = self.depth + 1;
        if depth > MAX_DEPTH {
            return Err(not_understood(format!(
                "it is nested more than {MAX_DEPTH} levels deep"
            )));
        }
        Ok(Self {
            depth,
            ..Self::one(change(self.predicate()?))
        })
    }

    fn predicate(self) -> Result<Predicate> {
        let join = match self.is_and {
            Some(true) => Predicate::and,
            _ => Predicate::or,
        };
        self.parts.into_iter().reduce(join).ok_or_else(damaged)
    }
}

/// The translation of an expression over a schema's columns.
pub(super) struct Conditions<'a> {
    schema: SchemaRef,
    parts: &'a Parts,
    /// True if any part is negated, because null and false then differ.
    has_negation: bool,
}

impl<'a> Conditions<'a> {
    pub(super) fn new(schema: SchemaRef, parts: &'a Parts) -> Self {
        let is_negation = |part: &Part| matches!(part, Part::Call(name) if name == "invert");
        Self {
            schema,
            parts,
            has_negation: parts.parts.iter().any(is_negation),
        }
    }

    /// Returns the predicate for the whole expression.
    pub(super) fn predicate(&self) -> Result<Predicate> {
        let mut open: Vec<Open<'_>> = Vec::new();
        for part in &self.parts.parts {
            let value = match part {
                Part::Call(name) => {
                    open.push(Open {
                        name,
                        arguments: Vec::new(),
                        options: None,
                    });
                    continue;
                }
                Part::Options(column) => {
                    open.last_mut().ok_or_else(damaged)?.options = Some(*column);
                    continue;
                }
                Part::Column(path) => Value::Column(self.operand(path)?),
                Part::Literal(column) => Value::Literal(*column),
                Part::End => self.call(open.pop().ok_or_else(damaged)?)?,
            };
            match open.last_mut() {
                Some(call) => call.arguments.push(value),
                None => return self.condition(value)?.predicate(),
            }
        }
        Err(damaged())
    }

    /// Returns the column that has a name, or the field of a struct.
    fn operand(&self, path: &[String]) -> Result<Operand> {
        let mut fields = Some(self.schema.fields());
        let mut found: Option<&Field> = None;
        for name in path {
            let mut named = fields
                .into_iter()
                .flatten()
                .filter(|field| field.name() == name);
            let (Some(field), None) = (named.next(), named.next()) else {
                return Err(not_understood(format!(
                    "one column {:?} is expected",
                    path.join(".")
                )));
            };
            found = Some(field.as_ref());
            fields = match field.data_type() {
                DataType::Struct(inner) => Some(inner),
                _ => None,
            };
        }
        let data_type = match found.ok_or_else(damaged)?.data_type() {
            DataType::Dictionary(_, values) => values.as_ref(),
            other => other,
        };
        if data_type.is_nested() {
            return Err(not_understood(format!(
                "it has a condition on the nested column {:?}",
                path.join(".")
            )));
        }
        Ok(Operand {
            path: path.to_vec(),
            data_type: data_type.clone(),
        })
    }

    /// Returns a part as a condition, which may be a column alone if it is Boolean.
    fn condition(&self, value: Value) -> Result<Joined> {
        Ok(Joined::one(match value {
            Value::Condition(joined) => return Ok(joined),
            Value::Column(operand) if operand.data_type == DataType::Boolean => {
                operand.column().eq(true)
            }
            Value::IsValid(operand) => operand.column().is_not_null(),
            Value::IsIn(test) => match test.for_null {
                Some(true) => test.found.or(test.operand.column().is_null()),
                Some(false) if self.has_negation => {
                    test.found.and(test.operand.column().is_not_null())
                }
                _ => test.found,
            },
            Value::Column(_) | Value::Literal(_) => {
                return Err(not_understood("it has a value in the place of a condition"));
            }
        }))
    }

    fn call(&self, call: Open<'_>) -> Result<Value> {
        let Open {
            name,
            arguments,
            options,
        } = call;
        let mut arguments = arguments.into_iter();
        let (first, second, third) = (arguments.next(), arguments.next(), arguments.next());
        Ok(match (name, first, second, third) {
            ("and_kleene", Some(left), Some(right), None) => self.joined(left, right, true)?,
            ("or_kleene", Some(left), Some(right), None) => self.joined(left, right, false)?,
            // pyarrow's `and` is null if one side is null and the other is false, so we only take
            // it if nothing is negated.
            ("and", Some(left), Some(right), None) if !self.has_negation => {
                self.joined(left, right, true)?
            }
            ("invert", Some(inner), None, None) => {
                Value::Condition(self.condition(inner)?.nested(Predicate::not)?)
            }
            ("is_valid", Some(Value::Column(operand)), None, None) => Value::IsValid(operand),
            ("is_null", Some(Value::Column(operand)), None, None) => {
                self.is_null(&operand, options)?
            }
            ("is_nan", Some(Value::Column(operand)), None, None) if operand.is_float() => {
                Value::Condition(Joined::one(operand.column().is_nan()))
            }
            ("is_in", Some(Value::Column(operand)), None, None) => {
                Value::IsIn(self.is_in(operand, options)?)
            }
            ("starts_with", Some(Value::Column(operand)), None, None) => {
                self.starts_with(&operand, options)?
            }
            // DuckDB tests for one of several values in this way, with null as the result for a
            // null.
            (
                "if_else",
                Some(Value::IsValid(tested)),
                Some(Value::IsIn(test)),
                Some(Value::Literal(other)),
            ) if tested == test.operand && self.literal(other)? == Literal::Null => {
                Value::Condition(Joined::one(test.found))
            }
            (name, Some(Value::Column(column)), Some(Value::Literal(literal)), None) => {
                self.comparison(name, &column, literal, false)?
            }
            (name, Some(Value::Literal(literal)), Some(Value::Column(column)), None) => {
                self.comparison(name, &column, literal, true)?
            }
            (name, ..) => {
                return Err(not_understood(format!(
                    "it calls the function {name:?} of these arguments"
                )));
            }
        })
    }

    fn joined(&self, left: Value, right: Value, is_and: bool) -> Result<Value> {
        let (left, right) = (self.condition(left)?, self.condition(right)?);
        Ok(Value::Condition(left.join(right, is_and)?))
    }

    fn literal(&self, column: usize) -> Result<Literal> {
        let array = self.parts.value(column)?;
        literal_at(array, 0).ok_or_else(|| {
            not_understood(format!("it has a value of the type {}", array.data_type()))
        })
    }

    fn comparison(
        &self,
        name: &str,
        operand: &Operand,
        literal: usize,
        is_turned: bool,
    ) -> Result<Value> {
        let compare: fn(Column, Literal) -> Predicate = match (name, is_turned) {
            ("equal", _) => Column::eq,
            ("not_equal", _) => Column::ne,
            ("less", false) | ("greater", true) => Column::lt,
            ("less_equal", false) | ("greater_equal", true) => Column::le,
            ("greater", false) | ("less", true) => Column::gt,
            ("greater_equal", false) | ("less_equal", true) => Column::ge,
            _ => return Err(not_understood(format!("it calls the function {name:?}"))),
        };
        let literal = self.literal(literal)?;
        check(operand, &literal)?;
        let test = compare(operand.column(), literal).with_ieee_floats();
        Ok(Value::Condition(Joined::one(test)))
    }

    /// Returns the option with this name from a call's options.
    fn option(&self, options: Option<usize>, name: &str) -> Result<&dyn Array> {
        let array = self.parts.value(options.ok_or_else(damaged)?)?;
        let found = array
            .as_struct_opt()
            .and_then(|fields| fields.column_by_name(name))
            .filter(|array| array.len() == 1 && array.is_valid(0));
        found.map(AsRef::as_ref).ok_or_else(damaged)
    }

    fn is_null(&self, operand: &Operand, options: Option<usize>) -> Result<Value> {
        let option = self.option(options, "nan_is_null")?;
        let nan_is_null = option.as_boolean_opt().ok_or_else(damaged)?.value(0);
        let is_null = Joined::one(operand.column().is_null());
        Ok(Value::Condition(match nan_is_null && operand.is_float() {
            true => is_null.join(Joined::one(operand.column().is_nan()), false)?,
            false => is_null,
        }))
    }

    fn starts_with(&self, operand: &Operand, options: Option<usize>) -> Result<Value> {
        let ignore_case = self.option(options, "ignore_case")?;
        let pattern = self.option(options, "pattern")?;
        let prefix = pattern.as_string_opt::<i32>().ok_or_else(damaged)?.value(0);
        if ignore_case.as_boolean_opt().ok_or_else(damaged)?.value(0) {
            return Err(not_understood("it ignores the case of a prefix"));
        }
        check(operand, &Literal::from(prefix))?;
        let test = operand.column().starts_with(prefix);
        Ok(Value::Condition(Joined::one(test)))
    }

    fn is_in(&self, operand: Operand, options: Option<usize>) -> Result<IsIn> {
        let behavior = self.option(options, "null_matching_behavior")?;
        let behavior = behavior.as_primitive_opt::<UInt32Type>();
        let values = self.option(options, "value_set")?;
        let values = values.as_list_opt::<i32>().ok_or_else(damaged)?.value(0);
        let mut literals = Vec::with_capacity(values.len());
        let mut has_null = false;
        for slot in 0..values.len() {
            match literal_at(&values, slot) {
                Some(Literal::Null) => has_null = true,
                Some(literal) => {
                    check(&operand, &literal)?;
                    literals.push(literal);
                }
                None => {
                    let kind = values.data_type();
                    return Err(not_understood(format!("it has values of the type {kind}")));
                }
            }
        }
        let for_null = match behavior.ok_or_else(damaged)?.value(0) {
            MATCH => Some(has_null),
            SKIP => Some(false),
            EMIT_NULL => None,
            other => {
                return Err(not_understood(format!(
                    "it treats nulls in a list of values in the manner {other}"
                )));
            }
        };
        Ok(IsIn {
            found: operand.column().is_in(literals),
            operand,
            for_null,
        })
    }
}

/// pyarrow's numbers for the ways to treat nulls in a list of values.
const MATCH: u32 = 0;
const SKIP: u32 = 1;
const EMIT_NULL: u32 = 2;

/// Fails if a filter might not compare a column with a literal as pyarrow does.
fn check(operand: &Operand, literal: &Literal) -> Result<()> {
    match is_comparable(&operand.data_type, literal) {
        true => Ok(()),
        false => Err(not_understood(format!(
            "it compares the column {:?} of the type {} with {literal}",
            operand.path.join("."),
            operand.data_type
        ))),
    }
}
