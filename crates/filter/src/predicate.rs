//! What a caller says of the rows that are wanted.

use std::fmt;
use std::sync::Arc;

use super::{Literal, RowPredicate};

/// Which rows are wanted, by their values: tests of columns, and combinations of them.
///
/// As in SQL, a comparison with a null is neither true nor false, and a row is wanted where the whole is true.
///
/// ```
/// use herringbone_filter::col;
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
        /// Whether floating-point numbers compare as IEEE 754 has them.
        is_ieee: bool,
    },
    And(Vec<Self>),
    Or(Vec<Self>),
    Not(Box<Self>),
    Rows(Arc<dyn RowPredicate>),
}

impl Expression {
    /// Its tests and predicates of one's own, in the order in which they stand.
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

    /// Returns true if there is a custom predicate in it.
    pub(super) fn has_rows(&self) -> bool {
        self.parts()
            .iter()
            .any(|part| matches!(part, Self::Rows(_)))
    }
}

/// A test of the value of one column.
#[derive(Debug, Clone)]
pub(super) enum Test {
    Compare(Comparison, Literal),
    Between(Literal, Literal),
    In(Vec<Literal>),
    IsNull,
    IsNan,
    Like(String),
    StartsWith(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A column, of which a predicate is made.
#[derive(Debug, Clone)]
pub struct Column {
    pub(super) path: Vec<String>,
    /// Below a list: how many of a row's values are meant.
    pub(super) each: Option<Each>,
}

/// How many of the values that a row has below a list are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Each {
    /// One of them, or more.
    Any,
    /// All of them.
    All,
}

impl Each {
    /// What is true of so many where the test, negated, is.
    pub(super) fn negated_if(self, is_negated: bool) -> Self {
        match (self, is_negated) {
            (Self::Any, false) | (Self::All, true) => Self::Any,
            _ => Self::All,
        }
    }
}

/// The column at a path whose parts are separated by points: `"a"`, or `"b.c"` for the field `c` of the struct `b`.
#[must_use]
pub fn col(path: &str) -> Column {
    col_at(path.split('.'))
}

/// The column at a path, by its parts, which may have points in them.
#[must_use]
pub fn col_at<S: Into<String>>(path: impl IntoIterator<Item = S>) -> Column {
    Column {
        path: path.into_iter().map(Into::into).collect(),
        each: None,
    }
}

impl Column {
    /// One of the values that a row has of this column, which lies below a list. Its path may end at the list where there is
    /// one column below it.
    ///
    /// As in SQL: of a null in place of the list nothing is known, and an empty list has no such value.
    ///
    /// ```
    /// use herringbone_filter::col;
    ///
    /// assert_eq!(col("tags").any().eq("new").to_string(), "any(tags) = 'new'");
    /// ```
    #[must_use]
    pub fn any(self) -> Self {
        Self {
            each: Some(Each::Any),
            ..self
        }
    }

    /// All values that a row has of this column, which lies below a list; so it is of an empty list. Where one of them is null,
    /// it is not known of all.
    #[must_use]
    pub fn all(self) -> Self {
        Self {
            each: Some(Each::All),
            ..self
        }
    }

    /// The opposite of a test, of each value that is meant: any value is another one where not all are this one.
    fn negated(self, test: impl FnOnce(Self) -> Predicate) -> Predicate {
        let each = self.each.map(|each| each.negated_if(true));
        test(Self { each, ..self }).not()
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

    /// Its value is this one.
    #[must_use]
    pub fn eq(self, value: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Equal, value)
    }

    /// Its value is another one.
    #[must_use]
    pub fn ne(self, value: impl Into<Literal>) -> Predicate {
        self.negated(|column| column.eq(value))
    }

    /// Its value is below this one.
    #[must_use]
    pub fn lt(self, value: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Less, value)
    }

    /// Its value is this one, or below.
    #[must_use]
    pub fn le(self, value: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::LessOrEqual, value)
    }

    /// Its value is above this one.
    #[must_use]
    pub fn gt(self, value: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Greater, value)
    }

    /// Its value is this one, or above.
    #[must_use]
    pub fn ge(self, value: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::GreaterOrEqual, value)
    }

    /// Its value is one of these two or between them.
    #[must_use]
    pub fn between(self, low: impl Into<Literal>, high: impl Into<Literal>) -> Predicate {
        self.test(Test::Between(low.into(), high.into()))
    }

    /// Its value is one of these.
    #[must_use]
    pub fn is_in<L: Into<Literal>>(self, values: impl IntoIterator<Item = L>) -> Predicate {
        self.test(Test::In(values.into_iter().map(Into::into).collect()))
    }

    /// It has no value.
    #[must_use]
    pub fn is_null(self) -> Predicate {
        self.test(Test::IsNull)
    }

    /// It has a value.
    #[must_use]
    pub fn is_not_null(self) -> Predicate {
        self.negated(Self::is_null)
    }

    /// Its value is NaN.
    #[must_use]
    pub fn is_nan(self) -> Predicate {
        self.test(Test::IsNan)
    }

    /// Its value is text that begins so.
    #[must_use]
    pub fn starts_with(self, prefix: impl Into<String>) -> Predicate {
        self.test(Test::StartsWith(prefix.into()))
    }

    /// Its value is text that matches: `%` stands for any text, `_` for any character.
    #[must_use]
    pub fn like(self, pattern: impl Into<String>) -> Predicate {
        self.test(Test::Like(pattern.into()))
    }
}

impl Predicate {
    /// A predicate of one's own.
    #[must_use]
    pub fn rows(predicate: impl RowPredicate + 'static) -> Self {
        Self(Expression::Rows(Arc::new(predicate)))
    }

    /// Both are true. A [custom predicate](RowPredicate) sees only the rows that the operands before it left, so put cheap tests
    /// first.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut parts = match self.0 {
            Expression::And(parts) => parts,
            one => vec![one],
        };
        parts.push(other.0);
        Self(Expression::And(parts))
    }

    /// One of the two is true, or both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let mut parts = match self.0 {
            Expression::Or(parts) => parts,
            one => vec![one],
        };
        parts.push(other.0);
        Self(Expression::Or(parts))
    }

    /// Floating-point numbers compare as IEEE 754 has them: NaN is not equal to any number, itself included, nor above or
    /// below one. Otherwise it is one number that is above all others.
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

    /// It is false.
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
        match self.each {
            None => f.write_str(&path),
            Some(Each::Any) => write!(f, "any({path})"),
            Some(Each::All) => write!(f, "all({path})"),
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
            Self::Like(pattern) => write!(f, "like {}", Literal::from(pattern.as_str())),
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
