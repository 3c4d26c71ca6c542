//! What to read of a file, and how.

use std::ops::Range;
use std::sync::Arc;

use herringbone_format::Limits;
use herringbone_format::modular_encryption::Decryption;
use herringbone_pipeline::Spawn;
use herringbone_schema::{Projection, SchemaOptions};

use super::{RowSelection, VirtualColumn};
use crate::extension::{ExtensionColumnOption, ExtensionType};
use crate::filter::{Predicate, PruningSteps};
use crate::loss::OnError;
use crate::memory_pool::MemoryPool;
use crate::read::WantedSchema;

/// What to read of a file, and how. The default reads all of it.
///
/// ```
/// use herringbone_core::read::ReadOptions;
///
/// let options = ReadOptions::new().columns(["id", "name"]).limit(100);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The columns.
    pub projection: Projection,
    /// Ordinals of the row groups, in the order in which they are to come; all where `None`.
    pub row_groups: Option<Vec<usize>>,
    /// Rows, counted from the first row of the file; all where `None`. Ranges may overlap and come
    /// in any order: each row in one of them is read once, in file order.
    pub row_ranges: Option<Vec<Range<u64>>>,
    /// Rows that are kept or left out: those that all of these leave.
    pub row_selections: Vec<RowSelection>,
    /// Which of these rows are wanted, by their values; all where `None`.
    pub filter: Option<Predicate>,
    /// How rows are passed over that nobody wants.
    pub pruning: PruningSteps,
    /// Rows to pass over, of those that the options above leave.
    pub offset: u64,
    /// Rows to read at most, after `offset`.
    pub limit: Option<u64>,
    /// Rows of a batch, at most. A batch never spans row groups.
    pub batch_size: usize,
    /// Bytes of a batch, roughly: batches of wide rows have fewer rows.
    pub batch_bytes: usize,
    /// Threads that decode, the caller's included; 0 stands for one a core.
    pub threads: usize,
    /// A program's own threads; those of a pool that all readers and writers of the process share if `None`.
    pub spawn: Option<Arc<dyn Spawn>>,
    /// Memory that reads share. A read takes at most [`Limits::memory_bytes`] of it.
    pub memory_pool: Option<Arc<dyn MemoryPool>>,
    /// Whether the reader may have the C library of GNU/Linux keep freed memory for the next batch. That is a setting
    /// of the whole process, which stays. Without it, each batch may take a page fault for every 4 KiB.
    pub tune_allocator: bool,
    /// Whether pages that carry a checksum are compared with it.
    pub verify_crc: bool,
    /// What to do about damaged pages and row groups.
    pub on_error: OnError,
    /// What the file may ask for.
    pub limits: Limits,
    /// The Arrow types that columns become.
    pub schema: SchemaOptions,
    /// The schema that the batches shall have, whatever the file has; that which follows from `projection` and
    /// `schema` where `None`. It says which columns are read; a projection beside it names some of its own.
    pub wanted_schema: Option<WantedSchema>,
    /// Who has the keys of the file, for calls that open it. A file that is open already has been asked for
    /// them.
    pub decryption: Option<Arc<dyn Decryption>>,
    /// Extension types that are asked what they make of each field, before those of the library.
    pub extensions: Vec<Arc<dyn ExtensionType>>,
    /// Columns that extension types make, behind those of `projection`.
    pub extension_columns: Vec<ExtensionColumnOption>,
    /// Columns that say where rows come from, behind all others.
    pub virtual_columns: Vec<VirtualColumn>,
}

impl ReadOptions {
    /// Rows of a batch, unless chosen otherwise.
    pub const DEFAULT_BATCH_SIZE: usize = 8192;
    /// Bytes of a batch, unless chosen otherwise.
    pub const DEFAULT_BATCH_BYTES: usize = 128 << 20;

    /// Everything, with default settings.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            projection: Projection::All,
            row_groups: None,
            row_ranges: None,
            row_selections: Vec::new(),
            filter: None,
            pruning: PruningSteps::all(),
            offset: 0,
            limit: None,
            batch_size: Self::DEFAULT_BATCH_SIZE,
            batch_bytes: Self::DEFAULT_BATCH_BYTES,
            threads: 0,
            spawn: None,
            memory_pool: None,
            tune_allocator: true,
            verify_crc: true,
            on_error: OnError::Fail,
            limits: Limits::default(),
            schema: SchemaOptions::default(),
            wanted_schema: None,
            decryption: None,
            extensions: Vec::new(),
            extension_columns: Vec::new(),
            virtual_columns: Vec::new(),
        }
    }
}

/// Declares setters that can be chained, one a field.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {
        impl ReadOptions {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $name: $type) -> Self {
                self.$name = $name.into();
                self
            }
        )*}
    };
}

setters! {
    /// Chooses columns by any kind of [`Projection`].
    projection: Projection;
    /// Chooses row groups by their ordinals.
    row_groups: Vec<usize>;
    /// Chooses rows of the file.
    row_ranges: Vec<Range<u64>>;
    /// Chooses rows by their values.
    filter: Predicate;
    /// Chooses how rows are passed over that nobody wants.
    pruning: PruningSteps;
    /// Passes over rows.
    offset: u64;
    /// Stops after that many rows.
    limit: u64;
    /// Sets the rows of a batch.
    batch_size: usize;
    /// Sets the bytes of a batch.
    batch_bytes: usize;
    /// Sets the number of threads; 0 stands for one a core.
    threads: usize;
    /// Lends threads of the program.
    spawn: Arc<dyn Spawn>;
    /// Takes the memory of the read from a pool.
    memory_pool: Arc<dyn MemoryPool>;
    /// Allows or forbids to tune the allocator.
    tune_allocator: bool;
    /// Switches checksums on or off.
    verify_crc: bool;
    /// Chooses what to do about damage.
    on_error: OnError;
    /// Sets what the file may ask for.
    limits: Limits;
    /// Chooses the Arrow types.
    schema: SchemaOptions;
    /// Sets the schema that the batches shall have.
    wanted_schema: WantedSchema;
    /// Sets who has the keys of the file.
    decryption: Arc<dyn Decryption>;
}

impl ReadOptions {
    /// Chooses top-level columns by name.
    #[must_use]
    pub fn columns<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
        self.projection(Projection::Names(
            names.into_iter().map(Into::into).collect(),
        ))
    }

    /// Adds an extension type.
    #[must_use]
    pub fn extension(mut self, extension: impl ExtensionType + 'static) -> Self {
        self.extensions.push(Arc::new(extension));
        self
    }

    /// Keeps or leaves out rows, of those that are left so far.
    #[must_use]
    pub fn row_selection(mut self, selection: RowSelection) -> Self {
        self.row_selections.push(selection);
        self
    }

    /// Adds a column that says where rows come from.
    #[must_use]
    pub fn virtual_column(mut self, column: VirtualColumn) -> Self {
        self.virtual_columns.push(column);
        self
    }

    /// Adds a column that an extension type makes from the field at a path, whether or not the field
    /// itself is read. What is decoded for both is decoded once.
    #[must_use]
    pub fn extension_column<S: Into<String>>(
        mut self,
        name: impl Into<String>,
        path: impl IntoIterator<Item = S>,
        extension: impl ExtensionType + 'static,
    ) -> Self {
        self.extension_columns.push(ExtensionColumnOption {
            name: name.into(),
            path: path.into_iter().map(Into::into).collect(),
            extension: Arc::new(extension),
        });
        self
    }
}
