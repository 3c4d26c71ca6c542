//! Files built in memory from the format's structs, where a script would have to store megabytes.

use herringbone::format::footer::{MAGIC, Tail};
use herringbone::format::thrift::CompactWriter;
use herringbone::format::{
    ColumnChunk, ColumnMetaData, CompressionCodec, DataPageHeader, DataPageHeaderV2,
    DictionaryPageHeader, Encoding, FileMetadataParts, PageHeader, PageType, Repetition, RowGroup,
    SchemaElement, SortingColumn, Statistics, Type,
};

/// A leaf of the schema.
pub(crate) fn leaf(name: &str, physical: Type, repetition: Repetition) -> SchemaElement {
    SchemaElement {
        type_: Some(physical),
        repetition_type: Some(repetition),
        name: name.to_owned(),
        ..SchemaElement::default()
    }
}

/// A group of the schema, without its children; the root is one.
pub(crate) fn group(name: &str, repetition: Option<Repetition>, children: usize) -> SchemaElement {
    SchemaElement {
        repetition_type: repetition,
        name: name.to_owned(),
        num_children: Some(i32::try_from(children).unwrap()),
        ..SchemaElement::default()
    }
}

/// A page whose body lies in the file as it is given.
pub(crate) struct Page {
    pub(crate) header: PageHeader,
    pub(crate) body: Vec<u8>,
}

impl Page {
    fn new(type_: PageType, body: &[u8]) -> Self {
        let size = i32::try_from(body.len()).unwrap();
        Self {
            header: PageHeader {
                type_,
                uncompressed_page_size: size,
                compressed_page_size: size,
                crc: None,
                data_page_header: None,
                index_page_header: None,
                dictionary_page_header: None,
                data_page_header_v2: None,
            },
            body: body.to_vec(),
        }
    }

    /// A data page of version 1 with PLAIN values.
    pub(crate) fn v1(num_values: usize, body: &[u8]) -> Self {
        let mut page = Self::new(PageType::DataPage, body);
        page.header.data_page_header = Some(DataPageHeader {
            num_values: i32::try_from(num_values).unwrap(),
            encoding: Encoding::Plain,
            definition_level_encoding: Encoding::Rle,
            repetition_level_encoding: Encoding::Rle,
            statistics: None,
        });
        page
    }

    /// A data page of version 2 of a flat column, not compressed.
    pub(crate) fn v2(
        num_values: usize,
        encoding: Encoding,
        definition: &[u8],
        values: &[u8],
    ) -> Self {
        let mut page = Self::new(PageType::DataPageV2, &[definition, values].concat());
        let num_values = i32::try_from(num_values).unwrap();
        page.header.data_page_header_v2 = Some(DataPageHeaderV2 {
            num_values,
            num_nulls: 0,
            num_rows: num_values,
            encoding,
            definition_levels_byte_length: i32::try_from(definition.len()).unwrap(),
            repetition_levels_byte_length: 0,
            is_compressed: false,
            statistics: None,
        });
        page
    }

    /// A dictionary page of PLAIN values.
    pub(crate) fn dictionary(num_values: usize, body: &[u8]) -> Self {
        let mut page = Self::new(PageType::DictionaryPage, body);
        page.header.dictionary_page_header = Some(DictionaryPageHeader {
            num_values: i32::try_from(num_values).unwrap(),
            encoding: Encoding::Plain,
            is_sorted: None,
        });
        page
    }

    /// The same, with values in another encoding.
    pub(crate) fn with_encoding(mut self, encoding: Encoding) -> Self {
        if let Some(v1) = &mut self.header.data_page_header {
            v1.encoding = encoding;
        }
        self
    }

    /// The same with `bytes` bytes of a bound in its header.
    pub(crate) fn with_long_header(mut self, bytes: usize) -> Self {
        let header = self.header.data_page_header.as_mut().unwrap();
        let statistics = Statistics {
            min_value: Some(vec![b'm'; bytes]),
            ..Statistics::default()
        };
        header.statistics = Some((&statistics).into());
        self
    }

    /// The same with a body that decompresses to `plain` bytes.
    pub(crate) fn with_plain_size(mut self, plain: usize) -> Self {
        self.header.uncompressed_page_size = i32::try_from(plain).unwrap();
        self
    }

    fn push(&self, out: &mut Vec<u8>) {
        let mut writer = CompactWriter::new();
        self.header.encode(&mut writer);
        out.extend_from_slice(&writer.finish());
        out.extend_from_slice(&self.body);
    }
}

/// A column chunk.
pub(crate) struct Chunk {
    pub(crate) physical: Type,
    pub(crate) codec: CompressionCodec,
    pub(crate) num_values: u64,
    pub(crate) pages: Vec<Page>,
}

/// A file of row groups, each with its number of rows and its chunks.
pub(crate) fn file(schema: Vec<SchemaElement>, row_groups: &[(u64, Vec<Chunk>)]) -> Vec<u8> {
    file_of(schema, row_groups, None, push)
}

/// The same where row groups are said to be sorted by all columns.
#[allow(dead_code, reason = "another binary needs it")]
pub(crate) fn sorted_file(schema: Vec<SchemaElement>, row_groups: &[(u64, Vec<Chunk>)]) -> Vec<u8> {
    let columns = row_groups.iter().map(|(_, chunks)| chunks.len()).max();
    let sorting = (0..columns.unwrap_or_default()).map(|column| SortingColumn {
        column_idx: i32::try_from(column).unwrap(),
        descending: false,
        nulls_first: false,
    });
    file_of(schema, row_groups, Some(sorting.collect()), push)
}

/// The same where all column chunks are the first one of the file.
pub(crate) fn shared_file(schema: Vec<SchemaElement>, row_groups: &[(u64, Vec<Chunk>)]) -> Vec<u8> {
    let mut first = None;
    file_of(schema, row_groups, None, |chunk, out| {
        first.get_or_insert_with(|| push(chunk, out)).clone()
    })
}

fn file_of(
    schema: Vec<SchemaElement>,
    row_groups: &[(u64, Vec<Chunk>)],
    sorting_columns: Option<Vec<SortingColumn>>,
    mut push: impl FnMut(&Chunk, &mut Vec<u8>) -> ColumnChunk,
) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let mut groups = Vec::new();
    for (num_rows, chunks) in row_groups {
        groups.push(RowGroup {
            columns: chunks.iter().map(|chunk| push(chunk, &mut out)).collect(),
            total_byte_size: 0,
            num_rows: i64::try_from(*num_rows).unwrap(),
            sorting_columns: sorting_columns.clone(),
            file_offset: None,
            total_compressed_size: None,
            ordinal: None,
        });
    }
    let rows = row_groups.iter().map(|(rows, _)| rows).sum::<u64>();
    let parts = FileMetadataParts {
        version: 2,
        schema,
        num_rows: i64::try_from(rows).unwrap(),
        row_groups: groups,
        key_value_metadata: None,
        created_by: None,
        column_orders: None,
        encryption_algorithm: None,
        footer_signing_key_metadata: None,
    };
    let mut writer = CompactWriter::new();
    parts.encode(&mut writer);
    let footer = writer.finish();
    let tail = Tail {
        metadata_length: u32::try_from(footer.len()).unwrap(),
        encrypted: false,
    };
    out.extend_from_slice(&footer);
    out.extend_from_slice(&tail.encode());
    out
}

fn push(chunk: &Chunk, out: &mut Vec<u8>) -> ColumnChunk {
    let start = i64::try_from(out.len()).unwrap();
    for page in &chunk.pages {
        page.push(out);
    }
    let size = i64::try_from(out.len()).unwrap() - start;
    ColumnChunk {
        meta_data: Some(ColumnMetaData {
            type_: chunk.physical,
            encodings: vec![Encoding::Plain],
            path_in_schema: Vec::new(),
            codec: chunk.codec,
            num_values: i64::try_from(chunk.num_values).unwrap(),
            total_uncompressed_size: size,
            total_compressed_size: size,
            key_value_metadata: None,
            data_page_offset: start,
            index_page_offset: None,
            dictionary_page_offset: None,
            statistics: None,
            encoding_stats: None,
            bloom_filter_offset: None,
            bloom_filter_length: None,
            size_statistics: None,
            geospatial_statistics: None,
        }),
        ..ColumnChunk::default()
    }
}
