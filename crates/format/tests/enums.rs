//! Compares the enums with the tables of `parquet.thrift` and `Encodings.md`.

use herringbone_format::{
    BoundaryOrder, CompressionCodec, ConvertedType, EdgeInterpolationAlgorithm, Encoding, PageType,
    Repetition, Type,
};

/// Compares an enum with its names in the order of their ids. A `-` is an id that the thrift file does not assign.
macro_rules! check {
    ($name:ident, $texts:literal) => {
        let mut known = $name::ALL.iter();
        for (id, text) in (0..).zip($texts.split(' ')).filter(|it| it.1 != "-") {
            let known = *known.next().unwrap();
            assert_eq!((known.id(), known.to_string()), (id, text.to_owned()));
            assert_eq!($name::from_id(id), known.into(), "{text}");
        }
        assert_eq!(known.next(), None, stringify!($name));
    };
}

#[test]
fn ids_and_names_are_those_of_the_thrift_file() {
    check!(
        Type,
        "BOOLEAN INT32 INT64 INT96 FLOAT DOUBLE BYTE_ARRAY FIXED_LEN_BYTE_ARRAY"
    );
    check!(Repetition, "REQUIRED OPTIONAL REPEATED");
    check!(
        Encoding,
        "PLAIN - PLAIN_DICTIONARY RLE BIT_PACKED DELTA_BINARY_PACKED DELTA_LENGTH_BYTE_ARRAY \
         DELTA_BYTE_ARRAY RLE_DICTIONARY BYTE_STREAM_SPLIT ALP"
    );
    check!(
        CompressionCodec,
        "UNCOMPRESSED SNAPPY GZIP LZO BROTLI LZ4 ZSTD LZ4_RAW"
    );
    check!(
        PageType,
        "DATA_PAGE INDEX_PAGE DICTIONARY_PAGE DATA_PAGE_V2"
    );
    check!(
        ConvertedType,
        "UTF8 MAP MAP_KEY_VALUE LIST ENUM DECIMAL DATE TIME_MILLIS TIME_MICROS TIMESTAMP_MILLIS \
         TIMESTAMP_MICROS UINT_8 UINT_16 UINT_32 UINT_64 INT_8 INT_16 INT_32 INT_64 JSON BSON \
         INTERVAL"
    );
    check!(BoundaryOrder, "UNORDERED ASCENDING DESCENDING");
    check!(
        EdgeInterpolationAlgorithm,
        "SPHERICAL VINCENTY THOMAS ANDOYER KARNEY"
    );
}

#[test]
fn encodings_serve_the_types_of_the_specification() {
    use Type::{Boolean, ByteArray, Double, FixedLenByteArray, Float, Int32, Int64, Int96};
    let every = [
        Boolean,
        Int32,
        Int64,
        Int96,
        Float,
        Double,
        ByteArray,
        FixedLenByteArray,
    ];
    let split = [Int32, Int64, Float, Double, FixedLenByteArray];
    let table: [(Encoding, &[Type]); 11] = [
        (Encoding::Plain, &every),
        (Encoding::PlainDictionary, &every),
        (Encoding::RleDictionary, &every),
        (Encoding::Rle, &[Boolean]),
        (Encoding::BitPacked, &[]),
        (Encoding::DeltaBinaryPacked, &[Int32, Int64]),
        (Encoding::DeltaLengthByteArray, &[ByteArray]),
        (Encoding::DeltaByteArray, &[ByteArray, FixedLenByteArray]),
        (Encoding::ByteStreamSplit, &split),
        (Encoding::Alp, &[Float, Double]),
        (Encoding::Unknown(1), &[]),
    ];
    for (encoding, types) in table {
        for it in every {
            let serves = encoding.serves().contains(&it);
            assert_eq!(serves, types.contains(&it), "{encoding} and {it}");
        }
    }
}

#[test]
fn pages_of_values_are_known() {
    for (page, carries_values) in [
        (PageType::DataPage, true),
        (PageType::IndexPage, false),
        (PageType::DictionaryPage, true),
        (PageType::DataPageV2, true),
        (PageType::Unknown(4), false),
    ] {
        assert_eq!(page.carries_values(), carries_values, "{page}");
    }
}
