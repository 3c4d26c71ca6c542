//! The `herringbone` command, as a console script of this module.

use std::ffi::OsString;

use pyo3::prelude::*;

use crate::error::Result;

/// Runs the `herringbone` command with `sys.argv` and returns its exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>) -> Result<u8> {
    // We restore the system's handler, because Python's only takes note of Ctrl-C, while the
    // command runs outside Python.
    let signal = py.import("signal")?;
    signal.call_method1(
        "signal",
        (signal.getattr("SIGINT")?, signal.getattr("SIG_DFL")?),
    )?;
    let mut arguments: Vec<OsString> = py.import("sys")?.getattr("argv")?.extract()?;
    if let Some(name) = arguments.first_mut() {
        *name = OsString::from("herringbone");
    }
    Ok(py.detach(|| herringbone_cli::main_of(arguments)))
}
