use parquet::arrow::ArrowWriter;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut so = herringbone::SchemaOptions::default();
    so.use_arrow_schema = false;
    let b: Vec<_> = herringbone::open_with(&a[1], herringbone::ReadOptions::default().schema(so))
        .unwrap()
        .map(|b| b.unwrap())
        .collect();
    let mut w = herringbone::create_with(
        "/tmp/ours.parquet",
        b[0].schema(),
        herringbone::WriteOptions::default()
            .compression(herringbone::Compression::Uncompressed)
            .threads(1),
    )
    .unwrap();
    for x in &b {
        w.write(x).unwrap();
    }
    w.finish().unwrap();
    let mut w = ArrowWriter::try_new(
        std::fs::File::create("/tmp/theirs.parquet").unwrap(),
        b[0].schema(),
        None,
    )
    .unwrap();
    for x in &b {
        w.write(x).unwrap();
    }
    w.close().unwrap();
}
