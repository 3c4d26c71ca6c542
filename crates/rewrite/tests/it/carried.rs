//! Carries over the bloom filters, sorting columns, schemas and key-value metadata of one or more
//! files.

use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, BooleanArray, Int32Array, RecordBatch, StructArray};
use herringbone::arrow::schema::{DataType, Field, Fields, Schema, SchemaRef};
use herringbone::{
    BloomFilterOptions, ColumnOptions, ColumnSelector, ParquetFile, SortingColumnOption,
    WriteOptions,
};
use herringbone_rewrite::{CarryOver, ColumnOrigin, InputFile, Note};

use crate::files::{carried, collected, empty, nulls, schema, value, with_keys, written};

/// Returns a file of four rows in two row groups, with the columns `a`, `b`, `flag` and `s.x`.
fn file(options: WriteOptions) -> ParquetFile {
    let x = Int32Array::from(vec![1, 2, 3, 4]);
    let fields = Fields::from(vec![Field::new("x", DataType::Int32, false)]);
    let columns: [(&str, ArrayRef); 4] = [
        ("a", Arc::new(Int32Array::from(vec![1, 2, 3, 4]))),
        ("b", Arc::new(Int32Array::from(vec![9, 8, 7, 6]))),
        (
            "flag",
            Arc::new(BooleanArray::from(vec![true, false, true, false])),
        ),
        (
            "s",
            Arc::new(StructArray::new(fields, vec![Arc::new(x)], None)),
        ),
    ];
    written(
        &RecordBatch::try_from_iter(columns).unwrap(),
        options.row_group_rows(2),
    )
}

fn schema_of(file: &ParquetFile) -> SchemaRef {
    file.arrow_schema(&herringbone::SchemaOptions::default())
        .unwrap()
}

/// Returns the paths for which the options request bloom filters.
fn bloom_filters(options: &WriteOptions) -> Vec<String> {
    let overrides = options.overrides.iter();
    let paths = overrides.filter_map(|(selector, options)| match selector {
        ColumnSelector::Path(path) => options.bloom_filter.map(|_| path.join(".")),
        _ => None,
    });
    let mut paths: Vec<String> = paths.collect();
    paths.sort();
    paths
}

#[test]
fn columns_that_had_bloom_filters_get_them() {
    let filter = || ColumnOptions::new().bloom_filter(BloomFilterOptions::default());
    let file = file(
        WriteOptions::new()
            .column("a", filter())
            .column("s.x", filter()),
    );
    let (options, notes) = carried(&[&file], &schema_of(&file));
    assert_eq!(bloom_filters(&options), ["a", "s.x"]);
    assert_eq!(notes, []);
    let without = CarryOver::new().bloom_filters(None);
    let mut options = WriteOptions::new();
    collected(without, &[&file])
        .apply(&schema_of(&file), &mut options)
        .unwrap();
    assert_eq!(bloom_filters(&options), [] as [&str; 0]);
    // A missing column gets no bloom filter, but a renamed one does.
    let (options, _) = carried(&[&file], &schema(&[("b", DataType::Int32)]));
    assert_eq!(bloom_filters(&options), [] as [&str; 0]);
    let origins = vec![
        ColumnOrigin::new(["s", "x"], "y"),
        ColumnOrigin::new(["b"], "a"),
    ];
    let mut options = WriteOptions::new();
    let renamed = schema(&[("y", DataType::Int32), ("a", DataType::Int32)]);
    collected(CarryOver::new().origins(origins), &[&file])
        .apply(&renamed, &mut options)
        .unwrap();
    assert_eq!(bloom_filters(&options), ["y"]);
    // The caller's own options win, because they are later in the list.
    let mut options = WriteOptions::new().column("a", ColumnOptions::new().dictionary(false));
    collected(CarryOver::new(), &[&file])
        .apply(&schema_of(&file), &mut options)
        .unwrap();
    assert_eq!(options.overrides.last().unwrap().1.dictionary, Some(false));
}

fn sorted(columns: &[(&str, bool, bool)]) -> WriteOptions {
    let columns = columns.iter().map(|(name, descending, nulls_first)| {
        SortingColumnOption::new(name.split('.'))
            .descending(*descending)
            .nulls_first(*nulls_first)
    });
    WriteOptions::new().sorting_columns(columns.collect())
}

/// Returns the sorting columns that are kept, and the note about the others.
fn kept(files: &[&ParquetFile], new: &SchemaRef) -> (Vec<String>, Vec<Note>) {
    let (options, notes) = carried(files, new);
    let shown = |column: &SortingColumnOption| {
        format!(
            "{} {} {}",
            column.path.join("."),
            column.descending,
            column.nulls_first
        )
    };
    (options.sorting_columns.iter().map(shown).collect(), notes)
}

#[test]
fn sorting_columns_shared_by_all_row_groups_are_declared() {
    let both = file(sorted(&[("a", false, true), ("b", true, false)]));
    let all = schema_of(&both);
    let expected = ["a false true", "b true false"];
    assert_eq!(
        kept(&[&both], &all),
        (expected.map(str::to_owned).to_vec(), vec![])
    );
    assert_eq!(kept(&[&both, &both], &all).0, expected);
    let note = |kept, of| vec![Note::SortingColumns { kept, of }];
    let other_order = file(sorted(&[("a", false, true), ("b", false, false)]));
    assert_eq!(
        kept(&[&both, &other_order], &all),
        (vec![expected[0].to_owned()], note(1, 2))
    );
    assert_eq!(kept(&[&other_order, &both], &all).0, [expected[0]]);
    let other_nulls = file(sorted(&[("a", false, false)]));
    assert_eq!(kept(&[&both, &other_nulls], &all), (vec![], note(0, 2)));
    let unsorted = file(WriteOptions::new());
    assert_eq!(kept(&[&unsorted, &both], &all), (vec![], note(0, 2)));
    assert_eq!(kept(&[&unsorted], &all), (vec![], vec![]));
    // Rows are only sorted by `b` among equal values of `a`.
    let without_a = schema(&[("b", DataType::Int32)]);
    assert_eq!(kept(&[&both], &without_a), (vec![], note(0, 2)));
    let inner = file(sorted(&[("s.x", false, true)]));
    assert_eq!(kept(&[&inner], &all).0, ["s.x false true"]);
    // If the caller sorts, that sort replaces them without a note.
    let mut options = WriteOptions::new().sort_by(vec![SortingColumnOption::new(["b"])]);
    let carried = collected(CarryOver::new(), &[&both])
        .apply(&all, &mut options)
        .unwrap();
    assert_eq!((options.sorting_columns.len(), carried.notes), (0, vec![]));
}

#[test]
fn sorting_columns_follow_renamed_columns_and_end_at_cast_ones() {
    let file = file(sorted(&[("a", false, true), ("b", true, false)]));
    let kept = |origins: Vec<ColumnOrigin>| {
        let mut options = WriteOptions::new();
        let new = schema(&[("p", DataType::Int32), ("q", DataType::Int32)]);
        let carried =
            collected(CarryOver::new().origins(origins), &[&file]).apply(&new, &mut options);
        carried.unwrap();
        let paths = options
            .sorting_columns
            .into_iter()
            .map(|column| column.path.join("."));
        paths.collect::<Vec<_>>()
    };
    let (p, q) = (ColumnOrigin::new(["a"], "p"), ColumnOrigin::new(["b"], "q"));
    assert_eq!(kept(vec![p.clone(), q.clone()]), ["p", "q"]);
    assert_eq!(kept(vec![p.clone(), q.clone().cast(true)]), ["p"]);
    assert_eq!(kept(vec![p.cast(true), q]), [] as [&str; 0]);
}

#[test]
fn keys_of_several_files() {
    let all = schema(&[("a", DataType::Int32)]);
    let of = |pairs: &[(&str, &str)]| empty(&all, with_keys(pairs));
    let (first, second) = (
        of(&[("k", "1"), ("own", "x")]),
        of(&[("k", "2"), ("late", "y")]),
    );
    let (options, notes) = carried(&[&first, &second], &all);
    let kept = |key| value(&options, key);
    assert_eq!(
        (kept("k"), kept("own"), kept("late")),
        (Some("1".into()), Some("x".into()), Some("y".into()))
    );
    let not_in_all = |file: &str, key: &str| Note::KeyNotInAll {
        file: file.into(),
        key: key.into(),
    };
    let differs = Note::KeyValueDiffers {
        file: "2".into(),
        key: "k".into(),
    };
    assert_eq!(
        notes,
        [differs, not_in_all("1", "own"), not_in_all("2", "late")]
    );
    let (_, notes) = carried(&[&first, &first], &all);
    assert_eq!(notes, []);
    // A repeated key is kept as often as the first file has it.
    let twice = of(&[("k", "1"), ("k", "3")]);
    let (options, notes) = carried(&[&twice, &twice], &all);
    let values = options
        .key_value_metadata
        .iter()
        .filter(|pair| pair.key == "k");
    assert_eq!((values.count(), notes), (2, vec![]));
    let (_, notes) = carried(&[&twice, &first], &all);
    assert_eq!(notes.len(), 2, "{notes:?}");
    // The Arrow schema is left out, because the writer makes it anew.
    assert_eq!(value(&options, "ARROW:schema"), None);
}

#[test]
fn columns_described_differently_are_named_once() {
    let int = |width, nullable| {
        let data_type = if width == 32 {
            DataType::Int32
        } else {
            DataType::Int64
        };
        Field::new("a", data_type, nullable)
    };
    let of = |field: Field| {
        empty(
            &Arc::new(Schema::new(vec![
                field,
                Field::new("b", DataType::Utf8, true),
            ])),
            WriteOptions::new(),
        )
    };
    let new = schema(&[("a", DataType::Int64), ("b", DataType::Utf8)]);
    let fields_of = |files: &[&ParquetFile]| {
        let (options, notes) = carried(files, &new);
        let schema = options.schema.parquet_schema.unwrap();
        let names = schema
            .children(0)
            .map(|node| schema.nodes()[node].element.name.clone());
        (names.collect::<Vec<_>>(), notes)
    };
    let (wide, narrow) = (of(int(64, true)), of(int(32, true)));
    assert_eq!(
        fields_of(&[&wide, &wide]),
        (vec!["a".into(), "b".into()], vec![])
    );
    assert_eq!(fields_of(&[&wide, &of(int(64, false))]).1, []);
    let otherwise = Note::ColumnsDescribedOtherwise {
        columns: vec!["a".into()],
    };
    assert_eq!(
        fields_of(&[&wide, &narrow]),
        (vec!["b".into()], vec![otherwise])
    );
    // If a file does not have the column, it does not describe it differently.
    let without = empty(&schema(&[("b", DataType::Utf8)]), WriteOptions::new());
    assert_eq!(
        fields_of(&[&without, &wide]),
        (vec!["b".into(), "a".into()], vec![])
    );
    // A missing column needs no note.
    let (_, notes) = carried(&[&wide, &narrow], &schema(&[("b", DataType::Utf8)]));
    assert_eq!(notes, []);
    assert_eq!(carried(&[], &new).0.schema.parquet_schema, None);
}

#[test]
fn fields_from_structs_may_become_nullable() {
    let file = file(WriteOptions::new());
    let origins = vec![
        ColumnOrigin::new(["s", "x"], "y"),
        ColumnOrigin::new(["a"], "a"),
        ColumnOrigin::new(["b"], "c").cast(true),
    ];
    let new = schema(&[
        ("y", DataType::Int32),
        ("a", DataType::Int32),
        ("c", DataType::Int64),
    ]);
    let mut options = WriteOptions::new();
    collected(CarryOver::new().origins(origins), &[&file])
        .apply(&new, &mut options)
        .unwrap();
    let schema = options.schema.parquet_schema.unwrap();
    let elements = schema.children(0).map(|node| &schema.nodes()[node].element);
    let shown: Vec<_> = elements
        .map(|it| format!("{} {:?}", it.name, it.repetition_type.unwrap()))
        .collect();
    assert_eq!(shown, ["y Optional", "a Required"]);
}

#[test]
fn row_groups_that_are_not_read_do_not_count() {
    let all = schema(&[("a", DataType::Int32)]);
    let file = nulls(&all, with_keys(&[]));
    assert_eq!(file.metadata().num_row_groups(), 2);
    let mut carry_over = CarryOver::new();
    carry_over.add(InputFile::new("1", &file, &[1])).unwrap();
    assert!(carry_over.add(InputFile::new("1", &file, &[2])).is_err());
}

#[test]
fn notes_name_file_and_property() {
    let shown = |note: Note| note.to_string();
    let file = || "f".to_owned();
    let key = || "k".to_owned();
    for (note, parts) in [
        (
            Note::KeyValueDiffers {
                file: file(),
                key: key(),
            },
            ["f: ", "`k` differs"],
        ),
        (
            Note::KeyNotInAll {
                file: file(),
                key: key(),
            },
            ["`k`", "that of f is kept"],
        ),
        (
            Note::KeyLeftOut {
                file: file(),
                key: key(),
            },
            ["f: ", "`k` is left out"],
        ),
        (
            Note::PandasIndex { file: file() },
            ["f: ", "index of pandas"],
        ),
        (
            Note::SortingColumns { kept: 0, of: 2 },
            ["the sorting columns are not kept", ": row groups"],
        ),
        (
            Note::SortingColumns { kept: 1, of: 2 },
            ["first 1 of 2", ": row groups"],
        ),
        (
            Note::NoBloomFilterForBoolean {
                path: vec!["s".into(), "x".into()],
            },
            ["`s.x`", "BOOLEAN"],
        ),
        (
            Note::ColumnsDescribedOtherwise {
                columns: vec!["a".into(), "b".into()],
            },
            ["a, b", "Arrow types"],
        ),
        (
            Note::FooterExtension {
                file: file(),
                bytes: 7,
                uuid: Some("u-1".into()),
            },
            ["7 bytes", "UUID u-1"],
        ),
        (Note::DuckDbDialect { file: file() }, ["f: ", "DuckDB"]),
    ] {
        let text = shown(note);
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
    let short = shown(Note::FooterExtension {
        file: file(),
        bytes: 3,
        uuid: None,
    });
    assert!(!short.contains("UUID"), "{short}");
}
