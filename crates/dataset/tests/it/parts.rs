//! Reads parts of datasets, as an engine's tasks do.

use futures::executor::block_on;
use herringbone::filter::col;
use herringbone::{ErrorKind, ReadOptions, WriteOptions, Writer};
use herringbone_dataset::{DataPart, Dataset, DatasetOptions, DatasetReadOptions};

use crate::files::{Folder, all, batch, ids};

/// Returns a dataset of three files, where two files have several row groups.
fn dataset(name: &str) -> (Folder, Dataset) {
    let folder = Folder::new(name);
    for (path, rows, group) in [
        ("k=1/a", 0..1000, 100),
        ("k=1/b", 1000..1010, 10),
        ("k=2/c", 1010..3000, 250),
    ] {
        let mut bytes = Vec::new();
        let options = WriteOptions::new().row_group_rows(group);
        let mut writer = Writer::new(&mut bytes, batch(0..1).schema(), options).unwrap();
        writer.write(&batch(rows)).unwrap();
        writer.finish().unwrap();
        folder.put(&format!("{path}.parquet"), &bytes);
    }
    let dataset = Dataset::open(&folder.0, DatasetOptions::new()).unwrap();
    (folder, dataset)
}

#[test]
fn parts_have_each_row_once_for_any_size() {
    let (_folder, dataset) = dataset("split");
    for bytes in [100, 777, 5_000, 1 << 20, u64::MAX] {
        let parts = dataset.split(bytes);
        assert!(bytes < 1 << 20 || parts.len() == 3, "{parts:?}");
        let (mut found, mut at_once) = (Vec::new(), 0);
        for part in &parts {
            let options = DatasetReadOptions::new().parts([part.clone()]);
            let rows = ids(&all(dataset.read(options.clone()).unwrap()).unwrap());
            let mut stream = dataset.stream(options).unwrap();
            let mut streamed = Vec::new();
            while let Some(batch) = block_on(stream.next_batch()).unwrap() {
                streamed.push(batch);
            }
            assert_eq!(ids(&streamed), rows, "{part:?}");
            at_once = at_once.max(rows.len());
            found.extend(rows);
        }
        assert_eq!(found, (0..3000).collect::<Vec<_>>(), "{bytes}");
        assert!(bytes != 777 || at_once < 1000, "{at_once}");
        let read = dataset.read(DatasetReadOptions::new().parts(parts));
        let rows = ids(&all(read.unwrap()).unwrap());
        assert_eq!(rows, (0..3000).collect::<Vec<_>>(), "{bytes}");
    }
}

#[test]
fn some_files_are_read_in_the_order_of_the_request() {
    let (_folder, dataset) = dataset("parts");
    let read = |options: DatasetReadOptions| ids(&all(dataset.read(options).unwrap()).unwrap());
    let two = || [DataPart::whole(2), DataPart::whole(1)];
    let expected: Vec<_> = (1010..3000).chain(1000..1010).collect();
    assert_eq!(read(DatasetReadOptions::new().parts(two())), expected);
    let limited = DatasetReadOptions::from(ReadOptions::new().offset(1985).limit(10));
    assert_eq!(read(limited.parts(two())), expected[1985..1995]);
    // A filter rules out files of parts, too.
    let filtered = DatasetReadOptions::from(ReadOptions::new().filter(col("k").eq(1)));
    let explained = dataset.explain(filtered.clone().parts(two())).unwrap();
    assert_eq!((explained.files, explained.files_ruled_out), (2, 1));
    assert_eq!(explained.rows, 10);
    assert_eq!(
        read(filtered.parts(two())),
        (1000..1010).collect::<Vec<_>>()
    );
    assert_eq!(read(DatasetReadOptions::new().parts([])), [0_i64; 0]);
    let nothing = DatasetReadOptions::new().parts([DataPart::new(0, 10..20)]);
    assert_eq!(read(nothing), [0_i64; 0]);
    let options = DatasetReadOptions::new().parts([DataPart::whole(3)]);
    let error = dataset.read(options).map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    assert!(error.message().contains("has 3 files"), "{error}");
}
