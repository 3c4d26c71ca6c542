//! Tests a column in record batches, by its own values or by its dictionary's values.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{Array, ArrayRef, RecordBatch, StructArray};
use herringbone_arrow::buffer::{BooleanBuffer, NullBuffer};
use herringbone_arrow::schema::{DataType, FieldRef, Schema};
use herringbone_format::{Error, Result};
use herringbone_kernels::accepted_keys::AcceptedKeys;

use super::leaf_test::{Asked, LeafTest};
use super::nested;
use super::position::TextForm;
use super::predicate::Quantifier;

/// The result of testing one dictionary.
#[derive(Debug)]
struct TestedDictionary {
    values: Weak<dyn Array>,
    accepted: Arc<AcceptedKeys>,
}

/// A test for a column's arrays.
#[derive(Debug)]
pub struct ArrayTest {
    /// The column's path, from the root.
    path: Vec<String>,
    /// The quantifier over a row's values, if the column lies below a list.
    quantifier: Option<Quantifier>,
    /// The test, or `None` for ruling out rows by metadata only.
    test: Option<LeafTest>,
    /// The results for the dictionaries in use, kept because consecutive batches share a dictionary. There can be
    /// several, because each thread can have its own.
    dictionaries: Mutex<Vec<TestedDictionary>>,
}

/// Returns the field at a path. The path may lead below lists if there is a `quantifier`.
///
/// # Errors
/// Fails with `Unsupported` if there is no such field.
fn field_at(tested: &Schema, path: &[String], quantifier: Option<Quantifier>) -> Result<FieldRef> {
    let unreachable = || Error::unsupported("a test of a field inside of an extension type");
    let (first, rest) = path.split_first().ok_or_else(unreachable)?;
    let (_, mut found) = tested.fields().find(first).ok_or_else(unreachable)?;
    if quantifier.is_some() {
        return nested::field(found, rest).cloned();
    }
    for name in rest {
        let DataType::Struct(fields) = found.data_type() else {
            return Err(unreachable());
        };
        (_, found) = fields.find(name).ok_or_else(unreachable)?;
    }
    Ok(found.clone())
}

/// Returns true if a schema has the field at a path.
pub(super) fn has_field(schema: &Schema, path: &[String], quantifier: Option<Quantifier>) -> bool {
    field_at(schema, path, quantifier).is_ok()
}

impl ArrayTest {
    /// Creates the test for the field at a path of `tested`.
    ///
    /// # Errors
    /// Fails with `Argument` if a literal cannot be compared with the field's values, and with `Unsupported` if there
    /// is no such field.
    pub(super) fn new(tested: &Schema, path: &[String], asked: Asked<'_>) -> Result<Self> {
        let field = field_at(tested, path, asked.quantifier)?;
        let test = LeafTest::new(asked, field.data_type(), TextForm::of_field(&field))?;
        Ok(Self {
            test: Some(test),
            ..Self::without_values(path, asked)
        })
    }

    /// Creates a test that only rules out rows by metadata, without looking at values.
    pub(super) fn without_values(path: &[String], asked: Asked<'_>) -> Self {
        Self {
            path: path.to_vec(),
            quantifier: asked.quantifier,
            test: None,
            dictionaries: Mutex::default(),
        }
    }

    /// Returns the test for values, or `None` if it only uses metadata.
    pub(super) fn test(&self) -> Option<&LeafTest> {
        self.test.as_ref()
    }

    /// Returns the quantifier over a row's values, if the column lies below a list.
    pub(super) fn quantifier(&self) -> Option<Quantifier> {
        self.quantifier
    }

    /// Returns one bit per row, set if the row's value is accepted.
    ///
    /// # Errors
    /// Fails with `Argument` if the column was not read.
    pub(super) fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanBuffer> {
        let Some(test) = &self.test else {
            return Ok(BooleanBuffer::new_set(batch.num_rows()));
        };
        if let Some(quantifier) = self.quantifier {
            return nested::accepted_rows(test, quantifier, &self.path, batch);
        }
        let (array, nulls) = array_at(&self.path, batch)?;
        let bits = match array.data_type() {
            DataType::Dictionary(..) => self.evaluate_dictionary(test, &array)?,
            _ => test.evaluate(&array)?,
        };
        Ok(nested::within_structs(bits, nulls.as_ref(), test))
    }

    fn evaluate_dictionary(&self, test: &LeafTest, array: &ArrayRef) -> Result<BooleanBuffer> {
        let values = array.as_any_dictionary().values();
        if !matches!(values.data_type(), DataType::Dictionary(..)) {
            let accepted = self.accepted_of(test, values)?;
            return test.evaluate_keys(array, &accepted);
        }
        test.evaluate(array)
    }

    /// Returns the dictionary values accepted by the test. Each dictionary in use is only tested once, unless threads
    /// race.
    fn accepted_of(&self, test: &LeafTest, values: &ArrayRef) -> Result<Arc<AcceptedKeys>> {
        let lock = || {
            let tested = self.dictionaries.lock();
            tested.unwrap_or_else(PoisonError::into_inner)
        };
        let same = lock()
            .iter()
            .find(|tested| {
                let tested = tested.values.upgrade();
                tested.is_some_and(|tested| Arc::ptr_eq(&tested, values))
            })
            .map(|tested| tested.accepted.clone());
        if let Some(accepted) = same {
            return Ok(accepted);
        }
        let accepted = Arc::new(AcceptedKeys::new(&test.evaluate_values(values)?));
        let mut tested = lock();
        tested.retain(|tested| tested.values.strong_count() > 0);
        tested.push(TestedDictionary {
            values: Arc::downgrade(values),
            accepted: accepted.clone(),
        });
        Ok(accepted)
    }
}

/// Returns the array at a path, with the combined nulls of all enclosing structs.
fn array_at(path: &[String], batch: &RecordBatch) -> Result<(ArrayRef, Option<NullBuffer>)> {
    let missing = || Error::argument("a tested column was not read");
    let (first, rest) = path.split_first().ok_or_else(missing)?;
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

#[cfg(test)]
mod tests {
    use herringbone_arrow::array::types::Int8Type;
    use herringbone_arrow::array::{DictionaryArray, Int8Array, StringArray};

    use super::*;
    use crate::Literal;
    use crate::predicate::{Comparison, Test};

    fn words() -> ArrayRef {
        Arc::new(StringArray::from(vec!["a", "b", "c"]))
    }

    fn batch(keys: Vec<Option<i8>>, values: &ArrayRef) -> RecordBatch {
        let keys = Int8Array::from(keys);
        let array = DictionaryArray::<Int8Type>::new(keys, values.clone());
        RecordBatch::try_from_iter([("word", Arc::new(array) as ArrayRef)]).unwrap()
    }

    /// A row group's batches share their dictionary. It's tested with the first batch, and the results are dropped
    /// after the last batch.
    #[test]
    fn a_shared_dictionary_is_tested_once() {
        let schema = batch(Vec::new(), &words()).schema();
        let test = Test::Compare(Comparison::Equal, Literal::from("b"));
        let asked = Asked {
            test: &test,
            is_negated: false,
            is_ieee: false,
            quantifier: None,
        };
        let tested = ArrayTest::new(&schema, &["word".to_owned()], asked).unwrap();
        let accepted = |values: &ArrayRef, keys: Vec<Option<i8>>| -> Vec<bool> {
            tested
                .evaluate(&batch(keys, values))
                .unwrap()
                .iter()
                .collect()
        };
        let results = || -> Vec<Arc<AcceptedKeys>> {
            let dictionaries = tested.dictionaries.lock().unwrap();
            dictionaries.iter().map(|it| it.accepted.clone()).collect()
        };
        let first = words();
        assert_eq!(
            accepted(&first, vec![Some(0), Some(1), None]),
            [false, true, false]
        );
        let [once] = results().try_into().unwrap();
        assert_eq!(accepted(&first, vec![Some(1), Some(2)]), [true, false]);
        let [again] = results().try_into().unwrap();
        assert!(Arc::ptr_eq(&once, &again));
        let second = words();
        assert_eq!(accepted(&second, vec![Some(1)]), [true]);
        assert_eq!(results().len(), 2);
        drop(first);
        let third = words();
        assert_eq!(accepted(&third, vec![Some(2)]), [false]);
        assert_eq!(results().len(), 2);
    }
}
