//! `bloom check` asks bloom filters which row groups might contain a value.

use herringbone::Step;
use herringbone::format::Type;
use herringbone::pruning::bloom_filter_hash;
use herringbone::schema::Leaf;
use herringbone_arrow::array::types::{
    Decimal128Type, Decimal256Type, Float16Type, Float32Type, Float64Type,
};
use herringbone_arrow::array::{Array, cast::AsArray};
use herringbone_arrow::schema::DataType;
use herringbone_interchange::read::value_of;

use super::chunk_stats::object;
use crate::args::{BloomCheck, Chunks};
use crate::base::failure::{Failure, Result};
use crate::base::type_name::type_name;
use crate::input::Input;
use crate::input::column_chunks::{self, Place};
use crate::input::context::Context;
use crate::output::Output;
use crate::render::table::shown;
use crate::render::table_or_jsonl::{self, Header, Listing};

/// The table's columns.
const HEADER: Header<'_> = Header {
    names: &["row group", "column", "answer"],
    keys: &["row_group", "path", "answer"],
    numbers: &[0],
    spare: &[],
};

/// Lists the answers of the bloom filters in the chosen column.
pub(crate) fn check(
    context: &Context,
    input: &Input,
    request: &BloomCheck,
    output: &mut Output<'_>,
) -> Result<()> {
    let format = table_or_jsonl::format(request.format.get(), output);
    let (columns, value) = request.column_and_value()?;
    let file = input.open()?;
    let chunks = Chunks {
        columns: Some(columns),
        row_groups: request.row_groups.clone(),
    };
    let (row_groups, leaves) = column_chunks::of_file(&file, &chunks, input)?;
    let [leaf] = leaves[..] else {
        let text = format!(
            "the column contains {} columns; name one of them",
            leaves.len()
        );
        return Err(Failure::Usage(text));
    };
    let column = Place {
        file: &file,
        row_group: 0,
        leaf,
    };
    let hashes = hashes(&column, value)?;
    let mut list = Listing::new(format, HEADER, output);
    for row_group in row_groups {
        let place = Place {
            file: &file,
            row_group,
            leaf,
        };
        context.after_damage(row_group_answer(input, &place, &hashes, &mut list))?;
    }
    list.finish()
}

/// Lists one bloom filter's answer.
fn row_group_answer(
    input: &Input,
    place: &Place<'_>,
    hashes: &[u64],
    list: &mut Listing<'_, '_>,
) -> Result<()> {
    let answer = answer(place, hashes).map_err(|error| {
        let error = error
            .in_row_group(place.row_group)
            .in_column(place.path().join("."));
        input.failure(&error)
    })?;
    list.line(
        || {
            vec![
                place.row_group.to_string(),
                shown(&place.path().join(".")),
                answer.to_owned(),
            ]
        },
        || Ok(object(&input.name, place).with("answer", answer).into()),
    )
}

/// Returns the answer of a column chunk's filter. It is positive if the filter contains any of
/// these hashes.
fn answer(place: &Place<'_>, hashes: &[u64]) -> herringbone::Result<&'static str> {
    let file = place.file;
    let Some(mut filter) = file.bloom_filter(place.row_group, place.leaf)? else {
        return Ok("no filter");
    };
    for hash in hashes {
        let may_have = loop {
            match filter.poll(*hash, file.limits())? {
                Step::Ready(may_have) => break may_have,
                Step::Need(range) => filter.supply(range.start, file.source().read(range)?),
            }
        };
        if may_have {
            return Ok("maybe");
        }
    }
    Ok("no")
}

/// Returns the value's possible hashes in a filter of the column.
fn hashes(place: &Place<'_>, text: &str) -> Result<Vec<u64>> {
    let field = place.value_field();
    let field = field.map_err(|error| Failure::Usage(error.to_string()))?;
    let array = value_of(&field, text).map_err(Failure::Usage)?;
    let column = place.file.parquet_schema().leaves().get(place.leaf);
    let values = column.and_then(|column| plain(&array, column));
    let values = values.ok_or_else(|| {
        Failure::Usage(format!(
            "bloom filters do not support this value of {}",
            type_name(&field)
        ))
    })?;
    let hashes = values.iter().map(|value| bloom_filter_hash(value));
    Ok(hashes.collect())
}

/// Returns the PLAIN form of an array's only value, as hashed by a filter. Zero has two forms,
/// because -0.0 and 0.0 are equal. Returns `None` if the value could also have other forms, or if
/// the type doesn't support bloom filters.
fn plain(array: &dyn Array, column: &Leaf) -> Option<Vec<Vec<u8>>> {
    let one = |bytes: Vec<u8>| Some(vec![bytes]);
    match (array.data_type(), column.physical_type) {
        (_, Type::Boolean | Type::Int96) => None,
        // A value of the wrong length for the column was read as variable-length bytes.
        (DataType::Binary, Type::FixedLenByteArray)
            if array.as_binary::<i32>().value(0).len() != column.type_length =>
        {
            None
        }
        (DataType::Utf8, _) => one(array.as_string::<i32>().value(0).as_bytes().to_vec()),
        (DataType::Binary, _) => one(array.as_binary::<i32>().value(0).to_vec()),
        (DataType::FixedSizeBinary(_), _) => one(array.as_fixed_size_binary().value(0).to_vec()),
        (DataType::Float16, _) => {
            let value = array.as_primitive::<Float16Type>().value(0);
            let zeros = [value, -value].map(|value| value.to_le_bytes().to_vec());
            (!value.is_nan()).then(|| forms(value.to_f64() == 0.0, zeros))
        }
        (DataType::Float32, _) => {
            let value = array.as_primitive::<Float32Type>().value(0);
            let zeros = [value, -value].map(|value| value.to_le_bytes().to_vec());
            (!value.is_nan()).then(|| forms(value == 0.0, zeros))
        }
        (DataType::Float64, _) => {
            let value = array.as_primitive::<Float64Type>().value(0);
            let zeros = [value, -value].map(|value| value.to_le_bytes().to_vec());
            (!value.is_nan()).then(|| forms(value == 0.0, zeros))
        }
        (DataType::Decimal128(..), physical) => {
            let value = array.as_primitive::<Decimal128Type>().value(0);
            match physical {
                Type::Int32 => one(i32::try_from(value).ok()?.to_le_bytes().to_vec()),
                Type::Int64 => one(i64::try_from(value).ok()?.to_le_bytes().to_vec()),
                _ => big_endian(&value.to_be_bytes(), column).map(|bytes| vec![bytes]),
            }
        }
        (DataType::Decimal256(..), _) => {
            let value = array.as_primitive::<Decimal256Type>().value(0);
            big_endian(&value.to_be_bytes(), column).map(|bytes| vec![bytes])
        }
        (data_type, physical) => {
            let data = array.to_data();
            let bytes = data
                .buffers()
                .first()?
                .get(..data_type.primitive_width()?)?;
            let is_negative = data_type.is_signed_integer() && bytes.last()? >> 7 == 1;
            let length = match physical {
                Type::Int32 => 4,
                Type::Int64 => 8,
                _ => return None,
            };
            let mut value = bytes.to_vec();
            value.resize(length, if is_negative { 0xFF } else { 0 });
            one(value)
        }
    }
}

/// Returns both forms if `both` is set, otherwise only the first.
fn forms(both: bool, forms: [Vec<u8>; 2]) -> Vec<Vec<u8>> {
    let [first, second] = forms;
    match both {
        true => vec![first, second],
        false => vec![first],
    }
}

/// Returns a big-endian number in `type_length` bytes, truncated or sign-extended. Returns `None`
/// if it doesn't fit, or for a column without a fixed length, where writers disagree on the byte
/// count.
fn big_endian(bytes: &[u8], column: &Leaf) -> Option<Vec<u8>> {
    if column.physical_type != Type::FixedLenByteArray {
        return None;
    }
    let sign = if bytes.first()? >> 7 == 1 { 0xFF } else { 0 };
    let missing = column.type_length.saturating_sub(bytes.len());
    let cut = bytes.len().saturating_sub(column.type_length);
    let (cut, kept) = bytes.split_at(cut);
    let fits = cut.iter().all(|byte| *byte == sign);
    fits.then(|| [vec![sign; missing], kept.to_vec()].concat())
}
