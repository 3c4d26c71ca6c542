use std::sync::Arc;

use delta_kernel::arrow::array::{AsArray, RecordBatch};
use delta_kernel::arrow::compute::filter_record_batch;
use delta_kernel::engine::arrow_expression::ArrowEvaluationHandler;
use delta_kernel::expressions::{
    BinaryExpressionOp, BinaryPredicateOp, DecimalData, Expression, Predicate, Scalar, lit,
};
use delta_kernel::schema::{DataType, DecimalType, SchemaRef, StructField, StructType};
use delta_kernel::{EvaluationHandler, FileMeta, ParquetHandler};

use crate::support::{
    Handlers, batches, col, data, engine_data, nullable, read, record_batch, schema,
};

/// Returns the rows that a predicate selects, as the kernel evaluates it.
fn selected(rows: &RecordBatch, wanted: &SchemaRef, predicate: &Predicate) -> RecordBatch {
    let handler = ArrowEvaluationHandler {};
    let evaluator = handler
        .new_predicate_evaluator(wanted.clone(), Arc::new(predicate.clone()))
        .unwrap();
    let tested = evaluator
        .evaluate(engine_data(rows.clone()).as_ref())
        .unwrap();
    let tested = record_batch(tested).unwrap();
    filter_record_batch(rows, tested.column(0).as_boolean()).unwrap()
}

/// Checks that a read with the predicate has all rows that the predicate selects. Returns the
/// number of rows that the read returned.
fn check(handlers: &Handlers, file: &FileMeta, wanted: &SchemaRef, predicate: &Predicate) -> usize {
    let file = std::slice::from_ref(file);
    let all = read(&handlers.default, file, wanted, None).unwrap();
    let expected = selected(&all, wanted, predicate);
    let hint = Some(Arc::new(predicate.clone()));
    let ours = handlers
        .ours
        .read_parquet_files(file, wanted.clone(), hint)
        .unwrap();
    let mut returned = 0;
    let mut found = Vec::new();
    for batch in batches(ours).unwrap() {
        returned += batch.num_rows();
        found.push(selected(&batch, wanted, predicate));
    }
    let found =
        delta_kernel::arrow::compute::concat_batches(expected.schema_ref(), &found).unwrap();
    assert_eq!(found, expected, "{predicate}");
    returned
}

fn sorted() -> SchemaRef {
    schema([
        nullable("n", DataType::LONG),
        nullable("s", DataType::STRING),
        nullable("d", DataType::DATE),
        nullable("f", DataType::DOUBLE),
        nullable("z", DataType::LONG),
        nullable("none", DataType::LONG),
    ])
}

#[test]
fn comparisons_rule_out_rows() {
    let handlers = Handlers::new();
    let file = data("sorted.parquet");
    let (n, s, d, z) = (col("n"), col("s"), col("d"), col("z"));
    let cases = [
        (n.clone().lt(lit(100i64)), 100),
        (n.clone().le(lit(100i64)), 101),
        (n.clone().gt(lit(1990i64)), 9),
        (n.clone().ge(lit(1990i64)), 10),
        (n.clone().eq(lit(700i64)), 1),
        (lit(1990i64).lt(n.clone()), 9),
        (lit(5i64).ge(n.clone()), 6),
        (s.clone().gt(lit("001997")), 2),
        (d.lt(Scalar::Date(10_957 + 20)), 20),
        (z.clone().is_null(), 500),
        (Predicate::not(z.clone().is_null()), 1500),
        (
            Predicate::and(n.clone().ge(lit(10i64)), s.lt(lit("000020"))),
            10,
        ),
        (
            Predicate::or(n.clone().lt(lit(3i64)), z.clone().eq(lit(1999i64))),
            4,
        ),
        (
            Predicate::not(Predicate::or(n.lt(lit(1995i64)), z.clone().is_null())),
            5,
        ),
        (z.distinct(lit(600i64)), 1999),
    ];
    for (predicate, rows) in cases {
        assert_eq!(
            check(&handlers, &file, &sorted(), &predicate),
            rows,
            "{predicate}"
        );
    }
}

#[test]
fn a_part_that_is_not_known_rules_out_nothing() {
    let handlers = Handlers::new();
    let file = data("sorted.parquet");
    let n = col("n");
    let sum = Expression::binary(BinaryExpressionOp::Plus, col("n"), lit(1i64));
    let unknown = [
        // The order of NaN is not defined.
        col("f").gt(lit(1e300)),
        col("f").lt(lit(0.0)),
        col("none").eq(lit(3i64)),
        col("none").is_null(),
        sum.lt(lit(5i64)),
        col("n").lt(col("z")),
        n.clone().eq(Scalar::Null(DataType::LONG)),
    ];
    for predicate in &unknown {
        assert_eq!(
            check(&handlers, &file, &sorted(), predicate),
            2000,
            "{predicate}"
        );
        let negated = Predicate::not(predicate.clone());
        assert_eq!(
            check(&handlers, &file, &sorted(), &negated),
            2000,
            "{negated}"
        );
        let known = n.clone().lt(lit(7i64));
        let both = Predicate::and(predicate.clone(), known.clone());
        assert_eq!(check(&handlers, &file, &sorted(), &both), 7, "{both}");
        for predicate in [
            Predicate::not(both),
            Predicate::or(predicate.clone(), known),
        ] {
            assert_eq!(
                check(&handlers, &file, &sorted(), &predicate),
                2000,
                "{predicate}"
            );
        }
    }
    // A column outside the schema has no id by which we could find it.
    let hint = Some(Arc::new(col("n").lt(lit(7i64))));
    let rows = read(
        &handlers.ours,
        &[file],
        &schema([nullable("s", DataType::STRING)]),
        hint,
    );
    assert_eq!(rows.unwrap().num_rows(), 2000);
}

#[test]
fn fields_of_structs_are_tested_by_their_ids() {
    let handlers = Handlers::new();
    let file = data("nested.parquet");
    let x = crate::support::with_id(nullable("x", DataType::INTEGER), 11);
    let point = StructType::try_new([x]).unwrap();
    let point = crate::support::with_id(nullable("point", point), 10);
    let id = StructField::not_null("id", DataType::INTEGER);
    let wanted = schema([point, id]);
    let x = Expression::column(["point", "x"]);
    assert_eq!(check(&handlers, &file, &wanted, &x.clone().ge(lit(20))), 7);
    assert_eq!(check(&handlers, &file, &wanted, &x.is_null()), 8);
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % most
    }

    fn predicate(&mut self, columns: &[StructField], depth: usize) -> Predicate {
        if depth > 0 && self.below(3) > 0 {
            let left = self.predicate(columns, depth - 1);
            return match self.below(3) {
                0 => Predicate::not(left),
                1 => Predicate::and(left, self.predicate(columns, depth - 1)),
                _ => Predicate::or(left, self.predicate(columns, depth - 1)),
            };
        }
        let field = &columns[self.below(columns.len() as u64) as usize];
        let column = col(field.name());
        let operator = match self.below(5) {
            2 | 3 if field.data_type() == &DataType::BOOLEAN => {
                return Predicate::from_expr(column);
            }
            0 => return column.is_null(),
            1 => BinaryPredicateOp::Equal,
            2 => BinaryPredicateOp::LessThan,
            3 => BinaryPredicateOp::GreaterThan,
            _ => BinaryPredicateOp::Distinct,
        };
        let value = lit(self.value(field.data_type()));
        match self.below(2) {
            0 => Predicate::binary(operator, column, value),
            _ => Predicate::binary(operator, value, column),
        }
    }

    /// Returns a value that is in the file, or near one.
    fn value(&mut self, data_type: &DataType) -> Scalar {
        let i = self.below(30) as i64 - 15;
        let row = self.below(30) as i64;
        let micros = (if row % 2 == 0 { 1 } else { -1 }) * (row * 1_000_000_000_000_000 + 123_456);
        match data_type {
            &DataType::BOOLEAN => Scalar::Boolean(row % 2 == 0),
            &DataType::BYTE => Scalar::Byte(i as i8),
            &DataType::SHORT => Scalar::Short(i as i16 * 2000),
            &DataType::INTEGER => Scalar::Integer(i as i32 * 100_000_000),
            &DataType::LONG => Scalar::Long(i * 600_000_000_000_000_000),
            &DataType::FLOAT => Scalar::Float(row as f32 / 4.0),
            &DataType::DOUBLE => Scalar::Double(row as f64 / 7.0),
            &DataType::STRING => Scalar::String("é".repeat(row as usize % 4) + &row.to_string()),
            &DataType::BINARY => Scalar::Binary(vec![row as u8, 255]),
            &DataType::DATE => Scalar::Date(-3653 + 400 * row as i32),
            // These are the file's nanoseconds, truncated.
            &DataType::TIMESTAMP if i > 0 => Scalar::Timestamp((micros * 7).div_euclid(10) / 1000),
            &DataType::TIMESTAMP => Scalar::Timestamp(micros),
            &DataType::TIMESTAMP_NTZ => Scalar::TimestampNtz(micros),
            DataType::Primitive(delta_kernel::schema::PrimitiveType::Decimal(decimal)) => {
                Scalar::Decimal(DecimalData::try_new(i * 12_345, *decimal).unwrap())
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn random_predicates_keep_all_rows_that_they_select() {
    let handlers = Handlers::new();
    let file = data("types.parquet");
    let decimal = DecimalType::try_new(9, 2).unwrap();
    let columns = [
        nullable("i8", DataType::BYTE),
        nullable("i16", DataType::SHORT),
        nullable("i32", DataType::INTEGER),
        nullable("i64", DataType::LONG),
        // These are read in another type than the file's.
        nullable("day_number", DataType::DATE),
        nullable("micros", DataType::TIMESTAMP_NTZ),
        nullable("ts_ms", DataType::TIMESTAMP_NTZ),
        nullable("ts_ns_utc", DataType::TIMESTAMP),
        nullable("f32", DataType::FLOAT),
        nullable("bool", DataType::BOOLEAN),
        nullable("f64", DataType::DOUBLE),
        nullable("text", DataType::STRING),
        nullable("bytes", DataType::BINARY),
        nullable("date", DataType::DATE),
        nullable("ts_us", DataType::TIMESTAMP_NTZ),
        nullable("ts_us_utc", DataType::TIMESTAMP),
        nullable("dec9", DataType::Primitive(decimal.into())),
        nullable("none", DataType::LONG),
    ];
    let wanted = schema(columns.clone());
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut ruled_out = 0;
    for _ in 0..300 {
        let predicate = random.predicate(&columns, 3);
        ruled_out += usize::from(check(&handlers, &file, &wanted, &predicate) < 30);
    }
    assert!(ruled_out > 100, "{ruled_out}");
}

#[test]
fn stamps_of_96_bits_are_compared_as_they_are_read() {
    let handlers = Handlers::new();
    let wanted = schema([nullable("stamp", DataType::TIMESTAMP_NTZ)]);
    let later = col("stamp").gt(Scalar::TimestampNtz(0));
    let rows = read(
        &handlers.ours,
        &[data("int96.parquet")],
        &wanted,
        Some(Arc::new(later)),
    );
    // One of the four is before 1970.
    assert_eq!(rows.unwrap().num_rows(), 3);
}
