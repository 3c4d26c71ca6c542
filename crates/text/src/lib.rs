//! JSON, ISO 8601 and the calendar, for all crates of the workspace.
//!
//! [`json`] reads JSON text token by token, or into a small tree. [`iso8601`] parses and formats dates, times and
//! timestamps. [`calendar`] converts days to dates and back. [`size`] parses and formats byte counts.
//!
//! Everything is exact: numbers keep all their digits, and text with too many digits is rejected. All operations take
//! time linear in the length of the text. Recursion is always limited.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod calendar;
pub mod iso8601;
pub mod json;
pub mod size;
