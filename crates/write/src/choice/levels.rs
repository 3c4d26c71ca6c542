//! The form of a column chunk's stored levels, which is chosen by the levels of its first page.

use herringbone_format::Result;
use herringbone_kernels::hybrid::Runs;

use crate::options::DataPageVersion;
use crate::settings::ColumnSettings;
use herringbone_core::compression::Compression;
use herringbone_core::levels::{EncodedLevels, PageLevels};

/// The part of the level bytes that pages of version 1 must save, as a divisor. It must be worth it, because readers
/// make better use of version 2.
const MIN_SHARE: usize = 8;

/// The form in which levels are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LevelForm {
    pub(crate) runs: Runs,
    /// The version of the pages, which matters because levels are compressed in version 1, but not in version 2.
    pub(crate) version: DataPageVersion,
}

/// Returns the runs to use for levels about which nothing is known.
pub(crate) fn usual_runs(compression: Compression) -> Runs {
    match compression {
        Compression::Snappy | Compression::Lz4Raw => Runs::Repetitive,
        _ => Runs::Shortest,
    }
}

/// Returns true if a codec counts the frequency of bytes, in addition to finding repetitions.
pub(super) fn counts_bytes(compression: Compression) -> bool {
    matches!(
        compression,
        Compression::Zstd(_) | Compression::Gzip(_) | Compression::Brotli(_)
    )
}

/// Chooses the form of the levels by the levels of the first page.
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

/// Returns the size of levels after the codec in bytes.
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
