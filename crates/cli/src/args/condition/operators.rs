//! Limits the number of operators in a condition. Each operator can add a level to the parsed tree,
//! and all later steps recurse once per level.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The maximum number of operators. Even a single chain of this many is far from overflowing a
/// thread's stack.
pub(super) const MAX_OPERATORS: usize = 2000;

/// Keywords that join two parts of a condition or follow a part.
const WORDS: [Keyword; 25] = {
    use Keyword::*;
    [
        AND, OR, XOR, NOT, IS, IN, BETWEEN, OVERLAPS, LIKE, ILIKE, RLIKE, REGEXP, MATCH, GLOB,
        SIMILAR, MEMBER, OPERATOR, DIV, COLLATE, AT, NOTNULL, UNION, EXCEPT, INTERSECT, MINUS,
    ]
};

/// Checks the number of operators. Signs of numbers and list elements don't count, since they don't
/// make the tree deeper.
///
/// # Errors
/// Fails with a message if there are more than [`MAX_OPERATORS`].
pub(super) fn check(tokens: &[TokenWithSpan]) -> Result<(), String> {
    let (mut count, mut follows_value) = (0_usize, false);
    for token in tokens {
        let is_sign = matches!(token.token, Token::Minus | Token::Plus) && !follows_value;
        match &token.token {
            Token::Whitespace(_) => {}
            Token::Comma | Token::LParen => follows_value = false,
            token if is_operator(token) => {
                count += usize::from(!is_sign);
                follows_value = false;
            }
            _ => follows_value = true,
        }
    }
    match count {
        ..=MAX_OPERATORS => Ok(()),
        more => Err(format!(
            "the condition has {more} operators, but at most {MAX_OPERATORS} are allowed; write many values as a list, \
             such as `id in (1, 2, 3)`; --where @FILE reads a long one from a file"
        )),
    }
}

/// Returns true for all tokens except values, names, parentheses and the marks between them.
fn is_operator(token: &Token) -> bool {
    match token {
        Token::Word(word) => word.quote_style.is_none() && WORDS.contains(&word.keyword),
        Token::EOF | Token::Comma | Token::Period | Token::LParen | Token::RParen => false,
        Token::Number(..) | Token::SingleQuotedString(_) | Token::HexStringLiteral(_) => false,
        _ => true,
    }
}
