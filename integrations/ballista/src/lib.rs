//! Apache Parquet in [Ballista](https://datafusion.apache.org/ballista) by Herringbone.
//!
//! The commands `herringbone-scheduler`, `herringbone-executor` and `herringbone-sql` need no program of your own. To
//! build one, for example with keys of encrypted files:
//!
//! | to | use |
//! |---|---|
//! | run queries from a program | [`connect`] |
//! | start a scheduler | [`scheduler_config`] |
//! | start an executor | [`executor_config`] |
//!
//! ```text
//! client ── rule.rs: tables of Herringbone get a provider of ours ── logical plan ─► scheduler ── physical plan ─► executors
//!                        table.rs, logical.rs: on the wire                              HerringboneCodec: on the wire
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod cluster;
mod logical;
pub mod process;
mod rule;
mod table;

pub use cluster::{connect, connect_stock, executor_config, physical_codec, scheduler_config};
pub use herringbone_datafusion;
pub use logical::HerringboneLogicalCodec;
pub use rule::WrapTables;
