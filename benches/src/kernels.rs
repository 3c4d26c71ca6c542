//! Kernels alone, on input and output that stay in the caches.

use herringbone_arrow::buffer::Buffer;
use herringbone_kernels::bit_pack::pack_u32;
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::bytes::ByteBuilder;
use herringbone_kernels::decimal::{self, Decimal};
use herringbone_kernels::delta::{Blocks, DeltaDecoder, encode_i32, encode_i64};
use herringbone_kernels::expand::spread;
use herringbone_kernels::filter::filter;
use herringbone_kernels::hybrid::{HybridDecoder, Runs, encode_u8, encode_u32};
use herringbone_kernels::int96::{self, Layout};
use herringbone_kernels::min_max::{min_max_f64, min_max_i32, min_max_i64};
use herringbone_kernels::nesting::{ListPlan, list_offsets};
use herringbone_kernels::plain::{self, Plain};
use herringbone_kernels::views::ViewBuilder;
use herringbone_kernels::{Malformed, byte_stream_split};
use std::hint::black_box;

/// The number of values in a case, which is a batch's.
pub const VALUES: usize = 8192;

/// The number of batches in cases whose runs differ in length. We need many, because a processor
/// learns to predict the runs of a single batch.
const BATCHES: usize = 64;

/// One kernel with its input.
pub struct Kernel {
    /// The name, which describes the kernel and its input.
    pub name: String,
    /// The number of bytes that the kernel writes.
    pub bytes: usize,
    /// A function that runs the kernel once.
    pub run: Box<dyn FnMut() -> Result<(), Malformed>>,
}

impl Kernel {
    fn new(
        name: impl Into<String>,
        bytes: usize,
        run: impl FnMut() -> Result<(), Malformed> + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            bytes,
            run: Box::new(run),
        }
    }
}

/// A generator that always returns the same numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    /// Returns `n` numbers below `limit`, in runs with a mean length of `length`.
    fn runs(&mut self, limit: u64, length: u64, n: usize) -> Vec<u32> {
        let mut values = Vec::new();
        while values.len() < n {
            let count = 1 + self.below(2 * length - 1);
            let value = self.below(limit) as u32;
            values.extend((0..count).map(|_| value));
        }
        values.truncate(n);
        values
    }

    /// Returns `n` bits, `percent` percent of them set.
    fn bits(&mut self, percent: u64, n: usize) -> Vec<u8> {
        (0..n)
            .map(|_| u8::from(self.below(100) < percent))
            .collect()
    }
}

/// A decoder that cycles through [`BATCHES`] batches.
struct Batches {
    decoder: HybridDecoder,
    left: usize,
}

impl Batches {
    /// Creates batches whose values have `width` bits.
    fn new(width: u8) -> Self {
        Self {
            decoder: HybridDecoder::new(width),
            left: BATCHES,
        }
    }

    /// Returns the decoder at the start of the next batch.
    fn next(&mut self) -> &mut HybridDecoder {
        if self.left == 0 {
            *self = Self::new(self.decoder.width());
        }
        self.left -= 1;
        &mut self.decoder
    }
}

/// Returns all kernels that we time.
#[must_use]
pub fn all() -> Vec<Kernel> {
    let mut kernels = Vec::new();
    hybrid(&mut kernels);
    levels(&mut kernels);
    nulls(&mut kernels);
    numbers(&mut kernels);
    bounds(&mut kernels);
    fixed_widths(&mut kernels);
    strings(&mut kernels);
    selections(&mut kernels);
    packing(&mut kernels);
    kernels
}

/// Adds kernels that keep some values. We report their time in units of copying all values.
fn selections(kernels: &mut Vec<Kernel>) {
    fn case<T: Plain>(kernels: &mut Vec<Kernel>, name: &str, percent: u64) {
        let bits = Random(5).bits(percent, VALUES);
        let (bits, _) = bits.as_chunks::<8>();
        let byte = |bits: &[u8; 8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
        let bits: Vec<u8> = bits.iter().map(byte).collect();
        let values = vec![T::default(); VALUES];
        let mut out = Vec::with_capacity(VALUES + 64);
        kernels.push(Kernel::new(
            format!("filter {name}, {percent} % kept"),
            VALUES * size_of::<T>(),
            move || {
                out.clear();
                filter(&values, &bits, 0, &mut out);
                black_box(&out);
                Ok(())
            },
        ));
    }
    for percent in [10, 50, 90] {
        case::<i32>(kernels, "i32", percent);
        case::<i64>(kernels, "i64", percent);
    }
}

/// Adds kernels of the writer, and the unpacking of levels.
fn packing(kernels: &mut Vec<Kernel>) {
    let mut random = Random(6);
    for width in [1, 2, 3, 5, 8] {
        // The header of one run with 1,024 groups of eight packed values.
        let mut runs = vec![0x81, 0x10];
        runs.extend((0..VALUES * usize::from(width) / 8).map(|_| random.below(256) as u8));
        let max = u8::MAX >> (8 - width);
        let mut out = Vec::with_capacity(VALUES);
        kernels.push(Kernel::new(
            format!("packed levels, width {width}"),
            VALUES,
            move || {
                out.clear();
                HybridDecoder::new(width).extend_u8(&runs, VALUES, max, &mut out)?;
                black_box(&out);
                Ok(())
            },
        ));
    }
    for width in [1, 3, 8, 10, 16, 20] {
        let values = random.runs(1 << width, 1, VALUES);
        let mut out = Vec::with_capacity(VALUES * 4);
        kernels.push(Kernel::new(
            format!("pack u32, width {width}"),
            VALUES * usize::from(width) / 8,
            move || {
                out.clear();
                pack_u32(&values, width, &mut out);
                black_box(&out);
                Ok(())
            },
        ));
    }
    for width in [2, 4, 8] {
        let values: Vec<u8> = (0..VALUES * width).map(|i| i as u8).collect();
        let mut out = Vec::with_capacity(VALUES * width);
        kernels.push(Kernel::new(
            format!("splitting of byte streams, {width} bytes"),
            VALUES * width,
            move || {
                out.clear();
                byte_stream_split::split(&values, width, &mut out);
                black_box(&out);
                Ok(())
            },
        ));
    }
}

fn hybrid(kernels: &mut Vec<Kernel>) {
    let mut random = Random(1);
    for width in [1, 2, 3, 5, 8, 10, 12, 16, 20, 24, 31] {
        let values = random.runs(1 << width, 1, VALUES);
        let mut data = Vec::new();
        encode_u32(&values, width, Runs::Shortest, &mut data);
        let mut out = Vec::with_capacity(VALUES);
        kernels.push(Kernel::new(
            format!("unpack to u32, width {width}"),
            VALUES * 4,
            move || {
                out.clear();
                HybridDecoder::new(width).extend_u32(&data, VALUES, &mut out)?;
                black_box(&out);
                Ok(())
            },
        ));
    }
    for (entries, run) in [
        (16, 1),
        (1000, 1),
        (60_000, 1),
        (1000, 8),
        (1000, 50),
        (1000, 1000),
    ] {
        let dictionary: Vec<i64> = (0..entries).map(|i| i * 1_000_003).collect();
        let width = (64 - (entries as u64 - 1).leading_zeros()) as u8;
        let mut data = Vec::new();
        let values = random.runs(entries as u64, run, VALUES * BATCHES);
        let mut batches = Batches::new(width);
        encode_u32(&values, width, Runs::Shortest, &mut data);
        let mut out = Vec::with_capacity(VALUES);
        kernels.push(Kernel::new(
            format!("dictionary of {entries} i64, runs of {run}"),
            VALUES * 8,
            move || {
                out.clear();
                let decoder = batches.next();
                decoder.gather(&data, VALUES, &dictionary, &mut out)?;
                black_box(&out);
                Ok(())
            },
        ));
    }
}

fn levels(kernels: &mut Vec<Kernel>) {
    let mut random = Random(2);
    for percent in [0, 1, 10, 50, 90, 99, 100] {
        let mut data = Vec::new();
        encode_u8(
            &random.bits(percent, VALUES * BATCHES),
            1,
            Runs::Shortest,
            &mut data,
        );
        let mut batches = Batches::new(1);
        kernels.push(Kernel::new(
            format!("levels to validity, {percent} % valid"),
            VALUES / 8,
            move || {
                let mut out = Bitmap::new();
                let decoder = batches.next();
                decoder.extend_bitmap(&data, VALUES, &mut out)?;
                black_box(&out);
                Ok(())
            },
        ));
    }
    for (name, least, most) in [("0.5", 0, 1), ("4", 0, 8), ("100", 50, 150)] {
        let (mut rep, mut def) = (Vec::new(), Vec::new());
        while rep.len() < VALUES {
            let length = least + random.below(most - least + 1);
            // An empty list has one level, like a list with one element.
            rep.push(0);
            def.push(if length == 0 { 1 } else { 3 });
            rep.extend((1..length).map(|_| 1));
            def.resize(rep.len(), 3);
        }
        rep.truncate(VALUES);
        def.truncate(VALUES);
        let plan = ListPlan {
            rep_level: 1,
            list_def: 1,
            element_def: 2,
            parent_element_def: 0,
            nullable: true,
        };
        let lists = rep.iter().filter(|level| **level == 0).count();
        let mut offsets = Vec::<i32>::with_capacity(VALUES + 64);
        kernels.push(Kernel::new(
            format!("levels to offsets, lists of {name}"),
            lists * 4,
            move || {
                offsets.clear();
                offsets.push(0);
                let (mut count, mut validity) = (0, Bitmap::new());
                list_offsets(&plan, &rep, &def, &mut offsets, &mut count, &mut validity)?;
                black_box((&offsets, &validity));
                Ok(())
            },
        ));
    }
}

fn nulls(kernels: &mut Vec<Kernel>) {
    fn case<T: Plain>(kernels: &mut Vec<Kernel>, name: &str, percent: u64) {
        let bits = Random(3).bits(percent, VALUES);
        let mut validity = Bitmap::new();
        for bit in &bits {
            validity.append_run(*bit == 1, 1);
        }
        // The page is not aligned, because most pages are not.
        let page = vec![7; 1 + VALUES * size_of::<T>()];
        let mut out = Vec::<T>::with_capacity(VALUES);
        kernels.push(Kernel::new(
            format!("PLAIN {name} over nulls, {percent} % valid"),
            VALUES * size_of::<T>(),
            move || {
                out.clear();
                if !spread(&page[1..], &validity, 0, VALUES, &mut out) {
                    return Err(Malformed("too few values"));
                }
                black_box(&out);
                Ok(())
            },
        ));
    }
    for percent in [1, 10, 50, 90, 99] {
        case::<i32>(kernels, "i32", percent);
        case::<i64>(kernels, "i64", percent);
    }
}

/// Adds kernels that have no output, so their unit of time is a copy of their input.
fn bounds(kernels: &mut Vec<Kernel>) {
    let mut random = Random(9);
    let wide: Vec<i64> = (0..VALUES)
        .map(|_| random.below(1 << 40).cast_signed())
        .collect();
    let narrow: Vec<i32> = wide.iter().map(|value| *value as i32).collect();
    let floats: Vec<f64> = wide.iter().map(|value| *value as f64).collect();
    kernels.push(Kernel::new("min_max i32", VALUES * 4, move || {
        black_box(min_max_i32(black_box(&narrow)));
        Ok(())
    }));
    kernels.push(Kernel::new("min_max i64", VALUES * 8, move || {
        black_box(min_max_i64(black_box(&wide)));
        Ok(())
    }));
    kernels.push(Kernel::new("min_max f64", VALUES * 8, move || {
        black_box(min_max_f64(black_box(&floats)));
        Ok(())
    }));
}

fn numbers(kernels: &mut Vec<Kernel>) {
    let mut random = Random(4);
    for (name, step) in [
        ("equal steps", 1),
        ("steps below 100", 100),
        ("random", 1 << 40),
    ] {
        let mut last = 0_i64;
        let values: Vec<i64> = (0..VALUES)
            .map(|_| {
                last = last.wrapping_add(random.below(step) as i64);
                last
            })
            .collect();
        let narrow: Vec<i32> = values.iter().map(|value| *value as i32).collect();
        let (mut data, mut narrow_data) = (Vec::new(), Vec::new());
        encode_i64(&values, Blocks::Smallest, &mut data);
        encode_i32(&narrow, Blocks::Smallest, &mut narrow_data);
        let mut out = Vec::with_capacity(VALUES);
        kernels.push(Kernel::new(
            format!("delta i64, {name}"),
            VALUES * 8,
            move || {
                out.clear();
                DeltaDecoder::<i64>::new(&data)?.extend(&data, VALUES, &mut out)?;
                black_box(&out);
                Ok(())
            },
        ));
        let mut out = Vec::with_capacity(VALUES);
        kernels.push(Kernel::new(
            format!("delta i32, {name}"),
            VALUES * 4,
            move || {
                out.clear();
                DeltaDecoder::<i32>::new(&narrow_data)?.extend(&narrow_data, VALUES, &mut out)?;
                black_box(&out);
                Ok(())
            },
        ));
    }
}

fn fixed_widths(kernels: &mut Vec<Kernel>) {
    byte_streams::<u16>(kernels, 2);
    byte_streams::<u32>(kernels, 4);
    byte_streams::<u64>(kernels, 8);
    byte_streams::<i128>(kernels, 16);
    let page: Vec<u8> = (0..VALUES as u64)
        .flat_map(|i| {
            let mut value = [0; 12];
            value[..8].copy_from_slice(&(i * 10_546_875_000).to_le_bytes());
            value[8..].copy_from_slice(&(2_460_000 + i as i32).to_le_bytes());
            value
        })
        .collect();
    for (unit, per_second) in [("nanoseconds", 1_000_000_000), ("microseconds", 1_000_000)] {
        let page = page.clone();
        let mut out = Vec::with_capacity(VALUES);
        kernels.push(Kernel::new(
            format!("INT96 to {unit}"),
            VALUES * 8,
            move || {
                out.clear();
                int96::extend(&page, Layout::JulianDay, per_second, &mut out);
                black_box(&out);
                Ok(())
            },
        ));
    }
    let page = page[..VALUES * 5].to_vec();
    let mut out = Vec::<i128>::with_capacity(VALUES);
    kernels.push(Kernel::new(
        "decimals of 5 bytes to i128",
        VALUES * 16,
        move || {
            out.clear();
            decimal::extend(&page, 5, &mut out)?;
            black_box(&out);
            Ok(())
        },
    ));
    let values: Vec<i64> = (0..VALUES as i64).map(|i| i - 4000).collect();
    let mut out = Vec::<i128>::with_capacity(VALUES);
    kernels.push(Kernel::new(
        "decimals of i64 to i128",
        VALUES * 16,
        move || {
            out.clear();
            i128::extend_i64(plain::bytes(&values), &mut out);
            black_box(&out);
            Ok(())
        },
    ));
}

fn byte_streams<T: Plain>(kernels: &mut Vec<Kernel>, width: usize) {
    let page: Vec<u8> = (0..VALUES * width).map(|i| i as u8).collect();
    let mut out = Vec::<T>::with_capacity(VALUES);
    kernels.push(Kernel::new(
        format!("byte stream split, {width} bytes"),
        VALUES * width,
        move || {
            out.clear();
            byte_stream_split::extend(&page, VALUES, 0, VALUES, &mut out)?;
            black_box(&out);
            Ok(())
        },
    ));
}

fn strings(kernels: &mut Vec<Kernel>) {
    for (name, length) in [("4", 4), ("12", 12), ("40", 40), ("500", 500)] {
        let mut page = Vec::new();
        for i in 0..VALUES {
            // The lengths lie between half and one and a half times `length`.
            let length = length / 2 + i * 7919 % (length + 1);
            page.extend((length as u32).to_le_bytes());
            page.extend((0..length).map(|at| b'a' + (at % 26) as u8));
        }
        let bytes = page.len() - 4 * VALUES;
        let page = Buffer::from_vec(page);
        let views = page.clone();
        kernels.push(Kernel::new(
            format!("PLAIN strings of {name} to Utf8"),
            bytes + 4 * VALUES,
            move || {
                let mut out = ByteBuilder::<i32>::new(true);
                out.append_plain(&page, 0, VALUES)?;
                black_box(out.finish(None)?);
                Ok(())
            },
        ));
        kernels.push(Kernel::new(
            format!("PLAIN strings of {name} to Utf8View"),
            16 * VALUES,
            move || {
                let mut out = ViewBuilder::new(true);
                out.append_plain(&views, 0, VALUES)?;
                black_box(out.finish(None)?);
                Ok(())
            },
        ));
    }
    for (name, prefix) in [("10", 10), ("50", 50), ("100", 100), ("200", 200)] {
        let mut prefixes = vec![prefix; VALUES];
        prefixes[0] = 0;
        let mut suffixes = vec![5; VALUES];
        suffixes[0] = prefix + 5;
        let bytes = vec![b'x'; VALUES * 5 + prefix as usize];
        kernels.push(Kernel::new(
            format!("delta byte arrays that share {name} of 5 more"),
            VALUES * (prefix as usize + 9),
            move || {
                let mut out = ByteBuilder::<i32>::new(true);
                out.append_delta_byte_array(&prefixes, &suffixes, &bytes, &mut Vec::new())?;
                black_box(out.finish(None)?);
                Ok(())
            },
        ));
    }
}

/// Returns the kernel that sets the limit, which copies `bytes` bytes within the caches.
#[must_use]
pub fn copy(bytes: usize) -> Kernel {
    let from = vec![1_u8; bytes];
    let mut to = Vec::<u8>::with_capacity(bytes);
    Kernel::new("copy", bytes, move || {
        to.clear();
        plain::extend(&from, &mut to);
        black_box(&to);
        Ok(())
    })
}
