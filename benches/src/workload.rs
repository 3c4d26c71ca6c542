//! Cases, which are pieces of work that each side does.

use crate::{Result, arrow_rs, ours};
use bytes::Bytes;
use std::path::Path;

/// One side of a case, which returns a count that must be equal for all sides.
pub type Work = Box<dyn Fn() -> Result<u64>>;

/// Runs two pieces of work in parallel, on separate threads and data. This is the limit of what two
/// cores can do.
pub fn side_by_side<T: Fn() -> Result<u64> + Clone + Send + 'static>(work: T, other: T) -> Work {
    Box::new(move || {
        let other = other.clone();
        let other = std::thread::spawn(move || other().map_err(|error| error.to_string()));
        let count = work()?;
        match other.join() {
            Ok(same) => assert_eq!(same?, count, "the same work"),
            Err(_) => return Err("the other thread panicked".into()),
        }
        Ok(count)
    })
}

/// A case.
pub struct Workload {
    /// The file name, and the work if it is not reading the whole file.
    pub name: String,
    /// The work of Herringbone.
    pub ours: Work,
    /// The work of `parquet`.
    pub theirs: Work,
    /// The floors to compare with, which are both sides without decoding, or one walk over the
    /// footer.
    pub floors: Vec<Work>,
}

impl Workload {
    fn new(
        name: String,
        bytes: &Bytes,
        ours: impl Fn(&Bytes) -> Result<u64> + 'static,
        theirs: impl Fn(&Bytes) -> Result<u64> + 'static,
    ) -> Self {
        let (our_bytes, their_bytes) = (bytes.clone(), bytes.clone());
        Self {
            name,
            ours: Box::new(move || ours(&our_bytes)),
            theirs: Box::new(move || theirs(&their_bytes)),
            floors: Vec::new(),
        }
    }

    fn with_floors(mut self, bytes: &Bytes) -> Self {
        let (our_bytes, their_bytes) = (bytes.clone(), bytes.clone());
        self.floors = vec![
            Box::new(move || ours::pages(&our_bytes)),
            Box::new(move || arrow_rs::pages(&their_bytes)),
        ];
        self
    }

    /// Sets a walk over the footer as the floor, which returns the same count as the sides.
    fn over_footer(mut self, bytes: &Bytes) -> Result<Self> {
        let (bytes, count) = (bytes.clone(), (self.ours)()?);
        self.floors = vec![Box::new(move || {
            ours::walk_footer(&bytes)?;
            Ok(count)
        })];
        Ok(self)
    }
}

/// Loads one file into memory and returns its cases.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn of_file(path: &Path) -> Result<Vec<Workload>> {
    let name = case_name(path);
    let bytes = Bytes::from(std::fs::read(path)?);
    let all = |bytes: &Bytes| ours::read(bytes, None);
    let all_theirs = |bytes: &Bytes| arrow_rs::read(bytes, None);
    if !name.starts_with("wide_") {
        let mut cases = Vec::new();
        if name.starts_with("str_") {
            let title = format!("{name}, views");
            let (ours, theirs) = (ours::read_views, arrow_rs::read_views);
            cases.push(Workload::new(title, &bytes, ours, theirs));
        }
        // If there is nothing to decode, the transfer of bytes from disk matters.
        if name.ends_with("_plain_req") || name.ends_with("_none") {
            let (our_path, their_path) = (path.to_owned(), path.to_owned());
            cases.push(Workload::new(
                format!("{name}, from a file"),
                &bytes,
                move |_| ours::read_path(&our_path),
                move |_| arrow_rs::read_path(&their_path),
            ));
        }
        cases.push(Workload::new(name, &bytes, all, all_theirs).with_floors(&bytes));
        return Ok(cases);
    }
    // Files with many columns test how footers are read.
    const FEW: [usize; 5] = [0, 7, 1000, 2500, 4999];
    let few = |bytes: &Bytes| ours::read(bytes, Some(&FEW));
    let few_theirs = |bytes: &Bytes| arrow_rs::read(bytes, Some(&FEW));
    let titled = |what: &str| format!("{name}, {what}");
    let open = Workload::new(titled("open"), &bytes, ours::open, arrow_rs::open);
    let schema = Workload::new(
        titled("Arrow schema"),
        &bytes,
        ours::schema,
        arrow_rs::schema,
    );
    let few = Workload::new(titled("5 columns"), &bytes, few, few_theirs);
    Ok(vec![
        open.over_footer(&bytes)?,
        schema.over_footer(&bytes)?,
        few.over_footer(&bytes)?,
        Workload::new(titled("all columns"), &bytes, all, all_theirs),
    ])
}

/// Returns the file name without its extension.
#[must_use]
pub fn case_name(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
