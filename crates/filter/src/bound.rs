//! A predicate bound to a file: its columns are resolved, and its literals are converted to keys.

use std::mem;
use std::sync::Arc;

use herringbone_arrow::array::{Array as _, ArrayRef, RecordBatch};
use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_arrow::schema::{DataType, Schema};
use herringbone_format::{FileMetadata, Result};
use herringbone_schema::ParquetSchema;

use super::array_test::{ArrayTest, has_field};
use super::bound_rows::BoundRows;
use super::bounds_test::BoundsTest;
use super::leaf_test::Asked;
use super::predicate::{Expression, Quantifier};
use super::row_group_verdicts::RowGroupVerdicts;
use super::tested_leaves::{leaf_at, tested_leaves};
use super::verdicts::{Verdict, Verdicts};
use super::wanted_columns::as_wanted;
use super::{LeafSource, Predicate, ResolvedLeaf, RowPredicate};

/// A predicate bound to one file. Binding resolves names and literals once, so that testing row groups, pages and
/// batches is cheap.
#[derive(Debug)]
pub struct BoundPredicate {
    root: Node,
    tests: Vec<BoundTest>,
}

#[derive(Debug)]
enum Node {
    /// The test at this index.
    Test(usize),
    And(Vec<Self>),
    Or(Vec<Self>),
    /// A condition only used to rule out rows by metadata, never evaluated. It's either implied by a custom predicate
    /// or tested by an earlier stage.
    Implied(Box<Self>),
}

/// A test in a predicate bound to one file.
#[derive(Debug)]
pub enum BoundTest {
    /// A test of one leaf.
    Leaf(Box<LeafNode>),
    /// A test of a column without a matching leaf in the file, because the column belongs to a wanted schema or is
    /// converted by an extension type.
    Unstored {
        /// The test of the column's values.
        test: ArrayTest,
        /// The verdict on all of the file's rows, known without looking at values.
        verdict: Verdict,
    },
    /// A custom predicate.
    Rows(Box<BoundRows>),
}

/// A test of a leaf.
#[derive(Debug)]
pub struct LeafNode {
    /// The ordinal of the leaf in the Parquet schema.
    pub leaf: usize,
    /// The test for decoded arrays.
    array: ArrayTest,
    /// The column's type under a wanted schema, if there is one.
    wanted: Option<DataType>,
    /// The test for bounds in statistics, if they're comparable.
    pub bounds: Option<BoundsTest>,
    /// The verdicts by statistics.
    verdicts: RowGroupVerdicts,
}

/// The columns tested by a stage of a filter.
#[derive(Debug, Clone)]
pub struct TestedColumns<'a> {
    /// The schema of these columns in the tested batches.
    pub schema: &'a Schema,
    /// The leaves of these columns in the file, if the predicate has the paths of a wanted schema.
    pub resolved: Option<&'a [ResolvedLeaf]>,
    /// The file's leaves converted by an extension type in these batches. Their metadata describes the stored values,
    /// not the values to test.
    pub converted: Vec<usize>,
}

/// Returns the leaves converted by an extension type if only these leaves are read.
pub type ConvertedLeaves<'a> = dyn Fn(&[usize]) -> Result<Vec<usize>> + 'a;

impl BoundPredicate {
    /// Binds the last stage of a filter to a file. The operands in `passed` were tested by earlier stages, so they only
    /// help to rule out rows by metadata. `tested` has the columns of each stage, last stage first. `converted` finds
    /// the converted leaves of implied predicates.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if a literal cannot be compared with its
    /// column's values.
    pub fn new(
        (last, passed): (&Predicate, Option<&Predicate>),
        metadata: &FileMetadata,
        schema: &ParquetSchema,
        tested: &[TestedColumns<'_>],
        converted: &ConvertedLeaves<'_>,
    ) -> Result<Self> {
        let mut binder = Binder {
            metadata,
            schema,
            tested,
            converted,
            converted_implied: Vec::new(),
            looks_at_rows: true,
            tests: Vec::new(),
        };
        let mut root = binder.node(&last.0, false)?;
        if let Some(passed) = passed {
            binder.looks_at_rows = false;
            let passed = binder.node(&passed.0, false)?;
            root = Node::And(vec![Node::Implied(Box::new(passed)), root]);
        }
        Ok(Self {
            root,
            tests: binder.tests,
        })
    }

    /// Returns the predicate's tests.
    pub fn tests(&self) -> &[BoundTest] {
        &self.tests
    }

    /// Returns one bit per row, set if the row is selected.
    ///
    /// # Errors
    /// Returns the errors of custom predicates.
    pub fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanBuffer> {
        self.root.evaluate(&self.tests, batch, None)
    }

    /// Combines the verdicts of the tests into verdicts on the rows of one row group.
    pub fn verdicts(&self, test_verdicts: &[Verdicts], num_rows: u64) -> Verdicts {
        self.root.verdicts(test_verdicts, num_rows)
    }
}

struct Binder<'a> {
    metadata: &'a FileMetadata,
    schema: &'a ParquetSchema,
    /// The columns of each stage, last stage first.
    tested: &'a [TestedColumns<'a>],
    converted: &'a ConvertedLeaves<'a>,
    /// An implied predicate's leaves converted by an extension type. Kept separately, because no stage has their
    /// columns.
    converted_implied: Vec<usize>,
    /// True if custom predicates are bound to batches. This is false for predicates of earlier stages, since each stage
    /// binds its own.
    looks_at_rows: bool,
    tests: Vec<BoundTest>,
}

impl Binder<'_> {
    fn node(&mut self, expression: &Expression, is_negated: bool) -> Result<Node> {
        let mut nodes = |parts: &[Expression]| {
            let parts = parts.iter().map(|part| self.node(part, is_negated));
            parts.collect::<Result<Vec<_>>>()
        };
        Ok(match expression {
            Expression::Not(inner) => self.node(inner, !is_negated)?,
            // By De Morgan's laws, `not (a and b)` is `not a or not b`.
            Expression::And(parts) if is_negated => Node::Or(nodes(parts)?),
            Expression::Or(parts) if is_negated => Node::And(nodes(parts)?),
            Expression::And(parts) => Node::And(nodes(parts)?),
            Expression::Or(parts) => Node::Or(nodes(parts)?),
            Expression::Rows(predicate) => self.rows(predicate, is_negated)?,
            Expression::Test {
                column,
                test,
                is_ieee,
            } => {
                let asked = Asked::new(column, test, is_negated, *is_ieee);
                let bound = match self.has_wanted_schema() {
                    false => {
                        let leaf = leaf_at(self.schema, column)?;
                        let path = self.schema.path(leaf).into_iter();
                        let path: Vec<String> = path.map(str::to_owned).collect();
                        self.leaf(leaf, &path, asked, None)
                            .map_err(|e| e.in_column(self.schema.column_path(leaf)))
                    }
                    true => self
                        .wanted(&column.path, asked)
                        .map_err(|e| e.in_column(column.path.join("."))),
                };
                self.add(bound?)
            }
        })
    }

    /// Returns true if the predicate has the paths of a wanted schema rather than the file's.
    fn has_wanted_schema(&self) -> bool {
        self.tested.iter().any(|tested| tested.resolved.is_some())
    }

    fn add(&mut self, test: BoundTest) -> Node {
        self.tests.push(test);
        Node::Test(self.tests.len() - 1)
    }

    fn rows(&mut self, predicate: &Arc<dyn RowPredicate>, is_negated: bool) -> Result<Node> {
        let sees_metadata = !self.has_wanted_schema() || predicate.knows_file();
        let implied = match sees_metadata && !is_negated {
            true => predicate.implied(self.schema)?,
            false => None,
        };
        let mut test = BoundRows::new(predicate.clone(), is_negated);
        if sees_metadata {
            test = test.with_metadata(self.metadata, self.schema)?;
        }
        if let Some(tested) = self.tested.first().filter(|_| self.looks_at_rows) {
            test = test.with_columns(tested.schema)?;
        }
        let mut node = self.add(BoundTest::Rows(Box::new(test)));
        if let Some(implied) = implied {
            // An implied predicate's columns are file leaves, not wanted columns.
            let leaves = tested_leaves(&implied, self.schema)?;
            let mut file_binder = Binder {
                tested: &[],
                converted_implied: (self.converted)(&leaves)?,
                looks_at_rows: false,
                tests: mem::take(&mut self.tests),
                ..*self
            };
            let implied = file_binder.node(&implied.0, false);
            self.tests = file_binder.tests;
            node = Node::And(vec![node, Node::Implied(Box::new(implied?))]);
        }
        Ok(node)
    }

    /// Creates the test of a leaf. `wanted` is the leaf's type under a wanted schema.
    fn leaf(
        &self,
        leaf: usize,
        path: &[String],
        asked: Asked<'_>,
        wanted: Option<&DataType>,
    ) -> Result<BoundTest> {
        let stage = self.stage_of(path, asked);
        let converted = stage.map_or(&self.converted_implied, |stage| &stage.converted);
        if converted.contains(&leaf) {
            let test = self.array(path, asked)?;
            let verdict = Verdict::Some;
            return Ok(BoundTest::Unstored { test, verdict });
        }
        Ok(BoundTest::Leaf(Box::new(LeafNode {
            leaf,
            array: self.array(path, asked)?,
            wanted: wanted.cloned(),
            bounds: BoundsTest::new(self.metadata, self.schema, (leaf, wanted), asked),
            verdicts: RowGroupVerdicts::new(self.metadata.num_row_groups()),
        })))
    }

    /// Creates the test of a column in a wanted schema.
    fn wanted(&self, path: &[String], asked: Asked<'_>) -> Result<BoundTest> {
        let mut leaves = self
            .tested
            .iter()
            .filter_map(|tested| tested.resolved)
            .flatten();
        let known = leaves.find(|leaf| leaf.path == path);
        let verdict = match known.map(|known| &known.source) {
            Some(LeafSource::Leaf(leaf)) => {
                let data_type = known.map(|known| &known.data_type);
                return self.leaf(*leaf, path, asked, data_type);
            }
            Some(LeafSource::Constant(constant)) => {
                let bits = match self.array(path, asked)?.test() {
                    Some(test) => test.evaluate(&constant.array(1)?)?,
                    None => BooleanBuffer::new_set(1),
                };
                match bits.value(0) {
                    true => Verdict::All,
                    false => Verdict::None,
                }
            }
            None => Verdict::Some,
        };
        let test = self.array(path, asked)?;
        Ok(BoundTest::Unstored { test, verdict })
    }

    /// Creates the test for a column's arrays. Without a stage that has columns, the test only rules out rows by
    /// metadata.
    fn array(&self, path: &[String], asked: Asked<'_>) -> Result<ArrayTest> {
        match self.stage_of(path, asked) {
            Some(stage) => ArrayTest::new(stage.schema, path, asked),
            None => Ok(ArrayTest::without_values(path, asked)),
        }
    }

    /// Returns the first stage with the column at a path, since this stage determines the column's type.
    fn stage_of(&self, path: &[String], asked: Asked<'_>) -> Option<&TestedColumns<'_>> {
        let has_column =
            |stage: &&TestedColumns<'_>| has_field(stage.schema, path, asked.quantifier);
        let mut stages = self.tested.iter();
        stages.clone().find(has_column).or(stages.next())
    }
}

impl Node {
    /// Returns one bit per row, set if the row is selected. A custom predicate only sees the rows in `among`, so bits
    /// outside `among` are unspecified.
    fn evaluate(
        &self,
        tests: &[BoundTest],
        batch: &RecordBatch,
        among: Option<&BooleanBuffer>,
    ) -> Result<BooleanBuffer> {
        let num_rows = batch.num_rows();
        match self {
            Self::Test(test) => match tests.get(*test) {
                Some(test) => test.evaluate(batch, among),
                None => Ok(BooleanBuffer::new_unset(num_rows)),
            },
            Self::And(parts) => {
                let all = || BooleanBuffer::new_set(num_rows);
                let mut bits = among.cloned().unwrap_or_else(all);
                for part in parts {
                    bits = &bits & &part.evaluate(tests, batch, Some(&bits))?;
                }
                Ok(bits)
            }
            Self::Or(parts) => {
                let mut bits = BooleanBuffer::new_unset(num_rows);
                for part in parts {
                    let left = part.has_rows(tests).then(|| match among {
                        Some(among) => among & &!&bits,
                        None => !&bits,
                    });
                    bits = &bits | &part.evaluate(tests, batch, left.as_ref())?;
                }
                Ok(bits)
            }
            Self::Implied(_) => Ok(BooleanBuffer::new_set(num_rows)),
        }
    }

    /// Returns true if the node contains a custom predicate that must be evaluated.
    fn has_rows(&self, tests: &[BoundTest]) -> bool {
        match self {
            Self::Test(test) => matches!(tests.get(*test), Some(BoundTest::Rows(_))),
            Self::And(parts) | Self::Or(parts) => parts.iter().any(|part| part.has_rows(tests)),
            Self::Implied(_) => false,
        }
    }

    fn verdicts(&self, test_verdicts: &[Verdicts], num_rows: u64) -> Verdicts {
        let all = |verdict| Verdicts::all(num_rows, verdict);
        let of = |part: &Self| part.verdicts(test_verdicts, num_rows);
        match self {
            Self::Test(test) => {
                let known = test_verdicts.get(*test).cloned();
                known.unwrap_or_else(|| all(Verdict::Some))
            }
            Self::And(parts) => parts
                .iter()
                .fold(all(Verdict::All), |known, part| known.and(&of(part))),
            Self::Or(parts) => parts
                .iter()
                .fold(all(Verdict::None), |known, part| known.or(&of(part))),
            Self::Implied(inner) => of(inner),
        }
    }
}

impl BoundTest {
    fn evaluate(
        &self,
        batch: &RecordBatch,
        among: Option<&BooleanBuffer>,
    ) -> Result<BooleanBuffer> {
        match self {
            Self::Leaf(leaf) => leaf.array.evaluate(batch),
            Self::Unstored { test, .. } => test.evaluate(batch),
            Self::Rows(rows) => rows.evaluate(batch, among),
        }
    }

    /// Returns a verdict on a whole row group, based on its metadata including statistics.
    ///
    /// # Errors
    /// Fails with [`Corrupt`](herringbone_format::ErrorKind::Corrupt) if the metadata of a column chunk cannot be
    /// decoded, and with the errors of custom predicates.
    pub fn verdict(&self, metadata: &FileMetadata, row_group: usize) -> Result<Verdict> {
        match self {
            Self::Leaf(leaf) => leaf.verdict(metadata, row_group),
            Self::Unstored { verdict, .. } => Ok(*verdict),
            Self::Rows(rows) => rows.verdict(metadata, row_group),
        }
    }
}

impl LeafNode {
    /// Returns a verdict on rows whose values all occur in the dictionary `values`.
    ///
    /// # Errors
    /// Fails with [`Unsupported`](herringbone_format::ErrorKind::Unsupported) if the test was not made for the array's
    /// layout.
    pub fn verdict_of_values(&self, values: &ArrayRef) -> Result<Verdict> {
        let test = self.array.test();
        let Some(test) = test.filter(|test| test.is_of_values()) else {
            return Ok(Verdict::Some);
        };
        let Some(values) = as_wanted(values, self.wanted.as_ref()) else {
            return Ok(Verdict::Some);
        };
        // Since `all` accepts an empty list, the values cannot decide it.
        if self.array.quantifier() == Some(Quantifier::All) {
            return Ok(Verdict::Some);
        }
        Ok(match test.evaluate(&values)?.count_set_bits() {
            0 => Verdict::None,
            accepted if accepted == values.len() => Verdict::All,
            _ => Verdict::Some,
        })
    }

    fn verdict(&self, metadata: &FileMetadata, row_group: usize) -> Result<Verdict> {
        let Some(bounds) = &self.bounds else {
            return Ok(Verdict::Some);
        };
        self.verdicts.get(row_group, |row_groups| {
            let chunks = row_groups.map(|row_group| metadata.column_chunk(row_group, self.leaf));
            let chunks = chunks.map(|chunk| Ok(chunk?.meta_data));
            match chunks.collect::<Result<Option<Vec<_>>>>()? {
                Some(chunks) => bounds.verdicts_of_chunks(&chunks).map(Some),
                None => Ok(None),
            }
        })
    }
}
