//! Reads columns whose values follow from their row numbers.

#[cfg(test)]
mod flat;
#[cfg(test)]
mod lists;
