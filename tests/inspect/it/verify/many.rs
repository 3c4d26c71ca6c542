//! Verifies small files that have very many faults, or very much to check.

use bytes::Bytes;
use herringbone::ParquetFile;
use herringbone::format::{CompressionCodec, Repetition, Type};
use herringbone_inspect::verify::{FindingKind, Severity};

use crate::crafted::{Chunk, Page, file, group, leaf, shared_file};

fn numbers(pages: Vec<Page>, num_values: usize) -> Chunk {
    Chunk {
        physical: Type::Int32,
        codec: CompressionCodec::Uncompressed,
        num_values: num_values as u64,
        pages,
    }
}

#[test]
fn the_first_findings_of_a_column_chunk_are_listed() {
    const PAGES: usize = 1700;
    let page = |i: usize| {
        let mut page = Page::v1(1, &(i as i32).to_le_bytes());
        // This CRC matches no value.
        page.header.crc = Some(1);
        page
    };
    let chunk = || numbers((0..PAGES).map(page).collect(), PAGES);
    let schema = vec![
        group("schema", None, 2),
        leaf("a", Type::Int32, Repetition::Required),
        leaf("b", Type::Int32, Repetition::Required),
    ];
    let bytes = Bytes::from(file(schema, &[(PAGES as u64, vec![chunk(), chunk()])]));
    let file = ParquetFile::from_bytes(bytes).unwrap();
    let findings: Vec<_> = herringbone_inspect::verify(&file)
        .map(Result::unwrap)
        .collect();
    for column in ["a", "b"] {
        let column_findings = findings
            .iter()
            .filter(|finding| finding.location.column.as_deref() == Some(column));
        let kinds: Vec<_> = column_findings.clone().map(|it| it.kind).collect();
        assert_eq!(kinds[..1000], [FindingKind::Checksum; 1000]);
        assert_eq!(kinds[1000..], [FindingKind::LeftOut]);
        let last = column_findings.max_by_key(|it| it.kind == FindingKind::LeftOut);
        let last = last.unwrap();
        assert_eq!((last.severity, last.location.page), (Severity::Error, None));
        assert_eq!(last.message, "700 more findings");
    }
}

#[test]
fn column_chunks_over_each_other_are_not_looked_at_again_and_again() {
    let values: Vec<u8> = (0..20_000_i32).flat_map(i32::to_le_bytes).collect();
    let chunk = || numbers(vec![Page::v1(20_000, &values)], 20_000);
    let mut schema = vec![group("schema", None, 1000)];
    schema.extend((0..1000).map(|i| leaf(&format!("c{i}"), Type::Int32, Repetition::Required)));
    let chunks = (0..1000).map(|_| chunk()).collect();
    let bytes = shared_file(schema, &[(20_000, chunks)]);
    assert!(bytes.len() < 200_000, "{} bytes", bytes.len());
    let mut all = Vec::new();
    for threads in [1, 3] {
        let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
        let mut verify = herringbone_inspect::verify(&file).threads(threads);
        let mut lines = Vec::new();
        while let Some(findings) = verify.next_part().unwrap() {
            lines.extend(findings.iter().map(ToString::to_string));
        }
        // Each chunk has 80,000 bytes, in a file of about twice that size.
        assert!(
            (20..50).contains(&verify.chunks_done()),
            "{}",
            verify.chunks_done()
        );
        let last = lines.last().unwrap();
        assert!(last.starts_with("warning not_checked"), "{last}");
        assert!(last.contains("`overlap_ratio`"), "{last}");
        all.push(lines);
    }
    assert_eq!(all[0], all[1]);
    // As many ranges of the file overlap as there are columns. Findings beyond the limit are only counted.
    let counted = |line: &String| line.contains("left_out") || line.contains("overlap");
    assert!(all[0].iter().filter(|line| counted(line)).count() > 1);
}
