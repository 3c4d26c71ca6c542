//! Encrypted files of others.

#[cfg(test)]
mod official_files;
#[cfg(test)]
#[path = "../support/mod.rs"]
mod support;
