//! The pager that shows long output page by page. The variable `PAGER` names it.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

/// The default options for `less`, which make it quit right away if everything fits on the screen,
/// leaving the text there.
const LESS: &str = "FRX";

/// A pager, started on the first write. Dropping it waits until the user quits.
pub(crate) struct Pager {
    command: OsString,
    child: Option<Child>,
}

impl Pager {
    /// Returns the user's pager, if there is one.
    pub(crate) fn chosen() -> Option<Self> {
        let command = std::env::var_os("PAGER")?;
        let is_one = !command.is_empty() && command != "cat";
        is_one.then_some(Self {
            command,
            child: None,
        })
    }

    /// Returns the pager's process, starting it if necessary.
    fn started(&mut self) -> io::Result<&mut Child> {
        let child = match self.child.take() {
            Some(child) => child,
            None => {
                let mut command = Command::new("sh");
                command.arg("-c").arg(&self.command).stdin(Stdio::piped());
                if std::env::var_os("LESS").is_none() {
                    command.env("LESS", LESS);
                }
                leave_interrupts()?;
                command.spawn()?
            }
        };
        Ok(self.child.insert(child))
    }
}

/// Leaves the first interrupt to the pager, which might use it for its own purposes. A second
/// interrupt ends this program too.
#[cfg(unix)]
fn leave_interrupts() -> io::Result<()> {
    use signal_hook::consts::SIGINT;

    let seen = std::sync::Arc::default();
    let code = i32::from(crate::base::failure::Failure::INTERRUPTED);
    signal_hook::flag::register_conditional_shutdown(SIGINT, code, std::sync::Arc::clone(&seen))?;
    signal_hook::flag::register(SIGINT, seen)?;
    Ok(())
}

#[cfg(not(unix))]
fn leave_interrupts() -> io::Result<()> {
    Ok(())
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.started()?
            .stdin
            .as_mut()
            .ok_or_else(closed)?
            .write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        let child = self.child.as_mut();
        match child.and_then(|child| child.stdin.as_mut()) {
            Some(stdin) => stdin.flush(),
            None => Ok(()),
        }
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Closing the input marks the end of the text. The pager then waits for the user.
            drop(child.stdin.take());
            child.wait().ok();
        }
    }
}
