//! Reads other writers' encrypted files, and random bytes.

#[cfg(test)]
mod official_files;
#[cfg(test)]
mod random;
#[cfg(test)]
#[path = "../support/mod.rs"]
mod support;
