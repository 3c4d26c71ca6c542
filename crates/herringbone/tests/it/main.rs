//! Tests of this crate's readers and writers: their counts, their order of work, and the requests
//! that they make.

#[cfg(test)]
mod chunk_files;
#[cfg(test)]
mod common;
#[cfg(test)]
mod encoders;
#[cfg(test)]
mod handles;
#[cfg(test)]
mod opened;
#[cfg(test)]
mod readers;
#[cfg(test)]
mod sorting;
#[cfg(test)]
mod writers;
