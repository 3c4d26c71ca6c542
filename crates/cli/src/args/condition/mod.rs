//! `--where` selects rows by a condition in SQL.

mod groups;
mod literals;
mod operators;
mod parts;
mod tests_of_columns;

use std::fs::File;
use std::io::{self, Read as _};
use std::str::FromStr;

use herringbone::filter::{Like, Literal, Predicate};
use herringbone_arrow::schema::Schema;
use herringbone_interchange::shortened;
use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::operand::Operand;
pub(super) use literals::literal;
use parts::is_bare;
pub(super) use parts::{column, shown};
use tests_of_columns::{Check, Comparison};

/// The maximum length of a condition, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// The byte order mark, written before UTF-8 by some programs.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The value of `--where`.
#[derive(Debug, Clone)]
pub(crate) struct Condition(Node);

/// A condition or one of its parts.
#[derive(Debug, Clone)]
enum Node {
    And(Vec<Self>),
    Or(Vec<Self>),
    Not(Box<Self>),
    Test(Box<Operand>, Check),
}

impl Condition {
    /// Returns the predicate for rows with the columns of `schema`, if these are known. If
    /// `is_lenient` is set, the predicate accepts variants that violate the shredding rules.
    ///
    /// # Errors
    /// Fails with a message if a literal is of another type than its column.
    pub(crate) fn predicate(
        &self,
        is_lenient: bool,
        schema: Option<&Schema>,
    ) -> Result<Predicate, String> {
        self.0.predicate(is_lenient, schema)
    }
}

impl Node {
    fn predicate(&self, is_lenient: bool, schema: Option<&Schema>) -> Result<Predicate, String> {
        let all = |parts: &[Self], join: fn(Predicate, Predicate) -> Predicate| {
            let mut parts = parts.iter().map(|part| part.predicate(is_lenient, schema));
            let first = parts.next().ok_or("the condition is empty")??;
            parts.try_fold(first, |all, part| Ok(join(all, part?)))
        };
        match self {
            Self::And(parts) => all(parts, Predicate::and),
            Self::Or(parts) => all(parts, Predicate::or),
            Self::Not(inner) => Ok(inner.predicate(is_lenient, schema)?.not()),
            Self::Test(operand, check) => {
                let operand = Operand::clone(operand);
                let operand = match is_lenient {
                    true => operand.lenient(),
                    false => operand,
                };
                check.predicate(operand, schema)
            }
        }
    }

    fn negated_if(self, is_negated: bool) -> Self {
        match is_negated {
            true => Self::Not(Box::new(self)),
            false => self,
        }
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(path) = text.strip_prefix('@') else {
            return of_text(text);
        };
        let text = of_file(path).map_err(|error| format!("{path}: {error}"))?;
        of_text(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text))
    }
}

/// Reads a condition's text from a file. We never read more than [`MAX_BYTES`] (plus a mark), since
/// the path could name an endless device.
fn of_file(path: &str) -> io::Result<String> {
    let mut text = String::new();
    let most = MAX_BYTES + BYTE_ORDER_MARK.len_utf8();
    let file = File::open(path)?.take(most as u64 + 1);
    let mut file = io::BufReader::new(file);
    let read = file.read_to_string(&mut text);
    if file.get_ref().limit() == 0 {
        let text = format!("the condition has more than {MAX_BYTES} bytes");
        return Err(io::Error::other(text));
    }
    read.map(|_| text)
}

/// Parses a condition, reporting errors that don't depend on a file's columns.
pub(crate) fn of_text(text: &str) -> Result<Condition, String> {
    let bytes = text.len();
    if bytes > MAX_BYTES {
        return Err(format!(
            "the condition has {bytes} bytes, but at most {MAX_BYTES} are allowed"
        ));
    }
    let tokens = Tokenizer::new(&GenericDialect, text).tokenize_with_location();
    let mut tokens = tokens.map_err(|error| error.to_string())?;
    name_quantifiers(&mut tokens);
    operators::check(&tokens)?;
    let mut parser = Parser::new(&GenericDialect).with_tokens_with_locations(tokens);
    let expression = parser
        .parse_expr()
        .map_err(|error| unparsed(text, &error))?;
    match parser.peek_token().token {
        Token::EOF => {}
        more => {
            return Err(format!(
                "unexpected {} after the end of the condition",
                shown(&more)
            ));
        }
    }
    let condition = Condition(node(&expression)?);
    // Building a predicate without a schema finds any errors independent of the columns.
    condition.predicate(false, None)?;
    Ok(condition)
}

/// Turns `any(…)` and `all(…)` into function calls, unless they follow a comparison. Otherwise, the
/// parser would take them for part of a preceding operator such as `and`.
fn name_quantifiers(tokens: &mut [TokenWithSpan]) {
    let mut follows_comparison = false;
    for token in tokens {
        match &mut token.token {
            Token::Whitespace(_) => {}
            Token::Word(word) if is_quantifier(&word.value) && word.quote_style.is_none() => {
                if !follows_comparison {
                    word.quote_style = Some('"');
                    word.keyword = Keyword::NoKeyword;
                }
                follows_comparison = false;
            }
            other => {
                follows_comparison = matches!(
                    other,
                    Token::Eq | Token::Neq | Token::Lt | Token::LtEq | Token::Gt | Token::GtEq
                );
            }
        }
    }
}

fn is_quantifier(word: &str) -> bool {
    ["any", "some", "all"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(word))
}

/// Explains why a text isn't an SQL expression. We add hints for common mistakes, since the
/// parser's own message doesn't always help.
fn unparsed(text: &str, error: &ParserError) -> String {
    match error {
        ParserError::RecursionLimitExceeded => {
            "the condition is nested too deeply; about 50 levels are allowed".to_owned()
        }
        ParserError::ParserError(message) if message.ends_with("found: EOF") => {
            match text.split_whitespace().next_back() {
                Some(last) => format!(
                    "the condition ends after `{}`, and something is missing there",
                    shortened(last)
                ),
                None => "the condition is empty".to_owned(),
            }
        }
        ParserError::ParserError(message) => format!(
            "{message}; write the name of a column that is a word of SQL in \"quotes\", such as \
             \"interval\" or \"case\""
        ),
        ParserError::TokenizerError(message) => message.clone(),
    }
}

fn node(expression: &Expr) -> Result<Node, String> {
    let test = |operand: Operand, check: Check| Node::Test(Box::new(operand), check);
    let typed = |expression| operand(expression)?.typed();
    Ok(match expression {
        Expr::Nested(inner) => node(inner)?,
        Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr,
        } => node(expr)?.negated_if(true),
        Expr::BinaryOp { left, op, right } => binary(left, op, right)?,
        Expr::IsNull(inner) => test(operand(inner)?, Check::IsNull),
        Expr::IsNotNull(inner) => test(operand(inner)?, Check::IsNotNull),
        Expr::IsTrue(inner) => test(typed(inner)?, Check::IsKnown(true)),
        Expr::IsFalse(inner) => test(typed(inner)?, Check::IsKnown(false)),
        Expr::IsNotTrue(inner) => test(typed(inner)?, Check::IsKnown(true)).negated_if(true),
        Expr::IsNotFalse(inner) => test(typed(inner)?, Check::IsKnown(false)).negated_if(true),
        Expr::IsDistinctFrom(left, right) => same(left, right)?.negated_if(true),
        Expr::IsNotDistinctFrom(left, right) => same(left, right)?,
        Expr::Between {
            expr,
            negated,
            low,
            high,
        } => {
            let check = Check::Between(literal(low)?, literal(high)?);
            test(typed(expr)?, check).negated_if(*negated)
        }
        Expr::InList {
            expr,
            list,
            negated,
        } => {
            let values = list.iter().map(literal).collect::<Result<_, _>>()?;
            test(typed(expr)?, Check::In(values)).negated_if(*negated)
        }
        Expr::Like {
            negated,
            any: false,
            expr,
            pattern,
            escape_char,
        } => {
            let like = like(pattern, escape_char.as_deref())?;
            test(typed(expr)?, Check::Like(like)).negated_if(*negated)
        }
        Expr::ILike {
            negated,
            any: false,
            expr,
            pattern,
            escape_char,
        } => {
            let like = like(pattern, escape_char.as_deref())?.ignore_case();
            test(typed(expr)?, Check::Like(like)).negated_if(*negated)
        }
        Expr::AnyOp {
            left,
            compare_op,
            right,
            ..
        } => each(left, compare_op, (right, false))?,
        Expr::AllOp {
            left,
            compare_op,
            right,
        } => each(left, compare_op, (right, true))?,
        // A boolean column is a condition on its own.
        node if is_operand(node) => test(typed(node)?, Check::Holds),
        other => return Err(not_understood(other)),
    })
}

fn like(pattern: &Expr, escape: Option<&Expr>) -> Result<Like, String> {
    let Literal::Text(text) = literal(pattern)? else {
        return Err(format!(
            "`like` needs a pattern in quotes, such as 'ab%', but found {}",
            shown(pattern)
        ));
    };
    let like = Like::new(text);
    let Some(escape) = escape else {
        return Ok(like);
    };
    let text = match literal(escape)? {
        Literal::Text(text) => text,
        _ => String::new(),
    };
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(escape), None) => Ok(like.escape(escape)),
        _ => Err(format!(
            "`escape` needs one character in quotes, such as '!', but found {}",
            shown(escape)
        )),
    }
}

/// Returns the test for `is not distinct from`. This test is never unknown, since it treats two
/// nulls as equal.
fn same(left: &Expr, right: &Expr) -> Result<Node, String> {
    let (of, literal, _) = sides(left, right)?;
    let operand = operand(of)?.typed()?;
    let check = match literal {
        Literal::Null => Check::IsNull,
        literal => Check::Same(literal),
    };
    Ok(Node::Test(Box::new(operand), check))
}

fn binary(left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Node, String> {
    if let BinaryOperator::And | BinaryOperator::Or = op {
        return chain(left, op, right);
    }
    let (of, literal, is_turned) = sides(left, right)?;
    let operand = operand(of)?;
    let comparison = Comparison::of(op, is_turned)
        .ok_or_else(|| format!("the operator {} is not understood: {UNDERSTOOD}", shown(op)))?;
    let check = Check::Compare(comparison, literal);
    Ok(Node::Test(Box::new(operand.typed()?), check))
}

/// Returns a comparison's column and literal, and true if the literal is on the left. In that case,
/// the caller has to flip the operator, because `5 < a` means `a > 5`.
fn sides<'e>(left: &'e Expr, right: &'e Expr) -> Result<(&'e Expr, Literal, bool), String> {
    Ok(match (is_operand(left), is_operand(right)) {
        (true, false) => (left, literal(right)?, false),
        (false, true) => (right, literal(left)?, true),
        // Both sides look like columns, but NaN and the infinities are literals.
        (true, true) => match (literal(left), literal(right)) {
            (Ok(literal), Err(_)) => (right, literal, true),
            (_, other) => (left, other?, false),
        },
        // One side is a literal, so the user probably meant the other side as a column. We return
        // it as such, since the resulting error is the helpful one.
        (false, false) => match literal(left) {
            Ok(literal) => (right, literal, true),
            Err(_) => (left, literal(right)?, false),
        },
    })
}

/// Compares a literal with the values of a column below a list. Depending on `is_all`, all of them
/// or any of them have to pass.
fn each(left: &Expr, op: &BinaryOperator, (right, is_all): (&Expr, bool)) -> Result<Node, String> {
    let (literal, path) = (literal(left)?, column(right)?);
    let comparison = Comparison::of(op, true)
        .ok_or_else(|| format!("the operator {} is not understood: {UNDERSTOOD}", shown(op)))?;
    let operand = Operand::Each { path, is_all };
    Ok(Node::Test(
        Box::new(operand),
        Check::Compare(comparison, literal),
    ))
}

/// Converts a chain of conditions joined by one operator. `left` contains all but the last
/// condition. We use a loop, because a long chain could overflow the stack if we recursed.
fn chain(mut left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Node, String> {
    let mut parts = vec![right];
    while let Expr::BinaryOp {
        left: first,
        op: other,
        right,
    } = left
        && other == op
    {
        parts.push(right);
        left = first;
    }
    parts.push(left);
    let parts = parts.into_iter().rev().map(node);
    let parts = parts.collect::<Result<_, _>>()?;
    Ok(match op {
        BinaryOperator::And => Node::And(parts),
        _ => Node::Or(parts),
    })
}

const UNDERSTOOD: &str = "compare columns, or values of variants by variant_get(column, '$.path', \
                          'type'), with literals by = <> < <= > >=, between, in, like, ilike, is null, \
                          is not null and is distinct from; compare the elements of a list by \
                          any(column) = 5 or all(column) > 5; combine conditions by and, or and not";

fn not_understood(expression: &Expr) -> String {
    format!("{} is not understood: {UNDERSTOOD}", shown(expression))
}

fn is_operand(expression: &Expr) -> bool {
    match expression {
        Expr::Nested(inner) => is_operand(inner),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Function(_) => true,
        _ => false,
    }
}

fn operand(expression: &Expr) -> Result<Operand, String> {
    match expression {
        Expr::Nested(inner) => operand(inner),
        Expr::Function(function) if !is_bare(function) => match of_elements(function)? {
            Some(operand) => Ok(operand),
            None => Operand::of_function(function),
        },
        other => column(other).map(Operand::Column),
    }
}

/// Returns the operand for `any(column)` and `all(column)`, which test the values below a list.
fn of_elements(function: &Function) -> Result<Option<Operand>, String> {
    let name = function.name.to_string().to_ascii_lowercase();
    let name = name.trim_matches('"');
    let is_all = match name {
        "any" | "some" => false,
        "all" => true,
        _ => return Ok(None),
    };
    if let FunctionArguments::List(list) = &function.args
        && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(of))] = list.args.as_slice()
    {
        let path = column(of)?;
        return Ok(Some(Operand::Each { path, is_all }));
    }
    Err(format!("{name} needs one column, as in {name}(tags) = 'x'"))
}

#[cfg(test)]
mod tests;
