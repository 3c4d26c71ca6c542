//! The Arrow major version that Herringbone is built on, with the crates array, buffer, data, ipc,
//! row and schema, and nothing else.
//!
//! The features `arrow-60` (default) and `arrow-59` choose the major version. If both are on, the
//! newest one wins.

#![forbid(unsafe_code)]

#[cfg(feature = "arrow-60")]
pub use {
    arrow_array_60 as array, arrow_buffer_60 as buffer, arrow_data_60 as data, arrow_ipc_60 as ipc,
    arrow_row_60 as row, arrow_schema_60 as schema,
};

#[cfg(all(feature = "arrow-59", not(feature = "arrow-60")))]
pub use {
    arrow_array_59 as array, arrow_buffer_59 as buffer, arrow_data_59 as data, arrow_ipc_59 as ipc,
    arrow_row_59 as row, arrow_schema_59 as schema,
};

#[cfg(not(any(feature = "arrow-59", feature = "arrow-60")))]
compile_error!("herringbone-arrow needs one of the features `arrow-60` and `arrow-59`");
