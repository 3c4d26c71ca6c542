//! Tests every Arrow type, bare and nested, with every encoding, codec, page version and density of nulls.

use std::sync::Arc;

use herringbone::{ColumnOptions, ColumnSelector, DataPageVersion, ReadOptions, WriteOptions};
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{DataType, Field, Fields, Schema, SchemaRef};
use herringbone_schema::{WriteSchemaOptions, from_arrow};

use super::arrays;
use super::choices::{CODECS, encodings};
use super::compare::{difference, read, report, written};
use super::schemas::{is_null, leaf_types};
use crate::batches::Random;
use crate::table::without_panic;

pub(super) const ROWS: usize = 60;

/// Returns a type by itself, in lists, in a struct, as values of a map, and as a dictionary.
pub(crate) fn nestings(leaf: &DataType) -> Vec<DataType> {
    use DataType as T;
    let item = || Arc::new(Field::new("item", leaf.clone(), true));
    let required = || Arc::new(Field::new("item", leaf.clone(), is_null(leaf)));
    let inner = Field::new("x", leaf.clone(), true);
    let list = Field::new("y", T::List(required()), true);
    let entries = Fields::from(vec![
        Field::new("key", T::Utf8, false),
        Field::new("value", leaf.clone(), true),
    ]);
    let entries = Field::new("key_value", T::Struct(entries), false);
    let mut all = vec![
        leaf.clone(),
        T::List(item()),
        T::LargeList(required()),
        T::FixedSizeList(item(), 2),
        T::ListView(item()),
        T::Struct(vec![inner, list].into()),
        T::Map(Arc::new(entries), false),
    ];
    if !is_null(leaf) {
        all.push(T::Dictionary(Box::new(T::Int16), Box::new(leaf.clone())));
    }
    all
}

/// Returns all types in all nestings, in nullable and non-nullable columns.
pub(super) fn everything() -> SchemaRef {
    let types = leaf_types();
    let nested = types.iter().flat_map(nestings).enumerate();
    let fields: Vec<_> = nested
        .map(|(i, data_type)| {
            let nullable = i % 5 > 0 || is_null(&data_type);
            Field::new(format!("{i} {data_type}"), data_type, nullable)
        })
        .collect();
    Arc::new(Schema::new(fields))
}

/// Returns options that give each column its encoding number `choice`, modulo the number of its encodings.
pub(super) fn encoded(schema: &Schema, choice: usize) -> WriteOptions {
    let mapping = from_arrow(schema, &WriteSchemaOptions::default()).unwrap();
    mapping
        .leaves
        .into_iter()
        .fold(WriteOptions::new(), |options, leaf| {
            let all = encodings(leaf.physical_type);
            let chosen = ColumnOptions::new().encoding(all[choice % all.len()]);
            options.column_override(ColumnSelector::Path(leaf.path), chosen)
        })
}

fn check(
    what: &str,
    schema: &SchemaRef,
    batch: &RecordBatch,
    options: WriteOptions,
) -> Vec<String> {
    let round_trip = || {
        let columns = options.columns.clone().page_rows(25);
        let options = options.columns(columns).row_group_rows(45).threads(1);
        let batches = std::slice::from_ref(batch);
        let file = written(schema, batches, options).map_err(|error| error.to_string())?;
        let (is, read) =
            read(&file, ReadOptions::default().threads(1)).map_err(|error| error.to_string())?;
        if is != *schema {
            return Err("another schema".to_owned());
        }
        difference(batches, &read, schema).map_or(Ok(()), Err)
    };
    let fault = without_panic(round_trip).unwrap_or_else(Err).err();
    fault
        .map(|fault| format!("{what}: {fault}"))
        .into_iter()
        .collect()
}

#[test]
fn with_every_encoding() {
    let schema = everything();
    let random = &mut Random(3);
    let mut wrong = Vec::new();
    for choice in 0..3 {
        for version in [DataPageVersion::V1, DataPageVersion::V2] {
            let batch = arrays::batch(random, &schema, ROWS);
            let options = encoded(&schema, choice).data_page_version(version);
            let what = format!("encoding {choice} in {version:?}");
            wrong.extend(check(&what, &schema, &batch, options));
        }
    }
    report(&wrong);
}

#[test]
fn with_every_codec() {
    let schema = everything();
    let random = &mut Random(4);
    let mut wrong = Vec::new();
    for (i, codec) in CODECS.into_iter().enumerate() {
        let version = [DataPageVersion::V1, DataPageVersion::V2][i % 2];
        let batch = arrays::batch(random, &schema, ROWS);
        let options = WriteOptions::new()
            .compression(codec.parse().unwrap())
            .data_page_version(version);
        wrong.extend(check(codec, &schema, &batch, options));
    }
    report(&wrong);
}
