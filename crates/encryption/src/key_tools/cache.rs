//! Caches values, so that not every file costs a KMS call.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::{AccessToken, KmsConnection};

/// The maximum number of entries. Each use of the cache scans all of them.
const MAX_ENTRIES: usize = 1000;

/// The identity of a cached value: the KMS connection with its token, and a name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey {
    /// The connection, with all fields set.
    pub(crate) connection: KmsConnection,
    pub(crate) name: String,
}

/// Cached values. They are dropped, and thereby wiped, when they expire. Each use of the cache
/// looks for expired values by a monotonic clock.
pub(crate) struct Cache<V> {
    lifetime: Duration,
    entries: Mutex<HashMap<CacheKey, Entry<V>>>,
}

struct Entry<V> {
    since: Instant,
    value: V,
}

impl<V: Clone> Cache<V> {
    /// Creates a cache that keeps values for `lifetime`. A zero lifetime disables caching.
    pub(crate) fn new(lifetime: Duration) -> Self {
        Self {
            lifetime,
            entries: Mutex::default(),
        }
    }

    /// Returns the value for `key`, unless it has expired.
    pub(crate) fn get(&self, key: &CacheKey) -> Option<V> {
        self.get_at(key, Instant::now())
    }

    /// Caches `value`.
    pub(crate) fn insert(&self, key: CacheKey, value: V) {
        self.insert_at(key, value, Instant::now());
    }

    /// Drops all values.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    /// Drops the values obtained with this token.
    pub(crate) fn clear_token(&self, token: &AccessToken) {
        self.lock()
            .retain(|key, _| key.connection.access_token != *token);
    }

    pub(crate) fn get_at(&self, key: &CacheKey, now: Instant) -> Option<V> {
        let mut entries = self.lock();
        self.expire(&mut entries, now);
        entries.get(key).map(|entry| entry.value.clone())
    }

    pub(crate) fn insert_at(&self, key: CacheKey, value: V, now: Instant) {
        if self.lifetime.is_zero() {
            return;
        }
        let mut entries = self.lock();
        self.expire(&mut entries, now);
        if entries.len() >= MAX_ENTRIES {
            let oldest = entries.iter().min_by_key(|(_, entry)| entry.since);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                entries.remove(&oldest);
            }
        }
        entries.insert(key, Entry { since: now, value });
    }

    fn expire(&self, entries: &mut HashMap<CacheKey, Entry<V>>, now: Instant) {
        entries.retain(|_, entry| now.saturating_duration_since(entry.since) < self.lifetime);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CacheKey, Entry<V>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(token: &str, instance: &str, url: &str, name: &str) -> CacheKey {
        CacheKey {
            connection: KmsConnection {
                instance_id: Some(instance.into()),
                instance_url: Some(url.into()),
                access_token: AccessToken::new(token),
            },
            name: name.into(),
        }
    }

    #[test]
    fn values_live_as_long_as_they_may() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let cache = Cache::new(10 * second);
        let key = key("t", "i", "u", "n");
        let value = std::sync::Arc::new(());
        cache.insert_at(key.clone(), value.clone(), start);
        // Access does not extend the lifetime.
        assert!(cache.get_at(&key, start + 9 * second).is_some());
        assert_eq!(std::sync::Arc::strong_count(&value), 2);
        assert!(cache.get_at(&key, start + 10 * second).is_none());
        assert_eq!(
            std::sync::Arc::strong_count(&value),
            1,
            "dropped when it expires"
        );
    }

    #[test]
    fn others_are_dropped_as_well_when_their_time_is_up() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let cache = Cache::new(10 * second);
        let value = std::sync::Arc::new(());
        cache.insert_at(key("t", "i", "u", "n"), value.clone(), start);
        cache.get_at(&key("t", "i", "u", "other"), start + 10 * second);
        assert_eq!(std::sync::Arc::strong_count(&value), 1);
    }

    #[test]
    fn no_lifetime_is_no_cache() {
        let cache = Cache::new(Duration::ZERO);
        cache.insert(key("t", "i", "u", "n"), 1);
        assert_eq!(cache.get(&key("t", "i", "u", "n")), None);
    }

    #[test]
    fn tokens_instances_and_names_are_kept_apart() {
        let cache = Cache::new(Duration::from_secs(1000));
        cache.insert(key("t", "i", "u", "n"), 1);
        for other in [
            key("x", "i", "u", "n"),
            key("t", "x", "u", "n"),
            key("t", "i", "x", "n"),
            key("t", "i", "u", "x"),
        ] {
            assert_eq!(cache.get(&other), None);
            cache.insert(other, 2);
        }
        assert_eq!(cache.get(&key("t", "i", "u", "n")), Some(1));
        cache.clear_token(&AccessToken::new("t"));
        assert_eq!(cache.get(&key("t", "i", "u", "n")), None);
        assert_eq!(cache.get(&key("x", "i", "u", "n")), Some(2));
        cache.clear();
        assert_eq!(cache.get(&key("x", "i", "u", "n")), None);
    }

    #[test]
    fn the_oldest_makes_room() {
        let (start, cache) = (Instant::now(), Cache::new(Duration::from_secs(1000)));
        let named = |number: usize| key("t", "i", "u", &number.to_string());
        for number in 0..=MAX_ENTRIES {
            let now = start + Duration::from_micros(number as u64);
            cache.insert_at(named(number), number, now);
        }
        assert_eq!(cache.lock().len(), MAX_ENTRIES);
        assert_eq!(cache.get(&named(0)), None);
        assert_eq!(cache.get(&named(1)), Some(1));
    }
}
