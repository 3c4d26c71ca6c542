//! Tests of the properties that a rewrite keeps, adapts or leaves out.

#[cfg(test)]
mod calendars;
#[cfg(test)]
mod carried;
#[cfg(test)]
mod descriptions;
#[cfg(test)]
mod encrypted;
#[cfg(test)]
mod files;
#[cfg(test)]
mod merged;
