//! What the fuzz targets share; each of them names a property and calls one function from here.

pub mod codec;
pub mod metadata;
pub mod page;
pub mod peer;
pub mod read;
pub mod round_trip;

// The generators and the normal form of values of the ordinary tests, with choices from the fuzzer.
mod noise;
#[allow(dead_code)]
#[path = "../../tests/it/batches.rs"]
mod batches;
#[allow(dead_code)]
#[path = "../../tests/it/crafted.rs"]
mod crafted;
#[allow(dead_code)]
#[path = "../../tests/it/normal.rs"]
mod normal;
#[allow(dead_code)]
#[path = "../../tests/it/table.rs"]
mod table;
#[allow(dead_code)]
mod write;
