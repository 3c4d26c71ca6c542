//! Detects the delimiter of a file that does not use commas.

use super::records::Records;
use crate::read::TextOptions;
use crate::read::sample::Sample;

/// The delimiters other than the comma, most common first.
const OTHERS: [u8; 3] = *b";\t|";

/// The prefix of a `sep=;` line, a hint for Excel written by some programs.
const DIRECTIVE: &[u8] = b"sep=";

/// Removes a first line such as `sep=;` from a sample, returning its delimiter.
pub(super) fn take_directive(sample: &mut Sample) -> Option<u8> {
    let rest = sample.text.strip_prefix(DIRECTIVE)?;
    let (&delimiter, rest) = rest.split_first()?;
    let is_delimiter = delimiter.is_ascii() && !matches!(delimiter, b'"' | b'\r' | b'\n');
    let end = match rest {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => return None,
    };
    is_delimiter.then(|| {
        sample.text.drain(..DIRECTIVE.len() + 1 + end);
        delimiter
    })
}

/// Returns a sample's delimiter. This is the comma, unless the first line has no comma and another
/// delimiter splits all lines into the same number of fields.
pub(super) fn found(sample: &Sample, options: &TextOptions<'_>) -> u8 {
    if width(sample, options, b',', 1) != Some(1) {
        return b',';
    }
    let widths = OTHERS.map(|delimiter| (width(sample, options, delimiter, usize::MAX), delimiter));
    let several = widths
        .into_iter()
        .filter(|(width, _)| *width > Some(1))
        // `max_by_key` returns the last maximum, so we go backwards to let the more common
        // delimiter win a tie.
        .rev()
        .max_by_key(|(width, _)| *width);
    several.map_or(b',', |(_, delimiter)| delimiter)
}

/// Returns advice if the first line doesn't contain the delimiter but another common delimiter.
pub(super) fn advice(sample: &Sample, delimiter: u8, comment: Option<u8>) -> String {
    let mut lines = sample.text.split(|byte| matches!(byte, b'\r' | b'\n'));
    let is_comment = |line: &[u8]| comment.is_some() && line.first().copied() == comment;
    let first = lines.find(|line| !is_comment(line)).unwrap_or_default();
    let other = OTHERS.into_iter().find(|other| first.contains(other));
    match other.filter(|_| !first.contains(&delimiter)) {
        Some(b'\t') => "; if tabs separate the fields, use --delimiter tab".to_owned(),
        Some(other) => {
            let other = char::from(other);
            format!("; if `{other}` separates the fields, use --delimiter '{other}'")
        }
        None => String::new(),
    }
}

/// Returns the field count of the first `most` records, if it's the same for all of them.
fn width(sample: &Sample, options: &TextOptions<'_>, delimiter: u8, most: usize) -> Option<usize> {
    let mut records = Records::new(delimiter, None, options.limits.schema_nodes);
    records.comment = options.comment;
    let mut text = sample.text.as_slice();
    loop {
        let taken = records.read(text, most, usize::MAX).ok()?;
        text = text.get(taken..)?;
        if text.is_empty() || records.len() >= most {
            break;
        }
        records.clear();
    }
    match sample.is_whole {
        true => records.read(b"", 1, usize::MAX).map(|_| ()).ok()?,
        false => records.end_truncated(records.width.is_none()).ok()?,
    }
    records.width
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Stream;
    use crate::read::tests::text_options;

    fn sample(text: &str) -> Sample {
        let mut sample = Sample::start(Stream::of_bytes("x", text.into())).unwrap();
        sample.read(|_| Ok(false)).unwrap();
        sample
    }

    #[test]
    fn lines_show_the_delimiter() {
        for (text, expected) in [
            // A comma in the first line decides.
            ("a,b;c\n1,2;3\n", ','),
            ("a,b\n", ','),
            ("a\n1\n", ','),
            ("", ','),
            // German Excel writes files like this, with decimal commas.
            ("id;name;price\r\n1;a;1,5\r\n2;b;2,25", ';'),
            ("a\tb\n1\t2\n", '\t'),
            ("a|b|c\n1|2|3", '|'),
            // Another delimiter is on all lines too, but gives fewer fields.
            ("a;b|c;d\n1;2|3;4\n", ';'),
            ("a|b;c|d\n1|2;3|4\n", '|'),
            ("a;b|c\n1;2|3\n", ';'),
            // This is text in one column.
            ("text\na;b\nc;d\n", ','),
            ("title; subtitle\nx\n", ','),
            ("\"a;b\"\n\"c;d\"\n", ','),
            // Here, line ends and delimiters are in quotes.
            ("a;b\n\"x;\ny\";2\n\n", ';'),
        ] {
            let options = text_options();
            assert_eq!(
                char::from(found(&sample(text), &options)),
                expected,
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_sample_may_end_within_a_line() {
        let mut cut = sample("a;b;c\n1;2;3\n4;5");
        assert_eq!(found(&cut, &text_options()), b',');
        cut.is_whole = false;
        assert_eq!(found(&cut, &text_options()), b';');
    }

    #[test]
    fn a_directive_is_a_whole_line() {
        for (text, delimiter, rest) in [
            ("sep=;\r\na;b", Some(b';'), "a;b"),
            ("sep=\t\na", Some(b'\t'), "a"),
            ("sep=,\ra", Some(b','), "a"),
            ("sep=;;\na", None, "sep=;;\na"),
            ("sep=\na", None, "sep=\na"),
            ("sep=;", None, "sep=;"),
            ("SEP=;\n", None, "SEP=;\n"),
        ] {
            let mut sample = sample(text);
            assert_eq!(take_directive(&mut sample), delimiter, "{text:?}");
            assert_eq!(sample.text, rest.as_bytes(), "{text:?}");
        }
    }
}
