//! Predicates for selecting rows.

use std::fmt;
use std::sync::Arc;

use super::{Literal, RowPredicate};

/// A predicate for selecting rows by value, built from column tests and combinations of tests. Start with [`col`] to
/// build one.
///
/// As in SQL, a comparison with a null is neither true nor false. A row is selected if the whole predicate is true.
///
/// ```
/// use herringbone::filter::col;
///
/// let wanted = col("a").gt(5).and(col("b.c").is_in(["x", "y"])).and(col("d").is_null().not());
/// assert_eq!(wanted.to_string(), "(a > 5 and b.c in ('x', 'y') and not d is null)");
/// ```
#[derive(Debug, Clone)]
pub struct Predicate(pub(super) Expression);

#[derive(Debug, Clone)]
pub(super) enum Expression {
    Test {
        column: Column,
        test: Test,
        /// True if floating-point numbers compare as in IEEE 754.
        is_ieee: bool,
    },
    And(Vec<Self>),
    Or(Vec<Self>),
    Not(Box<Self>),
    Rows(Arc<dyn RowPredicate>),
}

impl Expression {
    /// Returns the tests and custom predicates in the expression, in their order.
    pub(super) fn parts(&self) -> Vec<&Self> {
        let (mut parts, mut left) = (Vec::new(), vec![self]);
        while let Some(expression) = left.pop() {
            match expression {
                Self::Test { .. } | Self::Rows(_) => parts.push(expression),
                Self::Not(inner) => left.push(inner),
                Self::And(parts) | Self::Or(parts) => left.extend(parts.iter().rev()),
            }
        }
        parts
    }

    /// Returns true if the expression contains a custom predicate.
    pub(super) fn has_rows(&self) -> bool {
        self.parts()
            .iter()
            .any(|part| matches!(part, Self::Rows(_)))
    }
}

/// A test of one column's value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    Compare(Comparison, Literal),
    Between(Literal, Literal),
    In(Vec<Literal>),
    IsNull,
    IsNan,
    Like(Like),
    StartsWith(String),
}

/// A pattern for SQL's `LIKE`, where `%` matches any text and `_` matches any single character. You only need this type
/// for patterns with an escape character or that ignore case. Otherwise, you can pass the pattern as text.
///
/// ```
/// use herringbone::filter::{Like, col};
///
/// assert_eq!(col("a").like("x%").to_string(), "a like 'x%'");
/// let percent = Like::new("50!%").escape('!');
/// assert_eq!(col("a").like(percent).to_string(), "a like '50!%' escape '!'");
/// assert_eq!(col("a").like(Like::new("X%").ignore_case()).to_string(), "a ilike 'X%'");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Like {
    pub(super) pattern: String,
    pub(super) escape: Option<char>,
    pub(super) ignores_case: bool,
}

impl Like {
    /// Creates a pattern without an escape character.
    #[must_use]
    pub fn new(pattern: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            escape: None,
            ignores_case: false,
        }
    }

    /// Sets the escape character. After it, `%`, `_` and the escape character itself are matched literally.
    #[must_use]
    pub fn escape(self, escape: char) -> Self {
        Self {
            escape: Some(escape),
            ..self
        }
    }

    /// Ignores case, by comparing the lower case of pattern and text character by character.
    #[must_use]
    pub fn ignore_case(self) -> Self {
        Self {
            ignores_case: true,
            ..self
        }
    }
}

impl From<&str> for Like {
    fn from(pattern: &str) -> Self {
        Self::new(pattern)
    }
}

impl From<String> for Like {
    fn from(pattern: String) -> Self {
        Self::new(pattern)
    }
}

impl fmt::Display for Like {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.ignores_case { "ilike" } else { "like" };
        write!(f, "{word} {}", Literal::from(self.pattern.as_str()))?;
        match self.escape {
            Some(escape) => write!(f, " escape {}", Literal::from(escape.to_string())),
            None => Ok(()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A column to build predicates from.
#[derive(Debug, Clone)]
pub struct Column {
    pub(super) path: Vec<String>,
    /// The quantifier over a row's values, if the column lies below a list.
    pub(super) quantifier: Option<Quantifier>,
}

/// The quantifier of a test below a list, which decides how many of a row's values must pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantifier {
    /// At least one value.
    Any,
    /// All values.
    All,
}

impl Quantifier {
    /// Returns the quantifier for the test, negated if `is_negated` is true: `not any` is `all not`, and `not all` is
    /// `any not`.
    pub(super) fn negated_if(self, is_negated: bool) -> Self {
        match (self, is_negated) {
            (Self::Any, false) | (Self::All, true) => Self::Any,
            _ => Self::All,
        }
    }
}

/// Returns the column at a dot-separated path. For example, `"a"` is a top-level column and `"b.c"` is the field `c` of
/// the struct `b`.
///
/// ```
/// use herringbone::filter::col;
///
/// assert_eq!(col("b.c").between(1, 5).to_string(), "b.c between 1 and 5");
/// assert_eq!(col("name").starts_with("a").to_string(), "name starts with 'a'");
/// ```
#[must_use]
pub fn col(path: &str) -> Column {
    col_at(path.split('.'))
}

/// Returns the column at a path given by its parts. Use this instead of [`col`] if a part contains dots.
///
/// ```
/// use herringbone::filter::{col, col_at};
///
/// // The field `c` of `b`, and a top-level column with a dot in its name.
/// assert_eq!(col_at(["b", "c"]).eq(1).to_string(), col("b.c").eq(1).to_string());
/// let dotted = col_at(["b.c"]).eq(1);
/// ```
#[must_use]
pub fn col_at<S: Into<String>>(path: impl IntoIterator<Item = S>) -> Column {
    Column {
        path: path.into_iter().map(Into::into).collect(),
        quantifier: None,
    }
}

impl Column {
    /// Tests whether any of a row's values in this column passes. The column must lie below a list. The path may end at
    /// the list if it only has one column below it.
    ///
    /// As in SQL, the result is unknown for a null list. An empty list never passes.
    ///
    /// ```
    /// use herringbone::filter::col;
    ///
    /// assert_eq!(col("tags").any().eq("new").to_string(), "any(tags) = 'new'");
    /// ```
    #[must_use]
    pub fn any(self) -> Self {
        Self {
            quantifier: Some(Quantifier::Any),
            ..self
        }
    }

    /// Tests whether all of a row's values in this column pass. The column must lie below a list. An empty list passes.
    /// The result is never true if any value is null.
    #[must_use]
    pub fn all(self) -> Self {
        Self {
            quantifier: Some(Quantifier::All),
            ..self
        }
    }

    /// Returns the negation of a test for each value. It swaps any and all: for example, not all values being equal
    /// means that any value differs.
    fn negated(self, test: impl FnOnce(Self) -> Predicate) -> Predicate {
        let quantifier = self
            .quantifier
            .map(|quantifier| quantifier.negated_if(true));
        test(Self { quantifier, ..self }).not()
    }

    fn test(self, test: Test) -> Predicate {
        Predicate(Expression::Test {
            column: self,
            test,
            is_ieee: false,
        })
    }

    fn compare(self, comparison: Comparison, value: impl Into<Literal>) -> Predicate {
        self.test(Test::Compare(comparison, value.into()))
    }

    /// Selects rows whose value equals `value`.
    #[must_use]
    pub fn eq(self, value: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Equal, value)
    }

    /// Selects rows whose value differs from `value`.
    #[must_use]
    pub fn ne(self, value: impl Into<Literal>) -> Predicate {
        self.negated(|column| column.eq(value))
    }

    /// Selects rows whose value is below `value`.
    #[must_use]
    pub fn lt(self, value: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Less, value)
    }

    /// Selects rows whose value is `value` or below.
    #[must_use]
    pub fn le(self, value: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::LessOrEqual, value)
    }

    /// Selects rows whose value is above `value`.
    #[must_use]
    pub fn gt(self, value: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Greater, value)
    }

    /// Selects rows whose value is `value` or above.
    #[must_use]
    pub fn ge(self, value: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::GreaterOrEqual, value)
    }

    /// Selects rows whose value is between `low` and `high`, both inclusive.
    #[must_use]
    pub fn between(self, low: impl Into<Literal>, high: impl Into<Literal>) -> Predicate {
        self.test(Test::Between(low.into(), high.into()))
    }

    /// Selects rows whose value is one of `values`.
    #[must_use]
    pub fn is_in<L: Into<Literal>>(self, values: impl IntoIterator<Item = L>) -> Predicate {
        self.test(Test::In(values.into_iter().map(Into::into).collect()))
    }

    /// Selects rows whose value is null.
    #[must_use]
    pub fn is_null(self) -> Predicate {
        self.test(Test::IsNull)
    }

    /// Selects rows whose value is not null.
    #[must_use]
    pub fn is_not_null(self) -> Predicate {
        self.negated(Self::is_null)
    }

    /// Selects rows whose value is NaN.
    #[must_use]
    pub fn is_nan(self) -> Predicate {
        self.test(Test::IsNan)
    }

    /// Selects rows whose value is text starting with `prefix`.
    #[must_use]
    pub fn starts_with(self, prefix: impl Into<String>) -> Predicate {
        self.test(Test::StartsWith(prefix.into()))
    }

    /// Selects rows whose value is text matching `pattern`, where `%` matches any text and `_` any single character.
    /// See [`Like`] for escape characters and patterns that ignore case.
    #[must_use]
    pub fn like(self, pattern: impl Into<Like>) -> Predicate {
        self.test(Test::Like(pattern.into()))
    }
}

impl Predicate {
    /// Creates a predicate from a custom one.
    #[must_use]
    pub fn rows(predicate: impl RowPredicate + 'static) -> Self {
        Self(Expression::Rows(Arc::new(predicate)))
    }

    /// Selects rows that satisfy both predicates. Put cheap tests first, because a [custom predicate](RowPredicate)
    /// only sees the rows accepted by earlier operands.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut parts = match self.0 {
            Expression::And(parts) => parts,
            one => vec![one],
        };
        parts.push(other.0);
        Self(Expression::And(parts))
    }

    /// Selects rows that satisfy at least one of the two predicates.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let mut parts = match self.0 {
            Expression::Or(parts) => parts,
            one => vec![one],
        };
        parts.push(other.0);
        Self(Expression::Or(parts))
    }

    /// Compares floating-point numbers as in IEEE 754, where NaN isn't equal to any number, not even itself, and is
    /// neither above nor below any number. By default, NaN is a single number above all others.
    #[must_use]
    pub fn with_ieee_floats(mut self) -> Self {
        let mut expressions = vec![&mut self.0];
        while let Some(expression) = expressions.pop() {
            match expression {
                Expression::Test { is_ieee, .. } => *is_ieee = true,
                Expression::Not(inner) => expressions.push(inner),
                Expression::And(parts) | Expression::Or(parts) => expressions.extend(parts),
                Expression::Rows(_) => {}
            }
        }
        self
    }

    /// Selects rows for which the predicate is false.
    #[must_use]
    #[allow(clippy::should_implement_trait, reason = "the others are methods too")]
    pub fn not(self) -> Self {
        Self(Expression::Not(Box::new(self.0)))
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, parts: &[Self], word: &str| {
            f.write_str("(")?;
            for (index, part) in parts.iter().enumerate() {
                write!(f, "{}{part}", if index > 0 { word } else { "" })?;
            }
            f.write_str(")")
        };
        match self {
            Self::Test { column, test, .. } => write!(f, "{column} {test}"),
            Self::And(parts) => list(f, parts, " and "),
            Self::Or(parts) => list(f, parts, " or "),
            Self::Not(inner) => write!(f, "not {inner}"),
            Self::Rows(predicate) => write!(f, "{predicate:?}"),
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.join(".");
        match self.quantifier {
            None => f.write_str(&path),
            Some(Quantifier::Any) => write!(f, "any({path})"),
            Some(Quantifier::All) => write!(f, "all({path})"),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compare(comparison, literal) => write!(f, "{comparison} {literal}"),
            Self::Between(low, high) => write!(f, "between {low} and {high}"),
            Self::In(literals) => {
                f.write_str("in (")?;
                for (index, literal) in literals.iter().enumerate() {
                    write!(f, "{}{literal}", if index > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
            Self::IsNull => f.write_str("is null"),
            Self::IsNan => f.write_str("is nan"),
            Self::Like(like) => write!(f, "{like}"),
            Self::StartsWith(prefix) => {
                write!(f, "starts with {}", Literal::from(prefix.as_str()))
            }
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        })
    }
}
