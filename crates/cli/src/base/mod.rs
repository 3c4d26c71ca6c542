//! The lowest layer of the command, which all others may use: failures and their advice, file names
//! and URLs, type names, and text that is harmless on a terminal.

pub(crate) mod advice;
pub(crate) mod failure;
pub(crate) mod plural;
pub(crate) mod random;
pub(crate) mod type_name;
pub(crate) mod url;

pub(crate) use herringbone_interchange::write::printable;
