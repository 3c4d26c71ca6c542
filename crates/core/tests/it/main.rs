//! Reads of columns whose values follow from the numbers of their rows.

#[cfg(test)]
mod lists;
