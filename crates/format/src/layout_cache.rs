//! Decodes column chunks faster if their metadata has the same structure as an earlier chunk.
//!
//! The chunks of a wide table differ only in counts, offsets and bounds. If a chunk matches an earlier chunk in all
//! structural bits ([`ShapeCache`]), each integer is at the same offset as in that chunk:
//!
//! ```text
//! ColumnChunk   26 00 | 1c 15 04 … 15 00 16 0a … 00 | 00
//! offsets                 └ type      └ codec └ num_values …
//! ```

use crate::modular_encryption::KeyStep;
use crate::thrift::{CompactReader, ShapeCache, Wire};
use crate::{ColumnLayout, CompressionCodec, FileMetadata, ReadableChunk, Result, Type};

/// The structures of column chunks decoded so far. Pass the same cache for all of a file's chunks to decode them
/// faster.
#[doc(hidden)] // For reads.
#[derive(Debug, Default)]
pub struct LayoutCache(ShapeCache<Option<FieldOffsets>>);

impl FileMetadata {
    /// Returns the readable chunk like [`Self::readable_chunk`], but faster if `cache` has already seen a chunk with
    /// the same structure.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::readable_chunk`].
    #[doc(hidden)] // For reads.
    pub fn readable_chunk_cached(
        &self,
        row_group: usize,
        leaf: usize,
        cache: &mut LayoutCache,
    ) -> Result<KeyStep<ReadableChunk>> {
        let layout = match self.decryption() {
            None => self.cached_layout(row_group, leaf, cache),
            Some(_) => None,
        };
        match layout {
            Some(layout) => Ok(KeyStep::Ready(ReadableChunk {
                layout,
                cipher: None,
            })),
            None => self.readable_chunk(row_group, leaf),
        }
    }

    /// Returns the layout of a chunk with the structure of an earlier one. Returns `None` if anything about it is wrong
    /// or unusual, leaving these cases to [`Self::readable_chunk`].
    fn cached_layout(
        &self,
        row_group: usize,
        leaf: usize,
        cache: &mut LayoutCache,
    ) -> Option<ColumnLayout> {
        let chunk = self.chunk_reader(row_group, leaf).ok()?;
        let offsets = chunk.cached_by_shape(&mut cache.0, FieldOffsets::of)?;
        offsets.as_ref()?.layout(&chunk)
    }
}

/// The byte offsets of a [`ColumnLayout`]'s integers, from the start of the [`ColumnChunk`](crate::ColumnChunk).
#[derive(Debug, Clone, Copy)]
struct FieldOffsets {
    type_: usize,
    codec: usize,
    num_values: usize,
    total_uncompressed_size: usize,
    total_compressed_size: usize,
    data_page_offset: usize,
    dictionary_page_offset: Option<usize>,
}

impl FieldOffsets {
    /// Returns the offsets within the chunk at the reader's position. Returns `None` if a required integer is missing,
    /// if the chunk is encrypted or in another file, or if it contains ids not compared by shapes.
    fn of(mut chunk: CompactReader<'_>) -> Option<Self> {
        let start = chunk.position();
        let mut offsets = None;
        let mut last = 0;
        while let Some(field) = chunk.short_field(&mut last)? {
            match field.id {
                1 | 8 | 9 => return None,
                3 if field.wire != Wire::Struct => return None,
                3 => offsets = Some(Self::of_metadata(&mut chunk, start)?),
                _ => chunk.skip(field.wire).ok()?,
            }
        }
        offsets
    }

    fn of_metadata(metadata: &mut CompactReader<'_>, start: usize) -> Option<Self> {
        let mut offsets = [None; 12];
        let mut last = 0;
        while let Some(field) = metadata.short_field(&mut last)? {
            let offset = usize::try_from(field.id).ok();
            if let Some(offset) = offset.and_then(|id| offsets.get_mut(id)) {
                let is_varint = matches!(field.wire, Wire::I16 | Wire::I32 | Wire::I64);
                *offset = is_varint.then(|| metadata.position() - start);
            }
            metadata.skip(field.wire).ok()?;
        }
        let [
            _,
            type_,
            _,
            _,
            codec,
            num_values,
            uncompressed,
            compressed,
            _,
            data_page,
            _,
            dictionary,
        ] = offsets;
        Some(Self {
            type_: type_?,
            codec: codec?,
            num_values: num_values?,
            total_uncompressed_size: uncompressed?,
            total_compressed_size: compressed?,
            data_page_offset: data_page?,
            dictionary_page_offset: dictionary,
        })
    }

    /// Decodes the integers at these offsets in a chunk with this structure, or returns `None` if any is invalid.
    fn layout(&self, chunk: &CompactReader<'_>) -> Option<ColumnLayout> {
        let integer = |offset: usize| chunk.varint_at(offset);
        let id = |offset| i32::try_from(integer(offset)?).ok();
        let count = |offset| integer(offset).filter(|count| *count >= 0);
        Some(ColumnLayout {
            type_: Type::from_id(id(self.type_)?)?,
            codec: CompressionCodec::from_id(id(self.codec)?),
            num_values: count(self.num_values)?,
            total_uncompressed_size: integer(self.total_uncompressed_size)?,
            total_compressed_size: count(self.total_compressed_size)?,
            data_page_offset: count(self.data_page_offset)?,
            dictionary_page_offset: match self.dictionary_page_offset {
                Some(offset) => Some(integer(offset)?),
                None => None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{decode, encoded, file};

    /// Returns an unencrypted footer with two alternating kinds of chunks and increasing offsets.
    fn footer() -> Vec<u8> {
        let mut parts = file();
        for row_group in &mut parts.row_groups {
            for (leaf, chunk) in row_group.columns.iter_mut().enumerate() {
                chunk.crypto_metadata = None;
                let metadata = chunk.meta_data.as_mut().unwrap();
                metadata.path_in_schema = vec![format!("column {leaf:02}")];
                if leaf % 2 == 0 {
                    metadata.type_ = Type::Double;
                    metadata.dictionary_page_offset = None;
                }
            }
        }
        parts.encryption_algorithm = None;
        encoded(&parts)
    }

    /// Decodes all chunks of a footer in both ways and compares the results. Returns the number of chunks decoded by
    /// offsets.
    fn compare(footer: &[u8]) -> usize {
        let Ok(metadata) = decode(footer) else {
            return 0;
        };
        let (mut cache, mut by_offsets) = (LayoutCache::default(), 0);
        for row_group in 0..metadata.num_row_groups() {
            for leaf in 0..metadata.num_columns(row_group) {
                let told =
                    |step: Result<KeyStep<ReadableChunk>>| match step.and_then(KeyStep::ready) {
                        Ok(chunk) => format!("{:?}", chunk.layout),
                        Err(error) => error.to_string(),
                    };
                let cached = told(metadata.readable_chunk_cached(row_group, leaf, &mut cache));
                assert_eq!(cached, told(metadata.readable_chunk(row_group, leaf)));
                let layout = metadata.cached_layout(row_group, leaf, &mut cache);
                by_offsets += usize::from(layout.is_some());
            }
        }
        by_offsets
    }

    #[test]
    fn chunks_of_one_shape_are_what_they_are_one_by_one() {
        assert_eq!(compare(&footer()), 60);
    }

    #[test]
    fn damaged_chunks_are_what_they_are_one_by_one() {
        let footer = footer();
        let step = if cfg!(miri) { 1999 } else { 37 };
        for place in (0..footer.len()).step_by(step) {
            let mut damaged = footer.clone();
            for byte in [0, 1, 0x05, 0x15, 0x16, 0x18, 0x80, 0xff, footer[place] ^ 1] {
                damaged[place] = byte;
                compare(&damaged);
            }
        }
    }

    /// Returns true if we can find the offsets in a chunk with these fields, including its metadata.
    fn has_offsets(fields: &[&[u8]]) -> bool {
        let chunk = [&fields.concat()[..], &[0]].concat();
        FieldOffsets::of(CompactReader::new(&chunk, 12)).is_some()
    }

    /// {1: 2, 3: [], codec, 5: 10, 6: 10, 7: 10, 9: 10}
    fn metadata_with(codec: &[u8]) -> Vec<u8> {
        let counts = [0x16, 20, 0x16, 20, 0x16, 20, 0x26, 20, 0];
        [&[0x15, 4, 0x29, 0x05], codec, &counts].concat()
    }

    #[test]
    fn ids_that_are_not_compared_have_no_offsets() {
        let offsets = |codec: &[u8]| has_offsets(&[&[0x3c], &metadata_with(codec)]);
        assert!(offsets(&[0x15, 12]));
        // The id is a separate varint, and in the next case there is text in place of the codec.
        assert!(!offsets(&[0x05, 8, 12]));
        assert!(!offsets(&[0x18, 1, b'a']));
    }

    #[test]
    fn other_files_ciphers_and_what_is_no_struct_have_no_offsets() {
        let metadata = metadata_with(&[0x15, 12]);
        // There is a path before the metadata, then an offset, a cipher, and a module after it.
        assert!(!has_offsets(&[&[0x18, 1, b'a', 0x2c], &metadata]));
        assert!(has_offsets(&[&[0x3c], &metadata, &[0x16, 8]]));
        assert!(!has_offsets(&[&[0x3c], &metadata, &[0x5c, 0]]));
        assert!(!has_offsets(&[&[0x3c], &metadata, &[0x68, 0]]));
        // The text has the struct's length and bytes.
        let text = [&metadata[1..], &[0; 7]].concat();
        assert_eq!(metadata[0] as usize, text.len());
        assert!(!has_offsets(&[&[0x38, metadata[0]], &text]));
    }
}
