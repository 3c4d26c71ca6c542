//! Writes an HTML page about a file or a directory.
//!
//! ```text
//! footer, page indexes, verify ─► Facts ─► findings, treemap, tables, map of pages ─► page
//! footers of a directory ──────────► Folder ─► findings, table of files ────────────────► page
//! ```
//!
//! The page needs no network. We escape all text from the file, so that it can't inject markup.

mod facts;
mod findings;
mod folder;
mod html;
mod markup;
mod mend;
mod page_map;
mod tables;
mod treemap;

pub(crate) use facts::{Facts, sql_type};
pub(crate) use findings::{Findings, findings};
pub(crate) use folder::Folder;
pub(crate) use html::page;
