//! What a null is in CSV.

use clap::Args;

/// The choice of a text for null.
#[derive(Debug, Args)]
pub(crate) struct Null {
    /// What a null is in CSV, without quotes around it [default: nothing]
    #[arg(long = "null", value_name = "TEXT", value_parser = checked)]
    chosen: Option<String>,
}

impl Null {
    /// Whether there was a choice.
    pub(crate) fn is_given(&self) -> bool {
        self.chosen.is_some()
    }

    /// The text, empty by default.
    pub(crate) fn text(&self) -> &str {
        self.chosen.as_deref().unwrap_or_default()
    }
}

fn checked(text: &str) -> Result<String, String> {
    if text.contains(['"', ',', '\r', '\n']) {
        return Err("must be what needs no quotes in CSV".into());
    }
    Ok(text.into())
}
