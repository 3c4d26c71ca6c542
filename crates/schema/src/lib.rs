//! The whole mapping between Parquet schemas and Arrow schemas.
#![forbid(unsafe_code)]
