//! Tests the grammar of conditions.

use super::*;

fn read(text: &str) -> Result<String, String> {
    let condition: Condition = text.parse()?;
    condition
        .predicate(false, None)
        .map(|predicate| predicate.to_string())
}

#[test]
fn conditions_of_sql() {
    for (text, expected) in [
        ("a > 5", "a > 5"),
        ("5 >= a", "a <= 5"),
        ("a <> -5", "not a = -5"),
        ("b.c in ('x', 'y''s')", "b.c in ('x', 'y''s')"),
        ("not d is null", "not d is null"),
        ("\"odd name\" = 1.50", "odd name = 150e-2"),
        (
            "e like 'ab%' or e not like '_'",
            "(e like 'ab%' or not e like '_')",
        ),
        (
            "a between 1 and 2 and b",
            "(a between 1 and 2 and b = true)",
        ),
        ("day = date '2024-01-02'", "day = '2024-01-02'"),
        (
            "t < timestamp '2024-01-02 03:04:05'",
            "t < '2024-01-02 03:04:05'",
        ),
        ("x = 1e3", "x = 1e3"),
        ("x = 1E400", "x = 1e400"),
        ("x = -2.50e-1", "x = -250e-3"),
        (
            "x = 1234567890123456789012345678901234567890123456789012345678901234567890123456",
            "x = 1234567890123456789012345678901234567890123456789012345678901234567890123456",
        ),
        (
            "-170141183460469231731687303715884105729 < x",
            "x > -170141183460469231731687303715884105729",
        ),
        ("(a) = (5)", "a = 5"),
        (
            "user = 'x' and current_date < '2024-01-01'",
            "(user = 'x' and current_date < '2024-01-01')",
        ),
        ("a is true", "(a = true and not a is null)"),
        (
            "x is not true or not (y is false)",
            "(not (x = true and not x is null) or not (y = false and not y is null))",
        ),
        ("b = x'00ff'", "b = x'00ff'"),
        ("n = null", "n = null"),
        ("5 < any(a.b)", "any(a.b) > 5"),
        ("'x' = all(tags)", "all(tags) = 'x'"),
        ("'x' <> any(tags)", "not all(tags) = 'x'"),
        ("any(tags) = 'x'", "any(tags) = 'x'"),
        ("all(a.b) between 1 and 2", "all(a.b) between 1 and 2"),
        ("any(tags) in ('x')", "any(tags) in ('x')"),
        (
            "a = 1 and any(t) = 'x' or not ALL (t) = 'y' and 5 < any(n)",
            "((a = 1 and any(t) = 'x') or (not all(t) = 'y' and any(n) > 5))",
        ),
        ("a like '5!%' escape '!'", "a like '5!%' escape '!'"),
        ("a not ilike 'X%'", "not a ilike 'X%'"),
        ("a is not distinct from 5", "(a = 5 and not a is null)"),
        ("a is distinct from null", "not a is null"),
        (
            "date = '2024-01-01' and \"interval\" = 1",
            "(date = '2024-01-01' and interval = 1)",
        ),
        (
            "variant_get(v, '$.a.b', 'int') > 5",
            "variant_get(v, '$.a.b', 'int') > 5",
        ),
        (
            "10.5 >= variant_get(s.v, 'a[0]', 'decimal(4, 2)')",
            "variant_get(s.v, '$.a[0]', 'decimal(4, 2)') <= 105e-1",
        ),
        (
            "variant_get(v, '$.a') is not null",
            "not variant_get(v, '$.a') is null",
        ),
    ] {
        assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_no_condition_is_refused() {
    for (text, message) in [
        ("", "the condition is empty"),
        ("a = \"b\"", "`\"b\"` in double quotes is a column"),
        ("a >", "the condition ends after `>`"),
        ("a > 5 b", "after the end of the condition"),
        ("a + 1 > 5", "expected a column, found `a + 1`"),
        ("a + 1 = 2", "expected a column, found `a + 1`"),
        ("2 = a + 1", "expected a column, found `a + 1`"),
        ("a > b", "`herringbone sql` compares two columns"),
        ("a = Rome", "as in 'Rome'"),
        ("a > 5 && b = 1", "; `and` combines conditions"),
        ("a > 5 || b = 1", "; `or` combines conditions"),
        ("f(a)", "type'), found `f(a)`"),
        ("interval = 1", "a word of SQL in \"quotes\""),
        ("variant_get(v) = 1", "a column, a path and a type"),
        (
            "variant_get(v, '$.a', 'int', 1) = 1",
            "a column, a path and a type",
        ),
        ("variant_get(v, '$.a') = 1", "needs a type"),
        (
            "variant_get(v, '$.a', 'uint64') = 1",
            "unknown type `uint64` of variants; use one of: boolean,",
        ),
        ("variant_get(v, '$a', 'int') = 1", "the variant path `$a`"),
        ("variant_get(v, a, 'int') = 1", "expected a literal"),
        (
            "a like 5",
            "`like` needs a pattern in quotes, such as 'ab%', but found `5`",
        ),
        ("a < any(b)", "expected a literal"),
        ("5 < any(1)", "expected a column"),
        ("1 = 1", "expected a column"),
        ("a = x'0'", "expected a literal"),
        (
            "a = 12345678901234567890123456789012345678901234567890123456789012345678901234567",
            "numbers of at most 76 digits",
        ),
        ("a = 1e9999999999", "expected a literal"),
        ("exists (select 1)", "is not understood"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(message), "{text}: {error}");
    }
    let longer = read(&" ".repeat(MAX_BYTES + 1)).unwrap_err();
    assert!(longer.contains("has 1048577 bytes, but at most 1048576 are allowed"));
}

/// Test threads have 2 MiB of stack, so this test would crash if we recursed too deeply.
#[test]
fn deep_conditions_do_not_overflow_a_small_stack() {
    for (open, close) in [
        ("(", ")"),
        ("not ", ""),
        ("not(", ")"),
        ("- ", ""),
        ("f(", ")"),
    ] {
        for levels in [10, 40, 45, 48, 49, 50, 60, 5000] {
            let text = format!("{}a{} = 1", open.repeat(levels), close.repeat(levels));
            let found = read(&text);
            match levels {
                10 => assert!(
                    !format!("{found:?}").contains("too deeply"),
                    "{open}: {found:?}"
                ),
                60.. => assert!(found.is_err(), "{open} {levels}: {found:?}"),
                _ => {}
            }
        }
    }
}

#[test]
fn chains_have_up_to_2000_operators() {
    // Each `= 1 or` has two operators.
    let chain = |operators: usize| format!("not {}a = 1", "a = 1 or ".repeat((operators - 2) / 2));
    assert_eq!(read(&chain(2000)).map(drop), Ok(()));
    let alternating = format!("a = 1{}", " or b = 1 and not c = 1".repeat(399));
    assert!(read(&alternating).is_ok());
    let more = format!("{} is null", chain(2000));
    let error = read(&more).unwrap_err();
    assert_eq!(
        error,
        "the condition has 2001 operators, but at most 2000 are allowed; write many values as a list, such as \
         `id in (1, 2, 3)`; --where @FILE reads a long one from a file"
    );
    // Neither the elements of a list nor their signs count as operators.
    let list = vec!["-1, 2, date '2024-01-01', null, 'x', x'00'"; 20_000].join(",");
    assert!(read(&format!("a in ({list})")).is_ok());
    // These chains have no meaning, but they are parsed into trees as deep as the chain is long.
    // Formatting such a tree would overflow the stack, so the error must not show it.
    for junk in [
        " + 1",
        "-a",
        " = 1",
        "||a",
        "::int",
        " is null",
        "[1]",
        " collate x",
        " in (1)",
    ] {
        for count in [1990, MAX_BYTES / junk.len() - 1] {
            for chain in [
                format!("a{}", junk.repeat(count)),
                format!("f(a{})", junk.repeat(count)),
            ] {
                assert!(read(&chain).is_err(), "{count} of {junk}");
            }
        }
    }
}

#[test]
fn special_numbers_have_names() {
    for (text, expected) in [
        ("f = nan or f < -Infinity", "(f = NaN or f < -inf)"),
        ("NaN > f or Infinity = f", "(f < NaN or f = inf)"),
        ("nan = 5", "nan = 5"),
        (
            "f = double 'NaN' or f = 'inf'::double",
            "(f = NaN or f = inf)",
        ),
    ] {
        assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn a_condition_may_be_in_a_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "a > 5\n  and b is null\n").unwrap();
    let at = format!("@{}", file.path().display());
    assert_eq!(read(&at).unwrap(), "(a > 5 and b is null)");
    assert!(
        read("@/no/such/file")
            .unwrap_err()
            .contains("/no/such/file")
    );
}
