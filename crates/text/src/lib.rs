//! JSON, ISO 8601 and the calendar, for all crates of the workspace.
//!
//! [`json`] reads JSON text token by token, or into a small tree. [`iso8601`] reads and writes dates,
//! times and timestamps. [`calendar`] turns days into dates and back.
//!
//! Everything is exact: numbers keep their digits, and a text with too many digits is refused.
//! All work is linear in the length of the text, and no function recurses without a limit.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod calendar;
pub mod iso8601;
pub mod json;
