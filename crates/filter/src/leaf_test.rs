//! The test of a leaf's values, created for the leaf's Arrow type.

use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result};
use herringbone_kernels::range_compare::float_key;

use super::like::LikePattern;
use super::position::{Position, TextForm, bytes, position};
use super::predicate::{Column, Comparison, Quantifier, Test};
use super::ranges::{Cut, Ranges};
use super::{Literal, Verdict};

/// The values accepted by a test.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LeafTest {
    /// No values at all, because the test compares with a null.
    Nothing,
    /// Nulls if `is_null` is true, otherwise all non-null values.
    Null { is_null: bool },
    /// Values with these keys.
    Keys(Ranges<i256>),
    /// Byte arrays in these ranges.
    Bytes(Ranges<Vec<u8>>),
    /// Text matching the pattern, or not matching it if the test is negated.
    Like {
        pattern: LikePattern,
        is_negated: bool,
    },
}

/// Known facts about a column's values in some rows, or `None` if unknown.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The number of rows without a value.
    pub(super) nulls: Option<u64>,
    /// The number of rows.
    pub(super) rows: u64,
    /// A lower bound on the values.
    pub(super) min: Option<Key>,
    /// An upper bound on the values.
    pub(super) max: Option<Key>,
    /// True if there might be NaNs, which bounds don't cover.
    pub(super) may_have_nan: bool,
}

/// A value's sort key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    Number(i256),
    Bytes(Vec<u8>),
}

impl Key {
    /// Returns true if this is NaN's floating-point key.
    pub(super) fn is_nan(&self) -> bool {
        *self == Self::Number(nan())
    }

    /// Returns true if this key is above another key of the same type.
    pub(super) fn is_above(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one > other,
            (Self::Bytes(one), Self::Bytes(other)) => one > other,
            _ => false,
        }
    }
}

/// A test requested for a column's values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) test: &'a Test,
    pub(super) is_negated: bool,
    /// True if floating-point numbers compare as in IEEE 754.
    pub(super) is_ieee: bool,
    /// The quantifier over a row's values, if the column lies below a list.
    pub(super) quantifier: Option<Quantifier>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(column: &Column, test: &'a Test, is_negated: bool, is_ieee: bool) -> Self {
        Self {
            test,
            is_negated,
            is_ieee,
            quantifier: column
                .quantifier
                .map(|quantifier| quantifier.negated_if(is_negated)),
        }
    }
}

impl LeafTest {
    /// Creates the test for values of `data_type`, where `form` is the meaning of text literals.
    ///
    /// # Errors
    /// Fails with `Argument` if a literal cannot be compared with the values.
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
            // In a column of nulls, no comparison accepts anything.
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
            Test::Like(like) => {
                let pattern = LikePattern::new(like).ok_or_else(|| {
                    Error::argument(format!(
                        "`{like}` ends with its escape character, which needs another character after it"
                    ))
                })?;
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
                is_after: false,
            })),
            accepted => accepted,
        };
        Ok(match (accepted, is_negated) {
            (Self::Keys(keys), true) => Self::Keys(keys.complement()),
            (Self::Bytes(bytes), true) => Self::Bytes(bytes.complement()),
            (accepted, _) => accepted,
        })
    }

    /// Creates the test for values between two literals if either is null. Values on the wrong side of the other
    /// literal certainly don't lie between the two. For all other values, the result is unknown.
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
        // We always create this test so that a literal of the wrong kind is an error.
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

    /// Returns true if the test is about values rather than nulls.
    pub(super) fn is_of_values(&self) -> bool {
        matches!(self, Self::Keys(_) | Self::Bytes(_) | Self::Like { .. })
    }

    /// Returns the verdict on rows with these facts.
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

/// Returns true if a test compares with NaN.
fn has_nan(test: &Test) -> bool {
    let is_nan = |literal: &Literal| matches!(literal, Literal::Float(value) if value.is_nan());
    match test {
        Test::Compare(_, literal) => is_nan(literal),
        Test::Between(low, high) => is_nan(low) || is_nan(high),
        _ => false,
    }
}

/// Returns the key of NaN.
fn nan() -> i256 {
    i256::from_i128(float_key(f64::NAN).into())
}

fn bytes_of(key: &Option<Key>) -> Option<&Vec<u8>> {
    match key {
        Some(Key::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}

/// Returns the value type of a dictionary or runs, or else the type itself.
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
        is_after: false,
    };
    // This is the least value above all values with the prefix. We get it by dropping trailing 0xFF bytes and
    // incrementing the last remaining byte.
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

/// A column's value type, with the meaning of its text literals.
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
            TextForm::Uuid => "UUIDs are not text; compare them with whole UUIDs".to_owned(),
            TextForm::Geometry => {
                "geometries are not text; filter them by a bounding box".to_owned()
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
            let cut = |literal, is_after| {
                let key = self.bytes(literal)?;
                Ok::<_, Error>(Cut { key, is_after })
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
        let cut = |at: Position, is_after| Cut {
            key: at.key,
            is_after,
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

/// Returns the keys that satisfy a comparison with `key`. If `is_exact` is false, the literal lies between `key` and
/// the next key.
fn ordered<K: Ord + Clone>(comparison: Comparison, key: &K, is_exact: bool) -> Ranges<K> {
    let below = |is_after| {
        let key = key.clone();
        Ranges::below(Cut { key, is_after })
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
