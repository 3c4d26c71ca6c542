//! Random Arrow schemas.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::{
    DataType, Field, FieldRef, Fields, IntervalUnit, Schema, TimeUnit,
};

use crate::batches::Random;

const UNITS: [TimeUnit; 4] = [
    TimeUnit::Second,
    TimeUnit::Millisecond,
    TimeUnit::Microsecond,
    TimeUnit::Nanosecond,
];

/// Returns the non-nested Arrow types, except dictionaries and runs.
pub(crate) fn leaf_types() -> Vec<DataType> {
    use DataType as T;
    let mut all = vec![
        T::Null,
        T::Boolean,
        T::Int8,
        T::Int16,
        T::Int32,
        T::Int64,
        T::UInt8,
        T::UInt16,
        T::UInt32,
        T::UInt64,
        T::Float16,
        T::Float32,
        T::Float64,
        T::Date32,
        T::Date64,
        T::Time32(TimeUnit::Second),
        T::Time32(TimeUnit::Millisecond),
        T::Time64(TimeUnit::Microsecond),
        T::Time64(TimeUnit::Nanosecond),
        T::Interval(IntervalUnit::YearMonth),
        T::Interval(IntervalUnit::DayTime),
        T::Interval(IntervalUnit::MonthDayNano),
        T::Utf8,
        T::LargeUtf8,
        T::Utf8View,
        T::Binary,
        T::LargeBinary,
        T::BinaryView,
        T::FixedSizeBinary(1),
        T::FixedSizeBinary(5),
        T::FixedSizeBinary(16),
    ];
    for unit in UNITS {
        all.push(T::Duration(unit));
        all.push(T::Timestamp(unit, None));
        all.push(T::Timestamp(unit, Some("UTC".into())));
        all.push(T::Timestamp(unit, Some("Asia/Tokyo".into())));
    }
    all.extend([1, 5, 9].map(|digits| T::Decimal32(digits, 1)));
    all.extend([1, 9, 10, 18].map(|digits| T::Decimal64(digits, 1)));
    all.extend([2, 9, 18, 19, 38].map(|digits| T::Decimal128(digits, 2)));
    all.extend([3, 18, 38, 39, 60, 76].map(|digits| T::Decimal256(digits, 3)));
    all
}

const KEYS: [DataType; 8] = [
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
];

/// The types and features of random schemas.
pub(crate) struct Menu {
    /// The types at the leaves.
    pub(crate) leaves: Vec<DataType>,
    /// The value types of dictionaries.
    pub(crate) dictionaries: Vec<DataType>,
    /// True if run-end encoded columns are allowed, at any depth.
    pub(crate) runs: bool,
    /// True if list views are allowed.
    pub(crate) views: bool,
    /// True if forms are allowed that other readers see as they are stored, which are groups and runs in dictionaries,
    /// and runs of non-nullable values.
    pub(crate) layers: bool,
    /// True if elements and entries have custom names, and fields have metadata.
    pub(crate) names: bool,
}

impl Menu {
    /// Returns everything that has a form in Parquet.
    pub(crate) fn everything() -> Self {
        let mut leaves = leaf_types();
        leaves.extend([
            DataType::Decimal32(3, -2),
            DataType::Decimal32(9, -9),
            DataType::Decimal64(18, -1),
            DataType::Decimal128(30, -10),
            DataType::Decimal256(20, -56),
        ]);
        Self {
            dictionaries: leaves.clone(),
            leaves,
            layers: true,
            runs: true,
            views: true,
            names: true,
        }
    }

    /// Returns a schema of up to six columns.
    pub(crate) fn schema(&self, random: &mut Random) -> Schema {
        let fields: Vec<Field> = (0..1 + random.below(6))
            .map(|i| {
                let depth = random.below(4);
                let name = ["a", "b.c", "ü", "list", "key value", "Z"][i];
                self.field(random, name, depth)
            })
            .collect();
        let metadata: HashMap<_, _> = (0..random.below(3))
            .map(|i| (format!("key {i}"), format!("{}", random.next())))
            .collect();
        Schema::new_with_metadata(fields, metadata)
    }

    fn field(&self, random: &mut Random, name: &str, depth: usize) -> Field {
        let data_type = self.data_type(random, depth);
        let nullable = random.below(3) > 0 || is_null(&data_type);
        let field = Field::new(name, data_type, nullable);
        if self.names {
            annotated(random, field)
        } else {
            field
        }
    }

    fn child(&self, random: &mut Random, name: &str, depth: usize) -> FieldRef {
        let name = if self.names && random.below(3) == 0 {
            random.pick(&["x", "array", "element", "bag"])
        } else {
            name
        };
        Arc::new(self.field(random, name, depth))
    }

    fn data_type(&self, random: &mut Random, depth: usize) -> DataType {
        use DataType as T;
        if depth == 0 {
            return self.leaf(random);
        }
        match random.below(10) {
            0 | 1 => T::List(self.child(random, "item", depth - 1)),
            2 => T::LargeList(self.child(random, "item", depth - 1)),
            3 => {
                let size = random.pick(&[1, 3, 4]);
                T::FixedSizeList(self.child(random, "item", depth - 1), size)
            }
            4 if self.views => T::ListView(self.child(random, "item", depth - 1)),
            5 if self.views => T::LargeListView(self.child(random, "item", depth - 1)),
            6 => self.map(random, depth - 1),
            7 if self.runs => {
                let values = self.data_type(random, depth - 1);
                self.runs(random, values)
            }
            8 if self.layers => {
                let values = self.data_type(random, depth - 1);
                match values {
                    T::Dictionary(..) => values,
                    _ if !values.is_nested() && !matches!(values, T::RunEndEncoded(..)) => values,
                    _ if is_null(&values) => values,
                    _ => T::Dictionary(Box::new(random.pick(&KEYS)), Box::new(values)),
                }
            }
            _ => {
                let fields: Vec<_> = (0..1 + random.below(3))
                    .map(|i| self.field(random, ["p", "q", "r"][i], depth - 1))
                    .collect();
                T::Struct(fields.into())
            }
        }
    }

    fn map(&self, random: &mut Random, depth: usize) -> DataType {
        let key = loop {
            let leaf = self.leaf(random);
            if !is_null(&leaf) {
                break leaf;
            }
        };
        let names = if self.names && random.below(3) == 0 {
            ["entries", "keys", "values"]
        } else {
            ["key_value", "key", "value"]
        };
        let fields = Fields::from(vec![
            Field::new(names[1], key, false),
            self.field(random, names[2], depth),
        ]);
        let entries = Field::new(names[0], DataType::Struct(fields), false);
        DataType::Map(Arc::new(entries), random.below(2) == 0)
    }

    fn leaf(&self, random: &mut Random) -> DataType {
        let leaf = random.pick(&self.leaves);
        if self.dictionaries.contains(&leaf) && random.below(6) == 0 && !is_null(&leaf) {
            return DataType::Dictionary(Box::new(random.pick(&KEYS)), Box::new(leaf));
        }
        if self.runs && random.below(8) == 0 && !is_null(&leaf) {
            return self.runs(random, leaf);
        }
        leaf
    }

    fn runs(&self, random: &mut Random, values: DataType) -> DataType {
        let ends = random.pick(&[DataType::Int16, DataType::Int32, DataType::Int64]);
        let nullable = !self.layers || random.below(4) > 0 || is_null(&values);
        DataType::RunEndEncoded(
            Arc::new(Field::new("run_ends", ends, false)),
            Arc::new(Field::new("values", values, nullable)),
        )
    }
}

/// Returns true if all values of the type are null.
pub(crate) fn is_null(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null => true,
        DataType::Dictionary(_, values) => is_null(values),
        DataType::RunEndEncoded(_, values) => is_null(values.data_type()),
        _ => false,
    }
}

/// Returns the field, sometimes with an id, an extension type or other metadata.
fn annotated(random: &mut Random, field: Field) -> Field {
    let extension = |name: &str, more: &str| {
        HashMap::from([
            ("ARROW:extension:name".to_owned(), name.to_owned()),
            ("ARROW:extension:metadata".to_owned(), more.to_owned()),
        ])
    };
    let metadata = match (random.below(8), field.data_type()) {
        (0, _) => HashMap::from([("PARQUET:field_id".into(), random.below(1000).to_string())]),
        (1, _) => HashMap::from([("unit".into(), "°C".into())]),
        (2, _) => extension("example.thing", "{\"a\": 1}"),
        (3.., DataType::FixedSizeBinary(16)) => {
            HashMap::from([("ARROW:extension:name".into(), "arrow.uuid".into())])
        }
        (3.., DataType::Utf8) if random.below(2) == 0 => extension("arrow.json", ""),
        (3.., DataType::Int8) if random.below(2) == 0 => extension("arrow.bool8", ""),
        _ => return field,
    };
    field.with_metadata(metadata)
}
