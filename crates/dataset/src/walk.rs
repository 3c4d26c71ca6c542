//! Finding a dataset's files, level by level. After each level, we test the filter with the
//! partition values so far, so that ruled out directories are never listed.
//!
//! ```text
//! directories of a level ── listed side by side ──► names ── patterns ──► directories of the next level, files
//!                                                                         └─► partition values ─► verdicts: ruled out?
//! ```

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use herringbone::filter::{Predicate, Verdict};
use herringbone::{Error, ErrorKind, Result};
use herringbone_filter::verdicts_of_known;
use herringbone_remote::Identity;

use crate::directory::{Directory, trimmed};
use crate::files::Files;
use crate::listing::{Entry, Listing};
use crate::metadata_file::NAME;
use crate::options::DatasetOptions;
use crate::partition::{Partition, PartitionTypes, Partitioning};
use crate::side_by_side::in_order;

/// The number of directories to list concurrently.
const LISTED_AT_ONCE: usize = 16;

/// The most levels below a path. Real datasets have far fewer.
const MAX_LEVELS: usize = 64;

/// The most paths to one directory. It is fine for several links to lead to a partition's files,
/// but links on each of many levels would multiply to more paths than we could ever list.
const MAX_PATHS: u32 = 1000;

/// A file of a dataset.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone_dataset::{Dataset, DatasetOptions};
///
/// let dataset = Dataset::open("testdata/datasets/codes/year=2024", DatasetOptions::new())?;
/// for file in dataset.files() {
///     let values: Vec<_> = file.partition().collect();
///     assert_eq!(values[0].0, "code");
///     if file.path().contains("__HIVE_DEFAULT_PARTITION__") {
///         assert_eq!(values[0].1, None);
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct DataFile {
    pub(crate) path: Arc<str>,
    pub(crate) identity: Identity,
    pub(crate) partition: Partition,
    /// The ordinal of the caller's path leading to the file.
    root: usize,
}

impl DataFile {
    /// Returns the file path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the file's listed identity: its length, and its modification time or ETag.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns the names of the file's partition columns, each with its value's decoded text, or
    /// `None` for null.
    pub fn partition(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let names = self.partition.names.iter().map(String::as_str);
        names.zip(self.partition.values.iter().map(Option::as_deref))
    }
}

/// The files found, the types of the partition columns, and the work done.
pub(crate) struct Found {
    pub(crate) files: Vec<DataFile>,
    pub(crate) types: PartitionTypes,
    pub(crate) directories_listed: usize,
    /// The `_metadata` files to use from the caller's directories, each with its directory path.
    pub(crate) metadata_files: Vec<(String, DataFile)>,
}

/// A path given by the caller.
pub(crate) struct Root {
    pub(crate) path: String,
    /// True for a pattern, false for a file or a directory.
    pub(crate) is_pattern: bool,
}

/// Finds the files at the given paths. Each path can be a file, a directory or a pattern.
///
/// # Errors
/// Fails with Io if a path does not exist or cannot be listed, and with Argument if a literal in
/// the predicate cannot be compared with partition columns. Fails with Limit if there are too many
/// files or levels, or too many paths to one directory.
pub(crate) async fn walk(
    files: &mut Files,
    paths: &[Root],
    options: &DatasetOptions,
) -> Result<Found> {
    let mut walk = Walk {
        listing: files.listing.clone(),
        files,
        options,
        found: Found {
            files: Vec::new(),
            types: PartitionTypes::new(options),
            directories_listed: 0,
            metadata_files: Vec::new(),
        },
        entries: 0,
        paths: HashMap::new(),
    };
    let mut level = walk.roots(paths).await?;
    let mut depth = 0;
    while !level.is_empty() {
        if depth == MAX_LEVELS {
            let path = level.first().map_or("", |directory| &directory.path);
            return Err(Error::new(
                ErrorKind::Limit,
                format!("{path} is more than {MAX_LEVELS} levels below the path of the dataset"),
            ));
        }
        depth += 1;
        level = walk.next_level(level).await?;
    }
    walk.finish()
}

struct Walk<'a> {
    listing: Arc<dyn Listing>,
    files: &'a mut Files,
    options: &'a DatasetOptions,
    found: Found,
    /// The number of files and directories found so far.
    entries: usize,
    /// The number of paths to each directory so far, by directory identity.
    paths: HashMap<Box<str>, u32>,
}

impl Walk<'_> {
    /// Returns the directories at the caller's paths, adding any files at those paths.
    async fn roots(&mut self, paths: &[Root]) -> Result<Vec<Directory>> {
        let (mut directories, mut plain) = (Vec::new(), Vec::new());
        for (root, Root { path, is_pattern }) in paths.iter().enumerate() {
            match is_pattern {
                true => directories.push(Directory::of_pattern(path, root)),
                false => plain.push((root, path)),
            }
        }
        let (listing, mut found) = (self.listing.clone(), Vec::new());
        let start = |it: &(usize, &String)| listing.file(it.1);
        in_order(&plain, LISTED_AT_ONCE, start, |file| {
            found.push(file);
            Ok(())
        })
        .await?;
        for ((root, path), file) in plain.into_iter().zip(found) {
            match file {
                Some(identity) if path.rsplit('/').next() == Some(NAME) => {
                    self.add_files_of(path, identity, root).await?;
                }
                Some(_)
                    if matches!(self.options.partitioning, Partitioning::Directories { .. }) =>
                {
                    return Err(Error::argument(format!(
                        "{path} is a file, and `Partitioning::Directories` needs the directory above the values"
                    )));
                }
                Some(identity) => {
                    let partition = self.partition_of(path)?;
                    self.found.types.add(&partition);
                    self.add_file(path.clone(), identity, partition, root)?;
                }
                None => directories.push(Directory {
                    path: trimmed(path).to_owned(),
                    is_root: true,
                    ..Directory::of_pattern("", root)
                }),
            }
        }
        Ok(directories)
    }

    /// Adds the files named in a `_metadata` file. This lists nothing, and only asks for files not
    /// ruled out by the predicate.
    async fn add_files_of(&mut self, path: &str, identity: Identity, root: usize) -> Result<()> {
        let above = match path.rsplit_once('/') {
            Some(("", _)) => "/",
            Some((above, _)) => above,
            None => "",
        };
        let directory = Directory {
            path: above.to_owned(),
            ..Directory::of_pattern("", root)
        };
        let file = DataFile {
            path: path.into(),
            identity,
            partition: Partition::default(),
            root,
        };
        let metadata = self.files.open_metadata_file(above, &file).await?;
        let paths = metadata.paths().map_err(|error| error.in_file(path))?;
        self.files.metadata_files.push(metadata);
        let mut found = Vec::with_capacity(paths.len());
        for below in paths {
            let partition = self.partition_of(&below)?;
            self.found.types.add(&partition);
            found.push((directory.join(&below), partition));
        }
        let partitions: Vec<_> = found.iter().map(|found| &found.1).collect();
        let verdicts = verdicts(&self.found.types, &partitions, self.options.filter.as_ref())?;
        let mut verdicts = verdicts.into_iter();
        found.retain(|_| verdicts.next() != Some(Verdict::None));
        let (listing, mut identities) = (self.listing.clone(), Vec::new());
        let start = |it: &(String, Partition)| listing.file(&it.0);
        in_order(&found, LISTED_AT_ONCE, start, |identity| {
            identities.push(identity);
            Ok(())
        })
        .await?;
        for ((file, partition), identity) in found.into_iter().zip(identities) {
            let missing = || {
                let message = format!("{path}: there is no file {file}");
                Error::from(io::Error::new(io::ErrorKind::NotFound, message))
            };
            let identity = identity.ok_or_else(missing)?;
            self.add_file(file, identity, partition, root)?;
        }
        Ok(())
    }

    /// Returns a file's partition, according to the directories in its path.
    fn partition_of(&self, path: &str) -> Result<Partition> {
        let above = path.rsplit_once('/').map_or("", |parts| parts.0);
        let mut partition = Partition::default();
        for name in above.split('/') {
            partition = self.below(&partition, name, path)?;
        }
        Ok(partition)
    }

    /// Lists a level's directories, returning the next level's directories not ruled out by the
    /// predicate.
    async fn next_level(&mut self, level: Vec<Directory>) -> Result<Vec<Directory>> {
        for directory in &level {
            self.count_paths(&directory.path)?;
        }
        let (listing, mut next) = (self.listing.clone(), Vec::new());
        let mut above = level.iter();
        let start = |directory: &Directory| listing.list(&directory.path);
        in_order(&level, LISTED_AT_ONCE, start, |mut entries| {
            let Some(directory) = above.next() else {
                return Ok(());
            };
            self.found.directories_listed += 1;
            entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
            for entry in entries {
                self.entry(directory, entry, &mut next)?;
            }
            Ok(())
        })
        .await?;
        for directory in &next {
            self.found.types.add(&directory.partition);
        }
        let partitions: Vec<_> = next.iter().map(|next| &next.partition).collect();
        let verdicts = verdicts(&self.found.types, &partitions, self.options.filter.as_ref())?;
        let mut verdicts = verdicts.into_iter();
        next.retain(|_| verdicts.next() != Some(Verdict::None));
        Ok(next)
    }

    fn entry(&mut self, above: &Directory, entry: Entry, next: &mut Vec<Directory>) -> Result<()> {
        let Entry { name, file } = entry;
        // We don't trust a listing with names that lead elsewhere.
        if name.is_empty() || name == "." || name == ".." || name.contains('/') {
            return Err(Error::unsupported(format!(
                "{} contains an entry named `{name}`",
                above.path
            )));
        }
        let (matched, path) = (above.after(&name), above.join(&name));
        let is_used = self.options.use_metadata_file && above.is_root && name == NAME;
        if let Some(identity) = file.as_ref().filter(|_| is_used) {
            let file = DataFile {
                path: path.as_str().into(),
                identity: identity.clone(),
                partition: Partition::default(),
                root: above.root,
            };
            self.found.metadata_files.push((above.path.clone(), file));
        }
        match file {
            Some(identity) if above.is_whole(&matched) && !is_hidden(&name, false) => {
                self.add_file(path, identity, above.partition.clone(), above.root)
            }
            None if !matched.is_empty() && !is_hidden(&name, true) => {
                self.count(&path)?;
                next.push(Directory {
                    partition: self.below(&above.partition, &name, &path)?,
                    patterns: above.patterns.clone(),
                    root: above.root,
                    is_root: false,
                    matched,
                    path,
                });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn below(&self, above: &Partition, name: &str, path: &str) -> Result<Partition> {
        let below = match &self.options.partitioning {
            Partitioning::None => Ok(above.clone()),
            Partitioning::Hive | Partitioning::Typed(_) => above.below(name),
            Partitioning::Directories { names, .. } => above.below_as(names, name),
        };
        below.map_err(|error| Error::new(error.kind(), format!("{path}: {}", error.message())))
    }

    fn add_file(
        &mut self,
        path: String,
        identity: Identity,
        partition: Partition,
        root: usize,
    ) -> Result<()> {
        self.count(&path)?;
        let partition = match &self.options.partitioning {
            Partitioning::Directories { names, .. } => partition.filled(names)?,
            _ => partition,
        };
        self.found.files.push(DataFile {
            path: path.into(),
            identity,
            partition,
            root,
        });
        Ok(())
    }

    /// Counts a path to a directory, because other paths might lead to the same directory.
    fn count_paths(&mut self, path: &str) -> Result<()> {
        let Some(identity) = self.listing.directory_identity(path) else {
            return Ok(());
        };
        let paths = self.paths.entry(identity.into()).or_default();
        *paths += 1;
        match *paths > MAX_PATHS {
            false => Ok(()),
            true => Err(Error::new(
                ErrorKind::Limit,
                format!(
                    "{path}: symbolic links lead to this directory by more than {MAX_PATHS} paths"
                ),
            )),
        }
    }

    /// Counts a file or directory.
    fn count(&mut self, path: &str) -> Result<()> {
        self.entries += 1;
        let most = self.options.max_entries;
        if self.entries <= most {
            return Ok(());
        }
        let message =
            format!("the dataset has more than {most} files and directories, up to {path}");
        Err(Error::new(ErrorKind::Limit, message + " (`max_entries`)"))
    }

    /// Sorts the files, removing any ruled out by the predicate.
    fn finish(self) -> Result<Found> {
        let mut found = self.found;
        found.files.sort_by(|one, other| {
            let order = one.root.cmp(&other.root);
            order.then_with(|| one.path.split('/').cmp(other.path.split('/')))
        });
        let partitions: Vec<_> = found.files.iter().map(|file| &file.partition).collect();
        let verdicts = verdicts(&found.types, &partitions, self.options.filter.as_ref())?;
        let mut verdicts = verdicts.into_iter();
        found
            .files
            .retain(|_| verdicts.next() != Some(Verdict::None));
        Ok(found)
    }
}

/// Returns true for names that usually aren't data, such as `.crc`, `_SUCCESS`, `_metadata` and
/// `_delta_log`, but not for a partition such as `_a=1/`.
fn is_hidden(name: &str, is_directory: bool) -> bool {
    name.starts_with('.') || (name.starts_with('_') && !(is_directory && name.contains('=')))
}

/// Returns one verdict per partition.
///
/// # Errors
/// Fails with Argument if a literal is not comparable with its column's values.
pub(crate) fn verdicts(
    types: &PartitionTypes,
    partitions: &[&Partition],
    predicate: Option<&Predicate>,
) -> Result<Vec<Verdict>> {
    let Some(predicate) = predicate else {
        return Ok(vec![Verdict::All; partitions.len()]);
    };
    // We group the partitions by their columns, because branches of the tree can have different
    // columns.
    let mut groups: BTreeMap<&[String], Vec<usize>> = BTreeMap::new();
    for (at, partition) in partitions.iter().enumerate() {
        groups.entry(&partition.names).or_default().push(at);
    }
    let mut verdicts = vec![Verdict::Some; partitions.len()];
    for members in groups.values() {
        let group = members.iter().filter_map(|at| partitions.get(*at).copied());
        let group: Vec<_> = group.collect();
        let predicate = types.by_value(predicate, &group);
        let verdicts_of_group = verdicts_of_known(&predicate, &types.batch(&group)?)?;
        for (at, verdict) in members.iter().zip(verdicts_of_group) {
            if let Some(slot) = verdicts.get_mut(*at) {
                *slot = verdict;
            }
        }
    }
    Ok(verdicts)
}
