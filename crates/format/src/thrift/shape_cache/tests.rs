//! Compares skipping by shapes with skipping one by one, for valid, damaged and truncated structs.

use super::super::skip::skip_struct;
use super::super::{CompactWriter, Wire};
use super::*;

const DEPTH: usize = 12;

/// A pseudorandom number generator (xorshift), deterministic so that every run is the same.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn integer(&mut self) -> i64 {
        let bits = self.below(64);
        (self.0 >> bits).cast_signed()
    }

    fn text(&mut self) -> Vec<u8> {
        let length = self.below(40);
        (0..length).map(|_| self.below(256) as u8).collect()
    }
}

/// Writes a struct. Its fields and sizes depend on `plan`, and its integers and texts on `values`. Only some of a
/// plan's structs agree in the lengths of their integers and texts.
fn write_struct(writer: &mut CompactWriter, plan: &mut Random, values: &mut Random, depth: usize) {
    writer.begin_struct();
    let mut id = 0;
    for _ in 0..plan.below(9) {
        id += [1, 1, 1, 3, 400][plan.below(5)];
        match plan.below(if depth == 0 { 6 } else { 10 }) {
            0 => writer.field(id, Wire::BooleanTrue),
            1 => {
                writer.field(id, Wire::I8);
                writer.byte(values.below(256) as u8);
            }
            2 => {
                writer.field(id, Wire::Double);
                writer.double(values.integer() as f64);
            }
            3 => {
                writer.field(id, Wire::I64);
                writer.integer(1 << plan.below(63));
            }
            4 => {
                writer.field(id, Wire::I64);
                writer.integer(1 << values.below(20));
            }
            5 => {
                writer.field(id, Wire::Binary);
                let length = plan.below(30);
                let text = values.text();
                writer.binary(text.get(..length).unwrap_or(&text));
            }
            6 => {
                let size = plan.below(20);
                writer.field(id, Wire::List);
                writer.list(Wire::I32, size);
                (0..size).for_each(|_| writer.integer(values.below(300) as i64));
            }
            7 => {
                // This is a map of texts to doubles with two pairs.
                writer.field(id, Wire::Map);
                writer.raw(&[2, 0x87]);
                for _ in 0..2 {
                    writer.binary(b"key");
                    writer.double(0.5);
                }
            }
            8 => {
                let size = plan.below(4);
                writer.field(id, Wire::List);
                writer.list(Wire::Struct, size);
                (0..size).for_each(|_| write_struct(writer, plan, values, depth - 1));
            }
            _ => {
                writer.field(id, Wire::Struct);
                write_struct(writer, plan, values, depth - 1);
            }
        }
    }
    writer.end_struct();
}

/// Returns many structs of a few plans, one after another.
fn structs(seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let plans = 1 + random.below(5) as u64;
    let mut writer = CompactWriter::new();
    for _ in 0..60 {
        let plan = &mut Random(seed * 8 + 1 + random.below(plans as usize) as u64);
        write_struct(&mut writer, plan, &mut random, 3);
    }
    writer.finish()
}

/// Skips structs until the bytes end or an error occurs. Returns the end of each struct, and the error.
fn ends(
    bytes: &[u8],
    mut skip: impl FnMut(usize) -> Result<usize, SkipError>,
) -> (Vec<usize>, Option<SkipError>) {
    let (mut ends, mut position) = (Vec::new(), 0);
    while position < bytes.len() {
        match skip(position) {
            Ok(end) => position = end,
            Err(error) => return (ends, Some(error)),
        }
        ends.push(position);
    }
    (ends, None)
}

fn compare(bytes: &[u8]) -> usize {
    let mut shapes = ShapeCache::default();
    let fast = ends(bytes, |at| shapes.skip_struct(bytes, at, DEPTH));
    let plain = ends(bytes, |at| skip_struct(bytes, at, DEPTH, &mut ()));
    assert_eq!(fast, plain);
    plain.0.len()
}

#[test]
fn structs_end_where_they_end_one_by_one() {
    let (seeds, times) = if cfg!(miri) { (1, 2) } else { (149, 20) };
    for seed in 1..=seeds {
        let bytes = structs(seed);
        assert_eq!(compare(&bytes), 60);
        let mut random = Random(seed);
        for _ in 0..times {
            compare(&bytes[..random.below(bytes.len())]);
            let mut damaged = bytes.clone();
            damaged[random.below(bytes.len())] = random.below(256) as u8;
            compare(&damaged);
        }
    }
}

#[test]
fn every_byte_that_decides_is_compared() {
    // {1: 5, 2: "ab", 3: 300, 4: [1, 2], 20: true, 21: 0.5}
    let mut writer = CompactWriter::new();
    writer.begin_struct();
    writer.field(1, Wire::I32);
    writer.integer(5);
    writer.field(2, Wire::Binary);
    writer.binary(b"ab");
    writer.field(3, Wire::I64);
    writer.integer(300);
    writer.field(4, Wire::List);
    writer.list(Wire::I32, 2);
    writer.integer(1);
    writer.integer(2);
    writer.field(20, Wire::BooleanTrue);
    writer.field(21, Wire::Double);
    writer.double(0.5);
    writer.end_struct();
    let one = writer.finish();
    let padded = [one.clone(), vec![0; 64]].concat();
    let mut shape = Shape::default();
    assert_eq!(shape.set(&padded, 0, DEPTH), Ok(one.len()));
    let mut fitting = 0;
    for index in 0..one.len() {
        for value in 0..=255 {
            let mut other = padded.clone();
            other[index] = value;
            if let Some(end) = shape.end(&other, 0) {
                assert_eq!(skip_struct(&other, 0, DEPTH, &mut ()), Ok(end));
                fitting += 1;
            }
        }
    }
    // Two bytes of text and eight bytes of the double do not matter. In six bytes of integers (including the id 20),
    // the highest bit matters. In the nine others, all bits matter.
    let bytes = one.len();
    assert_eq!(fitting, 10 * 256 + 6 * 128 + (bytes - 16));
}

#[test]
fn shapes_of_structs_that_all_differ_are_seldom_saved() {
    let mut writer = CompactWriter::new();
    let structs = if cfg!(miri) { 400 } else { 2000 };
    for length in 0..structs {
        writer.begin_struct();
        writer.field(1, Wire::Binary);
        writer.binary(&vec![7; length % 997]);
        writer.end_struct();
    }
    let bytes = writer.finish();
    let mut shapes = ShapeCache::default();
    let mut taken = 0;
    let mut last = None;
    ends(&bytes, |at| {
        let end = shapes.skip_struct(&bytes, at, DEPTH);
        let first = shapes.shapes.first();
        let first = first.map(|(shape, ())| shape.length);
        taken += usize::from(first != last);
        last = first;
        end
    });
    assert!((32..=32 + structs / 128).contains(&taken), "{taken}");
    assert_eq!(shapes.shapes.len(), MAX_SHAPES);
}
