//! Tests random values in files, which are shredded at random.

use herringbone::ReadOptions;
use herringbone::arrow::array::RecordBatch;
use herringbone::variant::extension::{Shredding, VariantExtension, VariantGet};
use herringbone::variant::shredding::{Shredder, ShreddingType, UnshredOptions, VariantArray};
use herringbone::variant::{
    Limits, PathPart, PrimitiveType, Value, VariantBuf, VariantBuilder, VariantPath,
};

use super::{batch, written};
use crate::extensions::whole::by_all;
use crate::random::{Random, cases};

const NAMES: [&str; 5] = ["a", "b", "c", "é", "long name"];
const TYPES: [PrimitiveType; 9] = [
    PrimitiveType::Boolean,
    PrimitiveType::Int8,
    PrimitiveType::Int64,
    PrimitiveType::Double,
    PrimitiveType::Decimal {
        precision: 9,
        scale: 2,
    },
    PrimitiveType::Date,
    PrimitiveType::Timestamp {
        nanos: true,
        utc: true,
    },
    PrimitiveType::String,
    PrimitiveType::Uuid,
];

fn push(random: &mut Random, depth: usize, out: &mut VariantBuilder) {
    let text = "x".repeat(random.below(70));
    let kind = random.below(if depth == 0 { 10 } else { 16 });
    match kind {
        0 => out.push(Value::Null),
        1 => out.push(random.below(2) == 0),
        2 => out.push_int(random.below(300) as i64 - 150),
        3 => out.push(random.next() as i64),
        4 => out.push(random.below(1000) as f64 / 8.0),
        5 => out.push_decimal(herringbone::variant::Decimal::new(
            random.below(100_000) as i128,
            2,
        )),
        6 => out.push(Value::Date(random.below(40_000) as i32)),
        7 => out.push(Value::Timestamp((random.next() >> 24) as i64)),
        8 => out.push(text.as_str()),
        9 => out.push(Value::Uuid([random.below(9) as u8; 16])),
        10..=12 => {
            out.begin_object().unwrap();
            for name in NAMES {
                if random.below(2) == 0 {
                    out.field(name).unwrap();
                    push(random, depth - 1, out);
                }
            }
            out.end()
        }
        _ => {
            out.begin_array().unwrap();
            for _ in 0..random.below(4) {
                push(random, depth - 1, out);
            }
            out.end()
        }
    }
    .unwrap();
}

fn shredding(random: &mut Random, depth: usize) -> ShreddingType {
    match random.below(if depth == 0 { 3 } else { 8 }) {
        0 => ShreddingType::Unshredded,
        1 | 2 => ShreddingType::Primitive(random.pick(&TYPES)),
        3 | 4 => ShreddingType::Array(Box::new(shredding(random, depth - 1))),
        _ => {
            let mut fields = Vec::new();
            for name in NAMES {
                if random.below(2) == 0 {
                    fields.push((name.to_owned(), shredding(random, depth - 1)));
                }
            }
            match fields.is_empty() {
                true => ShreddingType::Unshredded,
                false => ShreddingType::Object(fields),
            }
        }
    }
}

fn some_path(random: &mut Random) -> VariantPath {
    let parts = (0..random.below(4)).map(|_| match random.below(3) {
        0 => PathPart::Element(random.below(3)),
        _ => PathPart::Field(random.pick(&NAMES).to_owned()),
    });
    VariantPath::from(parts.collect::<Vec<_>>())
}

fn equal(a: Option<&VariantBuf>, b: Option<&VariantBuf>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            let (a, b) = (a.as_variant(), b.as_variant());
            a.equals(&b, &Limits::default()).unwrap()
        }
        (a, b) => a.is_some() == b.is_some(),
    }
}

fn values(batches: &[RecordBatch], name: &str) -> Vec<Option<VariantBuf>> {
    let arrays = batches
        .iter()
        .map(|batch| batch.column_by_name(name).unwrap());
    let values = arrays.flat_map(|array| {
        let array = VariantArray::try_new(array).unwrap();
        let value = |row| array.value(row, &UnshredOptions::default()).unwrap();
        (0..array.len()).map(value).collect::<Vec<_>>()
    });
    values.collect()
}

/// Reads whole values and values at paths, and compares them with the original values.
#[test]
fn any_value_from_any_columns() {
    for seed in 0..cases(50) {
        let mut random = Random(seed);
        let mut builder = VariantBuilder::new();
        let rows: Vec<Option<VariantBuf>> = (0..random.below(60) + 1)
            .map(|_| {
                if random.below(8) == 0 {
                    return None;
                }
                push(&mut random, 3, &mut builder);
                Some(builder.finish().unwrap())
            })
            .collect();
        let way = match random.below(4) {
            0 => Shredding::Infer(Default::default()),
            _ => Shredding::As(shredding(&mut random, 3)),
        };
        let mut shredder = Shredder::new(shredding(&mut random, 2)).unwrap();
        for row in &rows {
            match row {
                Some(value) => shredder.append(value.as_variant()).unwrap(),
                None => shredder.append_null().unwrap(),
            }
        }
        let file = written(&[batch(shredder.finish().unwrap())], way.clone());
        let paths: Vec<VariantPath> = (0..4).map(|_| some_path(&mut random)).collect();
        let wanted = random.pick(&TYPES);
        let options = || {
            let mut options = ReadOptions::new().extension(VariantExtension::new());
            for (at, path) in paths.iter().enumerate() {
                let get = VariantGet::new(path.clone());
                let typed = get.clone().as_type(wanted);
                options = options.extension_column(format!("p{at}"), ["v"], get);
                options = options.extension_column(format!("t{at}"), ["v"], typed);
            }
            options.batch_size(17)
        };
        let batches = by_all(&file, options);
        let whole = values(&batches, "v");
        assert_eq!(whole.len(), rows.len());
        for (value, row) in whole.iter().zip(&rows) {
            assert!(equal(value.as_ref(), row.as_ref()), "seed {seed}, {way:?}");
        }
        // We also read the paths alone, from fewer columns.
        let alone = options().columns::<String>([]);
        let alone = super::batches(&file, alone).unwrap();
        for (at, path) in paths.iter().enumerate() {
            for batches in [&batches, &alone] {
                for (value, row) in values(batches, &format!("p{at}")).iter().zip(&rows) {
                    let expected = row
                        .as_ref()
                        .and_then(|row| row.as_variant().get(path).unwrap());
                    let expected = expected.map(|expected| {
                        builder.push_variant(expected).unwrap();
                        builder.finish().unwrap()
                    });
                    assert!(
                        equal(value.as_ref(), expected.as_ref()),
                        "seed {seed}, {path}, {way:?}"
                    );
                }
                let typed = batches.iter().map(|batch| {
                    let typed = batch.column_by_name(&format!("t{at}")).unwrap();
                    typed.len() - typed.null_count()
                });
                let fits = rows.iter().flatten().filter(|row| {
                    let cast = row.as_variant().get_as(path, wanted, Default::default());
                    matches!(cast.unwrap(), herringbone::variant::Cast::Value(_))
                });
                assert_eq!(
                    typed.sum::<usize>(),
                    fits.count(),
                    "seed {seed}, {path}, {way:?}"
                );
            }
        }
    }
}
