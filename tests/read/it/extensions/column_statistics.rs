//! Tests statistics that a plug-in computes while we write a file.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int32Type;
use herringbone::arrow::array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch,
    StringArray,
};
use herringbone::extension::{
    ChunkStatistics, ColumnStatistics, ColumnStatisticsFactory, ColumnValues, StatisticsColumn,
};
use herringbone::format::{BoundingBox, GeospatialStatistics, LogicalType};
use herringbone::{ColumnOptions, ParquetFile, Result, WriteOptions, Writer};

/// The number of times that each value occurs, by column.
type Counts = Arc<Mutex<BTreeMap<String, BTreeMap<String, usize>>>>;

/// A plug-in that counts values. Columns named `without…` lose their bounds, and others get a box from 0 to the number
/// of values seen.
#[derive(Debug)]
struct Counting {
    counts: Counts,
    finished: Arc<Mutex<usize>>,
}

struct Counter {
    name: String,
    counts: Counts,
    finished: Arc<Mutex<usize>>,
    calls: usize,
    values: usize,
}

impl ColumnStatisticsFactory for Counting {
    fn column(&self, column: &StatisticsColumn<'_>) -> Result<Option<Box<dyn ColumnStatistics>>> {
        let name = column.leaf.path.join(".");
        let is_text = column.element.logical_type == Some(LogicalType::String);
        assert_eq!(is_text, name.contains("text"));
        Ok((name != "unknown").then(|| -> Box<dyn ColumnStatistics> {
            Box::new(Counter {
                name,
                counts: self.counts.clone(),
                finished: self.finished.clone(),
                calls: 0,
                values: 0,
            })
        }))
    }
}

impl ColumnStatistics for Counter {
    fn update(&mut self, values: ColumnValues<'_>) {
        let texts: Vec<String> = match values {
            ColumnValues::Int64(values) => values.iter().map(ToString::to_string).collect(),
            ColumnValues::Double(values) => values.iter().map(ToString::to_string).collect(),
            ColumnValues::ByteArray(values) => values
                .iter()
                .map(|value| String::from_utf8(value.to_vec()).unwrap())
                .collect(),
            ColumnValues::Boolean { bits, first, len } => (first..first + len)
                .map(|bit| (bits[bit / 8] >> (bit % 8) & 1).to_string())
                .collect(),
            other => panic!("{other:?}"),
        };
        self.calls += 1;
        self.values += texts.len();
        let mut counts = self.counts.lock().unwrap();
        let counts = counts.entry(self.name.clone()).or_default();
        for text in texts {
            *counts.entry(text).or_default() += 1;
        }
    }

    fn finish(self: Box<Self>) -> ChunkStatistics {
        *self.finished.lock().unwrap() += 1;
        assert!(
            self.calls <= 1 + self.values / 100,
            "{} calls for few values",
            self.calls
        );
        let mut bbox = BoundingBox::default();
        bbox.xmax = self.values as f64;
        let geospatial = GeospatialStatistics::new().bbox(bbox);
        let statistics = ChunkStatistics::new().geospatial(geospatial);
        let statistics = match self.name == "floats" {
            true => statistics
                .distinct_count(12_345)
                .key_value(("calls".to_owned(), self.calls.to_string())),
            false => statistics,
        };
        statistics.without_bounds(self.name.starts_with("without"))
    }
}

const ROWS: usize = 20_000;

/// Returns columns with and without repeated values, all with nulls.
fn batch() -> RecordBatch {
    let text = |modulo: usize| -> ArrayRef {
        let value = |row: usize| (!row.is_multiple_of(9)).then(|| format!("v{}", row % modulo));
        Arc::new((0..ROWS).map(value).collect::<StringArray>())
    };
    let dictionary: DictionaryArray<Int32Type> = (0..ROWS)
        .map(|row| (!row.is_multiple_of(9)).then_some(["a", "b", "c"][row % 3]))
        .collect();
    let numbers: Int64Array = (0..ROWS).map(|row| Some(row as i64 % 50)).collect();
    let floats: Float64Array = (0..ROWS).map(|row| Some(row as f64)).collect();
    let flags: BooleanArray = (0..ROWS).map(|row| Some(row % 2 == 0)).collect();
    RecordBatch::try_from_iter([
        ("text_few", text(20)),
        ("text_many", text(ROWS)),
        ("text_dictionary", Arc::new(dictionary) as ArrayRef),
        ("without_bounds", Arc::new(numbers.clone()) as ArrayRef),
        ("numbers", Arc::new(numbers) as ArrayRef),
        ("floats", Arc::new(floats) as ArrayRef),
        ("flags", Arc::new(flags.clone()) as ArrayRef),
        ("unknown", Arc::new(flags) as ArrayRef),
    ])
    .unwrap()
}

/// Returns a column's values as text, with the number of times that each occurs.
fn occurring(array: &ArrayRef) -> BTreeMap<String, usize> {
    let array = match array.as_any_dictionary_opt() {
        Some(dictionary) => {
            let values = dictionary.values().as_string::<i32>();
            let keys = dictionary.keys().as_primitive::<Int32Type>();
            let value = |key: Option<i32>| key.map(|key| values.value(key as usize));
            Arc::new(keys.iter().map(value).collect::<StringArray>())
        }
        None => array.clone(),
    };
    let texts: Vec<Option<String>> = if let Some(texts) = array.as_string_opt::<i32>() {
        texts.iter().map(|text| text.map(str::to_owned)).collect()
    } else if let Some(flags) = array.as_boolean_opt() {
        let text = |flag: bool| u8::from(flag).to_string();
        flags.iter().map(|flag| flag.map(text)).collect()
    } else if let Some(numbers) = array.as_any().downcast_ref::<Int64Array>() {
        numbers
            .iter()
            .map(|number| number.map(|number| number.to_string()))
            .collect()
    } else {
        let floats = array.as_any().downcast_ref::<Float64Array>().unwrap();
        floats
            .iter()
            .map(|float| float.map(|float| float.to_string()))
            .collect()
    };
    let mut counts = BTreeMap::new();
    for text in texts.into_iter().flatten() {
        *counts.entry(text).or_default() += 1;
    }
    counts
}

fn written(
    options: WriteOptions,
) -> (
    ParquetFile,
    BTreeMap<String, BTreeMap<String, usize>>,
    usize,
) {
    let (counts, finished) = (Counts::default(), Arc::default());
    let counting = Counting {
        counts: counts.clone(),
        finished: Arc::clone(&finished),
    };
    let batch = batch();
    let mut file = Vec::new();
    let options = options.column_statistics(counting);
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let counts = counts.lock().unwrap().clone();
    let finished = *finished.lock().unwrap();
    (ParquetFile::from_bytes(file).unwrap(), counts, finished)
}

#[test]
fn every_value_is_looked_at_and_entries_of_dictionaries_once() {
    let no_dictionary = ColumnOptions::new().dictionary(false);
    for (options, keeps_dictionary) in [
        (WriteOptions::new().threads(1), true),
        (WriteOptions::new().threads(4), true),
        (WriteOptions::new().columns(no_dictionary), false),
    ] {
        let (_, counts, _) = written(options);
        let batch = batch();
        assert_eq!(counts.len(), batch.num_columns() - 1);
        for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
            let occurring = occurring(array);
            let Some(counted) = counts.get(field.name()) else {
                assert_eq!(field.name(), "unknown");
                continue;
            };
            assert!(counted.keys().eq(occurring.keys()), "{}", field.name());
            let repeats = ["text_few", "text_dictionary", "numbers"];
            if keeps_dictionary && repeats.contains(&field.name().as_str()) {
                assert!(
                    counted.values().all(|count| *count == 1),
                    "{}",
                    field.name()
                );
            } else if !keeps_dictionary {
                assert_eq!(*counted, occurring, "{}", field.name());
            }
        }
    }
}

#[test]
fn each_column_chunk_has_its_own() {
    let (file, _, finished) = written(WriteOptions::new().row_group_rows(ROWS / 4));
    assert_eq!(file.metadata().num_row_groups(), 4);
    assert!(finished >= 4 * 7);
    for row_group in 0..4 {
        for (leaf, values) in [(5, Some(ROWS / 4)), (4, Some(50)), (7, None)] {
            let chunk = file.metadata().column_chunk(row_group, leaf).unwrap();
            let statistics = chunk.meta_data.unwrap().geospatial_statistics;
            let xmax = statistics
                .and_then(|statistics| statistics.bbox)
                .map(|bbox| bbox.xmax);
            assert_eq!(xmax, values.map(|values| values as f64));
        }
    }
}

/// The `parquet` crate decodes the footer, because it has its own Thrift definitions.
#[test]
fn counts_and_pairs_of_the_program_are_in_the_footer() {
    for distinct_counts in [true, false] {
        let columns = ColumnOptions::new().distinct_counts(distinct_counts);
        let options = WriteOptions::new().columns(columns);
        let (file, ..) = written(options);
        let chunk = |leaf| file.metadata().column_chunk(0, leaf).unwrap();
        let counts = |leaf| chunk(leaf).meta_data.unwrap().statistics.unwrap();
        assert_eq!(counts(5).distinct_count, Some(12_345));
        assert_eq!(counts(4).distinct_count, distinct_counts.then_some(50));
        let pairs = chunk(5).meta_data.unwrap().key_value_metadata.unwrap();
        assert_eq!(pairs[0].key, "calls");
        assert!(pairs[0].text().unwrap().parse::<usize>().unwrap() > 0);
        assert_eq!(chunk(4).meta_data.unwrap().key_value_metadata, None);
        let bytes = file.source().read(0..file.source().len()).unwrap();
        let peer = parquet::file::metadata::ParquetMetaDataReader::new()
            .parse_and_finish(&bytes)
            .unwrap();
        let statistics = peer.row_group(0).column(5).statistics().unwrap();
        assert_eq!(statistics.distinct_count_opt(), Some(12_345));
    }
}

#[test]
fn bounds_are_held_back_where_it_says_so() {
    let (file, ..) = written(WriteOptions::new());
    for (leaf, has_bounds) in [(3, false), (4, true)] {
        let chunk = file.metadata().column_chunk(0, leaf).unwrap();
        let statistics = chunk.meta_data.unwrap().statistics.unwrap();
        assert_eq!(statistics.min_value.is_some(), has_bounds);
        assert_eq!(statistics.max_value.is_some(), has_bounds);
        assert_eq!(statistics.null_count, Some(0));
        assert_eq!(file.column_index(0, leaf).unwrap().is_some(), has_bounds);
        assert!(file.offset_index(0, leaf).unwrap().is_some());
    }
}
