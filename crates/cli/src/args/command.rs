//! Defines the command line, with its options in groups, and with a short and a long help page for
//! each command.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _};

use super::Arguments;
use super::synonyms::advised;

/// The commands by purpose. Commands that are not in this list follow under the last heading.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Look",
        &[
            "show", "info", "schema", "head", "tail", "sample", "cat", "browse", "count", "stats",
            "freq",
        ],
    ),
    (
        "Look inside",
        &["meta", "pages", "bloom", "verify", "report", "diff"],
    ),
    (
        "Write",
        &[
            "convert", "rewrite", "concat", "split", "repair", "encrypt", "decrypt",
        ],
    ),
    ("Other", &["sql", "help", "completions", "man"]),
];

/// Options only shown by `--help`, so that the `-h` page fits on a screen. Rare options in the
/// writer's table are left out as well.
const RARE: &[&str] = &[
    "max",
    "seed",
    "threads",
    "ignore_crc",
    "sort_memory",
    "sort_folder",
    "infer_rows",
    "schema",
    "json_path",
    "variants",
    "crlf",
    "comment",
    "skip_lines",
    "decimal_comma",
    "thousands",
    "date_formats",
    "no_bloom_filter",
    "bloom_filter_fpp",
    "geoparquet",
    "covering",
    "fill_empty_structs",
    "copy",
    "input_row_group_rows",
    "bbox",
    "offset",
    "row_groups",
    "on_error",
    "by_name",
    "cast",
    "explain",
    "sample",
    "keys",
];

/// Options for files other than Parquet. Only the short help of `convert` shows them.
const OTHER_FILES: &[&str] = &["from", "types", "csv_encoding"];

/// Options for CSV. The short help shows them if the command writes CSV.
const CSV: &[&str] = &["null", "delimiter", "no_header"];

/// Options about damaged files, which have a heading of their own.
const DAMAGE: &[&str] = &[
    "on_error",
    "ignore_crc",
    "ignore_footer",
    "input_row_group_rows",
];

/// Options about the program rather than about files, which stand under the heading "Other".
const OTHER: &[&str] = &["threads", "quiet", "max", "keys"];

/// Options for odd files, which only the topic `odd-files` shows.
const ODD: &[&str] = &[
    "batch_size",
    "strings",
    "no_arrow_schema",
    "int96_unit",
    "int96_overflow",
    "ignore_annotations",
    "lenient_variants",
];

/// The options that the help of `encrypt` and `decrypt` shows. These commands also take all options
/// of `rewrite`, which has a page of its own.
const ENCRYPTION: &[&str] = &["input", "out", "output", "force", "keys", "quiet", "max"];

/// The maximum number of examples in a short help page.
const EXAMPLES: usize = 3;

/// Builds the command line's definition. We arrange the options here rather than in their
/// attributes, because many commands share an option but each shows it differently.
pub(crate) fn command() -> clap::Command {
    let command = Arguments::command().mut_args(|argument| arranged(argument, RARE));
    let help = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let command = command
        .after_help(topics(&help))
        .after_long_help(help.clone());
    let command = command.mut_subcommands(|command| {
        let writes_csv = command
            .get_arguments()
            .any(|argument| argument.get_id() == "crlf");
        let other_files = match command.get_name() {
            "convert" => &[][..],
            _ => OTHER_FILES,
        };
        let csv = if writes_csv { &[][..] } else { CSV };
        let rare = [RARE, other_files, csv].concat();
        let is_short = ["encrypt", "decrypt"].contains(&command.get_name());
        let is_hidden = |name: &str| {
            ODD.contains(&name) || is_short && !ENCRYPTION.contains(&name) && name != "help"
        };
        with_short_help(command.mut_args(|argument| {
            let is_hidden = argument.is_hide_set() || is_hidden(argument.get_id().as_str());
            arranged(argument, &rare).hide(is_hidden)
        }))
    });
    let template = template(&command);
    command.help_template(template)
}

/// Trims the text after the short help page's options to examples and topics. The long page keeps
/// all of it.
fn with_short_help(command: clap::Command) -> clap::Command {
    let Some(help) = command.get_after_help().map(ToString::to_string) else {
        return command;
    };
    let short = shortened(&help);
    command.after_help(short).after_long_help(help)
}

/// Parses a command line. A command that is given no file reads standard input if that `is_piped`.
///
/// # Errors
/// Fails if the command line is wrong. A request for help is an error too, because clap returns the
/// page as one.
pub(crate) fn parse(arguments: Vec<OsString>, is_piped: bool) -> Result<Arguments, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(arguments.iter().cloned());
    let mut matches = matches.map_err(|error| advised(error, &command, &arguments))?;
    let name = matches.subcommand_name().unwrap_or_default().to_owned();
    let parsed = Arguments::from_arg_matches_mut(&mut matches);
    let mut parsed = parsed.map_err(|error| error.format(&mut command))?;
    match parsed.files() {
        Some((words, others)) if is_piped && words.len() == others => words.push("-".into()),
        Some((words, 0)) if words.is_empty() => {
            let command = command.find_subcommand_mut(&name);
            let message = "no file is named, and standard input is not a pipe";
            return Err(command.map_or_else(
                || clap::Error::new(ErrorKind::MissingRequiredArgument),
                |command| command.error(ErrorKind::MissingRequiredArgument, message),
            ));
        }
        _ => {}
    }
    Ok(parsed)
}

/// Puts an option under its heading, hiding it from the short help page if it is rare.
fn arranged(argument: clap::Arg, rare: &[&str]) -> clap::Arg {
    let is_in = |list: &[&str]| list.contains(&argument.get_id().as_str());
    let heading = match (is_in(DAMAGE), is_in(OTHER)) {
        (true, _) => Some("Damaged files"),
        (_, true) => Some("Other"),
        _ => None,
    };
    let is_rare = is_in(rare);
    let argument = match is_rare {
        true => argument.hide_short_help(true),
        false => argument,
    };
    match heading {
        Some(heading) => argument.help_heading(heading),
        None => argument,
    }
}

/// Returns the line that lists the topics in a help page.
fn topics(help: &str) -> String {
    let topics = help.lines().find(|line| line.starts_with("Topics:"));
    topics.unwrap_or_default().to_owned()
}

/// Returns a help page's first examples.
fn shortened(help: &str) -> String {
    let examples = help
        .split_once("Examples:\n")
        .map_or("", |(_, after)| after);
    let mut text = "Examples:\n".to_owned();
    for line in examples.lines().take(EXAMPLES) {
        text += line;
        text.push('\n');
    }
    text
}

/// Returns the template for the whole program's help page. We list the commands by purpose, since
/// clap can't do that.
fn template(command: &clap::Command) -> String {
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    let is_listed = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let all = || {
        command
            .get_subcommands()
            .filter(|subcommand| !subcommand.is_hide_set())
    };
    let unlisted = all()
        .map(|subcommand| subcommand.get_name())
        .filter(|name| !is_listed(name));
    let unlisted: Vec<&str> = unlisted.collect();
    for (at, (heading, names)) in GROUPS.iter().enumerate() {
        let more: &[&str] = if at + 1 == GROUPS.len() {
            &unlisted
        } else {
            &[]
        };
        _ = write!(text, "\n{heading}:\n");
        for name in names.iter().chain(more) {
            let Some(command) = all().find(|candidate| candidate.get_name() == *name) else {
                continue;
            };
            let about = command.get_about().map(ToString::to_string);
            _ = writeln!(text, "  {name:<12} {}", about.unwrap_or_default());
        }
    }
    text + "\nOptions:\n{options}{after-help}"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of lines on a typical screen.
    const SCREEN: usize = 50;

    #[test]
    fn short_help_fits_a_screen() {
        let mut command = command().term_width(100);
        command.build();
        let mut pages = vec![command.render_help().to_string()];
        for command in command.get_subcommands_mut() {
            pages.push(command.render_help().to_string());
        }
        for page in pages {
            let lines = page.lines().count();
            assert!(lines <= SCREEN, "{lines} lines:\n{page}");
        }
    }

    #[test]
    fn rare_options_exist() {
        let command = command();
        let all: Vec<&clap::Arg> = command
            .get_arguments()
            .chain(
                command
                    .get_subcommands()
                    .flat_map(clap::Command::get_arguments),
            )
            .collect();
        for name in [RARE, OTHER_FILES, CSV, DAMAGE, OTHER, ODD, ENCRYPTION].concat() {
            assert!(
                all.iter().any(|argument| argument.get_id() == name),
                "{name}"
            );
        }
    }

    /// The topic `odd-files` must have every option missing from all other pages, or users couldn't
    /// find it.
    #[test]
    fn hidden_options_are_in_a_topic() {
        let topics = super::super::topics::TOPICS.iter();
        let odd = topics.clone().find(|(name, _)| *name == "odd-files");
        let (_, text) = odd.unwrap();
        for name in ODD {
            let option = format!("--{}", name.replace('_', "-"));
            assert!(text.contains(&option), "{option}");
        }
        let mut command = command().term_width(100);
        command.build();
        for name in ["encrypt", "decrypt"] {
            let command = command.find_subcommand_mut(name).unwrap();
            let page = command.render_long_help().to_string();
            assert!(
                page.contains("--keys") && page.contains("--output"),
                "{page}"
            );
            assert!(page.contains("options of `rewrite`"), "{page}");
            assert!(!page.contains("--row-group-rows <"), "{page}");
        }
    }

    #[test]
    fn every_command_is_listed_once() {
        let command = command();
        let page = command.clone().render_help().to_string();
        for command in command.get_subcommands() {
            let start = format!("\n  {} ", command.get_name());
            assert_eq!(page.matches(&start).count(), 1, "{start}");
        }
    }
}
