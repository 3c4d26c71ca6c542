use proptest::prelude::*;
use serde_json::Value as Serde;

use super::*;

/// Compares a tree with `serde_json`'s tree. Numbers are compared as `f64`.
fn same(ours: &JsonValue, theirs: &Serde) -> bool {
    match (ours, theirs) {
        (JsonValue::Null, Serde::Null) => true,
        (JsonValue::Boolean(a), Serde::Bool(b)) => a == b,
        (JsonValue::Number(a), Serde::Number(b)) => a.parse::<f64>().ok() == b.as_f64(),
        (JsonValue::Text(a), Serde::String(b)) => a == b,
        (JsonValue::Array(a), Serde::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (JsonValue::Object(a), Serde::Object(b)) => {
            let mut pairs = a.members.iter().zip(b);
            let is_same =
                |((ka, va), (kb, vb)): (&(String, _), (&String, _))| ka == kb && same(va, vb);
            a.members.len() == b.len() && pairs.all(is_same)
        }
        _ => false,
    }
}

/// Valid and invalid JSON texts.
const TEXTS: &[&str] = &[
    "null",
    " true ",
    "false",
    "0",
    "-0",
    "12.5e-3",
    "1E5",
    "[]",
    "{}",
    "[1,2 , [3]]",
    r#"{"a":{"b":[{"c":"d"}]},"e":null}"#,
    r#" { "a" : [ 1 , { } , [ ] ] } "#,
    r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é😀""#,
    r#""plain ä€🐟""#,
    r#""\u0000""#,
    "\"\u{7f}\u{2028}\"",
    r#""""#,
    "",
    " ",
    "nul",
    "tru",
    "TRUE",
    "nulll",
    "01",
    "-",
    "1.",
    ".5",
    "+1",
    "1.e5",
    "1e",
    "0x1",
    "infinity",
    "-Infinity",
    "NaN",
    "[",
    "[1",
    "[1,]",
    "[,]",
    "[1 2]",
    "[}",
    "{",
    "{\"a\"",
    "{]",
    "{\"a\":",
    "{\"a\":1",
    "{\"a\":1,}",
    "{,}",
    "{a:1}",
    "{1:1}",
    "{\"a\" 1}",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1 \"b\":2}",
    "\"",
    "\"a",
    "\"\\",
    "\"\\\"",
    "\"\\x\"",
    "\"\\u12\"",
    "\"\\u12g4\"",
    "\"\\u12é4\"",
    "\"\\u+123\"",
    "\"\\ud800\"",
    "\"\\ud83dx\"",
    "\"\\ud800\\u0041\"",
    "\"\\udc00\"",
    "\"\u{1}\"",
    "\"a\nb\"",
    "\"\0\"",
    "1 2",
    "{} x",
    "'a'",
    "// c",
    "[1]]",
    "\u{a0}1",
    "\u{feff}1",
    "é",
    "\"é",
    "-é",
];

#[test]
fn agrees_with_serde_json() {
    for &text in TEXTS {
        let expected: Result<Serde, _> = serde_json::from_str(text);
        match (JsonValue::parse(text), &expected) {
            (Ok(ours), Ok(theirs)) => {
                assert!(same(&ours, theirs), "{text}");
                assert_eq!(JsonValue::parse(&ours.to_string()), Ok(ours), "{text}");
            }
            (Err(_), Err(_)) => {}
            (ours, theirs) => panic!("{text}: {ours:?} {theirs:?}"),
        }
    }
}

fn tree() -> impl Strategy<Value = Serde> {
    let leaf = prop_oneof![
        Just(Serde::Null),
        any::<bool>().prop_map(Serde::from),
        any::<i64>().prop_map(Serde::from),
        any::<u64>().prop_map(Serde::from),
        "[ -~\\n\\u{0}é🐟\"\\\\]{0,12}".prop_map(Serde::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Serde::from),
            prop::collection::vec(("[a-z\"\\n]{0,3}", inner), 0..6)
                .prop_map(|members| Serde::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn reads_what_serde_json_writes(value in tree(), pretty in any::<bool>()) {
        let text = match pretty {
            true => serde_json::to_string_pretty(&value).unwrap(),
            false => value.to_string(),
        };
        let ours = JsonValue::parse(&text).unwrap();
        prop_assert!(same(&ours, &value));
        prop_assert_eq!(ours.to_string(), value.to_string());
        let mut reader = JsonReader::new(&text);
        prop_assert_eq!(reader.skip(), Ok(text.as_str()));
        prop_assert_eq!(reader.end(), Ok(()));
    }

    #[test]
    fn any_text_is_read_as_serde_json_reads_it(text in r#"[\[\]{}:,"\\ua0-9eE.+\- ntrlfse]{0,16}"#) {
        // We only compare validity, because serde_json accepts duplicate keys and rejects numbers outside the range of
        // 64-bit floats.
        let ours = JsonReader::new(&text).skip().is_ok_and(|value| value.len() == text.trim().len());
        let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&text);
        prop_assert_eq!(ours, theirs.is_ok(), "{:?}", theirs);
    }
}

#[test]
fn numbers_keep_their_digits() {
    let text = "[1.50,18446744073709551617,-0,1e400,0.10]";
    assert_eq!(JsonValue::parse(text).unwrap().to_string(), text);
}

#[test]
fn keys_are_there_once() {
    let error = JsonValue::parse("{\"a\":1,\n\"\\u0061\":2}").unwrap_err();
    assert_eq!(error.problem, JsonProblem::DuplicateKey);
    assert_eq!(error.line_in("{\"a\":1,\n\"\\u0061\":2}"), 2);
}

#[test]
fn depth_has_a_limit() {
    let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
    assert!(JsonValue::parse(&nested(64)).is_ok());
    let error = JsonValue::parse(&nested(65)).unwrap_err();
    assert_eq!(error.problem, JsonProblem::TooDeep { limit: 64 });
    assert_eq!(error.position, 64);
    // Skipping a value must not use the thread's stack.
    let deep = nested(1 << 20);
    let mut reader = JsonReader::new(&deep).with_max_depth(1 << 20);
    assert_eq!(reader.skip().map(str::len), Ok(deep.len()));
}

#[test]
fn strings_take_no_more_bytes_than_their_text() {
    let mut reader = JsonReader::new(r#""a\u00e9\ud83d\ude00\n\"z""#);
    let JsonToken::Text(text) = reader.value().unwrap() else {
        panic!("a string");
    };
    assert_eq!(text.plain(), None);
    assert_eq!(text.to_cow(), "aé😀\n\"z");
    assert!(text.to_cow().len() <= text.raw().len());
}

#[test]
fn numbers_that_are_not_finite_are_read_if_they_are_allowed() {
    let read = |text| JsonReader::new(text).allow_non_finite(true).value();
    assert_eq!(read("Infinity"), Ok(JsonToken::NonFinite(f64::INFINITY)));
    assert_eq!(
        read("-Infinity"),
        Ok(JsonToken::NonFinite(f64::NEG_INFINITY))
    );
    assert!(matches!(read("NaN"), Ok(JsonToken::NonFinite(it)) if it.is_nan()));
    assert!(read("-NaN").is_err());
    assert!(JsonReader::new("NaN").value().is_err());
}

#[test]
fn messages_can_leave_out_the_content() {
    let error = JsonValue::parse("[1,\nsecret]").unwrap_err();
    assert_eq!(error.to_string(), "expected a value, found 's'");
    assert_eq!(error.message_without_content(), "expected a value");
    assert_eq!(error.line_in("[1,\nsecret]"), 2);
    let error = JsonValue::parse("[1").unwrap_err();
    assert_eq!(
        error.message_without_content(),
        "expected `,` or `]`, but the JSON ends"
    );
}
