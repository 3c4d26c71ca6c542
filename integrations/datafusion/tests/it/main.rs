//! Tests of scans and sinks in a session. The engine's own Parquet reader is the oracle. We switch
//! off everything by which it errs, because its statistics lose NaNs and it takes missing null
//! counts for zero.

#[cfg(test)]
mod bytes;
#[cfg(test)]
mod clickbench;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod engine_files;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod metrics;
#[cfg(test)]
mod partitions;
#[cfg(test)]
mod parts;
#[cfg(test)]
mod pushdown;
#[cfg(test)]
mod random;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod sinks;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tpch;
#[cfg(test)]
mod tpch_tables;
#[cfg(test)]
mod wrong_in_stock;
