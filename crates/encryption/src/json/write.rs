//! Objects out.

use std::fmt::Write;

/// An object of texts and booleans under construction.
pub(crate) struct ObjectWriter(String);

impl ObjectWriter {
    pub(crate) fn new() -> Self {
        Self("{".into())
    }

    /// Adds a member that is text.
    pub(crate) fn text(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        quote(&mut self.0, value);
        self
    }

    /// Adds a member that is text, if there is any.
    pub(crate) fn optional_text(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    /// Adds a member that is a boolean.
    pub(crate) fn boolean(mut self, name: &str, value: bool) -> Self {
        self.name(name);
        self.0.push_str(if value { "true" } else { "false" });
        self
    }

    pub(crate) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }

    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        quote(&mut self.0, name);
        self.0.push(':');
    }
}

fn quote(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            '\0'..='\u{1f}' => {
                // Writing to a string does not fail.
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            _ => out.push(char),
        }
    }
    out.push('"');
}
