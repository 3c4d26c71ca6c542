use std::sync::Arc;

use herringbone_arrow::array::types::{Int8Type, Int32Type};
use herringbone_arrow::array::{self as a, ArrayRef};

use super::*;
use crate::write::written;

fn csv(columns: Vec<(&str, ArrayRef)>) -> String {
    csv_with("", columns)
}

fn csv_with(null: &str, columns: Vec<(&str, ArrayRef)>) -> String {
    let columns = columns
        .into_iter()
        .map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    written(|output| {
        let rows = Rows::new(CsvStyle {
            null: null.into(),
            ..CsvStyle::default()
        });
        rows.write_header(&batch.schema(), output)?;
        rows.write(&batch, output)
    })
}

#[test]
fn fields_are_quoted_where_they_must_be() {
    let texts = [
        "plain",
        "a,b",
        "say \"hi\"",
        "two\nlines",
        "cr\r",
        " space ",
        "'",
    ];
    let column = a::StringArray::from(texts.to_vec());
    assert_eq!(
        csv(vec![("the,name", Arc::new(column))]),
        "\"the,name\"\nplain\n\"a,b\"\n\"say \"\"hi\"\"\"\n\"two\nlines\"\n\"cr\r\"\n space \n'\n"
    );
}

#[test]
fn nulls_and_empty_strings_stay_apart() {
    let text = a::StringArray::from(vec![None, Some("")]);
    let number = a::Int32Array::from(vec![None, Some(1)]);
    assert_eq!(
        csv(vec![("t", Arc::new(text)), ("n", Arc::new(number))]),
        "t,n\n,\n\"\",1\n"
    );
    let dictionary: a::DictionaryArray<Int8Type> = [Some(""), None].into_iter().collect();
    let keyed = a::DictionaryArray::<Int8Type>::new(
        vec![0, 1].into(),
        Arc::new(a::StringArray::from(vec![None, Some("v")])),
    );
    assert_eq!(
        csv(vec![("d", Arc::new(dictionary)), ("k", Arc::new(keyed))]),
        "d,k\n\"\",\n,v\n"
    );
}

#[test]
fn a_null_may_have_a_text() {
    let text = a::StringArray::from(vec![None, Some(""), Some("NA"), Some("NAN")]);
    let number = a::Int32Array::from(vec![None, Some(1), None, None]);
    assert_eq!(
        csv_with("NA", vec![("NA", Arc::new(text)), ("n", Arc::new(number))]),
        "NA,n\nNA,NA\n\"\",1\n\"NA\",NA\nNAN,NA\n"
    );
    let number = a::Int32Array::from(vec![None, Some(0)]);
    assert_eq!(
        csv_with("0", vec![("n", Arc::new(number))]),
        "n\n0\n\"0\"\n"
    );
}

#[test]
fn scalars_have_no_quotes_of_json() {
    assert_eq!(
        csv(vec![
            ("f", Arc::new(a::Float64Array::from(vec![f64::NAN]))),
            ("b", Arc::new(a::BinaryArray::from(vec![b"f".as_slice()]))),
            ("d", Arc::new(a::Date32Array::from(vec![0]))),
            ("x", Arc::new(a::NullArray::new(1))),
        ]),
        "f,b,d,x\nNaN,Zg==,1970-01-01,\n"
    );
}

#[test]
fn nested_values_are_json() {
    let lists = a::ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1), None]),
        Some(vec![]),
        None,
    ]);
    assert_eq!(csv(vec![("l", Arc::new(lists))]), "l\n\"[1,null]\"\n[]\n\n");
}

#[test]
fn text_that_looks_like_another_type_is_quoted() {
    let texts = [
        "007",
        "1",
        "1.10",
        "true",
        "2024-01-02",
        "NaN",
        "x1",
        "12:30:00",
        "2024-13-02",
    ];
    let count = texts.len();
    let texts = a::StringArray::from(texts.to_vec());
    let bytes = a::BinaryArray::from(vec![b"\xd7\x6d\xf8".as_slice(); count]);
    let numbers = a::Int64Array::from(vec![1; count]);
    let decimals = a::Decimal128Array::from(vec![1250; count]);
    let decimals = decimals.with_precision_and_scale(9, 2).unwrap();
    let text = csv(vec![
        ("1", Arc::new(texts)),
        ("b", Arc::new(bytes)),
        ("n", Arc::new(numbers)),
        ("d", Arc::new(decimals)),
    ]);
    let firsts: Vec<&str> = text
        .lines()
        .map(|line| line.split(',').next().unwrap())
        .collect();
    assert_eq!(
        firsts,
        [
            "1",
            "\"007\"",
            "\"1\"",
            "\"1.10\"",
            "\"true\"",
            "\"2024-01-02\"",
            "NaN",
            "x1",
            "12:30:00",
            "2024-13-02"
        ]
    );
    let mut rows = text.lines().skip(1);
    assert!(
        rows.all(|line| line.ends_with(",\"1234\",1,\"12.50\"")),
        "{text}"
    );
}

#[test]
fn lines_end_with_lf_or_as_in_rfc_4180() {
    let text: ArrayRef = Arc::new(a::StringArray::from(vec!["x\ny", "z"]));
    let batch = RecordBatch::try_from_iter([("a", text)]).unwrap();
    for line_end in ["\n", "\r\n"] {
        let found = written(|output| {
            let style = CsvStyle {
                line_end,
                ..CsvStyle::default()
            };
            let rows = Rows::new(style);
            rows.write_header(&batch.schema(), output)?;
            rows.write(&batch, output)
        });
        assert_eq!(found, format!("a{line_end}\"x\ny\"{line_end}z{line_end}"));
    }
}
