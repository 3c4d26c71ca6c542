//! Tests of the metadata cache, as filled and used by reads.

use std::sync::Arc;

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::filter::col;
use herringbone::push::FetchPolicy;
use herringbone::{Limits, ReadOptions};
use herringbone_remote::{FileKey, LruMetadataCache, MetadataCache, RemoteFile, RemoteOptions};

use crate::files::{blocking, file};
use crate::memory::{Memory, read};

fn object(bytes: &Bytes, listed: bool) -> Arc<Memory> {
    let mut policy = FetchPolicy::remote();
    // This is less than the footer.
    policy.suffix_bytes = 500;
    let mut object = Memory::new(bytes.clone()).policy(policy);
    object.listed = listed;
    Arc::new(object)
}

#[test]
fn a_second_read_requests_neither_footer_nor_page_indexes() {
    let bytes = file(4, 3, 20_000);
    let cache = LruMetadataCache::new(10 << 20);
    let options = || RemoteOptions::new().cache(cache.clone());
    let filter = ReadOptions::new().filter(col("id").eq(30_000));
    let expected = blocking(&bytes, Limits::default(), &filter).unwrap();

    let first = object(&bytes, false);
    assert_eq!(read(first.clone(), options(), &filter).unwrap(), expected);
    let first = first.take();
    let filled = cache.heap_bytes();
    assert!(filled > 1000, "{filled}");

    // Because the identity is known from a listing, the first request is already for a page.
    let second = object(&bytes, true);
    assert_eq!(read(second.clone(), options(), &filter).unwrap(), expected);
    let second = second.take();
    let end_of_pages = 3 * 4 * 20_000 * 8 + 60_000;
    assert!(
        second.iter().all(|range| range.end < end_of_pages),
        "{second:?}"
    );
    assert!(second.len() < first.len(), "{second:?} after {first:?}");
    assert_eq!(cache.heap_bytes(), filled);

    // Without a listing, the first answer contains the identity, and the rest of the footer is not
    // requested.
    let third = object(&bytes, false);
    assert_eq!(read(third.clone(), options(), &filter).unwrap(), expected);
    assert_eq!(third.take().len(), second.len() + 1);
}

#[test]
fn a_replaced_file_is_not_read_by_the_old_footer() {
    let (old, new) = (file(4, 3, 20_000), file(4, 2, 30_000));
    let cache = LruMetadataCache::new(10 << 20);
    let options = || RemoteOptions::new().cache(cache.clone());
    let all = ReadOptions::new();
    read(object(&old, true), options(), &all).unwrap();
    let replaced = object(&new, true);
    *replaced.e_tag.lock().unwrap() = "\"second\"".to_owned();
    let expected = blocking(&new, Limits::default(), &all).unwrap();
    assert_eq!(read(replaced, options(), &all).unwrap(), expected);
}

#[test]
fn a_cache_without_room_is_only_slower() {
    let bytes = file(4, 3, 20_000);
    let cache = LruMetadataCache::new(0);
    let filter = ReadOptions::new().filter(col("id").eq(30_000));
    let expected = blocking(&bytes, Limits::default(), &filter).unwrap();
    for _ in 0..2 {
        let options = RemoteOptions::new().cache(cache.clone());
        assert_eq!(
            read(object(&bytes, true), options, &filter).unwrap(),
            expected
        );
    }
    assert_eq!(cache.heap_bytes(), 0);
}

/// A footer is decoded again if other limits apply.
#[test]
fn footers_of_other_limits_are_not_used() {
    let bytes = file(4, 3, 20_000);
    let cache = LruMetadataCache::new(10 << 20);
    let mut limits = Limits::default();
    let with = |limits: &Limits| RemoteOptions::from(limits.clone()).cache(cache.clone());
    block_on(RemoteFile::open(object(&bytes, true), with(&limits))).unwrap();
    limits.footer_bytes = 100;
    let error = block_on(RemoteFile::open(object(&bytes, true), with(&limits))).unwrap_err();
    assert_eq!(error.limit_name(), Some("footer_bytes"));
}

/// A cached footer never grows, because page indexes are entries of their own.
#[test]
fn page_indexes_are_apart_from_footers() {
    let bytes = file(4, 3, 20_000);
    let cache = LruMetadataCache::new(10 << 20);
    let object = object(&bytes, true);
    let key = FileKey::new(
        "mem://bucket/file.parquet",
        &herringbone_remote::Object::identity(&*object).unwrap(),
    );
    let key = key.unwrap();
    let filter = ReadOptions::new().filter(col("id").eq(30_000));
    read(object, RemoteOptions::new().cache(cache.clone()), &filter).unwrap();
    let footer = cache.footer(&key).unwrap().metadata;
    assert!(footer.page_index(1, 0).is_none());
    assert!(cache.page_index(&key, 1, 0).unwrap().columns.is_some());
    assert!(cache.page_index(&key, 0, 0).is_none());
}
