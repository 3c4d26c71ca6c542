//! The reason why a struct is refused.

use std::fmt;

/// The result of a check.
pub type Result<T = (), E = Refused> = std::result::Result<T, E>;

/// The reason why a struct is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The names of the fields above the problem, the innermost first.
    path: Vec<String>,
    problem: String,
}

impl Refused {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self {
            path: Vec::new(),
            problem: problem.into(),
        }
    }

    /// Adds the name of the field that has the problem.
    pub(crate) fn in_field(mut self, name: &str) -> Self {
        // The struct of a batch has no name. Others may be as long as the limit of names.
        if !name.is_empty() {
            self.path.push(name.chars().take(100).collect());
        }
        self
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: Vec<&str> = self.path.iter().rev().map(String::as_str).collect();
        let path = named.join(".");
        match path.is_empty() {
            true => write!(f, "invalid Arrow data from C: {}", self.problem),
            false => write!(
                f,
                "invalid Arrow data from C: column `{path}`: {}",
                self.problem
            ),
        }
    }
}

impl std::error::Error for Refused {}
