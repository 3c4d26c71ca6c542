//! Counts and reports the rows and values lost because of bad rows in a text.

use std::sync::Arc;

/// The maximum number of reported losses. Beyond this, we only count.
const REPORTED: u64 = 5;

/// Options for skipping over bad rows or values instead of failing at the first one.
#[derive(Clone)]
pub struct Lenient {
    /// True to replace a bad value with null. Otherwise, its row is left out.
    pub nulls: bool,
    /// The callback for the description of a loss.
    pub report: Arc<dyn Fn(&str) + Send + Sync>,
}

/// The losses in a text. On drop, it reports the total if some losses weren't listed.
pub(super) struct Losses {
    name: String,
    lenient: Lenient,
    rows: u64,
    values: u64,
}

impl Losses {
    pub(super) fn new(name: &str, lenient: &Lenient) -> Self {
        Self {
            name: name.to_owned(),
            lenient: lenient.clone(),
            rows: 0,
            values: 0,
        }
    }

    /// Returns true if bad values become null.
    pub(super) fn makes_nulls(&self) -> bool {
        self.lenient.nulls
    }

    /// Counts a lost row.
    pub(super) fn row(&mut self, line: usize, reason: &str) {
        self.rows += 1;
        self.add(line, "the row is left out", reason);
    }

    /// Counts a value that becomes null.
    pub(super) fn value(&mut self, line: usize, reason: &str) {
        self.values += 1;
        self.add(line, "the value is null", reason);
    }

    fn add(&self, line: usize, fate: &str, reason: &str) {
        if self.rows + self.values <= REPORTED {
            (self.lenient.report)(&format!("{}: line {line}: {fate}: {reason}", self.name));
        }
    }
}

impl Drop for Losses {
    fn drop(&mut self) {
        if self.rows + self.values > REPORTED {
            (self.lenient.report)(&format!(
                "{}: in all, {} rows are left out and {} values are null; the first {REPORTED} of these are listed",
                self.name, self.rows, self.values
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use herringbone_arrow::schema::{DataType, Field, Schema};

    use super::super::tests::text_options;
    use super::super::{Stream, TextOptions, csv};
    use super::*;
    use crate::in_memory::{Format, write};

    /// Reads CSV with bad rows as numbers, returning the rows as JSON lines, and the reports.
    fn read(text: &str, nulls: bool, nullable: bool) -> (String, Vec<String>) {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&reports);
        let report = move |text: &str| sink.lock().unwrap().push(text.to_owned());
        let field = Field::new("a", DataType::Int32, nullable);
        let schema = Arc::new(Schema::new(vec![field]));
        let rows = csv(
            Stream::of_bytes("file.csv", text.as_bytes().to_vec()),
            &TextOptions {
                schema: Some(Arc::clone(&schema)),
                delimiter: Some(b','),
                lenient: Some(Lenient {
                    nulls,
                    report: Arc::new(report),
                }),
                ..text_options()
            },
        );
        let batches: Vec<_> = rows.unwrap().batches.map(Result::unwrap).collect();
        let lines = write(Format::JsonLines, &schema, &batches).unwrap();
        let reports = reports.lock().unwrap().clone();
        (String::from_utf8(lines).unwrap(), reports)
    }

    #[test]
    fn a_bad_value_is_null_or_its_row_is_left_out() {
        let text = "a\n1\nx\n3\n";
        let without = "{\"a\":1}\n{\"a\":3}\n";
        let (rows, reports) = read(text, true, true);
        assert_eq!(rows, "{\"a\":1}\n{\"a\":null}\n{\"a\":3}\n");
        assert_eq!(reports.len(), 1);
        assert!(reports[0].starts_with("file.csv: line 3: the value is null: "));
        // Without permission to make nulls, or without room for them, the row is lost.
        for (nulls, nullable) in [(false, true), (true, false)] {
            let (rows, reports) = read(text, nulls, nullable);
            assert_eq!(rows, without, "{nulls} {nullable}");
            assert_eq!(reports.len(), 1);
            assert!(reports[0].starts_with("file.csv: line 3: the row is left out: "));
        }
    }

    #[test]
    fn the_first_losses_are_listed_and_all_are_counted() {
        for (bad, expected) in [(5, 5), (6, 6)] {
            let text = format!("a\n{}", "x\n".repeat(bad));
            let (_, reports) = read(&text, true, true);
            assert_eq!(reports.len(), expected);
        }
        let (_, reports) = read(&format!("a\n{}", "x\n".repeat(8)), true, true);
        assert_eq!(reports.len(), 6);
        assert!(reports[5].contains("in all, 0 rows are left out and 8 values are null"));
    }
}
