//! Predicates about the columns of a wanted schema, which a file has under other names, as other types, or not at all.

use herringbone_arrow::array::{Array as _, ArrayRef};
use herringbone_arrow::schema::DataType;

use super::Predicate;
use super::predicate::Expression;
use herringbone_core::cast::Cast;

/// The paths that a predicate looks at, by wanted names.
pub fn tested_paths(predicate: &Predicate) -> Vec<Vec<String>> {
    let parts = predicate.0.parts().into_iter();
    let paths = parts.flat_map(|part| match part {
        Expression::Test { column, .. } => vec![column.path.clone()],
        Expression::Rows(predicate) => predicate.columns(),
        Expression::And(_) | Expression::Or(_) | Expression::Not(_) => Vec::new(),
    });
    paths.collect()
}

/// What bounds of the file become before they are compared as wanted values are.
///
/// All casts keep the order of values, so bounds stay bounds.
#[derive(Debug, Clone)]
pub(super) enum BoundsCast {
    /// The order of the file is that of the wanted type.
    Keep,
    Cast(Cast),
}

impl BoundsCast {
    /// For bounds of the type `file`; none where they cannot be compared.
    pub(super) fn new(file: &DataType, wanted: &DataType) -> Option<Self> {
        let wanted = values_type(wanted);
        if *file == wanted {
            return Some(Self::Keep);
        }
        Cast::new(file, &wanted).map(Self::Cast)
    }

    /// The type of the values that are compared.
    pub(super) fn data_type<'a>(&'a self, file: &'a DataType) -> &'a DataType {
        match self {
            Self::Keep => file,
            Self::Cast(cast) => cast.data_type(),
        }
    }

    /// Whether values are compared by the same keys as those of the type `file`, so that these stand for its bytes.
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

    /// The bounds; none where one has no place in the wanted type.
    pub(super) fn apply(&self, bounds: &ArrayRef) -> Option<ArrayRef> {
        match self {
            Self::Keep => Some(bounds.clone()),
            Self::Cast(cast) => cast.apply(bounds).ok(),
        }
    }
}

/// Values of a column as they are under a wanted schema, whatever the layout; none where one of them has no place there.
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

/// The type of the values in dictionaries and runs.
fn inner_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => inner_type(values),
        DataType::RunEndEncoded(_, values) => inner_type(values.data_type()),
        other => other,
    }
}

/// The type of the values of an array, in the layout that bounds have.
fn values_type(data_type: &DataType) -> DataType {
    match inner_type(data_type) {
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView => DataType::Binary,
        other => other.clone(),
    }
}
