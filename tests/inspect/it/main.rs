//! Tests `verify` and `repair`.

#[cfg(test)]
use herringbone_tests::{annotated, crafted, damage, files, random, table};

#[cfg(test)]
mod verify;
#[cfg(test)]
mod repair;
