//! The path from a top-level field down to a leaf.

use herringbone_format::{Error, Result};
use herringbone_schema::{WriteKind, WriteLeaf, WriteNode};

/// One Arrow array on the path to a leaf.
///
/// Each nullable step adds a definition level. Each list adds one definition level and one repetition level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// A struct.
    Struct {
        /// True if the file can store nulls here.
        nullable: bool,
        /// The ordinal of the field on the path.
        field: usize,
    },
    /// A list of any kind, or a map. The next step after a map is the struct of its entries.
    List {
        /// True if the file can store nulls here.
        nullable: bool,
        /// The repetition level of all list elements but the first.
        rep_level: u8,
    },
    /// A run-end encoding of nested values. The values are the next step. A slot is null if its value is null, so the
    /// next step determines nullability.
    RunEnd,
    /// A dictionary of nested values. The values are the next step. A slot is null if its key or its value is null, so
    /// the next step determines nullability.
    Dictionary,
    /// The leaf, possibly in a dictionary or run-end encoding.
    Leaf {
        /// True if the file can store nulls here.
        nullable: bool,
    },
}

impl Step {
    /// Returns true if nulls get their own definition level here, or `None` for encodings.
    pub(super) fn nullable(self) -> Option<bool> {
        match self {
            Self::Struct { nullable, .. }
            | Self::List { nullable, .. }
            | Self::Leaf { nullable } => Some(nullable),
            Self::RunEnd | Self::Dictionary => None,
        }
    }
}

/// The steps to a leaf, with the levels derived from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeafPath {
    /// The steps from the top-level field to the leaf, ending with the leaf itself.
    pub(crate) steps: Vec<Step>,
    /// The definition level of a non-null value.
    pub(crate) max_def: u8,
    /// The number of lists. It is also the highest repetition level.
    pub(crate) max_rep: u8,
    /// The column's names in the Parquet schema, below the root. Used in errors.
    pub(crate) column: Vec<String>,
}

impl LeafPath {
    /// Creates the path along `steps`.
    ///
    /// # Errors
    /// Fails with `Unsupported` if there are more than 255 levels.
    pub(crate) fn new(steps: Vec<Step>, column: Vec<String>) -> Result<Self> {
        let nullable = steps.iter().filter(|step| step.nullable() == Some(true));
        let lists = steps
            .iter()
            .filter(|step| matches!(step, Step::List { .. }));
        let max_rep = lists.count();
        let level = |level: usize| {
            u8::try_from(level).map_err(|_| {
                Error::unsupported("a column with more than 255 levels").in_column(column.join("."))
            })
        };
        Ok(Self {
            max_def: level(nullable.count() + max_rep)?,
            max_rep: level(max_rep)?,
            steps,
            column,
        })
    }
}

/// Returns the paths from a top-level field to its columns, in file order. `leaves` are the whole schema's leaves.
///
/// # Errors
/// Fails with `Argument` if a column has no leaf, and with `Unsupported` if there are more than 255 levels.
pub(crate) fn paths(node: &WriteNode, leaves: &[WriteLeaf]) -> Result<Vec<LeafPath>> {
    let mut walk = Walk {
        leaves,
        steps: Vec::new(),
        paths: Vec::new(),
    };
    walk.node(node)?;
    Ok(walk.paths)
}

struct Walk<'a> {
    leaves: &'a [WriteLeaf],
    /// The steps from the top level to the current node.
    steps: Vec<Step>,
    paths: Vec<LeafPath>,
}

impl Walk<'_> {
    fn node(&mut self, node: &WriteNode) -> Result<()> {
        let nullable = node.nullable;
        match &node.kind {
            WriteKind::Leaf { leaf } => {
                let column = self
                    .leaves
                    .get(*leaf)
                    .ok_or_else(|| Error::argument(format!("the schema has no leaf {leaf}")))?;
                let mut steps = self.steps.clone();
                steps.push(Step::Leaf { nullable });
                self.paths.push(LeafPath::new(steps, column.path.clone())?);
                Ok(())
            }
            WriteKind::Struct(children) => {
                for (field, child) in children.iter().enumerate() {
                    self.below(Step::Struct { nullable, field }, child)?;
                }
                Ok(())
            }
            WriteKind::List {
                rep_level, child, ..
            }
            | WriteKind::Map {
                rep_level,
                entries: child,
                ..
            } => {
                let rep_level = *rep_level;
                let list = Step::List {
                    nullable,
                    rep_level,
                };
                self.below(list, child)
            }
            WriteKind::RunEnd(values) => self.below(Step::RunEnd, values),
            WriteKind::Dictionary(values) => self.below(Step::Dictionary, values),
        }
    }

    fn below(&mut self, step: Step, child: &WriteNode) -> Result<()> {
        self.steps.push(step);
        self.node(child)?;
        self.steps.pop();
        Ok(())
    }
}
