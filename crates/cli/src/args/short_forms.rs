//! Short forms of command lines that clap does not know: `head -5 FILE`.

use std::ffi::OsString;

/// The commands that take a number of rows after a hyphen, as `head` of Unix does.
const NUMBERED: [&str; 4] = ["head", "tail", "cat", "sample"];

/// Returns the arguments with their short forms written out.
pub(crate) fn written_out(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.get(1).is_some_and(is_file) {
        arguments.insert(1, "show".into());
        return arguments;
    }
    let command = arguments
        .iter()
        .position(|it| NUMBERED.iter().any(|name| it == name));
    // Only options may be before the command.
    let Some(at) = command.filter(|at| (1..=2).contains(at)) else {
        return arguments;
    };
    let number = arguments.get(at + 1).and_then(|it| it.to_str());
    let number = number.and_then(|text| text.strip_prefix('-'));
    let number = number
        .filter(|text| text.parse::<u64>().is_ok())
        .map(OsString::from);
    if let Some(number) = number {
        arguments.splice(at + 1..at + 2, ["-n".into(), number]);
    }
    arguments
}

/// Returns true if an argument in place of a command is a file. No command has one of these characters.
fn is_file(argument: &OsString) -> bool {
    let text = argument.to_string_lossy();
    let is_option = text.starts_with('-') && text != "-";
    text == "-" || (!is_option && text.contains(['.', '/', '\\', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_rows() {
        let written = |line: &str| {
            let words = written_out(line.split(' ').map(OsString::from)).into_iter();
            let words: Vec<String> = words.map(|it| it.into_string().unwrap()).collect();
            words.join(" ")
        };
        assert_eq!(written("h head -5 f"), "h head -n 5 f");
        assert_eq!(written("h -q tail -12 f"), "h -q tail -n 12 f");
        for line in [
            "h head f -5",
            "h head -x f",
            "h head -",
            "h rewrite -5 f",
            "h",
        ] {
            assert_eq!(written(line), line);
        }
    }
}
