//! An HTML page about a file.
//!
//! ```text
//! footer, page indexes, verify ─► Facts ─► findings, treemap, tables, map of pages ─► page
//! ```
//!
//! The page needs no network. Every text of the file is escaped, so it cannot become markup.

mod facts;
mod findings;
mod html;
mod markup;
mod page_map;
mod tables;
mod treemap;

pub(crate) use facts::Facts;
pub(crate) use findings::findings;
pub(crate) use html::page;
