use serde_json::json;

use super::*;

/// What `serde_json` makes of it.
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
    let texts = [
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
        r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é😀""#,
        "",
        " ",
        "nul",
        "tru",
        "TRUE",
        "01",
        "-",
        "1.",
        ".5",
        "+1",
        "1.e5",
        "1e",
        "0x1",
        "infinity",
        "-infinity",
        "nan",
        "[",
        "[1",
        "[1,]",
        "[,]",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "\"",
        "\"a",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\ud800\\u0041\"",
        "\"\\udc00\"",
        "\"\u{1}\"",
        "\"a\nb\"",
        "1 2",
        "{} x",
        "'a'",
        "// c",
        "[1]]",
        "\u{a0}1",
        "\"\\u+123\"",
        "é",
        "\"é",
        "-é",
    ];
    for text in texts {
        let expected: Result<serde_json::Value, _> = serde_json::from_str(text);
        match (parse(text), &expected) {
            (Ok(json), Ok(expected)) => assert!(same(&json, expected), "{text}"),
            (Err(_), Err(_)) => {}
            (ours, _) => panic!("{text}: {} {expected:?}", ours.is_ok()),
        }
    }
}

#[test]
fn members_are_there_once_and_depth_has_a_limit() {
    let error = parse("{\"a\":1,\n\"\\u0061\":2}").err().unwrap();
    assert_eq!(error.line, 2);
    assert!(parse(&("[".repeat(16) + &"]".repeat(16))).is_ok());
    assert!(parse(&("[".repeat(17) + &"]".repeat(17))).is_err());
    assert!(parse(&"[".repeat(1 << 20)).is_err());
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
