//! The threads and logs of the commands.

use std::io;
use std::process::ExitCode;

use ballista_core::config::LogRotationPolicy;
use tokio::runtime::{Builder, Runtime};
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;

/// The stack size of a thread in bytes, which is large because plans are trees and decoding them is
/// recursive.
const STACK: usize = 32 << 20;

/// The variable that sets the stack size in the standard library.
const STACK_VARIABLE: &str = "RUST_MIN_STACK";

/// Returns a runtime whose threads have large stacks.
///
/// # Errors
/// Returns the operating system's errors.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK)
        .build()
}

/// Runs this program again in place of itself, so that the threads of other runtimes have large
/// stacks, too. If they already have, this returns without doing so.
///
/// # Errors
/// Returns the operating system's errors.
pub fn enlarge_stacks() -> io::Result<Option<ExitCode>> {
    if std::env::var_os(STACK_VARIABLE).is_some() {
        return Ok(None);
    }
    let mut again = std::process::Command::new(std::env::current_exe()?);
    again
        .args(std::env::args_os().skip(1))
        .env(STACK_VARIABLE, STACK.to_string());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        Err(again.exec())
    }
    #[cfg(not(unix))]
    {
        let status = again.status()?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(Some(ExitCode::from(code.unwrap_or(1))))
    }
}

/// A log's options, which are those of Ballista's commands.
#[derive(Debug)]
pub struct Log {
    /// The levels of modules, which apply unless `RUST_LOG` sets them.
    pub levels: String,
    /// True if lines name their threads.
    pub prints_threads: bool,
    /// The folder of the log files, or `None` to print the lines.
    pub folder: Option<String>,
    /// The first part of the file names.
    pub file_name: String,
    /// The time after which a new file begins.
    pub rotation: LogRotationPolicy,
}

impl Log {
    /// Starts this process's log.
    pub fn start(self) {
        let levels = std::env::var(EnvFilter::DEFAULT_ENV).unwrap_or(self.levels);
        let log = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_thread_names(self.prints_threads)
            .with_thread_ids(self.prints_threads)
            .with_env_filter(EnvFilter::new(levels));
        let rotation = match self.rotation {
            LogRotationPolicy::Minutely => Rotation::MINUTELY,
            LogRotationPolicy::Hourly => Rotation::HOURLY,
            LogRotationPolicy::Daily => Rotation::DAILY,
            LogRotationPolicy::Never => Rotation::NEVER,
        };
        match self.folder {
            Some(folder) => log
                .with_writer(RollingFileAppender::new(rotation, folder, self.file_name))
                .init(),
            None => log.init(),
        }
    }
}
