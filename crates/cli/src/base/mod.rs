//! The lowest floor: failures and their advice, names and URLs of files, names of types, words of a shell, and harmless
//! text for a terminal.

pub(crate) mod advice;
pub(crate) mod failure;
pub(crate) mod plural;
pub(crate) mod random;
pub(crate) mod shell;
pub(crate) mod type_name;
pub(crate) mod url;

pub(crate) use herringbone_interchange::write::printable;
