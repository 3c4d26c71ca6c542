//! Writes text and numbers in the page's markup.

/// Escapes a text for the content of elements, and for attributes in double quotes.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// Returns a coordinate with at most two digits after the point.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_do_not_become_markup() {
        assert_eq!(
            escaped("<a b=\"c\">'&"),
            "&lt;a b=&quot;c&quot;&gt;&#39;&amp;"
        );
        assert_eq!((number(1.0), number(0.126)), ("1".into(), "0.13".into()));
    }
}
