//! Reads of small files. Each test writes a file whose values follow from its row numbers, so that the expected values
//! need no reader.

#[cfg(test)]
mod damage;
#[cfg(test)]
mod layouts;
#[cfg(test)]
mod push;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod shared;
#[cfg(test)]
mod table;
#[cfg(test)]
mod wanted;
#[cfg(test)]
mod work;
