use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::array::builder::{
    Int32Builder, ListBuilder, MapBuilder, StringBuilder, StringDictionaryBuilder,
};
use herringbone_arrow::array::types::{Int8Type, Int32Type};
use herringbone_arrow::array::{self as a, ArrayRef};
use herringbone_arrow::buffer::ScalarBuffer;
use herringbone_arrow::ipc::writer::{
    DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter,
};
use herringbone_arrow::ipc::{self, CompressionType, MetadataVersion};
use herringbone_arrow::schema::{DataType, Field, Fields, UnionFields};

use super::*;

/// Returns a batch with columns of all layouts, a few rows each.
fn batch() -> RecordBatch {
    let texts = || ["a", "a text that is longer than a view", "a", ""];
    let mut dictionary = StringDictionaryBuilder::<Int8Type>::new();
    let mut lists = ListBuilder::new(Int32Builder::new());
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for (at, text) in texts().into_iter().enumerate() {
        dictionary.append_option((at != 1).then_some(text));
        lists.values().append_value(at as i32);
        lists.append(at != 2);
        maps.keys().append_value(text);
        maps.values().append_option((at != 3).then_some(1));
        maps.append(true).unwrap();
    }
    let item = || Arc::new(Field::new("item", DataType::Int32, true));
    let numbers: ArrayRef = Arc::new(a::Int32Array::from(vec![Some(1), None, Some(3), Some(4)]));
    let view = a::ListViewArray::new(
        item(),
        ScalarBuffer::from(vec![0, 2, 1, 0]),
        ScalarBuffer::from(vec![2, 2, 0, 4]),
        numbers.clone(),
        None,
    );
    let both: ArrayRef = Arc::new(a::StringArray::from(texts().to_vec()));
    let fields = UnionFields::try_new(
        [0, 5],
        [
            Field::new("n", DataType::Int32, true),
            Field::new("t", DataType::Utf8, true),
        ],
    );
    let union = a::UnionArray::try_new(
        fields.unwrap(),
        ScalarBuffer::from(vec![0_i8, 5, 5, 0]),
        None,
        vec![numbers.clone(), both.clone()],
    );
    let runs = a::RunArray::<Int32Type>::try_new(
        &a::Int32Array::from(vec![1, 4]),
        &a::StringArray::from(vec![Some("x"), None]),
    );
    let fields: Fields = vec![item(), Arc::new(Field::new("t", DataType::Utf8, true))].into();
    let columns: Vec<ArrayRef> = vec![
        numbers.clone(),
        Arc::new(a::BooleanArray::from(vec![
            Some(true),
            None,
            Some(false),
            None,
        ])),
        both.clone(),
        Arc::new(a::LargeBinaryArray::from_iter_values(texts())),
        Arc::new(a::StringViewArray::from_iter_values(texts())),
        Arc::new(dictionary.finish()),
        Arc::new(lists.finish()),
        Arc::new(maps.finish()),
        Arc::new(view),
        Arc::new(union.unwrap()),
        Arc::new(runs.unwrap()),
        Arc::new(a::FixedSizeListArray::new(item(), 1, numbers.clone(), None)),
        Arc::new(a::StructArray::new(fields, vec![numbers, both], None)),
        Arc::new(a::NullArray::new(4)),
        Arc::new(a::FixedSizeBinaryArray::try_from_iter([b"ab"; 4].into_iter()).unwrap()),
    ];
    let names = (0..columns.len()).map(|at| format!("c{at}"));
    RecordBatch::try_from_iter_with_nullable(
        names
            .zip(columns)
            .map(|(name, column)| (name, column, true)),
    )
    .unwrap()
}

fn options(compression: Option<CompressionType>) -> IpcWriteOptions {
    IpcWriteOptions::try_new(64, false, MetadataVersion::V5)
        .unwrap()
        .try_with_compression(compression)
        .unwrap()
        .with_dictionary_handling(DictionaryHandling::Delta)
}

/// Writes two batches as a stream or as a file.
fn written(is_file: bool, compression: Option<CompressionType>) -> Vec<u8> {
    let (batch, options) = (batch(), options(compression));
    let mut bytes = Vec::new();
    if is_file {
        let writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options);
        let mut writer = writer.unwrap();
        writer.write(&batch).unwrap();
        writer.write(&batch.slice(1, 2)).unwrap();
        writer.finish().unwrap();
    } else {
        let writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options);
        let mut writer = writer.unwrap();
        writer.write(&batch).unwrap();
        writer.write(&batch.slice(1, 2)).unwrap();
        writer.finish().unwrap();
    }
    bytes
}

/// Reads all batches of a stream or file.
fn read(bytes: &[u8], limits: Limits) -> Result<Vec<RecordBatch>> {
    let rows = match bytes.starts_with(MAGIC) {
        true => file_rows("x", Box::new(Cursor::new(bytes.to_vec())), limits)?,
        false => {
            let bytes = Cursor::new(bytes.to_vec());
            stream_rows("x".into(), bytes, limits, Work::Unknown)?
        }
    };
    rows.batches.collect()
}

/// Returns true if an error concerns neither the system nor the options.
fn is_about_bytes(error: &crate::Error) -> bool {
    matches!(error, crate::Error::Data(_) | crate::Error::Limit { .. })
}

fn small_limits() -> Limits {
    let mut limits = Limits::default();
    limits.memory_bytes = 16 << 20;
    limits
}

#[test]
fn files_and_streams_come_back() {
    let compressions = [
        None,
        Some(CompressionType::LZ4_FRAME),
        Some(CompressionType::ZSTD),
    ];
    for compression in compressions {
        for is_file in [false, true] {
            let batches = read(&written(is_file, compression), Limits::default()).unwrap();
            assert_eq!(batches, [batch(), batch().slice(1, 2)], "{compression:?}");
        }
    }
}

#[test]
fn a_stream_may_end_with_the_bytes() {
    let bytes = written(false, None);
    let open = &bytes[..bytes.len() - 8];
    assert_eq!(read(open, Limits::default()).unwrap().len(), 2);
    for cut in [1, 5, 9, 100, open.len() - 1] {
        let failure = read(&open[..open.len() - cut], Limits::default()).unwrap_err();
        assert!(is_about_bytes(&failure), "{failure}");
    }
    assert!(is_about_bytes(&read(b"", Limits::default()).unwrap_err()));
}

/// Changes bytes or words. The result depends only on the bytes and the seed.
fn change(bytes: &[u8], seed: &mut u64) -> Vec<u8> {
    let mut random = |most: usize| {
        // This is SplitMix64 by Steele and Vigna.
        *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % most as u64) as usize
    };
    let mut changed = bytes.to_vec();
    for _ in 0..=random(2) {
        let at = random(changed.len());
        match random(6) {
            0 => changed[at] ^= 1 << random(8),
            1 => changed[at] = [0, 0xff, 0x7f, 0x80][random(4)],
            2 => {
                let words = [i64::MAX, i64::MIN, -1, 1 << 40, 1 << 31, 255, 0];
                let word = words[random(words.len())].to_le_bytes();
                let at = at / 8 * 8;
                let end = changed.len().min(at + 8);
                changed[at..end].copy_from_slice(&word[..end - at]);
            }
            3 => {
                let word = [i32::MAX, i32::MIN, -1, 1 << 20, 7][random(5)].to_le_bytes();
                let at = at / 4 * 4;
                let end = changed.len().min(at + 4);
                changed[at..end].copy_from_slice(&word[..end - at]);
            }
            4 => changed.truncate(at.max(1)),
            _ => {
                let from = random(changed.len() - 16);
                let to = random(changed.len() - 16);
                changed.copy_within(from..from + 8, to);
            }
        }
        if changed.len() < 17 {
            break;
        }
    }
    changed
}

/// Reads damaged copies. Each read must succeed or fail with a data error. Set
/// `HERRINGBONE_DAMAGE=N` to test N copies of each file.
#[test]
fn damage_is_an_error() {
    let count = std::env::var("HERRINGBONE_DAMAGE").ok();
    let count: u64 = count.and_then(|count| count.parse().ok()).unwrap_or(300);
    let mut outcomes: HashMap<bool, u64> = HashMap::new();
    for compression in [
        None,
        Some(CompressionType::LZ4_FRAME),
        Some(CompressionType::ZSTD),
    ] {
        for is_file in [false, true] {
            let bytes = written(is_file, compression);
            let mut seed = u64::from(is_file);
            for round in 0..count {
                let changed = change(&bytes, &mut seed);
                let found = match read(&changed, small_limits()) {
                    Ok(_) => true,
                    Err(failure) => {
                        let text = failure.to_string();
                        assert!(is_about_bytes(&failure), "{round}: {text}");
                        assert!(!text.contains("contradict each other"), "{round}: {text}");
                        false
                    }
                };
                *outcomes.entry(found).or_insert(0) += 1;
            }
        }
    }
    // Both outcomes occur, since not all damage can be detected.
    assert!(
        outcomes[&true] > count / 10 && outcomes[&false] > count,
        "{outcomes:?}"
    );
}

/// Writes batches as a stream.
fn stream_of(batch: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let schema = batch.schema();
    let writer = StreamWriter::try_new_with_options(&mut bytes, &schema, options(compression));
    let mut writer = writer.unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    bytes
}

/// Returns the position of the first buffer with more than 8 bytes, in a stream of one batch.
fn first_buffer(bytes: &[u8]) -> usize {
    let (mut rest, limits) = (bytes, Limits::default());
    next_message(&mut rest, &limits).unwrap_or_else(|_| panic!("a schema"));
    let start = bytes.len() - rest.len();
    let message = next_message(&mut rest, &limits).unwrap_or_else(|_| panic!("a batch"));
    let message = message.unwrap();
    let batch = message.root(&limits).unwrap();
    let buffers = batch.header_as_record_batch().unwrap().buffers().unwrap();
    let buffer = buffers.iter().find(|buffer| buffer.length() > 8).unwrap();
    // The metadata follows the marker and the length.
    let length = bytes[start + 4..start + 8].try_into().unwrap();
    start + 8 + u32::from_le_bytes(length) as usize + buffer.offset() as usize
}

fn error_of(bytes: &[u8]) -> String {
    let failure = read(bytes, Limits::default()).unwrap_err();
    assert!(is_about_bytes(&failure), "{failure}");
    failure.to_string()
}

fn numbers(count: i64) -> RecordBatch {
    let column: ArrayRef = Arc::new(a::Int64Array::from_iter_values((0..count).map(|i| i % 7)));
    RecordBatch::try_from_iter([("n", column)]).unwrap()
}

#[test]
fn compressed_buffers_are_checked() {
    for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let bytes = stream_of(&numbers(1000), Some(compression));
        let at = first_buffer(&bytes);
        assert_eq!(bytes[at..at + 8], 8000_i64.to_le_bytes());
        for (length, message) in [
            (1_i64 << 40, "cannot hold a buffer of 1099511627776 bytes"),
            (i64::MAX, "compressed bytes cannot hold"),
            (-2, "a length or offset of -2 bytes"),
            (7000, "damaged Arrow data: "),
            (8001, "damaged Arrow data: "),
            (1, "8000 bytes, but a buffer has 1"),
        ] {
            let mut changed = bytes.clone();
            changed[at..at + 8].copy_from_slice(&length.to_le_bytes());
            let error = error_of(&changed);
            assert!(error.contains(message), "{length}: {error}");
        }
        // The codec's error is not a system error.
        let mut changed = bytes.clone();
        changed[at + 8..at + 16].fill(0xa5);
        assert!(error_of(&changed).starts_with("x: damaged Arrow data: "));
        let mut limits = Limits::default();
        limits.memory_bytes = 7999;
        let failure = read(&bytes, limits).unwrap_err().to_string();
        assert!(
            failure.contains("limit `memory_bytes` of 7999; raise it in `Limits`"),
            "{failure}"
        );
    }
}

#[test]
fn values_that_no_byte_stands_for_are_counted() {
    let runs = a::RunArray::<a::types::Int64Type>::try_new(
        &a::Int64Array::from(vec![1_i64 << 40]),
        &a::StringArray::from(vec!["x"]),
    );
    let columns: [ArrayRef; 2] = [
        Arc::new(a::NullArray::new(1 << 40)),
        Arc::new(runs.unwrap()),
    ];
    for column in columns {
        let batch = RecordBatch::try_from_iter([("c", column)]).unwrap();
        let error = error_of(&stream_of(&batch, None));
        assert!(
            error.contains("more than the limit `memory_bytes`"),
            "{error}"
        );
    }
    // At 16 bytes each, these fit in 64 MiB exactly.
    let batch =
        |rows| RecordBatch::try_from_iter([("c", Arc::new(a::NullArray::new(rows)) as ArrayRef)]);
    let most = (1 << 30) / 16;
    let read_back = read(&stream_of(&batch(most).unwrap(), None), Limits::default());
    assert_eq!(read_back.unwrap()[0].num_rows(), most);
    error_of(&stream_of(&batch(most + 1).unwrap(), None));
}

#[test]
fn lists_that_share_their_items_are_counted() {
    let items = 1 << 16;
    let view = |rows: usize| {
        a::ListViewArray::new(
            Arc::new(Field::new("item", DataType::Int8, true)),
            ScalarBuffer::from(vec![0; rows]),
            ScalarBuffer::from(vec![items; rows]),
            Arc::new(a::Int8Array::from(vec![1; items as usize])),
            None,
        )
    };
    let batch =
        |rows| RecordBatch::try_from_iter([("v", Arc::new(view(rows)) as ArrayRef)]).unwrap();
    // 1,024 lists of 65,536 items each are the 64 Mi items that fit in 1 GiB.
    read(&stream_of(&batch(1024), None), Limits::default()).unwrap();
    let error = error_of(&stream_of(&batch(1025), None));
    assert!(
        error.contains("1074790400 is more than the limit `memory_bytes`"),
        "{error}"
    );
}

/// Returns a file whose footer refers to the same message `times` times.
fn named_often(times: usize) -> Vec<u8> {
    let batch = numbers(100);
    let stream = stream_of(&batch, None);
    let mut rest = stream.as_slice();
    next_message(&mut rest, &Limits::default()).unwrap_or_else(|_| panic!("a schema"));
    let start = stream.len() - rest.len();
    let body = first_buffer(&stream);
    let mut bytes = [MAGIC, b"\0\0"].concat();
    let block = ipc::Block::new(
        bytes.len() as i64,
        (body - start) as i32,
        // The end of the stream takes eight bytes.
        (stream.len() - 8 - body) as i64,
    );
    bytes.extend(&stream[start..stream.len() - 8]);
    let mut builder = flatbuffers::FlatBufferBuilder::new();
    let blocks = builder.create_vector(&vec![block; times]);
    let schema = ipc::convert::schema_to_fb_offset(&mut builder, &batch.schema());
    let mut footer = ipc::FooterBuilder::new(&mut builder);
    footer.add_version(MetadataVersion::V5);
    footer.add_schema(schema);
    footer.add_recordBatches(blocks);
    let footer = footer.finish();
    builder.finish(footer, None);
    bytes.extend(builder.finished_data());
    bytes.extend((builder.finished_data().len() as i32).to_le_bytes());
    bytes.extend(MAGIC);
    bytes
}

#[test]
fn a_footer_names_no_message_over_and_over() {
    let batches = read(&named_often(2), Limits::default()).unwrap();
    assert_eq!(batches, [numbers(100), numbers(100)]);
    let error = error_of(&named_often(1000));
    assert!(
        error.contains("more than the limit `overlap_ratio` of 16"),
        "{error}"
    );
}

/// Returns a message with a schema of `count` fields, all called `name`.
fn schema_message(name: &str, count: usize, endianness: ipc::Endianness) -> Vec<u8> {
    let mut builder = flatbuffers::FlatBufferBuilder::new();
    let name = builder.create_string(name);
    let fields: Vec<_> = (0..count)
        .map(|_| {
            let mut int = ipc::IntBuilder::new(&mut builder);
            int.add_bitWidth(64);
            int.add_is_signed(true);
            let int = int.finish();
            let mut field = ipc::FieldBuilder::new(&mut builder);
            field.add_name(name);
            field.add_type_type(ipc::Type::Int);
            field.add_type_(int.as_union_value());
            field.finish()
        })
        .collect();
    let fields = builder.create_vector(&fields);
    let mut schema = ipc::SchemaBuilder::new(&mut builder);
    schema.add_endianness(endianness);
    schema.add_fields(fields);
    let schema = schema.finish();
    let mut message = ipc::MessageBuilder::new(&mut builder);
    message.add_version(MetadataVersion::V5);
    message.add_header_type(MessageHeader::Schema);
    message.add_header(schema.as_union_value());
    let message = message.finish();
    builder.finish(message, None);
    let metadata = builder.finished_data();
    let length = (metadata.len() as i32).to_le_bytes();
    [&[0xff; 4], length.as_slice(), metadata].concat()
}

#[test]
fn names_that_are_shared_are_counted() {
    let little = ipc::Endianness::Little;
    let message = schema_message("n", 1000, little);
    assert!(read(&message, Limits::default()).unwrap().is_empty());
    // A thousand fields have one name of a megabyte, which would make a gigabyte of names.
    let error = error_of(&schema_message(&"x".repeat(1 << 20), 1000, little));
    assert!(
        error.contains("the metadata of a message is not a flatbuffer"),
        "{error}"
    );
    let mut limits = Limits::default();
    limits.schema_nodes = 999;
    let failure = read(&message, limits).unwrap_err().to_string();
    assert!(
        failure.contains("the limit `schema_nodes` of 999"),
        "{failure}"
    );
}

#[test]
fn big_endian_numbers_are_not_taken_for_others() {
    let error = error_of(&schema_message(
        "n",
        1,
        herringbone_arrow::ipc::Endianness::Big,
    ));
    assert!(error.contains("big-endian"), "{error}");
}
