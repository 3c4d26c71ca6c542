//! Quotes words for command lines in messages and reports.

/// Returns text as a shell word. Text with single quotes, such as a query, goes in double quotes,
/// unless the shell would change it there.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "._-/=,:".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    match text.contains('\'') && !text.contains(['"', '$', '`', '\\', '!']) {
        true => format!("\"{text}\""),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_one_argument() {
        for (text, expected) in [
            ("a.parquet", "a.parquet"),
            ("a b", "'a b'"),
            ("", "''"),
            ("select a from 'b'", "\"select a from 'b'\""),
            ("say \"it's\"", r#"'say "it'\''s"'"#),
            ("it's $HOME", r"'it'\''s $HOME'"),
        ] {
            assert_eq!(word(text), expected);
        }
    }
}
