//! Reads and writes Apache Parquet in [Ballista](https://datafusion.apache.org/ballista) by
//! Herringbone.
//!
//! The commands `herringbone-scheduler`, `herringbone-executor` and `herringbone-sql` need no
//! program of your own. If you build one, for example because you have keys for encrypted files:
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
mod errors;
mod logical;
pub mod process;
mod rule;
mod stores;
mod table;
mod url_tables;

pub use cluster::{connect, connect_stock, executor_config, physical_codec, scheduler_config};
pub use errors::plain_error;
pub use herringbone_datafusion;
pub use logical::HerringboneLogicalCodec;
pub use rule::WrapTables;
pub use stores::runtime_env;
pub use url_tables::enable_url_tables;
