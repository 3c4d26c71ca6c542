//! A predicate that has met a file: its columns found, its literals made keys.

use std::sync::Arc;

use herringbone_arrow::array::{Array as _, ArrayRef, RecordBatch, StructArray};
use herringbone_arrow::buffer::{BooleanBuffer, NullBuffer};
use herringbone_arrow::schema::{DataType, Schema};
use herringbone_format::{ColumnOrder, Error, FileMetadata, Result, Statistics};
use herringbone_schema::{ColumnOrderKind, ParquetSchema, SchemaOptions};

use super::evaluate::key_at;
use super::leaf_test::{Facts, LeafTest};
use super::predicate::{Expression, Test};
use super::{Predicate, RowPredicate};
use crate::pruning::BoundsDecoder;

/// What is known of some rows without looking at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// None of them is wanted.
    None,
    /// Some of them may be.
    Some,
    /// All of them are.
    All,
}

/// A predicate for one file.
#[derive(Debug)]
pub(crate) struct BoundPredicate {
    root: Node,
}

#[derive(Debug)]
enum Node {
    Test(Box<LeafNode>),
    And(Vec<Self>),
    Or(Vec<Self>),
    Rows {
        predicate: Arc<dyn RowPredicate>,
        is_negated: bool,
    },
}

/// A test of a leaf.
#[derive(Debug)]
struct LeafNode {
    leaf: usize,
    /// Its path, from the root.
    path: Vec<String>,
    /// For the array that is read.
    test: LeafTest,
    /// For the bounds of its statistics, if they can be compared.
    bounds: Option<BoundsTest>,
}

#[derive(Debug)]
struct BoundsTest {
    decoder: BoundsDecoder,
    test: LeafTest,
    /// Whether the older `min` and `max` follow the order of the column.
    is_signed: bool,
    /// Whether `min_value` and `max_value` do.
    is_ordered: bool,
    is_float: bool,
}

/// The leaves that a predicate looks at, ascending.
///
/// # Errors
/// Argument where there is no such column; Unsupported where a test of a value lies below a list.
pub(crate) fn tested_leaves(predicate: &Predicate, schema: &ParquetSchema) -> Result<Vec<usize>> {
    let mut leaves = Vec::new();
    add_leaves(&predicate.0, schema, &mut leaves)?;
    leaves.sort_unstable();
    leaves.dedup();
    Ok(leaves)
}

fn add_leaves(
    expression: &Expression,
    schema: &ParquetSchema,
    leaves: &mut Vec<usize>,
) -> Result<()> {
    match expression {
        Expression::Test { column, .. } => leaves.push(leaf_at(schema, column)?),
        Expression::Not(inner) => add_leaves(inner, schema, leaves)?,
        Expression::And(parts) | Expression::Or(parts) => {
            for part in parts {
                add_leaves(part, schema, leaves)?;
            }
        }
        Expression::Rows(predicate) => {
            for path in predicate.columns() {
                let before = leaves.len();
                let all = 0..schema.leaves().len();
                leaves.extend(all.filter(|leaf| is_below(&schema.path(*leaf), &path)));
                if leaves.len() == before {
                    let path = path.join(".");
                    return Err(Error::argument(format!("there is no column `{path}`")));
                }
            }
        }
    }
    Ok(())
}

/// Whether the leaf at `parts` is the field at `path`, or a part of it.
fn is_below(parts: &[&str], path: &[String]) -> bool {
    path.len() <= parts.len() && parts.iter().zip(path).all(|(a, b)| a == b)
}

/// The leaf at a path.
fn leaf_at(schema: &ParquetSchema, path: &[String]) -> Result<usize> {
    let mut leaves = 0..schema.leaves().len();
    let found = leaves.find(|leaf| schema.path(*leaf).iter().eq(path.iter()));
    let leaf = found.ok_or_else(|| {
        let mut leaves = 0..schema.leaves().len();
        let is_group = leaves.any(|leaf| is_below(&schema.path(leaf), path));
        let path = path.join(".");
        Error::argument(match is_group {
            true => format!("`{path}` is a group, of which one column can be tested"),
            false => format!("there is no column `{path}`"),
        })
    })?;
    match schema.leaves().get(leaf) {
        Some(found) if found.max_rep_level > 0 => Err(Error::unsupported(
            "a test of values below a list, of which a row may have several",
        )
        .in_column(schema.column_path(leaf))),
        _ => Ok(leaf),
    }
}

impl BoundPredicate {
    /// The predicate for a file whose tested columns are read with `tested`.
    ///
    /// # Errors
    /// Argument where a literal cannot be compared with the values of its column.
    pub(crate) fn new(
        predicate: &Predicate,
        metadata: &FileMetadata,
        schema: &ParquetSchema,
        tested: &Schema,
    ) -> Result<Self> {
        let binder = Binder {
            metadata,
            schema,
            tested,
        };
        let root = binder.node(&predicate.0, false)?;
        Ok(Self { root })
    }

    /// One bit a row: whether it is wanted.
    ///
    /// # Errors
    /// What predicates of one's own say.
    pub(crate) fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanBuffer> {
        self.root.evaluate(batch)
    }

    /// What the metadata of a row group tells.
    ///
    /// # Errors
    /// Corrupt where the metadata of a column chunk cannot be decoded.
    pub(crate) fn verdict(&self, metadata: &FileMetadata, row_group: usize) -> Result<Verdict> {
        self.root.verdict(metadata, row_group)
    }
}

struct Binder<'a> {
    metadata: &'a FileMetadata,
    schema: &'a ParquetSchema,
    tested: &'a Schema,
}

impl Binder<'_> {
    fn node(&self, expression: &Expression, is_negated: bool) -> Result<Node> {
        let nodes = |parts: &[Expression]| {
            let parts = parts.iter().map(|part| self.node(part, is_negated));
            parts.collect::<Result<Vec<_>>>()
        };
        Ok(match expression {
            Expression::Not(inner) => self.node(inner, !is_negated)?,
            // Not both is not one or not the other.
            Expression::And(parts) if is_negated => Node::Or(nodes(parts)?),
            Expression::Or(parts) if is_negated => Node::And(nodes(parts)?),
            Expression::And(parts) => Node::And(nodes(parts)?),
            Expression::Or(parts) => Node::Or(nodes(parts)?),
            Expression::Rows(predicate) => Node::Rows {
                predicate: predicate.clone(),
                is_negated,
            },
            Expression::Test { column, test } => {
                let leaf = leaf_at(self.schema, column)?;
                let node = self.leaf(leaf, column, test, is_negated);
                let node = node.map_err(|e| e.in_column(self.schema.column_path(leaf)))?;
                Node::Test(Box::new(node))
            }
        })
    }

    fn leaf(
        &self,
        leaf: usize,
        path: &[String],
        test: &Test,
        is_negated: bool,
    ) -> Result<LeafNode> {
        let data_type = self.data_type(path)?;
        Ok(LeafNode {
            leaf,
            path: path.to_vec(),
            test: LeafTest::new(test, is_negated, &data_type)?,
            bounds: self.bounds(leaf, test, is_negated),
        })
    }

    fn data_type(&self, path: &[String]) -> Result<DataType> {
        let unreachable = || Error::unsupported("a test of a field inside of an extension type");
        let (first, rest) = path.split_first().ok_or_else(unreachable)?;
        let mut found = self
            .tested
            .field_with_name(first)
            .map_err(|_| unreachable())?
            .data_type();
        for name in rest {
            let DataType::Struct(fields) = found else {
                return Err(unreachable());
            };
            let (_, field) = fields.find(name).ok_or_else(unreachable)?;
            found = field.data_type();
        }
        Ok(found.clone())
    }

    /// How the bounds of a leaf are compared; none where nothing is to be learned from them.
    fn bounds(&self, leaf: usize, test: &Test, is_negated: bool) -> Option<BoundsTest> {
        let decoder = BoundsDecoder::new(self.schema, leaf, &SchemaOptions::default()).ok()?;
        let test = LeafTest::new(test, is_negated, decoder.field().data_type()).ok()?;
        let natural = self.schema.order(leaf);
        let ignored = self.schema.leaves().get(leaf)?.annotation_ignored;
        let order = self.metadata.column_orders().and_then(|it| it.get(leaf));
        let is_ordered = match order {
            Some(ColumnOrder::TypeDefined) => {
                !matches!(natural, ColumnOrderKind::Int96 | ColumnOrderKind::Undefined)
            }
            Some(ColumnOrder::Ieee754Total) => natural.is_float(),
            _ => false,
        };
        Some(BoundsTest {
            decoder,
            test,
            is_signed: natural == ColumnOrderKind::Signed && !ignored,
            is_ordered: is_ordered && !ignored,
            is_float: natural.is_float(),
        })
    }
}

impl Node {
    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanBuffer> {
        match self {
            Self::Test(leaf) => leaf.evaluate(batch),
            Self::And(parts) => {
                let mut bits = BooleanBuffer::new_set(batch.num_rows());
                for part in parts {
                    bits = &bits & &part.evaluate(batch)?;
                }
                Ok(bits)
            }
            Self::Or(parts) => {
                let mut bits = BooleanBuffer::new_unset(batch.num_rows());
                for part in parts {
                    bits = &bits | &part.evaluate(batch)?;
                }
                Ok(bits)
            }
            Self::Rows {
                predicate,
                is_negated,
            } => {
                let found = predicate.evaluate(batch)?;
                if found.len() != batch.num_rows() {
                    return Err(Error::argument(format!(
                        "a predicate answered for {} of {} rows",
                        found.len(),
                        batch.num_rows()
                    )));
                }
                let bits = match is_negated {
                    true => !found.values(),
                    false => found.values().clone(),
                };
                Ok(match found.nulls() {
                    Some(nulls) => &bits & nulls.inner(),
                    None => bits,
                })
            }
        }
    }

    fn verdict(&self, metadata: &FileMetadata, row_group: usize) -> Result<Verdict> {
        let verdicts = |parts: &[Self]| {
            let parts = parts.iter().map(|part| part.verdict(metadata, row_group));
            parts.collect::<Result<Vec<_>>>()
        };
        match self {
            Self::Test(leaf) => leaf.verdict(metadata, row_group),
            Self::And(parts) => {
                let least = verdicts(parts)?.into_iter().min();
                Ok(least.unwrap_or(Verdict::All))
            }
            Self::Or(parts) => {
                let most = verdicts(parts)?.into_iter().max();
                Ok(most.unwrap_or(Verdict::None))
            }
            Self::Rows {
                predicate,
                is_negated,
            } => {
                let verdict = predicate.verdict(metadata, row_group)?;
                // Where none is wanted it may be as they are all null, which the opposite does not want either.
                Ok(match (verdict, is_negated) {
                    (Verdict::All, true) => Verdict::None,
                    (Verdict::None, true) => Verdict::Some,
                    (verdict, _) => verdict,
                })
            }
        }
    }
}

impl LeafNode {
    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanBuffer> {
        let (array, nulls) = self.array(batch)?;
        let bits = self.test.evaluate(&array)?;
        // Where a struct around it is null, so is the value.
        Ok(match (nulls, &self.test) {
            (None, _) => bits,
            (Some(nulls), LeafTest::Null { is_null: true }) => &bits | &!nulls.inner(),
            (Some(nulls), _) => &bits & nulls.inner(),
        })
    }

    /// The array of the leaf, and the nulls of the structs around it.
    fn array(&self, batch: &RecordBatch) -> Result<(ArrayRef, Option<NullBuffer>)> {
        let missing = || Error::argument("a tested column was not read");
        let (first, rest) = self.path.split_first().ok_or_else(missing)?;
        let mut array = batch.column_by_name(first).ok_or_else(missing)?.clone();
        let mut nulls = None;
        for name in rest {
            let parent = array
                .as_any()
                .downcast_ref::<StructArray>()
                .ok_or_else(missing)?;
            nulls = NullBuffer::union(nulls.as_ref(), parent.nulls());
            let child = parent.column_by_name(name).ok_or_else(missing)?.clone();
            array = child;
        }
        Ok((array, nulls))
    }

    fn verdict(&self, metadata: &FileMetadata, row_group: usize) -> Result<Verdict> {
        let Some(bounds) = &self.bounds else {
            return Ok(Verdict::Some);
        };
        let chunk = metadata.column_chunk(row_group, self.leaf)?;
        let Some(metadata) = chunk.meta_data else {
            return Ok(Verdict::Some);
        };
        let rows = u64::try_from(metadata.num_values).unwrap_or_default();
        let Some(statistics) = metadata.statistics else {
            return Ok(Verdict::Some);
        };
        bounds.verdict(&statistics, rows)
    }
}

impl BoundsTest {
    fn verdict(&self, statistics: &Statistics, rows: u64) -> Result<Verdict> {
        let nulls = statistics.null_count;
        let nulls = nulls.and_then(|nulls| u64::try_from(nulls).ok());
        let (min, max) = match (self.is_ordered, self.is_signed) {
            (true, _) if statistics.min_value.is_some() || statistics.max_value.is_some() => {
                (&statistics.min_value, &statistics.max_value)
            }
            (_, true) => (&statistics.min, &statistics.max),
            _ => (&None, &None),
        };
        let bounds = self.decoder.decode(&[min.as_deref(), max.as_deref()])?;
        let (min, max) = (key_at(&bounds, 0), key_at(&bounds, 1));
        // NaNs are above all bounds, and bounds do not count them.
        let has_nan = self.is_float && statistics.nan_count != Some(0);
        let facts = Facts {
            nulls: nulls.filter(|nulls| *nulls <= rows),
            rows,
            min: min.filter(|min| !self.is_float || !min.is_nan()),
            max: max.filter(|max| !has_nan && (!self.is_float || !max.is_nan())),
        };
        // Bounds the wrong way round say nothing.
        if let (Some(min), Some(max)) = (&facts.min, &facts.max)
            && min.is_above(max)
        {
            return Ok(self.test.verdict(&Facts {
                min: None,
                max: None,
                ..facts
            }));
        }
        Ok(self.test.verdict(&facts))
    }
}
