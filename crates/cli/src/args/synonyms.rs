//! Gives advice about unknown words on the command line.
//!
//! We only suggest a similar word if the difference looks like a typo. Words from other programs
//! are in a table instead, because their closest match among our own words usually means something
//! else.

use std::error::Error as _;
use std::ffi::OsString;
use std::num::ParseIntError;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Commands of other programs, with advice.
const COMMANDS: &[(&[&str], &str)] = &[
    (
        &["profile", "summarise"],
        "`stats FILE` summarises the values of each column",
    ),
    (
        &[
            "export", "import", "to-csv", "tocsv", "from-csv", "csv", "json", "write",
        ],
        "`convert IN OUT` converts between formats",
    ),
    (
        &[
            "filter", "select", "grep", "query", "where", "search", "print", "dump", "project",
        ],
        "`cat -w CONDITION -c COLUMNS FILE` prints chosen rows and columns",
    ),
    (
        &["sort", "order"],
        "`rewrite --sort-by COLUMNS IN OUT` sorts rows",
    ),
    (
        &["drop", "rename", "cast"],
        "`rewrite -c LIST IN OUT` drops, renames and casts columns",
    ),
    (
        &[
            "uniq",
            "unique",
            "distinct",
            "duplicates",
            "value-counts",
            "top",
        ],
        "`freq -c COLUMNS FILE` counts the most frequent values, and --together their combinations",
    ),
    (
        &["groupby", "group-by", "group", "aggregate", "pivot", "sum"],
        "`sql \"select city, sum(fare) from 'FILE' group by city\"` sums by group, `freq -c COLUMNS FILE` counts",
    ),
    (
        &["dedup", "deduplicate", "latest", "newest"],
        "`sql \"select * from (select *, row_number() over (partition by id order by at desc) as place from \
         'FILE') where place = 1\"` keeps the newest row of each key",
    ),
    (&["join", "union"], "`sql QUERY` joins tables"),
    (
        &["partition"],
        "`split --by COLUMN FILE -o PATTERN` writes a file for each value",
    ),
    (
        &["compact", "append"],
        "`concat FILE... -o OUT` writes the rows of several files to one",
    ),
    (
        &["fix", "recover"],
        "`repair IN OUT` recovers damaged files",
    ),
    (&["metadata", "footer"], "`meta FILE` prints all metadata"),
    (
        &["index", "indexes"],
        "`pages --bounds -c COLUMNS FILE` lists page indexes",
    ),
    (
        &["columns", "types"],
        "`schema FILE` prints columns and types",
    ),
];

/// Option names of other programs and our equivalents. If there are several, we suggest every one
/// available in the command.
const OPTIONS: &[(&[&str], &[&str])] = &[
    (
        &["sep", "separator", "delim", "field-separator"],
        &["delimiter"],
    ),
    (
        &["skip", "skip-rows", "skiprows", "header-lines"],
        &["skip-lines", "offset"],
    ),
    (
        &[
            "row-group-size",
            "rows-per-group",
            "rows-per-row-group",
            "row-group-length",
            "chunk-size",
        ],
        &["row-group-rows"],
    ),
    (
        &[
            "partition-by",
            "partition-cols",
            "partition-columns",
            "partition",
        ],
        &["by"],
    ),
    (&["ignore-errors", "skip-errors", "errors"], &["on-error"]),
    (
        &["first", "max-rows", "num-rows", "nrows", "top", "count"],
        &["limit"],
    ),
    (&["fields", "cols", "usecols", "column"], &["columns"]),
    (
        &["codec", "compress", "level", "compression-level"],
        &["compression"],
    ),
    (
        &["out", "out-file", "outfile", "output-file", "dest"],
        &["output"],
    ),
    (&["overwrite", "replace", "yes", "clobber"], &["force"]),
    (&["charset", "csv-charset"], &["csv-encoding"]),
    (&["na", "nullstr", "null-value", "na-values"], &["null"]),
    (&["no-headers", "noheader"], &["no-header"]),
    (&["dtype", "dtypes", "types"], &["type"]),
    (&["infer-schema-length", "sample-size"], &["infer-rows"]),
    (&["union-by-name", "merge-schema"], &["by-name"]),
    (&["jobs", "parallel", "num-threads"], &["threads"]),
    (&["sort", "order-by", "orderby"], &["sort-by"]),
    (&["on", "keys-on", "primary-key"], &["key"]),
    (&["query", "condition"], &["where"]),
    (&["silent"], &["quiet"]),
    (&["random-seed", "random-state"], &["seed"]),
    (&["bloom", "bloom-filters"], &["bloom-filter"]),
    (
        &["skip-checksums", "no-checksum", "no-checksums", "no-crc"],
        &["ignore-crc"],
    ),
];

/// Replaces clap's advice in a command line error with our own.
pub(super) fn advised(
    error: clap::Error,
    program: &clap::Command,
    arguments: &[OsString],
) -> clap::Error {
    match error.kind() {
        ErrorKind::InvalidSubcommand => of_command(error),
        ErrorKind::UnknownArgument => of_option(error, program, arguments),
        ErrorKind::ValueValidation => of_number(error, program),
        _ => error,
    }
}

fn of_command(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let word = word.to_lowercase();
    let found = COMMANDS.iter().find(|(words, _)| words.contains(&&*word));
    let tip = found.map(|(_, tip)| StyledStr::from(*tip));
    let similar = match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(all)) => all.clone(),
        _ => Vec::new(),
    };
    let similar: Vec<String> = similar
        .into_iter()
        .filter(|similar| tip.is_none() && is_slip(&word, similar))
        .collect();
    error.remove(ContextKind::SuggestedSubcommand);
    // Clap suggests passing the word as a file after `--`, which is wrong here too.
    error.remove(ContextKind::Suggested);
    if !similar.is_empty() {
        error.insert(
            ContextKind::SuggestedSubcommand,
            ContextValue::Strings(similar),
        );
    }
    if let Some(tip) = tip {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

fn of_option(
    mut error: clap::Error,
    program: &clap::Command,
    arguments: &[OsString],
) -> clap::Error {
    // Clap suggests that an unknown option was meant as a value. That's hardly ever true, so we
    // drop this advice.
    error.remove(ContextKind::Suggested);
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let Some(name) = option.strip_prefix("--").map(|name| name.replace('_', "-")) else {
        if option == "-f" {
            let tips = vec!["`--format` chooses the format of rows".into()];
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
        return error;
    };
    let name = name.split('=').next().unwrap_or_default().to_lowercase();
    let words = arguments.iter().skip(1);
    let command = words
        .filter_map(|word| program.find_subcommand(word))
        .next();
    let has = |name: &&&str| {
        let mut options = command.into_iter().flat_map(clap::Command::get_arguments);
        options.any(|option| option.get_long() == Some(**name))
    };
    let found = OPTIONS.iter().find(|(words, _)| words.contains(&&*name));
    let right: Vec<&&str> = found
        .map_or(&[][..], |found| found.1)
        .iter()
        .filter(has)
        .collect();
    if let Some(ContextValue::String(similar)) = error.get(ContextKind::SuggestedArg) {
        let is_slip = is_slip(&name, similar.trim_start_matches('-'));
        if !is_slip || !right.is_empty() {
            error.remove(ContextKind::SuggestedArg);
            // Clap also puts the similar option into the usage, so we have to render the usage
            // again.
            if let Some(command) = command {
                let usage = command.clone().render_usage();
                error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
            }
        }
    }
    let mut tips: Vec<StyledStr> = Vec::new();
    if let [first, others @ ..] = right.as_slice() {
        let others = others.iter().map(|other| format!(" or `--{other}`"));
        tips.push(format!("this option is `--{first}`{}", others.collect::<String>()).into());
    } else if found.is_some_and(|(_, right)| right.contains(&"by")) {
        tips.push("`split --by COLUMN FILE -o PATTERN` writes a file for each value".into());
    } else if name == "compare" {
        tips.push("`diff FILE FILE` compares columns and rows".into());
    }
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// Replaces the reason why a value isn't a number. The standard library complains about an invalid
/// digit even if the value has none.
fn of_number(error: clap::Error, program: &clap::Command) -> clap::Error {
    let source = error.source();
    if !source.is_some_and(|source| source.is::<ParseIntError>()) {
        return error;
    }
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => herringbone_interchange::shortened(text),
        _ => String::new(),
    };
    let (option, value) = (
        text(ContextKind::InvalidArg),
        text(ContextKind::InvalidValue),
    );
    let message = format!(
        "invalid value '{value}' for '{option}': expected a whole number from 0 to {}, such as 10",
        u64::MAX
    );
    clap::Error::raw(ErrorKind::ValueValidation, message + "\n").with_cmd(program)
}

/// Returns true if one word looks like a typo of another. This allows for one or two wrong,
/// missing, extra or swapped letters.
fn is_slip(wrong: &str, right: &str) -> bool {
    let most = if wrong.chars().count() < 6 { 1 } else { 2 };
    distance(wrong, right) <= most
}

/// Returns the edit distance between two words, counting a swap of adjacent letters as one edit.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (row, letter) in a.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, other) in b.iter().enumerate() {
            let at =
                |line: &[usize], column: usize| line.get(column).copied().unwrap_or(usize::MAX / 2);
            let changed = at(&last, column) + usize::from(letter != other);
            let mut least = changed
                .min(at(&last, column + 1) + 1)
                .min(at(&next, column) + 1);
            let is_swapped = row > 0
                && column > 0
                && a.get(row - 1) == Some(other)
                && b.get(column - 1) == Some(letter);
            if is_swapped {
                least = least.min(at(&before, column - 1) + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut last, next);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_one_or_two_letters() {
        for (wrong, right) in [
            ("haed", "head"),
            ("shema", "schema"),
            ("convrt", "convert"),
            ("columms", "columns"),
            ("dif", "diff"),
        ] {
            assert!(is_slip(wrong, right), "{wrong}");
        }
        for (wrong, right) in [
            ("sep", "help"),
            ("verbose", "version"),
            ("drop", "decrypt"),
            ("many", "man"),
            ("skip-rows", "page-rows"),
            ("row-group-size", "row-groups"),
            ("ignore-errors", "ignore-crc"),
        ] {
            assert_eq!(is_slip(wrong, right), wrong == "many", "{wrong}");
        }
    }

    /// A swap counts as one edit, as does each other change.
    #[test]
    fn changes_of_letters_are_counted() {
        for (a, b, changes) in [
            ("head", "head", 0),
            ("", "abc", 3),
            ("haed", "head", 1),
            ("ba", "ab", 1),
            ("badc", "abcd", 2),
            ("bcd", "abcd", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), changes, "{a} {b}");
            assert_eq!(distance(b, a), changes, "{b} {a}");
        }
    }

    #[test]
    fn advice_names_commands_and_options_of_this_program() {
        let program = super::super::command();
        for (words, tip) in COMMANDS {
            let command = tip.trim_start_matches('`').split(' ').next().unwrap();
            assert!(program.find_subcommand(command).is_some(), "{tip}");
            for word in *words {
                assert!(program.find_subcommand(word).is_none(), "{word}");
            }
        }
        let subcommands: Vec<_> = program.get_subcommands().collect();
        for (_, right) in OPTIONS {
            for name in *right {
                let mut options = subcommands
                    .iter()
                    .flat_map(|subcommand| subcommand.get_arguments());
                let has = options.any(|option| option.get_long() == Some(*name));
                assert!(has || *name == "quiet", "{name}");
            }
        }
    }
}
