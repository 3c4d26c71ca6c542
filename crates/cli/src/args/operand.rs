//! The operand of a condition's test: a column, or the values at a path inside a variant column.

use herringbone::filter::{Column, Predicate, col_at};
use herringbone::variant::extension::VariantGet;
use herringbone::variant::shredding::GetOptions;
use herringbone::variant::{PrimitiveType, VariantPath};
use herringbone_interchange::read::data_type_of;
use herringbone_interchange::shortened;
use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments};

use super::condition::{column, literal, shown};

/// The side of a comparison that is not a literal.
#[derive(Debug, Clone)]
pub(super) enum Operand {
    /// The path of a column.
    Column(Vec<String>),
    /// The values of a column below a list. Depending on `is_all`, all of them or any of them must
    /// pass.
    Each { path: Vec<String>, is_all: bool },
    /// `variant_get(column, '$.path', 'type')`, as the column, the extraction, and true if the user
    /// gave a type.
    Path {
        column: Vec<String>,
        get: VariantGet,
        is_typed: bool,
    },
}

impl Operand {
    pub(super) fn of_function(function: &Function) -> Result<Self, String> {
        let name = function.name.to_string();
        if !name.eq_ignore_ascii_case("variant_get") {
            return Err(format!(
                "expected a column or variant_get(column, '$.path', 'type'), found {}",
                shown(function)
            ));
        }
        let wanted = || {
            "variant_get needs a column, a path and a type: variant_get(v, '$.a.b', 'int')"
                .to_owned()
        };
        let FunctionArguments::List(list) = &function.args else {
            return Err(wanted());
        };
        let arguments: Option<Vec<&Expr>> = list.args.iter().map(argument).collect();
        let (path, data_type, of) = match arguments.as_deref() {
            Some([of, path]) => (path, None, of),
            Some([of, path, data_type]) => (path, Some(data_type), of),
            _ => return Err(wanted()),
        };
        let path: VariantPath = text(path)?
            .parse()
            .map_err(|error: herringbone::Error| error.message().to_owned())?;
        let mut get = VariantGet::new(path);
        if let Some(data_type) = data_type {
            get = get.as_type(type_of(&text(data_type)?)?);
        }
        Ok(Self::Path {
            column: column(of)?,
            get,
            is_typed: data_type.is_some(),
        })
    }

    /// Returns an operand that also accepts variants that violate the shredding rules.
    pub(super) fn lenient(self) -> Self {
        let mut options = GetOptions::default();
        options.unshred.lenient = true;
        match self {
            Self::Path {
                column,
                get,
                is_typed,
            } => Self::Path {
                column,
                get: get.options(options),
                is_typed,
            },
            other => other,
        }
    }

    /// Returns the path of the operand's column.
    pub(super) fn path_mut(&mut self) -> &mut Vec<String> {
        match self {
            Self::Column(path) | Self::Each { path, .. } | Self::Path { column: path, .. } => path,
        }
    }

    /// Returns the operand if it can be compared. An extraction without a type is an error, since
    /// the only sensible test without a type is for null.
    pub(super) fn typed(self) -> Result<Self, String> {
        match &self {
            Self::Path {
                is_typed: false, ..
            } => Err(
                "variant_get needs a type to compare its values, as in variant_get(v, '$.a', 'int')"
                    .into(),
            ),
            _ => Ok(self),
        }
    }

    /// Returns a predicate that applies `test` to the operand.
    pub(super) fn test(
        self,
        test: impl Fn(Column) -> Predicate + Send + Sync + 'static,
    ) -> Predicate {
        match self {
            Self::Column(path) => test(col_at(path)),
            Self::Each { path, is_all: true } => test(col_at(path).all()),
            Self::Each { path, .. } => test(col_at(path).any()),
            Self::Path { column, get, .. } => get.filter(column, test),
        }
    }
}

fn argument(argument: &FunctionArg) -> Option<&Expr> {
    match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => Some(expression),
        _ => None,
    }
}

fn text(expression: &Expr) -> Result<String, String> {
    match literal(expression)? {
        herringbone::filter::Literal::Text(text) => Ok(text),
        _ => Err(format!(
            "expected text in single quotes, found {}",
            shown(expression)
        )),
    }
}

/// Parses the name of a type, written as in SQL or as in `--schema`.
pub(crate) fn type_of(name: &str) -> Result<PrimitiveType, String> {
    use PrimitiveType as T;
    let lower = name.to_ascii_lowercase();
    Ok(match lower.as_str() {
        "boolean" => T::Boolean,
        "tinyint" => T::Int8,
        "smallint" => T::Int16,
        "int" | "integer" => T::Int32,
        "bigint" => T::Int64,
        "float" | "real" => T::Float,
        "double" => T::Double,
        "date" => T::Date,
        "time" => T::Time,
        "timestamp" => T::Timestamp {
            nanos: false,
            utc: true,
        },
        "timestamp_ntz" => T::Timestamp {
            nanos: false,
            utc: false,
        },
        "string" | "varchar" => T::String,
        "binary" => T::Binary,
        "uuid" => T::Uuid,
        _ => {
            let unknown = |_| {
                format!(
                    "unknown type `{}` of variants; use one of: boolean, tinyint, smallint, int, bigint, float, \
                     double, decimal(P, S), date, time, timestamp, timestamp_ntz, string, binary, uuid",
                    shortened(name)
                )
            };
            if let Some(digits) = lower.strip_prefix("decimal") {
                return decimal(digits).ok_or(()).map_err(unknown);
            }
            let data_type = data_type_of(name).map_err(|_| unknown(()))?;
            T::of_data_type(&data_type).map_err(|_| unknown(()))?
        }
    })
}

/// Parses `(precision, scale)`, or `(precision)` for whole numbers.
fn decimal(digits: &str) -> Option<PrimitiveType> {
    let digits = digits.trim().strip_prefix('(')?.strip_suffix(')')?;
    let (precision, scale) = digits.split_once(',').unwrap_or((digits, "0"));
    Some(PrimitiveType::Decimal {
        precision: precision.trim().parse().ok()?,
        scale: scale.trim().parse().ok()?,
    })
}
