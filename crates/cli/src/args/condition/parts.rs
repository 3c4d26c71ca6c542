//! Reads the parts of a condition: the names of columns, and the text that errors show for a part.

use std::fmt::Display;

use herringbone_interchange::shortened;
use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
};
use sqlparser::tokenizer::Token;

/// The maximum nesting depth of parts shown in errors. Formatting recurses for each level, so a
/// deep part could overflow the stack.
const SHOWN_LEVELS: usize = 20;

/// A part of a condition that an error can show.
pub(in crate::args) trait Part: Display {
    /// Returns true if the part has few nested levels, so that it is safe to format.
    fn is_short(&self) -> bool {
        true
    }
}

impl Part for Ident {}
impl Part for Token {}
impl Part for BinaryOperator {}

impl Part for Expr {
    fn is_short(&self) -> bool {
        is_short(self, SHOWN_LEVELS)
    }
}

impl Part for Function {
    fn is_short(&self) -> bool {
        has_short_arguments(self, SHOWN_LEVELS)
    }
}

/// Returns true if an expression is of a usual kind and has at most `levels` nested levels.
fn is_short(expression: &Expr, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else {
        return false;
    };
    match expression {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => true,
        Expr::Value(_) | Expr::TypedString(_) => true,
        Expr::Nested(inner) | Expr::IsNull(inner) | Expr::IsNotNull(inner) => {
            is_short(inner, levels)
        }
        Expr::UnaryOp { expr, .. } | Expr::Cast { expr, .. } => is_short(expr, levels),
        Expr::BinaryOp { left, right, .. } => is_short(left, levels) && is_short(right, levels),
        Expr::Function(function) => has_short_arguments(function, levels),
        _ => false,
    }
}

/// Returns true if a function call has nothing but arguments, and each of them is short.
fn has_short_arguments(function: &Function, levels: usize) -> bool {
    let is_plain = function.filter.is_none()
        && function.over.is_none()
        && function.within_group.is_empty()
        && function.parameters == FunctionArguments::None;
    is_plain
        && match &function.args {
            FunctionArguments::None => true,
            FunctionArguments::Subquery(_) => false,
            FunctionArguments::List(list) => list.args.iter().all(|argument| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(inner)) => is_short(inner, levels),
                _ => false,
            }),
        }
}

/// Returns a part's text for errors. Parts that are nested too deeply are not shown.
pub(in crate::args) fn shown(part: &impl Part) -> String {
    match part.is_short() {
        true => format!("`{}`", shortened(&part.to_string())),
        false => "a part of the condition".to_owned(),
    }
}

/// Returns true if an SQL function has no parentheses, such as `user`. We then take it for a column
/// of this name.
pub(super) fn is_bare(function: &Function) -> bool {
    function.args == FunctionArguments::None
}

/// Returns the path of a column.
pub(in crate::args) fn column(expression: &Expr) -> Result<Vec<String>, String> {
    let parts: &[Ident] = match expression {
        Expr::Identifier(name) => std::slice::from_ref(name),
        Expr::CompoundIdentifier(names) => names,
        Expr::Nested(inner) => return column(inner),
        Expr::Function(function) if is_bare(function) => {
            return Ok(vec![function.name.to_string()]);
        }
        other => {
            let found = shown(other);
            let hint = match (found.contains(" && "), found.contains(" || ")) {
                (true, _) => "; `and` combines conditions",
                (_, true) => "; `or` combines conditions",
                _ => "",
            };
            return Err(format!("expected a column, found {found}{hint}"));
        }
    };
    Ok(parts.iter().map(|part| part.value.clone()).collect())
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::GenericDialect;
    use sqlparser::parser::Parser;

    use super::*;

    #[test]
    fn short_parts_are_of_usual_kinds_and_not_deep() {
        let nested = |levels| format!("{}a{}", "f(".repeat(levels), ")".repeat(levels));
        for (text, is_short) in [
            ("a.b", true),
            ("f(a, 1) > -b", true),
            ("(a IS NULL)", true),
            ("f(a IN (1))", false),
            ("f(a) OVER (b)", false),
            (nested(SHOWN_LEVELS - 1).as_str(), true),
            (nested(SHOWN_LEVELS).as_str(), false),
        ] {
            let mut parser = Parser::new(&GenericDialect).try_with_sql(text).unwrap();
            assert_eq!(parser.parse_expr().unwrap().is_short(), is_short, "{text}");
        }
    }
}
