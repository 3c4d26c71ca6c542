//! Shreds VARIANT values on write, and reads the value at a path.
//!
//! cargo run --example variant --features variant

// docs: shredding
use herringbone::arrow::array::{Array, RecordBatch, cast::AsArray, types::Int64Type};
use herringbone::arrow::schema::Schema;
use herringbone::variant::extension::{Shredding, VariantExtension, VariantGet};
use herringbone::variant::shredding::{InferOptions, Shredder, ShreddingType, variant_field};
use herringbone::variant::{PrimitiveType, VariantBuf};
use herringbone::{ParquetFile, ReadOptions, WriteOptions, Writer};
use std::sync::Arc;
// docs: end

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // docs: shredding
    let mut events = Shredder::new(ShreddingType::Unshredded)?;
    for json in [
        r#"{"user": {"id": 7}, "tags": ["a"]}"#,
        r#"{"user": {"id": 8}}"#,
        "[1.50, null]",
    ] {
        events.append(VariantBuf::from_json(json)?.as_variant())?;
    }
    let events = events.finish()?;
    let field = variant_field("event", events.data_type().clone(), true);
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(events)])?;

    // The first batch decides the shredded columns. You can also name them.
    let shredding = Shredding::Infer(InferOptions::default());
    let options = WriteOptions::new().extension(VariantExtension::new().shredding(shredding));
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options)?;
    writer.write(&batch)?;
    writer.finish()?;

    // Reads only the columns of the path.
    let id = VariantGet::new("$.user.id".parse()?).as_type(PrimitiveType::Int64);
    let options = ReadOptions::new()
        .columns::<String>([])
        .extension_column("id", ["event"], id);
    let file = ParquetFile::from_bytes(file)?;
    let ids = file.read(options)?.next_batch()?.ok_or("no rows")?;
    let ids: Vec<_> = ids.column(0).as_primitive::<Int64Type>().iter().collect();
    assert_eq!(ids, [Some(7), Some(8), None]);

    // Selects rows by the value at a path. The bounds of its columns skip pages.
    let id = VariantGet::new("$.user.id".parse()?).as_type(PrimitiveType::Int64);
    let wanted = ReadOptions::new().filter(id.filter(["event"], |id| id.ge(8)));
    assert_eq!(
        file.read(wanted)?
            .next_batch()?
            .ok_or("no rows")?
            .num_rows(),
        1
    );
    // docs: end
    Ok(())
}
