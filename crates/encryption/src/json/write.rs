//! Writes JSON objects.

use herringbone_text::json::push_quoted;

/// An object under construction, with text and boolean members.
pub(crate) struct ObjectWriter(String);

impl ObjectWriter {
    pub(crate) fn new() -> Self {
        Self("{".into())
    }

    /// Adds a text member.
    pub(crate) fn text(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        push_quoted(&mut self.0, value);
        self
    }

    /// Adds a text member, if there is a value.
    pub(crate) fn optional_text(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    /// Adds a boolean member.
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
        push_quoted(&mut self.0, name);
        self.0.push(':');
    }
}
