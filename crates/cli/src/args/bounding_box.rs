//! `--bbox [COLUMN=]xmin,ymin,xmax,ymax` selects the rows whose geometry intersects a bounding box.

use std::str::FromStr;

use herringbone::filter::Predicate;
use herringbone::format::{BoundingBox, KeyValue};
use herringbone::geospatial::GeometryColumn;
use herringbone::geospatial::geoparquet::KEY;
use herringbone::{Error, ParquetFile};
use herringbone_interchange::write::geojson::defects_of;

use super::Columns;

/// The value of `--bbox`: a box, and the geometry column that it applies to.
#[derive(Debug, Clone)]
pub(crate) struct WantedBox {
    /// The column's path. `None` means the file's primary geometry column.
    column: Option<Vec<String>>,
    bbox: BoundingBox,
}

impl FromStr for WantedBox {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (column, numbers) = match text.rsplit_once('=') {
            None => (None, text),
            Some((column, numbers)) => {
                let Ok([path]) = <[_; 1]>::try_from(column.parse::<Columns>()?.paths) else {
                    return Err("expected one column before the `=`".into());
                };
                (Some(path), numbers)
            }
        };
        let numbers = numbers.split(',').map(|number| {
            let number = number.trim();
            let parsed = number
                .parse()
                .map_err(|_| format!("{number:?} is not a number"))?;
            match f64::is_nan(parsed) {
                true => Err(format!("{number:?} is not a bound")),
                false => Ok(parsed),
            }
        });
        match *numbers.collect::<Result<Vec<f64>, _>>()? {
            [_, ymin, _, ymax] if ymin > ymax => Err(format!("ymin is {ymin}, above ymax, {ymax}")),
            [xmin, ymin, xmax, ymax] => Ok(Self {
                column,
                bbox: BoundingBox::new(xmin, xmax, ymin, ymax),
            }),
            _ => Err("expected four numbers: xmin,ymin,xmax,ymax".into()),
        }
    }
}

impl WantedBox {
    /// Returns the predicate for `file`. Each file needs a predicate of its own, because the
    /// geometry columns and the primary column depend on the file's metadata.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Argument`](herringbone::ErrorKind::Argument) if the file does not
    /// have the named column, if no column is named and the file does not have a primary one, or if
    /// the box does not fit the column.
    pub(crate) fn predicate(&self, file: &ParquetFile) -> herringbone::Result<Predicate> {
        let columns = GeometryColumn::of_file(file.parquet_schema(), file.metadata())?;
        let names = columns.iter().map(|column| column.path.join("."));
        let names = names.collect::<Vec<_>>().join(", ");
        let found = match &self.column {
            Some(path) => columns.iter().find(|column| column.path == *path),
            None => columns.iter().find(|column| column.is_primary),
        };
        let found = found.ok_or_else(|| {
            let mut pairs = file.metadata().key_value_metadata().iter();
            let geo = pairs.find(|pair| pair.key == KEY);
            let defects = defects_of(geo.and_then(KeyValue::text));
            Error::argument(match (&self.column, columns.is_empty()) {
                (_, true) => {
                    format!("--bbox: the file does not have a geometry column{defects}")
                }
                (Some(path), _) => format!(
                    "--bbox: `{}` is not a geometry column; the geometry columns are: \
                     {names}{defects}",
                    path.join(".")
                ),
                (None, _) => format!(
                    "--bbox: the file does not have a primary geometry column; name one, as in \
                     --bbox COLUMN=xmin,ymin,xmax,ymax: {names}{defects}"
                ),
            })
        })?;
        found.intersects(&self.bbox)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_with_and_without_a_column() {
        let parsed = |text: &str| {
            let wanted: WantedBox = text.parse().unwrap();
            (wanted.column, wanted.bbox)
        };
        let bbox = BoundingBox::new(-10.0, 5.5, 1.0, 2e1);
        assert_eq!(parsed("-10,1,5.5,2e1"), (None, bbox.clone()));
        let path = ["a".to_owned(), "b=c".to_owned()];
        assert_eq!(parsed("a.b=c=-10, 1, 5.5, 20"), (Some(path.to_vec()), bbox));
        assert_eq!(
            parsed("170,0,-170,1").1,
            BoundingBox::new(170.0, -170.0, 0.0, 1.0)
        );
        for (text, message) in [
            ("1,2,3", "four numbers"),
            ("1,2,3,4,5,6", "four numbers"),
            ("1,2,3,x", "\"x\" is not a number"),
            ("1,2,3,nan", "is not a bound"),
            ("1,5,3,4", "above ymax"),
            ("a,b=1,2,3,4", "one column"),
        ] {
            let error = text.parse::<WantedBox>().unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
