//! Filters for selecting rows by value, with pruning by a file's metadata and indexes.
//!
//! ```text
//! Predicate ── bind: paths → leaves, literals → keys in the order of their type ──► BoundPredicate
//!     statistics of a row group ──► none, some or all of its rows
//!     arrays of the tested columns ──► one bit per row
//! ```
//!
//! When we bind a predicate, we push its negations down to the comparisons. A row is selected if the whole predicate is
//! true. As in SQL, a comparison with a null is never true, negated or not.
//!
//! Only the other crates of this workspace should depend on this crate. Its API can change with any release, except for
//! the items exported by `herringbone`.

#![forbid(unsafe_code)]

mod batch;
mod bound;
mod bound_rows;
mod array_test;
mod nested;
mod number_texts;
mod bounds_test;
mod byte_cuts;
mod evaluate;
mod implied;
mod implies;
mod known_columns;
mod leaf_test;
mod like;
mod literal;
mod moment;
mod point_hashes;
mod position;
mod predicate;
pub mod pruning;
mod pruning_steps;
mod ranges;
mod resolved_leaf;
mod row_group_verdicts;
mod rows;
pub mod select;
mod stages;
pub mod tested_leaves;
pub mod verdicts;
mod wanted_columns;

pub use bound::{BoundPredicate, BoundTest, ConvertedLeaves, LeafNode, TestedColumns};
pub use bound_rows::BoundRows;
pub use herringbone_core::array::join::concat;
pub use herringbone_core::metrics::PruningStep;
pub use implied::implied_first;
pub use known_columns::verdicts_of_known;
pub use literal::Literal;
pub use point_hashes::hashes_of_value;
pub use predicate::{Column, Like, Predicate, col, col_at};
pub use pruning_steps::PruningSteps;
pub use resolved_leaf::{LeafSource, ResolvedLeaf};
pub use rows::{RowError, RowPredicate, RowTest};
pub use select::select;
pub use stages::{Stages, operands};
pub use tested_leaves::{extension_columns, has_row_predicate, tested_leaves};
pub use verdicts::Verdict;
pub use wanted_columns::tested_paths;
