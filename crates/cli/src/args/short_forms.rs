//! Short forms of command lines that clap does not know: `FILE`, `--json FILE` and `head -5 FILE`.

use std::ffi::OsString;

/// The commands that take a number of rows after a hyphen, as `head` of Unix does.
const NUMBERED: [&str; 4] = ["head", "tail", "cat", "sample"];

/// Returns the arguments with their short forms written out.
pub(crate) fn written_out(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let is_word = |it: &&OsString| !is_option(&it.to_string_lossy());
    if arguments.iter().skip(1).find(is_word).is_some_and(is_file) && !names_command(&arguments) {
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
    text == "-" || (!is_option(&text) && text.contains(['.', '/', '\\', ':']))
}

/// Returns true if a command follows options. The value of an option may be a file.
fn names_command(arguments: &[OsString]) -> bool {
    let has_options = arguments.get(1).is_some_and(|it| !is_file(it));
    has_options && {
        let program = super::command();
        let mut words = arguments.iter().skip(2);
        words.any(|word| program.find_subcommand(word).is_some())
    }
}

fn is_option(text: &str) -> bool {
    text.starts_with('-') && text != "-"
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
        assert_eq!(written("h f.p -n 3"), "h show f.p -n 3");
        assert_eq!(written("h --json f.p"), "h show --json f.p");
        for line in [
            "h --keys k.json head f.p",
            "h --keys k.json inspect f.p",
            "h --version",
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
