//! Files of small tables: their pages, their row groups, and the columns of extension types.

#[cfg(test)]
mod pages;
#[cfg(test)]
mod row_groups;
#[cfg(test)]
mod siblings;
