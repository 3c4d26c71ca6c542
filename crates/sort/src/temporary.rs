//! Compressed temporary files, encrypted if the output file is encrypted. They vanish when dropped
//! or when the process ends.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use herringbone_core::compression::{Compression, compress, decompress};
use herringbone_format::modular_encryption::{MAX_ORDINALS, ModuleCipher, ModuleId, ModuleKind};
use herringbone_format::{Error, Remedy, Result};
use herringbone_write::WritePlan;

use crate::unnamed_file::UnnamedFile;

/// The settings for spilled rows: where temporary files go, and how they are compressed and
/// encrypted.
pub(super) struct Spill {
    plan: Arc<WritePlan>,
    /// The options' folder, otherwise the output file's folder, or `None` if neither is known.
    folder: Option<PathBuf>,
    compression: Compression,
    /// The cipher, created along with the first file.
    cipher: Option<Arc<dyn ModuleCipher>>,
    /// The next block's number. Blocks are numbered across all files, so that no two share an
    /// encryption module.
    next_block: u64,
}

impl Spill {
    /// Creates the settings for a file's rows. `path` is the file's path, if known.
    pub(super) fn new(plan: &Arc<WritePlan>, path: Option<&Path>) -> Self {
        let beside = |path: &Path| match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        // We take the fastest available codec, since each file is written once and read once.
        let is_there = |it: &Compression| compress(*it, &[], &mut Vec::new()).is_ok();
        let compression = [Compression::Lz4Raw, Compression::Snappy];
        Self {
            plan: plan.clone(),
            folder: plan.options().sort_folder.clone().or(path.map(beside)),
            compression: compression
                .into_iter()
                .find(is_there)
                .unwrap_or(Compression::Uncompressed),
            cipher: None,
            next_block: 0,
        }
    }

    /// Creates a file.
    ///
    /// # Errors
    /// Fails with Io if the file cannot be created, and with Unsupported if the output file is
    /// encrypted but temporary files cannot be.
    pub(super) fn create(&mut self) -> Result<TemporaryFile> {
        if self.cipher.is_none() {
            self.cipher = self.plan.temporary_cipher()?;
        }
        let folder = match &self.folder {
            Some(folder) => folder.clone(),
            None => system_folder()?,
        };
        let file = UnnamedFile::create(&folder, "sort").map_err(|error| failed(&folder, &error))?;
        Ok(TemporaryFile {
            file,
            folder,
            compression: self.compression,
            cipher: self.cipher.clone(),
            blocks: Vec::new(),
            end: 0,
        })
    }

    /// Returns a new block number.
    fn block(&mut self) -> u64 {
        self.next_block += 1;
        self.next_block - 1
    }
}

#[cfg(not(target_family = "wasm"))]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
fn system_folder() -> Result<PathBuf> {
    Ok(std::env::temp_dir())
}

#[cfg(target_family = "wasm")]
fn system_folder() -> Result<PathBuf> {
    Err(Error::unsupported(
        "rows to sort do not fit into `sort_memory_bytes`, and there is no folder for temporary files",
    ))
}

/// A temporary file, written block by block and read afterwards.
pub(super) struct TemporaryFile {
    file: UnnamedFile,
    folder: PathBuf,
    compression: Compression,
    cipher: Option<Arc<dyn ModuleCipher>>,
    blocks: Vec<Block>,
    end: u64,
}

/// A block's place in the file.
#[derive(Debug, Clone, Copy)]
struct Block {
    number: u64,
    offset: u64,
    stored: usize,
    /// The block's original size in bytes.
    bytes: usize,
}

impl Block {
    /// Returns an encryption module unique to this block. We pose as a page header, because every
    /// algorithm authenticates headers.
    fn id(&self) -> ModuleId {
        let most = MAX_ORDINALS as u64;
        let digit = |place: u32| (self.number / most.pow(place) % most) as usize;
        ModuleId::of_page(ModuleKind::DataPageHeader, digit(2), digit(1), digit(0))
    }
}

impl TemporaryFile {
    /// Appends a block.
    ///
    /// # Errors
    /// Fails with Io if the block cannot be written. Also returns the cipher's errors.
    pub(super) fn write(&mut self, bytes: &[u8], spill: &mut Spill) -> Result<()> {
        let mut stored = Vec::new();
        compress(self.compression, bytes, &mut stored)?;
        let mut block = Block {
            number: spill.block(),
            offset: self.end,
            stored: stored.len(),
            bytes: bytes.len(),
        };
        if let Some(cipher) = &self.cipher {
            let mut module = Vec::new();
            cipher.encrypt(&block.id(), &stored, &mut module)?;
            stored = module;
        }
        block.stored = stored.len();
        let written = self.file.file().write_all(&stored);
        written.map_err(|error| failed(&self.folder, &error))?;
        self.end += stored.len() as u64;
        self.blocks.push(block);
        Ok(())
    }

    /// Reads the block with this ordinal, or returns `None` after the last block.
    ///
    /// # Errors
    /// Fails with Io if the block cannot be read. Also returns the cipher's errors.
    fn read(&mut self, ordinal: usize) -> Result<Option<Vec<u8>>> {
        let Some(block) = self.blocks.get(ordinal) else {
            return Ok(None);
        };
        let mut stored = vec![0; block.stored];
        let mut file = self.file.file();
        let read = file
            .seek(SeekFrom::Start(block.offset))
            .and_then(|_| file.read_exact(&mut stored));
        read.map_err(|error| failed(&self.folder, &error))?;
        if let Some(cipher) = &self.cipher {
            let module = std::mem::take(&mut stored);
            cipher.decrypt(&block.id(), &module, 0, &mut stored)?;
        }
        let mut bytes = vec![0; block.bytes];
        decompress(self.compression.codec(), &stored, &mut bytes)?;
        Ok(Some(bytes))
    }
}

/// A reader of all blocks' bytes, in order.
pub(super) struct BlockReader {
    file: TemporaryFile,
    next: usize,
    bytes: io::Cursor<Vec<u8>>,
}

impl BlockReader {
    pub(super) fn new(file: TemporaryFile) -> Self {
        Self {
            file,
            next: 0,
            bytes: io::Cursor::default(),
        }
    }
}

impl Read for BlockReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.bytes.read(out)?;
            if read > 0 || out.is_empty() {
                return Ok(read);
            }
            match self.file.read(self.next).map_err(io::Error::other)? {
                Some(bytes) => self.bytes = io::Cursor::new(bytes),
                None => return Ok(0),
            }
            self.next += 1;
        }
    }
}

/// Returns the error for a failed operation on a temporary file.
#[cold]
fn failed(folder: &Path, error: &io::Error) -> Error {
    let message = format!(
        "temporary file for sorting, in {}: {error}",
        folder.display()
    );
    Error::from(io::Error::new(error.kind(), message)).with_remedy(Remedy::ChooseSortFolder)
}
