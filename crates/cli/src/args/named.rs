//! Turns the writer's option table into command line options, so that we don't have to list them
//! twice.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use herringbone::format::Encoding;
use herringbone::{ColumnOptions, ColumnSelector, Error, OptionKind, WriteOption, WriteOptions};

use super::{Columns, Setting};

/// Switches that the command has as flags: the option's name, the flag's name, and the value that
/// the flag sets.
const FLAGS: &[(&str, &str, &str)] = &[
    ("page_index", "no_page_index", "off"),
    ("crc", "no_crc", "off"),
    ("allow_out_of_range", "allow_out_of_range", "on"),
];

/// Additional names of options.
const ALIASES: &[(&str, &str)] = &[
    ("compression", "codec"),
    ("data_page_version", "page-version"),
];

/// Options with another form in the command, each with the reason.
const ELSEWHERE: &[(&str, &str)] = &[
    (
        "bloom_filter",
        "--bloom-filter names columns, because those of the input keep theirs",
    ),
    ("threads", "--threads is for reading too"),
    (
        "empty_structs",
        "--fill-empty-structs is the only other value",
    ),
    ("int96_timestamps", "the types of the input are kept"),
    ("times_adjusted_to_utc", "the types of the input are kept"),
    ("decimals_as_fixed", "the types of the input are kept"),
    ("arrow_schema_hint", "--no-arrow-schema is for reading too"),
];

/// The options of the writer's table that the user gave.
#[derive(Debug, Clone, Default)]
pub(super) struct Named {
    /// The library's options that result from them.
    pub(super) options: WriteOptions,
    /// True if the user gave at least one of them.
    pub(super) is_given: bool,
    /// The columns of each `--encoding` and `--dictionary` that the user gave.
    pub(super) encoded: Vec<Option<Columns>>,
}

/// Returns the table's options with the same name in the command.
fn rows() -> impl Iterator<Item = &'static WriteOption> {
    let is_elsewhere = |row: &WriteOption| ELSEWHERE.iter().any(|(name, _)| *name == row.name);
    WriteOption::ALL
        .iter()
        .filter(move |row| !is_elsewhere(row))
}

/// Returns a switch's flag and the flag's value, if the command has such a flag.
fn flag(row: &WriteOption) -> Option<(&'static str, &'static str)> {
    let mut flags = FLAGS.iter();
    let (_, flag, text) = flags.find(|(name, ..)| *name == row.name)?;
    Some((flag, text))
}

/// Returns the command line's option for a row of the table.
fn argument(row: &'static WriteOption) -> Arg {
    let id = flag(row).map_or(row.name, |(flag, _)| flag);
    let aliases = ALIASES.iter().filter(|(name, _)| *name == row.name);
    let argument = Arg::new(id)
        .long(id.replace('_', "-"))
        .aliases(aliases.map(|(_, alias)| *alias))
        .hide_short_help(row.name != "compression");
    if let Some((flag, _)) = flag(row) {
        let help = match flag.starts_with("no_") {
            true => row.help.replacen("Write", "Write no", 1),
            false => row.help.to_owned(),
        };
        return argument.action(ArgAction::SetTrue).help(help);
    }
    let mut help = row.help.to_owned();
    if row.name == "encoding" {
        help += ". Without COLS=, used for every column whose type allows it";
    }
    let choices = row.choices();
    let value = match row.kind {
        OptionKind::Switch => "on|off".to_owned(),
        OptionKind::Count => "N".to_owned(),
        OptionKind::Bytes => "SIZE".to_owned(),
        OptionKind::Sizes => "on|MIN..MAX".to_owned(),
        OptionKind::Codec => "CODEC".to_owned(),
        OptionKind::Choice if choices.len() <= 4 => choices.join("|"),
        _ => row.name.to_uppercase(),
    };
    let argument = argument
        .help(format!("{help} [default: {}]", row.default))
        .value_parser(Parser(row))
        .hide_possible_values(choices.len() <= 4);
    match row.is_of_columns() {
        true => argument
            .value_name(format!("[COLS=]{value}"))
            .action(ArgAction::Append),
        false => argument.value_name(value),
    }
}

/// Parses an option's value, together with the columns that it is for.
#[derive(Clone)]
struct Parser(&'static WriteOption);

impl TypedValueParser for Parser {
    type Value = Setting<String>;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let parse = |text: &str| -> Result<Setting<String>, String> {
            let setting = match self.0.is_of_columns() {
                true => text.parse()?,
                false => Setting {
                    columns: None,
                    value: text.to_owned(),
                },
            };
            let checked = self.0.check(&setting.value);
            checked.map_err(|error| error.message().to_owned())?;
            Ok(setting)
        };
        parse.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let choices = self.0.choices();
        let values = choices.into_iter().map(PossibleValue::new);
        (values.len() > 0).then(|| Box::new(values) as _)
    }
}

impl Args for Named {
    fn augment_args(command: Command) -> Command {
        command.args(rows().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Named {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Vec::new();
        for row in rows() {
            match flag(row) {
                Some((flag, text)) if matches.get_flag(flag) => {
                    let value = text.to_owned();
                    given.push((
                        row,
                        Setting {
                            columns: None,
                            value,
                        },
                    ));
                }
                Some(_) => {}
                None => {
                    let settings = matches.get_many::<Setting<String>>(row.name);
                    given.extend(
                        settings
                            .into_iter()
                            .flatten()
                            .map(|setting| (row, setting.clone())),
                    );
                }
            }
        }
        // Choices for all columns come first, so that later choices for some columns act as
        // exceptions.
        given.sort_by_key(|(_, setting)| setting.columns.is_some());
        let mut named = Self::default();
        for (row, setting) in &given {
            let set = named.set(row, setting);
            set.map_err(|error| clap::Error::raw(ErrorKind::InvalidValue, error.message()))?;
        }
        Ok(named)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Named {
    fn set(&mut self, row: &WriteOption, setting: &Setting<String>) -> Result<(), Error> {
        self.is_given = true;
        if !row.is_of_columns() {
            return self.options.set(row.name, &setting.value);
        }
        if ["encoding", "dictionary"].contains(&row.name) {
            self.encoded.push(setting.columns.clone());
        }
        let mut chosen = ColumnOptions::new();
        chosen.set(row.name, &setting.value)?;
        let selectors = match (&setting.columns, chosen.encoding) {
            (Some(columns), _) => {
                let paths = columns.paths.iter().cloned();
                paths.map(ColumnSelector::Path).collect()
            }
            (None, Some(encoding)) => of_types(encoding),
            (None, None) => vec![ColumnSelector::Pattern("*".into())],
        };
        let new = selectors
            .into_iter()
            .map(|selector| (selector, chosen.clone()));
        self.options.overrides.extend(new);
        Ok(())
    }
}

/// Returns selectors for the columns with a suitable type for the encoding. An encoding given
/// without columns only applies to these.
fn of_types(encoding: Encoding) -> Vec<ColumnSelector> {
    let types = encoding.serves().iter().copied();
    types.map(ColumnSelector::PhysicalType).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_knows_each_row() {
        let command = crate::args::command();
        let rewrite = command.find_subcommand("rewrite").unwrap();
        for row in WriteOption::ALL {
            let is_elsewhere = ELSEWHERE.iter().any(|(name, _)| *name == row.name);
            let id = flag(row).map_or(row.name, |(flag, _)| flag);
            let has = rewrite
                .get_arguments()
                .any(|argument| argument.get_id() == id);
            assert!(
                has != is_elsewhere || row.name == "threads" || row.name == "bloom_filter",
                "{id}"
            );
        }
        let mut names = FLAGS.iter().map(|row| row.0);
        let others = ALIASES.iter().chain(ELSEWHERE).map(|row| row.0);
        assert!(
            names
                .by_ref()
                .chain(others)
                .all(|name| WriteOption::named(name).is_ok())
        );
    }

    /// The help text must describe each encoding.
    #[test]
    fn every_encoding_is_in_the_help() {
        let row = WriteOption::named("encoding").unwrap();
        for name in row.choices() {
            assert!(super::super::help::REWRITE.contains(&name), "{name}");
        }
    }
}
