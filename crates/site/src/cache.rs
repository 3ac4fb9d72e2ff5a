//! Cache of rendered, compressed pages. Limited in bytes: a page is dropped if nobody asked for it
//! since the younger half was last filled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

/// A page as it is sent.
#[derive(Debug)]
pub struct CompressedPage {
    /// Media type as in HTTP.
    pub media_type: &'static str,
    /// ETag, by which a client recognises a page that it has already.
    pub etag: String,
    /// The page compressed with gzip; decompressed for clients that do not accept gzip.
    pub body: Bytes,
}

#[derive(Clone)]
struct CachedPage {
    page: Arc<CompressedPage>,
    version: u64,
    made: Instant,
}

#[derive(Default)]
struct Generations {
    young: HashMap<String, CachedPage>,
    old: HashMap<String, CachedPage>,
    young_bytes: usize,
}

/// Cache of rendered pages by name, limited in bytes.
pub struct PageCache {
    generations: Mutex<Generations>,
    most_bytes: usize,
}

/// Bytes that a page costs besides its body.
const OVERHEAD: usize = 512;

impl PageCache {
    /// A cache of at most `most_bytes`.
    pub fn new(most_bytes: usize) -> PageCache {
        PageCache { generations: Mutex::default(), most_bytes }
    }

    fn generations(&self) -> MutexGuard<'_, Generations> {
        // A panic in another thread leaves the pages valid.
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The page with this name, if it was made from this version and is not older than `most_age`.
    pub fn get(
        &self,
        name: &str,
        version: u64,
        most_age: Duration,
        now: Instant,
    ) -> Option<Arc<CompressedPage>> {
        let mut generations = self.generations();
        let fresh = |held: &CachedPage| {
            held.version == version && now.saturating_duration_since(held.made) <= most_age
        };
        if let Some(held) = generations.young.get(name) {
            return fresh(held).then(|| held.page.clone());
        }
        let held = generations.old.remove(name).filter(fresh)?;
        let page = held.page.clone();
        self.keep(&mut generations, name.to_owned(), held);
        Some(page)
    }

    /// Stores a page made from this version at this time, unless it is too large.
    pub fn put(&self, name: String, version: u64, page: Arc<CompressedPage>, made: Instant) {
        self.keep(&mut self.generations(), name, CachedPage { page, version, made });
    }

    fn keep(&self, generations: &mut Generations, name: String, held: CachedPage) {
        let bytes = |name: &str, held: &CachedPage| name.len() + held.page.body.len() + OVERHEAD;
        let more = bytes(&name, &held);
        if more > self.most_bytes / 2 {
            return;
        }
        if generations.young_bytes + more > self.most_bytes / 2 {
            generations.old = std::mem::take(&mut generations.young);
            generations.young_bytes = 0;
        }
        let less = generations.young.get(&name).map_or(0, |before| bytes(&name, before));
        generations.young_bytes = generations.young_bytes + more - less;
        generations.young.insert(name, held);
    }

    /// Size of all pages in bytes, for the metrics.
    pub fn bytes(&self) -> usize {
        let generations = self.generations();
        let bytes = |pages: &HashMap<String, CachedPage>| {
            pages.values().map(|held| held.page.body.len()).sum::<usize>()
        };
        bytes(&generations.young) + bytes(&generations.old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(bytes: usize) -> Arc<CompressedPage> {
        Arc::new(CompressedPage {
            media_type: "text/html",
            etag: String::new(),
            body: Bytes::from(vec![0; bytes]),
        })
    }

    #[test]
    fn a_page_is_there_while_it_is_true() {
        let (cache, start, age) =
            (PageCache::new(1 << 20), Instant::now(), Duration::from_secs(10));
        cache.put("a".into(), 1, page(10), start);
        assert!(cache.get("a", 1, age, start + age).is_some());
        assert!(cache.get("a", 2, age, start).is_none(), "something was changed since");
        assert!(
            cache.get("a", 1, age, start + age * 2).is_none(),
            "others may have changed something"
        );
        assert!(cache.get("b", 1, age, start).is_none());
    }

    #[test]
    fn many_pages_stay_below_the_limit_and_those_asked_for_stay() {
        let (cache, start, age) =
            (PageCache::new(100_000), Instant::now(), Duration::from_secs(10));
        cache.put("asked".into(), 1, page(1000), start);
        for number in 0..1000 {
            cache.put(format!("page {number}"), 1, page(1000), start);
            assert!(cache.get("asked", 1, age, start).is_some(), "{number}");
            assert!(cache.bytes() <= 100_000, "{}", cache.bytes());
        }
        assert!(cache.get("page 0", 1, age, start).is_none());
        cache.put("large".into(), 1, page(60_000), start);
        assert!(cache.get("large", 1, age, start).is_none());
    }
}
