//! Tests of scans and sinks in a session. The engine's own Parquet reader is the oracle, with everything switched off by
//! which it errs: its statistics lose NaNs, and it takes missing null counts for zero.

mod damage;
mod pushdown;
mod random;
mod schemas;
mod sinks;
mod support;
mod tpch;
mod wrong_in_stock;
