//! Chooses how a column chunk's levels are stored, based on its first page.

use herringbone_format::Result;
use herringbone_kernels::hybrid::Runs;

use crate::options::DataPageVersion;
use crate::settings::ColumnSettings;
use herringbone_core::compression::Compression;
use herringbone_core::levels::{EncodedLevels, PageLevels};

/// The part of the level bytes that version 1 pages must save, as a divisor. Readers make better use of version 2, so
/// version 1 has to be worth it.
const MIN_SHARE: usize = 8;

/// The stored form of a chunk's levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LevelForm {
    pub(crate) runs: Runs,
    /// The page version. It matters here because version 1 compresses levels, but version 2 doesn't.
    pub(crate) version: DataPageVersion,
}

/// Returns the runs to use for unknown levels.
pub(crate) fn usual_runs(compression: Compression) -> Runs {
    match compression {
        Compression::Snappy | Compression::Lz4Raw => Runs::Repetitive,
        _ => Runs::Shortest,
    }
}

/// Returns true if a codec counts byte frequencies in addition to finding repetitions.
pub(super) fn counts_bytes(compression: Compression) -> bool {
    matches!(
        compression,
        Compression::Zstd(_) | Compression::Gzip(_) | Compression::Brotli(_)
    )
}

/// Chooses the level form based on the first page's levels.
///
/// # Errors
/// Fails with `Feature` if the codec is not compiled in, and with `Io` if its library fails.
pub(crate) fn choose_levels(settings: &ColumnSettings, page: &PageLevels) -> Result<LevelForm> {
    let compression = settings.compression;
    let usual = LevelForm {
        runs: usual_runs(compression),
        version: settings.version,
    };
    let may_be_version_1 = settings.version == DataPageVersion::V1 || settings.may_be_version_1;
    if compression == Compression::Uncompressed || !may_be_version_1 {
        return Ok(usual);
    }
    let plain = page.encode(usual.runs);
    let plain_bytes = plain.rep.len() + plain.def.len();
    if plain_bytes < super::MIN_BYTES {
        return Ok(usual);
    }
    let (mut runs, mut bytes) = (usual.runs, compressed_bytes(settings, &plain)?);
    if counts_bytes(compression) {
        let long = compressed_bytes(settings, &page.encode(Runs::Long))?;
        if long < bytes {
            (runs, bytes) = (Runs::Long, long);
        }
    }
    let is_version_1 = settings.version == DataPageVersion::V1;
    if !is_version_1 && bytes > plain_bytes - plain_bytes / MIN_SHARE {
        return Ok(usual);
    }
    Ok(LevelForm {
        runs,
        version: DataPageVersion::V1,
    })
}

/// Returns the compressed size of levels, in bytes.
fn compressed_bytes(settings: &ColumnSettings, levels: &EncodedLevels) -> Result<usize> {
    let mut compressed = Vec::new();
    let all = [levels.rep.as_slice(), &levels.def].concat();
    settings.compress(
        settings.compression,
        &all,
        &[levels.rep.len()],
        &mut compressed,
    )?;
    Ok(compressed.len())
}
