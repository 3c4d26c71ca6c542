//! Which rows of a read are wanted, by their values.
//!
//! ```text
//! Predicate ── bind: paths → leaves, literals → keys in the order of their type ──► BoundPredicate
//!     statistics of a row group ──► none, some or all of its rows
//!     arrays of the tested columns ──► one bit a row
//! ```
//!
//! Negations are pushed down to the comparisons when a predicate is bound, so that *true* is all that has to be
//! known of each part: a row where a comparison meets a null is none that is wanted, negated or not, as in SQL.

mod batch;
mod bound;
mod bound_rows;
mod array_test;
mod below_lists;
mod bounds_test;
mod byte_cuts;
mod evaluate;
mod implied;
mod leaf_test;
mod like;
mod literal;
mod moment;
mod point_hashes;
mod position;
mod predicate;
mod pruning_steps;
mod ranges;
mod resolved_leaf;
mod rows;
mod select;
mod stages;
mod tested_leaves;
pub(crate) mod verdicts;
mod wanted_columns;

pub use bound::Verdict;
pub(crate) use bound::{BoundPredicate, BoundTest, LeafNode, TestedColumns};
pub(crate) use bound_rows::BoundRows;
pub(crate) use implied::implied_first;
pub use literal::Literal;
pub use predicate::{Column, Predicate, col, col_at};
pub use pruning_steps::{PruningStep, PruningSteps};
pub(crate) use resolved_leaf::{LeafSource, ResolvedLeaf};
pub use rows::{RowError, RowPredicate, RowTest};
pub(crate) use select::{concat, select};
pub(crate) use stages::{Stages, operands};
pub(crate) use tested_leaves::{extension_columns, has_row_predicate, tested_leaves};
pub(crate) use wanted_columns::tested_paths;
