//! Filters on batches and files, compared with loops over all values.

#[cfg(test)]
mod arrays;
#[cfg(test)]
mod bounds;
#[cfg(test)]
mod custom;
#[cfg(test)]
mod implied;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod literals;
#[cfg(test)]
mod values;
