//! Predicates on the columns of a wanted schema. The file might store these columns with other names or types, or not
//! at all.

use herringbone_arrow::array::{Array as _, ArrayRef};
use herringbone_arrow::schema::DataType;

use super::Predicate;
use super::predicate::Expression;
use herringbone_core::cast::Cast;

/// Returns the paths used by a predicate, with the wanted schema's names.
pub fn tested_paths(predicate: &Predicate) -> Vec<Vec<String>> {
    let parts = predicate.0.parts().into_iter();
    let paths = parts.flat_map(|part| match part {
        Expression::Test { column, .. } => vec![column.path.clone()],
        Expression::Rows(predicate) => predicate.columns(),
        Expression::And(_) | Expression::Or(_) | Expression::Not(_) => Vec::new(),
    });
    paths.collect()
}

/// The conversion from a file's bounds to the type used to compare wanted values.
///
/// All of these casts preserve the order of values, so that bounds remain bounds.
#[derive(Debug, Clone)]
pub(super) enum BoundsCast {
    /// No conversion, because the file's type and the wanted type have the same order.
    Keep,
    Cast(Cast),
}

impl BoundsCast {
    /// Creates the conversion for bounds of the type `file`, or returns `None` if they cannot be compared.
    pub(super) fn new(file: &DataType, wanted: &DataType) -> Option<Self> {
        let wanted = values_type(wanted);
        if *file == wanted {
            return Some(Self::Keep);
        }
        Cast::new(file, &wanted).map(Self::Cast)
    }

    /// Returns the type of the compared values.
    pub(super) fn data_type<'a>(&'a self, file: &'a DataType) -> &'a DataType {
        match self {
            Self::Keep => file,
            Self::Cast(cast) => cast.data_type(),
        }
    }

    /// Returns true if values have the same keys as values of the type `file`. If so, the bytes of a value in the file
    /// follow from its key.
    pub(super) fn keeps_keys(&self, file: &DataType) -> bool {
        use DataType as T;
        let wanted = self.data_type(file);
        *file == *wanted
            || (file.is_integer() && wanted.is_integer())
            || matches!(
                (file, wanted),
                (T::Float32, T::Float64) | (T::Utf8, T::Binary) | (T::Binary, T::Utf8)
            )
    }

    /// Converts the bounds, or returns `None` if the wanted type cannot represent them all.
    pub(super) fn apply(&self, bounds: &ArrayRef) -> Option<ArrayRef> {
        match self {
            Self::Keep => Some(bounds.clone()),
            Self::Cast(cast) => cast.apply(bounds).ok(),
        }
    }
}

/// Converts a column's values to the wanted type, ignoring differences in layout. Returns `None` if the wanted type
/// cannot represent them all.
pub(super) fn as_wanted(values: &ArrayRef, wanted: Option<&DataType>) -> Option<ArrayRef> {
    let Some(wanted) = wanted else {
        return Some(values.clone());
    };
    let (file, wanted) = (values.data_type(), inner_type(wanted));
    if file == wanted || values_type(file) == values_type(wanted) {
        return Some(values.clone());
    }
    Cast::new(file, wanted)?.apply(values).ok()
}

/// Returns the type of the values inside dictionaries and runs.
fn inner_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => inner_type(values),
        DataType::RunEndEncoded(_, values) => inner_type(values.data_type()),
        other => other,
    }
}

/// Returns the type of an array's values, in the layout used for bounds.
fn values_type(data_type: &DataType) -> DataType {
    match inner_type(data_type) {
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView => DataType::Binary,
        other => other.clone(),
    }
}
