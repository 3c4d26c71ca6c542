//! The prompt, which reads statements from a terminal, and has a history and name completion.

use std::env::home_dir;
use std::ops::ControlFlow;
use std::time::Instant;

use datafusion::prelude::SessionContext;
use herringbone_ballista::plain_error;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Editor, Helper};

use crate::args::{Args, Format};
use crate::run::{Error, execute_all};
use clap::ValueEnum;

/// The query that lists the tables, without the tables that describe them.
const TABLES: &str = "select table_catalog, table_schema, table_name, table_type from information_schema.tables \
                      where table_schema <> 'information_schema' order by 1, 2, 3";

/// The file in the home folder that keeps the lines of earlier prompts.
const HISTORY: &str = ".herringbone_sql_history";

const HELP: &str = "\
A statement ends with a semicolon, and may have several lines. Commands are single lines:
\\d              list the tables
\\d TABLE        list the columns of a table
\\pset FORMAT    choose the format of rows: table, csv or arrow
\\timing         print the seconds of each statement, or stop it
\\?              print this help
\\q              quit";

const WORDS: [&str; 24] = [
    "and", "as", "between", "by", "copy", "create", "describe", "distinct", "explain", "external",
    "from", "group", "having", "insert", "into", "join", "limit", "location", "order", "select",
    "stored", "table", "values", "where",
];

/// Completes words, and the names of tables and columns.
struct Names(Vec<String>);

impl Completer for Names {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let before = line.get(..position).unwrap_or(line);
        let is_part = |character: char| character.is_alphanumeric() || character == '_';
        let word = before.trim_end_matches(is_part).len();
        let start = before.get(word..).unwrap_or_default();
        let found = self.0.iter().filter(|name| {
            let head = name.get(..start.len());
            !start.is_empty() && head.is_some_and(|head| head.eq_ignore_ascii_case(start))
        });
        Ok((word, found.cloned().collect()))
    }
}

impl Validator for Names {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_complete(context.input()) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {}
impl Helper for Names {}

/// Returns true if a text is a command, or ends with a semicolon.
fn is_complete(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.starts_with('\\') || text.ends_with(';')
}

/// Reads and runs statements until the input ends, and prints the errors of statements that fail.
///
/// # Errors
/// Returns the errors of the terminal and of the output.
pub(crate) async fn run(session: &SessionContext, args: &Args) -> Result<(), Error> {
    let mut editor: Editor<Names, FileHistory> = Editor::new().map_err(terminal)?;
    let history = home_dir().map(|home| home.join(HISTORY));
    if let Some(history) = &history {
        // We ignore the error, because there is no history before the first prompt.
        drop(editor.load_history(history));
    }
    let mut prompt = Prompt {
        session,
        args: Args {
            format: args.format,
            ..Args::default()
        },
        prints_times: true,
    };
    println!("`\\?` prints help.");
    loop {
        editor.set_helper(Some(Names(names(session).await)));
        match editor.readline("> ") {
            Ok(text) => {
                // We say nothing if the history cannot be extended, because it is not worth a
                // message.
                drop(editor.add_history_entry(text.trim()));
                if prompt.take(text.trim()).await?.is_break() {
                    break;
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(terminal(error)),
        }
    }
    if let Some(history) = &history {
        drop(editor.save_history(history));
    }
    Ok(())
}

fn terminal(error: ReadlineError) -> Error {
    Error::Input("the terminal".to_owned(), std::io::Error::other(error))
}

/// Returns the words of statements, with the names of all tables and their columns.
async fn names(session: &SessionContext) -> Vec<String> {
    let mut names: Vec<String> = WORDS.map(str::to_owned).into();
    for catalog in session.catalog_names() {
        let Some(catalog) = session.catalog(&catalog) else {
            continue;
        };
        let schemas = catalog.schema_names().into_iter();
        for schema in schemas.filter_map(|name| catalog.schema(&name)) {
            for table in schema.table_names() {
                if let Ok(Some(found)) = schema.table(&table).await {
                    let found = found.schema();
                    let columns = found.fields().iter().map(|field| field.name().clone());
                    names.extend(columns);
                }
                names.push(table);
            }
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

struct Prompt<'a> {
    session: &'a SessionContext,
    args: Args,
    prints_times: bool,
}

impl Prompt<'_> {
    /// Runs a command or statements and breaks if the command is to quit.
    async fn take(&mut self, text: &str) -> Result<ControlFlow<()>, Error> {
        let mut words = text.split_whitespace();
        match (
            words.next(),
            words.next().map(|word| word.trim_end_matches(';')),
        ) {
            (None, _) => {}
            (Some("\\q"), _) => return Ok(ControlFlow::Break(())),
            (Some("\\?" | "\\h"), _) => println!("{HELP}"),
            (Some("\\timing"), _) => self.prints_times = !self.prints_times,
            (Some("\\d"), None) => self.statements(TABLES).await?,
            (Some("\\d"), Some(table)) => self.statements(&format!("describe {table}")).await?,
            (Some("\\pset"), Some(format)) => match Format::from_str(format, true) {
                Ok(format) => self.args.format = format,
                Err(error) => eprintln!("{format}: {error}"),
            },
            (Some(command), _) if command.starts_with('\\') => {
                eprintln!("{command} is not a command; `\\?` lists them");
            }
            _ => self.statements(text).await?,
        }
        Ok(ControlFlow::Continue(()))
    }

    async fn statements(&self, text: &str) -> Result<(), Error> {
        let started = Instant::now();
        match execute_all(self.session, text, &self.args).await {
            Err(Error::Statement(error)) => eprintln!("{}", plain_error(&error)),
            done => done?,
        }
        if self.prints_times {
            eprintln!("{:.3} seconds", started.elapsed().as_secs_f64());
        }
        Ok(())
    }
}
