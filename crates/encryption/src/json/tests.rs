use serde_json::json;

use super::*;

/// Compares a value with the one that `serde_json` parses.
fn same(json: &Json, expected: &serde_json::Value) -> bool {
    use serde_json::Value as Expected;
    match (&json.value, expected) {
        (Value::Null, Expected::Null) | (Value::Number, Expected::Number(_)) => true,
        (Value::Boolean(a), Expected::Bool(b)) => a == b,
        (Value::Text(a), Expected::String(b)) => a.as_str() == b,
        (Value::Array(a), Expected::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Expected::Object(b)) => {
            let matches = |member: &Member| {
                b.get(member.name.as_str())
                    .is_some_and(|value| same(&member.value, value))
            };
            a.len() == b.len() && a.iter().all(matches)
        }
        _ => false,
    }
}

#[test]
fn agrees_with_serde_json() {
    for text in [
        "null",
        " true ",
        "12.5e-3",
        "[1,2 , [3]]",
        r#"{"a":{"b":[{"c":"d"}]},"e":null}"#,
        r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é😀""#,
    ] {
        let expected: serde_json::Value = serde_json::from_str(text).unwrap();
        assert!(
            parse(text).is_ok_and(|json| same(&json, &expected)),
            "{text}"
        );
    }
    for text in ["", "{\"a\":1,}", "1 2", "NaN", "\"\\ud800\""] {
        assert!(serde_json::from_str::<serde_json::Value>(text).is_err());
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn keys_are_there_once_and_depth_has_a_limit() {
    let error = parse("{\"a\":1,\n\"\\u0061\":2}").err().unwrap();
    assert_eq!(error.line, 2);
    assert_eq!(error.message, "an object contains a key twice");
    assert!(parse(&("[".repeat(16) + &"]".repeat(16))).is_ok());
    assert!(parse(&("[".repeat(17) + &"]".repeat(17))).is_err());
    assert!(parse(&"[".repeat(1 << 20)).is_err());
}

/// If each key were compared with all others, this would take 10¹⁰ steps, and so minutes.
#[test]
fn many_keys_are_linear_work() {
    let members: Vec<String> = (0..100_000).map(|i| format!("\"{i}\":[]")).collect();
    let text = format!("{{{}}}", members.join(",\n"));
    let json = parse(&text).ok().unwrap();
    let Value::Object(members) = json.value else {
        panic!("an object");
    };
    assert_eq!(members.len(), 100_000);
    assert_eq!(members[99_999].value.line, 100_000);
}

#[test]
fn lines_are_those_of_values() {
    let json = parse("{\n\"a\": 1,\r\n\"b\"\n:\n[true,\nfalse]}")
        .ok()
        .unwrap();
    let Value::Object(members) = json.value else {
        panic!("an object");
    };
    assert_eq!(json.line, 1);
    assert_eq!(members[0].value.line, 2);
    assert_eq!(members[1].value.line, 5);
    assert_eq!(parse("[\n\n  x]").err().unwrap().line, 3);
}

#[test]
fn what_is_written_is_read() {
    let text = "quote \" backslash \\ line\n tab\t nul\0 é 😀";
    let written = ObjectWriter::new()
        .text("a", text)
        .boolean("b", true)
        .optional_text("c", None)
        .optional_text(text, Some(""))
        .finish();
    let read: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(read, json!({"a": text, "b": true, text: ""}));
    assert_eq!(ObjectWriter::new().finish(), "{}");
}
