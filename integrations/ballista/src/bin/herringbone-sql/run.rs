//! Sessions and statements.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::time::Instant;
use std::{fmt, fs};

use ballista_core::object_store::S3Options;
use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::{DFParserBuilder, Statement};
use futures::TryStreamExt;
use herringbone_ballista::herringbone_datafusion::{
    HerringboneCodec, HerringboneFormatFactory, HerringboneOptions, register,
};
use herringbone_ballista::{connect, connect_stock, enable_url_tables, plain_error, runtime_env};

use crate::args::Args;
use crate::{functions, output, prompt};

/// The reason why the program ends early.
#[derive(Debug)]
pub(crate) enum Error {
    /// The statements could not be read.
    Input(String, io::Error),
    /// The rows could not be written.
    Output(io::Error),
    /// No threads could be started.
    Threads(io::Error),
    /// A statement failed.
    Statement(Box<DataFusionError>),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(name, error) => write!(f, "{name}: {error}"),
            Self::Output(error) => write!(f, "the rows cannot be written: {error}"),
            Self::Threads(error) => write!(f, "no threads can be started: {error}"),
            Self::Statement(error) => f.write_str(&plain_error(error)),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Threads(error)
    }
}

impl From<DataFusionError> for Error {
    fn from(error: DataFusionError) -> Self {
        Self::Statement(Box::new(error))
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        DataFusionError::from(error).into()
    }
}

/// Runs the statements that the arguments give.
///
/// # Errors
/// Returns the error of the first statement that fails.
pub(crate) async fn run(args: &Args) -> Result<(), Error> {
    let text = match &args.file {
        Some(file) => Some(read(file)?),
        None => args.sql.clone().or_else(|| args.command.clone()),
    };
    let session = session(args).await?;
    if let Some(limit) = &args.memory_limit {
        let limit = limit.to_uppercase().replace('\'', "''");
        let set = format!("set datafusion.runtime.memory_limit = '{limit}'");
        execute_all(&session, &set, args).await?;
    }
    match text {
        Some(text) => execute_all(&session, &text, args).await,
        None if io::stdin().is_terminal() => prompt::run(&session, args).await,
        None => execute_all(&session, &read(Path::new("-"))?, args).await,
    }
}

/// Runs statements.
///
/// # Errors
/// Returns the error of the first statement that fails.
pub(crate) async fn execute_all(
    session: &SessionContext,
    text: &str,
    args: &Args,
) -> Result<(), Error> {
    let mut statements = DFParserBuilder::new(text).build()?.parse_statements()?;
    let last = statements.pop_back();
    for statement in statements {
        execute(session, statement, 1, args).await?;
    }
    match last {
        Some(last) => execute(session, last, args.repeat.unwrap_or(1), args).await,
        None => Ok(()),
    }
}

fn read(file: &Path) -> Result<String, Error> {
    let text = if file == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(file)
    };
    text.map_err(|error| Error::Input(file.display().to_string(), error))
}

async fn session(args: &Args) -> Result<SessionContext, DataFusionError> {
    let configure = |config: &mut SessionConfig| {
        let mut pairs = args.set.iter();
        pairs.try_for_each(|(key, value)| config.options_mut().set(key, value))
    };
    if let Some(url) = &args.scheduler {
        return match args.stock {
            true => connect_stock(url, configure).await,
            false => {
                let factory = HerringboneFormatFactory::new();
                connect(url, factory, HerringboneCodec::new(), configure).await
            }
        };
    }
    let mut config = SessionConfig::new()
        .with_information_schema(true)
        .with_option_extension(S3Options::default())
        .with_option_extension(HerringboneOptions::default());
    configure(&mut config)?;
    let state = SessionStateBuilder::new()
        .with_runtime_env(runtime_env(&config, None)?)
        .with_config(config)
        .with_default_features()
        .build();
    let session = enable_url_tables(SessionContext::new_with_state(state));
    if !args.stock {
        register(&session)?;
    }
    functions::register(&session);
    Ok(session)
}

/// Runs a statement `times` times and writes its rows once.
async fn execute(
    session: &SessionContext,
    statement: Statement,
    times: u32,
    args: &Args,
) -> Result<(), Error> {
    let plan = session.state().statement_to_plan(statement).await?;
    let is_silent = matches!(plan, LogicalPlan::Ddl(_) | LogicalPlan::Statement(_));
    for time in 1..=times {
        let started = Instant::now();
        let frame = session.execute_logical_plan(plan.clone()).await?;
        let mut rows = frame.execute_stream().await?;
        if time == times && !is_silent {
            let mut out = io::BufWriter::new(io::stdout().lock());
            output::write(args.format, rows, &mut out).await?;
            out.flush().map_err(Error::Output)?;
        } else {
            while rows.try_next().await?.is_some() {}
        }
        if args.repeat.is_some() && !is_silent {
            eprintln!("{:.3} seconds", started.elapsed().as_secs_f64());
        }
    }
    Ok(())
}
