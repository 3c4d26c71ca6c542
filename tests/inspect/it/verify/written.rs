//! Files that this library writes are valid.

use herringbone::{
    BloomFilterOptions, ColumnOptions, Compatibility, ParquetFile, ReadOptions, WriteOptions,
    Writer,
};

use super::lines;
use crate::files;

#[test]
fn files_of_others_written_again_are_sound() {
    let mut wrong = Vec::new();
    let mut written = 0;
    for path in files::generated() {
        for compatibility in [Compatibility::Widest, Compatibility::Modern] {
            let file = ParquetFile::open(&path).unwrap();
            let reader = file.read(ReadOptions::default()).unwrap();
            let columns = ColumnOptions::new()
                .page_rows(50)
                .bloom_filter(BloomFilterOptions::new(0.1));
            let options = WriteOptions::new()
                .compatibility(compatibility)
                .row_group_rows(130)
                .columns(columns);
            let mut bytes = Vec::new();
            let Ok(mut writer) = Writer::new(&mut bytes, reader.schema(), options) else {
                continue;
            };
            for batch in reader {
                writer.write(&batch.unwrap()).unwrap();
            }
            writer.finish().unwrap();
            written += 1;
            let name = files::short(&path);
            wrong.extend(lines(&bytes).iter().map(|line| format!("{name}: {line}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(written > 200, "only {written} files were written");
}
