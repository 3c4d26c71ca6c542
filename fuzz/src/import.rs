//! Turns text into record batches, and back.

use std::collections::HashSet;

use herringbone_interchange::in_memory::{Format, read, write};

/// Imports text, writes it, and imports it again. If we pass the schema, the rows must be equal,
/// and if we do not, they must be written as the same text again.
///
/// The first byte chooses how many rows the schema is inferred from.
///
/// # Panics
/// Panics if the round trip is not exact.
pub fn import(format: Format, data: &[u8]) {
    let Some((choice, text)) = data.split_first() else {
        return;
    };
    let infer_rows = match choice % 4 {
        0 => 1,
        1 => 2,
        2 => 10,
        _ => usize::MAX,
    };
    let Ok((schema, batches)) = read(format, text.to_vec(), None, infer_rows) else {
        return;
    };
    let first = write(format, &schema, &batches).expect("what was read can be written");
    let names: HashSet<&String> = schema.fields().iter().map(|field| field.name()).collect();
    // We only compare with the schema if names are unique, because CSV columns are found by name.
    if names.len() == schema.fields().len() {
        let (_, same) = read(format, first.clone(), Some(&schema), 0).expect("with the schema");
        assert_eq!(same, batches);
    }
    if format == Format::JsonLines && batches.is_empty() {
        return;
    }
    let (schema, again) = read(format, first.clone(), None, usize::MAX).expect("without");
    let second = write(format, &schema, &again).expect("and written again");
    assert_eq!(String::from_utf8(second), String::from_utf8(first));
}

/// The texts that a fuzzer may start from.
pub const SEEDS: [(&str, &str); 12] = [
    ("import_csv", "a,b\n1,x\n-2,\"y\"\"z\"\n,\n"),
    ("import_csv", "a\r\n1.5\r\nNaN\r\n-Infinity\r\n1e300\r\n"),
    (
        "import_csv",
        "d,t,z\n2024-02-29,2024-01-02T03:04:05.250,1969-12-31T23:59:59Z\n,,\n",
    ),
    (
        "import_csv",
        "a,b\n007,18446744073709551615\n+1,18446744073709551616\n",
    ),
    ("import_csv", "\"a\",\"b\"\n\"1\",\"\"\n\"true\",\n"),
    ("import_csv", "a\n\n\"\"\ntrue\n2024-01-02T03:04:05+05:30\n"),
    (
        "import_json_lines",
        "{\"a\":1,\"b\":\"x\"}\n{\"b\":null,\"c\":[1,2.5,\"NaN\"]}\n",
    ),
    (
        "import_json_lines",
        "{\"m\":[[\"k\",1],[\"l\",null]]}\n{\"m\":[]}\n",
    ),
    (
        "import_json_lines",
        "{\"a\":18446744073709551615}{\"a\":18446744073709551616}\n{\"a\":-1}",
    ),
    (
        "import_json_lines",
        "{\"a\":{}}\n{\"a\":{\"b\":[[],[{}]]}}\n",
    ),
    (
        "import_json_lines",
        "{\"\":\"\\u00e9\\ud83d\\udc1f\\\\\",\"x\":true}\n{\"x\":1e500}\n",
    ),
    (
        "import_json_lines",
        "{\"a\":0.1234567890123456789}\n{\"a\":-0.0}\n{\"a\":1e-7}\n",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The seeds must survive the round trip, and so must variants of them with a few changes.
    #[test]
    fn texts_come_back() {
        let mut random = Random::new(&[7]);
        let characters = br#"019-+.eE"",,::[]{}TZ ntf\u"#;
        for (target, text) in SEEDS {
            for round in 0..400_u16 {
                let mut bytes = [&round.to_le_bytes()[..1], text.as_bytes()].concat();
                for _ in 0..random.below(4) {
                    let at = random.below(bytes.len());
                    match random.below(3) {
                        0 => bytes[at] = random.pick(characters),
                        1 => bytes.insert(at, random.pick(characters)),
                        _ => _ = bytes.remove(at),
                    }
                }
                crate::run(target, &bytes);
            }
        }
    }
}
