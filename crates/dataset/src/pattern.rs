//! Patterns for names. The wildcards `*`, `?` and `[a-c]` match within a component, and `**`
//! matches any number of components.

/// Returns true if a path contains any wildcards.
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// Returns true if a name matches a single component's pattern.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut pattern, mut name) = (pattern.as_slice(), name.as_slice());
    // The state to backtrack to after a mismatch: the pattern after the last star, and the part of
    // the name it was last tried with.
    let mut retry: Option<(&[char], &[char])> = None;
    loop {
        let next = match (pattern.split_first(), name.split_first()) {
            (Some(('*', rest)), _) => {
                retry = Some((rest, name));
                pattern = rest;
                continue;
            }
            (None, None) => return true,
            (Some(_), Some((first, rest))) => one(pattern, *first).map(|one| (one, rest)),
            (None, Some(_)) | (Some(_), None) => None,
        };
        (pattern, name) = match (next, retry) {
            (Some(next), _) => next,
            (None, Some((after_star, tried))) => {
                let Some((_, tried)) = tried.split_first() else {
                    return false;
                };
                retry = Some((after_star, tried));
                (after_star, tried)
            }
            (None, None) => return false,
        };
    }
}

/// Matches one character against the start of a pattern, returning the rest of the pattern.
fn one(pattern: &[char], character: char) -> Option<&[char]> {
    let (first, rest) = pattern.split_first()?;
    // An unclosed bracket matches itself. A closing bracket right at the start belongs to the
    // class.
    let least = 1 + usize::from(matches!(rest.first(), Some('!' | '^')));
    let class = (*first == '[').then(|| rest.iter().skip(least).position(|rest| *rest == ']'));
    let (class, after) = match class.flatten() {
        Some(end) => (rest.get(..end + least)?, rest.get(end + least + 1..)?),
        None => return (*first == '?' || *first == character).then_some(rest),
    };
    let (is_negated, mut class) = match class.split_first() {
        Some(('!' | '^', class)) if !class.is_empty() => (true, class),
        _ => (false, class),
    };
    let mut is_found = false;
    loop {
        class = match class {
            [low, '-', high, rest @ ..] => {
                is_found |= (*low..=*high).contains(&character);
                rest
            }
            [single, rest @ ..] => {
                is_found |= *single == character;
                rest
            }
            [] => return (is_found != is_negated).then_some(after),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_marks_and_brackets() {
        for (pattern, name, expected) in [
            ("*.parquet", "a.parquet", true),
            ("*.parquet", ".parquet", true),
            ("*.parquet", "a.parquet.crc", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("?", "é", true),
            ("?", "", false),
            ("part-[0-3]?", "part-21", true),
            ("part-[0-3]?", "part-41", false),
            ("[!a-c]x", "dx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("[!]]", "a", true),
            ("[!]]", "]", false),
            ("[a", "[a", true),
            ("m=*", "m=", true),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
        // Backtracking takes time proportional to the product of both lengths, rather than to a
        // power of it.
        assert!(!matches(&"*a".repeat(500), &"a".repeat(499)));
    }
}
