//! Plug-ins: extension types and statistics of columns that this library does not know.

mod cell;
mod column_statistics;
mod columns;
mod file;
mod nested;
mod refused;
mod whole;
