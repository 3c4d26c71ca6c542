//! Computes statistics of columns from their values.
//!
//! ```text
//! batches ─► leaves: structs, lists and maps taken apart ─► one Summary per leaf
//! ```

mod distinct;
mod leaves;
mod numbers;
mod spread;
mod summary;
mod tally;

pub(crate) use leaves::{Leaf, leaves};
pub(crate) use numbers::one_per_number;
pub(crate) use spread::Quantiles;
pub(crate) use summary::Summary;
pub(crate) use tally::Tally;
