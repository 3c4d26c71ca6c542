//! Decides the order for testing a filter's operands.
//!
//! A custom predicate can use large columns and can be slow. So it only sees the rows accepted by earlier operands, and
//! its columns are only decoded for these rows. Comparisons are cheap, so adjacent comparisons form a single stage.
//!
//! ```text
//! a = 1 and b < 2 and custom(c) and d > 3 and custom(e)  ─►  [a = 1, b < 2]  [custom(c), d > 3]  [custom(e)]
//! ```

use super::Predicate;
use super::predicate::Expression;

/// A filter, split into the stages that test its rows.
#[derive(Debug)]
pub struct Stages {
    /// The stages before the last stage, in order. Each sees the rows accepted by the previous stage.
    pub earlier: Vec<Predicate>,
    /// The last stage.
    pub last: Predicate,
    /// The operands outside the last stage, or `None` if there are none.
    pub passed: Option<Predicate>,
}

impl Stages {
    /// Splits the operands of an `and` into stages. An `implied` predicate, which includes all operands without custom
    /// predicates, becomes the first stage. Each other operand then gets its own stage.
    pub fn new(operands: Vec<Predicate>, implied: Option<Predicate>) -> Self {
        let mut stages: Vec<Vec<Expression>> = Vec::new();
        let mut passed = Vec::new();
        for Predicate(operand) in operands {
            match (operand.has_rows(), stages.last_mut()) {
                (false, _) if implied.is_some() => passed.push(operand),
                (false, Some(stage)) => stage.push(operand),
                (true, _) | (false, None) => stages.push(vec![operand]),
            }
        }
        let last = all_of(stages.pop().unwrap_or_default());
        passed.extend(stages.iter().flatten().cloned());
        let stages = stages.into_iter().map(all_of);
        Self {
            earlier: implied.into_iter().chain(stages).collect(),
            last,
            passed: (!passed.is_empty()).then(|| all_of(passed)),
        }
    }
}

/// Returns the operands of an `and`, or else the predicate itself.
pub fn operands(predicate: &Predicate) -> Vec<Predicate> {
    let mut operands = Vec::new();
    let mut left = vec![(&predicate.0, false)];
    while let Some((expression, is_negated)) = left.pop() {
        match (expression, is_negated) {
            (Expression::Not(inner), _) => left.push((inner, !is_negated)),
            (Expression::And(parts), false) | (Expression::Or(parts), true) => {
                left.extend(parts.iter().rev().map(|part| (part, is_negated)));
            }
            (other, false) => operands.push(Predicate(other.clone())),
            (other, true) => operands.push(Predicate(other.clone()).not()),
        }
    }
    operands
}

/// Returns the conjunction of all parts.
fn all_of(mut parts: Vec<Expression>) -> Predicate {
    Predicate(match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            parts.extend(last);
            Expression::And(parts)
        }
    })
}
