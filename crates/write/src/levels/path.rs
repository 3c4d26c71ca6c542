//! The way from a top-level field down to a leaf.

use herringbone_format::{Error, Result};
use herringbone_schema::{WriteKind, WriteLeaf, WriteNode};

/// One Arrow array on the way to a leaf.
///
/// Each nullable step adds a definition level; each list adds one definition and one repetition
/// level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// A struct.
    Struct {
        /// Whether the file can hold nulls here.
        nullable: bool,
        /// Ordinal of the field to go on with.
        field: usize,
    },
    /// A list of any kind, or a map. A map goes on with its entries, a struct.
    List {
        /// Whether the file can hold nulls here.
        nullable: bool,
        /// The repetition level of an element that is not the first of its list.
        rep_level: u8,
    },
    /// A run-end encoding of nested values, which follow. It is null where its value is, so what
    /// follows says whether it is nullable.
    RunEnd,
    /// A dictionary of nested values, which follow. It is null where its key or value is, so what
    /// follows says whether it is nullable.
    Dictionary,
    /// The leaf, in a dictionary or run-end encoding or not.
    Leaf {
        /// Whether the file can hold nulls here.
        nullable: bool,
    },
}

impl Step {
    /// Whether nulls have a definition level of their own here; unknown for encodings.
    pub(super) fn nullable(self) -> Option<bool> {
        match self {
            Self::Struct { nullable, .. }
            | Self::List { nullable, .. }
            | Self::Leaf { nullable } => Some(nullable),
            Self::RunEnd | Self::Dictionary => None,
        }
    }
}

/// The steps to a leaf, and what follows from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeafPath {
    /// From the top-level field to the leaf, which is the last step.
    pub(crate) steps: Vec<Step>,
    /// The definition level of a value that is not null.
    pub(crate) max_def: u8,
    /// The number of lists.
    pub(crate) max_rep: u8,
    /// Names in the Parquet schema, from below the root, for errors.
    pub(crate) column: Vec<String>,
}

impl LeafPath {
    /// The path along `steps`.
    ///
    /// **Errors**: more than 255 levels.
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

/// The paths from a top-level field to the columns below it, in the order of the file. `leaves` are
/// those of the whole schema.
///
/// **Errors**: a column that is not among the leaves; more than 255 levels.
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
    /// From the top to the node at hand.
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
