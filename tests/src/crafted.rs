//! Files built in memory from the format's structs, for cases that would take megabytes as stored
//! files.

use herringbone::format::footer::{MAGIC, Tail};
use herringbone::format::thrift::CompactWriter;
use herringbone::format::{
    ColumnChunk, ColumnMetaData, CompressionCodec, DataPageHeader, DataPageHeaderV2,
    DictionaryPageHeader, Encoding, FileMetadataParts, PageHeader, PageType, Repetition, RowGroup,
    SchemaElement, SortingColumn, Statistics, Type,
};

/// Returns the schema element of a leaf.
pub fn leaf(name: &str, physical: Type, repetition: Repetition) -> SchemaElement {
    SchemaElement::new(name.to_owned())
        .type_(physical)
        .repetition_type(repetition)
}

/// Returns the schema element of a group, without its children. The root is a group, too.
pub fn group(name: &str, repetition: Option<Repetition>, children: usize) -> SchemaElement {
    SchemaElement::new(name.to_owned())
        .repetition_type(repetition)
        .num_children(i32::try_from(children).unwrap())
}

/// A page whose body is written to the file unchanged.
#[derive(Clone)]
pub struct Page {
    pub header: PageHeader,
    pub body: Vec<u8>,
}

impl Page {
    fn new(type_: PageType, body: &[u8]) -> Self {
        let size = i32::try_from(body.len()).unwrap();
        Self {
            header: PageHeader::new(type_, size, size),
            body: body.to_vec(),
        }
    }

    /// Creates a data page of version 1 with PLAIN values.
    pub fn v1(num_values: usize, body: &[u8]) -> Self {
        let mut page = Self::new(PageType::DataPage, body);
        page.header.data_page_header = Some(DataPageHeader::new(
            i32::try_from(num_values).unwrap(),
            Encoding::Plain,
            Encoding::Rle,
            Encoding::Rle,
        ));
        page
    }

    /// Creates an uncompressed data page of version 2 for a flat column.
    pub fn v2(num_values: usize, encoding: Encoding, definition: &[u8], values: &[u8]) -> Self {
        let mut page = Self::new(PageType::DataPageV2, &[definition, values].concat());
        let num_values = i32::try_from(num_values).unwrap();
        page.header.data_page_header_v2 = Some(
            DataPageHeaderV2::new(
                num_values,
                0,
                num_values,
                encoding,
                i32::try_from(definition.len()).unwrap(),
                0,
            )
            .is_compressed(false),
        );
        page
    }

    /// Creates a dictionary page with PLAIN values.
    pub fn dictionary(num_values: usize, body: &[u8]) -> Self {
        let mut page = Self::new(PageType::DictionaryPage, body);
        page.header.dictionary_page_header = Some(DictionaryPageHeader::new(
            i32::try_from(num_values).unwrap(),
            Encoding::Plain,
        ));
        page
    }

    /// Changes the encoding that the header declares for the values.
    pub fn with_encoding(mut self, encoding: Encoding) -> Self {
        if let Some(v1) = &mut self.header.data_page_header {
            v1.encoding = encoding;
        }
        self
    }

    /// Makes the header longer by a bound of `bytes` bytes.
    pub fn with_long_header(mut self, bytes: usize) -> Self {
        let header = self.header.data_page_header.as_mut().unwrap();
        let statistics = Statistics::new().min_value(vec![b'm'; bytes]);
        header.statistics = Some((&statistics).into());
        self
    }

    /// Sets the body's decompressed size to `plain` bytes.
    pub fn with_plain_size(mut self, plain: usize) -> Self {
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
pub struct Chunk {
    pub physical: Type,
    pub codec: CompressionCodec,
    pub num_values: u64,
    pub pages: Vec<Page>,
}

/// Builds a file of row groups, each with its row count and its chunks.
pub fn file(schema: Vec<SchemaElement>, row_groups: &[(u64, Vec<Chunk>)]) -> Vec<u8> {
    file_of(schema, row_groups, None, push)
}

/// Builds a file whose row groups are declared as sorted by all columns.
#[allow(dead_code, reason = "another binary needs it")]
pub fn sorted_file(schema: Vec<SchemaElement>, row_groups: &[(u64, Vec<Chunk>)]) -> Vec<u8> {
    let columns = row_groups.iter().map(|(_, chunks)| chunks.len()).max();
    let sorting = (0..columns.unwrap_or_default())
        .map(|column| SortingColumn::new(i32::try_from(column).unwrap(), false, false));
    file_of(schema, row_groups, Some(sorting.collect()), push)
}

/// Builds a file in which all column chunks share the file's first chunk.
pub fn shared_file(schema: Vec<SchemaElement>, row_groups: &[(u64, Vec<Chunk>)]) -> Vec<u8> {
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
        groups.push(
            RowGroup::new(
                chunks.iter().map(|chunk| push(chunk, &mut out)).collect(),
                0,
                i64::try_from(*num_rows).unwrap(),
            )
            .sorting_columns(sorting_columns.clone()),
        );
    }
    let rows = row_groups.iter().map(|(rows, _)| rows).sum::<u64>();
    let parts = FileMetadataParts::new(2, schema, i64::try_from(rows).unwrap(), groups);
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
    ColumnChunk::default().meta_data(ColumnMetaData::new(
        chunk.physical,
        vec![Encoding::Plain],
        chunk.codec,
        i64::try_from(chunk.num_values).unwrap(),
        size,
        size,
        start,
    ))
}
