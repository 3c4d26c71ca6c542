//! Expands short forms unknown to clap: `FILE`, `--json FILE`, `head -5 FILE` and `head FILE -5`.

use std::ffi::OsString;
use std::path::Path;

/// The commands that accept a row count after a hyphen, like Unix `head`.
const NUMBERED: [&str; 5] = ["show", "head", "tail", "cat", "sample"];

/// Returns the arguments with short forms expanded.
pub(crate) fn written_out(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if names_file(&arguments) {
        arguments.insert(1, "show".into());
    }
    let command = arguments
        .iter()
        .position(|argument| NUMBERED.iter().any(|name| argument == name));
    // Only options are allowed before the command, so any later word that looks like a command is
    // an argument.
    let Some(at) = command.filter(|at| (1..=2).contains(at)) else {
        return arguments;
    };
    let program = super::command();
    let after = arguments.split_off(at + 1);
    let mut words = after.into_iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if text == "--" {
            arguments.push(word);
            break;
        }
        let number = text
            .strip_prefix('-')
            .filter(|text| text.parse::<u64>().is_ok());
        if let Some(number) = number {
            arguments.extend(["-n".into(), number.into()]);
            continue;
        }
        let has_value = is_option(&text) && takes_value(&program, &text);
        arguments.push(word);
        if has_value {
            arguments.extend(words.next());
        }
    }
    arguments.extend(words);
    arguments
}

/// Returns true if the first word is a file or folder rather than a command. Options and their
/// values don't count as words here.
fn names_file(arguments: &[OsString]) -> bool {
    let starts_so = |word: &OsString| is_option(&word.to_string_lossy()) || is_file(word);
    if !arguments.get(1).is_some_and(starts_so) {
        return false;
    }
    let program = super::command();
    let mut words = arguments.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if !is_option(&text) {
            return program.find_subcommand(word).is_none() && is_file(word);
        }
        if takes_value(&program, &text) {
            words.next();
        }
    }
    false
}

/// Returns true if the word after `option` is its value. `option` belongs to the program or to
/// `show`, because `show` is the command if none is named.
fn takes_value(program: &clap::Command, option: &str) -> bool {
    let show = program.find_subcommand("show");
    let all = program.get_arguments();
    let mut all = all.chain(show.into_iter().flat_map(clap::Command::get_arguments));
    match option.strip_prefix("--") {
        Some(name) => all.any(|argument| {
            let names = argument.get_long_and_visible_aliases().unwrap_or_default();
            let hidden = argument.get_all_aliases().unwrap_or_default();
            let is_named = names.contains(&name) || hidden.contains(&name);
            is_named && argument.get_action().takes_values()
        }),
        // A hyphen can be followed by several letters, and the last one can take a value.
        None => all.any(|argument| {
            let is_named = argument
                .get_short()
                .is_some_and(|short| option.ends_with(short));
            is_named && argument.get_action().takes_values()
        }),
    }
}

/// Returns true if an argument in place of a command looks like a file. No command name contains
/// these characters.
fn is_file(argument: &OsString) -> bool {
    let text = argument.to_string_lossy();
    let is_path = || text.contains(['.', '/', '\\', ':']) || Path::new(argument).exists();
    text == "-" || (!is_option(&text) && is_path())
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
            let words: Vec<String> = words.map(|word| word.into_string().unwrap()).collect();
            words.join(" ")
        };
        assert_eq!(written("h head -5 f"), "h head -n 5 f");
        assert_eq!(written("h -q tail -12 f"), "h -q tail -n 12 f");
        assert_eq!(written("h head f -5"), "h head f -n 5");
        assert_eq!(written("h tail -c id -5 f"), "h tail -c id -n 5 f");
        assert_eq!(written("h f.p -3"), "h show f.p -n 3");
        // An option's value can look like a row count, and all words after `--` are files.
        assert_eq!(written("h head -w -5 f"), "h head -w -5 f");
        assert_eq!(written("h head f -- -5"), "h head f -- -5");
        assert_eq!(written("h f.p -n 3"), "h show f.p -n 3");
        assert_eq!(written("h --json f.p"), "h show --json f.p");
        assert_eq!(written("h -c id f.p"), "h show -c id f.p");
        assert_eq!(
            written("h --columns id -n 3 f.p"),
            "h show --columns id -n 3 f.p"
        );
        assert_eq!(written("h --columns=id f.p"), "h show --columns=id f.p");
        // Tests run in this crate's folder, so these files exist.
        assert_eq!(written("h src"), "h show src");
        assert_eq!(written("h -q src"), "h show -q src");
        for line in [
            "h --keys k.json head f.p",
            "h --keys k.json inspect f.p",
            "h --version",
            "h srcs",
            "h -q frobnicate f.p",
            "h frobnicate f.p",
            "h -c id",
            "h head -x f",
            "h head -",
            "h rewrite -5 f",
            "h",
        ] {
            assert_eq!(written(line), line);
        }
    }
}
