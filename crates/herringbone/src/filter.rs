//! Filters for selecting rows by their values.
//!
//! A [`Predicate`] is a test such as `col("id").ge(3)`, or a combination of predicates. You pass it
//! to [`ReadOptions::filter`](crate::ReadOptions::filter). As in SQL, a comparison with null is
//! neither true nor false, so a read returns only the rows for which the whole predicate is true.
//!
//! A read with a filter works in two stages. First it prunes: statistics, bloom filters,
//! dictionaries and page indexes rule out row groups and pages without matching rows. Then it
//! decodes the tested columns, followed by the other columns for the selected rows only. Pruning
//! never changes the result. To see the effect of each [`PruningStep`], use
//! [`ParquetFile::explain`](crate::ParquetFile::explain). If you need a test that this library
//! lacks, implement [`RowPredicate`].
//!
//! ```
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//! use herringbone::filter::col;
//! use herringbone::{ParquetFile, ReadOptions};
//!
//! let file = ParquetFile::open("testdata/example.parquet")?;
//! let wanted = col("id").ge(20).and(col("name").ne("basil"));
//! let mut reader = file.read(ReadOptions::new().filter(wanted))?;
//! let batch = reader.next_batch()?.ok_or("no rows")?;
//! assert_eq!(batch.num_rows(), 3);
//! // The statistics ruled out the first row group.
//! assert_eq!(reader.metrics().row_groups_pruned, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use herringbone_core::metrics::{ReadCounts, ReadMetrics, StepMetrics};
pub use herringbone_read::{RowGroupExplanation, StepExplanation};

pub use herringbone_filter::{
    Column, Like, Literal, Predicate, PruningStep, PruningSteps, RowError, RowPredicate, RowTest,
    Verdict, col, col_at,
};
