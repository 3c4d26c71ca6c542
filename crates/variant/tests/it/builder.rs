//! Checks the builders' output byte for byte, and the input that they refuse.

use herringbone_format::{ErrorKind, Result};
use herringbone_variant::{
    Decimal, DuplicateFields, Limits, Metadata, Value, Variant, VariantBuf, VariantBuilder,
};

use crate::encoding::metadata;
use crate::official::all;

fn built(build: impl FnOnce(&mut VariantBuilder) -> Result<()>) -> VariantBuf {
    let mut builder = VariantBuilder::new();
    build(&mut builder).unwrap();
    let built = builder.finish().unwrap();
    let (names, value) = (built.metadata_bytes(), built.value_bytes());
    Variant::validated(names, value, &Limits::default()).unwrap();
    built
}

#[test]
fn names_are_sorted_and_unique() {
    let built = built(|builder| {
        builder.begin_object()?;
        for name in ["c", "a", "b"] {
            builder.field(name)?;
            builder.begin_object()?;
            builder.field("a")?;
            builder.push_int(1)?;
            builder.end()?;
        }
        builder.end()
    });
    assert_eq!(built.metadata_bytes(), metadata(&["a", "b", "c"], 1, true));
    // The values are in the order in which they were pushed (c, a, b). The IDs and offsets are in
    // the order of the names.
    let inner = [2, 1, 0, 0, 2, 12, 1];
    let mut expected = vec![2, 3, 0, 1, 2, 7, 14, 0, 21];
    expected.extend([inner; 3].concat());
    assert_eq!(built.value_bytes(), expected);
}

#[test]
fn primitive_values_are_those_of_the_official_files() {
    for file in all() {
        let value = file.variant().value().unwrap();
        let built = built(|builder| builder.push(value));
        if !file.name.contains('_') || file.name.starts_with("primitive_") {
            assert_eq!(built.value_bytes(), file.value, "{}", file.name);
            assert_eq!(built.metadata_bytes(), [0x11, 0, 0]);
        }
        // Spark wrote these objects and arrays with their values in the same order as the builder
        // does.
        assert_eq!(built.value_bytes().len(), file.value.len(), "{}", file.name);
    }
}

#[test]
fn numbers_are_as_narrow_as_they_can_be() {
    for (number, size) in [
        (127, 2),
        (-128, 2),
        (128, 3),
        (-32_769, 5),
        (i64::from(i32::MAX) + 1, 9),
    ] {
        assert_eq!(built(|it| it.push_int(number)).value_bytes().len(), size);
        assert_eq!(built(|it| it.push(number)).value_bytes().len(), 9);
    }
    for (unscaled, size) in [(999_999_999, 6), (1_000_000_000, 10), (10_i128.pow(18), 18)] {
        let decimal = Decimal::new(unscaled, 5);
        assert_eq!(
            built(|it| it.push_decimal(decimal)).value_bytes().len(),
            size
        );
    }
    assert_eq!(
        built(|it| it.push("x".repeat(63).as_str()))
            .value_bytes()
            .len(),
        64
    );
    assert_eq!(
        built(|it| it.push("x".repeat(64).as_str()))
            .value_bytes()
            .len(),
        69
    );
}

/// Checks the counts, IDs and offsets around each width, in one object and one array.
#[test]
fn widths_are_the_smallest() {
    for fields in [1, 255, 256, 257, 65_536, 65_537] {
        let built = built(|builder| {
            builder.begin_object()?;
            for field in (0..fields).rev() {
                builder.field(&format!("{field:06}"))?;
                builder.push(Value::Null)?;
            }
            builder.end()
        });
        let header = built.value_bytes()[0];
        let id_width = match fields - 1 {
            0..=255 => 1,
            256..=65_535 => 2,
            _ => 3,
        };
        assert_eq!(header >> 6 & 1 == 1, fields > 255);
        assert_eq!((header >> 4 & 3) + 1, id_width, "{fields}");
        let variant = built.as_variant();
        for field in [0, fields / 2, fields - 1] {
            assert!(variant.field(&format!("{field:06}")).unwrap().is_some());
        }
    }
    for (bytes, width) in [
        (250, 1),
        (251, 2),
        (65_530, 2),
        (65_531, 3),
        (16_777_210, 3),
        (16_777_211, 4),
    ] {
        let built = built(|builder| {
            builder.begin_array()?;
            builder.push(vec![0_u8; bytes].as_slice())?;
            builder.end()
        });
        assert_eq!((built.value_bytes()[0] >> 2 & 3) + 1, width, "{bytes}");
        assert_eq!(built.value_bytes()[0] & 0x10, 0);
    }
}

#[test]
fn deep_values() {
    let mut builder = VariantBuilder::new();
    for _ in 0..1000 {
        builder.begin_array().unwrap();
    }
    let error = builder.begin_array().unwrap_err();
    assert_eq!(error.limit_name(), Some("variant_depth"));
    for _ in 0..1000 {
        builder.end().unwrap();
    }
    let built = builder.finish().unwrap();
    built.as_variant().validate(&Limits::default()).unwrap();
}

#[test]
fn misuse_is_an_error() {
    type Step = fn(&mut VariantBuilder) -> Result<()>;
    let refused: [(&[Step], &str); 9] = [
        (&[|it| it.push_int(1), |it| it.push_int(2)], "second value"),
        (
            &[|it| it.begin_object(), |it| it.push_int(2)],
            "not have a name",
        ),
        (&[|it| it.field("a")], "no object is open"),
        (
            &[|it| it.begin_array(), |it| it.field("a")],
            "no object is open",
        ),
        (
            &[
                |it| it.begin_object(),
                |it| it.field("a"),
                |it| it.field("b"),
            ],
            "has no value",
        ),
        (
            &[|it| it.begin_object(), |it| it.field("a"), |it| it.end()],
            "has no value",
        ),
        (&[|it| it.end()], "is open"),
        (
            &[|it| it.begin_array(), |it| it.finish().map(|_| ())],
            "still open",
        ),
        (&[|it| it.finish().map(|_| ())], "without a value"),
    ];
    for (steps, message) in refused {
        let mut builder = VariantBuilder::new();
        let (last, first) = steps.split_last().unwrap();
        for step in first {
            step(&mut builder).unwrap();
        }
        let error = last(&mut builder).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.message().contains(message), "{error}");
        builder.clear();
        builder.push(true).unwrap();
        assert_eq!(builder.finish().unwrap().value_bytes(), [4]);
    }
    let wide = Value::Decimal4(Decimal::new(1_000_000_000, 0));
    assert!(VariantBuilder::new().push(wide).is_err());
    let scaled = Value::Decimal16(Decimal::new(1, 39));
    assert!(VariantBuilder::new().push(scaled).is_err());
}

/// Builds `{"x": {"a": 1, "b": 2}, "a": 3, "a": 4, "b": 5}`. The object inside hides which names
/// were seen.
fn with_duplicates(duplicates: DuplicateFields) -> Result<VariantBuf> {
    let mut builder = VariantBuilder::new().duplicates(duplicates);
    builder.begin_object()?;
    builder.field("a")?;
    builder.push_int(0)?;
    builder.field("x")?;
    builder.begin_object()?;
    builder.field("a")?;
    builder.push_int(1)?;
    builder.field("b")?;
    builder.push_int(2)?;
    builder.end()?;
    builder.field("a")?;
    builder.begin_array()?;
    builder.push("dropped or not")?;
    builder.end()?;
    builder.field("b")?;
    builder.push_int(5)?;
    builder.end()?;
    builder.finish()
}

#[test]
fn fields_of_the_same_name() {
    let error = with_duplicates(DuplicateFields::Error).unwrap_err();
    assert!(error.message().contains("two fields `a`"), "{error}");
    for (duplicates, is_array) in [
        (DuplicateFields::KeepFirst, false),
        (DuplicateFields::KeepLast, true),
    ] {
        let built = with_duplicates(duplicates).unwrap();
        let variant = built.as_variant();
        variant.validate(&Limits::default()).unwrap();
        assert_eq!(variant.as_object().unwrap().unwrap().len(), 3);
        let a = variant.field("a").unwrap().unwrap();
        assert_eq!(a.as_array().unwrap().is_some(), is_array);
        let b = variant.field("b").unwrap().unwrap();
        assert!(matches!(b.value().unwrap(), Value::Int8(5)));
        let inner = variant.field("x").unwrap().unwrap();
        assert_eq!(inner.as_object().unwrap().unwrap().len(), 2);
    }
}

/// A used builder writes the same bytes as a new one.
#[test]
fn values_of_one_builder_know_nothing_of_each_other() {
    let mut builder = VariantBuilder::new();
    let names = [
        &["b", "a"][..],
        &["a"],
        &["c", "b"],
        &[],
        &["b", "a", "d"],
        &["a", "d"],
    ];
    for names in names {
        let mut fresh = VariantBuilder::new();
        for it in [&mut builder, &mut fresh] {
            it.begin_object().unwrap();
            for name in names {
                it.field(name).unwrap();
                it.push(*name).unwrap();
            }
            it.end().unwrap();
        }
        let (built, expected) = (builder.finish().unwrap(), fresh.finish().unwrap());
        assert_eq!(built.metadata_bytes(), expected.metadata_bytes());
        assert_eq!(built.value_bytes(), expected.value_bytes());
    }
}

#[test]
fn more_names_than_are_remembered() {
    let mut builder = VariantBuilder::new();
    for value in 0..3 {
        builder.begin_object().unwrap();
        for field in 0..5000 {
            builder.field(&format!("{value}.{field}")).unwrap();
            builder.push_int(field).unwrap();
        }
        builder.end().unwrap();
        let built = builder.finish().unwrap();
        built.as_variant().validate(&Limits::default()).unwrap();
        assert_eq!(built.as_variant().metadata().len(), 5000);
    }
}

#[test]
fn values_with_metadata_that_was_given() {
    // These names are not sorted. One of them is repeated, and one is not used.
    let names = metadata(&["z", "b", "a", "b"], 2, false);
    let mut builder = VariantBuilder::new();
    builder
        .use_metadata(Metadata::new(&names).unwrap())
        .unwrap();
    for _ in 0..2 {
        builder.begin_object().unwrap();
        builder.field("b").unwrap();
        builder.push_int(1).unwrap();
        builder.field("a").unwrap();
        builder.push_int(2).unwrap();
        assert!(builder.field("c").is_err());
        builder.end().unwrap();
        let built = builder.finish().unwrap();
        assert_eq!(built.metadata_bytes(), names);
        assert_eq!(built.value_bytes(), [2, 2, 2, 1, 2, 0, 4, 12, 1, 12, 2]);
    }
    // A value with the same metadata is copied unchanged.
    builder.begin_array().unwrap();
    let inner = [2, 1, 3, 0, 1, 0];
    builder
        .push_variant(Variant::new(&names, &inner).unwrap())
        .unwrap();
    builder.end().unwrap();
    let built = builder.finish().unwrap();
    assert_eq!(built.value_bytes(), [3, 1, 0, 6, 2, 1, 3, 0, 1, 0]);
    builder.use_own_metadata();
    builder.push(false).unwrap();
    assert_eq!(builder.finish().unwrap().metadata_bytes(), [0x11, 0, 0]);
}
