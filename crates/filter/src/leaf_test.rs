//! A test of one column, made for the Arrow type that the column has.

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::buffer::{BooleanBuffer, i256};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result};
use herringbone_kernels::between::float_key;
use herringbone_kernels::key_table::KeyTable;

use super::evaluate;
use super::like::LikePattern;
use super::position::{Position, TextForm, bytes, position};
use super::predicate::{Column, Comparison, Each, Test};
use super::ranges::{Cut, Ranges};
use super::{Literal, Verdict};

/// What a test accepts.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LeafTest {
    /// Nothing: it compares with a null.
    Nothing,
    /// Nulls, or else all values.
    Null { is_null: bool },
    /// Values with these keys.
    Keys(Ranges<i256>),
    /// These bytes.
    Bytes(Ranges<Vec<u8>>),
    /// Text that matches, or else text that does not.
    Like {
        pattern: LikePattern,
        is_negated: bool,
    },
}

/// What is known of the values of a column in some rows. What is not known is none.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Rows without a value.
    pub(super) nulls: Option<u64>,
    /// How many rows there are.
    pub(super) rows: u64,
    /// A bound that no value is below, and one that no value is above.
    pub(super) min: Option<Key>,
    pub(super) max: Option<Key>,
    /// Whether there may be NaNs, of which bounds know nothing.
    pub(super) may_have_nan: bool,
}

/// A value as it is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    Number(i256),
    Bytes(Vec<u8>),
}

impl Key {
    /// Whether it is that of NaN, among keys of floating-point numbers.
    pub(super) fn is_nan(&self) -> bool {
        *self == Self::Number(nan())
    }

    /// Whether it is above another one of the same type.
    pub(super) fn is_above(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one > other,
            (Self::Bytes(one), Self::Bytes(other)) => one > other,
            _ => false,
        }
    }
}

/// What is asked about the values of a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) test: &'a Test,
    pub(super) is_negated: bool,
    /// Whether floating-point numbers compare as IEEE 754 has them.
    pub(super) is_ieee: bool,
    /// Below a list: how many of a row's values are to be accepted.
    pub(super) each: Option<Each>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(column: &Column, test: &'a Test, is_negated: bool, is_ieee: bool) -> Self {
        Self {
            test,
            is_negated,
            is_ieee,
            each: column.each.map(|each| each.negated_if(is_negated)),
        }
    }
}

impl LeafTest {
    /// The test for values of `data_type`, which text stands for in a form.
    ///
    /// # Errors
    /// Argument where a literal cannot be compared with them; Unsupported where they have no order.
    pub(super) fn new(asked: Asked<'_>, data_type: &DataType, form: TextForm) -> Result<Self> {
        let Asked {
            test, is_negated, ..
        } = asked;
        let value_type = value_type(data_type);
        let values = Values {
            data_type: value_type,
            form,
        };
        let accepted = match test {
            Test::IsNull => {
                return Ok(Self::Null {
                    is_null: !is_negated,
                });
            }
            // Of a column of nulls there is nothing that a comparison accepts.
            _ if value_type.is_null() => return Ok(Self::Nothing),
            Test::IsNan if value_type.is_floating() => Self::Keys(Ranges::points(vec![nan()])),
            Test::IsNan => {
                return Err(Error::argument(format!(
                    "values of {value_type} are never NaN"
                )));
            }
            Test::Like(_) | Test::StartsWith(_) if !values.are_text() => {
                return Err(values.not_text());
            }
            Test::Like(pattern) => {
                let pattern = LikePattern::new(pattern);
                let prefix = match pattern.prefix() {
                    (prefix, true) => Some(prefix.to_vec()),
                    _ => None,
                };
                match prefix {
                    Some(prefix) => Self::Bytes(starting_with(prefix)),
                    None => {
                        return Ok(Self::Like {
                            pattern,
                            is_negated,
                        });
                    }
                }
            }
            Test::StartsWith(prefix) => Self::Bytes(starting_with(prefix.as_bytes().to_vec())),
            Test::Compare(_, Literal::Null) => return Ok(Self::Nothing),
            Test::Between(low, high) if *low == Literal::Null || *high == Literal::Null => {
                return Self::between_null((low, high), asked, data_type, form);
            }
            Test::In(literals) if is_negated && literals.contains(&Literal::Null) => {
                return Ok(Self::Nothing);
            }
            Test::Compare(..) | Test::Between(..) if asked.is_ieee && has_nan(test) => {
                Self::Keys(Ranges::none())
            }
            Test::Compare(comparison, literal) => values.compare(*comparison, literal)?,
            Test::Between(low, high) => values.between(low, high)?,
            Test::In(literals) => values.one_of(literals)?,
        };
        let is_nan_aside =
            asked.is_ieee && value_type.is_floating() && !matches!(test, Test::IsNan);
        let accepted = match accepted {
            Self::Keys(keys) if is_nan_aside => Self::Keys(keys.and_below(Cut {
                key: nan(),
                is_behind: false,
            })),
            accepted => accepted,
        };
        Ok(match (accepted, is_negated) {
            (Self::Keys(keys), true) => Self::Keys(keys.complement()),
            (Self::Bytes(bytes), true) => Self::Bytes(bytes.complement()),
            (accepted, _) => accepted,
        })
    }

    /// The test for values between two literals, one of which is null: no value is known to be between them, but those
    /// on the wrong side of the other literal are known not to be.
    fn between_null(
        (low, high): (&Literal, &Literal),
        asked: Asked<'_>,
        data_type: &DataType,
        form: TextForm,
    ) -> Result<Self> {
        let (comparison, literal) = match low {
            Literal::Null => (Comparison::LessOrEqual, high),
            low => (Comparison::GreaterOrEqual, low),
        };
        // Made in any case, so that a literal of another kind is an error.
        let test = Test::Compare(comparison, literal.clone());
        let other = Self::new(
            Asked {
                test: &test,
                ..asked
            },
            data_type,
            form,
        )?;
        Ok(match asked.is_negated {
            true => other,
            false => Self::Nothing,
        })
    }

    /// Whether it asks for values, and not for nulls.
    pub(super) fn is_of_values(&self) -> bool {
        matches!(self, Self::Keys(_) | Self::Bytes(_) | Self::Like { .. })
    }

    /// Which of the values, that are null nowhere else, it accepts.
    ///
    /// # Errors
    /// Unsupported where the array has another layout than the type the test was made for.
    pub(super) fn evaluate(&self, array: &ArrayRef) -> Result<BooleanBuffer> {
        evaluate::accepted(self, array)
    }

    /// The same for a dictionary array, of which it is known which of its values it accepts.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub(super) fn evaluate_keys(
        &self,
        array: &ArrayRef,
        accepted: &KeyTable,
    ) -> Result<BooleanBuffer> {
        evaluate::accepted_of_dictionary(self, array, accepted)
    }

    /// Which values it accepts, nulls left aside.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub(super) fn evaluate_values(&self, values: &ArrayRef) -> Result<BooleanBuffer> {
        evaluate::accepted_of_values(self, values)
    }

    /// What the facts tell of the rows.
    pub(super) fn verdict(&self, facts: &Facts) -> Verdict {
        let all_null = facts.nulls == Some(facts.rows);
        let no_null = facts.nulls == Some(0);
        let (some, all) = match self {
            Self::Nothing => (false, false),
            Self::Null { is_null: true } => (!no_null, all_null),
            Self::Null { is_null: false } => (!all_null, no_null),
            _ if all_null => (false, false),
            Self::Keys(keys) => {
                let number = |key: &Option<Key>| match key {
                    Some(Key::Number(number)) => Some(*number),
                    _ => None,
                };
                let (min, max) = (number(&facts.min), number(&facts.max));
                let accepts_nan = keys.contains(|key| key.cmp(&nan()));
                (
                    keys.touches(min.as_ref(), max.as_ref()) || facts.may_have_nan && accepts_nan,
                    no_null
                        && keys.covers(min.as_ref(), max.as_ref())
                        && (accepts_nan || !facts.may_have_nan),
                )
            }
            Self::Bytes(bytes) => {
                let (min, max) = (bytes_of(&facts.min), bytes_of(&facts.max));
                (bytes.touches(min, max), no_null && bytes.covers(min, max))
            }
            Self::Like {
                pattern,
                is_negated: false,
            } => {
                let prefix = starting_with(pattern.prefix().0.to_vec());
                (
                    prefix.touches(bytes_of(&facts.min), bytes_of(&facts.max)),
                    false,
                )
            }
            Self::Like { .. } => (true, false),
        };
        match (some, all) {
            (false, _) => Verdict::None,
            (true, true) => Verdict::All,
            (true, false) => Verdict::Some,
        }
    }
}

/// Whether a test compares with NaN.
fn has_nan(test: &Test) -> bool {
    let is_nan = |literal: &Literal| matches!(literal, Literal::Float(value) if value.is_nan());
    match test {
        Test::Compare(_, literal) => is_nan(literal),
        Test::Between(low, high) => is_nan(low) || is_nan(high),
        _ => false,
    }
}

/// The key of NaN.
fn nan() -> i256 {
    i256::from_i128(float_key(f64::NAN).into())
}

fn bytes_of(key: &Option<Key>) -> Option<&Vec<u8>> {
    match key {
        Some(Key::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}

/// The type of the values of a dictionary or of runs; else the type itself.
pub(super) fn value_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => value_type(values),
        DataType::RunEndEncoded(_, values) => value_type(values.data_type()),
        other => other,
    }
}

fn is_bytes(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, FixedSizeBinary, LargeBinary, LargeUtf8, Utf8, Utf8View};
    matches!(
        data_type,
        Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView | FixedSizeBinary(_)
    )
}

fn starting_with(prefix: Vec<u8>) -> Ranges<Vec<u8>> {
    let before = |key| Cut {
        key,
        is_behind: false,
    };
    // What comes behind all that starts so: the last byte that can be is one more.
    let mut next = prefix.clone();
    while next.pop_if(|byte| *byte == u8::MAX).is_some() {}
    match next.last_mut() {
        Some(last) => {
            *last += 1;
            Ranges::between(before(prefix), before(next))
        }
        None => Ranges::below(before(prefix)).complement(),
    }
}

/// The values of a column, as literals are compared with them.
#[derive(Clone, Copy)]
struct Values<'a> {
    data_type: &'a DataType,
    form: TextForm,
}

impl Values<'_> {
    fn are_text(self) -> bool {
        is_bytes(self.data_type) && self.form == TextForm::Itself
    }

    #[cold]
    fn not_text(self) -> Error {
        Error::argument(match self.form {
            TextForm::Itself => format!("values of {} are not text", self.data_type),
            TextForm::Uuid => "UUIDs are not text: compare them with whole UUIDs".to_owned(),
            TextForm::Geometry => {
                "geometries are not text: choose them by a bounding box".to_owned()
            }
        })
    }

    fn bytes(self, literal: &Literal) -> Result<Vec<u8>> {
        bytes(literal, self.data_type, self.form)
    }

    fn compare(self, comparison: Comparison, literal: &Literal) -> Result<LeafTest> {
        if is_bytes(self.data_type) {
            let key = self.bytes(literal)?;
            return Ok(LeafTest::Bytes(ordered(comparison, &key, true)));
        }
        let Position { key, is_exact } = position(literal, self.data_type)?;
        Ok(LeafTest::Keys(ordered(comparison, &key, is_exact)))
    }

    fn between(self, low: &Literal, high: &Literal) -> Result<LeafTest> {
        if is_bytes(self.data_type) {
            let cut = |literal, is_behind| {
                let key = self.bytes(literal)?;
                Ok::<_, Error>(Cut { key, is_behind })
            };
            return Ok(LeafTest::Bytes(Ranges::between(
                cut(low, false)?,
                cut(high, true)?,
            )));
        }
        let (low, high) = (
            position(low, self.data_type)?,
            position(high, self.data_type)?,
        );
        let cut = |at: Position, is_behind| Cut {
            key: at.key,
            is_behind,
        };
        let ranges = Ranges::between(cut(low, !low.is_exact), cut(high, true));
        Ok(LeafTest::Keys(ranges))
    }

    fn one_of(self, literals: &[Literal]) -> Result<LeafTest> {
        let literals = literals.iter().filter(|literal| **literal != Literal::Null);
        if is_bytes(self.data_type) {
            let keys = literals.map(|literal| self.bytes(literal));
            return Ok(LeafTest::Bytes(Ranges::points(
                keys.collect::<Result<_>>()?,
            )));
        }
        let mut keys = Vec::new();
        for literal in literals {
            let at = position(literal, self.data_type)?;
            if at.is_exact {
                keys.push(at.key);
            }
        }
        Ok(LeafTest::Keys(Ranges::points(keys)))
    }
}

/// The keys that compare so with `key`, or with what lies between it and the next one.
fn ordered<K: Ord + Clone>(comparison: Comparison, key: &K, is_exact: bool) -> Ranges<K> {
    let below = |is_behind| {
        let key = key.clone();
        Ranges::below(Cut { key, is_behind })
    };
    match comparison {
        Comparison::Equal if !is_exact => Ranges::none(),
        Comparison::Equal => Ranges::points(vec![key.clone()]),
        Comparison::Less => below(!is_exact),
        Comparison::LessOrEqual => below(true),
        Comparison::Greater => below(true).complement(),
        Comparison::GreaterOrEqual => below(!is_exact).complement(),
    }
}
