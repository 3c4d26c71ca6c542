//! Files split into parts, so that a test can change any part before they are put together again
//! with correct offsets.

use bytes::Bytes;
use herringbone::ParquetFile;
use herringbone::format::footer::{MAGIC, MAGIC_ENCRYPTED, Tail};
use herringbone::format::thrift::CompactWriter;
use herringbone::format::{
    ColumnChunk, ColumnIndex, ColumnOrder, FileMetadataParts, OffsetIndex, PageHeader, PageType,
    RowGroup,
};

/// A page, which is its header and the bytes of its body.
pub struct Page {
    pub header: PageHeader,
    pub body: Bytes,
}

impl Page {
    pub fn is_data(&self) -> bool {
        self.header.type_ != PageType::DictionaryPage
    }

    /// Returns the number of levels that the header declares.
    pub fn num_values(&self) -> i32 {
        self.header.num_values().unwrap()
    }

    /// Declares another number of levels, and also takes it as the row count if `with_rows` is
    /// true.
    pub fn declare(&mut self, num_values: i32, with_rows: bool) {
        if let Some(v1) = &mut self.header.data_page_header {
            v1.num_values = num_values;
        }
        if let Some(v2) = &mut self.header.data_page_header_v2 {
            v2.num_values = num_values;
            if with_rows {
                v2.num_rows = num_values;
            }
        }
    }
}

/// A page's place in its file.
#[allow(dead_code, reason = "another binary encrypts no pages")]
pub struct PagePlace {
    pub row_group: usize,
    pub column: usize,
    pub data_pages_before: usize,
}

/// A column chunk.
pub struct Chunk {
    pub chunk: ColumnChunk,
    pub pages: Vec<Page>,
    pub columns: Option<ColumnIndex>,
    pub offsets: Option<OffsetIndex>,
    /// The bloom filter, including its header.
    pub bloom_filter: Option<Bytes>,
}

impl Chunk {
    /// Returns the data page with this number.
    pub fn data_page(&mut self, number: usize) -> &mut Page {
        let mut pages = self.pages.iter_mut().filter(|page| page.is_data());
        pages.nth(number).unwrap()
    }

    pub fn num_data_pages(&self) -> usize {
        self.pages.iter().filter(|page| page.is_data()).count()
    }
}

/// A file, split into its parts.
pub struct Dismantled {
    footer: FileMetadataParts,
    /// The chunks of each row group.
    pub row_groups: Vec<Vec<Chunk>>,
}

impl Dismantled {
    pub fn new(bytes: &Bytes) -> Self {
        let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
        let metadata = file.metadata();
        let groups: Vec<RowGroup> = (0..metadata.num_row_groups())
            .map(|row_group| metadata.row_group(row_group).unwrap())
            .collect();
        let row_groups = groups.iter().enumerate().map(|(row_group, group)| {
            let chunks = group.columns.iter().cloned().enumerate();
            let chunks = chunks.map(|(leaf, chunk)| {
                let pages = file.pages(row_group, leaf).unwrap().map(|page| {
                    let page = page.unwrap();
                    let start = page.start.offset as usize + page.header_bytes;
                    let length = page.header.compressed_page_size as usize;
                    Page {
                        header: page.header,
                        body: bytes.slice(start..start + length),
                    }
                });
                let pages = pages.collect();
                let metadata = chunk.meta_data.as_ref().unwrap();
                let filter = metadata.bloom_filter_offset.map(|offset| {
                    let length = metadata.bloom_filter_length.unwrap() as usize;
                    bytes.slice(offset as usize..offset as usize + length)
                });
                Chunk {
                    pages,
                    columns: file.column_index(row_group, leaf).unwrap(),
                    offsets: file.offset_index(row_group, leaf).unwrap(),
                    bloom_filter: filter,
                    chunk,
                }
            });
            chunks.collect()
        });
        let row_groups = row_groups.collect();
        let orders = metadata.column_orders().map(<[_]>::to_vec);
        let footer = FileMetadataParts::new(
            metadata.version(),
            metadata.schema().to_vec(),
            metadata.num_rows(),
            groups,
        )
        .key_value_metadata(Some(metadata.key_value_metadata().to_vec()))
        .created_by(metadata.created_by().map(str::to_owned))
        .column_orders(orders);
        Self { footer, row_groups }
    }

    /// Sets the name of the program that wrote the file.
    pub fn created_by(&mut self, name: &str) {
        self.footer.created_by = Some(name.to_owned());
    }

    /// Declares that all columns' bounds follow the order of their types.
    #[allow(dead_code, reason = "another binary needs it")]
    pub fn order_by_type(&mut self) {
        let columns = self.row_groups.first().map_or(0, Vec::len);
        self.footer.column_orders = Some(vec![ColumnOrder::TypeDefined; columns]);
    }

    /// Puts the file together, with the actual positions of the pages in its indexes.
    pub fn assemble(&self) -> Bytes {
        let encode =
            |_: &PagePlace, page: &Page| [encoded(&page.header), page.body.to_vec()].concat();
        self.assemble_with(false, encode, |footer| {
            let mut writer = CompactWriter::new();
            footer.encode(&mut writer);
            writer.finish()
        })
    }

    /// Puts the file together from the bytes that the closures return for pages and for the footer.
    pub fn assemble_with(
        &self,
        is_footer_encrypted: bool,
        page: impl Fn(&PagePlace, &Page) -> Vec<u8>,
        footer: impl FnOnce(FileMetadataParts) -> Vec<u8>,
    ) -> Bytes {
        let mut out = match is_footer_encrypted {
            true => MAGIC_ENCRYPTED.to_vec(),
            false => MAGIC.to_vec(),
        };
        let mut parts = self.footer.clone();
        let groups = parts.row_groups.iter_mut().zip(&self.row_groups);
        for (row_group, (group, chunks)) in groups.enumerate() {
            let chunks = chunks.iter().enumerate().map(|(column, chunk)| {
                let place = PagePlace {
                    row_group,
                    column,
                    data_pages_before: 0,
                };
                chunk.write(place, &page, &mut out)
            });
            group.columns = chunks.collect();
        }
        let footer = footer(parts);
        let tail = Tail {
            metadata_length: u32::try_from(footer.len()).unwrap(),
            encrypted: is_footer_encrypted,
        };
        out.extend_from_slice(&footer);
        out.extend_from_slice(&tail.encode());
        out.into()
    }
}

/// Returns a page header's bytes.
pub fn encoded(header: &PageHeader) -> Vec<u8> {
    let mut writer = CompactWriter::new();
    header.encode(&mut writer);
    writer.finish()
}

impl Chunk {
    fn write(
        &self,
        mut place: PagePlace,
        encode: impl Fn(&PagePlace, &Page) -> Vec<u8>,
        out: &mut Vec<u8>,
    ) -> ColumnChunk {
        let at = |out: &Vec<u8>| i64::try_from(out.len()).unwrap();
        let start = at(out);
        let (mut dictionary, mut places) = (None, Vec::new());
        for page in &self.pages {
            let offset = at(out);
            out.extend_from_slice(&encode(&place, page));
            place.data_pages_before += usize::from(page.is_data());
            match page.is_data() {
                true => places.push((offset, i32::try_from(at(out) - offset).unwrap())),
                false => dictionary = Some(offset),
            }
        }
        let end = at(out);
        let mut chunk = self.chunk.clone();
        let metadata = chunk.meta_data.as_mut().unwrap();
        metadata.dictionary_page_offset = dictionary;
        metadata.data_page_offset = places.first().map_or(start, |place| place.0);
        metadata.total_compressed_size = end - start;
        if let Some(filter) = &self.bloom_filter {
            metadata.bloom_filter_offset = Some(end);
            out.extend_from_slice(filter);
        }
        (chunk.column_index_offset, chunk.column_index_length) = (None, None);
        if let Some(index) = &self.columns {
            let mut writer = CompactWriter::new();
            index.encode(&mut writer);
            let bytes = writer.finish();
            chunk.column_index_offset = Some(at(out));
            chunk.column_index_length = Some(i32::try_from(bytes.len()).unwrap());
            out.extend_from_slice(&bytes);
        }
        (chunk.offset_index_offset, chunk.offset_index_length) = (None, None);
        if let Some(index) = &self.offsets {
            let mut index = index.clone();
            for (page, place) in index.page_locations.iter_mut().zip(&places) {
                (page.offset, page.compressed_page_size) = *place;
            }
            let mut writer = CompactWriter::new();
            index.encode(&mut writer);
            let bytes = writer.finish();
            chunk.offset_index_offset = Some(at(out));
            chunk.offset_index_length = Some(i32::try_from(bytes.len()).unwrap());
            out.extend_from_slice(&bytes);
        }
        chunk
    }
}
