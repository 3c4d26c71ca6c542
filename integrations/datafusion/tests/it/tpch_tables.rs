//! Writes the tables of TPC-H as files, also for the tests of `integrations/ballista` and the
//! benchmark, which include this file.

use std::fs::File;
use std::path::Path;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterPropertiesBuilder;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};
use tpchgen_arrow::{
    CustomerArrow, LineItemArrow, NationArrow, OrderArrow, PartArrow, PartSuppArrow, RegionArrow,
    SupplierArrow,
};

macro_rules! tables {
    ($($name:literal $arrow:ident $generator:ident)+) => {
        /// The names of the tables.
        #[allow(dead_code, reason = "the benchmark lists its folders")]
        pub(crate) const TABLES: [&str; 8] = [$($name),+];

        /// Writes each table as a compressed file `NAME.parquet`. With the scale factor 1,
        /// `lineitem` has 6 million rows.
        pub(crate) fn write_tables(folder: &Path, scale: f64, properties: &WriterPropertiesBuilder) {
            $(
                let batches = $arrow::new($generator::new(scale, 1, 1)).map(|batch| batch.unwrap());
                let path = folder.join(concat!($name, ".parquet"));
                write(&path, $arrow::schema_ref(), batches, properties.clone());
            )+
        }
    };
}

tables! {
    "customer" CustomerArrow CustomerGenerator
    "lineitem" LineItemArrow LineItemGenerator
    "nation" NationArrow NationGenerator
    "orders" OrderArrow OrderGenerator
    "part" PartArrow PartGenerator
    "partsupp" PartSuppArrow PartSuppGenerator
    "region" RegionArrow RegionGenerator
    "supplier" SupplierArrow SupplierGenerator
}

/// Writes a compressed file.
pub(crate) fn write(
    path: &Path,
    schema: SchemaRef,
    batches: impl Iterator<Item = RecordBatch>,
    properties: WriterPropertiesBuilder,
) {
    let properties = properties.set_compression(Compression::SNAPPY).build();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).unwrap();
    batches.for_each(|batch| writer.write(&batch).unwrap());
    writer.close().unwrap();
}

/// Returns the 22 queries.
pub(crate) fn queries() -> Vec<&'static str> {
    let queries: Vec<_> = include_str!("tpch.sql").split("--------\n").collect();
    assert_eq!(queries.len(), 22);
    queries
}
