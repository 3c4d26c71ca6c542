//! Tests the reader with the writer of the crate `thrift`, the writer with that crate's reader, and both with bad
//! bytes.

use thrift::protocol::{
    TCompactInputProtocol, TCompactOutputProtocol, TFieldIdentifier, TInputProtocol,
    TListIdentifier, TMapIdentifier, TOutputProtocol, TSetIdentifier, TStructIdentifier, TType,
};

use super::*;
use crate::{ErrorKind, LogicalType, SchemaElement, Type};

/// Returns bytes that another implementation wrote.
fn written(write: impl FnOnce(&mut dyn TOutputProtocol) -> thrift::Result<()>) -> Vec<u8> {
    let mut bytes = Vec::new();
    {
        let mut protocol = TCompactOutputProtocol::new(&mut bytes);
        write(&mut protocol).unwrap();
        protocol.flush().unwrap();
    }
    bytes
}

fn field(protocol: &mut dyn TOutputProtocol, kind: TType, id: i16) -> thrift::Result<()> {
    protocol.write_field_begin(&TFieldIdentifier::new("field", kind, id))
}

const INTEGERS: [i64; 12] = [
    0,
    1,
    -1,
    63,
    64,
    -65,
    8191,
    8192,
    i32::MAX as i64,
    i32::MIN as i64,
    i64::MAX,
    i64::MIN,
];

/// Writes one field of every type. The ids increase, decrease and are far apart.
fn everything(protocol: &mut dyn TOutputProtocol) -> thrift::Result<()> {
    protocol.write_struct_begin(&TStructIdentifier::new("everything"))?;
    field(protocol, TType::Bool, 1)?;
    protocol.write_bool(true)?;
    protocol.write_field_end()?;
    field(protocol, TType::Bool, 2)?;
    protocol.write_bool(false)?;
    protocol.write_field_end()?;
    field(protocol, TType::I08, 3)?;
    protocol.write_i8(-128)?;
    field(protocol, TType::I16, 4)?;
    protocol.write_i16(i16::MIN)?;
    field(protocol, TType::I32, 5)?;
    protocol.write_i32(i32::MAX)?;
    field(protocol, TType::I64, 100)?;
    protocol.write_i64(i64::MIN)?;
    field(protocol, TType::Double, 7)?;
    protocol.write_double(-0.1)?;
    field(protocol, TType::String, 8)?;
    protocol.write_string("grüße")?;
    field(protocol, TType::String, 32767)?;
    protocol.write_bytes(&[0xff; 300])?;
    field(protocol, TType::List, 9)?;
    protocol.write_list_begin(&TListIdentifier::new(TType::I64, INTEGERS.len() as i32))?;
    for value in INTEGERS {
        protocol.write_i64(value)?;
    }
    field(protocol, TType::List, 10)?;
    protocol.write_list_begin(&TListIdentifier::new(TType::Bool, 20))?;
    for index in 0..20 {
        protocol.write_bool(index % 3 == 0)?;
    }
    field(protocol, TType::Map, 11)?;
    protocol.write_map_begin(&TMapIdentifier::new(TType::I32, TType::String, 2))?;
    for key in [7, -7] {
        protocol.write_i32(key)?;
        protocol.write_string("value")?;
    }
    field(protocol, TType::Map, 12)?;
    protocol.write_map_begin(&TMapIdentifier::new(TType::I32, TType::String, 0))?;
    field(protocol, TType::Set, 13)?;
    protocol.write_set_begin(&TSetIdentifier::new(TType::Double, 2))?;
    protocol.write_double(1.5)?;
    protocol.write_double(2.5)?;
    field(protocol, TType::Struct, 14)?;
    protocol.write_struct_begin(&TStructIdentifier::new("inner"))?;
    field(protocol, TType::List, 1)?;
    protocol.write_list_begin(&TListIdentifier::new(TType::Struct, 1))?;
    protocol.write_struct_begin(&TStructIdentifier::new("innermost"))?;
    field(protocol, TType::I32, 40)?;
    protocol.write_i32(5)?;
    protocol.write_field_stop()?;
    protocol.write_struct_end()?;
    protocol.write_field_stop()?;
    protocol.write_struct_end()?;
    protocol.write_field_stop()?;
    protocol.write_struct_end()
}

#[test]
fn reads_what_another_implementation_writes() {
    let bytes = written(everything);
    let mut reader = CompactReader::new(&bytes, 10);
    let (mut last, mut ids) = (0, Vec::new());
    while let Some(Field { id, wire }) = reader.field(&mut last).unwrap() {
        ids.push(id);
        match id {
            1 => assert!(bool::read(&mut reader, wire).unwrap()),
            2 => assert!(!bool::read(&mut reader, wire).unwrap()),
            3 => assert_eq!(i8::read(&mut reader, wire).unwrap(), -128),
            4 => assert_eq!(i16::read(&mut reader, wire).unwrap(), i16::MIN),
            5 => assert_eq!(i32::read(&mut reader, wire).unwrap(), i32::MAX),
            100 => assert_eq!(i64::read(&mut reader, wire).unwrap(), i64::MIN),
            7 => assert_eq!(f64::read(&mut reader, wire).unwrap(), -0.1),
            8 => assert_eq!(String::read(&mut reader, wire).unwrap(), "grüße"),
            32767 => assert_eq!(<Vec<u8>>::read(&mut reader, wire).unwrap(), [0xff; 300]),
            9 => assert_eq!(<Vec<i64>>::read(&mut reader, wire).unwrap(), INTEGERS),
            10 => assert_eq!(
                <Vec<bool>>::read(&mut reader, wire).unwrap(),
                (0..20).map(|index| index % 3 == 0).collect::<Vec<_>>()
            ),
            // This is a set, encoded like a list.
            13 => assert_eq!(
                <Vec<f64>>::read(&mut reader, Wire::List).unwrap(),
                [1.5, 2.5]
            ),
            _ => reader.skip(wire).unwrap(),
        }
    }
    assert_eq!(
        ids,
        [1, 2, 3, 4, 5, 100, 7, 8, 32767, 9, 10, 11, 12, 13, 14]
    );
    assert_eq!(reader.remaining(), 0);
}

#[test]
fn skips_everything_and_knows_where_it_ends() {
    let mut bytes = written(everything);
    let length = bytes.len();
    bytes.extend_from_slice(&[0x55; 20]);
    let mut reader = CompactReader::new(&bytes, 10);
    reader.skip(Wire::Struct).unwrap();
    assert_eq!(reader.position(), length);
}

#[test]
fn every_truncation_runs_out() {
    let bytes = written(everything);
    for length in 0..bytes.len() {
        let mut reader = CompactReader::new(&bytes[..length], 10);
        let error = reader.skip(Wire::Struct).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(reader.ran_out(), "{length}: {error}");
    }
}

#[test]
fn no_byte_makes_the_skipper_panic() {
    let bytes = written(everything);
    // With Miri we take steps, because running all cases would take hours.
    let (places, values) = if cfg!(miri) { (5, 51) } else { (1, 1) };
    for index in (0..bytes.len()).step_by(places) {
        for value in (0..=255).step_by(values) {
            let mut changed = bytes.clone();
            changed[index] = value;
            let mut reader = CompactReader::new(&changed, 10);
            if reader.skip(Wire::Struct).is_ok() {
                assert!(reader.position() <= changed.len());
            }
        }
    }
}

#[test]
fn another_implementation_reads_what_we_write() {
    let mut writer = CompactWriter::new();
    writer.begin_struct();
    true.write_field(&mut writer, 1);
    INTEGERS.to_vec().write_field(&mut writer, 30);
    vec![true, false].write_field(&mut writer, 3);
    (-5_i8).write_field(&mut writer, 4);
    String::from("x").write_field(&mut writer, 20);
    writer.end_struct();
    let bytes = writer.finish();

    let mut protocol = TCompactInputProtocol::new(bytes.as_slice());
    protocol.read_struct_begin().unwrap();
    let mut next = |kind, id| {
        let field = protocol.read_field_begin().unwrap();
        assert_eq!((field.field_type, field.id), (kind, Some(id)));
        match id {
            1 => assert!(protocol.read_bool().unwrap()),
            30 => {
                let list = protocol.read_list_begin().unwrap();
                assert_eq!((list.element_type, list.size), (TType::I64, 12));
                for value in INTEGERS {
                    assert_eq!(protocol.read_i64().unwrap(), value);
                }
            }
            3 => {
                let list = protocol.read_list_begin().unwrap();
                assert_eq!((list.element_type, list.size), (TType::Bool, 2));
                assert!(protocol.read_bool().unwrap());
                assert!(!protocol.read_bool().unwrap());
            }
            4 => assert_eq!(protocol.read_i8().unwrap(), -5),
            _ => assert_eq!(protocol.read_string().unwrap(), "x"),
        }
    };
    next(TType::Bool, 1);
    next(TType::List, 30);
    next(TType::List, 3);
    next(TType::I08, 4);
    next(TType::String, 20);
    assert_eq!(protocol.read_field_begin().unwrap().field_type, TType::Stop);
}

#[test]
fn booleans_of_old_lists_are_zero_and_one() {
    // Writers use both element types, and both 0 and 2 for false.
    for header in [0x31, 0x32] {
        let bytes = [header, 1, 0, 2];
        let mut reader = CompactReader::new(&bytes, 10);
        let read = <Vec<bool>>::read(&mut reader, Wire::List).unwrap();
        assert_eq!(read, [true, false, false]);
    }
    let mut reader = CompactReader::new(&[0x11, 3], 10);
    assert!(<Vec<bool>>::read(&mut reader, Wire::List).is_err());
}

#[test]
fn depth_is_limited_also_beyond_the_callers_wish() {
    let bytes = [0x1c_u8; 100_000];
    for depth in [0, 1, 100, usize::MAX] {
        let mut reader = CompactReader::new(&bytes, depth);
        let error = reader.skip(Wire::Struct).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
    }
    // The bytes are lists of one list each.
    let bytes = [0x19_u8; 100_000];
    let mut reader = CompactReader::new(&bytes, 100);
    let error = reader.skip(Wire::List).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn sizes_are_not_believed() {
    // A few bytes claim a list of 2^31 - 1 structs, one of 2^40 structs, and a string of 2^63 bytes.
    let lists: [&[u8]; 2] = [
        &[0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0],
        &[0xfc, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 0],
    ];
    for bytes in lists {
        let mut reader = CompactReader::new(bytes, 10);
        assert!(<Vec<SchemaElement>>::read(&mut reader, Wire::List).is_err());
        let mut reader = CompactReader::new(bytes, 10);
        assert!(reader.skip(Wire::List).is_err());
    }
    let bytes = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0];
    let mut reader = CompactReader::new(&bytes, 10);
    assert!(reader.binary().is_err());
    let bytes = [0xff; 11];
    let mut reader = CompactReader::new(&bytes, 10);
    let error = reader.integer(Wire::I64).unwrap_err();
    assert_eq!(
        error.to_string(),
        "corrupt file: varint of more than ten bytes (byte 0)"
    );
}

#[test]
fn errors_say_where() {
    // Field 4 (the name) has a single byte of invalid UTF-8.
    let bytes = [0x48, 0x01, 0xff, 0x00];
    let mut reader = CompactReader::new(&bytes, 10);
    let error = SchemaElement::read(&mut reader, Wire::Struct).unwrap_err();
    assert_eq!(
        error.to_string(),
        "corrupt file: text that is not UTF-8 (byte 1)"
    );
    let mut reader = CompactReader::new(&bytes, 10).with_base_offset(0x1000);
    let error = SchemaElement::read(&mut reader, Wire::Struct).unwrap_err();
    assert_eq!(error.location().offset, Some(0x1001));
    let mut reader = CompactReader::new(&[0x15, 0x02, 0x00], 10);
    let error = SchemaElement::read(&mut reader, Wire::Struct).unwrap_err();
    assert_eq!(
        error.to_string(),
        "corrupt file: required field SchemaElement.name is missing (byte 3)"
    );
}

#[test]
fn fields_in_any_order_and_unknown_ones() {
    let bytes = written(|protocol| {
        protocol.write_struct_begin(&TStructIdentifier::new("SchemaElement"))?;
        field(protocol, TType::I32, 9)?;
        protocol.write_i32(42)?;
        field(protocol, TType::String, 32767)?;
        protocol.write_bytes(b"an extension")?;
        field(protocol, TType::String, 4)?;
        protocol.write_string("a")?;
        field(protocol, TType::Struct, 2000)?;
        protocol.write_struct_begin(&TStructIdentifier::new("later"))?;
        protocol.write_field_stop()?;
        protocol.write_struct_end()?;
        field(protocol, TType::I32, 1)?;
        protocol.write_i32(6)?;
        protocol.write_field_stop()
    });
    let mut reader = CompactReader::new(&bytes, 10);
    let read = SchemaElement::read(&mut reader, Wire::Struct).unwrap();
    assert_eq!(
        read,
        SchemaElement {
            type_: Some(Type::ByteArray),
            field_id: Some(42),
            name: "a".into(),
            ..SchemaElement::default()
        }
    );
}

#[test]
fn fields_of_another_type_are_skipped() {
    // Another program uses the field id: {3: [{}], 4: "a"}. The case of a required field follows.
    let bytes = [0x39, 0x1c, 0x00, 0x18, 0x01, b'a', 0x00];
    let mut reader = CompactReader::new(&bytes, 10);
    let read = SchemaElement::read(&mut reader, Wire::Struct).unwrap();
    assert_eq!((read.repetition_type, &*read.name), (None, "a"));
    let bytes = [0x49, 0x0c, 0x00];
    let mut reader = CompactReader::new(&bytes, 10);
    let error = SchemaElement::read(&mut reader, Wire::Struct).unwrap_err();
    assert!(
        error.message().contains("SchemaElement.name is missing"),
        "{error}"
    );
}

#[test]
fn logical_types_come_back() {
    use crate::{EdgeInterpolationAlgorithm as Edges, TimeUnit::*};
    let types = [
        LogicalType::String,
        LogicalType::Map,
        LogicalType::List,
        LogicalType::Enum,
        LogicalType::Decimal {
            scale: 3,
            precision: 38,
        },
        LogicalType::Date,
        LogicalType::Time {
            is_adjusted_to_utc: false,
            unit: Millis,
        },
        LogicalType::Timestamp {
            is_adjusted_to_utc: true,
            unit: Nanos,
        },
        LogicalType::Integer {
            bit_width: 64,
            is_signed: false,
        },
        LogicalType::Unknown,
        LogicalType::Json,
        LogicalType::Bson,
        LogicalType::Uuid,
        LogicalType::Float16,
        LogicalType::Variant {
            specification_version: Some(1),
        },
        LogicalType::Variant {
            specification_version: None,
        },
        LogicalType::Geometry {
            crs: Some("srid:5070".into()),
        },
        LogicalType::Geography {
            crs: None,
            algorithm: Some(Edges::Unknown(9)),
        },
        LogicalType::File,
        // This is { 1: 7 } in a future variant.
        unrecognized(300, &[0x15, 0x0e, 0x00]),
        unrecognized(0, &[]),
    ];
    for logical_type in types {
        let mut writer = CompactWriter::new();
        logical_type.write(&mut writer);
        let bytes = writer.finish();
        let mut reader = CompactReader::new(&bytes, 10);
        let read = LogicalType::read(&mut reader, Wire::Struct).unwrap();
        assert_eq!((read, reader.remaining()), (logical_type, 0));
    }
}

#[test]
fn a_time_unit_to_come_is_no_error() {
    // TIMESTAMP { 1: true, 2: { 4: {} } }
    let bytes = [0x8c, 0x11, 0x1c, 0x4c, 0x00, 0x00, 0x00, 0x00];
    let mut reader = CompactReader::new(&bytes, 10);
    let read = LogicalType::read(&mut reader, Wire::Struct).unwrap();
    assert_eq!(read, unrecognized(8, &[0x11, 0x1c, 0x4c, 0, 0, 0]));
    assert_eq!(reader.remaining(), 0);
    let mut writer = CompactWriter::new();
    read.write(&mut writer);
    assert_eq!(writer.finish(), bytes);
}

fn unrecognized(field_id: i16, parameters: &[u8]) -> LogicalType {
    LogicalType::Unrecognized {
        field_id,
        parameters: parameters.to_vec(),
    }
}
