//! Measures encrypting and decrypting modules as large as pages, with the compiled AES
//! implementation:
//!
//!     cargo bench -p herringbone-encryption
//!     cargo bench -p herringbone-encryption --features ring
//!     cargo bench -p herringbone-encryption --features aws-lc-rs

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use herringbone_encryption::{
    Key, KeyLength, ModuleId, ModuleKey, ModuleKind, Result,
    module::{Algorithm, FileAad},
};

const ID: ModuleId = ModuleId {
    kind: ModuleKind::DataPage,
    row_group: 1,
    column: 2,
    page: 3,
};

fn main() -> Result<()> {
    let backend = if cfg!(feature = "aws-lc-rs") {
        "aws-lc-rs"
    } else if cfg!(feature = "ring") {
        "ring, aes, ctr"
    } else {
        "aes-gcm, aes, ctr"
    };
    println!("GB/s by {backend}, the best of 20 runs\n");
    println!("algorithm       bits    bytes   encrypt   decrypt");
    for algorithm in [Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1] {
        for length in [KeyLength::Bits128, KeyLength::Bits256] {
            let key = Key::generate(length)?;
            let key = ModuleKey::new(key, algorithm, Arc::new(FileAad::new(b"", b"12345678")));
            for size in [4 << 10, 64 << 10, 1 << 20] {
                let (encrypt, decrypt) = measure(&key, size)?;
                let (name, bits) = (algorithm.name(), length.bytes() * 8);
                println!("{name:14} {bits:5} {size:8} {encrypt:9.2} {decrypt:9.2}");
            }
        }
    }
    Ok(())
}

fn measure(key: &ModuleKey, size: usize) -> Result<(f64, f64)> {
    let plaintext = vec![0x5a; size];
    let mut module = Vec::with_capacity(size + key.overhead(ID.kind));
    let encrypt = throughput(size, || {
        module.clear();
        key.encrypt(&ID, &[&plaintext], &mut module)
    })?;
    // This includes the copy that a reader makes of bytes it does not own.
    let decrypt = throughput(size, || {
        black_box(key.decrypt(&ID, &module)?);
        Ok(())
    })?;
    Ok((encrypt, decrypt))
}

fn throughput(size: usize, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let repetitions = (16 << 20) / size;
    let mut best = Duration::MAX;
    for _ in 0..20 {
        let start = Instant::now();
        for _ in 0..repetitions {
            run()?;
        }
        best = best.min(start.elapsed());
    }
    Ok((size * repetitions) as f64 / best.as_secs_f64() / 1e9)
}
