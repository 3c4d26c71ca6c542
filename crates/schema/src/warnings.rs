//! A bounded list of warnings about files.

/// The warnings collected so far. The list is bounded, so that a file with many faults cannot fill
/// the memory.
#[derive(Debug, Default)]
pub(crate) struct Warnings(pub(crate) Vec<String>);

impl Warnings {
    const MAX: usize = 64;

    /// Returns true if another warning would be dropped. Callers use this to skip the work of
    /// making one.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() > Self::MAX
    }

    pub(crate) fn push(&mut self, warning: String) {
        match self.0.len() {
            ..Self::MAX => self.0.push(warning),
            Self::MAX => self.0.push("further warnings are not listed".to_owned()),
            _ => {}
        }
    }
}
