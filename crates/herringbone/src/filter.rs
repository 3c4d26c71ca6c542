//! Filters that select rows by their values.
//!
//! ```
//! use herringbone::filter::col;
//! use herringbone::{ParquetFile, ReadOptions};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//!
//! let file = ParquetFile::open("testdata/example.parquet")?;
//! let wanted = col("id").ge(3).and(col("name").is_not_null());
//! for batch in file.read(ReadOptions::new().filter(wanted))? {
//!     println!("{}", batch?.num_rows());
//! }
//! # Ok(())
//! # }
//! ```

pub use herringbone_core::metrics::{ReadCounts, ReadMetrics, StepMetrics};
pub use herringbone_read::{RowGroupExplanation, StepExplanation};

pub use herringbone_filter::{
    Column, Literal, Predicate, PruningStep, PruningSteps, RowError, RowPredicate, RowTest,
    Verdict, col, col_at,
};
