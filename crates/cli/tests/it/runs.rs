//! Tests run-end encoded columns: their values as text, and runs in Arrow output.

use std::sync::Arc;

use herringbone::{WriteOptions, Writer};
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::{Int16Type, Int32Type};
use herringbone_arrow::array::{
    Array, ArrayRef, Int64Array, ListArray, RecordBatch, RunArray, StructArray,
};
use herringbone_arrow::buffer::OffsetBuffer;
use herringbone_arrow::ipc::reader::StreamReader;
use herringbone_arrow::schema::{DataType, Field};

use crate::common::herringbone;

#[test]
fn every_format() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name| folder.path().join(name).to_str().unwrap().to_owned();
    let (out, again) = (place("out.parquet"), place("again.parquet"));
    write_runs(&out);
    let rows = concat!(
        r#"{"n":7,"s":{"t":null},"l":["x"]}"#,
        "\n",
        r#"{"n":7,"s":{"t":"x"},"l":["x","y"]}"#,
        "\n",
        r#"{"n":null,"s":{"t":"x"},"l":[]}"#,
        "\n",
    );
    herringbone(&["cat", "--format", "jsonl", &out]).ok(rows);
    let csv = "n,s,l\n7,\"{\"\"t\"\":null}\",\"[\"\"x\"\"]\"\n7,\"{\"\"t\"\":\"\"x\"\"}\",\
               \"[\"\"x\"\",\"\"y\"\"]\"\n,\"{\"\"t\"\":\"\"x\"\"}\",[]\n";
    herringbone(&["cat", "--format", "csv", &out]).ok(csv);
    let table = herringbone(&["cat", "--format", "table", &out]);
    assert_eq!((table.code, table.stderr.as_str()), (0, ""));
    assert_eq!(table.stdout.matches('7').count(), 2);
    herringbone(&["rewrite", &out, &again]).ok("");
    for (file, batch_size) in [(&out, "8192"), (&out, "2"), (&again, "1")] {
        let stream = herringbone(&["cat", "--format", "arrow", "--batch-size", batch_size, file]);
        assert_eq!((stream.code, stream.stderr.as_str()), (0, ""));
        let reader = StreamReader::try_new(stream.bytes.as_slice(), None).unwrap();
        let read: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
        let mut lines = Vec::new();
        for batch in &read {
            assert!(matches!(
                batch.column(0).data_type(),
                DataType::RunEndEncoded(..)
            ));
            let numbers = batch.column(0).as_run::<Int32Type>();
            let numbers = numbers.downcast::<Int64Array>().unwrap();
            lines.extend(numbers);
            batch.column(1).to_data().validate_full().unwrap();
            batch.column(2).to_data().validate_full().unwrap();
        }
        assert_eq!(lines, [Some(7), Some(7), None]);
    }
}

fn write_runs(path: &str) {
    let numbers: RunArray<Int32Type> =
        RunArray::try_new(&vec![2, 3].into(), &Int64Array::from(vec![Some(7), None])).unwrap();
    let texts: RunArray<Int32Type> = [None, Some("x"), Some("x")].into_iter().collect();
    let field = Field::new("t", texts.data_type().clone(), true);
    let structs = StructArray::new(vec![field].into(), vec![Arc::new(texts)], None);
    let elements: RunArray<Int16Type> = ["x", "x", "y"].into_iter().collect();
    let item = Field::new("item", elements.data_type().clone(), true);
    let offsets = OffsetBuffer::from_lengths([1, 2, 0]);
    let lists = ListArray::new(Arc::new(item), offsets, Arc::new(elements), None);
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("n", Arc::new(numbers) as ArrayRef, true),
        ("s", Arc::new(structs), true),
        ("l", Arc::new(lists), true),
    ])
    .unwrap();
    let mut file = std::fs::File::create(path).unwrap();
    let mut writer = Writer::new(&mut file, batch.schema(), WriteOptions::new()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}
