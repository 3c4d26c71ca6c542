//! Runs the cases of `encrypted` once, without timing: `encrypted-once FILE read|write`.
//! `encryption.py` then counts the instructions.

use std::path::Path;

use bytes::Bytes;
use herringbone::Compression;
use herringbone::arrow::array::RecordBatch;
use herringbone::encryption::Algorithm;
use herringbone_benches::encryption::{self, Part, RawCipher};
use herringbone_benches::workload::case_name;
use herringbone_benches::{Result, ours};

const ALGORITHM: Algorithm = Algorithm::AesGcmV1;

/// The batches of a file and the files that were written from them.
struct Sides {
    batches: Vec<RecordBatch>,
    compression: Compression,
    plain: Bytes,
    encrypted: Bytes,
    cipher: RawCipher,
    part: Part,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, part) = match &arguments[..] {
        [file, what] if what == "read" => (Path::new(file), Part::Reader),
        [file, what] if what == "write" => (Path::new(file), Part::Writer),
        _ => return Err("FILE read|write".into()),
    };
    let (batches, compression) = (ours::batches(file)?, ours::codec(&case_name(file))?);
    let encrypted = Bytes::from(encryption::write(&batches, compression, ALGORITHM)?);
    let sides = Sides {
        plain: Bytes::from(ours::write(&batches, compression, 1)?),
        cipher: RawCipher::new(&encrypted, ALGORITHM)?,
        encrypted,
        batches,
        compression,
        part,
    };
    sides.count_plain()?;
    sides.count_encrypted()?;
    sides.count_cipher()
}

// All sides run in one process, because each process has its own seeds for the hashes of
// dictionaries.
impl Sides {
    #[inline(never)]
    fn count_plain(&self) -> Result<()> {
        match self.part {
            Part::Reader => ours::read(&self.plain, None).map(drop),
            Part::Writer => ours::write(&self.batches, self.compression, 1).map(drop),
        }
    }

    #[inline(never)]
    fn count_encrypted(&self) -> Result<()> {
        match self.part {
            Part::Reader => encryption::read(&self.encrypted, ALGORITHM).map(drop),
            Part::Writer => encryption::write(&self.batches, self.compression, ALGORITHM).map(drop),
        }
    }

    #[inline(never)]
    fn count_cipher(&self) -> Result<()> {
        self.cipher.run(self.part)
    }
}
