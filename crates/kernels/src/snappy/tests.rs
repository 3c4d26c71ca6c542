//! Compares with the `snap` crate, and with blocks whose plain bytes are known from their construction.

use super::*;

/// A generator of numbers that look random (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.below(256) as u8).collect()
    }
}

/// The number of cases per kind. It is small under Miri, which is slow for each case.
const CASES: usize = if cfg!(miri) { 6 } else { 2000 };

/// Elements under construction, and the bytes that they decode to.
#[derive(Default)]
struct Block {
    elements: Vec<u8>,
    plain: Vec<u8>,
}

impl Block {
    /// Appends a literal. Its length is in `trailer` bytes, or in the tag itself if `trailer` is 0.
    fn literal(&mut self, bytes: &[u8], trailer: usize) {
        let upper = if trailer == 0 {
            bytes.len() - 1
        } else {
            59 + trailer
        };
        self.elements.push((upper << 2) as u8);
        let length = (bytes.len() as u32 - 1).to_le_bytes();
        self.elements.extend_from_slice(&length[..trailer]);
        self.elements.extend_from_slice(bytes);
        self.plain.extend_from_slice(bytes);
    }

    /// Appends a copy of the given kind (1 to 3), which must be able to represent it.
    fn copy(&mut self, offset: usize, length: usize, kind: usize) {
        let bytes = (offset as u32).to_le_bytes();
        if kind == 1 {
            self.elements
                .push((offset >> 8 << 5 | (length - 4) << 2 | 1) as u8);
            self.elements.push(bytes[0]);
        } else {
            self.elements.push(((length - 1) << 2 | kind) as u8);
            self.elements
                .extend_from_slice(&bytes[..[0, 0, 2, 4][kind]]);
        }
        for _ in 0..length {
            self.plain.push(self.plain[self.plain.len() - offset]);
        }
    }

    /// Appends a random element.
    fn any(&mut self, random: &mut Random) {
        match random.below(if self.plain.is_empty() { 3 } else { 10 }) {
            0 | 1 => {
                let longest = [16, 60][random.below(2)];
                let length = 1 + random.below(longest);
                let bytes = random.bytes(length);
                self.literal(&bytes, 0);
            }
            2 => {
                let (trailer, length) = (1 + random.below(4), 1 + random.below(200));
                let bytes = random.bytes(length);
                self.literal(&bytes, trailer);
            }
            kind => {
                // Small offsets are frequent, because such copies overlap their own output.
                let most = [20, 2047, 65_535][random.below(3)].min(self.plain.len());
                let offset = 1 + random.below(most);
                if kind < 6 && offset < 2048 {
                    self.copy(offset, 4 + random.below(8), 1);
                } else {
                    self.copy(offset, 1 + random.below(64), if kind == 9 { 3 } else { 2 });
                }
            }
        }
    }

    /// Returns the whole block, starting with its size.
    fn finish(&self) -> Vec<u8> {
        let (mut block, mut size) = (Vec::new(), self.plain.len());
        while size >= 0x80 {
            block.push(size as u8 | 0x80);
            size >>= 7;
        }
        block.push(size as u8);
        [block, self.elements.clone()].concat()
    }
}

/// Decodes in every way, into an output that has other contents. Bytes past `size` must not change.
fn decode(block: &[u8], size: usize) -> Result<Vec<u8>, Malformed> {
    let mut output = vec![0xa5; size + 300];
    let result = decompress(block, &mut output[..size]);
    assert!(
        output[size..].iter().all(|&byte| byte == 0xa5),
        "wrote behind the end"
    );
    output.truncate(size);
    let portable = decode_with(block, size, rounds::rounds);
    let one_by_one = decode_with(block, size, |_, _, _| Ok(()));
    let result = result.map(|plain| output[..plain].to_vec());
    assert_eq!(portable.as_ref().ok(), result.as_ref().ok());
    assert_eq!(one_by_one.as_ref().ok(), result.as_ref().ok());
    result
}

type Rounds = fn(&[u8], &mut [u8], &mut Position) -> Result<(), Malformed>;

/// Runs [`decompress`] with a different implementation of rounds.
fn decode_with(block: &[u8], size: usize, rounds: Rounds) -> Result<Vec<u8>, Malformed> {
    let (plain, elements) = plain_size(block)?;
    let mut output = vec![0x5a; plain.min(size)];
    if plain > size {
        return Err(Malformed("too long"));
    }
    let mut position = Position::default();
    loop {
        rounds(elements, &mut output, &mut position)?;
        if position.read >= elements.len() {
            break;
        }
        element::decode(elements, &mut output, &mut position)?;
    }
    (position.written == plain)
        .then_some(output)
        .ok_or(Malformed("short"))
}

/// Decodes the block with the `snap` crate.
fn snap(block: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut output = vec![0; size];
    let plain = snap::raw::Decoder::new()
        .decompress(block, &mut output)
        .ok()?;
    output.truncate(plain);
    Some(output)
}

#[test]
fn elements_of_all_kinds() {
    let mut random = Random(1);
    for case in 0..CASES {
        let mut block = Block::default();
        for _ in 0..random.below([4, 40, 400][case % 3]) {
            block.any(&mut random);
        }
        let size = block.plain.len();
        assert_eq!(
            decode(&block.finish(), size).as_deref(),
            Ok(&block.plain[..])
        );
        assert_eq!(
            decode(&block.finish(), size + 7).as_deref(),
            Ok(&block.plain[..])
        );
        if size > 0 {
            assert!(decode(&block.finish(), size - 1).is_err());
        }
    }
}

#[test]
fn copies_of_every_offset_and_length() {
    let offsets = if cfg!(miri) { 1..20 } else { 1..70 };
    for offset in offsets {
        for length in (1..=64).step_by(if cfg!(miri) { 7 } else { 1 }) {
            let mut block = Block::default();
            block.literal(&Random(7).bytes(70), 1);
            // These copies are away from the ends, and separated by a literal or by nothing.
            block.copy(offset, length, 2);
            block.copy(offset, length, 2);
            block.copy(offset, length, 3);
            block.literal(b"z", 0);
            if (4..12).contains(&length) {
                block.copy(offset, length, 1);
            }
            block.literal(&Random(8).bytes(300), 2);
            let decoded = decode(&block.finish(), block.plain.len());
            assert_eq!(
                decoded.as_deref(),
                Ok(&block.plain[..]),
                "{offset} {length}"
            );
        }
    }
}

#[test]
fn what_snap_compresses() {
    let mut random = Random(2);
    for case in 0..CASES / 4 {
        let length = random.below(if cfg!(miri) { 600 } else { 100_000 });
        let plain: Vec<u8> = match case % 4 {
            0 => random.bytes(length),
            1 => (0..length).map(|_| random.below(3) as u8).collect(),
            2 => (0..length / 8)
                .flat_map(|_| (random.below(5000) as f64 / 100.0).to_le_bytes())
                .collect(),
            _ => (0..length).map(|place| (place / 700) as u8).collect(),
        };
        let block = snap::raw::Encoder::new().compress_vec(&plain).unwrap();
        assert_eq!(decode(&block, plain.len()).unwrap(), plain);
    }
}

const WORDS: [&str; 11] = [
    "pepper", "paper", "market", "letter", "mirror", "silver", "garden", "forest", "window",
    "time", "planet",
];

/// Returns bytes of one of several kinds, such as random bytes, few distinct values, numbers, runs, and lines that
/// repeat each other.
fn plain_bytes(kind: usize, length: usize, random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length + 100);
    while bytes.len() < length {
        match kind {
            0 => bytes.push(random.below(256) as u8),
            1 => bytes.push(random.below(3) as u8),
            2 => bytes.extend((random.below(5000) as f64 / 100.0).to_le_bytes()),
            3 => bytes.push((bytes.len() / 700) as u8),
            4 => {
                let phrase = random.below(100);
                let words = (0..6).map(|i| WORDS[(phrase * (2 * i + 7) + i) % WORDS.len()]);
                let mut line = words.collect::<Vec<_>>().join(" ");
                line += &format!(
                    " id={} took {} ms",
                    random.below(1_000_000),
                    random.below(4000)
                );
                bytes.extend((line.len() as u32).to_le_bytes());
                bytes.extend(line.bytes());
            }
            // These are literals of 61 bytes and distant copies of 4, which take more bytes than they stand for.
            _ => {
                let from = bytes.len().saturating_sub(5000 + random.below(50));
                let again = bytes.get(from..from + 4).map(<[u8]>::to_vec);
                bytes.extend(again.unwrap_or_default());
                bytes.extend(random.bytes(61));
            }
        }
    }
    bytes.truncate(length);
    bytes
}

/// Returns the block that the kernel produces, which it appends after existing bytes.
fn compress(plain: &[u8]) -> Vec<u8> {
    let mut block = b"before".to_vec();
    Compressor::default()
        .compress(plain, &[], &mut block)
        .unwrap();
    assert_eq!(&block[..6], b"before");
    block.split_off(6)
}

#[test]
fn what_is_compressed_is_decompressed_by_snap() {
    let mut random = Random(5);
    let lengths: &[usize] = match cfg!(miri) {
        true => &[300, 1000],
        false => &[
            300, 2000, 65_535, 65_536, 65_537, 65_555, 131_072, 262_144, 600_000,
        ],
    };
    let short = 0..if cfg!(miri) { 40 } else { 200 };
    for length in short.chain(lengths.iter().copied()) {
        for kind in 0..6 {
            let plain = plain_bytes(kind, length, &mut random);
            let block = compress(&plain);
            assert_eq!(snap(&block, length).unwrap(), plain, "{kind} {length}");
            assert_eq!(decode(&block, length).unwrap(), plain, "{kind} {length}");
        }
    }
}

/// Checks that the search in a section begins with its first byte, for any bytes before the section.
#[test]
fn parts_are_searched_for_themselves() {
    let mut random = Random(7);
    let length = if cfg!(miri) { 300 } else { 40_000 };
    let noise = random.bytes(length);
    let few: Vec<u8> = random.bytes(length).iter().map(|byte| byte % 4).collect();
    let plain = [&noise[..], &few].concat();
    let block = |section_starts: &[usize]| {
        let mut block = Vec::new();
        let done = Compressor::default().compress(&plain, section_starts, &mut block);
        done.unwrap();
        assert_eq!(
            snap(&block, plain.len()).unwrap(),
            plain,
            "{section_starts:?}"
        );
        assert_eq!(
            decode(&block, plain.len()).unwrap(),
            plain,
            "{section_starts:?}"
        );
        block
    };
    // Each block starts with a size of two to three bytes.
    let few_bytes = compress(&few).len();
    let two_sections = block(&[length]);
    assert!(two_sections.len() > few_bytes && two_sections.ends_with(&compress(&few)[3..]));
    assert!(cfg!(miri) || two_sections.len() + length / 20 < block(&[]).len());
    block(&[0, 1, 2, length, 2 * length]);
    // Positions that do not ascend or lie past the end do not begin a section.
    assert_eq!(block(&[length, 5, 3 * length]), two_sections);
}

/// Checks that a compressor's block for a page does not depend on the pages before it.
#[test]
fn blocks_do_not_depend_on_those_before() {
    let mut random = Random(6);
    let mut compressor = Compressor::default();
    for length in [5, 70_000, 300, 300_000, 3000] {
        let length = if cfg!(miri) { length.min(500) } else { length };
        for kind in 0..6 {
            let plain = plain_bytes(kind, length, &mut random);
            let mut block = Vec::new();
            compressor.compress(&plain, &[], &mut block).unwrap();
            assert_eq!(block, compress(&plain));
        }
    }
}

/// Checks elements by the text of the specification: a lone literal, a literal and a copy that continues with its own
/// output, and copies of up to 64 bytes. The last of these has at least four.
#[test]
fn elements_are_as_the_format_has_them() {
    assert_eq!(compress(b""), [0]);
    assert_eq!(compress(b"abc"), [3, 2 << 2, b'a', b'b', b'c']);
    let copies = |length: usize| compress(&vec![b'x'; length]).split_off(1 + 2);
    // This is 1 byte and a copy of 32, with two bytes of offset.
    assert_eq!(copies(33), [31 << 2 | 2, 1, 0]);
    // The copies are 64 and 16 bytes in the first case, and 60 and 6 in the second. There, 64 and 2 would take as many
    // bytes, and 6 is short enough for two bytes.
    assert_eq!(copies(81), [63 << 2 | 2, 1, 0, 15 << 2 | 2, 1, 0]);
    assert_eq!(copies(67), [59 << 2 | 2, 1, 0, 2 << 2 | 1, 1]);
    // Literals of 61 bytes and of 300 have their lengths after the tag.
    let plain = Random(9).bytes(300);
    assert_eq!(compress(&plain[..61])[..3], [61, 60 << 2, 60]);
    assert_eq!(compress(&plain)[..5], [0xac, 2, 61 << 2, 43, 1]);
}

/// Checks that blocks are not larger than the ones from `snap`. They are smaller if four-byte matches are too frequent,
/// which a large enough sample shows.
#[test]
#[cfg(not(miri))]
fn blocks_are_small() {
    let mut random = Random(10);
    for length in [3000, 60_000, 600_000] {
        for kind in 0..6 {
            let plain = plain_bytes(kind, length, &mut random);
            let ours = compress(&plain).len() as f64;
            let theirs = snap::raw::Encoder::new().compress_vec(&plain);
            let ratio = ours / theirs.unwrap().len() as f64;
            let most = match (kind, length) {
                (1, 600_000) => 0.9,
                (4, 600_000) => 0.85,
                _ => 1.005,
            };
            assert!(ratio <= most, "{kind} {length}: {ratio}");
        }
    }
}

#[test]
fn damaged_blocks_are_judged_as_snap_does() {
    let mut random = Random(3);
    for _ in 0..CASES * 5 {
        let mut block = Block::default();
        for _ in 0..1 + random.below(60) {
            block.any(&mut random);
        }
        let mut bytes = block.finish();
        for _ in 0..1 + random.below(3) {
            let place = random.below(bytes.len());
            match random.below(4) {
                0 => bytes.truncate(place + 1),
                1 => bytes[place] = random.below(256) as u8,
                2 => bytes[place] ^= 1 << random.below(8),
                _ => drop(bytes.splice(place..place, [random.below(256) as u8])),
            }
        }
        let size = block.plain.len();
        assert_eq!(decode(&bytes, size).ok(), snap(&bytes, size), "{bytes:?}");
    }
}

#[test]
fn random_bytes_are_judged_as_snap_does() {
    let mut random = Random(4);
    for _ in 0..CASES * 5 {
        let length = 1 + random.below(300);
        let mut bytes = random.bytes(length);
        // The bytes start with a plausible size, and with bytes from which copies can be made.
        bytes.splice(0..1, [0xff, 0x03, 15 << 2].into_iter().chain(0..16));
        assert_eq!(decode(&bytes, 511).ok(), snap(&bytes, 511), "{bytes:?}");
    }
}

#[test]
fn sizes() {
    assert_eq!(plain_size(b"\0").ok(), Some((0, &b""[..])));
    assert_eq!(
        plain_size(b"\xff\xff\xff\xff\x0fxy").ok(),
        Some((0xffff_ffff, &b"xy"[..]))
    );
    for block in [
        &b""[..],
        b"\x80",
        b"\xff\xff\xff\xff\x1f",
        b"\x80\x80\x80\x80\x80\0",
    ] {
        assert!(plain_size(block).is_err(), "{block:?}");
    }
    assert_eq!(decode(b"\0", 0), Ok(vec![]));
    assert!(decode(b"\x01", 1).is_err());
    assert!(decode(b"", 0).is_err());
}
